"""How far stated confidence can be believed: numbers from what a subject said (0 to 1) and whether it was right.

`confidence` and `correct` are [n], both complete; `correct` is 0 or 1 (a grade between them works where nothing else
is said). All numbers are the same in whatever order the items come: equal confidences are never torn apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from measurand.core.errors import InputError

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
Binning = Callable[[Array], Labels]
"""From confidences to the bin of each, numbered from 0 up in the order of confidence."""

BINS = 10
HLE_SIZE = 100
PER_CENT = 100.0
SUM = 1e-6
"""How far the probabilities of an item's options may be from adding up to 1."""
CLIP = float(np.finfo(np.float64).eps)


def confidences(values: Iterable[object], scale: Literal["auto", "per cent", "share"] = "auto") -> Array:
    """Stated confidences as shares of one, from numbers or texts; NaN where none can be read.

    "95%" is 0.95 on every scale. Without a sign, `auto` takes numbers up to 1 as shares and others as per cent, so a
    bare "1" is certainty; a protocol that asks for per cent should say so and pass it. Negative numbers, numbers over
    100 % and what is no number are NaN: they are to be counted as missing, not clipped.
    """
    return np.array([_confidence(value, scale) for value in values], dtype=np.float64)


def top_choice(probabilities: Array, gold: Labels) -> tuple[Array, Array]:
    """The confidence in the likeliest option of each item, and whether it is the gold one.

    `probabilities` [items, options] add up to 1 in each row, `gold` [items] counts from 0. Options that tie for the
    first place share the correctness. Raises InputError for anything else. Guo et al. 2017, section 2.
    """
    _checked_choices(probabilities, gold)
    confidence = probabilities.max(axis=1)
    leads = probabilities == confidence[:, None]
    return confidence, np.asarray(leads[np.arange(len(gold)), gold] / leads.sum(axis=1))


def brier_of_choices(probabilities: Array, gold: Labels) -> float:
    """Brier's original score, the squared error summed over all options: 0 to 2. Arguments as for `top_choice`.

    Brier 1950, equation 2. For two options it is twice `brier`.
    """
    _checked_choices(probabilities, gold)
    return float(np.mean(((probabilities - np.eye(probabilities.shape[1])[gold]) ** 2).sum(axis=1)))


def equal_width(bins: int = BINS) -> Binning:
    """Bins of one width over 0 to 1, closed above: 0.7 of ten bins is in (0.6, 0.7], and 0 is in the first."""
    edges = np.linspace(0, 1, bins + 1)[1:-1]
    return lambda confidence: np.searchsorted(edges, confidence).astype(np.int64)


def equal_mass(bins: int = BINS) -> Binning:
    """Bins between quantiles of the confidences, closed above; fewer where many confidences are equal."""
    shares = np.linspace(0, 100, bins + 1)[1:-1]
    return lambda confidence: np.searchsorted(np.percentile(confidence, shares), confidence).astype(np.int64)


def equal_count(size: int = HLE_SIZE) -> Binning:
    """Bins of `size` in the order of confidence, the last with what is left; equal confidences stay in the first."""

    def binning(confidence: Array) -> Labels:
        """The bin of the first place of each confidence."""
        return np.searchsorted(np.sort(confidence), confidence).astype(np.int64) // size

    return binning


@dataclass(frozen=True, slots=True)
class Gaps:
    """For each bin that holds something: its count, mean confidence, share correct, and their difference's variance."""

    n: Array
    confidence: Array
    correct: Array
    variance: Array

    @property
    def share(self) -> Array:
        """The bin's share of all items."""
        return np.asarray(self.n / self.n.sum())

    @property
    def gap(self) -> Array:
        """How far the share correct lies above the mean confidence."""
        return np.asarray(self.correct - self.confidence)


def gaps(confidence: Array, correct: Array, binning: Binning) -> Gaps:
    """The bins of a reliability curve, in the order of confidence. Raises InputError for what is no pair of columns.

    `variance` is p (1 - p) / n at p = (right + mean confidence) / (n + 1), at least half an answer from 0 and 1: so a
    bin of a few answers that are all right does not pass for certain.
    """
    checked(confidence, correct)
    bins = np.unique(binning(confidence), return_inverse=True)[1]
    n = np.bincount(bins).astype(np.float64)
    stated, right = np.bincount(bins, confidence) / n, np.bincount(bins, correct)
    p = np.clip((right + stated) / (n + 1), 0.5 / (n + 1), 1 - 0.5 / (n + 1))
    return Gaps(n, stated, right / n, p * (1 - p) / n)


def ece(confidence: Array, correct: Array, binning: Binning | None = None) -> float:
    """The expected calibration error: the mean of |share correct - mean confidence| over bins, weighted by their size.

    Naeini et al. 2015, "Obtaining well calibrated probabilities using Bayesian binning"; Guo et al. 2017, "On
    calibration of modern neural networks", equation 3. Ten bins of equal width by default. It is never below its true
    value on average, and far above it for few items: see `calibration.floor`.
    """
    found = gaps(confidence, correct, binning or equal_width())
    return float(found.share @ np.abs(found.gap))


def rms_calibration_error(confidence: Array, correct: Array, binning: Binning | None = None) -> float:
    """The root of the mean squared gap over bins, weighted by their size; bins of equal width by default.

    Hendrycks et al. 2019, "Deep anomaly detection with outlier exposure", section 4.1, with p = 2.
    """
    found = gaps(confidence, correct, binning or equal_width())
    return math.sqrt(found.share @ found.gap**2)


def rms_calibration_error_by_count(confidence: Array, correct: Array) -> float:
    """The same over bins of 100 answers in the order of confidence, as Hendrycks et al. form them, with all bins."""
    return rms_calibration_error(confidence, correct, equal_count())


def maximum_calibration_error(confidence: Array, correct: Array, binning: Binning | None = None) -> float:
    """The largest gap of any bin: Guo et al. 2017, equation 5."""
    return float(np.abs(gaps(confidence, correct, binning or equal_width()).gap).max())


def hle_calibration_error(confidence: Array, correct: Array) -> float:
    """The calibration error of Humanity's Last Exam as its own code computes it, for the sake of comparison.

    Root mean square over bins of 100 in the order of confidence. The last bin takes the rest, and is then left out of
    the sum (not of the total), so up to 199 of the most confident answers do not count. Theirs depends on the
    order of the file where confidences are equal; here equal confidences share their correctness. NaN below 200
    answers, of which theirs counts none: it gives 0 from 100 on. `rms_calibration_error_by_count` leaves nothing out.
    """
    checked(confidence, correct)
    n, counted = len(confidence), len(confidence) // HLE_SIZE - 1
    if counted < 1:
        return math.nan
    gap = np.sort(confidence) - tied_means(confidence, correct)
    kept = gap[: counted * HLE_SIZE].reshape(-1, HLE_SIZE).mean(axis=1)
    return math.sqrt(HLE_SIZE / n * float(np.square(kept).sum()))


def squared_errors(confidence: Array, correct: Array) -> Array:
    """Each item's squared difference of confidence and correctness; the two have any one shape."""
    return np.asarray((confidence - correct) ** 2)


def brier(confidence: Array, correct: Array) -> float:
    """The mean squared error: Brier 1950, "Verification of forecasts expressed in terms of probability"."""
    checked(confidence, correct)
    return float(np.mean(squared_errors(confidence, correct)))


@dataclass(frozen=True, slots=True)
class BrierParts:
    """brier = reliability - resolution + uncertainty + within.

    `reliability` is the mean squared gap (0 is calibrated), `resolution` how far the bins' shares correct differ from
    the overall one (more is better), `uncertainty` what constant confidence at the overall share would score, and
    `within` what binning leaves over: 0 where each bin holds one confidence.
    """

    reliability: float
    resolution: float
    uncertainty: float
    within: float


def brier_parts(confidence: Array, correct: Array, binning: Binning | None = None) -> BrierParts:
    """The Brier score taken apart: Murphy 1973, "A new vector partition of the probability score", equation 6.

    `within` is the rest that Stephenson et al. 2008, "Two extra components in the Brier score decomposition", equation
    7, split in two. Without `binning`, each distinct confidence is a bin of its own and there is no rest.
    """
    found = gaps(confidence, correct, binning or (lambda stated: np.unique(stated, return_inverse=True)[1]))
    overall = float(np.mean(correct))
    reliability = float(found.share @ found.gap**2)
    resolution = float(found.share @ (found.correct - overall) ** 2)
    uncertainty = float(np.mean((correct - overall) ** 2))
    rest = brier(confidence, correct) - reliability + resolution - uncertainty
    return BrierParts(reliability, resolution, uncertainty, rest)


def log_losses(confidence: Array, correct: Array, clip: float = CLIP) -> Array:
    """Each item's negative log-probability of what happened, in nats; the two have any one shape.

    Confidences of 0 and 1 are moved to `clip` and 1 - `clip`, since being wrong with certainty would cost more than any
    number; by default by as little as scikit-learn does.
    """
    p = np.clip(confidence, clip, 1 - clip)
    return np.asarray(-(correct * np.log(p) + (1 - correct) * np.log1p(-p)))


def log_loss(confidence: Array, correct: Array, clip: float = CLIP) -> float:
    """The mean negative log-probability in nats: Good 1952, "Rational decisions", section 4."""
    checked(confidence, correct)
    return float(np.mean(log_losses(confidence, correct, clip)))


def risk_coverage(confidence: Array, correct: Array) -> tuple[Array, Array]:
    """The share answered, and the share wrong of these, when the subject may stay silent below a threshold.

    One point for each distinct confidence, from the highest down: El-Yaniv and Wiener 2010, "On the foundations of
    noise-free selective classification", section 2.
    """
    checked(confidence, correct)
    levels, place = np.unique(-confidence, return_inverse=True)
    answered = np.cumsum(np.bincount(place, minlength=len(levels)))
    wrong = np.cumsum(np.bincount(place, 1 - correct))
    return np.asarray(answered / len(confidence)), np.asarray(wrong / answered)


def aurc(confidence: Array, correct: Array) -> float:
    """The area under the risk-coverage curve: the mean risk over all n coverages 1/n to 1. Lower is better.

    Geifman, Uziel and El-Yaniv 2019, "Bias-reduced uncertainty estimation for deep neural classifiers", equation 1;
    answers of equal confidence come in random order, and this is the mean over their orders.
    """
    checked(confidence, correct)
    wrong = tied_means(-confidence, 1 - correct)
    return float(np.mean(np.cumsum(wrong) / np.arange(1, len(wrong) + 1)))


def tied_means(key: Array, values: Array) -> Array:
    """The values in the order of `key`, those of equal keys replaced by their mean."""
    _, place, counts = np.unique(key, return_inverse=True, return_counts=True)
    return np.repeat(np.bincount(place, values) / counts, counts)


def checked(confidence: Array, correct: Array) -> None:
    """Raise InputError unless the two are columns of one length, with values of 0 to 1, and hold something."""
    if confidence.ndim != 1 or confidence.shape != correct.shape or not len(confidence):
        raise InputError(f"confidence and correct need one value for each item: {confidence.shape} and {correct.shape}")
    for name, column in (("confidence", confidence), ("correct", correct)):
        if not ((column >= 0) & (column <= 1)).all():
            wrong = int(np.argmin((column >= 0) & (column <= 1)))
            raise InputError(f"{name} lies from 0 to 1; item {wrong} has {column[wrong]:g}: leave it out, and count it")


def _checked_choices(probabilities: Array, gold: Labels) -> None:
    if probabilities.ndim != 2 or gold.shape != probabilities.shape[:1] or not len(gold):  # noqa: PLR2004 -- a table
        raise InputError(
            f"choices need probabilities of items by options, and a gold option for each item: {probabilities.shape} "
            f"and {gold.shape}"
        )
    sums = probabilities.sum(axis=1)
    if not ((probabilities >= 0).all() and np.allclose(sums, 1, atol=SUM)):
        raise InputError("the probabilities of an item's options are 0 or more and add up to 1: normalise them first")
    if (gold < 0).any() or (gold >= probabilities.shape[1]).any():
        raise InputError(f"a gold option lies outside the {probabilities.shape[1]} options; options count from 0")


def _confidence(value: object, scale: str) -> float:
    if isinstance(value, str):
        text = value.strip()
        signed = text.endswith("%")
        try:
            number = float(text.removesuffix("%"))
        except ValueError:
            return math.nan
        scale = "per cent" if signed else scale
    elif isinstance(value, int | float):
        number = float(value)
    else:
        return math.nan
    if scale == "per cent" or (scale == "auto" and number > 1):
        number /= PER_CENT
    return number if 0 <= number <= 1 else math.nan
