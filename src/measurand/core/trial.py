"""The heart of the house: a trial, the readings taken from it, and the scores about it."""

from __future__ import annotations

from typing import Literal

from measurand.core.outcome import Outcome
from measurand.core.record import Json, Record


class Trial(Record, frozen=True):
    """One sampled answer of one subject to one item. It holds no scores.

    `member` names the panel member that answered, where the subject is a panel. `cost` is in US dollars and
    None where no price is known. `started` is ISO 8601 in UTC; `seconds` is how long the trial took.
    """

    run: str
    item: str
    sample_no: int
    outcome: Outcome
    member: str = ""
    cost: float | None = None
    started: str = ""
    seconds: float = 0.0


class Found(Record, frozen=True, tag="found", gc=False):
    """The reader found an answer; `span` is its place in the text, as [start, end) characters."""

    value: Json
    span: tuple[int, int] | None = None


class Absent(Record, frozen=True, tag="absent", gc=False):
    """There is no answer to read; `why` says so in a word or two."""

    why: str = ""


class Ambiguous(Record, frozen=True, tag="ambiguous"):
    """There are several answers and nothing says which is meant."""

    candidates: tuple[Json, ...]


Finding = Found | Absent | Ambiguous


class Reading(Record, frozen=True):
    """What a reader took from a trial, or from one step of it. `reader` is name@version."""

    trial: str
    reader: str
    finding: Finding
    step: int | None = None


MissingKind = Literal["not_answered", "needs_judge", "no_sandbox", "scorer_failed", "not_applicable"]


class Missing(Record, frozen=True, tag="missing", gc=False):
    """There is no score, and this is why."""

    why: MissingKind
    detail: str = ""


class Measured(Record, frozen=True, tag="measured"):
    """A row of numbers; what its columns mean is said by the metric."""

    row: tuple[float, ...]


class Score(Record, frozen=True):
    """A number, or the reason for its absence, about one or more of item, trial and trial#step.

    `of` names two things for a preference. `by` is scorer@version, or the run of a judge.
    """

    of: tuple[str, ...]
    metric: str
    value: Measured | Missing
    by: str
