"""What a study came to, ready to be shown: the decision and all that it rests on. Reports compute nothing."""

from __future__ import annotations

from typing import Literal

from measurand.core.decision import Decision
from measurand.core.estimate import Comparison, Estimate
from measurand.core.record import Record
from measurand.core.summary import Summary

Empty = Literal[
    "",
    "not_run",
    "not_applicable",
    "failed",
    "too_few",
    "not_licensed",
    "no_loglikelihood",
    "needs_judge",
    "refused",
]
"""Why a cell of the coverage matrix holds no number; empty where it holds one."""


class Cell(Record, frozen=True):
    """One cell of the coverage matrix: a number, or a reason for being empty (`empty` its kind, `why` its sentence).

    `share` is the part of the planned trials that was measured, 0 to 1. `protocol` is the full hash.
    """

    subject: str
    scenario: str
    metric: str
    estimate: Estimate | None = None
    share: float = 0.0
    protocol: str = ""
    empty: Empty = ""
    why: str = ""


class Contrast(Record, frozen=True):
    """A comparison of two subjects, and over what it was made.

    `view` is as in `View`: `pooled`, `macro:FIELD`, or `slice:FIELD` with its `value`. `refused` says why two numbers
    must not be compared; then there is no comparison. `margin` is how far a rule of the study lets a fall below b
    (0.02 for two points); None where no rule is about the two.
    """

    scenario: str
    metric: str
    a: str
    b: str
    view: str = "pooled"
    value: str = ""
    comparison: Comparison | None = None
    refused: str = ""
    margin: float | None = None


class Ranking(Record, frozen=True):
    """The subjects on one scenario in tie groups, best first: a subject may be in two groups.

    `refused` says why there is no rank (two protocols, a search beside a single pass); then there are no groups.
    """

    scenario: str
    metric: str
    groups: tuple[tuple[str, ...], ...] = ()
    refused: str = ""


class Tradeoff(Record, frozen=True):
    """One subject's quality, cost (US dollars for 1,000 items) and latency (seconds, 95th percentile).

    `dominated_by` names the subjects that are no worse in all of them and better in one, beyond chance.
    """

    subject: str
    scenario: str
    quality: Estimate
    cost: Estimate | None = None
    latency: Estimate | None = None
    dominated_by: tuple[str, ...] = ()


class Bin(Record, frozen=True):
    """A bin of a reliability curve: mean confidence, and the share that was right with its interval."""

    confidence: float
    correct: Estimate


class Calibration(Record, frozen=True):
    """How far a subject's confidence can be believed on one scenario: the curve and its error (ECE, Brier…)."""

    subject: str
    scenario: str
    bins: tuple[Bin, ...]
    errors: tuple[Estimate, ...]


class Findings(Record, frozen=True):
    """A study: what was asked, of whom, what came of it. The decision's answer opens the page.

    `subjects` are names in the order of the study; `simulated` names those whose replies are made up for a
    demonstration. `made` is when, an ISO date and time.
    """

    name: str
    subjects: tuple[str, ...]
    decision: Decision
    summaries: tuple[Summary, ...]
    contrasts: tuple[Contrast, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    coverage: tuple[Cell, ...] = ()
    tradeoffs: tuple[Tradeoff, ...] = ()
    calibration: tuple[Calibration, ...] = ()
    simulated: tuple[str, ...] = ()
    made: str = ""
