"""A rate over time: is it still the same, and if not, since when?

Three tools for counts `right` of `n` in each period (a week, a release), both [periods]:

- `change_point` looks back over a series and finds where it broke, if it did. It needs no target;
- `cusum` watches a series as it grows against a known rate, and says at which period it would have raised the alarm;
- `p_chart` draws the limits within which single periods lie. It sees jumps, not slow drifts.

Each states how often it cries wolf over the whole series. Items of one period are taken as independent draws: answers
in clusters (of one user, one document) cry wolf more often, so count clusters, not answers. A fixed test set that is
asked again each week is no independent draw either, and is better compared in pairs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import msgspec
import numpy as np

from measurand.core.errors import InputError
from measurand.core.estimate import Estimate
from measurand.stats.estimate import estimate
from measurand.stats.means import Array
from measurand.stats.metrics import ACCURACY

SIMULATED = 2_000


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """Where a rate most likely changed: the first period after it, by index; the rates on both sides; and a p-value.

    `found` says whether the p-value is at most the stated chance of a false alarm. `since` holds the first and last
    period at which the change may have come (those almost as likely).
    """

    at: int
    since: tuple[int, int]
    before: Estimate
    after: Estimate
    p: float
    found: bool


def change_point(right: Array, n: Array, *, false_alarm: float = 0.05, seed: int = 0) -> ChangePoint:
    """The split of the series that fits best, by its likelihood ratio, and whether chance explains it.

    Hinkley and Hinkley 1970, "Inference about the change-point in a sequence of binomial variables", section 2. Under
    no change the counts, given their sum, are a multivariate hypergeometric draw whatever the rate, so the p-value is
    that of a permutation test: simulated, and exact in level. Raises InputError for fewer than two periods or
    impossible counts.
    """
    right, n = _counts(right, n, 2)
    ratios = _ratios(right[None], n)[0]
    best = int(ratios.argmax())
    rng = np.random.default_rng(seed)
    drawn = rng.multivariate_hypergeometric(n.astype(np.int64), int(right.sum()), size=SIMULATED, method="marginals")
    p = (1 + int((_ratios(drawn.astype(np.float64), n).max(axis=1) >= ratios[best] - 1e-9).sum())) / (1 + SIMULATED)
    # Within 1.92 of the best log-likelihood: the chi-square interval of a parameter, as a guide.
    close = np.flatnonzero(ratios >= ratios[best] - 3.84) + 1
    sides = (slice(0, best + 1), slice(best + 1, None))
    before, after = (_rate(right[side].sum(), n[side].sum()) for side in sides)
    return ChangePoint(best + 1, (int(close[0]), int(close[-1])), before, after, p, p <= false_alarm)


@dataclass(frozen=True, slots=True)
class Cusum:
    """The two sums by period, the threshold, and the first period (by index) at which either passes it; None if none.

    `false_alarm` is the chance that an unchanged rate would have raised any alarm within these periods.
    """

    falls: Array
    rises: Array
    threshold: float
    alarm: int | None
    false_alarm: float


def cusum(right: Array, n: Array, rate: float, shift: float, *, false_alarm: float = 0.05, seed: int = 0) -> Cusum:
    """Watch for a change of a known `rate` by `shift` up or down, with a stated chance of a false alarm in the series.

    Page 1954, "Continuous inspection schemes"; the sums are of the log-likelihood ratios of the shifted rate against
    the known one, kept at 0 or above (Lucas 1985, "Counted data CUSUM's"). The threshold is found by simulating the
    whole series at the known rate. A rate that is itself estimated from few items raises more alarms than stated: use
    `change_point`, which needs none. Raises InputError where the shifted rates are not between 0 and 1.
    """
    right, n = _counts(right, n, 1)
    low, high = rate - shift, rate + shift
    if not (shift > 0 and low > 0 and high < 1):
        raise InputError(f"a rate of {rate} that moves by {shift} must stay between 0 and 1: give a smaller shift")
    rng = np.random.default_rng(seed)
    drawn = rng.binomial(n.astype(np.int64), rate, size=(SIMULATED, len(n))).astype(np.float64)
    highest = np.maximum(*(_sums(drawn, n, rate, to).max(axis=1) for to in (low, high)))
    threshold = float(np.quantile(highest, 1 - false_alarm, method="higher"))
    falls, rises = (_sums(right[None], n, rate, to)[0] for to in (low, high))
    passed = np.flatnonzero(np.maximum(falls, rises) > threshold)
    return Cusum(falls, rises, threshold, int(passed[0]) if len(passed) else None, false_alarm)


@dataclass(frozen=True, slots=True)
class Limits:
    """A control chart: the centre, the limits of each period, and the periods (by index) that lie outside."""

    centre: float
    low: Array
    high: Array
    outside: tuple[int, ...]
    false_alarm: float


def p_chart(right: Array, n: Array, *, centre: float | None = None, false_alarm: float = 0.05) -> Limits:
    """The limits of each period's rate around the centre: the known one, or that of the whole series.

    Shewhart 1931, "Economic control of quality of manufactured product", with exact binomial limits in place of three
    standard errors, which are far off for small periods or rates near 1. The chance of any period outside, if nothing
    changed, is at most `false_alarm`, shared equally by periods and sides.
    """
    from scipy.stats import binom

    right, n = _counts(right, n, 1)
    middle = float(right.sum() / n.sum()) if centre is None else centre
    if not 0 <= middle <= 1:
        raise InputError(f"a centre is a rate from 0 to 1, not {middle}")
    tail = false_alarm / (2 * len(n))
    low, high = binom.ppf(tail, n, middle), binom.isf(tail, n, middle)
    outside = np.flatnonzero((right < low) | (right > high))
    return Limits(middle, low / n, high / n, tuple(outside.tolist()), false_alarm)


def _counts(right: Array, n: Array, least: int) -> tuple[Array, Array]:
    right, n = np.asarray(right, dtype=np.float64), np.asarray(n, dtype=np.float64)
    fits = right.shape == n.shape and right.ndim == 1 and len(n) >= least
    if not fits or (n < 1).any() or (right < 0).any() or (right > n).any() or (right % 1).any() or (n % 1).any():
        raise InputError(
            f"a series needs whole counts, right of n with n of at least 1, for at least {least} of the periods"
        )
    return right, n


def _ratios(right: Array, n: Array) -> Array:
    """Twice the log-likelihood ratio of a change after each period but the last: `right` is [series, periods]."""
    seen, sizes = np.cumsum(right, axis=1), np.cumsum(n)
    whole = _fit(seen[:, -1:], sizes[-1])
    first, rest = _fit(seen[:, :-1], sizes[:-1]), _fit(seen[:, -1:] - seen[:, :-1], sizes[-1] - sizes[:-1])
    return np.asarray(2 * (first + rest - whole))


def _fit(right: Array, n: Array) -> Array:
    """The log-likelihood of counts at their own rate."""
    from scipy.special import xlogy

    return np.asarray(xlogy(right, right / n) + xlogy(n - right, 1 - right / n))


def _sums(right: Array, n: Array, rate: float, to: float) -> Array:
    """The CUSUM of each series [series, periods]: what speaks for the other rate, kept at 0 or above."""
    steps = right * math.log(to / rate) + (n - right) * math.log((1 - to) / (1 - rate))
    total, made = np.zeros(len(right)), []
    for step in steps.T:
        total = np.maximum(0.0, total + step)
        made.append(total)
    return np.stack(made, axis=1)


def _rate(right: float, n: float) -> Estimate:
    made = estimate(np.repeat([1.0, 0.0], [int(right), int(n - right)]), ACCURACY)
    return msgspec.structs.replace(made, method=f"{made.method}, answers taken as independent")
