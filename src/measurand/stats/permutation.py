"""Permutation tests for pairs: if two subjects are alike, their answers to an item could be swapped.

A swap turns the sign of the item's difference, so the differences with random signs show what luck can do. Items of
one cluster are swapped together. Nothing is assumed of the shape of the scores, and with few units every pattern of
signs is tried, so the p-value is exact: Fisher 1935, "The design of experiments", section 21.
"""

from __future__ import annotations

import numpy as np

from measurand.core.errors import InputError
from measurand.stats.bootstrap import FEWEST, WORK
from measurand.stats.intervals import Interval
from measurand.stats.means import Array, Labels, dense
from measurand.stats.units import Over, Units, spread, units_of

EXACT = 14
"""Up to this many units all 2^n patterns are tried."""
DRAWS = 20_000
CELLS = 1 << 22
SLACK = 1e-9


def sign_flip(differences: Array, clusters: Labels | None = None, *, seed: int = 0) -> float:
    """The two-sided p-value of a mean difference of zero. `differences` and `clusters` are [items].

    Exact up to EXACT units (clusters or items), from DRAWS random patterns beyond; a random p-value counts the
    observed pattern too (Phipson and Smyth 2010), so it is never 0. Raises InputError for no differences.
    """
    sums, _ = _sums(differences, clusters)
    total = abs(float(sums.sum()))
    chosen, exact = _subsets(len(sums), seed)
    swapped = np.abs(sums.sum() - 2 * (chosen @ sums))
    hits = int((swapped >= total - SLACK * max(1.0, total)).sum())
    return hits / len(chosen) if exact else (hits + 1) / (len(chosen) + 1)


def typical_values(
    differences: Array, clusters: Labels | None = None, *, level: float = 0.95, seed: int = 0
) -> Interval:
    """The interval of a mean difference that agrees with `sign_flip`: the shifts that it would not reject.

    Its ends are order statistics of the means of all subsets of the units: Hartigan 1969, "Using subsample values as
    typical values". Infinite where the units are too few for the level: five units can't reach 95 %. Raises
    InputError for no differences.
    """
    sums, sizes = _sums(differences, clusters)
    chosen, exact = _subsets(len(sums), seed)
    filled = chosen[chosen.any(axis=1)]
    means = np.sort((filled @ sums) / (filled @ sizes))
    rank = int((1 - level) / 2 * (len(filled) + 1) + SLACK) if exact else int((1 - level) / 2 * len(filled))
    return (float(means[rank - 1]), float(means[-rank])) if rank else (-np.inf, np.inf)


def label_swap(
    over: Over, pair: tuple[Array, Array], clusters: Labels | None = None, *, draws: int = 2_000, seed: int = 0
) -> float:
    """The two-sided p-value of no difference in any `over`, by swapping the subjects' rows of an item at random.

    `pair` holds both subjects' rows, [items, columns] each, in one order; `clusters` [items]. Swapping is reweighting:
    over both subjects' rows together, an item's weight moves from one row to the other. Many units are swapped in
    random groups, which is as valid. Draws that have no number are left out.
    """
    rng = np.random.default_rng(seed)
    units = units_of(len(pair[0]), clusters).joined(rng)
    n = len(units.strata)
    both = Units(np.concatenate((units.of, units.of + n)), np.zeros(2 * n, dtype=np.int64))
    each, rows, positions = both.summed(over, np.concatenate(pair))
    if positions is not None:
        draws = min(draws, max(FEWEST, WORK // len(rows)))

    def differences(stay: Array) -> Array:
        weights = np.concatenate((stay, 1 - stay), axis=1)
        return np.abs(each(rows, spread(weights, positions)) - each(rows, spread(1 - weights, positions)))

    observed = float(differences(np.ones((1, n)))[0])
    hits = valid = 0
    step = max(1, CELLS // len(rows))
    for start in range(0, draws, step):
        swapped = differences(rng.integers(0, 2, (min(step, draws - start), n)).astype(np.float64))
        hits += int((swapped >= observed - SLACK * max(1.0, observed)).sum())
        valid += int((~np.isnan(swapped)).sum())
    return (hits + 1) / (valid + 1)


def _sums(differences: Array, clusters: Labels | None) -> tuple[Array, Array]:
    """The sum of the differences of each unit, and its items."""
    if not len(differences):
        raise InputError("a permutation test of no differences says nothing")
    if clusters is None:
        return differences, np.ones(len(differences))
    unit = dense(clusters)
    return np.bincount(unit, differences).astype(np.float64), np.bincount(unit).astype(np.float64)


def _subsets(n: int, seed: int) -> tuple[Array, bool]:
    """Which units are swapped, a row for each pattern; and whether these are all patterns."""
    if n <= EXACT:
        return ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(np.float64), True
    return np.random.default_rng(seed).integers(0, 2, (DRAWS, n)).astype(np.float64), False
