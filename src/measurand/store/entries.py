"""What is handed to the writer: calls and finished trials, already encoded, so that bad ones fail at once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from math import isfinite
from typing import NamedTuple

import msgspec

from measurand.core.call import Asked, Ran
from measurand.core.errors import InvalidRecordError
from measurand.core.outcome import outcome_name
from measurand.core.ports import CallMade
from measurand.core.run import Slot, trial_name
from measurand.core.trial import Reading, Score, Trial
from measurand.store.texts import Packed, pack

KEY_BYTES = 16


class Recorded(NamedTuple):
    """A row of the journal."""

    key: bytes
    subject: str
    ran: bool
    sent: Packed
    received: Packed
    at: int
    input_tokens: int | None = None
    output_tokens: int | None = None


class CallEntry(NamedTuple):
    """A call of a trial: a key of the journal, or a whole program and result."""

    role: str
    key: bytes | None
    whole: Packed


class ReadingEntry(NamedTuple):
    """A reading, without what its trial says already."""

    reader: str
    step: int | None
    of: str | None
    finding: Packed


class ScoreEntry(NamedTuple):
    """A score, without what its trial says already."""

    metric: str
    by: str
    of: bytes | None
    value: Packed


class Finished(NamedTuple):
    """A trial with all that hangs on it. `run` and `item_set` are ids of rows."""

    run: int
    item_set: int
    slot: Slot
    item: str
    outcome: str
    body: Packed
    cost: float | None
    started: str
    seconds: float
    calls: list[CallEntry]
    readings: list[ReadingEntry]
    scores: list[ScoreEntry]


def now() -> int:
    """Microseconds since 1970."""
    return time.time_ns() // 1000


def as_iso(at: int) -> str:
    """A time of the store as ISO 8601 in UTC."""
    return datetime.fromtimestamp(at / 1e6, UTC).isoformat(timespec="milliseconds")


def recorded(key: bytes, subject: str, what: Asked | Ran) -> Recorded:
    """Encode a call. Raises InvalidRecordError if it could not be read back."""
    if len(key) != KEY_BYTES:
        raise InvalidRecordError(f"A key of the journal has {KEY_BYTES} bytes, not {len(key)}; make it with key().")
    _check_text(subject)
    if isinstance(what, Ran):
        return Recorded(key, subject, True, pack(what.program), pack(what.result), now())
    usage = what.reply.usage
    return Recorded(key, subject, False, pack(what.request), pack(what.reply), now(), usage.input, usage.output)


def check_slot(slot: Slot, trial: Trial) -> None:
    """Refuse a trial that is not of its slot."""
    if (trial.sample_no, trial.member) != (slot.sample_no, slot.member):
        raise InvalidRecordError(
            f"A trial of sample {trial.sample_no} by {trial.member!r} cannot be kept in the slot of sample "
            f"{slot.sample_no} by {slot.member!r}; hand it over with its own slot.",
        )


def finished(
    row: tuple[int, int],
    slot: Slot,
    trial: Trial,
    calls: Sequence[CallMade],
    marks: Sequence[Reading | Score],
) -> Finished:
    """Encode a finished trial of the run with these row ids (of the run and of its items)."""
    check_slot(slot, trial)
    _check_trial(trial)
    name = trial_name(trial.run, slot)
    return Finished(
        run=row[0],
        item_set=row[1],
        slot=slot,
        item=trial.item,
        outcome=outcome_name(trial.outcome),
        body=pack(trial.outcome),
        cost=trial.cost,
        started=trial.started,
        seconds=trial.seconds,
        calls=[_call(made) for made in calls],
        readings=[_reading(mark, name) for mark in marks if isinstance(mark, Reading)],
        scores=[_score(mark, name) for mark in marks if isinstance(mark, Score)],
    )


def _check_trial(trial: Trial) -> None:
    _check_text(trial.item + trial.member + trial.started)
    for number in (trial.seconds, trial.cost or 0.0):
        if not isfinite(number):
            raise InvalidRecordError(f"A trial of {trial.item!r} cannot be stored: it holds the number {number}.")


def _call(made: CallMade) -> CallEntry:
    _check_text(made.role)
    return CallEntry(made.role, None if made.ran else made.key, pack(made.ran) if made.ran else Packed(b""))


def _reading(mark: Reading, name: str) -> ReadingEntry:
    _check_text(mark.trial + mark.reader)
    return ReadingEntry(mark.reader, mark.step, None if mark.trial == name else mark.trial, pack(mark.finding))


def _score(mark: Score, name: str) -> ScoreEntry:
    _check_text(mark.metric + mark.by)
    return ScoreEntry(mark.metric, mark.by, None if mark.of == (name,) else _json(mark.of), pack(mark.value))


def _json(of: tuple[str, ...]) -> bytes:
    for part in of:
        _check_text(part)
    return msgspec.json.encode(of)


def _check_text(text: str) -> None:
    try:
        text.encode()
    except (UnicodeEncodeError, AttributeError) as error:
        message = f"{text!r} cannot be stored: it is not text that can be written as UTF-8; clean it first."
        raise InvalidRecordError(message) from error
