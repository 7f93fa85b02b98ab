"""Quantiles of a sample with an interval that assumes nothing about its shape."""

from __future__ import annotations

import math

import numpy as np

from measurand.core.errors import InputError
from measurand.stats.means import Array


def quantile_interval(values: Array, q: float, level: float = 0.95) -> tuple[float, float | None, float | None]:
    """The q-quantile of `values` [n], and two of its values between which the true one lies with probability `level`.

    How many values lie below the true quantile is binomial (n, q), whatever the distribution: Conover 1999, "Practical
    nonparametric statistics", section 3.2. An end is None where no value of the sample is far enough out; the
    95th percentile has an upper end from 72 values on. Raises InputError for no values or a q outside 0 to 1.
    """
    n = len(values)
    if not n or not 0 < q < 1:
        raise InputError(f"a quantile needs values and a share between 0 and 1, not {n} values and {q}")
    ordered = np.sort(values)
    below = _binomial_cdf(n, q)
    tail = (1 - level) / 2
    low = int(np.searchsorted(below, tail, side="right"))  # the largest rank that the quantile is above
    high = int(np.searchsorted(below, 1 - tail)) + 1
    return (
        float(np.quantile(ordered, q, method="inverted_cdf")),
        float(ordered[low - 1]) if low >= 1 else None,
        float(ordered[high - 1]) if high <= n else None,
    )


def items_for_upper_end(q: float, level: float = 0.95) -> int:
    """The fewest values from which the q-quantile has an upper end."""
    return math.ceil(math.log((1 - level) / 2) / math.log(q))


def _binomial_cdf(n: int, q: float) -> Array:
    """P(X <= k) for k from 0 to n - 1, summed from logarithms so that no term overflows."""
    k = np.arange(n + 1)
    logs = np.array([math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in range(n + 1)])
    return np.asarray(np.cumsum(np.exp(logs + k * math.log(q) + (n - k) * math.log1p(-q)))[:-1])
