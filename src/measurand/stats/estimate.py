"""From rows to an Estimate: the number, and the interval that its kind allows.

The rule, in order:

1. nothing measured: no number;
2. a metric that is not a mean of items (a ratio, F1): the BCa bootstrap over items or clusters; a ratio in which every
   item counts once is a mean, and goes on to 3;
3. one right-or-wrong trial for each item, items independent: Wilson;
4. several samples or real values: Student's t on item means, with the clustered error where items cluster;
5. where 4, or 2 for a rate, finds no spread: Wilson on the units if the range is 0 to 1 (a value in that range varies
   no more than a coin of the same mean), otherwise no interval. All right is not certainty.

`method` says in words what was done. `nested` has the number over groups, made of these.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from measurand.core.benchmark import Metric
from measurand.core.estimate import Estimate
from measurand.stats.bootstrap import bca, bootstrap
from measurand.stats.intervals import Interval, student, wilson
from measurand.stats.means import Array, Labels, Mean, dense, micro
from measurand.stats.missing import ByItem, bounds, by_item, complete, number
from measurand.stats.sums import ratio_of_sums, weighted_mean
from measurand.stats.units import Over, over_of

FEW = 30
"""Below this many units the central limit theorem is a hope, and the method says so."""
ROUNDING = 1e-12

Made = tuple[Interval | None, str]
"""An interval, or why there is none, and how it was made."""


def estimate(
    rows: Array, metric: Metric, *, items: Labels | None = None, clusters: Labels | None = None, level: float = 0.95
) -> Estimate:
    """The number over all items, with its interval, its counts and its bounds over the missing.

    `rows` is [trials, columns] (or [trials] for one column), NaN where a trial is unmeasured; `items` [trials] labels
    the item of each trial (None: one trial each); `clusters` [items] labels items that belong together, in the sorted
    order of the items' labels. Raises InputError for values out of range.
    """
    table = np.asarray(rows, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    of = dense(items) if items is not None else np.arange(len(table), dtype=np.int64)
    return pooled(by_item(metric, table, of, int(of.max(initial=-1)) + 1, clusters), level)


def pooled(table: ByItem, level: float = 0.95) -> Estimate:
    """Every item counts the same."""
    done = table.measured_only()
    limits = bounds(table) if table.missing.any() else None
    if not len(done.rows):
        return recorded(table, None, (None, "none: nothing is measured"), level, limits)
    value = number(table.metric, done.rows)
    if math.isnan(value):
        return recorded(table, None, (None, "none: the denominator is zero"), level, limits)
    return recorded(table, value, _interval(done, value, level), level, limits)


def _interval(done: ByItem, value: float, level: float) -> Made:
    done = _as_mean(done)
    metric, n, what = done.metric, done.units, _units_of(done)
    if metric.over is not weighted_mean:
        return _of_no_mean(done, value, level)
    if right_or_wrong(done):
        return wilson(value, n, level), "Wilson"
    mean = micro(done.rows[:, 0], done.clusters)
    if spreads(mean, done.rows[:, 0]):
        kind = "Student's t on item means" if done.independent else "Student's t, clustered"
        return of_mean(mean, metric, level), kind + _few(done)
    if (metric.low, metric.high) == (0.0, 1.0):
        return wilson(value, n, level), f"Wilson on {n} {what} without spread"
    return None, f"none: {n} {what} show no spread"


def _of_no_mean(done: ByItem, value: float, level: float) -> Made:
    what = _units_of(done)
    if done.units < 2:  # noqa: PLR2004 -- one unit shows no spread
        return None, f"none: one of {what}"
    interval, method = bootstrapped(over_of(done.metric), done, level)
    if interval is None and done.metric.over is ratio_of_sums:
        return wilson(value, done.units, level), f"Wilson on {done.units} {what} without spread"
    return interval, method + (_few(done) if interval else "")


def _units_of(done: ByItem) -> str:
    return "items" if done.independent else "clusters"


def _few(done: ByItem) -> str:
    return f"; only {done.units} {_units_of(done)}" if done.units < FEW else ""


def _as_mean(done: ByItem) -> ByItem:
    """A rate in which every item counts once is the mean of its counts; all else as it is."""
    if done.metric.over is not ratio_of_sums or not (done.rows[:, 1] == 1).all():
        return done
    mean = replace(done.metric, columns=done.metric.columns[:1], over=weighted_mean)
    return replace(done, metric=mean, rows=done.rows[:, :1])


def bootstrapped(over: Over, done: ByItem, level: float) -> Made:
    """The BCa interval of any `over` of measured items, clusters drawn whole; none where no draw differs."""
    clusters = None if done.independent else done.clusters
    interval = bca(over, done.rows, bootstrap(over, done.rows, clusters), clusters, level=level)
    return (
        interval,
        f"BCa bootstrap of {_units_of(done)}" if interval else f"none: {done.units} {_units_of(done)} show no spread",
    )


def right_or_wrong(done: ByItem) -> bool:
    """Whether every item is one independent trial that is right or wrong, by a metric that says no more."""
    single = (done.metric.low, done.metric.high) == (0.0, 1.0) and bool((done.measured == 1).all())
    return single and done.independent and bool(np.isin(done.rows, (0.0, 1.0)).all())


def of_mean(mean: Mean, metric: Metric, level: float) -> Interval:
    """Student's t interval of a mean whose error is known, within the metric's range."""
    return clipped(student(mean.value, mean.error or 0.0, mean.df, level), metric)


def spreads(mean: Mean, values: Array) -> bool:
    """Whether the error of these values' mean is known and more than rounding."""
    return mean.error is not None and mean.error > ROUNDING * float(np.abs(values).max())


def clipped(interval: Interval, metric: Metric) -> Interval:
    """The part of the interval that lies in the metric's range."""
    low, high = interval
    return (
        low if metric.low is None else max(low, metric.low),
        high if metric.high is None else min(high, metric.high),
    )


def unit_of(metric: Metric) -> str:
    """The unit of the number; empty only for a share of one, which reports show as a percentage."""
    return metric.unit or ("" if (metric.low, metric.high) == (0.0, 1.0) else "score")


def recorded(table: ByItem, value: float | None, made: Made, level: float, limits: Interval | None) -> Estimate:
    """The Estimate of a number of the table: its counts are the table's, `limits` its bounds over what is missing."""
    interval, method = made
    missing = int(table.missing.sum())
    low, high = interval or (None, None)
    return Estimate(
        metric=table.metric.name,
        value=value,
        low=low,
        high=high,
        level=level,
        method=method,
        n_items=int(complete(table.rows).sum()),
        n_trials=int(table.measured.sum()),
        n_missing=missing,
        n_clusters=None if table.independent else table.units,
        bounds=limits if missing else None,
        unit=unit_of(table.metric),
    )
