"""How a trial ended: a closed union, from evidence on the wire only. Missing is a type, never a zero."""

from __future__ import annotations

from typing import Literal

from measurand.core.record import Record


class Answer(Record, frozen=True):
    """What the subject finally gave: text, or one number for each option, or files by hash.

    `reasoning` is kept apart from the text and is never read as an answer. `counts` says how many tokens each of
    `values` sums over, where the subject knows.
    """

    text: str = ""
    values: tuple[float, ...] = ()
    reasoning: str = ""
    files: dict[str, str] = {}
    counts: tuple[int, ...] = ()


class Answered(Record, frozen=True, tag="answered"):
    """The subject finished."""

    answer: Answer


class Truncated(Record, frozen=True, tag="truncated"):
    """The subject was cut off; the protocol says whether what there is may be scored."""

    by: Literal["tokens", "context", "steps", "money", "time"]
    answer: Answer = Answer()


class Refused(Record, frozen=True, tag="refused"):
    """The endpoint said that the subject refused. A refusal in words is a reading, not an outcome."""

    answer: Answer = Answer()


class Blocked(Record, frozen=True, tag="blocked", gc=False):
    """A filter outside the subject stopped the request or the reply."""

    by: str


class Failed(Record, frozen=True, tag="failed", gc=False):
    """The measurement broke; nothing is known about the subject."""

    where: str
    why: str
    tries: int = 1


class NotRun(Record, frozen=True, tag="not_run", gc=False):
    """Planned and not (yet) done."""

    why: str
    owner: str = ""
    due: str = ""


Outcome = Answered | Truncated | Refused | Blocked | Failed | NotRun

OUTCOMES: tuple[str, ...] = ("answered", "truncated", "refused", "blocked", "failed", "not_run")


def outcome_name(outcome: Outcome) -> str:
    """The outcome's name as stored and shown."""
    return str(type(outcome).__struct_config__.tag)


def answer_of(outcome: Outcome) -> Answer | None:
    """The answer, where the outcome holds one."""
    return outcome.answer if isinstance(outcome, Answered | Truncated | Refused) else None
