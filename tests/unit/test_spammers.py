"""Simulated spammers: the same from the same seed, and only their messages are theirs."""

from __future__ import annotations

import random

import pytest

from dialogs.quality import findings
from dialogs.rules import Role
from duologue.simulate import spam_texts
from duologue.simulate.corpus import Corpus
from duologue.simulate.spammers import EXPECTED, Half, Spam, spammed

SCRIPT = Corpus.builtin().scripts[0]


@pytest.mark.parametrize("kind", Spam)
def test_a_seed_gives_one_dialog_of_ten_rounds(kind: Spam) -> None:
    made = spammed(kind, SCRIPT, random.Random(5), Half.SEEN)
    assert made == spammed(kind, SCRIPT, random.Random(5), Half.SEEN)
    assert [(line.role, line.round) for line in made.talk.lines] == [
        (role, n) for n in range(1, 11) for role in (Role.QUESTIONER, Role.ANSWERER)
    ]
    ordinary = [text for turn in SCRIPT.rounds for text in turn]
    for line, text in zip(made.talk.lines, ordinary, strict=True):
        assert line.seq in made.spam or line.text == text
    assert made.spam <= {line.seq for line in made.talk.lines}
    assert bool(made.spam) is (kind is not Spam.ONE_PERSON)


@pytest.mark.parametrize("kind", Spam)
def test_each_kind_is_found_at_times(kind: Spam) -> None:
    rng = random.Random(1)
    flags = [
        {found.flag for found in findings(spammed(kind, SCRIPT, rng, Half.SEEN).talk)}
        for _ in range(10)
    ]
    assert any(EXPECTED[kind] in each for each in flags)


def test_an_ordinary_dialog_has_nothing() -> None:
    talk = spammed(Spam.ONE_PERSON, SCRIPT, random.Random(2), Half.SEEN).talk
    assert [found.flag for found in findings(talk)] == [EXPECTED[Spam.ONE_PERSON]]


def test_the_halves_share_no_text() -> None:
    rng = random.Random(3)
    said: dict[Half, set[str]] = {half: set() for half in Half}
    for half in Half:
        for _ in range(60):
            made = spammed(Spam.CONTACT, SCRIPT, rng, half)
            said[half] |= {line.text for line in made.talk.lines if line.seq in made.spam}
    assert not said[Half.SEEN] & said[Half.HELD_OUT]
    assert set().union(*said.values()) == set(spam_texts.CONTACT)
