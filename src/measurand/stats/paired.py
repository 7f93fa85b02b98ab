"""The difference of two subjects on the same items, its interval, and a p-value that agrees with it.

The rule, in order:

1. a metric that is not a mean of items (a ratio, F1): the BCa bootstrap of pairs, and the permutation of labels;
2. one right-or-wrong trial for each item, items independent: Tango's score interval and McNemar's exact test;
3. fewer than FEW units (items or clusters): the permutation of signs, and the interval of what it does not reject;
4. otherwise Student's t on the differences, with the clustered error where items cluster;
5. where 3 and 4 find no spread: of shares without a difference, Tango's interval on the units, otherwise none.

A difference of macro or nested numbers takes 4 with the stratified error. Where an interval excludes a difference of
zero that the test does not, it is widened to zero and says so: a reader shown both must not be told two things.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from measurand.core.benchmark import Metric
from measurand.stats.bootstrap import bca, bootstrap
from measurand.stats.estimate import FEW, ROUNDING, right_or_wrong, spreads
from measurand.stats.intervals import Interval, student, student_p
from measurand.stats.mcnemar import mcnemar, tango
from measurand.stats.means import Array, Labels, macro, micro
from measurand.stats.missing import ByItem
from measurand.stats.nested import Leaves, over_leaves
from measurand.stats.permutation import label_swap, sign_flip, typical_values
from measurand.stats.power import detectable, detectable_paired
from measurand.stats.sums import weighted_mean
from measurand.stats.units import Over, over_of

OWN_UNITS = "tokens"
"""A column whose unit is the subject's own: numbers per such a unit compare only where both count alike."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference and what luck could make of it. `detectable` is the smallest true one that would be found."""

    value: float | None
    interval: Interval | None
    method: str
    p: float | None = None
    test: str = ""
    detectable: float | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two tables of the same items, all measured; `groups` where it is groups that count, not items."""

    a: ByItem
    b: ByItem
    groups: Leaves | None = None

    @property
    def clusters(self) -> Labels | None:
        """The labels of what varies together; None where every item stands alone."""
        return None if self.a.independent else self.a.clusters

    @property
    def units(self) -> str:
        """How many of what vary by themselves."""
        return f"{self.a.units} {'items' if self.a.independent else 'clusters'}"


def difference(pair: Pair, level: float = 0.95) -> Difference:
    """The difference a - b by the rule of this file, at least one item measured."""
    if pair.a.metric.over is not weighted_mean:
        made = _of_any(pair, level)
    elif pair.groups is None and right_or_wrong(pair.a) and right_or_wrong(pair.b):
        made = _of_right_or_wrong(pair, level)
    else:
        made = _of_means(pair, level)
    return _agreeing(made, level)


def _counted(table: ByItem) -> list[float]:
    """How many units of its own a subject counted in each item."""
    return [float(count) for count in table.rows[:, table.metric.columns.index(OWN_UNITS)]]


def _of_right_or_wrong(pair: Pair, level: float) -> Difference:
    d = _differences(pair)
    wins, losses, n = int((d > 0).sum()), int((d < 0).sum()), len(d)
    return Difference(
        (wins - losses) / n,
        tango(wins, losses, n, level),
        "paired, Tango's score",
        mcnemar(wins, losses),
        f"McNemar, exact, {wins} against {losses}",
        detectable_paired(n, (wins + losses) / n, alpha=1 - level) if wins + losses else None,
    )


def _of_means(pair: Pair, level: float) -> Difference:
    d, clusters = _differences(pair), pair.clusters
    mean = micro(d, clusters) if pair.groups is None else macro(d, pair.groups.of, clusters, pair.groups.shares)
    if np.ptp(d) <= ROUNDING * np.abs(d).max() and (pair.a.units > 1 or not d.any()):
        return _without_spread(pair, mean.value, level)
    error = mean.error if spreads(mean, d) else None
    found = None if error is None else detectable(error, alpha=1 - level)
    if pair.groups is None and pair.a.units < FEW:
        interval = _within_range(typical_values(d, clusters, level=level), pair.a.metric)
        method, test = f"paired, sign permutation of {pair.units}", "sign permutation"
        return Difference(mean.value, interval, method, sign_flip(d, clusters), test, found)
    if error is None:
        return Difference(mean.value, None, "none: a group has one unit, or none of them spreads")
    kinds = ["paired", "Student's t"]
    kinds += ["stratified"] if pair.groups is not None else []
    kinds += ["clustered"] if clusters is not None else []
    interval = _within_range(student(mean.value, error, mean.df, level), pair.a.metric)
    p = student_p(mean.value / error, mean.df)
    return Difference(mean.value, interval, ", ".join(kinds), p, "Student's t", found)


def _without_spread(pair: Pair, value: float, level: float) -> Difference:
    """All differences are the same. Where there is none, shares differ no more often than coins that never did."""
    metric = pair.a.metric
    if value == 0 and pair.groups is None and (metric.low, metric.high) == (0.0, 1.0):
        return Difference(
            0.0, tango(0, 0, pair.a.units, level), f"paired, Tango's score on {pair.units} without spread"
        )
    return Difference(value, None, f"none: {pair.units} show no spread")


def _of_any(pair: Pair, level: float) -> Difference:
    metric, columns = pair.a.metric, len(pair.a.metric.columns)
    if OWN_UNITS in metric.columns and _counted(pair.a) != _counted(pair.b):
        return Difference(None, None, "none: they split the texts into different tokens; compare bits per byte")
    each = over_of(metric)

    def over(rows: Array, weights: Array) -> Array:
        return np.asarray(each(rows[:, :columns], weights)) - np.asarray(each(rows[:, columns:], weights))

    drawn: Over = over
    swapped = each
    if pair.groups is not None:
        twice = Leaves(np.tile(pair.groups.of, 2), pair.groups.shares)
        drawn, swapped = over_leaves(over, pair.groups), over_leaves(each, twice)
    rows = np.concatenate((pair.a.rows, pair.b.rows), axis=1)
    value = float(drawn(rows, np.ones(len(rows))))
    if math.isnan(value):
        return Difference(None, None, "none: the denominator is zero")
    if pair.a.units < 2:  # noqa: PLR2004 -- one unit shows no spread
        return Difference(value, None, f"none: only {pair.units}")
    clusters = pair.clusters if pair.groups is None or pair.clusters is not None else np.arange(len(rows))
    draws = bootstrap(drawn, rows, clusters)
    interval = bca(drawn, rows, draws, clusters, level=level)
    if interval is None:
        return Difference(value, None, f"none: {pair.units} show no spread")
    p = label_swap(swapped, (pair.a.rows, pair.b.rows), pair.clusters)
    method = f"paired, BCa bootstrap of {pair.units}" + ("" if pair.a.units >= FEW else "; only so few")
    found = detectable(float(np.nanstd(draws)), alpha=1 - level) or None
    return Difference(value, _within_range(interval, metric), method, p, "label permutation", found)


def _differences(pair: Pair) -> Array:
    return np.asarray(pair.a.rows[:, 0] - pair.b.rows[:, 0])


def _agreeing(made: Difference, level: float) -> Difference:
    """The interval widened to zero where the test does not exclude it."""
    if made.interval is None or made.p is None or made.p < 1 - level:
        return made
    low, high = made.interval
    if low <= 0 <= high:
        return made
    return replace(made, interval=(min(low, 0.0), max(high, 0.0)), method=f"{made.method}, widened to the test")


def _within_range(interval: Interval, metric: Metric) -> Interval | None:
    """A difference cannot leave the span of the metric; None where an end stays infinite."""
    if metric.low is not None and metric.high is not None:
        span = metric.high - metric.low
        interval = max(interval[0], -span), min(interval[1], span)
    return interval if all(map(math.isfinite, interval)) else None
