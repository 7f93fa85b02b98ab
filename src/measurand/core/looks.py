"""The looks taken at a running evaluation: each is another chance for luck, so each is written down."""

from __future__ import annotations

from typing import Literal

from measurand.core.record import Record


class Look(Record, frozen=True):
    """One look: `successes` of `n` items in all so far, the interval that holds after all looks together, the verdict.

    `at` is an ISO date and time, empty where it is not known.
    """

    n: int
    successes: int
    low: float
    high: float
    says: Literal["pass", "fail", "undecided"]
    at: str = ""


class Looks(Record, frozen=True):
    """All looks at one rule, "a rate is at least `threshold`", in order. `level` holds for all of them together."""

    threshold: float
    level: float = 0.95
    looks: tuple[Look, ...] = ()
