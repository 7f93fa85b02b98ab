"""The smallest true difference that a plan would find, and the items that would find one: before anything is paid for.

Every function assumes a two-sided test at `alpha` (5 %) and finds the difference with probability `power`
(80 %). The defaults are the convention; a plan should say better ones where it can. Items of clusters count for
less: divide them by `design_effect` first.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from measurand.core.errors import InputError

ALPHA = 0.05
POWER = 0.8
ROUNDING = 1e-12


def detectable_unpaired(n: int, p: float = 0.5, *, alpha: float = ALPHA, power: float = POWER) -> float | None:
    """The difference of two accuracies around `p`, each measured on its own `n` items.

    (z_a + z_b) sqrt(2 p q / n): Miller 2024, equation 10, with the variance of two coins. None where no difference that
    is possible around `p` would be found.
    """
    _check(n, p)
    delta = detectable(math.sqrt(2 * p * (1 - p) / n), alpha=alpha, power=power)
    return delta if delta / 2 <= min(p, 1 - p) else None


def detectable_paired(n: int, discordance: float = 0.25, *, alpha: float = ALPHA, power: float = POWER) -> float | None:
    """The difference of two accuracies on the same `n` items, of which a share `discordance` comes out differently.

    Solves delta sqrt(n) = z_a sqrt(psi) + z_b sqrt(psi - delta^2): Connor 1987, "Sample size for testing
    differences in proportions for the paired-sample design", equation 1. The default discordance is that of
    two subjects of accuracy one half whose results correlate at one half. None where it is more than the
    discordance allows.
    """
    _check(n, discordance)
    delta = _solve(n, discordance, alpha, power)
    return delta if delta <= discordance else None


def detectable_single(n: int, threshold: float, *, alpha: float = ALPHA, power: float = POWER) -> float | None:
    """How far above `threshold` an accuracy on `n` items must truly lie to be shown to be above it.

    Solves delta sqrt(n) = z_a sqrt(p0 q0) + z_b sqrt(p1 q1) with p1 = p0 + delta: Fleiss, Levin and Paik 2003,
    "Statistical methods for rates and proportions", chapter 2. None where that would be beyond 1.
    """
    _check(n, threshold)
    z_a, z_b = _quantiles(alpha, power)
    base = z_a * math.sqrt(threshold * (1 - threshold))
    # Squaring gives a quadratic in delta, since p1 q1 = p0 q0 + delta (1 - 2 p0) - delta^2.
    a, b = n + z_b**2, -(2 * base * math.sqrt(n) + z_b**2 * (1 - 2 * threshold))
    c = base**2 - z_b**2 * threshold * (1 - threshold)
    delta = (math.sqrt(max(0.0, b * b - 4 * a * c)) - b) / (2 * a)
    return delta if 0 < delta <= 1 - threshold else None


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


def items_needed_unpaired(difference: float, p: float = 0.5, *, alpha: float = ALPHA, power: float = POWER) -> int:
    """The items that each of two subjects needs: the formula of `detectable_unpaired` solved for n.

    Raises InputError where no two accuracies around `p` differ so much.
    """
    if not 0 < difference / 2 <= min(p, 1 - p):
        raise InputError(f"two accuracies around {p} cannot differ by {difference}")
    return math.ceil(2 * p * (1 - p) * (sum(_quantiles(alpha, power)) / difference) ** 2)


def discordance(p_a: float, p_b: float, correlation: float) -> float:
    """The share of items that exactly one of two subjects gets right, from their accuracies and their correlation.

    p_a q_b + p_b q_a - 2 r sqrt(p_a q_a p_b q_b). Raises InputError for a correlation that the two cannot have.
    """
    for rate in (p_a, p_b):
        _check(1, rate)
    spread = math.sqrt(p_a * (1 - p_a) * p_b * (1 - p_b))
    both = p_a * p_b + correlation * spread
    if not max(0.0, p_a + p_b - 1) - ROUNDING <= both <= min(p_a, p_b) + ROUNDING:
        raise InputError(f"accuracies of {p_a} and {p_b} cannot correlate at {correlation}")
    return max(0.0, p_a + p_b - 2 * both)


def design_effect(size: float, correlation: float) -> float:
    """How many clustered items are worth one that stands alone: 1 + (size - 1) correlation.

    `size` is the mean number of items of a cluster, `correlation` that of two items of one (`samples.intraclass`).
    Kish 1965, "Survey sampling", section 5.4. Raises InputError for sizes below one.
    """
    if size < 1 or not -1 <= correlation <= 1:
        raise InputError(f"clusters hold at least one item and correlations lie within 1, not {size} and {correlation}")
    return max(0.0, 1 + (size - 1) * correlation)


def power_quantile(power: float = POWER) -> float:
    """The z that a chance of `power` to find something costs: 0.84 for 0.8."""
    return _quantiles(ALPHA, power)[1]


def _solve(n: int, variance: float, alpha: float, power: float) -> float:
    """The positive root of delta sqrt(n) = z_a sqrt(v) + z_b sqrt(v - delta^2); infinite where n is too small."""
    z_a, z_b = _quantiles(alpha, power)
    a = z_a * math.sqrt(variance)
    square = n + z_b**2
    discriminant = a * a * n - square * (a * a - z_b**2 * variance)
    return (a * math.sqrt(n) + math.sqrt(discriminant)) / square if discriminant >= 0 else math.inf


def _quantiles(alpha: float, power: float) -> tuple[float, float]:
    if not (0 < alpha < 1 and 0.5 <= power < 1):  # noqa: PLR2004 -- below one half a test is worse than a coin
        raise InputError(f"alpha lies between 0 and 1 and power between 0.5 and 1, not {alpha} and {power}")
    return NormalDist().inv_cdf(1 - alpha / 2), NormalDist().inv_cdf(power)


def _check(n: int, rate: float) -> None:
    if n < 1 or not 0 <= rate <= 1:
        raise InputError(f"power needs at least one item and a rate in 0 to 1, not {n} and {rate}")
