"""Confidence intervals from a mean and its error. Every function returns (low, high)."""

from __future__ import annotations

import math
from statistics import NormalDist

from measurand.core.errors import InputError

Interval = tuple[float, float]


def wilson(rate: float, n: int, level: float = 0.95) -> Interval:
    """The score interval of a proportion `rate` of `n` independent units; never empty, never outside 0 to 1.

    Wilson 1927, "Probable inference, the law of succession, and statistical inference"; Brown, Cai and DasGupta 2001,
    equation 4. Raises InputError for no units or a rate outside 0 to 1.
    """
    if n < 1 or not 0 <= rate <= 1:
        raise InputError(f"a proportion needs at least one unit and a rate in 0 to 1, not {rate} of {n}")
    z2 = normal_quantile(level) ** 2
    centre = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2) / (1 + z2 / n) * math.sqrt(rate * (1 - rate) / n + z2 / (4 * n * n))
    low = 0.0 if rate == 0 else max(0.0, centre - half)
    high = 1.0 if rate == 1 else min(1.0, centre + half)
    return low, high


def clopper_pearson(successes: int, n: int, level: float = 0.95) -> Interval:
    """The exact interval of a binomial proportion: covers at least `level`, whatever the true rate.

    Clopper and Pearson 1934. Raises InputError for impossible counts.
    """
    if n < 1 or not 0 <= successes <= n:
        raise InputError(f"{successes} successes of {n} is not a proportion")
    from scipy.special import betaincinv

    tail = (1 - _level(level)) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes == n else float(betaincinv(successes + 1, n - successes, 1 - tail))
    return low, high


def student(value: float, error: float, df: float, level: float = 0.95) -> Interval:
    """The interval of a mean with standard error `error` on `df` degrees of freedom."""
    half = student_quantile(level, df) * error
    return value - half, value + half


def normal_quantile(level: float) -> float:
    """The z within which a standard normal variable lies with probability `level`: 1.96 for 0.95."""
    return NormalDist().inv_cdf((1 + _level(level)) / 2)


def student_quantile(level: float, df: float) -> float:
    """The t within which a Student variable lies with probability `level`.

    Exact for 1 and 2 degrees of freedom; otherwise Hill 1970, "Algorithm 396: Student's t-quantiles", which
    is good to six digits and spares the import of scipy. Raises InputError below one degree of freedom.
    """
    if df < 1:
        raise InputError(f"Student's t needs at least one degree of freedom, not {df}")
    tails = 1 - _level(level)
    if df == 1:
        return 1 / math.tan(tails * math.pi / 2)
    if df == 2:  # noqa: PLR2004 -- the other case with a closed form
        return math.sqrt(2 / (tails * (2 - tails)) - 2)
    a = 1 / (df - 0.5)
    b = 48 / (a * a)
    c = ((20700 * a / b - 98) * a - 16) * a + 96.36
    d = ((94.5 / (b + c) - 3) / b + 1) * math.sqrt(a * math.pi / 2) * df
    y = (d * tails) ** (2 / df)
    if y > 0.05 + a:
        x = -NormalDist().inv_cdf(1 - tails / 2)
        y = x * x
        if df < 5:  # noqa: PLR2004 -- Hill's own bound
            c += 0.3 * (df - 4.5) * (x + 0.6)
        c = (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b + c
        y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x
        y = math.expm1(a * y * y)
    else:
        y = ((1 / (((df + 6) / (df * y) - 0.089 * d - 0.822) * (df + 2) * 3) + 0.5 / (df + 4)) * y - 1) * (
            (df + 1) / (df + 2)
        ) + 1 / y
    return math.sqrt(df * y)


def combined(values: list[float], intervals: list[Interval], weights: list[float]) -> Interval:
    """The interval of a weighted sum of independent numbers that have intervals of their own.

    The method of variance estimates recovery: Zou and Donner 2008, "Construction of confidence limits about effect
    measures", equation 3. Unlike an error from sample variances it stays honest where a group is all right or all
    wrong, or holds one item.
    """
    centre = sum(w * v for w, v in zip(weights, values, strict=True))
    below = sum((w * (v - low)) ** 2 for w, v, (low, _) in zip(weights, values, intervals, strict=True))
    above = sum((w * (high - v)) ** 2 for w, v, (_, high) in zip(weights, values, intervals, strict=True))
    return centre - math.sqrt(below), centre + math.sqrt(above)


def _level(level: float) -> float:
    if not 0 < level < 1:
        raise InputError(f"a confidence level lies between 0 and 1, not {level}")
    return level
