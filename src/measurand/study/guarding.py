"""Intervals that a verdict may rest on: exact for shares, and with every missing trial at its worst.

`guarded` is for one look at planned items. `guarded_always` holds at all looks together, for items that are extended
until the rules decide.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from measurand.core.estimate import Estimate
from measurand.stats.estimate import pooled, right_or_wrong
from measurand.stats.intervals import clopper_pearson
from measurand.stats.means import Array
from measurand.stats.missing import ByItem
from measurand.stats.sequential import mean_sequence, naive_false_pass, rate_at
from measurand.study.words import amount, counted

LEVEL = 0.95
EXACT = "Clopper-Pearson"
ALWAYS = "confidence sequence, holds at every look"


def guarded(table: ByItem, level: float = LEVEL) -> Estimate:
    """The number with an interval that a gate may rest on.

    Right-or-wrong trials get Clopper and Pearson's exact interval; every other metric its own. The low end takes every
    missing trial as gone worst, the high end as gone best.
    """
    made = pooled(table, level)
    done = table.measured_only()
    if made.value is None:
        return made
    if right_or_wrong(done):
        right, n = int(done.rows[:, 0].sum()), len(done.rows)
        gone = int(table.planned.sum()) - n
        low = clopper_pearson(right, n + gone, level)[0]
        high = clopper_pearson(right + gone, n + gone, level)[1]
        how = EXACT + (f", {counted(gone, 'missing item')} at their worst" if gone else "")
        return msgspec.structs.replace(made, low=low, high=high, method=how)
    if made.bounds is None or made.low is None or made.high is None:
        return made
    low = made.low - (made.value - made.bounds[0])
    high = made.high + (made.bounds[1] - made.value)
    return msgspec.structs.replace(made, low=low, high=high, method=f"{made.method}, missing trials at their worst")


def guarded_always(table: ByItem, level: float = LEVEL) -> Estimate:
    """The number with an interval that holds at every look together, whenever one stops.

    Right-or-wrong trials get the mixture sequence, other values within a range the empirical Bernstein one, in the
    order of the plan; a metric that is no mean of items has none.
    """
    made = pooled(table, level)
    done = table.measured_only()
    if made.value is None:
        return made
    if right_or_wrong(done):
        right, n = int(done.rows[:, 0].sum()), len(done.rows)
        gone = int(table.planned.sum()) - n
        low, high = rate_at(right, n + gone, level)[0], rate_at(right + gone, n + gone, level)[1]
        return msgspec.structs.replace(made, low=low, high=high, method=ALWAYS)
    metric = table.metric
    if table.worst is None or table.best is None or metric.low is None or metric.high is None or not done.independent:
        return msgspec.structs.replace(made, low=None, high=None, method="none: no confidence sequence for it")
    span = metric.low, metric.high
    low = float(mean_sequence(_kept(table.worst), level, span)[0][-1])
    high = float(mean_sequence(_kept(table.best), level, span)[1][-1])
    return msgspec.structs.replace(made, low=low, high=high, method=ALWAYS)


def naive_rate(sizes: Sequence[int], bound: float) -> str:
    """How often an ordinary gate, asked at looks of these sizes, passes a subject just at the threshold; in words."""
    if len(sizes) < 2 or not 0 < bound < 1:  # noqa: PLR2004 - one look is no repetition
        return ""
    chance = naive_false_pass(sorted(sizes), bound)
    return (
        f"asked at each of {len(sizes)} looks, an ordinary rule passes a subject at the threshold in {amount(chance)}"
    )


def _kept(rows: Array) -> Array:
    """The first column where it is known."""
    return np.asarray(rows[~np.isnan(rows[:, 0]), 0])
