"""Two subjects that are right or wrong on the same items: only the items on which they differ can tell them apart.

`wins` counts the items that only the first got right, `losses` those that only the second did. Their sum, the
discordant items, is the whole evidence; a hundred more items that both get right add none.
"""

from __future__ import annotations

import math

from measurand.core.errors import InputError
from measurand.stats.intervals import Interval, edge, normal_quantile

WHOLE = 10_000
"""Up to this many discordant items the sum is done in whole numbers; beyond, scipy is as good and faster."""


def mcnemar(wins: int, losses: int) -> float:
    """The exact two-sided p-value of McNemar's test: a fair coin thrown once for each discordant item.

    McNemar 1947, "Note on the sampling error of the difference between correlated proportions", in its exact form;
    not mid-p, which may err more often than it says. 1 where nothing differs. Raises
    InputError for negative counts.
    """
    if wins < 0 or losses < 0:
        raise InputError(f"wins and losses are counts, not {wins} and {losses}")
    m = wins + losses
    if m > WHOLE:
        from scipy.special import bdtr

        return min(1.0, 2 * float(bdtr(min(wins, losses), m, 0.5)))
    tail, term = 0, 1
    for k in range(min(wins, losses) + 1):
        tail += term
        term = term * (m - k) // (k + 1)
    return float(min(1.0, 2 * tail / 2**m))


def tango(wins: int, losses: int, n: int, level: float = 0.95) -> Interval:
    """The score interval of the difference of two accuracies on the same `n` items.

    Tango 1998, "Equivalence test and confidence interval for the difference in proportions for the paired-sample
    design". Never empty, never outside -1 to 1, and right to use where nothing differs. Raises
    InputError for impossible counts.
    """
    _check(wins, losses, n)
    z = normal_quantile(level)
    value = (wins - losses) / n

    def inside(difference: float) -> bool:
        return abs(tango_z(wins, losses, n, difference)) <= z

    return edge(inside, value, -1.0), edge(inside, value, 1.0)


def tango_z(wins: int, losses: int, n: int, difference: float) -> float:
    """How many standard errors the observed difference lies above a true one of `difference`: Tango 1998.

    Raises InputError for impossible counts.
    """
    _check(wins, losses, n)
    above = wins - losses - n * difference
    if above == 0:
        return 0.0
    # The share of losses that is most likely if the true difference is this one: the root of a quadratic.
    b = -(wins + losses) + (2 * n - wins + losses) * difference
    c = -losses * difference * (1 - difference)
    share = (math.sqrt(max(0.0, b * b - 8 * n * c)) - b) / (4 * n)
    variance = n * (2 * share + difference * (1 - difference))
    return above / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, above)


def _check(wins: int, losses: int, n: int) -> None:
    if n < 1 or min(wins, losses) < 0 or wins + losses > n:
        raise InputError(f"{wins} wins and {losses} losses cannot be of {n} items")
