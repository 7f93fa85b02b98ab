"""The `over` of the metrics here: numbers made of weighted sums over items.

Each takes the rows of all items, [items, columns], and their weights: [items] gives the number, [draws, items] one
number for each draw. What needs nothing but the weighted sums of the columns is in ADDITIVE: rows that share a weight,
such as those of a cluster, may be added first.
"""

from __future__ import annotations

import math

import numpy as np

from measurand.stats.means import Array


def weighted_mean(rows: Array, weights: Array) -> Array:
    """The weighted mean of the first column; NaN where all weights are zero."""
    return _divide(weights @ rows[:, 0], weights.sum(axis=-1))


def ratio_of_sums(rows: Array, weights: Array) -> Array:
    """The weighted sum of the first column over that of the second; NaN where the latter is zero."""
    sums = weights @ rows
    return _divide(sums[..., 0], sums[..., 1])


def bits_per_unit(rows: Array, weights: Array) -> Array:
    """Negative log-probability in nats over units (bytes), as bits for each unit."""
    return -ratio_of_sums(rows, weights) / math.log(2)


def perplexity(rows: Array, weights: Array) -> Array:
    """The exponential of the negative log-probability in nats for each unit, both summed over all items first."""
    return np.asarray(np.exp(-ratio_of_sums(rows, weights)))


def f1(rows: Array, weights: Array) -> Array:
    """F1 of summed true positives, false positives and false negatives: 2 tp / (2 tp + fp + fn)."""
    sums = weights @ rows
    return _divide(2 * sums[..., 0], 2 * sums[..., 0] + sums[..., 1] + sums[..., 2])


def matthews(rows: Array, weights: Array) -> Array:
    """Matthews' correlation of summed true positives, false positives, false negatives and true negatives.

    Matthews 1975, "Comparison of the predicted and observed secondary structure of T4 phage lysozyme". 0 where one
    class is never predicted or never true, which is its limit (Chicco and Jurman 2020); NaN where there is nothing.
    """
    tp, fp, fn, tn = np.moveaxis(np.asarray(weights @ rows), -1, 0)
    below = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    made = np.where(below == 0, 0.0, (tp * tn - fp * fn) / np.where(below == 0, 1.0, below))
    return np.where(tp + fp + fn + tn == 0, np.nan, made)


def _divide(above: Array, below: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(below == 0, np.nan, above / below))


ADDITIVE = frozenset({ratio_of_sums, bits_per_unit, perplexity, f1, matthews})
