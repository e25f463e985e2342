"""The study file, `study.toml`: what is collected, by which rules, for what pay."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import Field, PrivateAttr, ValidationError, model_validator

from chatserver.config import Check, StudyConfig
from dialogs.money import to_cents, to_text
from dialogs.rules import PROTOCOLS, Rules, Sight
from dialogs.terms import PAY, RULES, Changes, Terms, contradictions
from duologue.problems import BadInput, problems_of
from duologue.recruiter_section import RecruiterSection
from duologue.sections import (
    CheckSection,
    ItemsSection,
    LobbySection,
    PaySection,
    ProtocolSection,
    ReviewSection,
    Section,
    StudySection,
    TextsSection,
)
from hit_manager.config import Approval

MIN_INVITATION: Final = 8
"""Characters of an invitation code, at least: shorter ones can be guessed."""


_PLACEHOLDER: Final = re.compile(r"\[[A-Z][A-Z\s,-]+\]")
"""What a team has to fill in, as the texts of a new study have it."""


class StudyError(BadInput):
    """Everything wrong with a study file, one line a problem."""


class StudyFile(Section):
    """A study file as read, with its paths resolved against its folder."""

    study: StudySection
    """The study"""
    protocol: ProtocolSection = ProtocolSection()
    """The protocol"""
    lobby: LobbySection = LobbySection()
    """The lobby"""
    items: ItemsSection
    """The items"""
    pay: PaySection = PaySection()
    """Pay"""
    texts: TextsSection = TextsSection()
    """Texts"""
    check: Annotated[tuple[CheckSection, ...], Field(max_length=20)] = ()
    """Questions on the instructions"""
    review: ReviewSection = ReviewSection()
    """Review"""
    recruiter: RecruiterSection = RecruiterSection()
    """The recruiter"""

    _folder: Path = PrivateAttr(default=Path())

    @property
    def items_path(self) -> Path:
        return self._folder / self.items.file

    @property
    def invitations_path(self) -> Path | None:
        """The file with the invitation codes, where only invited people may take part."""
        file = self.study.invitations
        return self._folder / file if file else None

    @property
    def blurred(self) -> bool:
        """Whether anybody is shown a blurred image, so that it must be prepared."""
        return any(Sight.BLURRED in seen for seen in PROTOCOLS[self.protocol.name].sees.values())

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if problems := list(_contradictions(self)):
            raise ValueError("\n".join(problems))
        return self

    @property
    def posts(self) -> bool:
        """Whether its recruiter posts HITs, which costs money."""
        return self.recruiter.kind != "link"

    def unfit(self) -> str:
        """Why no HITs may be posted: people who are paid would be asked to agree to a text that
        is not filled in. Empty, if they may."""
        found = [" ".join(each.split()) for each in _PLACEHOLDER.findall(self.texts.consent)]
        if not found:
            return ""
        return (
            f"study.toml: texts.consent still holds {', '.join(dict.fromkeys(found))}; fill in "
            "what stands in square brackets before HITs are posted"
        )

    def unfilled(self) -> tuple[str, ...]:
        """The keys that still hold a placeholder, or that workers miss: to be shown as advice."""
        found = [] if self.study.contact else ["study.contact"]
        for key, text in (
            ("study.title", self.study.title),
            ("study.description", self.study.description),
            ("study.contact", self.study.contact),
            ("texts.consent", self.texts.consent),
        ):
            if _PLACEHOLDER.search(text):
                found.append(key)
        return tuple(found)

    def to_rules(self) -> Rules:
        """The rules that new dialogs are opened with."""
        rules = self.protocol.model_dump()
        return Rules(protocol=rules.pop("name"), pay=self.pay.to_pay(), **rules)

    def terms(self) -> Terms:
        """What can be changed while the study runs, and what it must fit to."""
        section = self.recruiter
        screen_out = "recruiter.prolific.screen_out"
        return Terms(
            self.to_rules(),
            self.lobby.start_s,
            self.lobby.limit_s,
            section.assignment_duration_s,
            section.kind,
            _cents(self, "recruiter.reward", section.reward)[0],
            _cents(self, screen_out, section.prolific.screen_out)[0],
        )

    def changed(self, changes: Changes) -> StudyFile:
        """The study as the team has changed it while it ran. Whether all of it fits together, its
        terms say."""
        terms, currency = self.terms().changed(changes), self.pay.currency
        limits = {name: getattr(terms.rules, name) for name in RULES}
        amounts = {
            name.removeprefix("pay_"): to_text(int(cents), currency)
            for name, cents in terms.values().items()
            if name in PAY
        }
        sections = {
            "protocol": self.protocol.model_copy(update=limits),
            "lobby": self.lobby.model_copy(update={"limit_s": terms.lobby_limit_s}),
            "pay": self.pay.model_copy(update=amounts),
        }
        return self.model_copy(update=sections)

    def to_config(self) -> StudyConfig:
        """The study as the live server runs it. Reads the invitations file, if there is one.

        Raises:
            StudyError: the invitations file is missing or wrong.
        """
        study, lobby, example = self.study, self.lobby, self.texts.example
        terms = self.terms()
        return StudyConfig(
            id=study.id,
            title=study.title,
            rules=terms.rules,
            description=study.description,
            contact=study.contact,
            languages=study.languages,
            consent=self.texts.consent,
            check=tuple(
                Check(c.question, c.options, c.options.index(c.answer)) for c in self.check
            ),
            example_caption=example.caption,
            example_rounds=tuple((r.question, r.answer) for r in example.round),
            minutes=study.minutes,
            start_s=lobby.start_s,
            lobby_limit_s=lobby.limit_s,
            assignment_duration_s=self.recruiter.assignment_duration_s,
            recruiter=terms.recruiter,
            reward=terms.reward,
            screen_out=terms.screen_out,
            dialogs_per_worker=study.dialogs_per_worker,
            repeat_partners=study.repeat_partners,
            same_address=study.same_address,
            review_twice=self.review.twice,
            approve_by_hand=self.recruiter.approval is Approval.BY_HAND,
            invitations=read_invitations(self.invitations_path) if self.invitations_path else None,
        )


def _contradictions(study: StudyFile) -> list[str]:
    """What no single key shows: settings that cannot all hold."""
    section = study.recruiter
    amounts = (
        _cents(study, "recruiter.reward", section.reward),
        _cents(study, "recruiter.prolific.screen_out", section.prolific.screen_out),
    )
    checks = (
        (
            study.study.one_time_invitations and study.study.invitations is None,
            "study.invitations is missing; name the file with the codes for one_time_invitations",
        ),
        (
            study.study.invitations is not None and not study.study.one_time_invitations,
            "study.invitations needs one_time_invitations = true",
        ),
    )
    return [
        *contradictions(study.terms()),
        *(problem for _, problem in amounts if problem),
        *(problem for wrong, problem in checks if wrong),
    ]


def _cents(study: StudyFile, key: str, amount: str | None) -> tuple[int | None, str]:
    """An amount of the recruiter's section in cents, and what is wrong with it."""
    if amount is None or study.recruiter.kind == "link":
        return None, ""
    if "prolific" in key and study.recruiter.kind != "prolific":
        return None, ""
    try:
        return to_cents(amount, study.pay.currency), ""
    except ValueError as problem:
        return None, f"{key} {problem} (it is {amount!r})"


# --- Reading -------------------------------------------------------------------------------


def read_study(file: Path) -> StudyFile:
    """Read and check a study file.

    Raises:
        StudyError: it cannot be read, is not TOML, or a key or value in it is wrong.
    """
    try:
        data = tomllib.loads(_text(file))
    except tomllib.TOMLDecodeError as error:
        found = re.fullmatch(r"(.*) \(at (?:(line \d+), column \d+|end of document)\)", str(error))
        what, line = (found[1], found[2]) if found else (str(error), None)
        where = f"{file.name}, {line or 'at its end'}"
        raise StudyError([f"{where}: is not TOML: {what[:1].lower()}{what[1:]}"]) from None
    except (ValueError, RecursionError) as error:
        raise StudyError([f"{file.name}: cannot be read: {error}"]) from None
    try:
        # By way of JSON, in which a list may stand for a tuple and a text for one of an enum,
        # while a number in quotes is still no number.
        study = StudyFile.model_validate_json(json.dumps(data, default=str))
    except ValidationError as error:
        raise StudyError(problems_of(error, StudyFile, file.name)) from None
    study._folder = file.parent
    return study


def read_invitations(file: Path) -> frozenset[str]:
    """The codes in an invitations file: one a line; empty lines are passed over.

    Raises:
        StudyError: the file cannot be read, or a code is short, repeated or not plain.
    """
    if not file.exists():
        raise StudyError([f"{file.name}: is not there; `duologue hits invite` begins it"])
    problems: list[str] = []
    lines: dict[str, int] = {}
    for number, raw in enumerate(_text(file).splitlines(), 1):
        code = raw.strip()
        if not code:
            continue
        where = f"{file.name}, line {number}"
        if not re.fullmatch(rf"[A-Za-z0-9_-]{{{MIN_INVITATION},100}}", code):
            problems.append(
                f"{where}: a code must have {MIN_INVITATION} to 100 letters, digits, - or _"
            )
        elif (earlier := lines.setdefault(code, number)) != number:
            problems.append(f"{where}: the code stands in line {earlier} too")
    if not lines and not problems:
        problems.append(f"{file.name}: holds no code; write one a line")
    if problems:
        raise StudyError(problems)
    return frozenset(lines)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise StudyError([f"{file.name}: cannot be read: {error.strerror}"]) from None
    except UnicodeDecodeError:
        raise StudyError([f"{file.name}: is not UTF-8; save it as UTF-8"]) from None
    except ValueError as error:
        raise StudyError([f"{file.name!r}: is no file name: {error}"]) from None
