"""Several samples for each item: how much of the error is the luck of the items, and how much that of the samples.

More samples shrink only the second part. The variance of the mean over n items with k samples each is
(between + within / k) / n: Miller 2024, "Adding error bars to evals", section 3.1. The same split of clusters into
items gives the correlation within clusters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from measurand.core.errors import InputError
from measurand.stats.means import Array, Labels, dense, micro


@dataclass(frozen=True, slots=True)
class Components:
    """The variance between items' true means, and that of samples within one item; `n` items, `samples` of each.

    `samples` is the harmonic mean where items have different numbers of them.
    """

    between: float
    within: float
    n: int
    samples: float

    def error(self, samples: float | None = None) -> float:
        """The standard error of the mean over the same items, had each been sampled `samples` times."""
        return math.sqrt((self.between + self.within / (samples or self.samples)) / self.n)

    @property
    def floor(self) -> float:
        """The standard error that no number of samples gets below: only more items do."""
        return math.sqrt(self.between / self.n)

    @property
    def worth(self) -> float:
        """How many items with one sample each are worth one item with these many samples."""
        total = self.between + self.within
        return total / (self.between + self.within / self.samples) if total else 1.0


def components(values: Array, items: Labels) -> Components:
    """Split the variance of `values` [trials], all measured, by `items` [trials].

    The unbiased estimates of the analysis of variance; a negative one between items is taken as zero (Searle,
    Casella and McCulloch 1992, "Variance components", section 3.6). Raises InputError where no item has two samples,
    or there is only one item.
    """
    item = dense(items)
    count = np.bincount(item)
    n = len(count)
    if n < 2 or count.max() < 2:  # noqa: PLR2004 -- two are needed to differ
        raise InputError("to split the variance there must be two items, and two samples of one of them")
    means = np.bincount(item, values) / count
    within = float(np.square(values - means[item]).sum() / (len(values) - n))
    # Item means scatter by their own variance and by what is left of the samples'.
    left = within * float((1 / count).mean())
    between = max(0.0, float(np.var(means, ddof=1)) - left)
    return Components(between, within, n, n / float((1 / count).sum()))


def measured_effect(values: Array, clusters: Labels) -> float:
    """How many of these items are worth one that stands alone: the clustered variance of their mean over the plain one.

    `values` and `clusters` are [items]. Kish 1965, "Survey sampling", section 5.4. At least 1, as luck alone would
    otherwise narrow an interval; 1 where there is no spread, or one cluster.
    """
    plain, together = micro(values).error, micro(values, clusters).error
    return max(1.0, (together / plain) ** 2) if plain and together else 1.0


def intraclass(values: Array, clusters: Labels) -> float:
    """How alike two items of one cluster are: the share of the variance that lies between clusters.

    `values` and `clusters` are [items]. The intraclass correlation ICC(1), by the components above. Raises
    InputError as `components`.
    """
    parts = components(values, clusters)
    total = parts.between + parts.within
    return parts.between / total if total else 0.0
