"""The bootstrap: how a number would vary if the items (or clusters) had been drawn again.

Works for any `over` of a metric, because resampling is reweighting: an item drawn twice weighs two. Efron
1979, "Bootstrap methods: another look at the jackknife"; clusters are drawn whole, and strata each by themselves, as
in Davison and Hinkley 1997, "Bootstrap methods and their application", sections 3.8 and 3.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from measurand.core.errors import InputError
from measurand.stats.means import Array, Labels
from measurand.stats.units import UNITS, Over, spread, units_of

DRAWS = 2_000
FEWEST = 500
WORK = 100_000_000
"""Weights drawn in all: beyond this units are joined, and then, if need be, there are fewer draws, down to FEWEST."""
CELLS = 1 << 20
"""Weights held at once: 8 MB."""

ROUNDING = 1e-12


def bootstrap(
    over: Over,
    rows: Array,
    clusters: Labels | None = None,
    *,
    strata: Labels | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> Array:
    """The number `over(rows, weights)` in up to `draws` resamples: shape [draws], the same for the same seed.

    `rows` is [items, columns]; `clusters` [items] labels what is drawn together; `strata` [items] what is drawn by
    itself, as many as there are (a cluster across strata is split). n of n are drawn with replacement.
    """
    rng = np.random.default_rng(seed)
    if clusters is None and strata is None and _few_differ(rows):
        # Few different rows: how often each is drawn is all that matters, and that is one multinomial.
        distinct, counts = np.unique(rows, axis=0, return_counts=True)
        chances = counts / len(rows)
        return _numbers(
            over, distinct, draws, lambda some: rng.multinomial(len(rows), chances, size=some).astype(np.float64)
        )
    units = units_of(len(rows), clusters, strata)
    if len(units.strata) * draws > WORK:
        units = units.joined(rng)
    over, table, positions = units.summed(over, rows)
    if positions is not None:
        draws = min(draws, max(FEWEST, WORK // len(rows)))
    return _numbers(over, table, draws, lambda some: spread(units.drawn(rng, some), positions))


def percentiles(numbers: Array, level: float = 0.95) -> tuple[float, float]:
    """The interval that holds the middle `level` of the resampled numbers; NaN draws are left out."""
    tail = 50 * (1 - level)
    low, high = np.nanpercentile(numbers, (tail, 100 - tail))
    return float(low), float(high)


def bca(
    over: Over, rows: Array, numbers: Array, clusters: Labels | None = None, *, level: float = 0.95
) -> tuple[float, float] | None:
    """The bias-corrected and accelerated interval of the resampled `numbers`, which `bootstrap` made of the rest.

    Efron 1987, "Better bootstrap confidence intervals"; Efron and Tibshirani 1993, "An introduction to the bootstrap",
    equations 14.10, 14.14 and 14.15. Half of the draws that equal the number count as below it. For skewed numbers it
    errs less than `percentiles`; where no draw lies on one side of the number, those are all there is. None where no
    draw differs: all alike is not certainty. Raises InputError where the rows have no number.
    """
    value = float(over(rows, np.ones(len(rows))))
    if math.isnan(value):
        raise InputError("rows that have no number, such as a rate of none, have no interval")
    kept = numbers[~np.isnan(numbers)]
    slack = ROUNDING * float(np.abs(kept).max())
    if kept.max() - kept.min() <= slack:
        return None
    below = float((kept < value - slack).mean() + (kept <= value + slack).mean()) / 2
    if not 0 < below < 1:
        return percentiles(kept, level)
    left_out = _jackknife(over, rows, clusters)
    left_out = left_out[~np.isnan(left_out)]
    away = left_out.mean() - left_out
    largest = float(np.abs(away).max(initial=0.0))
    away = away / largest if largest else away  # it has no scale, and tiny numbers have no cubes
    acceleration = float((away**3).sum()) / (6 * float((away**2).sum()) ** 1.5) if largest else 0.0
    normal = NormalDist()
    bias = normal.inv_cdf(below)
    shifted = [bias + normal.inv_cdf((1 + side * level) / 2) for side in (-1, 1)]
    low, high = np.quantile(kept, [normal.cdf(bias + z / (1 - acceleration * z)) for z in shifted])
    return float(low), float(high)


def _few_differ(rows: Array) -> bool:
    """Whether there are at most UNITS different rows; most tables that have more show it at once."""
    columns = rows[:, 0] if rows.shape[1] == 1 else rows
    return all(len(np.unique(part, axis=0)) <= UNITS for part in (columns[: 2 * UNITS], columns))


def _numbers(over: Over, rows: Array, draws: int, weights: Callable[[int], Array]) -> Array:
    """`over` of the rows under `draws` rows of weights, a chunk at a time."""
    step = max(1, CELLS // len(rows))
    return np.concatenate(
        [np.asarray(over(rows, weights(min(step, draws - start)))) for start in range(0, draws, step)]
    )


def _jackknife(over: Over, rows: Array, clusters: Labels | None) -> Array:
    """The number without each unit in turn; many units are left out in UNITS random groups."""
    units = units_of(len(rows), clusters).joined(np.random.default_rng(0))
    over, table, positions = units.summed(over, rows)
    n = len(units.strata)
    step = max(1, CELLS // len(table))
    chunks = []
    for start in range(0, n, step):
        kept = np.ones((min(step, n - start), n))
        kept[np.arange(len(kept)), start + np.arange(len(kept))] = 0
        chunks.append(np.asarray(over(table, spread(kept, positions))))
    return np.concatenate(chunks)
