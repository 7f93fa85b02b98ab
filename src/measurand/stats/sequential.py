"""Looking at a running evaluation without being fooled by the looks.

Whoever extends a run until an ordinary interval decides, is wrong more often than it says: each look is another chance
for luck. A confidence sequence is a row of intervals that all hold the true number at once with probability `level`,
so one may look after every item, stop when one likes, and go on later. It is the default here, because nothing need
be fixed beforehand. `spending` has the alternative, for looks that are planned.

- Right or wrong: the mixture of likelihood ratios over a Beta(1/2, 1/2). Robbins 1970, "Statistical methods related to
  the law of the iterated logarithm"; Howard, Ramdas, McAuliffe and Sekhon 2021, "Time-uniform, nonparametric,
  nonasymptotic confidence sequences", section 3.2.
- Values from 0 to 1: the predictable plug-in empirical Bernstein sequence. Waudby-Smith and Ramdas 2023, "Estimating
  means of bounded random variables by betting", theorem 2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from measurand.core.errors import InputError
from measurand.core.looks import Look, Looks
from measurand.stats.deciding import at_least, verdict
from measurand.stats.intervals import Interval, edge
from measurand.stats.means import Array

PRIOR = 0.5
LARGEST_BET = 0.5


def rate_at(successes: int, n: int, level: float = 0.95) -> Interval:
    """The interval of a rate at one of any number of looks, from the counts so far.

    All p with B(s + 1/2, n - s + 1/2) / B(1/2, 1/2) < p^s (1 - p)^(n - s) / (1 - level). Raises InputError for
    impossible counts.
    """
    if n < 1 or not 0 <= successes <= n or not 0 < level < 1:
        raise InputError(f"{successes} successes of {n} at level {level} have no interval")
    failures = n - successes
    most = _log_beta(successes + PRIOR, failures + PRIOR) - _log_beta(PRIOR, PRIOR) + math.log(1 - level)

    def inside(p: float) -> bool:
        return _log_power(p, successes) + _log_power(1 - p, failures) > most

    rate = successes / n
    return edge(inside, rate, 0.0), edge(inside, rate, 1.0)


def mean_sequence(values: Array, level: float = 0.95, span: Interval = (0.0, 1.0)) -> tuple[Array, Array]:
    """The interval of a mean after each of `values` [n], in their order: low [n] and high [n], never widening.

    The values lie within `span`: 0 to 1, or -1 to 1 for paired differences of shares. Raises InputError for others.
    """
    low, high = span
    x = (np.asarray(values, dtype=np.float64) - low) / (high - low)
    if not ((x >= 0) & (x <= 1)).all():
        raise InputError(f"a confidence sequence needs values from {low:g} to {high:g}")
    t = np.arange(1, len(x) + 1)
    mean = (0.5 + np.cumsum(x)) / (t + 1)
    variance = (0.25 + np.cumsum((x - mean) ** 2)) / (t + 1)
    # A bet may only use what was seen before it.
    known = np.concatenate(([0.25], variance[:-1]))
    guess = np.concatenate(([0.5], mean[:-1]))
    bets = np.minimum(np.sqrt(2 * math.log(2 / (1 - level)) / (known * t * np.log1p(t))), LARGEST_BET)
    penalty = 4 * (x - guess) ** 2 * (-np.log1p(-bets) - bets) / 4
    total = np.cumsum(bets)
    centre = np.cumsum(bets * x) / total
    half = (math.log(2 / (1 - level)) + np.cumsum(penalty)) / total
    lows, highs = np.maximum.accumulate(centre - half), np.minimum.accumulate(centre + half)
    return low + (high - low) * np.maximum(lows, 0), low + (high - low) * np.minimum(highs, 1)


def looked(so_far: Looks, successes: int, n: int, at: str = "") -> Looks:
    """The record with one more look: `successes` of `n` items in all, at the time `at` (ISO date).

    The verdict rests on what all looks together leave possible. Raises InputError for fewer items than before, and for
    counts that can't follow the earlier ones.
    """
    check_follows(so_far, successes, n)
    return added(so_far, successes, n, rate_at(successes, n, so_far.level), at)


def check_follows(so_far: Looks, successes: int, n: int) -> None:
    """Raise InputError where a look at these counts cannot come after the last one."""
    before = _last(so_far)
    if not (n >= before.n and 0 <= successes - before.successes <= n - before.n):
        raise InputError(
            f"a look at {successes} of {n} items cannot follow one at {before.successes} of {before.n}: looks count "
            "all items so far"
        )


def added(so_far: Looks, successes: int, n: int, interval: Interval, at: str = "") -> Looks:
    """The record with one more look, whose `interval` is one of a row that holds at all looks together."""
    before = _last(so_far)
    low, high = max(interval[0], before.low), min(interval[1], before.high)
    says = before.says if before.says != "undecided" else verdict(low, high, so_far.threshold)
    return Looks(so_far.threshold, so_far.level, (*so_far.looks, Look(n, successes, low, high, says, at)))


def naive_false_pass(sizes: Sequence[int], threshold: float, level: float = 0.95) -> float:
    """How often a rate that lies at the threshold is passed, if an ordinary gate is asked at every look. Exact.

    `sizes` are the items at each look, growing. The gate is `at_least`, which on one look passes at most half of
    1 - level. To be shown beside every sequential verdict.
    """
    from scipy.stats import binom

    chance, passed, before = np.ones(1), 0.0, 0
    for n in sizes:
        if n < before:
            raise InputError("looks count all items so far, so their sizes grow")
        chance = np.convolve(chance, binom.pmf(np.arange(n - before + 1), n - before, threshold))
        fewest = _fewest_to_pass(n, threshold, level)
        passed += float(chance[fewest:].sum())
        chance[fewest:] = 0
        before = n
    return passed


def _last(so_far: Looks) -> Look:
    return so_far.looks[-1] if so_far.looks else Look(0, 0, 0.0, 1.0, "undecided")


def _fewest_to_pass(n: int, threshold: float, level: float) -> int:
    """The fewest successes of n that an ordinary gate passes; n + 1 where not even all do."""
    low, high = 0, n + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if at_least(middle, n, threshold, level) == "pass" else (middle + 1, high)
    return low


def _log_power(base: float, count: int) -> float:
    return (count * math.log(base) if base > 0 else -math.inf) if count else 0.0


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
