"""What is concluded from scores: a tally, an estimate, a comparison."""

from __future__ import annotations

from measurand.core.record import Record


class Tally(Record, frozen=True):
    """Trials by outcome. The parts add up to the plan, or nothing is shown."""

    planned: int
    answered: int = 0
    truncated: int = 0
    refused: int = 0
    blocked: int = 0
    failed: int = 0
    not_run: int = 0
    reasons: dict[str, int] = {}

    @property
    def total(self) -> int:
        """The sum of the parts."""
        return self.answered + self.truncated + self.refused + self.blocked + self.failed + self.not_run


class Estimate(Record, frozen=True):
    """A number with its error.

    `low` and `high` enclose it at `level` by `method`. `bounds` is where the number could lie if every
    missing trial had gone worst or best. `value` is None where nothing was measured.
    """

    metric: str
    value: float | None
    low: float | None
    high: float | None
    level: float
    method: str
    n_items: int
    n_trials: int
    n_missing: int = 0
    n_clusters: int | None = None
    bounds: tuple[float, float] | None = None
    unit: str = ""


class Comparison(Record, frozen=True):
    """The only thing that may say "better": a difference a - b with its interval.

    `p` is the chance of a difference at least as large if there were none, by `test`; `adjusted_p` is that p after
    many comparisons were made at once. `detectable` is the smallest true difference that a comparison of this size
    finds four times in five; None where there is none.
    """

    a: str
    b: str
    paired: bool
    difference: Estimate
    p: float | None = None
    adjusted_p: float | None = None
    detectable: float | None = None
    differs: tuple[str, ...] = ()
    test: str = ""
