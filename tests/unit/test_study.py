"""The study file: what is read, and how each fault in one is named."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatserver.config import SameAddress
from dialogs.money import to_cents, to_text
from dialogs.rules import Pay, Rules
from duologue.recruiter_section import ProlificSection, RecruiterSection
from duologue.recruiting import hit_config, recruiter_for
from duologue.reference.models import settings_page, study_page
from duologue.sections import StudySection
from duologue.settings import read_settings
from duologue.study import StudyError, StudyFile, read_invitations, read_study
from duologue.template import template
from hit_manager.recruiters.prolific import Prolific

MINIMAL = """
[study]
id = "s"
title = "t"
[items]
file = "items.jsonl"
"""

ID = "65a0f2c81d3e4b5a6c7d8e9f"
PROLIFIC = (
    MINIMAL
    + """
[recruiter]
kind = "prolific"
[recruiter.prolific]
workspace = "65a0f2c81d3e4b5a6c7d8e9f"
"""
)


def read(folder: Path, text: str) -> StudyFile:
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return read_study(folder / "study.toml")


def problems(folder: Path, text: str) -> tuple[str, ...]:
    with pytest.raises(StudyError) as caught:
        read(folder, text)
    for problem in caught.value.problems:
        assert problem.startswith("study.toml")
        assert len(problem.splitlines()) == 1
    return caught.value.problems


def test_a_wrong_value_is_not_missed_as_well(tmp_path: Path) -> None:
    (only,) = problems(tmp_path, MINIMAL.replace("[items]", "languages = ['xx_!!']\n[items]"))
    assert "study.languages[1] must be a language tag" in only


def test_a_minimal_file_has_the_papers_rules(tmp_path: Path) -> None:
    study = read(tmp_path, MINIMAL)
    assert study.to_rules() == Rules()
    assert study.items_path == tmp_path / "items.jsonl"
    assert not study.blurred
    config = study.to_config()
    assert (config.id, config.languages, config.dialogs_per_worker) == ("s", ("en",), 10)
    assert len(config.example_rounds) == 10
    assert config.invitations is None


def test_every_key_reaches_the_server(tmp_path: Path) -> None:
    (tmp_path / "codes.txt").write_text("abcdefgh\n\nABCDEFGH\n")
    study = read(
        tmp_path,
        """
        [study]
        id = "kitchens-2"
        title = "Kitchens"
        description = "About kitchens."
        contact = "Ada <ada@example.org>"
        languages = ["en", "pt-BR"]
        minutes = 25
        dialogs_per_item = 3
        dialogs_per_worker = 4
        repeat_partners = true
        same_address = "refuse"
        one_time_invitations = true
        invitations = "codes.txt"
        [protocol]
        name = "visdial-blurred"
        rounds = 5
        grace_s = 30
        turn_limit_s = 90.5
        turn_stretch = 2
        dialog_limit_s = 1200
        pair_again_below = 0
        [lobby]
        start_s = 15
        limit_s = 300
        heartbeat_s = 5
        [items]
        file = "sub/items.csv"
        [pay]
        currency = "EUR"
        complete = "2.5"
        left = "0.25"
        waiting_per_minute = "0"
        [texts]
        consent = "I agree."
        [texts.example]
        caption = "a cat"
        [[texts.example.round]]
        question = "is it black?"
        answer = "yes"
        [[check]]
        question = "Who sees it?"
        options = ["I", "You"]
        answer = "You"
        [recruiter]
        kind = "link"
        assignment_duration_s = 5000
        """,
    )
    pay = Pay(currency="EUR", complete=250, left=25, waiting_per_minute=0)
    assert study.to_rules() == Rules("visdial-blurred", 5, 30, 90.5, 2, 1200, 0, pay)
    assert study.blurred
    assert study.study.dialogs_per_item == 3
    assert study.lobby.heartbeat_s == 5
    config = study.to_config()
    assert config.rules == study.to_rules()
    assert (config.title, config.description) == ("Kitchens", "About kitchens.")
    assert (config.contact, config.languages) == ("Ada <ada@example.org>", ("en", "pt-BR"))
    assert (config.minutes, config.dialogs_per_worker, config.repeat_partners) == (25, 4, True)
    assert config.same_address is SameAddress.REFUSE
    assert config.invitations == frozenset({"abcdefgh", "ABCDEFGH"})
    assert (config.start_s, config.lobby_limit_s) == (15, 300)
    assert config.assignment_duration_s == 5000
    assert config.consent == "I agree."
    assert (config.check[0].options, config.check[0].answer) == (("I", "You"), 1)
    assert (config.example_caption, config.example_rounds) == ("a cat", (("is it black?", "yes"),))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[study]\nid = \n", "study.toml, line 2: is not TOML: invalid value"),
        ('[study]\nid = "a"\n\nid = "b"\n', "study.toml, line 4: is not TOML: cannot overwrite"),
        ("[study", "study.toml, at its end: is not TOML"),
        ("[items]\nfile='i'", "study is missing; add it"),
        ('[study]\nid="s"\n[items]\nfile="i"', "study.title is missing; add it"),
        (MINIMAL + "[protocoll]\n", "unknown key protocoll; did you mean protocol?"),
        (MINIMAL + "[protocol]\nround = 3", "unknown key protocol.round; did you mean rounds?"),
        (MINIMAL + "[pay]\nbonus = '1'", "unknown key pay.bonus; known are currency, complete"),
        (MINIMAL + "[protocol]\nrounds = 0", "protocol.rounds must be greater than or equal to 1"),
        (MINIMAL + "[protocol]\nrounds = '9'", "protocol.rounds must be a valid integer"),
        (MINIMAL + "[protocol]\nrounds = true", "protocol.rounds must be a valid integer"),
        (MINIMAL + "[protocol]\nrounds = 2.5", "protocol.rounds must be a valid integer"),
        (MINIMAL + "[protocol]\ngrace_s = nan", "protocol.grace_s must be a finite number"),
        (MINIMAL + "[protocol]\ngrace_s = -1", "protocol.grace_s must be greater than 0"),
        (MINIMAL + "[protocol]\nname = 'chess'", "protocol.name must be 'visdial' or"),
        (MINIMAL + "[protocol]\ngrace_s = 2024-01-01", "protocol.grace_s must be a valid number"),
        (MINIMAL.replace('"s"', '"My Study"'), "study.id must be lower-case"),
        (MINIMAL.replace('"t"', '" "'), "study.title"),
        (
            MINIMAL.replace("[items]", "languages = []\n[items]"),
            "study.languages must have at least",
        ),
        (MINIMAL.replace("[items]", "languages = ['e n']\n[items]"), "study.languages[1] must be"),
        (MINIMAL.replace("[items]", "languages = ['en','en']\n[items]"), "must name 'en' once"),
        (MINIMAL.replace("[items]", "same_address = 'ban'\n[items]"), "study.same_address must be"),
        (MINIMAL + "[pay]\ncomplete = 1.5", 'pay.complete must be an amount in quotes, such as "1'),
        (MINIMAL + "[pay]\ncomplete = '1.505'", "pay.complete has 3 digits after the point; USD"),
        (MINIMAL + "[pay]\ncomplete = '-1'", "pay.complete must be an amount such as"),
        (MINIMAL + "[pay]\ncomplete = '1,50'", "pay.complete must be an amount such as"),
        (MINIMAL + "[pay]\ncurrency = 'JPY'", "pay.complete has 2 digits after the point; JPY has"),
        (MINIMAL + "[pay]\ncurrency = 'XXQ'", "pay.currency must be a currency code"),
        (MINIMAL.replace('"t"', '"a\\u0000b"'), "study.title must not hold control characters"),
        (
            MINIMAL + "[texts]\nconsent = 'a\\u0007b'".replace("'", '"'),
            "texts.consent must not hold",
        ),
        (MINIMAL + "[pay]\ncurrency = 'euro'", "pay.currency must be a currency code"),
        (MINIMAL + "[recruiter]\nkind = 'turk'", "recruiter.kind must be 'link', 'mturk' or"),
        (MINIMAL + "[recruiter]\nhours = '8-8'", "recruiter.hours must be two hours"),
        (MINIMAL + "[recruiter]\nkind = 'prolific'", "recruiter.prolific.workspace is missing"),
        (PROLIFIC + "screen_out = '1.50'", "screen_out must be more than nothing and less than"),
        (PROLIFIC + "screen_out = '0.305'", "recruiter.prolific.screen_out has 3 digits"),
        (PROLIFIC + "devices = ['phone']", "recruiter.prolific.devices[1] must be"),
        (PROLIFIC + "devices = []", "recruiter.prolific.devices"),
        (
            PROLIFIC.replace(ID, "abc"),
            "recruiter.prolific.workspace must be the id that stands in the address of its page: "
            "24 digits and letters from a to f (it is 'abc')",
        ),
        (PROLIFIC + f"project = '{ID[:-1]}g'", "recruiter.prolific.project must be the id"),
        (PROLIFIC + "inside_at_once = 1", "recruiter.prolific.inside_at_once must be"),
        (PROLIFIC + "rejection_category = 'BORING'", "rejection_category must be one of BAD_CODE"),
        (PROLIFIC + "vat_percent = -1", "recruiter.prolific.vat_percent must be"),
        *[
            (PROLIFIC + f"filters = [{{ {text} }}]", f"recruiter.prolific.filters[1] {told}")
            for text, told in (
                ("filter_id = 'age'", "must have a filter_id, and selected_values or"),
                ("selected_values = ['1']", "must have a filter_id, and selected_values or"),
                ("filter_id = 'sex', selected_values = []", "must have a filter_id, and"),
                ("filter_id = 'sex', selected_values = [1]", "must have selected_values in quotes"),
                ("filter_id = 'sex', selected_values = ['1'], any = 1", "must have selected_val"),
                ("filter_id = 'age', selected_range = {}", "must have lower, upper or both"),
                ("filter_id = 'age', selected_range = { least = 3 }", "must have lower, upper or"),
                (
                    "filter_id = 'age', selected_range = { lower = '3' }",
                    "must have lower, upper or",
                ),
                (
                    "filter_id = 'age', selected_range = { lower = 3, upper = 2 }",
                    "must have a lower end",
                ),
                ("filter_id = 'or'", 'must be filter_id = "and" or "or"'),
                ("filter_id = 'or', selected_filters = [{ filter_id = 'age' }]", "must have a fil"),
            )
        ],
        (MINIMAL + "[recruiter]\nkind = 'mturk'\nreward = '0.11'", "not be more than 0.10"),
        (MINIMAL + "[recruiter]\nkind = 'mturk'\nreward = '0'", "more than nothing"),
        (
            MINIMAL + "[pay]\ncomplete='0'\nwaiting_per_minute='0'\n[recruiter]\nkind='mturk'",
            "pay.complete, pay.left and pay.waiting_per_minute are all 0; one of them must be more",
        ),
        (
            MINIMAL
            + "[pay]\ncomplete='0'\n[recruiter]\nkind='prolific'\nprolific.workspace='"
            + f"{ID}'",
            'pay.complete must be more than 0 for recruiter.kind = "prolific"',
        ),
        (MINIMAL + "[recruiter]\nendpoint = 'here'", "recruiter.endpoint must be"),
        (MINIMAL + "[recruiter]\nkind = 'mturk'\nseats = 10", "recruiter.seats"),
        (
            MINIMAL + "[pay]\ncurrency = 'EUR'\n[recruiter]\nkind = 'mturk'",
            'pay.currency must be "USD"',
        ),
        (MINIMAL + "[lobby]\nheartbeat_s = 40", "lobby.heartbeat_s must be less than"),
        (
            MINIMAL + "[[check]]\nquestion='q'\noptions=['a','b']\nanswer='c'",
            "check[1].answer must be one of the options (it is 'c')",
        ),
        (MINIMAL + "[[check]]\nquestion='q'\noptions=['a','b']", "check[1].answer is missing"),
        (MINIMAL + "[[check]]\nquestion='q'\noptions=['a']\nanswer='a'", "check[1].options"),
        (MINIMAL + "[[check]]\nquest='q'\n", "unknown key check[1].quest; did you mean question?"),
        (MINIMAL + "check = 5", "items.check"),
    ],
)
def test_each_fault_is_one_line_that_names_the_key(tmp_path: Path, text: str, says: str) -> None:
    found = problems(tmp_path, text)
    assert any(says in problem for problem in found), found


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ("[protocol]\ngrace_s = 180", "protocol.grace_s"),
        ("[protocol]\nturn_limit_s = 1201", "protocol.dialog_limit_s"),
        ("[protocol]\nrounds = 61", "protocol.dialog_limit_s"),
        ("[protocol]\nrounds = 2", "protocol.pair_again_below"),
        ("[lobby]\nstart_s = 600", "lobby.start_s"),
        ("[recruiter]\nassignment_duration_s = 4819", "recruiter.assignment_duration_s"),
        ("[protocol]\ndialog_limit_s = 6000", "recruiter.assignment_duration_s"),
        ("[pay]\nleft = '1.51'", "pay.left"),
        ("[pay]\ncomplete = '10000000.01'", "pay.complete must not be more than"),
    ],
)
def test_settings_that_cannot_all_hold_are_named(tmp_path: Path, more: str, key: str) -> None:
    (problem,) = problems(tmp_path, MINIMAL + more)
    assert problem.startswith(f"study.toml: {key} ")


@pytest.mark.parametrize(
    "more",
    [
        "[protocol]\ngrace_s = 179",
        "[protocol]\nturn_limit_s = 1200",
        "[protocol]\nrounds = 60",
        "[protocol]\nrounds = 3",
        "[recruiter]\nassignment_duration_s = 4820",
        "[pay]\nleft = '1.50'",
    ],
)
def test_settings_at_the_edge_of_what_can_hold_are_accepted(tmp_path: Path, more: str) -> None:
    assert read(tmp_path, MINIMAL + more).study.id == "s"


def test_faults_are_told_at_once(tmp_path: Path) -> None:
    text = MINIMAL + "[protocol]\nround = 1\ngrace_s = 0\n[pay]\ncomplete = 'x'\nleft = 'y'"
    assert len(problems(tmp_path, text)) == 4
    text = MINIMAL + "[protocol]\ngrace_s = 180\n[lobby]\nstart_s = 600"
    assert len(problems(tmp_path, text)) == 2


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("one_time_invitations = true\n", "study.invitations is missing"),
        ("invitations = 'codes.txt'\n", "needs one_time_invitations = true"),
    ],
)
def test_invitations_come_with_their_file(tmp_path: Path, more: str, says: str) -> None:
    (problem,) = problems(tmp_path, MINIMAL.replace("[items]", f"{more}[items]"))
    assert says in problem


def test_invitation_codes_are_checked(tmp_path: Path) -> None:
    file = tmp_path / "codes.txt"
    file.write_bytes(b"\xef\xbb\xbfabcdefgh\r\nshort\r\nabcdefgh\r\nwith blank\r\n")
    with pytest.raises(StudyError) as caught:
        read_invitations(file)
    short, twice, blank = caught.value.problems
    assert short.startswith("codes.txt, line 2: a code must have 8 to 100")
    assert twice == "codes.txt, line 3: the code stands in line 1 too"
    assert blank.startswith("codes.txt, line 4: ")
    file.write_text("\n")
    with pytest.raises(StudyError, match="holds no code"):
        read_invitations(file)
    with pytest.raises(StudyError, match="`duologue hits invite` begins it"):
        read_invitations(tmp_path / "none.txt")


def test_files_that_are_no_text_are_named(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"study\.toml: cannot be read: No such file"):
        read_study(tmp_path / "study.toml")
    (tmp_path / "study.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(StudyError, match="is not UTF-8"):
        read_study(tmp_path / "study.toml")
    (tmp_path / "study.toml").write_bytes(b"\xef\xbb\xbf" + MINIMAL.encode())
    assert read_study(tmp_path / "study.toml").study.id == "s"


def test_the_template_is_a_study_with_the_defaults(tmp_path: Path) -> None:
    study, minimal = read(tmp_path, template()), read(tmp_path, MINIMAL)
    for section in ("protocol", "lobby", "pay", "texts", "recruiter"):
        assert getattr(study, section) == getattr(minimal, section), section
    assert len(study.check) == 2
    assert study.unfilled() == ("study.contact", "texts.consent")
    # Every key of every section stands in it, the unset ones as comments.
    keys = set(re.findall(r"^(?:# )?(\w+) = ", template(), re.MULTILINE))
    for section in StudyFile.model_fields:
        default = getattr(minimal, section)
        assert set(getattr(default, "model_fields_set", ())) <= keys
    assert {"invitations", "turn_stretch", "waiting_per_minute", "consent", "kind"} <= keys
    assert max(len(line) for line in template().splitlines() if line.startswith("#")) <= 96


def test_every_example_behind_a_comment_is_one_that_the_study_file_takes(tmp_path: Path) -> None:
    section, found = "", []
    for line in template().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif example := re.fullmatch(r"# (\w+ = .+)", line):
            found.append((section, example[1]))
    unset = sum(field.default is None for section in (StudySection, RecruiterSection,
                                                      ProlificSection)
                for field in section.model_fields.values())  # fmt: skip
    assert len(found) == unset == 11
    also = {"study": "one_time_invitations = true\n"}
    for section, example in found:
        top = MINIMAL.replace("[study]\n", "[study]\n" + also["study"] + f"{example}\n")
        text = top if section == "study" else f"{MINIMAL}[{section}]\n{example}\n"
        read(tmp_path, text)


def test_placeholders_are_pointed_at(tmp_path: Path) -> None:
    text = MINIMAL.replace('"t"', '"Study of [INSTITUTION]"\ncontact = "a@b.c"')
    assert read(tmp_path, text).unfilled() == ("study.title", "texts.consent")
    assert read(tmp_path, text + '[texts]\nconsent = "I am 18 [or older]"').unfilled() == (
        "study.title",
    )


def test_every_key_has_a_meaning_in_the_reference() -> None:
    for page in (settings_page(), study_page()):
        rows = [line for line in page.splitlines() if line.startswith("| `")]
        assert len(rows) >= 9
        for row in rows:
            _, key, default, meaning, _ = re.split(r"(?<!\\)\|", row)
            assert key.strip()
            assert default.strip()
            assert len(meaning.strip()) > 10, row


@given(st.integers(0, 10**8), st.sampled_from(["USD", "JPY", "KWD"]))
def test_amounts_survive_writing_and_reading(cents: int, currency: str) -> None:
    assert to_cents(to_text(cents, currency), currency) == cents


@pytest.mark.parametrize(
    ("amount", "currency", "cents"),
    [("1.50", "USD", 150), ("1.5", "USD", 150), ("0.07", "USD", 7), ("3", "EUR", 300),
     ("150", "JPY", 150), ("1.005", "KWD", 1005), ("000001.10", "GBP", 110)],
)  # fmt: skip
def test_amounts_are_exact(amount: str, currency: str, cents: int) -> None:
    assert to_cents(amount, currency) == cents


@pytest.mark.parametrize("amount", ["", ".5", "1.", "1e3", "١", "1 000", "+1", "1\n", "9999999999"])
def test_what_is_no_amount_is_refused(amount: str) -> None:
    with pytest.raises(ValueError, match="must be an amount"):
        to_cents(amount, "USD")


def test_what_prolific_is_told_stands_in_the_study_file(tmp_path: Path) -> None:
    """Every setting of the recruiter that a team could want, and none without effect."""
    told = """
devices = ["desktop"]
filters = [
  { filter_id = "or", selected_filters = [
    { filter_id = "age", selected_range = { lower = 20, upper = 40.5 } },
    { filter_id = "sex", selected_values = ["0", "1"], weightings = { "0" = 1, "1" = 2 } },
  ] },
  { filter_id = "approval_rate", selected_range = { lower = 95 } },
]
inside_at_once = 6
block_group = "Not these"
screen_out = "0.30"
screen_out_slots = 7
rejection_category = "LOW_EFFORT"
service_fee_percent = 33.3
vat_percent = 20
project = "65a0f2c81d3e4b5a6c7d8e9f"
"""
    file = tmp_path / "study.toml"
    file.write_text(PROLIFIC + told)
    study = read_study(file)
    environment = {
        "DUOLOGUE_PROLIFIC_TOKEN": "token",
        "DUOLOGUE_PROLIFIC_HOOK_SECRET": "the workspace's",
        "DUOLOGUE_SECRET_KEY": "k" * 40,
    }
    recruiter = recruiter_for(study, read_settings(environment, tmp_path))
    assert isinstance(recruiter, Prolific)
    config = recruiter.config
    assert config.filters == (
        {
            "filter_id": "or",
            "selected_filters": [
                {"filter_id": "age", "selected_range": {"lower": 20, "upper": 40.5}},
                {
                    "filter_id": "sex",
                    "selected_values": ["0", "1"],
                    "weightings": {"0": 1, "1": 2},
                },
            ],
        },
        {"filter_id": "approval_rate", "selected_range": {"lower": 95}},
    )
    assert (config.workspace_id, config.project_id, config.token) == (ID, ID, "token")
    assert (config.devices, config.inside_at_once) == (("desktop",), 6)
    assert (config.block_group, config.rejection_category) == ("Not these", "LOW_EFFORT")
    assert (config.screen_out_cents, config.screen_out_slots) == (30, 7)
    assert (config.service_fee_percent, config.vat_percent) == (Decimal("33.3"), Decimal(20))
    assert config.hook_secret == "the workspace's"
    assert config.dialogs_per_worker == study.study.dialogs_per_worker


@pytest.mark.parametrize(
    ("text", "seats"),
    [
        ("kind = 'mturk'", 1),
        ("kind = 'mturk'\nseats = 9", 9),
        ("kind = 'prolific'\nprolific.workspace = '65a0f2c81d3e4b5a6c7d8e9f'", 10_000),
        ("kind = 'prolific'\nseats = 40\nprolific.workspace = '65a0f2c81d3e4b5a6c7d8e9f'", 40),
    ],
)
def test_how_many_seats_a_hit_has(tmp_path: Path, text: str, seats: int) -> None:
    file = tmp_path / "study.toml"
    file.write_text(MINIMAL + f"[recruiter]\n{text}\n")
    assert hit_config(read_study(file), "https://x.example").seats == seats
