"""Means and their standard errors: micro, macro and clustered, by one formula.

A subject answers n items; item i has the value x_i (the mean of its samples, where it was asked more than
once: ten samples of one question are not ten questions). Two means are in use:

- *micro*, or pooled: every item counts the same.          mean = sum of x_i / n
- *macro*: every group counts the same, whatever its size. mean = sum over groups of (mean of the group) / G

Both weigh the items, so both have one error. The item's share in the error is u_i = w_i (x_i - mean of its
group): how far the mean would move if the item had been another. Items of one cluster (questions about
one passage) move together, so their shares are added before they are squared:

    error^2 = sum over clusters of (sum of u_i over its items)^2, each group's shares scaled by
              sqrt(C / (C - 1)) for its C clusters

Without clusters this is s / sqrt(n) for the micro mean, and the stratified sqrt(sum of s_g^2 / n_g) / G for
the macro mean; with them it is the cluster-robust error. Sources: Miller 2024, "Adding error bars to
evals", equation 4 (clusters); Cochran 1977, "Sampling techniques", section 5.4 (strata).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from measurand.core.errors import InputError

Array = NDArray[np.float64]
Labels = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean, its standard error and degrees of freedom.

    `error` is None where it cannot be known: a group with one item (or one cluster) shows no spread.
    """

    value: float
    error: float | None
    df: float


def micro(values: Array, clusters: Labels | None = None) -> Mean:
    """The mean over items: `values` [items], all measured; `clusters` [items] labels those that belong together."""
    if clusters is not None or len(values) < 2:  # noqa: PLR2004 -- one value shows no spread
        return macro(values, np.zeros(len(values), dtype=np.int64), clusters)
    # The same by the textbook, which needs no sorting: a million values take 5 ms, not 60.
    return Mean(float(values.mean()), float(values.std(ddof=1)) / len(values) ** 0.5, len(values) - 1.0)


def macro(values: Array, groups: Labels, clusters: Labels | None = None, shares: Array | None = None) -> Mean:
    """The mean over groups of each group's mean: `values`, `groups` and `clusters` are all [items].

    `shares` gives the groups, in the sorted order of their labels, other shares than 1 / G; they add up to 1.
    Clusters may cross groups (one premise in fifteen languages). The degrees of freedom are Satterthwaite's
    over groups, at most the clusters less one. Raises InputError for no values.
    """
    if not len(values):
        raise InputError("the mean of no values is not a number")
    group = dense(groups)
    cluster = dense(clusters) if clusters is not None else np.arange(len(values), dtype=np.int64)
    size = np.bincount(group)
    means = np.bincount(group, values) / size
    share = np.full(len(size), 1 / len(size)) if shares is None else shares
    value = float(means.mean() if shares is None else share @ means)

    # A unit is what varies by itself: the part of a cluster that lies in one group.
    pairs, unit = np.unique(group * (cluster.max() + 1) + cluster, return_inverse=True)
    home = pairs // (cluster.max() + 1)
    units = np.bincount(home)
    if units.min() < 2:  # noqa: PLR2004 -- one unit shows no spread
        return Mean(value, None, 0.0)

    scale = np.sqrt(units / (units - 1))
    moves = (values - means[group]) * (scale * share / size)[group]
    error = float(np.sqrt(np.square(np.bincount(cluster, moves)).sum()))
    variances = np.bincount(home, np.square(np.bincount(unit, moves))).astype(np.float64)
    return Mean(value, error, min(_satterthwaite(variances, units - 1), float(cluster.max())))


def dense(labels: NDArray[np.generic]) -> Labels:
    """The same grouping with labels from 0 up, without gaps."""
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.int64)


def _satterthwaite(variances: Array, df: NDArray[np.int64]) -> float:
    """Satterthwaite 1946, equation 17: the groups that carry the variance carry the degrees of freedom."""
    total = float(variances.sum())
    return total**2 / float((variances**2 / df).sum()) if total else float(df.sum())
