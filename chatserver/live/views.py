"""What a page is shown: from the record's rows to the payloads of the wire. No I/O here."""

from __future__ import annotations

from chatserver.config import StudyConfig
from chatserver.live.frames import grace_ends_at, message_out, told_out, turn_ends_at
from chatserver.wire import (
    CheckQuestion,
    Dialog,
    Example,
    ItemOut,
    Lobby,
    MessageOut,
    Partner,
    Released,
    StudyOut,
    Submit,
    ToldOut,
)
from dialogs.limits import MAX_CHARACTERS
from dialogs.record.queries import ArrivalRow, ItemRow, ReleaseRow
from dialogs.rules import Protocol, Release, Role, Sight
from dialogs.state import DialogState


def study_out(study: StudyConfig, recruiter: str, *, paused: bool, preview: bool) -> StudyOut:
    """The study as the preview, the consent and the instructions show it."""
    return StudyOut(
        recruiter=recruiter,
        title=study.title,
        description=study.description,
        protocol=study.rules.protocol,
        rounds=study.rules.rounds,
        currency=study.rules.pay.currency,
        pays=study.rules.pay.complete,
        leaving_pays=study.rules.pay.left,
        # Waiting never pays more than a dialog.
        waiting_per_minute=min(study.rules.pay.waiting_per_minute, study.rules.pay.complete),
        minutes=study.minutes,
        start_limit_s=study.start_s,
        grace_s=study.rules.grace_s,
        turn_limit_s=study.rules.turn_limit_s,
        lobby_limit_s=study.lobby_limit_s,
        consent=study.consent,
        check=[CheckQuestion(question=c.question, options=list(c.options)) for c in study.check],
        example=Example(caption=study.example_caption, rounds=list(study.example_rounds)),
        contact=study.contact,
        languages=list(study.languages),
        repeat_partners=study.repeat_partners,
        paused=paused,
        preview=preview,
        max_characters=MAX_CHARACTERS,
    )


def lobby_out(
    study: StudyConfig,
    row: ArrivalRow,
    *,
    position: int | None,
    estimate_s: float | None,
    nothing_left: bool,
    paused: bool,
    now: float,
) -> Lobby:
    """The wait so far. Who waits in vain for want of items need not wait for the limit."""
    waited = row.waited(now)
    return Lobby(
        waited_s=waited,
        estimate_s=estimate_s,
        position=position,
        limit_s=study.lobby_limit_s,
        may_stop=waited >= study.lobby_limit_s or nothing_left or paused,
        stop_pays=study.rules.pay.for_waiting(waited),
        nothing_left=nothing_left,
        paused=paused,
        now=now,
    )


def picture_file(protocol: Protocol, role: Role, item: ItemRow) -> str | None:
    """The one file of an item that this role may be given, if any."""
    sights = protocol.sees[role]
    if Sight.IMAGE in sights:
        return item.file
    if Sight.BLURRED in sights:
        return item.blurred_file
    return None


def dialog_out(state: DialogState, role: Role, item: ItemRow, picture_token: str) -> Dialog:
    """The dialog as `role` may see it: of the item only what the protocol shows that role."""
    rules = state.rules
    sights = rules.kind.sees[role]
    shown = picture_file(rules.kind, role, item) is not None
    me = state.seats[role]
    other = next(seat for seat in state.seats.values() if seat.role is not role)
    turn = state.turn
    return Dialog(
        role=role,
        phase=state.phase,
        item=ItemOut(
            caption=item.caption if Sight.CAPTION in sights else None,
            picture=f"items/{picture_token}" if shown else None,
            blurred=Sight.BLURRED in sights,
            width=item.width if shown else None,
            height=item.height if shown else None,
        ),
        round=state.round,
        rounds=rules.rounds,
        turn=turn,
        your_turn=turn is role and not state.done(me),
        sent=me.sent,
        messages=[MessageOut(**message_out(m.seq, m.said, role)) for m in state.messages],
        told=[ToldOut(**told_out(m.seq, m.told)) for m in state.told if m.for_reader(role)],
        extended=list(state.extended),
        partner=Partner(
            present=other.away_seq is None and not other.gone,
            left=other.gone,
            grace_ends_at=grace_ends_at(state, role),
        ),
        turn_ends_at=turn_ends_at(state),
        may_pair_again=state.may_pair_again(role),
        pays=rules.pay.complete,
        max_characters=MAX_CHARACTERS,
    )


def released_out(
    study: StudyConfig,
    row: ArrivalRow,
    release: ReleaseRow,
    *,
    submit: Submit | None,
    another: bool,
    dialog: DialogState | None,
) -> Released:
    """How it ended, and the code that proves it. `dialog` is the one that it ended, if one did."""
    seat = dialog.seat_of(row.id) if dialog is not None else None
    by_team = dialog is not None and dialog.ended_by_team and release.release is not Release.LEFT
    return Released(
        release=release.release,
        outcome=release.outcome,
        cents=release.cents,
        currency=study.rules.pay.currency,
        code=release.code,
        submit=submit,
        feedback_sent=row.feedback_sent,
        another=another,
        why=seat.lost if seat is not None else None,
        by_team=by_team,
        reason=dialog.reason if dialog is not None and by_team else "",
    )
