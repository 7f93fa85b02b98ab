"""The smallest true difference that a plan would find: known before anything is paid for.

Every function assumes a two-sided test at `alpha` (5 %) and finds the difference with probability `power`
(80 %). The defaults are the convention; a plan should say better ones where it can.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from measurand.core.errors import InputError

ALPHA = 0.05
POWER = 0.8


def detectable_unpaired(n: int, p: float = 0.5, *, alpha: float = ALPHA, power: float = POWER) -> float | None:
    """The difference of two accuracies around `p`, each measured on its own `n` items.

    Solves delta sqrt(n) = z_a sqrt(2 p q) + z_b sqrt(p1 q1 + p2 q2) with p1, p2 = p -+ delta / 2: Fleiss,
    Levin and Paik 2003, "Statistical methods for rates and proportions", equation 4.14. None where no
    difference that is possible around `p` would be found.
    """
    _check(n, p)
    delta = _solve(n, 2 * p * (1 - p), 0.5, alpha, power)
    return delta if delta / 2 <= min(p, 1 - p) else None


def detectable_paired(n: int, discordance: float = 0.25, *, alpha: float = ALPHA, power: float = POWER) -> float | None:
    """The difference of two accuracies on the same `n` items, of which a share `discordance` comes out differently.

    Solves delta sqrt(n) = z_a sqrt(psi) + z_b sqrt(psi - delta^2): Connor 1987, "Sample size for testing
    differences in proportions for the paired-sample design", equation 1. The default discordance is that of
    two subjects of accuracy one half whose results correlate at one half. None where it is more than the
    discordance allows.
    """
    _check(n, discordance)
    delta = _solve(n, discordance, 1.0, alpha, power)
    return delta if delta <= discordance else None


def detectable(error: float, *, alpha: float = ALPHA, power: float = POWER) -> float:
    """The difference that would be found when differences have this standard error.

    Miller 2024, "Adding error bars to evals", equation 10: (z_a + z_b) times the error. For any metric, once the
    error is known.
    """
    z_a, z_b = _quantiles(alpha, power)
    return (z_a + z_b) * error


def items_needed(difference: float, discordance: float = 0.25, *, alpha: float = ALPHA, power: float = POWER) -> int:
    """The items that find a paired difference: Connor's formula solved for n. Raises InputError where impossible."""
    if not 0 < difference <= discordance:
        raise InputError(f"a paired difference of {difference} needs a discordance of at least that, not {discordance}")
    z_a, z_b = _quantiles(alpha, power)
    root = z_a * math.sqrt(discordance) + z_b * math.sqrt(discordance - difference**2)
    return math.ceil((root / difference) ** 2)


def _solve(n: int, variance: float, loss: float, alpha: float, power: float) -> float:
    """The positive root of delta sqrt(n) = z_a sqrt(v) + z_b sqrt(v - loss delta^2); infinite where n is too small."""
    z_a, z_b = _quantiles(alpha, power)
    a = z_a * math.sqrt(variance)
    square = n + loss * z_b**2
    discriminant = a * a * n - square * (a * a - z_b**2 * variance)
    return (a * math.sqrt(n) + math.sqrt(discriminant)) / square if discriminant >= 0 else math.inf


def _quantiles(alpha: float, power: float) -> tuple[float, float]:
    if not (0 < alpha < 1 and 0.5 <= power < 1):  # noqa: PLR2004 -- below one half a test is worse than a coin
        raise InputError(f"alpha lies between 0 and 1 and power between 0.5 and 1, not {alpha} and {power}")
    return NormalDist().inv_cdf(1 - alpha / 2), NormalDist().inv_cdf(power)


def _check(n: int, rate: float) -> None:
    if n < 1 or not 0 <= rate <= 1:
        raise InputError(f"power needs at least one item and a rate in 0 to 1, not {n} and {rate}")
