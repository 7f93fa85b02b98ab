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
from measurand.stats.estimate import ROUNDING, estimate
from measurand.stats.intervals import Interval, normal_quantile, student
from measurand.stats.means import Array
from measurand.stats.metrics import MEAN

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
    design: float = 1.0,
) -> Estimate:
    """The true rate behind `positive` of `n` verdicts: (rate + specificity - 1) / (sensitivity + specificity - 1).

    Rogan and Gladen 1978, "Estimating prevalence from the results of a screening test", equation 1, within 0 to 1. The
    labelled sample is another than the `n` verdicts. The interval holds the luck of all three counts: `bootstrap` draws
    them from their Jeffreys posteriors and takes percentiles; `delta` is Lang and Reiczigel 2014, "Confidence limits
    for prevalence of disease adjusted for estimated sensitivity and specificity", section 2.2, which is wider for few
    labels. Answers in clusters have a `design` effect above 1 (`samples.measured_effect`), by which all counts that
    the interval rests on are divided: Rao and Scott 1992, "A simple method for the analysis of clustered binary data".
    No number, with the reason, where sensitivity + specificity is at most 1.05 or people gave one label only. Raises
    InputError for impossible counts.
    """
    if not 0 <= positive <= n or n < 1 or min(judge.tp, judge.fn, judge.tn, judge.fp) < 0 or design < 1:
        raise InputError(
            f"{positive} of {n} verdicts, {judge} and a design effect of {design:g} are not counts of a judge"
        )
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
    find, how = (_lang_reiczigel, "Lang-Reiczigel") if by == "delta" else (_drawn, "Jeffreys bootstrap")
    counts = np.array([(positive, n - positive), (judge.tp, judge.fn), (judge.tn, judge.fp)])
    interval = find(counts / design, level)
    clustered = f", counts divided by a design effect of {design:.2f}" if design > 1 else ""
    return _rate(value, interval, f"Rogan-Gladen, {how}{clustered}", n, level)


def corrected_rates(
    verdicts: Mapping[str, tuple[int, int]],
    judged: Mapping[str, Confusion],
    *,
    pooled: bool = False,
    level: float = 0.95,
    design: float = 1.0,
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
        one = corrected_rate(positive, n, whole if pooled else judged[subject], level=level, design=design)
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
        why = f"cannot be corrected: people labelled {n} of the answers, and two are the least"
        return Estimate("mean", None, None, None, level, why, n + others, n + others)
    weight = _tuned(labels, judged, unlabelled) if tuned else 1.0
    rest = labels - weight * judged
    value = float(weight * unlabelled.mean() + rest.mean())
    error = math.sqrt(weight**2 * float(unlabelled.var(ddof=1 if others > 1 else 0)) / others + rest.var(ddof=1) / n)
    method = f"prediction-powered ({'tuned ' if tuned else ''}weight {weight:.2f}, {n} labels), Student's t"
    low, high = student(value, error, n - 1, level) if np.ptp(rest) > ROUNDING * np.abs(labels).max() else (None, None)
    if low is None:
        method = f"none: nothing spreads between the judge and people on the {n} labelled answers"
    unit = "" if np.isin(labels, (0.0, 1.0)).all() else "score"
    return Estimate("mean", value, low, high, level, method, n + others, n + others, unit=unit)


@dataclass(frozen=True, slots=True)
class Graded:
    """The answers of one subject: people's scores of a random part, `labels` [n], and the judge's of all.

    `judged` [n] are the judge's scores of the labelled answers, `unlabelled` [N] those of the others.
    """

    labels: Array
    judged: Array
    unlabelled: Array


def prediction_powered_means(
    subjects: Mapping[str, Graded], *, tuned: bool = True, level: float = 0.95
) -> dict[str, Estimate]:
    """The prediction-powered mean of each subject, by labels of its own answers only.

    So a judge that is kinder to one of them favours nobody. No number, with the reason, for a subject with fewer than
    two labels; with labels of all answers it is their mean. Raises InputError as `prediction_powered`.
    """
    return {
        name: prediction_powered(one.labels, one.judged, one.unlabelled, tuned=tuned, level=level)
        if len(one.unlabelled)
        else estimate(one.labels, MEAN, level=level)
        for name, one in subjects.items()
    }


def _tuned(labels: Array, judged: Array, unlabelled: Array) -> float:
    """PPI++, equation 9 for a mean: cov(labels, judged) / ((1 + n / N) var(judge's scores)), within 0 to 1."""
    spread = float(np.concatenate((judged, unlabelled)).var(ddof=1))
    if not spread:
        return 0.0
    together = float(np.mean((labels - labels.mean()) * (judged - judged.mean())))
    return min(1.0, max(0.0, together / ((1 + len(labels) / len(unlabelled)) * spread)))


def _drawn(counts: Array, level: float) -> Interval:
    """By Jeffreys posteriors; `counts` are the verdicts' yes and no, then the judge's right and wrong on either."""
    rng = np.random.default_rng(0)
    rate, sensitivity, specificity = (rng.beta(yes + 0.5, no + 0.5, DRAWS) for yes, no in counts)
    draws = np.clip((rate + specificity - 1) / (sensitivity + specificity - 1), 0, 1)
    low, high = np.quantile(draws, ((1 - level) / 2, (1 + level) / 2))
    return float(low), float(high)


def _lang_reiczigel(counts: Array, level: float) -> Interval:
    z2 = normal_quantile(level) ** 2
    added = np.array((z2, 2.0, 2.0))
    sizes = counts.sum(axis=1) + added
    rate, sensitivity, specificity = ((counts[:, 0] + added / 2) / sizes).tolist()
    total, yes, no = sizes.tolist()
    scale = max(sensitivity + specificity - 1, 1e-9)
    value = min(1.0, max(0.0, (rate + specificity - 1) / scale))
    luck = sensitivity * (1 - sensitivity) / yes, specificity * (1 - specificity) / no
    shift = 2 * z2 * (value * luck[0] - (1 - value) * luck[1])
    error = math.sqrt(rate * (1 - rate) / total + value**2 * luck[0] + (1 - value) ** 2 * luck[1]) / scale
    half = math.sqrt(z2) * error
    return min(1.0, max(0.0, value + shift - half)), min(1.0, max(0.0, value + shift + half))


def _ends(one: Estimate) -> Interval | None:
    return None if one.low is None or one.high is None else (one.low, one.high)


def _rate(value: float | None, interval: Interval | None, method: str, n: int, level: float) -> Estimate:
    low, high = interval or (None, None)
    return Estimate("corrected rate", value, low, high, level, method, n_items=n, n_trials=n)
