"""What varies by itself: items, or clusters of them; and how to weigh the rows of many units at once.

Resampling and swapping give each unit a weight. Where a metric needs sums only, the rows of a unit are added first, so
that the cost is that of the units. Many units may be joined at random: the joined ones vary as the single ones do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from measurand.core.benchmark import Metric
from measurand.stats.means import Array, Labels, dense
from measurand.stats.sums import ADDITIVE, ratio_of_sums, weighted_mean

UNITS = 2_000
"""Units left after joining at random, which moves an error by about 1 part in sqrt(2 UNITS)."""

Over = Callable[[Array, Array], Array]


def over_of(metric: Metric) -> Over:
    """The metric's `over`, as what it gives for these arguments: an array, or a number."""
    return metric.over  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class Units:
    """What is drawn: `of` [items] is each item's unit, `strata` [units] each unit's stratum, both from 0 up."""

    of: Labels
    strata: Labels

    def joined(self, rng: np.random.Generator) -> Units:
        """The same with units put together at random, within their strata, until about UNITS are left."""
        n = len(self.strata)
        if n <= UNITS:
            return self
        place = np.empty(n, dtype=np.int64)
        shuffled = rng.permutation(n)
        place[shuffled[np.argsort(self.strata[shuffled], kind="stable")]] = np.arange(n)
        size = np.bincount(self.strata)
        start = np.cumsum(size) - size
        left = np.maximum(np.minimum(size, 2), np.round(size * (UNITS / n)).astype(np.int64))
        within = (place - start[self.strata]) % left[self.strata]
        base = np.cumsum(left) - left
        return Units((base[self.strata] + within)[self.of], np.repeat(np.arange(len(left)), left))

    def summed(self, over: Over, rows: Array) -> tuple[Over, Array, Labels | None]:
        """The table to weigh, and which unit each of its rows takes its weight from; None: row by unit.

        Where `over` needs sums only, the rows of a unit are added first.
        """
        if over is weighted_mean:
            over, rows = ratio_of_sums, np.column_stack((rows[:, 0], np.ones(len(rows))))
        if over not in ADDITIVE:
            return over, rows, self.of
        n = len(self.strata)
        return over, np.column_stack([np.bincount(self.of, column, minlength=n) for column in rows.T]), None

    def drawn(self, rng: np.random.Generator, draws: int) -> Array:
        """How often each unit is drawn: [draws, units]."""
        weights = np.empty((draws, len(self.strata)))
        for stratum in range(int(self.strata.max()) + 1):
            part = np.flatnonzero(self.strata == stratum)
            n = len(part)
            picked = rng.integers(0, n, (draws, n)) + (np.arange(draws) * n)[:, None]
            weights[:, part] = np.bincount(picked.ravel(), minlength=draws * n).reshape(draws, n)
        return weights


def units_of(n: int, clusters: Labels | None, strata: Labels | None = None) -> Units:
    """The units of `n` items: their clusters, split where these cross strata, or the items themselves."""
    own = np.arange(n, dtype=np.int64) if clusters is None else dense(clusters)
    if strata is None:
        return Units(own, np.zeros(int(own.max()) + 1, dtype=np.int64))
    stratum = dense(strata)
    pairs, unit = np.unique(own * (stratum.max() + 1) + stratum, return_inverse=True)
    return Units(unit.astype(np.int64), pairs % (stratum.max() + 1))


def spread(weights: Array, positions: Labels | None) -> Array:
    """The weights of units as those of a table's rows."""
    return weights if positions is None else weights[:, positions]
