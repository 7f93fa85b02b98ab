"""What is not measured: counted by item, and bounded by the worst and the best it could have been."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from measurand.core.benchmark import Metric
from measurand.core.errors import InputError
from measurand.stats.means import Array, Labels
from measurand.stats.metrics import checked

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ByItem:
    """The rows of a metric, one for each item, with what is missing.

    `rows` [items, columns] holds `within` of each item's measured samples and is NaN where none could be
    measured. `worst` and `best` are the same had every missing trial gone to the low or high end of the
    range; None where the metric has no such ends. `measured` and `missing` count trials, `clusters` labels items that
    belong together (None: each stands alone).
    """

    metric: Metric
    rows: Array
    worst: Array | None
    best: Array | None
    measured: Labels
    missing: Labels
    clusters: Labels | None = None

    @property
    def planned(self) -> Mask:
        """Items to which the metric applies, measured or not."""
        return (self.measured + self.missing) > 0

    @property
    def independent(self) -> bool:
        """Whether no two items share a cluster."""
        return self.clusters is None or self.units == len(self.clusters)

    @property
    def units(self) -> int:
        """How many things vary by themselves: clusters, or items."""
        return len(self.rows) if self.clusters is None else len(np.unique(self.clusters))

    def measured_only(self) -> ByItem:
        """The items that have a row."""
        done = complete(self.rows)
        return self if done.all() else self.only(done)

    def only(self, items: Mask) -> ByItem:
        """The same for some of the items."""
        at = np.flatnonzero(items)
        rows = self.rows[at]
        return ByItem(
            self.metric,
            rows,
            _taken(self.worst, self.rows, rows, at),
            _taken(self.best, self.rows, rows, at),
            self.measured[at],
            self.missing[at],
            None if self.clusters is None else self.clusters[at],
        )


def by_item(metric: Metric, rows: Array, items: Labels, n_items: int, clusters: Labels | None = None) -> ByItem:
    """Take the samples of each item together.

    `rows` is [trials, columns] with NaN for a missing trial, `items` [trials] the item's number from 0 to
    `n_items` - 1, `clusters` [n_items] labels. An item with fewer measured samples than the metric needs is
    unmeasured; an item that was planned with too few raises InputError, as do values out of range.
    """
    missing = ~complete(checked(metric, rows))
    counts = np.bincount(items[~missing], minlength=n_items)
    planned = np.bincount(items, minlength=n_items)
    measured = _within(metric, rows[~missing], items[~missing], counts, planned)
    worst = best = None
    if len(metric.columns) == 1 and metric.low is not None and metric.high is not None:
        ends = (metric.low, metric.high) if missing.any() else ()
        filled = [_within(metric, np.where(missing[:, None], end, rows), items, planned, planned) for end in ends]
        worst, best = filled or (measured, measured)
    return ByItem(metric, measured, worst, best, counts, planned - counts, clusters)


def complete(rows: Array) -> Mask:
    """Which rows have all their numbers."""
    return np.asarray(~np.isnan(rows).any(axis=1), dtype=np.bool_)


def number(metric: Metric, rows: Array) -> float:
    """The metric's number over items of equal weight; `rows` is [items, columns], all measured."""
    return float(np.asarray(metric.over(rows, np.ones(len(rows))), dtype=np.float64))


def bounds(table: ByItem) -> tuple[float, float] | None:
    """Where the number could lie, whatever the missing trials would have been; None where that is anywhere.

    Manski 1989, "Anatomy of the selection problem": nothing is assumed about what is missing. A
    metric of several columns, whose parts have no ends, can still not leave its range.
    """
    metric = table.metric
    if table.worst is not None and table.best is not None:
        ends = [number(metric, side[table.planned]) for side in (table.worst, table.best)]
        return min(ends), max(ends)
    if metric.low is not None and metric.high is not None:
        return metric.low, metric.high
    return None


def _taken(side: Array | None, rows: Array, taken: Array, at: NDArray[np.intp]) -> Array | None:
    """The rows of one side; where nothing is missing it is the rows themselves, and they are taken already."""
    if side is None:
        return None
    return taken if side is rows else side[at]


def _within(metric: Metric, rows: Array, items: Labels, counts: Labels, planned: Labels) -> Array:
    """One row for each item from its `counts` rows; items with the same number of samples are done at once."""
    result = np.full((len(counts), len(metric.columns)), np.nan)
    order = np.argsort(items, kind="stable")
    starts = np.concatenate(([0], np.cumsum(counts)))[:-1]
    for samples in np.unique(counts[counts > 0]).tolist():
        who = np.flatnonzero(counts == samples)
        block = rows[order[starts[who][:, None] + np.arange(samples)]]
        try:
            made = np.asarray(metric.within(block), dtype=np.float64)
        except InputError:
            if (planned[who] == samples).any():
                raise
            continue
        if made.shape != (len(who), len(metric.columns)):
            raise InputError(
                f"`within` of {metric.name} made the shape {made.shape} of {block.shape}; "
                "it must reduce the last axis but one"
            )
        result[who] = made
    return result
