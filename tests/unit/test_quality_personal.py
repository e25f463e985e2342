"""Quality flags for personal data and for how people treat each other."""

from __future__ import annotations

import pytest

from dialogs.quality import Flag, Line, Talk, findings
from dialogs.rules import Role


def flags(text: str, language: str = "en") -> set[Flag]:
    lines = (Line(Role.QUESTIONER, 1, "colour", 2), Line(Role.ANSWERER, 1, text, 3))
    return {found.flag for found in findings(Talk("a red house by a lake", language, lines))}


@pytest.mark.parametrize(
    "text",
    [
        "mail me at bob@example.org", "ＢＯＢ＠ｅｘａｍｐｌｅ．ｏｒｇ",
        "bob [at] example [dot] org",
        "bob at example dot com", "bob at gmail", "bob(at)example.de",
        "see https://example.org", "www.example.org", "example.com", "example dot com", "xy.cc/abc",
        "i am @bob_1 there", "212-736-5000", "(212) 736 5000", "+44 20 7946 0958", "98200 12345",
        "two one two seven three six five zero zero zero", "2 1 2 7 3 6 5 0 0 0",
        "4539 1488 0343 6467", "٠١٠٠١٢٣٤٥٦٧",
    ],
)  # fmt: skip
def test_contact_data_is_told(text: str) -> None:
    assert Flag.CONTACT in flags(text)


@pytest.mark.parametrize(
    "text",
    [
        "171722 and 1717728", "yes 11.01.2009 23:34", "it is 10:45", "3 cars, 2 buses and 1 bike",
        "yes.it is", "no...maybe", "1 2 3", "one two or three of them", "the dot in the middle",
        "he looks at the camera", "flight 1234567", "u.s. flag", "about 10,000 people", "at night",
        "1920 1080", "bus 45 to 3rd ave",
    ],
)  # fmt: skip
def test_numbers_and_dots_of_a_picture_are_none(text: str) -> None:
    assert Flag.CONTACT not in flags(text)


def test_phone_numbers_follow_the_studys_country() -> None:
    assert Flag.CONTACT in flags("030 12345", "de")
    assert Flag.CONTACT not in flags("030 12345", "en")
    assert Flag.CONTACT in flags("030 12345", "en-DE")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("i live in chicago", "en"), ("I'm from Lagos", "en"), ("my home address", "en"),
        ("221b baker street", "en"), ("1600 pennsylvania avenue", "en"), ("SW1A 1AA", "en"),
        ("Queens, NY 11375", "en"), ("40.7128, -74.0060", "en"), ("zip code is 94110", "en"),
        ("Musterstraße 14", "de"), ("ich wohne in Köln", "de"), ("calle Mayor 23", "es"),
        ("12 rue de Rivoli", "fr"), ("أعيش في القاهرة", "ar"), ("मैं दिल्ली में रहता हूँ", "hi"),
    ],
)  # fmt: skip
def test_where_somebody_lives_is_told(text: str, language: str) -> None:
    assert Flag.LOCATION in flags(text, language)


@pytest.mark.parametrize(
    "text",
    [
        "it is a 2 way street", "4 wheel drive", "1 tennis court", "10 people on the street",
        "12 cars parked on the road", "1 says clarke dr", "from the left", "30 feet down the road",
        "20 red street lights", "i am from here not able to see", "in the street",
        "3 4 of the way full", "ny 11375",
    ],
)  # fmt: skip
def test_streets_of_a_picture_are_none(text: str) -> None:
    assert Flag.LOCATION not in flags(text)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("my name is Anna", "en"), ("My name's Bob", "en"), ("call me Al", "en"),
        ("ich heiße Jo", "de"), ("me llamo Ana", "es"), ("je m'appelle Zoé", "fr"),
        ("اسمي محمد", "ar"), ("मेरा नाम राहुल है", "hi"),
    ],
)  # fmt: skip
def test_somebody_who_gives_a_name_is_told(text: str, language: str) -> None:
    assert Flag.NAME in flags(text, language)


@pytest.mark.parametrize(
    "text",
    ["the name is on the boat", "my name is not written there", "call me when", "a name tag"],
)
def test_names_of_a_picture_are_none(text: str) -> None:
    assert Flag.NAME not in flags(text)


@pytest.mark.parametrize(
    "text",
    [
        "add me on telegram", "text me on WhatsApp", "what's your number", "my insta", "dm me",
        "do you have paypal", "earn money online", "i will pay you 20 dollars", "send me money",
        "complete this survey", "the completion code", "what is your worker id", "click the link",
        "where do you live", "how old are you", "send me a pic",
    ],
)  # fmt: skip
def test_somebody_who_draws_the_other_away_is_told(text: str) -> None:
    assert Flag.SUSPICIOUS in flags(text)


@pytest.mark.parametrize(
    "text",
    [
        "a facebook page on the screen", "yes, it is worth a lot of money", "a sign up table",
        "the traffic signal is green", "is the turkey already cooked",
        "he is about to hit the ball",
        "he is on his phone", "2 dollars", "beautiful code", "a motorcycle meet-up",
    ],
)  # fmt: skip
def test_money_and_phones_of_a_picture_are_none(text: str) -> None:
    assert Flag.SUSPICIOUS not in flags(text)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("fuck you", "en"), ("f*ck this", "en"), ("f**k", "en"), ("fuuuck", "en"),
        ("f.u.c.k", "en"), ("f u c k", "en"), ("sh1t", "en"), ("FUCK", "en"),
        ("fu\u200bck", "en"), ("ｆｕｃｋ", "en"),
        ("you are so stupid", "en"), ("shut up", "en"), ("arschloch", "de"), ("fuck", "de"),
        ("hijo de puta", "es"), ("شرموطة", "ar"), ("chutiya", "hi"), ("scheiße", "de"),
    ],
)  # fmt: skip
def test_offensive_words_are_told(text: str, language: str) -> None:
    assert Flag.OFFENSIVE in flags(text, language)


@pytest.mark.parametrize("text", ["suck my dick", "a blowjob", "a big c0ck", "porn", "b00bs"])
def test_indecent_words_are_told(text: str) -> None:
    assert Flag.INDECENT in flags(text)


@pytest.mark.parametrize(
    "text",
    [
        "are they the same sex", "a shuttle cock", "is he topless", "riding bareback", "a cockpit",
        "scunthorpe", "you can see the garbage men", "a class of grass", "a stupid hat", "5h1rt",
        "a hot dog with kraut", "a sissy bar", "he is nude", "a pansy", "the trash can",
        "bass guitar",
    ],
)  # fmt: skip
def test_words_that_only_hold_one_are_none(text: str) -> None:
    assert not {Flag.OFFENSIVE, Flag.INDECENT} & flags(text)


def test_words_of_other_languages_count_in_their_studies_only() -> None:
    assert Flag.OFFENSIVE in flags("con la puta", "es")
    assert Flag.OFFENSIVE not in flags("a puta", "en")
