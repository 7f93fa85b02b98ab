"""Calibration with its errors: the reliability curve, the calibration errors, and selective accuracy.

The plain ECE of few items is mostly noise: a perfectly calibrated subject with 100 answers in ten bins shows about
0.09. So the ECE comes with what perfect calibration would show (`floor`), and the error that has an interval is the
root mean square one, of which the bias is known and taken off.

Items in clusters stray together. Their design effect, measured on the gaps of confidence and correctness, multiplies
the variance that chance is held to make: a correction to the first order, as in Rao and Scott 1992.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from measurand.core.estimate import Estimate
from measurand.core.findings import Bin
from measurand.stats.confidence import Array, Binning, Gaps, ece, equal_width, gaps
from measurand.stats.estimate import estimate
from measurand.stats.intervals import Interval
from measurand.stats.means import Labels
from measurand.stats.metrics import ACCURACY, BRIER, LOG_LOSS
from measurand.stats.samples import measured_effect

SIMULATED = 1_000
CELLS = 20_000_000
"""Simulated answers in all; more items get fewer simulations, down to FEWEST."""
FEWEST = 100
DEBIASED = "rms_calibration_error_debiased"


@dataclass(frozen=True, slots=True)
class Floor:
    """What a perfectly calibrated subject of the same confidences would show.

    `mean` is its ECE on average, `high` the value that it exceeds once in twenty times, and `p` the share of the
    simulations at or above the ECE that was observed: small where miscalibration is beyond chance.
    """

    mean: float
    high: float
    p: float


def reliability_curve(
    confidence: Array,
    correct: Array,
    binning: Binning | None = None,
    level: float = 0.95,
    clusters: Labels | None = None,
) -> tuple[Bin, ...]:
    """The bins that hold something, with the share correct and its interval: Wilson's, or by `clusters` [n].

    Pairs with a NaN are left out.

    DeGroot and Fienberg 1983, "The comparison and evaluation of forecasters", section 3.
    """
    confidence, correct, clusters = _measured(confidence, correct, clusters)
    bins = (binning or equal_width())(confidence)
    members = [bins == bin_ for bin_ in np.unique(bins)]
    return tuple(
        Bin(
            float(confidence[who].mean()),
            estimate(correct[who], ACCURACY, clusters=None if clusters is None else clusters[who], level=level),
        )
        for who in members
    )


def calibration_errors(
    confidence: Array,
    correct: Array,
    binning: Binning | None = None,
    level: float = 0.95,
    clusters: Labels | None = None,
) -> tuple[Estimate, ...]:
    """ECE, RMS calibration error, Brier score and log loss of one subject, each with its interval or why it has none.

    `confidence` and `correct` are [n], NaN where a trial has none; such pairs are counted as missing. `clusters` [n]
    labels the items that belong together.
    """
    stated, right, clusters = _measured(confidence, correct, clusters)
    missing = len(confidence) - len(stated)
    if not len(stated):
        names = ("ece", DEBIASED, "brier", "log_loss")
        nothing = estimate(np.full(len(confidence), math.nan), ACCURACY, level=level)
        return tuple(msgspec.structs.replace(nothing, metric=name, bounds=None) for name in names)
    design = 1.0 if clusters is None else measured_effect(right - stated, clusters)
    table = np.column_stack((stated, right))
    made = (
        ece_estimate(stated, right, binning, level, design),
        rms_estimate(stated, right, binning, level, design),
        *(estimate(table, metric, clusters=clusters, level=level) for metric in (BRIER, LOG_LOSS)),
    )
    return tuple(msgspec.structs.replace(one, n_missing=missing) for one in made)


def ece_estimate(
    confidence: Array, correct: Array, binning: Binning | None = None, level: float = 0.95, design: float = 1.0
) -> Estimate:
    """The ECE, with what perfect calibration would show in place of an interval.

    The bootstrap is no help: its draws have the bias of the number once more, and their interval misses a true error
    of 0 to 0.05 nearly always below 500 items. `design` is the effect of clusters.
    """
    binning = binning or equal_width()
    under = floor(confidence, correct, binning, design=design)
    method = (
        f"none: an ECE has bias; perfect calibration would show {under.mean:.3f} on average, "
        f"{under.high:.3f} at most 19 times in 20 (p = {under.p:.2g}){_clustered(design)}"
    )
    return _number("ece", ece(confidence, correct, binning), None, method, (len(confidence), level))


def rms_estimate(
    confidence: Array, correct: Array, binning: Binning | None = None, level: float = 0.95, design: float = 1.0
) -> Estimate:
    """The RMS calibration error without its bias, and its interval.

    Each bin's squared gap exceeds its true one by the gap's variance on average, which is taken off: Kumar, Liang and
    Ma 2019, "Verified uncertainty calibration", section 4. The weighted sum of squared gaps is close to a multiple of
    a noncentral chi-square variable of the same mean and variance (Satterthwaite 1946, with the gaps' share of both),
    whose noncentrality is the error; the interval holds those that the sum does not contradict. `design` is the
    effect of clusters.
    """
    found = gaps(confidence, correct, binning or equal_width())
    found = replace(found, n=found.n / design, variance=found.variance * design)
    value = math.sqrt(max(0.0, float(found.share @ (found.gap**2 - found.variance))))
    interval = _noncentral(found, level)
    return _number(DEBIASED, value, interval, f"noncentral chi-square{_clustered(design)}", (len(confidence), level))


def floor(
    confidence: Array, correct: Array, binning: Binning | None = None, *, design: float = 1.0, seed: int = 0
) -> Floor:
    """The ECE that perfect calibration would show, by simulation: right with the stated confidence.

    Its variance is multiplied by `design`, the effect of clusters.

    Bröcker and Smith 2007, "Increasing the reliability of reliability diagrams", section 3.
    """
    binning = binning or equal_width()
    observed = ece(confidence, correct, binning)
    bins = np.unique(binning(confidence), return_inverse=True)[1]
    inside = np.zeros((len(confidence), int(bins.max()) + 1))
    inside[np.arange(len(confidence)), bins] = 1 / len(confidence)
    rng = np.random.default_rng(seed)
    draws = min(SIMULATED, max(FEWEST, CELLS // len(confidence)))
    found = np.array(
        [np.abs(((rng.random(len(confidence)) < confidence) - confidence) @ inside).sum() for _ in range(draws)]
    )
    found *= math.sqrt(design)
    p = (1 + int((found >= observed - 1e-12).sum())) / (1 + draws)
    return Floor(float(found.mean()), float(np.quantile(found, 0.95)), p)


def selective_accuracy(
    confidence: Array, correct: Array, coverage: float, level: float = 0.95, clusters: Labels | None = None
) -> Estimate:
    """The accuracy on the most confident answers, at least a share `coverage`: Wilson's interval, or by `clusters` [n].

    Answers as confident as the last one taken are taken too, so `n_items` may be more than was asked for.
    """
    confidence, correct, clusters = _measured(confidence, correct, clusters)
    needed = max(1, math.ceil(coverage * len(confidence) - 1e-9))
    threshold = np.sort(confidence)[::-1][needed - 1] if len(confidence) else 0.0
    who = confidence >= threshold
    made = estimate(correct[who], ACCURACY, clusters=None if clusters is None else clusters[who], level=level)
    return msgspec.structs.replace(made, metric=f"accuracy at {100 * coverage:g} % coverage")


def _measured(confidence: Array, correct: Array, clusters: Labels | None) -> tuple[Array, Array, Labels | None]:
    known = ~(np.isnan(confidence) | np.isnan(correct))
    return confidence[known], correct[known], None if clusters is None else clusters[known]


def _clustered(design: float) -> str:
    return f", by a design effect of {design:.2f}" if design > 1 else ""


def _noncentral(found: Gaps, level: float) -> Interval:
    """The RMS errors under which the observed sum of squared gaps is neither too small nor too large."""
    from scipy.special import chndtr, chndtrinc

    # How many items fall into a bin varies too, which moves the sum by the gap's square.
    parts = found.share * (found.variance + found.gap**2 / (4 * found.n))
    signal = found.share * np.maximum(0.0, found.gap**2 - found.variance)
    scale = float((np.square(parts) + 2 * parts * signal).sum() / (parts + 2 * signal).sum())
    df = float(parts.sum()) / scale
    seen, tail = float(found.share @ found.gap**2) / scale, (1 - level) / 2
    low = 0.0 if chndtr(seen, df, 0.0) < 1 - tail else float(chndtrinc(seen, df, 1 - tail))
    high = 0.0 if chndtr(seen, df, 0.0) < tail else float(chndtrinc(seen, df, tail))
    # Gaps smaller than chance would make them are no proof of a perfect calibration.
    return math.sqrt(low * scale), min(1.0, math.sqrt(max(high, df) * scale))


def _number(name: str, value: float, interval: Interval | None, method: str, size: tuple[int, float]) -> Estimate:
    (n, level), (low, high) = size, interval or (None, None)
    return Estimate(name, value, low, high, level, method, n_items=n, n_trials=n, unit="score")
