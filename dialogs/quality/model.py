"""What is looked at, what is found, and the limits between the two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from dialogs.rules import Role


class Severity(StrEnum):
    """How soon a reviewer should look."""

    NOTE = "note"
    """Worth knowing; good dialogs have it too."""
    DOUBT = "doubt"
    """The dialog may be worthless as data."""
    HARM = "harm"
    """It may harm a person, or must not be published as it is."""


class Flag(StrEnum):
    """What may be wrong. A flag asks a person to look; it never rejects anything by itself."""

    TOO_FAST = "too_fast"
    PASTED = "pasted"
    REPEATS = "repeats"
    MONOTONOUS = "monotonous"
    LANGUAGE = "language"
    GIBBERISH = "gibberish"
    COUNTER_QUESTION = "counter_question"
    LENGTH_OUTLIER = "length_outlier"
    SAME_ADDRESS = "same_address"
    CONTACT = "contact"
    LOCATION = "location"
    NAME = "name"
    SUSPICIOUS = "suspicious"
    INDECENT = "indecent"
    OFFENSIVE = "offensive"

    @property
    def label(self) -> str:
        """A few words for a list or a badge."""
        return _LABELS[self][0]

    @property
    def severity(self) -> Severity:
        return _LABELS[self][1]

    @property
    def means(self) -> str:
        """When it is raised, in a sentence; docs/reference/quality-flags.md has the numbers."""
        return _MEANS[self]


_LABELS: Final[Mapping[Flag, tuple[str, Severity]]] = {
    Flag.TOO_FAST: ("too fast", Severity.DOUBT),
    Flag.PASTED: ("pasted", Severity.DOUBT),
    Flag.REPEATS: ("repeats", Severity.DOUBT),
    Flag.MONOTONOUS: ("monotonous", Severity.DOUBT),
    Flag.LANGUAGE: ("other language", Severity.DOUBT),
    Flag.GIBBERISH: ("gibberish", Severity.DOUBT),
    Flag.COUNTER_QUESTION: ("answerer asks", Severity.NOTE),
    Flag.LENGTH_OUTLIER: ("unusual length", Severity.NOTE),
    Flag.SAME_ADDRESS: ("same address", Severity.NOTE),
    Flag.CONTACT: ("contact data", Severity.HARM),
    Flag.LOCATION: ("location", Severity.HARM),
    Flag.NAME: ("gives a name", Severity.HARM),
    Flag.SUSPICIOUS: ("suspicious", Severity.HARM),
    Flag.INDECENT: ("indecent", Severity.HARM),
    Flag.OFFENSIVE: ("offensive", Severity.HARM),
}


_MEANS: Final[Mapping[Flag, str]] = {
    Flag.TOO_FAST: "A message came sooner than the one before it can be read and this one written.",
    Flag.PASTED: "Somebody pasted a long message, or several.",
    Flag.REPEATS: "A question was asked before, or a message is taken from the caption.",
    Flag.MONOTONOUS: "Nearly all answers are the same, or a bare yes or no.",
    Flag.LANGUAGE: "Somebody writes in another language than the study's.",
    Flag.GIBBERISH: "A message looks like keys hit at random, or holds no letter and no digit.",
    Flag.COUNTER_QUESTION: "An answer looks like a question.",
    Flag.LENGTH_OUTLIER: "Somebody's messages are much longer or shorter than those of others.",
    Flag.SAME_ADDRESS: "Both people came from one network address; it may be one person.",
    Flag.CONTACT: "A message holds an e-mail or web address, a user name or a long number.",
    Flag.LOCATION: "Somebody says where they live or are from.",
    Flag.NAME: "Somebody says what they are called.",
    Flag.SUSPICIOUS: "Somebody wants to go on elsewhere, is about money or asks for personal data.",
    Flag.INDECENT: "A message holds an indecent word.",
    Flag.OFFENSIVE: "A message holds an offensive word, or insults the other person.",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One flag with its reason, a sentence for the reviewer.

    `role` is whose doing it is, `round` and `seq` which message; None where it is about the
    person as a whole, or about both.
    """

    flag: Flag
    role: Role | None
    round: int | None
    seq: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Line:
    """One message. What is not known is None, and the flags that need it stay silent.

    `round` counts from 1. `at_ms` is when it was stored, in milliseconds from any one moment;
    `composed_ms` the time from the first key to sending; `seq` its number among the events.
    `alone` says that the partner had left: then it is neither an answer nor answered.
    """

    role: Role
    round: int
    text: str
    seq: int | None = None
    at_ms: float | None = None
    pasted: bool | None = None
    composed_ms: float | None = None
    edits: int | None = None
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long one role's messages are in a study: over its workers, in words a message.

    `median` and `mad` (the median distance from that median) are taken over the workers' means.
    """

    workers: int
    median: float
    mad: float


@dataclass(frozen=True, slots=True)
class Talk:
    """A dialog as far as its quality is concerned. `language` is a BCP 47 tag."""

    caption: str
    language: str
    lines: tuple[Line, ...]
    same_address: bool = False
    lengths: Mapping[Role, Lengths] = field(default_factory=dict)

    def of(self, role: Role) -> tuple[Line, ...]:
        return tuple(line for line in self.lines if line.role is role)

    def together(self, role: Role) -> tuple[Line, ...]:
        """What was written in this role while both were there. Who is left alone asks nobody and
        answers nobody, and is to write something all the same."""
        return tuple(line for line in self.of(role) if not line.alone)


@dataclass(frozen=True, slots=True)
class Limits:
    """Every threshold of every flag.

    Attributes:
        react_s: seconds that anybody takes between seeing a message and sending the next.
        read_words_per_s: words a second that nobody reads faster.
        type_chars_per_s: characters a second that nobody types faster.
        typed_chars: characters from which typing is timed by itself.
        pasted_messages: pasted messages of one person that are worth a look.
        pasted_chars: characters of one pasted message that are.
        caption_least_words: words from which a message that is the caption counts.
        caption_words: words from which one that holds it, or a piece of it, counts.
        caption_share: the share of the caption's words that a message must repeat in one piece.
        monotonous_messages: answers below which nobody counts as monotonous.
        monotonous_share: the share of equal answers from which somebody does.
        script_letters: letters of one person from which their script is judged.
        script_share: the share of them in other scripts that counts as a wrong one.
        language_letters: letters of one person from which their language is judged.
        language_score: what the detector must give another language, from 0 to 1.
        language_own_score: what it may give the study's language at most.
        mashed_share: the share of a message's letters in mashed words that makes it gibberish.
        long_number_digits: digits in a row that count as contact data whatever they are.
        length_workers: workers of a role below which no length is an outlier.
        length_deviations: robust standard deviations from the median that make one.
        length_least_mad: the least median distance, in words, that is reckoned with.
    """

    react_s: float = 0.5
    read_words_per_s: float = 20.0
    type_chars_per_s: float = 25.0
    typed_chars: int = 20
    pasted_messages: int = 2
    pasted_chars: int = 60
    caption_least_words: int = 3
    caption_words: int = 5
    caption_share: float = 0.6
    monotonous_messages: int = 5
    monotonous_share: float = 0.9
    script_letters: int = 12
    script_share: float = 0.5
    language_letters: int = 30
    language_score: float = 0.5
    language_own_score: float = 0.15
    mashed_share: float = 0.5
    long_number_digits: int = 9
    length_workers: int = 20
    length_deviations: float = 6.0
    length_least_mad: float = 0.5


USUAL: Final = Limits()
