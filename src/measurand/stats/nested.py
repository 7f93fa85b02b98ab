"""Means of means: categories of subcategories of subjects, and means in which items or groups weigh differently.

MMLU has 57 subjects in 17 subcategories in 4 categories. Its number may be the mean over items, over subjects, or the
mean over categories of the mean over subcategories of the mean over subjects; the three differ, and so does their
error. A nested mean is a macro mean in which the innermost groups have unequal shares:

    share of a subject = 1 / (categories x subcategories of its category x subjects of its subcategory)

so it has the error of `means.macro`: Cochran 1977, "Sampling techniques", section 5.4, with those shares as the
weights of the strata.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from measurand.core.errors import InputError
from measurand.core.estimate import Estimate
from measurand.stats.estimate import Made, bootstrapped, clipped, of_mean, pooled, recorded, right_or_wrong, spreads
from measurand.stats.intervals import combined
from measurand.stats.means import Array, Labels, Mean, dense, macro
from measurand.stats.missing import ByItem, Mask, complete
from measurand.stats.sums import weighted_mean
from measurand.stats.units import Over, over_of


def nested(values: Array, levels: Sequence[Labels], clusters: Labels | None = None) -> Mean:
    """The mean over the first level of means over the next, down to the items: `values` and each level are [items].

    One level is the macro mean. Levels go from the outermost in. Raises InputError for no values or no levels.
    """
    groups, shares = leaves(levels)
    return macro(values, groups, clusters, shares)


def weighted(values: Array, weights: Array, clusters: Labels | None = None) -> Mean:
    """The mean in which item i weighs `weights[i]`: values and weights are [items].

    The error is that of the ratio of sums: Cochran 1977, equation 6.13; with clusters their sums take the place of
    items. Raises InputError for weights that are negative or add up to nothing.
    """
    if len(weights) != len(values) or not len(values) or (weights < 0).any() or not weights.sum():
        raise InputError("a weighted mean needs one weight for each value, none negative and one above zero")
    value = float(values @ weights / weights.sum())
    cluster = np.arange(len(values)) if clusters is None else dense(clusters)
    moves = np.bincount(cluster, weights * (values - value)) / weights.sum()
    units = len(moves)
    if units < 2:  # noqa: PLR2004 -- one unit shows no spread
        return Mean(value, None, 0.0)
    return Mean(value, float(np.sqrt(np.square(moves).sum() * units / (units - 1))), float(units - 1))


def over_nested(table: ByItem, levels: Sequence[Labels], level: float = 0.95) -> Estimate:
    """The nested number of any metric, with its interval; each of `levels` [items] labels the items, outermost first.

    One level is the macro number: every group counts the same. There is no number where a group has none: a mean over
    some of the groups would be the mean of other things, so it is refused, not shown in part. The groups' own intervals
    are taken together (MOVER), save where a stratified error is known: a mean of samples or real values. Raises
    InputError for no levels.
    """
    kept = table.only(table.planned)
    if not len(kept.rows):
        return recorded(kept, None, (None, "none: nothing is measured"), level, None)
    groups = leaves([labels[table.planned] for labels in levels])
    parts = [pooled(kept.only(groups.of == group), level) for group in range(len(groups.shares))]
    values = [part.value for part in parts if part.value is not None]
    ends = [part.bounds or (part.value, part.value) for part in parts]
    limits = None
    if all(low is not None and high is not None for low, high in ends):
        limits = float(groups.shares @ [low for low, _ in ends]), float(groups.shares @ [high for _, high in ends])
    if len(values) < len(parts):
        made = None, f"none: {len(values)} of {len(parts)} groups are measured"
        return recorded(kept, None, made, level, limits)
    value = float(groups.shares @ np.array(values))
    return recorded(kept, value, _interval(kept, groups, parts, level), level, limits)


class Leaves(NamedTuple):
    """The innermost groups: `of` [items] is each item's, from 0 up; `shares` [groups] what each counts, 1 together."""

    of: Labels
    shares: Array

    def some(self, items: Mask) -> Leaves:
        """The same groups for some of the items, at least one of each."""
        return Leaves(self.of[items], self.shares)


def leaves(levels: Sequence[Labels]) -> Leaves:
    """The innermost groups of items that each of `levels` [items] labels, outermost first.

    A label that occurs in two outer groups is two groups. Raises InputError for no levels or no items.
    """
    if not levels or not len(levels[0]):
        raise InputError("a nested mean needs items and at least one level of groups")
    outer = np.zeros(len(levels[0]), dtype=np.int64)
    shares = np.ones(1)
    for labels in levels:
        inner = dense(labels)
        paths, place = np.unique(outer * (int(inner.max()) + 1) + inner, return_inverse=True)
        parent = paths // (int(inner.max()) + 1)
        shares = shares[parent] / np.bincount(parent)[parent]
        outer = np.asarray(place, dtype=np.int64)
    return Leaves(outer, shares)


def over_leaves(each: Over, groups: Leaves) -> Over:
    """The nested number of `each` as an `over`, so that clusters that lie across groups can be drawn whole."""
    members = [np.flatnonzero(groups.of == group) for group in range(len(groups.shares))]

    def over(rows: Array, weights: Array) -> Array:
        parts = [np.asarray(each(rows[who], weights[..., who]), dtype=np.float64) for who in members]
        return np.asarray(np.tensordot(groups.shares, parts, axes=1))

    return over


def _interval(table: ByItem, groups: Leaves, parts: list[Estimate], level: float) -> Made:
    measured = complete(table.rows)
    done, groups = table.only(measured), groups.some(measured)
    metric = done.metric
    if metric.over is weighted_mean and not right_or_wrong(done):
        mean = macro(done.rows[:, 0], groups.of, done.clusters, groups.shares)
        if spreads(mean, done.rows[:, 0]):
            kind = "Student's t, stratified" if done.independent else "Student's t, stratified and clustered"
            return of_mean(mean, metric, level), kind
    if done.clusters is not None and _cross(groups.of, done.clusters):
        return bootstrapped(over_leaves(over_of(metric), groups), done, level)
    intervals = [(part.low, part.high) for part in parts if part.low is not None and part.high is not None]
    if len(intervals) < len(parts):
        return None, "none: a group has no interval"
    interval = combined([part.value or 0.0 for part in parts], intervals, groups.shares.tolist())
    return clipped(interval, metric), "MOVER of the groups' intervals"


def _cross(groups: Labels, clusters: Labels) -> bool:
    """Whether a cluster lies in more than one group."""
    pairs = np.unique(np.column_stack((clusters, groups)), axis=0)
    return len(pairs) > len(np.unique(clusters))
