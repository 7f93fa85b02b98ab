"""Confidence intervals from a mean and its error. Every function returns (low, high)."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from measurand.core.errors import InputError

Interval = tuple[float, float]

NEWTON_STEPS = 50
HALVINGS = 60
NODES = 64
DIGITS = 1e-13


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
    """The t within which a Student variable lies with probability `level`: to ten digits up to level 0.99, no scipy.

    Newton's method on the angle t = sqrt(df) tan(angle). The probability within is concave in it, so starting
    below the root, at the normal's quantile, no step can pass it. Raises InputError below one degree of freedom.
    """
    if df < 1:
        raise InputError(f"Student's t needs at least one degree of freedom, not {df}")
    angle = math.atan(normal_quantile(level) / math.sqrt(df))
    for _ in range(NEWTON_STEPS):
        step = (level - _student_within(angle, df)) / float(_student_density(angle, df))
        angle += step
        if abs(step) <= DIGITS * angle:
            break
    return math.sqrt(df) * math.tan(angle)


def student_p(t: float, df: float) -> float:
    """The two-sided p-value of Student's t with `df` degrees of freedom."""
    from scipy.special import stdtr

    return float(2 * stdtr(df, -abs(t)))


def _student_within(angle: float, df: float) -> float:
    """The probability of |t| <= sqrt(df) tan(angle): the integral of a power of the cosine, by Gauss and Legendre."""
    nodes, weights = legendre(NODES)
    return float(weights @ _student_density(angle * (nodes + 1) / 2, df) * angle / 2)


def _student_density(angle: float | NDArray[np.float64], df: float) -> NDArray[np.float64]:
    """How fast the probability within grows with the angle."""
    return np.asarray(2 * _gamma_ratio(df / 2) / math.sqrt(math.pi) * np.cos(angle) ** (df - 1))


def _gamma_ratio(x: float) -> float:
    """Gamma(x + 1/2) / Gamma(x); for large x by Stirling's series, where the gammas themselves lose digits."""
    if x < 50:  # noqa: PLR2004 -- both ways agree to 13 digits here
        return math.exp(math.lgamma(x + 0.5) - math.lgamma(x))
    y = 1 / x
    return math.sqrt(x) * (1 + y * (-1 / 8 + y * (1 / 128 + y * (5 / 1024 + y * (-21 / 32768 - y * 399 / 262144)))))


@cache
def legendre(nodes: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Where to look at a function from -1 to 1 to integrate it, and with what weights: Gauss and Legendre."""
    at, weights = np.polynomial.legendre.leggauss(nodes)
    return at, weights


def edge(inside: Callable[[float], bool], start: float, end: float) -> float:
    """Where `inside` stops being true on the way from `start`, where it is, to `end`; by halving."""
    if inside(end):
        return end
    for _ in range(HALVINGS):
        middle = (start + end) / 2
        start, end = (middle, end) if inside(middle) else (start, middle)
    return start


def combined(values: list[float], intervals: list[Interval], weights: list[float]) -> Interval:
    """The interval of a weighted sum (weights may be negative) of independent numbers that have intervals of their own.

    The method of variance estimates recovery: Zou and Donner 2008, "Construction of confidence limits about effect
    measures", equation 3. Unlike an error from sample variances it stays honest where a group is all right or all
    wrong, or holds one item.
    """
    centre = sum(w * v for w, v in zip(weights, values, strict=True))
    below = above = 0.0
    for weight, value, (low, high) in zip(weights, values, intervals, strict=True):
        ends = sorted((weight * (low - value), weight * (high - value)))
        below, above = below + ends[0] ** 2, above + ends[1] ** 2
    return centre - math.sqrt(below), centre + math.sqrt(above)


def _level(level: float) -> float:
    if not 0 < level < 1:
        raise InputError(f"a confidence level lies between 0 and 1, not {level}")
    return level
