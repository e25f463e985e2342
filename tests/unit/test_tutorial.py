"""What the tutorial says to type, and what it says will come, against the code."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from dialogs.export.folder import write_folder
from dialogs.formats.visdial import Dialog, Round, dumps
from dialogs.items import ItemsError, read_items
from duologue.cli import cli
from duologue.scenes import write_scenes
from duologue.study import StudyError, read_study
from duologue.template import template

DOCS = Path(__file__).parents[2] / "docs"
TUTORIAL = (DOCS / "tutorial.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```\w*\n(.*?)^```", TUTORIAL, re.MULTILINE | re.DOTALL)
COMMANDS = [
    line for block in BLOCKS for line in block.splitlines() if line.startswith(".venv/bin/duologue")
]


def test_the_tutorial_has_commands() -> None:
    assert len(COMMANDS) >= 6


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_exists_with_its_options(line: str) -> None:
    command: click.Command = cli
    words = shlex.split(line)[1:]
    while isinstance(command, click.Group):
        name = words.pop(0)
        assert name in command.commands, f"there is no command {name}"
        command = command.commands[name]
    # The names are those of the group, and are remembered by the command.
    command.make_context(command.name, words, help_option_names=["-h", "--help"])


def test_its_edits_make_a_right_study(tmp_path: Path) -> None:
    (edits,) = (block for block in BLOCKS if block.startswith("title = "))
    text = template()
    for line in edits.splitlines():
        key = line.split(" = ")[0]
        assert len(re.findall(rf"^{key} = ", text, re.MULTILINE)) == 1
        text = re.sub(rf"^{key} = .*$", line, text, flags=re.MULTILINE)
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    study = read_study(tmp_path / "study.toml")
    assert study.study.contact == "Ada Lovelace <ada@example.org>"
    assert study.unfilled() == ("texts.consent",)
    assert [check.options.index(check.answer) for check in study.check] == [0, 0]
    assert "--check 0,0" in TUTORIAL
    for key in re.findall(r"`(\w+) = ", TUTORIAL):
        assert f"{key} = " in text


def test_its_study_has_the_id_that_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = next(line for line in COMMANDS if " init " in line)
    monkeypatch.chdir(tmp_path)
    cli(shlex.split(line)[1:], standalone_mode=False)
    assert "`my-study`, is made of the folder's name" in TUTORIAL
    assert read_study(tmp_path / "my-study" / "study.toml").study.id == "my-study"
    assert "wrote my-study/study.toml" in capsys.readouterr().out


@pytest.mark.parametrize("page", ["recruit-mturk.md", "recruit-prolific.md"])
def test_the_server_runs_before_anything_is_posted(page: str) -> None:
    text = (DOCS / "how-to" / page).read_text(encoding="utf-8")
    steps = ["duologue serve --no-hits my-study", "duologue hits plan my-study",
             "duologue hits launch my-study", "duologue serve my-study"]  # fmt: skip
    found = [text.index(f"```\n{step}\n```") for step in steps]
    assert found == sorted(found)
    assert "*texts.consent still holds …*" in text


def test_its_error_lines_are_what_comes(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(template().replace("rounds", "round"), encoding="utf-8")
    with pytest.raises(StudyError) as study_error:
        read_study(tmp_path / "study.toml")
    items = write_scenes(tmp_path, count=2)
    items.write_text(items.read_text().replace("scene-02.png", "cofee.jpg"))
    with pytest.raises(ItemsError) as items_error:
        read_items(items)
    for problem in (study_error.value.problems[0], *items_error.value.problems):
        assert f"duologue: {problem}\n" in TUTORIAL


def test_its_reader_reads_an_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rounds = (Round("is it big?", "No."), Round("is it old?", "no"))
    data = dumps([Dialog("7", "a cat", rounds)], "train")
    write_folder(tmp_path / "my-study" / "export", {"visdial_1.0_train.json": data}, {})
    monkeypatch.chdir(tmp_path)
    (code,) = (block for block in BLOCKS if block.startswith("import json"))
    exec(code, {})
    assert capsys.readouterr().out == "7 a cat\n   is it big - no\n   is it old - no\n"


def test_its_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)", TUTORIAL)
    assert links
    for link in links:
        assert (DOCS / link).exists(), link
