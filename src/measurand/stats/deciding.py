"""Rules with a threshold: passed, failed or undecided, and how many further items would decide.

A rule passes where the whole interval lies on its good side, fails where it lies on the other, and is undecided in
between. `level` is that of a two-sided interval, so each wrong verdict has at most half of 1 - level: 2.5 % for 0.95.
A gate on right-or-wrong trials uses Clopper and Pearson's interval, which keeps that promise for every n and rate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from measurand.core.errors import InputError
from measurand.core.estimate import Comparison, Estimate
from measurand.stats.intervals import clopper_pearson, normal_quantile
from measurand.stats.power import POWER, power_quantile

Verdict = Literal["pass", "fail", "undecided"]
MOST = 100_000_000
"""More further items than this are no plan."""


def at_least(successes: int, n: int, threshold: float, level: float = 0.95) -> Verdict:
    """Whether a rate is at least `threshold`, by Clopper and Pearson's interval. Raises InputError as it does."""
    return verdict(*clopper_pearson(successes, n, level), threshold)


def not_worse(comparison: Comparison, margin: float = 0.0, *, higher_is_better: bool = True) -> Verdict:
    """Whether a is worse than b by no more than `margin`: non-inferiority of a, by the interval of the difference.

    Undecided where there is no interval. The margin is in the unit of the number and is fixed before looking: ICH E9
    1998, "Statistical principles for clinical trials", section 3.3.2. Raises InputError for a margin below zero.
    """
    if margin < 0:
        raise InputError(f"a margin says how much worse is still borne, so it is not below zero: {margin}")
    low, high = comparison.difference.low, comparison.difference.high
    if low is None or high is None:
        return "undecided"
    return verdict(low, high, -margin) if higher_is_better else verdict(-high, -low, -margin)


def verdict(low: float, high: float, threshold: float) -> Verdict:
    """Whether a number whose interval is `low` to `high` is at least `threshold`."""
    if low >= threshold:
        return "pass"
    return "fail" if high < threshold else "undecided"


def further_items_of_rate(
    successes: int, n: int, threshold: float, *, level: float = 0.95, power: float = POWER
) -> int | None:
    """The further items after which `at_least` decides with chance `power`, if they go as these did.

    Exact: the binomial chance that successes so far and to come leave Clopper and Pearson's interval on one side. None
    where the rate is the threshold itself, or more items than MOST would be needed. 0 where it is decided already.
    """
    if at_least(successes, n, threshold, level) != "undecided":
        return 0
    rate = successes / n
    if rate == threshold:
        return None

    def enough(more: int) -> bool:
        return _chance_to_decide((successes, n), more, threshold, level) >= power

    return _fewest(enough)


def further_items(estimate: Estimate, threshold: float = 0.0, *, power: float = POWER) -> int | None:
    """The further items after which an interval would leave `threshold` aside with chance `power`, if nothing changes.

    For any number or difference, by the normal approximation: only the further items are still open, so of N items
    the mean must lie z_a s / sqrt(N) + z_b s sqrt(N - n) / N away, with the spread s read from the interval. None where
    there is no interval, no distance, or more items than MOST would be needed. 0 where it is decided already.
    """
    value, low, high = estimate.value, estimate.low, estimate.high
    if value is None or low is None or high is None or value == threshold:
        return None
    if verdict(low, high, threshold) != "undecided":
        return 0
    z = normal_quantile(estimate.level)
    n, z_b = estimate.n_items, power_quantile(power)
    spread = (value - low if value > threshold else high - value) / z * math.sqrt(n)
    distance = abs(value - threshold)

    def enough(more: int) -> bool:
        total = n + more
        return z * spread / math.sqrt(total) + z_b * spread * math.sqrt(more) / total <= distance

    return _fewest(enough)


def _fewest(enough: Callable[[int], bool]) -> int | None:
    """The least count that is enough, as good as: the binomial's steps may let a slightly smaller one be enough too."""
    low, high = 0, 1
    while not enough(high):
        low, high = high, 2 * high
        if high > MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _chance_to_decide(so_far: tuple[int, int], more: int, threshold: float, level: float) -> float:
    """The chance that `more` items at the rate so far put the whole interval on that rate's side of the threshold."""
    from scipy.stats import binom

    (successes, n), tail = so_far, (1 - level) / 2
    rate, total = successes / n, n + more
    if rate > threshold:
        fewest = binom.isf(tail, total, threshold) + 1  # the least count whose interval lies above
        return float(binom.sf(fewest - successes - 1, more, rate))
    most = binom.ppf(tail, total, threshold) - 1  # the largest whose interval lies below
    return float(binom.cdf(most - successes, more, rate))
