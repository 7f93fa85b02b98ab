"""From two tables, or two numbers, to a Comparison: the only record that may say "better".

Paired wherever items are shared, because the difficulty of an item is then the same for both. `compare` is for that;
`compare_unpaired` is for numbers whose items are unknown, and has to be called by its name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from measurand.core.errors import InputError
from measurand.core.estimate import Comparison, Estimate
from measurand.stats.estimate import unit_of
from measurand.stats.intervals import Interval, combined, normal_quantile, wilson
from measurand.stats.means import Labels, dense
from measurand.stats.missing import ByItem, Mask, complete
from measurand.stats.nested import Leaves, leaves, over_leaves
from measurand.stats.paired import Difference, Pair, difference
from measurand.stats.power import detectable
from measurand.stats.units import over_of

Names = tuple[str, str]


def compare(
    a: ByItem, b: ByItem, *, names: Names = ("a", "b"), level: float = 0.95, levels: Sequence[Labels] = ()
) -> Comparison:
    """The paired difference a - b over the items that both subjects were measured on.

    The tables hold the same items in the same order under one metric, and the same clusters. Labels of the items, one
    [items] or several from the outermost in, make it a difference of macro or nested numbers: see `nested`. Bounds are
    over all items that apply to both, whatever their missing trials had been. Which interval and test: see `paired`.
    Raises InputError for tables that do not match.
    """
    _check(a, b, levels)
    applies = a.planned & b.planned
    both = complete(a.rows) & complete(b.rows)
    groups = leaves([labels[applies] for labels in levels]) if levels and applies.any() else None
    pair = Pair(a.only(both), b.only(both), None if groups is None else groups.some(both[applies]))
    if not both.any():
        made = Difference(None, None, "none: no item is measured for both")
    elif pair.groups is not None and len(np.unique(pair.groups.of)) < len(pair.groups.shares):
        made = Difference(None, None, "none: a group has no item that is measured for both")
    else:
        made = difference(pair, level)
    low, high = made.interval or (None, None)
    done = pair.a
    estimate = Estimate(
        metric=done.metric.name,
        value=made.value,
        low=low,
        high=high,
        level=level,
        method=made.method,
        n_items=len(done.rows),
        n_trials=int(done.measured.sum() + pair.b.measured.sum()),
        n_missing=int(a.missing[applies].sum() + b.missing[applies].sum()),
        n_clusters=None if done.independent else done.units,
        bounds=_bounds(a, b, applies, groups),
        unit=unit_of(done.metric),
    )
    return Comparison(*names, True, estimate, p=made.p, detectable=made.detectable, test=made.test)


def compare_unpaired(a: Estimate, b: Estimate, *, names: Names = ("a", "b"), level: float = 0.95) -> Comparison:
    """The difference a - b of two numbers whose items are not known to be the same, such as imported ones.

    The two intervals are taken together (MOVER; of two Wilson intervals that is Newcombe 1998, "Interval estimation
    for the difference between independent proportions", method 10). A share without an interval gets Wilson's from its
    count of items. `p` is the level at which the interval would touch zero, if its ends moved as a normal's. Raises
    InputError for numbers in two units.
    """
    if (a.metric, a.unit) != (b.metric, b.unit):
        raise InputError(f"{a.metric} in {a.unit or 'shares'} and {b.metric} in {b.unit or 'shares'} are not one scale")
    made = _unpaired(a, b, level)
    low, high = made.interval or (None, None)
    estimate = Estimate(
        metric=a.metric,
        value=made.value,
        low=low,
        high=high,
        level=level,
        method=made.method,
        n_items=a.n_items + b.n_items,
        n_trials=a.n_trials + b.n_trials,
        n_missing=a.n_missing + b.n_missing,
        bounds=_bounds_of_numbers(a, b),
        unit=a.unit,
    )
    return Comparison(*names, False, estimate, p=made.p, detectable=made.detectable, test=made.test)


def better(comparison: Comparison, *, higher_is_better: bool = True) -> str:
    """The name of the subject that the comparison shows to be better, or nothing where it cannot say.

    It takes a p-value (the adjusted one where there is one) below 1 - level, and an interval without zero.
    """
    found = comparison.difference
    p = comparison.p if comparison.adjusted_p is None else comparison.adjusted_p
    if p is None or p >= 1 - found.level or found.low is None or found.high is None or found.low <= 0 <= found.high:
        return ""
    return comparison.a if (found.low > 0) == higher_is_better else comparison.b


def _unpaired(a: Estimate, b: Estimate, level: float) -> Difference:
    if a.value is None or b.value is None:
        return Difference(None, None, "none: a number is missing")
    value, z = a.value - b.value, normal_quantile(level)
    of_a, of_b = _interval_of(a, level), _interval_of(b, level)
    if of_a is None or of_b is None:
        return Difference(value, None, "none: a number has no interval at this level")
    low, high = combined([a.value, b.value], [of_a, of_b], [1.0, -1.0])
    near = value - low if value > 0 else high - value
    p = math.erfc(abs(value) / near * z / math.sqrt(2)) if value else 1.0
    found = detectable((high - low) / (2 * z), alpha=1 - level)
    return Difference(value, (low, high), "unpaired, MOVER of both intervals", p, "normal, from the interval", found)


def _interval_of(part: Estimate, level: float) -> Interval | None:
    if part.low is not None and part.high is not None and part.level == level:
        return part.low, part.high
    if part.value is not None and not part.unit and part.n_items and 0 <= part.value <= 1:
        return wilson(part.value, part.n_items, level)
    return None


def _check(a: ByItem, b: ByItem, levels: Sequence[Labels]) -> None:
    if (a.metric.name, a.metric.version) != (b.metric.name, b.metric.version):
        raise InputError(f"{a.metric.name}@{a.metric.version} and {b.metric.name}@{b.metric.version} are two metrics")
    if {len(part) for part in (b.rows, *levels)} - {len(a.rows)}:
        raise InputError(
            f"a pair needs the same items in the same order: there are {len(a.rows)} and {len(b.rows)} items"
            + "".join(f" and {len(labels)} group labels" for labels in levels)
        )
    labels = [None if table.clusters is None else dense(table.clusters).tolist() for table in (a, b)]
    if labels[0] != labels[1]:
        raise InputError("the two tables cluster their items differently")


def _bounds(a: ByItem, b: ByItem, applies: Mask, groups: Leaves | None) -> Interval | None:
    """Where a - b could lie over all items that apply to both; None where nothing is missing, or it is anywhere."""
    metric = a.metric
    missing = a.missing[applies].any() or b.missing[applies].any()
    if not missing or metric.low is None or metric.high is None:
        return None
    if a.worst is None or a.best is None or b.worst is None or b.best is None:
        return metric.low - metric.high, metric.high - metric.low
    over = over_of(metric) if groups is None else over_leaves(over_of(metric), groups)
    ones = np.ones(int(applies.sum()))
    low_a, high_a, low_b, high_b = (float(over(side[applies], ones)) for side in (a.worst, a.best, b.worst, b.best))
    return low_a - high_b, high_a - low_b


def _bounds_of_numbers(a: Estimate, b: Estimate) -> Interval | None:
    """From the bounds of the two numbers; a number with nothing missing is its own bounds."""
    if a.bounds is None and b.bounds is None:
        return None
    if a.value is None or b.value is None:
        return None
    (low_a, high_a), (low_b, high_b) = a.bounds or (a.value, a.value), b.bounds or (b.value, b.value)
    return low_a - high_b, high_a - low_b
