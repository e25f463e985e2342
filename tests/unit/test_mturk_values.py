"""What goes over to Mechanical Turk and what is made of what comes back, without a server."""

from __future__ import annotations

import logging
from xml.etree import ElementTree

import pytest

from hit_manager.recruiters import base
from hit_manager.recruiters.mturk import Mturk, MturkConfig, Wanted, money
from hit_manager.recruiters.mturk.blocking import DESCRIPTION
from hit_manager.recruiters.mturk.errors import (
    AlreadyDone,
    NeedsPerson,
    Throttled,
    WrongState,
    from_answer,
    hit_named_in,
)
from hit_manager.recruiters.mturk.keys import request_token
from hit_manager.recruiters.mturk.qualifications import requirements
from hit_manager.recruiters.mturk.questions import EXTERNAL_QUESTION, answers, external_question


def config(**settings: object) -> MturkConfig:
    values = {"endpoint": "sandbox", "access_key": "AK", "secret_key": "a secret"} | settings
    return MturkConfig(**values)  # type: ignore[arg-type]


# --- Settings --------------------------------------------------------------------------------


def test_endpoints() -> None:
    assert config(endpoint="production").url.endswith("//mturk-requester.us-east-1.amazonaws.com")
    assert "sandbox" in config().url
    assert config(endpoint="http://127.0.0.1:8090/mturk").url == "http://127.0.0.1:8090/mturk"
    assert "a secret" not in repr(config())


@pytest.mark.parametrize(
    "wrong",
    [
        {"endpoint": "us-east-1"},
        {"access_key": ""},
        {"seats_per_hit": 10},
        {"seats_per_hit": 0},
        {"frame_height": -1},
        {"mark": "a:b"},
        {"wanted": Wanted(percent_approved=101)},
        {"wanted": Wanted(number_approved=-1)},
        {"wanted": Wanted(countries=("USA",))},
        {"wanted": Wanted(countries=("US",) * 31)},
    ],
)
def test_settings_that_cannot_be_right_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r":|\""):
        config(**wrong)


# --- Arrivals --------------------------------------------------------------------------------

QUERY = {
    "assignmentId": "3ASSIGNMENT",
    "hitId": "3HIT",
    "workerId": "A1WORKER",
    "turkSubmitTo": "https://workersandbox.mturk.com",
    "hit": "our own token",
}


def test_an_arrival_with_all_that_is_always_sent() -> None:
    for slash in ("", "/"):
        arriving = Mturk(config()).arriving(
            QUERY | {"turkSubmitTo": f"https://workersandbox.mturk.com{slash}"}
        )
        assert arriving == base.Arriving(
            "A1WORKER",
            "3ASSIGNMENT",
            "3HIT",
            "https://workersandbox.mturk.com/mturk/externalSubmit",
        )


@pytest.mark.parametrize("name", ["assignmentId", "hitId", "workerId", "turkSubmitTo"])
def test_without_any_of_it_it_is_a_preview(name: str) -> None:
    recruiter = Mturk(config())
    assert recruiter.arriving({n: v for n, v in QUERY.items() if n != name}) is None
    assert recruiter.arriving(QUERY | {name: ""}) is None


@pytest.mark.parametrize(
    "change",
    [
        {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"},
        {"assignmentId": "3<script>"},
        {"workerId": "B1WORKER"},
        {"workerId": "A1WORKER\n"},
        {"hitId": "3hit"},
        {"turkSubmitTo": "https://www.mturk.com"},
    ],
)
def test_nor_is_it_an_arrival_if_any_of_it_cannot_be(change: dict[str, str]) -> None:
    assert Mturk(config()).arriving(QUERY | change) is None


@pytest.mark.parametrize(
    "site",
    [
        "https://workersandbox.mturk.com.evil.example",
        "https://workersandbox.mturk.com@evil.example",
        "https://workersandbox.mturk.com/elsewhere",
        "http://workersandbox.mturk.com",
        "javascript:alert(1)",
        "https://[evil",
    ],
)
def test_a_site_off_the_list_is_told_without_who_came(
    site: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        forged = f"{site}?workerId=A1WORKER"
        assert Mturk(config()).arriving(QUERY | {"turkSubmitTo": forged}) is None
    assert "not among the sites" in caplog.text
    assert "A1WORKER" not in caplog.text


def test_sites_of_another_server() -> None:
    own = config(endpoint="https://market.example/mturk", submit_to=("https://work.example/",))
    assert own.sites == {"https://market.example", "https://work.example"}


# --- Money -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cents", "settings", "fee"),
    [
        (150, {}, 30),
        (150, {"seats": 9}, 30),
        (150, {"seats": 10}, 60),
        (150, {"seats": 10, "bonus": True}, 30),
        (150, {"masters": True}, 38),
        (150, {"masters": True, "bonus": True}, 30),
        (100, {"seats": 10, "masters": True}, 45),
        (1, {}, 1),
        (2, {}, 1),
        (52, {}, 10),
        (53, {}, 11),
        (10, {"masters": True}, 3),
        (0, {}, 0),
    ],
)
def test_fees(cents: int, settings: dict[str, int], fee: int) -> None:
    masters = bool(settings.pop("masters", False))
    recruiter = Mturk(config(wanted=Wanted(masters=masters)))
    seats, bonus = settings.get("seats", 1), bool(settings.get("bonus", False))
    assert recruiter.commission(cents, seats=seats, bonus=bonus) == fee


def test_amounts_as_texts() -> None:
    assert [money.dollars(cents) for cents in (1, 99, 100, 12345)] == [
        "0.01",
        "0.99",
        "1.00",
        "123.45",
    ]
    assert [money.cents(text) for text in ("5", "5.", "0.5", "101.42")] == [500, 500, 50, 10142]
    with pytest.raises(base.Refused):
        money.dollars(0)
    for wrong in ("", "-1", "1.234", "1,5"):
        with pytest.raises(ValueError, match="amount"):
            money.cents(wrong)


def test_tokens() -> None:
    assert request_token("hit-17") == "hit-17"
    for key in ("k" * 65, "Schlüssel", "two words", ""):
        token = request_token(key)
        assert token == request_token(key)
        assert len(token) == 64
        assert token.isascii()


# --- XML -------------------------------------------------------------------------------------


def test_a_question_with_any_url_is_well_formed() -> None:
    url = "https://duologue.example/work?hit=a&lang=de&text=<é>"
    root = ElementTree.fromstring(external_question(url, 0))
    assert root.tag == f"{{{EXTERNAL_QUESTION}}}ExternalQuestion"
    assert [(child.tag.partition("}")[2], child.text) for child in root] == [
        ("ExternalURL", url),
        ("FrameHeight", "0"),
    ]
    with pytest.raises(base.Refused):
        external_question("https://duologue.example/" + "&" * 20_000, 0)


def test_answers() -> None:
    xml = (
        '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<QuestionFormAnswers xmlns="http:'
        "//mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/"
        'QuestionFormAnswers.xsd"><Answer><QuestionIdentifier>code</QuestionIdentifier><FreeText>'
        "A&amp;B</FreeText></Answer><Answer><QuestionIdentifier>empty</QuestionIdentifier>"
        "<FreeText/></Answer></QuestionFormAnswers>"
    )
    assert answers(xml) == {"code": "A&B", "empty": ""}
    bomb = xml.replace("\n<Q", '\n<!DOCTYPE x [<!ENTITY y "z">]>\n<Q').replace("A&amp;B", "&y;")
    assert [answers(text) for text in ("", "<a>", bomb)] == [{}, {}, {}]


# --- Qualifications ----------------------------------------------------------------------------


def test_requirements() -> None:
    wanted = Wanted(
        ("us-ny", "DE"), percent_approved=95, number_approved=500, masters=True, adult=True
    )
    asked = requirements(wanted, block_type="3OURS", sandbox=True)
    assert {r["ActionsGuarded"] for r in asked} == {"DiscoverPreviewAndAccept"}
    assert [
        (r["QualificationTypeId"], r["Comparator"], r.get("IntegerValues", r.get("LocaleValues")))
        for r in asked
    ] == [
        ("00000000000000000071", "In", [{"Country": "US", "Subdivision": "NY"}, {"Country": "DE"}]),
        ("000000000000000000L0", "GreaterThanOrEqualTo", [95]),
        ("00000000000000000040", "GreaterThanOrEqualTo", [500]),
        ("2ARFPLSP75KLA8M8DH1HTEQVJT3SY6", "Exists", None),
        ("00000000000000000060", "EqualTo", [1]),
        ("3OURS", "DoesNotExist", None),
    ]
    assert requirements(Wanted(), block_type=None) == []


# --- Errors ------------------------------------------------------------------------------------


def answer(
    code: str = "RequestError", turk: str = "", text: str = "x", status: int = 400
) -> dict[str, object]:
    found: dict[str, object] = {
        "Error": {"Code": code, "Message": text},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return found | ({"TurkErrorCode": turk} if turk else {})


T = "AWS.MechanicalTurk."


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        (answer(turk=f"{T}HITDoesNotExist"), base.NotThere),
        (answer(turk=f"{T}AssignmentDoesNotExist"), base.NotThere),
        (answer(turk=f"{T}InvalidHITState"), WrongState),
        (answer(turk=f"{T}InvalidAssignmentState"), WrongState),
        (answer(turk=f"{T}InsufficientFunds"), base.NoFunds),
        (answer(turk=f"{T}HitAlreadyExists"), AlreadyDone),
        (answer(turk=f"{T}HITAlreadyExists"), AlreadyDone),
        (answer(turk=f"{T}IdempotencyTokenAlreadyProcessed"), AlreadyDone),
        (answer(text='The idempotency token "x" has already been processed.'), AlreadyDone),
        (answer(turk=f"{T}InvalidParameterValue"), base.Refused),
        (answer(turk=f"{T}InvalidMaximumAssignmentsIncrease"), base.Refused),
        (answer("ParameterValidationError"), base.Refused),
        (answer("ValidationException"), base.Refused),
        (answer("ValidationException", text="Value 'already exists' at 'reason' …"), base.Refused),
        (answer("404", status=404), NeedsPerson),
        (answer("InvalidSignatureException", status=403), NeedsPerson),
        (answer("UnrecognizedClientException"), NeedsPerson),
        (answer("ThrottlingException"), Throttled),
        (answer("429", status=429), Throttled),
        (answer("ServiceFault", status=500), base.Unsure),
        (answer("502", status=502), base.Unsure),
        (answer(turk="AWS.ServiceUnavailable", status=400), base.Unsure),
    ],
)
def test_errors(response: dict[str, object], kind: type[base.RecruiterError]) -> None:
    assert type(from_answer("op", response, changes=True)) is kind
    read = from_answer("op", response, changes=False)
    assert type(read) is (base.Unavailable if kind is base.Unsure else kind)
    assert read.code


def test_an_error_says_what_was_said_without_its_stamp() -> None:
    error = from_answer(
        "create_hit",
        answer(
            turk=f"{T}HitAlreadyExists",
            text='The HIT with ID "3ABC" already exists. (1542881973916 s)',
        ),
        changes=True,
    )
    assert str(error) == f'create_hit: The HIT with ID "3ABC" already exists. ({T}HitAlreadyExists)'
    assert hit_named_in(error) == "3ABC"
    assert hit_named_in(base.Refused("no")) is None


def test_an_error_names_no_worker() -> None:
    said = 'The value "A2X8KQW0ERTY12" is not valid for the parameter WorkerId.'
    error = from_answer("send_bonus", answer("ParameterValidationError", text=said), changes=True)
    assert "A2X8KQW0ERTY12" not in str(error)
    assert "is not valid for the parameter WorkerId" in str(error)


# --- What workers may see of the soft block --------------------------------------------------


def test_the_soft_block_does_not_say_what_it_is_for() -> None:
    seen = f"{config().block_name} {DESCRIPTION}".lower()
    assert not any(word in seen for word in ("block", "exclu", "no further", "not "))
