"""Metrics: a row of numbers for each trial, and two functions that make them one number.

`within` takes rows of shape [samples, columns], or [items, samples, columns] for many items at once, and
takes the samples together: it reduces the last axis but one. `over` takes the rows of all items, [items,
columns], and their weights: [items] gives the number, [draws, items] one number for each draw. Intervals
reweight the same `over`, so a number and its error cannot disagree.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from measurand.core.benchmark import Metric
from measurand.core.errors import InputError
from measurand.core.subject import Passes
from measurand.stats.confidence import (
    aurc,
    hle_calibration_error,
    log_losses,
    rms_calibration_error_by_count,
    squared_errors,
)
from measurand.stats.passk import pass_at_k_each, pass_hat_k_each
from measurand.stats.sums import bits_per_unit, f1, matthews, perplexity, ratio_of_sums, weighted_mean
from measurand.stats.voting import NO_ANSWER, best_at_k, majority_at_k

Array = NDArray[np.float64]


def mean_within(rows: Array) -> Array:
    """The mean row of an item's samples."""
    return np.asarray(rows.mean(axis=-2))


def pass_at(k: int) -> Metric:
    """pass@k over an item's samples, averaged over items. Planned samples fewer than k raise InputError."""
    return Metric(
        f"pass_at_{k}", 1, ("correct",), _counted("pass@k", pass_at_k_each, k), weighted_mean, kind=_kind(k, "search")
    )


def pass_hat(k: int) -> Metric:
    """pass^k, all of k right, over an item's samples, averaged over items. Refused as `pass_at`."""
    return Metric(
        f"pass_hat_{k}", 1, ("correct",), _counted("pass^k", pass_hat_k_each, k), weighted_mean, kind=_kind(k, "every")
    )


def majority_at(k: int) -> Metric:
    """maj@k: the score of the commonest answer among k of an item's samples, averaged over items.

    A row is (score, code of the answer that was read): see `measurand.stats.voting`.
    """

    def within(rows: Array) -> Array:
        """The majority's score, and no answer: a vote has none of its own."""
        items = rows.reshape(-1, *rows.shape[-2:])
        values = [(majority_at_k(item[:, 1], item[:, 0], k), NO_ANSWER) for item in items]
        return np.array(values).reshape(*rows.shape[:-2], 2)

    return Metric(f"maj_at_{k}", 1, ("correct", "answer"), within, weighted_mean, kind=_kind(k, "majority"))


def best_of(k: int) -> Metric:
    """best-of-n: the score of the sample with the highest reward among k of an item's, averaged over items.

    A row is (score, reward): a reward model's number, a log-probability, a judge's grade.
    """

    def within(rows: Array) -> Array:
        """The score of the best by reward, and no reward of its own."""
        best = best_at_k(rows[..., 0], rows[..., 1], k)
        return np.stack((best, np.zeros_like(best)), axis=-1)

    return Metric(f"best_of_{k}", 1, ("correct", "reward"), within, weighted_mean, kind=_kind(k, "search"))


def any_of(k: int) -> Metric:
    """any-of-n: the highest score among k of an item's samples, as an oracle would pick it, averaged over items.

    For samples that are right or wrong this is pass@k; this form takes grades too.
    """

    def within(rows: Array) -> Array:
        """The mean over all subsets of k of their highest score."""
        return best_at_k(rows[..., 0], rows[..., 0], k)[..., None]

    return Metric(f"any_of_{k}", 1, ("correct",), within, weighted_mean, kind=_kind(k, "search"))


def _counted(name: str, each: Callable[[int, Array, int], Array], k: int) -> Callable[[Array], Array]:
    """A `within` that counts the samples of an item that are right."""

    def within(rows: Array) -> Array:
        """The unbiased value for an item's samples."""
        if not np.isin(rows, (0.0, 1.0)).all():
            raise InputError(f"{name} counts samples that are correct (1) or not (0); other scores cannot be counted")
        correct = rows[..., 0].sum(axis=-1)
        return each(rows.shape[-2], np.atleast_1d(correct), k).reshape(*correct.shape, 1)

    return within


def _kind(k: int, several: Passes) -> Passes:
    """One sample is one pass, by whatever rule."""
    return several if k > 1 else "single pass"


def _each(number: Callable[[Array, Array], Array]) -> Callable[[Array], Array]:
    """A `within` that turns (confidence, correct) of each sample into a number, and takes their mean."""

    def within(rows: Array) -> Array:
        """The mean number, and nothing beside it."""
        mean = number(rows[..., 0], rows[..., 1]).mean(axis=-1)
        return np.stack((mean, np.zeros_like(mean)), axis=-1)

    return within


def _repeated(number: Callable[[Array, Array], float]) -> Callable[[Array, Array], Array]:
    """An `over` for numbers that are no sums over items: an item of weight two is there twice. Weights are whole."""

    def over(rows: Array, weights: Array) -> Array:
        """The number of (confidence, correct) rows for each draw; NaN where a draw holds nothing."""
        counts = np.atleast_2d(weights).astype(np.int64)
        drawn = [np.repeat(rows, count, axis=0) for count in counts]
        found = [number(some[:, 0], some[:, 1]) if len(some) else math.nan for some in drawn]
        return np.array(found).reshape(weights.shape[:-1])

    return over


ACCURACY = Metric("accuracy", 1, ("correct",), mean_within, weighted_mean)
MEAN = Metric("mean", 1, ("value",), mean_within, weighted_mean, low=None, high=None)
RATE = Metric("rate", 1, ("count", "of"), mean_within, ratio_of_sums)
MICRO_F1 = Metric("micro_f1", 1, ("tp", "fp", "fn"), mean_within, f1)
MCC = Metric("mcc", 1, ("tp", "fp", "fn", "tn"), mean_within, matthews, low=-1.0)
BITS_PER_BYTE = Metric(
    "bits_per_byte", 1, ("log_probability", "bytes"), mean_within, bits_per_unit, low=0.0, high=None, unit="bits/byte"
)
WORD_PERPLEXITY, BYTE_PERPLEXITY, TOKEN_PERPLEXITY = (
    Metric(f"{unit}_perplexity", 1, ("log_probability", f"{unit}s"), mean_within, perplexity, 1.0, None, f"per {unit}")
    for unit in ("word", "byte", "token")
)
PERPLEXITIES = {one.name: one for one in (BITS_PER_BYTE, BYTE_PERPLEXITY, WORD_PERPLEXITY, TOKEN_PERPLEXITY)}
_STATED = ("confidence", "correct")
BRIER = Metric("brier", 1, _STATED, _each(squared_errors), weighted_mean, unit="score")
LOG_LOSS = Metric("log_loss", 1, _STATED, _each(log_losses), weighted_mean, high=None, unit="nats")
AURC = Metric("aurc", 1, _STATED, mean_within, _repeated(aurc), unit="score")
RMS_CALIBRATION_ERROR = Metric(
    "rms_calibration_error", 1, _STATED, mean_within, _repeated(rms_calibration_error_by_count), unit="score"
)
HLE_CALIBRATION_ERROR = Metric(
    "hle_calibration_error", 1, _STATED, mean_within, _repeated(hle_calibration_error), unit="score"
)
PASS_AT_1, PASS_AT_10, PASS_AT_100 = pass_at(1), pass_at(10), pass_at(100)

PASS_AT = re.compile(r"pass_at_([1-9][0-9]{0,5})")
"""The names of the metrics that `pass_at` makes."""
_OF_K = re.compile(r"(pass_at|pass_hat|maj_at|best_of|any_of)_([1-9][0-9]{0,5})")
_MAKERS = {"pass_at": pass_at, "pass_hat": pass_hat, "maj_at": majority_at, "best_of": best_of, "any_of": any_of}


def find(name_at_version: str) -> Metric:
    """The metric of this file that a protocol names as `name@version`.

    Raises InputError where there is no such metric, or only another version of it.
    """
    name, _, version = name_at_version.partition("@")
    named = _OF_K.fullmatch(name)
    metric = _MAKERS[named[1]](int(named[2])) if named else globals().get(name.upper())
    if not isinstance(metric, Metric):
        known = ", ".join(sorted(value.name for value in globals().values() if isinstance(value, Metric)))
        raise InputError(
            f"no metric {name_at_version!r}: there are {known}, and {', '.join(f'{rule}_K' for rule in _MAKERS)}; "
            "hand in your own by name"
        )
    if version != str(metric.version):
        raise InputError(f"metric {name} is at version {metric.version} here, not {version or 'unstated'}")
    return metric


def checked(metric: Metric, rows: Array) -> Array:
    """The rows, once known to be usable: right columns, no infinities, one-column values in the metric's range.

    A NaN marks an unmeasured trial and passes; it never becomes a zero. Raises InputError otherwise.
    """
    if rows.ndim != 2 or rows.shape[1] != len(metric.columns):  # noqa: PLR2004 -- a table has two axes
        raise InputError(f"rows of {metric.name} need {len(metric.columns)} columns, not the shape {rows.shape}")
    single = len(metric.columns) == 1
    low = metric.low if single and metric.low is not None else -math.inf
    high = metric.high if single and metric.high is not None else math.inf
    wrong = np.isinf(rows) | (rows < low) | (rows > high)
    if wrong.any():
        where = int(np.argmax(wrong.any(axis=1)))
        span = f"{low:g} to {high:g}" if single and metric.low is not None else "finite numbers"
        raise InputError(f"value out of range: row {where} of {metric.name} is {rows[where].tolist()}, outside {span}")
    return rows


_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_UNMEASURED = frozenset({"", "nan", "n/a", "na", "none", "null"})


def numbers(values: Iterable[object]) -> Array:
    """Values as other tools write them, as a vector of floats; NaN where a value is not available.

    Numbers, booleans, numbers as text, and the grades C, P, I and N (correct 1, partial 0.5, incorrect and
    no answer 0). None, "NaN" and "N/A" are unmeasured. Raises InputError for anything else.
    """
    return np.array([_number(value) for value in values], dtype=np.float64)


def _number(value: object) -> float:
    if value is None:
        return math.nan
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str):
        text = value.strip()
        if text in _GRADES:
            return _GRADES[text]
        if text.lower() in _UNMEASURED:
            return math.nan
        try:
            return float(text)
        except ValueError:
            pass
    raise InputError(f"{value!r} is not a score: give a number, a grade (C, P, I, N) or nothing")
