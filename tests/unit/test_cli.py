"""What is wrong with a command line is one line, and says what would be right."""

from __future__ import annotations

import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import duologue.cli
from duologue.cli import cli
from duologue.cli import main as duologue_main
from duologue.console import program
from duologue.demo import config_for, make_site
from duologue.problems import BadInput
from duologue.serve import check_port
from duologue.study import read_study

MAKEFILE = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8")


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str
) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command."""
    monkeypatch.setattr(sys, "argv", ["duologue", *words])
    code = 0
    try:
        duologue_main()
    except SystemExit as end:
        code = int(end.code or 0)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("export", "missing option '--out' (see `duologue export --help`)"),
        ("init", "missing argument 'FOLDER' (see `duologue init --help`)"),
        ("simulat", "no such command 'simulat'; did you mean 'simulate'? (see `duologue --help`)"),
        ("items ad", "no such command 'ad'; did you mean 'add'? (see `duologue items --help`)"),
        ("zzz", "no such command 'zzz' (see `duologue --help`)"),
        ("serve --chek", "no such option '--chek'; did you mean"),
        ("export --format xml --out x", "'xml' is not 'visdial-1.0' (see `duologue export"),
        ("demo --workers x", "invalid value for '--workers': 'x'"),
        ("pause a b", "unexpected extra argument"),
        ("hits nothing", "no such command 'nothing'"),
    ],
)
def test_a_wrong_command_is_one_line_with_the_way_to_the_help(
    line: str, told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = said(capsys, monkeypatch, *line.split())
    assert code == 2
    assert out == ""
    assert err.startswith("duologue: ")
    assert err.count("\n") == 1
    assert told in err
    assert "--help`)\n" in err


def test_without_a_command_the_help_is_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for words in ((), ("items",), ("hits",)):
        code, out, err = said(capsys, monkeypatch, *words)
        assert code == 2
        assert "Commands:" in out + err


def test_every_group_has_an_example() -> None:
    def groups(command: click.Command) -> list[click.Command]:
        subs = command.commands.values() if isinstance(command, click.Group) else ()
        inner = [each for sub in subs for each in groups(sub)]
        return [command, *inner] if isinstance(command, click.Group) else inner

    found = groups(cli)
    assert len(found) >= 3
    for group in found:
        assert "Example: duologue " in (group.help or ""), group.name


# --- A new study ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("folder", "study_id"),
    [
        ("my-study", "my-study"),
        ("Kitchens 2", "kitchens-2"),
        ("a__b..c", "a-b-c"),
        ("-Küchen-", "kuchen"),
        ("مطبخ", "my-study"),
        ("...", "my-study"),
        ("x" * 62 + "-y", "x" * 62),
        ("9", "9"),
    ],
)
def test_a_new_study_is_named_after_its_folder(
    folder: str,
    study_id: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said(capsys, monkeypatch, "init", "--", folder)[0] == 0
    assert read_study(tmp_path / folder / "study.toml").study.id == study_id


def test_a_study_in_the_current_folder_is_named_after_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Beaches").mkdir()
    monkeypatch.chdir(tmp_path / "Beaches")
    assert said(capsys, monkeypatch, "init", ".")[0] == 0
    assert read_study(Path("study.toml")).study.id == "beaches"


# --- Ports ---------------------------------------------------------------------------------


def test_a_taken_port_is_named(taken: int) -> None:
    with pytest.raises(BadInput, match=f"^port {taken} is in use; .*DUOLOGUE_PORT"):
        check_port("127.0.0.1", taken)
    check_port("127.0.0.1", 0)


@pytest.mark.parametrize(
    ("host", "told"),
    [("192.0.2.1", "192.0.2.1 is no address of this machine"), ("no.such.invalid", "no address")],
)
def test_a_wrong_host_is_named(host: str, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        check_port(host, 8000)


def test_serve_changes_nothing_when_its_port_is_taken(
    taken: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(duologue.cli, "static_files", lambda: tmp_path)
    site = make_site(tmp_path, {}, 0)
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setenv("DUOLOGUE_PORT", str(taken))
    code, _, err = said(capsys, monkeypatch, "serve", str(site.folder))
    assert (code, err.count(f"duologue: port {taken} is in use")) == (2, 1)
    assert sorted(tmp_path.rglob("*")) == before


def test_the_demonstration_takes_no_other_port_than_the_one_it_was_told(
    taken: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(duologue.cli, "static_files", lambda: tmp_path)
    monkeypatch.setenv("DUOLOGUE_PORT", str(taken))
    code, _, err = said(capsys, monkeypatch, "demo", "--folder", str(tmp_path / "new"))
    assert (code, err.count(f"duologue: port {taken} is in use")) == (2, 1)
    assert not (tmp_path / "new").exists()


def test_the_demonstration_takes_any_port_where_it_was_told_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def in_use(host: str, port: int) -> None:
        raise BadInput([f"port {port} is in use"])

    monkeypatch.setattr("duologue.demo.check_port", in_use)
    monkeypatch.setattr("duologue.serve.static_files", lambda: tmp_path)
    assert config_for(make_site(tmp_path, {}, 0)).port == 0
    assert config_for(make_site(tmp_path, {"DUOLOGUE_PORT": "8123"}, 0)).port == 8123


def test_a_port_taken_between_the_check_and_the_start_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    def too_late(**_: object) -> None:
        why = "error while attempting to bind on address ('127.0.0.1', 8000): address in use"
        raise OSError(errno.EADDRINUSE, why)

    monkeypatch.setattr(duologue.cli, "cli", too_late)
    code, _, err = said(capsys, monkeypatch)
    assert (code, err.count("port 8000 is in use")) == (2, 1)


# --- make ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [("init", "/proc/none"), ("demo", "--folder", "/proc/none"), ("market", "serve", "/proc/none")],
)
def test_a_folder_that_cannot_be_made_is_one_line_with_what_would_be_right(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, err = said(capsys, monkeypatch, *words)
    assert code == 2
    assert err.startswith("duologue: /proc/none: cannot be written (")
    assert err.endswith("); name a folder where you may make files\n")


def test_a_command_to_go_on_with_can_be_pasted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "Größe Ω!"
    code, out, _ = said(capsys, monkeypatch, "init", str(folder))
    assert code == 0
    assert shlex.split(out.partition("then: ")[2]) == ["duologue", "serve", str(folder)]


def test_a_study_that_posts_is_not_served_with_a_consent_that_is_not_filled_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    site = make_site(tmp_path, {}, 0, more={"consent": '"By [NAME OF THE TEAM]."'})
    assert site.study.unfit()
    serve = ("serve", str(tmp_path), "--check")
    # By a link nobody is paid by us, and it may be tried out.
    code, _, err = said(capsys, monkeypatch, *serve)
    assert (code, err) == (0, "note: texts.consent is still to be filled in for workers\n")
    make_site(tmp_path, {}, 0, more={"consent": '"By [NAME OF THE TEAM]."', "kind": '"mturk"'})
    monkeypatch.setenv("DUOLOGUE_MTURK_ACCESS_KEY", "A")
    monkeypatch.setenv("DUOLOGUE_MTURK_SECRET_KEY", "B")
    for words in (serve, serve[:2]):
        code, out, err = said(capsys, monkeypatch, *words)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "texts.consent still holds [NAME OF THE TEAM]; fill in" in err
        assert "--no-hits" in err
    assert said(capsys, monkeypatch, *serve, "--no-hits")[0] == 0


def test_a_new_study_keeps_its_secrets_out_of_a_repository(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "kitchens"
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    assert said(capsys, monkeypatch, "init", str(folder))[0] == 0
    secrets = [".env", "secret.key", "duologue.sqlite", "duologue.sqlite-wal", "redis/dump.rdb",
               "invitations.txt", "links.csv", "links-may.csv", "review.csv",
               "review-2.csv", "copy.sqlite", "export/visdial_1.0_train.json"]  # fmt: skip
    for name in [*secrets, "items.jsonl", "cat.jpg"]:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    words = ["git", "-C", tmp_path, "ls-files", "--others", "--exclude-standard"]
    seen = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
    names = (".gitignore", "cat.jpg", "items.jsonl", "study.toml")
    assert sorted(seen) == [f"kitchens/{name}" for name in names]
    # One that is there is the team's own.
    (folder / "study.toml").unlink()
    (folder / ".gitignore").write_text("*\n")
    assert said(capsys, monkeypatch, "init", str(folder))[0] == 0
    assert (folder / ".gitignore").read_text() == "*\n"


def test_a_hint_names_the_program_as_it_can_be_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "duologue").touch(0o755)
    elsewhere = str(tmp_path / "duologue")
    for called, path, named in (
        (".venv/bin/duologue", "/usr/bin", ".venv/bin/duologue"),
        (elsewhere, "/usr/bin", elsewhere),
        (elsewhere, str(tmp_path), "duologue"),
        ("/a/duologue/__main__.py", "/usr/bin", "duologue"),
    ):
        monkeypatch.setattr(sys, "argv", [called])
        monkeypatch.setenv("PATH", path)
        assert program() == named


def test_exporting_makes_no_secret_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said(capsys, monkeypatch, "init", str(tmp_path))
    words = ("export", str(tmp_path), "--out", str(tmp_path / "out"))
    code, _, err = said(capsys, monkeypatch, *words)
    assert (code, "has never run" in err) == (2, True)
    assert not (tmp_path / "secret.key").exists()


def test_an_interrupted_start_of_the_demonstration_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(folder: Path, *_: object) -> None:
        (folder / "scenes").mkdir()
        raise KeyboardInterrupt

    monkeypatch.setattr("duologue.cli.make_site", interrupted)
    for _ in range(2):
        code, _, err = said(capsys, monkeypatch, "demo", "--folder", str(tmp_path / "new"))
        assert (code, err.strip()) == (130, "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("with_", [(), ("--market", "--workers", "2", "--exit")])
def test_a_demonstration_without_payments_or_people_is_not_paid_by_hand(
    with_: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, err = said(capsys, monkeypatch, "demo", "--by-hand", *with_)
    assert (code, err.count("--by-hand goes with --market, and without --exit")) == (2, 1)


@pytest.mark.parametrize("target", ["demo", "run"])
def test_make_adds_no_line_of_its_own_to_what_a_command_prints(target: str) -> None:
    (recipe,) = re.findall(rf"^{target}:.*\n\t(.*)$", MAKEFILE, re.MULTILINE)
    assert recipe.startswith("@$(BIN)/duologue ")


def test_what_make_says_of_the_set_up_is_apart_from_what_a_command_prints() -> None:
    said = re.findall(r'echo "Setting up[^"]*"[^;\n]*', MAKEFILE)
    assert len(said) >= 4
    assert all(line.endswith(" >&2") for line in said)
