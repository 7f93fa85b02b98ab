"""Rates corrected for the errors of the judge that counted them.

A judge that is right nine times in ten does not say "90 %" of everything: it moves every rate towards its own. Two ways
back, both from a sample that people have labelled too:

- *Rogan-Gladen* needs counts only: the rate that the judge found, and its sensitivity and specificity on the sample;
- *prediction-powered* means need the judge's and the people's scores item by item, of any kind (grades too), and hold
  even where the judge's errors depend on the item, as long as the labelled items are a random part.

A judge may be kinder to one subject than to another, and then a correction from all subjects' labels together favours
that subject. So correct each subject by labels of its own, unless `alike` finds no difference and there are too few.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from measurand.core.errors import InputError
from measurand.core.estimate import Estimate
from measurand.stats.intervals import Interval, normal_quantile, student
from measurand.stats.means import Array

LEAST = 1.05
"""Sensitivity + specificity at or below this: the judge hardly tells right from wrong, and nothing can be corrected."""
DRAWS = 4_000


@dataclass(frozen=True, slots=True)
class Confusion:
    """How a judge's verdicts fell against people's, in counts: people said yes to `tp` + `fn`, no to `tn` + `fp`."""

    tp: int
    fn: int
    tn: int
    fp: int

    def __add__(self, other: Confusion) -> Confusion:
        """Both samples together."""
        return Confusion(self.tp + other.tp, self.fn + other.fn, self.tn + other.tn, self.fp + other.fp)

    @property
    def sensitivity(self) -> float:
        """The share of true positives that the judge finds; NaN where there are none."""
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else math.nan

    @property
    def specificity(self) -> float:
        """The share of true negatives that the judge lets be; NaN where there are none."""
        return self.tn / (self.tn + self.fp) if self.tn + self.fp else math.nan


def corrected_rate(
    positive: int,
    n: int,
    judge: Confusion,
    *,
    by: Literal["bootstrap", "delta"] = "bootstrap",
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """The true rate behind `positive` of `n` verdicts: (rate + specificity - 1) / (sensitivity + specificity - 1).

    Rogan and Gladen 1978, "Estimating prevalence from the results of a screening test", equation 1, within 0 to 1. The
    labelled sample is another than the `n` verdicts. The interval holds the luck of all three counts: `bootstrap` draws
    them from their Jeffreys posteriors and takes percentiles; `delta` is Lang and Reiczigel 2014, "Confidence limits
    for prevalence of disease adjusted for estimated sensitivity and specificity", section 2.2, which is wider for few
    labels. No number, with the reason, where sensitivity + specificity is at most 1.05 or people gave one label only.
    Raises InputError for impossible counts.
    """
    if not 0 <= positive <= n or n < 1 or min(judge.tp, judge.fn, judge.tn, judge.fp) < 0:
        raise InputError(f"{positive} of {n} verdicts with {judge} are not counts of a judge")
    total = judge.sensitivity + judge.specificity
    if math.isnan(total):
        lacking = "yes" if math.isnan(judge.sensitivity) else "no"
        return _rate(None, None, f"cannot be corrected: people's labels hold no {lacking}", n, level)
    if total <= LEAST:
        why = (
            f"cannot be corrected: sensitivity {judge.sensitivity:.2f} + specificity {judge.specificity:.2f} "
            f"is {total:.2f}, at most {LEAST}: the judge hardly tells the two apart"
        )
        return _rate(None, None, why, n, level)
    value = min(1.0, max(0.0, (positive / n + judge.specificity - 1) / (total - 1)))
    if by == "delta":
        return _rate(value, _lang_reiczigel(positive, n, judge, level), "Rogan-Gladen, Lang-Reiczigel", n, level)
    return _rate(value, _drawn(positive, n, judge, level, seed), "Rogan-Gladen, Jeffreys bootstrap", n, level)


def corrected_rates(
    verdicts: Mapping[str, tuple[int, int]],
    judged: Mapping[str, Confusion],
    *,
    pooled: bool = False,
    level: float = 0.95,
) -> dict[str, Estimate]:
    """The corrected rate of each subject, from its (positive, n) and its own labels, or from all labels together.

    `pooled` assumes that the judge errs alike on all subjects; the method says so. Raises InputError for a subject
    without labels.
    """
    if lacking := sorted(verdicts.keys() - judged.keys()) if not pooled else []:
        raise InputError(f"no labels of people for {', '.join(lacking)}: label some of its answers, or pool")
    whole = sum(judged.values(), Confusion(0, 0, 0, 0))
    made = {}
    for subject, (positive, n) in verdicts.items():
        one = corrected_rate(positive, n, whole if pooled else judged[subject], level=level)
        how = "labels of all subjects" if pooled else "labels of its own"
        made[subject] = _rate(one.value, _ends(one), f"{one.method}; {how}", n, level)
    return made


def alike(judged: Mapping[str, Confusion]) -> float:
    """The p-value of the judge erring alike on all subjects: small where a pooled correction would favour some.

    Fisher's method of adding -2 log p over two tests of homogeneity (chi-square), of the sensitivities and of the
    specificities, which rest on different answers and so are independent. NaN for fewer than two subjects.
    """
    from scipy.stats import chi2, chi2_contingency

    found = []
    for hits, misses in (("tp", "fn"), ("tn", "fp")):
        table = np.array([(getattr(one, hits), getattr(one, misses)) for one in judged.values()])
        table = table[table.sum(axis=1) > 0]
        if len(table) > 1:
            # No error at all, or nothing else, is alike everywhere.
            found.append(float(chi2_contingency(table, correction=False).pvalue) if table.sum(axis=0).all() else 1.0)
    return float(chi2.sf(-2 * np.log(found).sum(), 2 * len(found))) if found else math.nan


def prediction_powered(
    labels: Array, judged: Array, unlabelled: Array, *, tuned: bool = True, level: float = 0.95
) -> Estimate:
    """The mean of people's scores, from `labels` [n] of a random part and the judge's scores of everything.

    `judged` [n] are the judge's scores of the labelled items, `unlabelled` [N] those of the others:

        value = mean(unlabelled) x w + mean(labels - w judged)

    with w = 1 in Angelopoulos et al. 2023, "Prediction-powered inference", section 3.1. `tuned` takes the w between 0
    and 1 that makes the error smallest: Angelopoulos, Duchi and Zrnic 2023, "PPI++", section 6.1; then a useless judge
    (w = 0) costs nothing. Student's t on n - 1 degrees of freedom. Raises InputError for shapes that do not match.
    """
    if labels.shape != judged.shape or labels.ndim != 1 or unlabelled.ndim != 1 or not len(unlabelled):
        raise InputError(
            "prediction-powered means need people's and the judge's scores of the same items, and the judge's of "
            f"others, not the shapes {labels.shape}, {judged.shape} and {unlabelled.shape}"
        )
    n, others = len(labels), len(unlabelled)
    if n < 2:  # noqa: PLR2004 -- one label shows no spread
        return _rate(None, None, "none: fewer than two labels", n, level)
    weight = _tuned(labels, judged, unlabelled) if tuned else 1.0
    rest = labels - weight * judged
    value = float(weight * unlabelled.mean() + rest.mean())
    error = math.sqrt(weight**2 * float(unlabelled.var(ddof=1 if others > 1 else 0)) / others + rest.var(ddof=1) / n)
    method = f"prediction-powered ({'tuned ' if tuned else ''}weight {weight:.2f}, {n} labels), Student's t"
    unit = "" if np.isin(labels, (0.0, 1.0)).all() else "score"
    return Estimate(
        "mean", value, *student(value, error, n - 1, level), level, method, n + others, n + others, unit=unit
    )


def _tuned(labels: Array, judged: Array, unlabelled: Array) -> float:
    """PPI++, equation 9 for a mean: cov(labels, judged) / ((1 + n / N) var(judge's scores)), within 0 to 1."""
    spread = float(np.concatenate((judged, unlabelled)).var(ddof=1))
    if not spread:
        return 0.0
    together = float(np.mean((labels - labels.mean()) * (judged - judged.mean())))
    return min(1.0, max(0.0, together / ((1 + len(labels) / len(unlabelled)) * spread)))


def _drawn(positive: int, n: int, judge: Confusion, level: float, seed: int) -> Interval:
    rng = np.random.default_rng(seed)
    pairs = ((positive, n - positive), (judge.tp, judge.fn), (judge.tn, judge.fp))
    rate, sensitivity, specificity = (rng.beta(yes + 0.5, no + 0.5, DRAWS) for yes, no in pairs)
    draws = np.clip((rate + specificity - 1) / (sensitivity + specificity - 1), 0, 1)
    low, high = np.quantile(draws, ((1 - level) / 2, (1 + level) / 2))
    return float(low), float(high)


def _lang_reiczigel(positive: int, n: int, judge: Confusion, level: float) -> Interval:
    z = normal_quantile(level)
    total, yes, no = n + z * z, judge.tp + judge.fn + 2, judge.tn + judge.fp + 2
    rate, sensitivity, specificity = (positive + z * z / 2) / total, (judge.tp + 1) / yes, (judge.tn + 1) / no
    scale = max(sensitivity + specificity - 1, 1e-9)
    value = min(1.0, max(0.0, (rate + specificity - 1) / scale))
    of_yes, of_no = sensitivity * (1 - sensitivity) / yes, specificity * (1 - specificity) / no
    shift = 2 * z * z * (value * of_yes - (1 - value) * of_no)
    error = math.sqrt(rate * (1 - rate) / total + value**2 * of_yes + (1 - value) ** 2 * of_no) / scale
    return min(1.0, max(0.0, value + shift - z * error)), min(1.0, max(0.0, value + shift + z * error))


def _ends(one: Estimate) -> Interval | None:
    return None if one.low is None or one.high is None else (one.low, one.high)


def _rate(value: float | None, interval: Interval | None, method: str, n: int, level: float) -> Estimate:
    low, high = interval or (None, None)
    return Estimate("corrected rate", value, low, high, level, method, n_items=n, n_trials=n)
