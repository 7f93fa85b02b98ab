"""The bootstrap: how a number would vary if the items (or clusters) had been drawn again.

Works for any `over` of a metric, because resampling is reweighting: an item drawn twice weighs two. Efron
1979, "Bootstrap methods: another look at the jackknife"; clusters are drawn whole, as in Davison and Hinkley
1997, section 3.8.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from measurand.core.benchmark import Metric
from measurand.stats.means import Array, Labels, dense

DRAWS = 2_000
FEWEST = 500
WORK = 100_000_000
"""Rows times draws: beyond this there are fewer draws, down to FEWEST. The more items, the less it matters."""
CELLS = 1 << 22
"""Weights held at once: 32 MB."""
UNITS = 2_000
"""More units than this are first joined at random, which moves the error by about 1 part in sqrt(2 UNITS)."""

Over = Callable[[Array, Array], Array]


def over_of(metric: Metric) -> Over:
    """The metric's `over`, as what it gives for these arguments: an array, or a number."""
    return metric.over  # type: ignore[return-value]


def bootstrap(over: Over, rows: Array, clusters: Labels | None = None, *, draws: int = DRAWS, seed: int = 0) -> Array:
    """The number `over(rows, weights)` in up to `draws` resamples: shape [draws], the same for the same seed.

    `rows` is [items, columns]; `clusters` [items] labels what is drawn together. n of n are drawn with
    replacement.
    """
    rng = np.random.default_rng(seed)
    if clusters is None:
        distinct, counts = np.unique(rows, axis=0, return_counts=True)
        if len(distinct) <= UNITS:
            # Few different rows: how often each is drawn is all that matters, and that is one multinomial.
            return _numbers(over, distinct, None, counts / len(rows), (len(rows), draws), rng)
        unit = np.arange(len(rows), dtype=np.int64)
    else:
        unit = dense(clusters)
    n = int(unit.max()) + 1
    if n > UNITS:
        unit = rng.permutation(n)[unit] % UNITS
        n = UNITS
    draws = min(draws, max(FEWEST, WORK // len(rows)))
    return _numbers(over, rows, unit, np.full(n, 1 / n), (n, draws), rng)


def percentiles(numbers: Array, level: float = 0.95) -> tuple[float, float]:
    """The interval that holds the middle `level` of the resampled numbers; NaN draws are left out."""
    tail = 50 * (1 - level)
    low, high = np.nanpercentile(numbers, (tail, 100 - tail))
    return float(low), float(high)


def _numbers(
    over: Over,
    rows: Array,
    unit: Labels | None,
    chances: Array,
    size: tuple[int, int],
    rng: np.random.Generator,
) -> Array:
    """Draw (n, draws) times from units with these chances, a chunk of draws at a time, and reweight the rows."""
    n, draws = size
    step = max(1, CELLS // len(rows))
    chunks: list[NDArray[np.float64]] = []
    for start in range(0, draws, step):
        weights = rng.multinomial(n, chances, size=min(step, draws - start)).astype(np.float64)
        chunks.append(np.asarray(over(rows, weights if unit is None else weights[:, unit])))
    return np.concatenate(chunks)
