"""Quality flags: each is raised for what it is about, and not for what merely looks like it."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialogs.events import Meta, Opened, Part, Said, SeatLost, SeatTaken, Settlement
from dialogs.quality import (
    Finding,
    Flag,
    Lengths,
    Limits,
    Line,
    Severity,
    Talk,
    findings,
    mean_words,
    summary,
    talk_of,
)
from dialogs.rules import Phase, Release, Role, Rules, SeatEnd
from dialogs.state import fold

CAPTION = "two dogs sleep on a red sofa"
Q, A = Role.QUESTIONER, Role.ANSWERER


def talk(*texts: str, language: str = "en", caption: str = CAPTION, **more: Any) -> Talk:
    """Questions and answers in turn, with nothing known of how they were written."""
    lines = tuple(Line((Q, A)[n % 2], n // 2 + 1, text, seq=n + 2) for n, text in enumerate(texts))
    return Talk(caption, language, lines, **more)


def asked(*questions: str, **more: Any) -> Talk:
    return talk(*(text for n, q in enumerate(questions) for text in (q, f"answer {n}")), **more)


def answered(*answers: str, **more: Any) -> Talk:
    """With a different question before each answer."""
    return talk(*(text for n, a in enumerate(answers) for text in (f"number {n}", a)), **more)


def flags(of: Talk) -> set[Flag]:
    return {found.flag for found in findings(of)}


def only(of: Talk, flag: Flag) -> Finding:
    (found,) = (each for each in findings(of) if each.flag is flag)
    return found


# --- Too fast, pasted ------------------------------------------------------------------------


def timed(seconds: float, question: str, answer: str, **more: Any) -> Talk:
    """An answer that came some seconds after the question."""
    lines = (Line(Q, 1, question, 2, 10_000.0), Line(A, 1, answer, 3, 10_000 + 1000 * seconds))
    return Talk(CAPTION, "en", (lines[0], replace(lines[1], **more)))


def test_an_answer_before_the_question_can_be_read_is_too_fast() -> None:
    found = only(timed(0.6, "is the dog on the left bigger?", "no"), Flag.TOO_FAST)
    assert found == Finding(
        Flag.TOO_FAST, A, 1, 3, "Answer 1 came 0.6 s after the question, too fast to have read it"
    )


def test_a_long_answer_must_have_been_typed() -> None:
    found = only(
        timed(2, "is it big?", "yes, it is far bigger than the other one, I think"), Flag.TOO_FAST
    )
    assert found.reason == (
        "Answer 1 came 2.0 s after the message before, too fast to have read that and typed 49 "
        "characters"
    )


@pytest.mark.parametrize(
    "good",
    [
        timed(1.5, "is the dog on the left bigger?", "no"),
        timed(4, "is it big?", "yes, it is far bigger than the other one, I think"),
        # Pasting takes no typing; that it was pasted is another flag.
        timed(2, "is it big?", "yes, it is far bigger than the other one, I think", pasted=True),
        # Written before the question came: odd, but not too fast to be typed.
        timed(2, "is it big?", "yes, it is far bigger than the other one", composed_ms=9000),
        # Two clocks that disagree say nothing about the person.
        timed(-3, "is it big?", "no"),
        talk("is it big?", "no"),
    ],
)
def test_what_can_be_done_in_time_is_not_too_fast(good: Talk) -> None:
    assert Flag.TOO_FAST not in flags(good)


def test_a_question_may_be_written_while_the_answer_is_awaited() -> None:
    lines = (
        Line(Q, 1, "is it big?", 2, 0.0),
        Line(A, 1, "no", 3, 9_000.0, composed_ms=500),
        Line(Q, 2, "is it old?", 4, 9_300.0, composed_ms=4_000),
    )
    assert Flag.TOO_FAST not in flags(Talk(CAPTION, "en", lines))
    at_once = (*lines[:2], replace(lines[2], composed_ms=200))
    assert only(Talk(CAPTION, "en", at_once), Flag.TOO_FAST).seq == 4


def test_typing_is_timed_by_itself_where_the_page_tells_it() -> None:
    text = "is there a cat between the two dogs"
    first = Talk(CAPTION, "en", (Line(Q, 1, text, 2, composed_ms=300),))
    assert "was written in 0.3 s, too fast to have typed 35" in only(first, Flag.TOO_FAST).reason
    for line in (
        Line(Q, 1, text, 2, composed_ms=3000),
        Line(Q, 1, text, 2, composed_ms=0),
        Line(Q, 1, "is it big", 2, composed_ms=100),
        Line(Q, 1, text, 2, composed_ms=300, pasted=True),
    ):
        assert not findings(Talk(CAPTION, "en", (line,)))


def test_several_pasted_messages_are_told_or_one_long_one() -> None:
    def pasting(*rounds: int, text: str = "a short one") -> Talk:
        lines = (Line(A, n, text, n, pasted=n in rounds) for n in range(1, 9))
        return Talk(CAPTION, "en", tuple(lines))

    long = "The sofa is a piece of furniture for seating two or three people at once."
    assert only(pasting(2, 3, 7), Flag.PASTED).reason == (
        "Answers 2, 3 and 7 were pasted, the longest “a short one”"
    )
    found = only(pasting(4, text=long), Flag.PASTED)
    assert (found.round, found.seq) == (4, 4)
    assert found.reason.startswith("Answer 4 was pasted, “The sofa is")
    assert Flag.PASTED not in flags(pasting(4))
    assert Flag.PASTED not in flags(pasting())


# --- Repeats, monotonous ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "again",
    [
        "is it sunny?", "Is it  SUNNY ??", "ok so is it sunny", "is it sun\u200bny",
        "ｉｓ it sunny",
    ],
)  # fmt: skip
def test_a_question_asked_again_repeats(again: str) -> None:
    found = only(asked("is it sunny", "is it big", again), Flag.REPEATS)
    assert (found.role, found.round) == (Q, 3)
    assert found.reason.startswith("Question 3 repeats question 1: “")


def test_scripts_with_combining_signs_are_compared_whole() -> None:
    assert Flag.REPEATS in flags(asked("क्या धूप है?", "क्या धूप है", language="hi"))
    # They differ in a vowel sign only.
    assert Flag.REPEATS not in flags(asked("क्या दिन है", "क्या दीन है", language="hi"))
    assert Flag.REPEATS in flags(asked("هل هو كلب؟", "هل هو كلب", language="ar"))
    assert Flag.REPEATS in flags(asked("le cafe\u0301 est ouvert", "le café est ouvert"))


@pytest.mark.parametrize(
    ("first", "second"),
    [("is it sunny", "is it sunny outside"), ("?", "!"), ("is it day", "it is day"), ("👍", "👎")],
)
def test_another_question_does_not_repeat(first: str, second: str) -> None:
    assert Flag.REPEATS not in flags(asked(first, second))


def test_the_same_answer_is_no_repeat() -> None:
    assert Flag.REPEATS not in flags(answered("not that i can see", "not that i can see"))


@pytest.mark.parametrize(
    "text",
    [CAPTION, "Two dogs sleep on a red sofa.", f"i see {CAPTION} here", "dogs sleep on a red sofa"],
)
def test_the_caption_said_again_repeats(text: str) -> None:
    assert only(asked(text), Flag.REPEATS).reason.startswith("Question 1 repeats the caption")
    assert only(answered(text), Flag.REPEATS).reason.startswith("Answer 1 repeats the caption")


@pytest.mark.parametrize("text", ["a red sofa", "is the sofa red", "do two dogs sleep there"])
def test_words_of_the_caption_do_not_repeat_it(text: str) -> None:
    assert Flag.REPEATS not in flags(asked(text))


def test_a_small_piece_of_a_long_caption_does_not_repeat_it() -> None:
    long = "a man in a blue coat walks two small dogs along the river at dawn"
    assert Flag.REPEATS not in flags(asked("a man in a blue coat", caption=long))
    assert Flag.REPEATS in flags(asked("a man in a blue coat walks two small dogs", caption=long))


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        (("yes",) * 6, "6 of 6 answers are the same: “yes”"),
        (("a dog",) * 9 + ("a cat",), "9 of 10 answers are the same: “a dog”"),
        (("yes", "no", "Nope.", "yess", "yeah"), "All 5 answers are a bare yes or no"),
        (("yes", "yes it is", "yes, big", "Yeah sure", "yes"), "All 5 answers begin with yes"),
        (("हाँ", "हाँ बड़ा", "हाँ जी", "हाँ", "हाँ"), "All 5 answers begin with yes"),
        (("نعم", "لا", "نعم", "لا", "نعم"), "All 5 answers are a bare yes or no"),
    ],
)
def test_answers_that_say_nothing_are_monotonous(answers: tuple[str, ...], reason: str) -> None:
    assert only(answered(*answers), Flag.MONOTONOUS).reason == reason


@pytest.mark.parametrize(
    "answers",
    [("yes",) * 4, ("yes",) * 8 + ("two", "red"), ("yes", "no", "no", "yes", "a red one")],
)
def test_answers_that_say_something_are_not(answers: tuple[str, ...]) -> None:
    assert Flag.MONOTONOUS not in flags(answered(*answers))


# --- Language, gibberish ---------------------------------------------------------------------

GERMAN = ("es sind zwei Kinder auf dem Bild", "der Himmel ist bewölkt", "das kann ich nicht sagen")
ENGLISH = ("there are two children", "the sky is cloudy", "i can not tell from here")
ARABIC = ("السماء صافية", "هناك شخصان في الصورة", "لا أرى جيدا")
HINDI = ("आसमान नीला है", "तस्वीर में दो लोग हैं", "साफ नहीं दिख रहा")
ROMAN_HINDI = ("aasman neela hai", "photo mein do log hain", "mujhe saaf nahi dikh raha hai")
OWN = {"de": GERMAN, "en": ENGLISH, "ar": ARABIC, "hi": HINDI, "hi-Latn": ROMAN_HINDI}


@pytest.mark.parametrize("study", ["de", "en", "ar", "hi"])
@pytest.mark.parametrize("written", OWN)
def test_another_language_than_the_studys_is_told(study: str, written: str) -> None:
    found = [
        f for f in findings(answered(*OWN[written], language=study)) if f.flag is Flag.LANGUAGE
    ]
    # The questions, `number 1` and so on, are too short to be judged.
    assert [f.role for f in found if f.role is A] == ([] if written == study else [A])


def test_the_reason_says_which() -> None:
    assert (
        "are probably German, not English: “es sind"
        in only(answered(*GERMAN), Flag.LANGUAGE).reason
    )
    assert (
        "are in Devanagari letters, which English is not written in"
        in only(answered(*HINDI), Flag.LANGUAGE).reason
    )
    assert "are not recognisably English" in only(answered(*ROMAN_HINDI), Flag.LANGUAGE).reason


@pytest.mark.parametrize(
    ("answers", "language"),
    [
        (("si", "no", "rojo"), "en"),
        (("no", "yes") * 5, "de"),
        (("👍👍👍👍👍👍👍👍👍👍👍👍👍👍",), "en"),
        (ROMAN_HINDI, "hi-Latn"),
        # Not among what the detector knows, so it cannot be right about it.
        (("tlhIngan Hol Dajatlhlaha", "nuqneH qaleghneS juppu wIj"), "tlh"),
        (("it says café olé", "a crème brûlée", "the sign says willkommen"), "en"),
        (ENGLISH, "tlh"),
        (("дом", "кот"), "en"),
        # A bare yes or no is understood in any language, and is not judged.
        (("yes", "no", "yeah", "nope", "yep", "السماء صافية"), "ar"),
        (("الكلب dog", "القط على الأريكة cat", "السماء blue"), "ar"),
    ],
)
def test_short_or_mixed_texts_are_not_judged(answers: tuple[str, ...], language: str) -> None:
    found = findings(answered(*answers, language=language))
    assert (Flag.LANGUAGE, A) not in {(each.flag, each.role) for each in found}


@pytest.mark.parametrize(
    "text",
    [
        "asdf",
        "sdkjfh ksjdhf",
        "dfgdfg",
        "asdasd qweqwe",
        "hjkl;",
        "!!!",
        "...",
        "aaaa",
    ],
)
def test_random_keys_are_gibberish(text: str) -> None:
    assert only(answered(text), Flag.GIBBERISH).round == 1


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("hmmm", "en"), ("psst", "en"), ("dvds", "en"), ("3", "en"), ("catchphrase", "en"),
        ("blazer", "en"), ("2 tvs and dvds", "en"), ("http", "en"), ("1111", "en"),
        ("the sign says xkcd on it", "en"),
        ("Angstschweiß", "de"), ("Herbstkleider", "de"), ("destreza", "es"), ("przestrzeń", "pl"),
        ("čtvrt", "cs"), ("vlk", "cs"), ("prst", "hr"), ("ngŵn", "cy"),
        ("नमस्ते", "hi"), ("स्त्री", "hi"), ("السماء صافية", "ar"), ("شباك", "ar"), ("狗狗", "zh"),
        ("он в кресле", "ru"), ("взгляд", "ru"), ("e\u0301te\u0301", "fr"),
        ("\u202bنعم\u202c", "ar"),
    ],
)  # fmt: skip
def test_words_of_a_language_are_none(text: str, language: str) -> None:
    assert Flag.GIBBERISH not in flags(answered(text, language=language))


# --- Counter-questions -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("what do you think?", "en"), ("is it a girl", "en"), ("why do you ask", "en"),
        ("Can you see it?", "en"), ("was meinst du?", "de"), ("¿qué piensas?", "es"),
        ("ماذا ترى؟", "ar"), ("आपको क्या लगता है?", "hi"), ("ты где?", "ru"),
    ],
)  # fmt: skip
def test_an_answer_that_asks_is_a_counter_question(text: str, language: str) -> None:
    assert only(answered(text, language=language), Flag.COUNTER_QUESTION).role is A
    assert Flag.COUNTER_QUESTION not in flags(asked(text, language=language))


@pytest.mark.parametrize(
    "text",
    ["maybe a dog?", "i think it is 3?", "a cat?", "yes?", "does not look like it",
     "what a nice dog", "is, the sky is visible", "who knows", "you can see a tree",
     "can't tell", "yes; it is"],
)  # fmt: skip
def test_an_unsure_answer_is_none(text: str) -> None:
    assert Flag.COUNTER_QUESTION not in flags(answered(text))


# --- Lengths, same address -------------------------------------------------------------------


def test_a_length_far_from_the_others_is_told() -> None:
    lengths = {A: Lengths(40, 3.0, 0.8)}
    essay = answered("there are very many things in this picture " * 3, lengths=lengths)
    found = only(essay, Flag.LENGTH_OUTLIER)
    assert found.role is A
    assert found.reason == (
        "The answerer's messages have 24.0 words on average; the median of 40 workers is 3.0"
    )
    for silent in (
        answered("it is on the left side", lengths=lengths),
        replace(essay, lengths={A: Lengths(19, 3.0, 0.8)}),
        replace(essay, lengths={}),
        replace(essay, lengths={Q: Lengths(40, 3.0, 0.8)}, lines=essay.of(A)),
    ):
        assert Flag.LENGTH_OUTLIER not in flags(silent)


def test_workers_who_are_all_alike_make_nobody_an_outlier_by_a_word() -> None:
    assert Flag.LENGTH_OUTLIER not in flags(
        answered("a dog there", lengths={A: Lengths(40, 1.0, 0.0)})
    )


def test_the_summary_is_robust() -> None:
    assert summary([3, 3, 4, 5, 500]) == Lengths(5, 4, 1)
    assert summary([]) is None
    assert mean_words(answered("a dog", "two big red dogs").of(A)) == 3
    assert mean_words(()) is None


def test_one_address_is_told() -> None:
    found = only(talk("is it big", "no", same_address=True), Flag.SAME_ADDRESS)
    assert (found.role, found.round, found.seq) == (None, None, None)
    assert Flag.SAME_ADDRESS not in flags(talk("is it big", "no"))


# --- The whole -------------------------------------------------------------------------------


def test_every_flag_has_a_label_and_a_severity() -> None:
    assert len({flag.label for flag in Flag}) == len(Flag)
    assert {flag.severity for flag in Flag} == set(Severity)


def test_every_limit_is_described() -> None:
    for limit in fields(Limits):
        assert f"    {limit.name}: " in (Limits.__doc__ or ""), limit.name


def test_a_talk_is_made_from_the_fold() -> None:
    seats = (SeatTaken(Q, "a1", "w1"), SeatTaken(A, "a2", "w2"))
    state = fold(
        "d",
        [
            Opened(5.0, Rules(), "i", 1, seats),
            Said(10.0, Q, "k1", 1, (Part("is it big?"),)),
            Said(10.5, A, "k2", 1, (Part("no"),), Meta(True, 120, 3)),
        ],
    )
    made = talk_of(state, CAPTION, "en", same_address=True)
    assert made == Talk(
        CAPTION,
        "en",
        (
            Line(Q, 1, "is it big?", 2, 10_000.0, False, 0, 0),
            Line(A, 1, "no", 3, 10_500.0, True, 120, 3),
        ),
        True,
    )
    assert flags(made) == {Flag.TOO_FAST, Flag.SAME_ADDRESS}


def test_who_is_left_alone_is_not_judged_as_half_of_a_pair() -> None:
    seats = (SeatTaken(Q, "a1", "w1"), SeatTaken(A, "a2", "w2"))
    texts = [f"is there a dog on the left of sofa number {n}?" for n in range(9)]
    state = fold(
        "d",
        [
            Opened(5.0, Rules(), "i", 1, seats),
            Said(10.0, Q, "k0", 1, (Part("is it big?"),)),
            SeatLost(10.1, Q, SeatEnd.LEAVE, Phase.SOLO, Settlement("a1", Release.LEFT, 0)),
            *(
                Said(10.3 + 9 * n, A, f"k{n + 1}", n + 1, (Part(text),))
                for n, text in enumerate(texts)
            ),
        ],
    )
    lengths = {A: Lengths(workers=40, median=2.0, mad=0.5)}
    made = talk_of(state, CAPTION, "en", lengths=lengths)
    assert [line.alone for line in made.lines] == [False] + [True] * 9
    assert flags(made) == set()
    paired = replace(made, lines=tuple(replace(line, alone=False) for line in made.lines))
    assert flags(paired) == {Flag.COUNTER_QUESTION, Flag.LENGTH_OUTLIER, Flag.TOO_FAST}


_ODD = st.sampled_from(
    [
        "\u200d",
        "\u202e",
        "\ud800",
        "\x00",
        "e\u0301",
        "👨‍👩‍👧",
        "है",
        "؟",
        "@",
        "f*ck",
        "1 2 3 4 5 6 7 8",
    ]
)
_TEXTS = st.one_of(st.text(max_size=60), st.lists(_ODD, max_size=8).map(" ".join))
_LINES = st.builds(
    Line,
    role=st.sampled_from(Role),
    round=st.integers(1, 10),
    text=_TEXTS,
    seq=st.none() | st.integers(1, 40),
    at_ms=st.none() | st.floats(0, 1e12),
    pasted=st.none() | st.booleans(),
    composed_ms=st.none() | st.floats(0, 1e6),
)
_TALKS = st.builds(
    Talk,
    caption=_TEXTS,
    language=st.sampled_from(["en", "ar", "hi", "zh-Hant", "de-AT", "xx", "", "pt-BR", "../en"]),
    lines=st.lists(_LINES, max_size=12).map(tuple),
    same_address=st.booleans(),
    lengths=st.just({A: Lengths(30, 3.0, 0.0)}) | st.just({}),
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(_TALKS)
def test_no_text_makes_it_raise_and_the_same_talk_gives_the_same(given_talk: Talk) -> None:
    found = findings(given_talk)
    assert found == findings(given_talk)
    for each in found:
        assert each.reason
        assert "\n" not in each.reason or "\n" in "".join(line.text for line in given_talk.lines)


@settings(deadline=None)
@given(_TALKS)
def test_what_is_not_known_leaves_its_flag_silent(given_talk: Talk) -> None:
    unknown = tuple(Line(line.role, line.round, line.text, line.seq) for line in given_talk.lines)
    bare = replace(given_talk, lines=unknown, lengths={}, same_address=False)
    silent = {Flag.TOO_FAST, Flag.PASTED, Flag.LENGTH_OUTLIER, Flag.SAME_ADDRESS}
    assert not silent & flags(bare)
