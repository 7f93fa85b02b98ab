"""Many comparisons at once: adjusted p-values, and the tie groups that a table may print instead of ranks.

Twenty comparisons of equals give one p below 0.05 on average. An adjusted p-value is to be held against the same
level as if the comparison had been the only one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

import numpy as np

from measurand.core.errors import InputError
from measurand.stats.means import Array


def adjusted(ps: Iterable[float]) -> Array:
    """Holm's adjusted p-values, in the order given: the chance of even one false claim stays below the level.

    Valid whatever the dependence between the comparisons. Holm 1979, "A simple sequentially rejective multiple test
    procedure". Raises InputError for what is no p-value.
    """
    p = _checked(ps)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    return _placed(np.minimum(1, stepped), order)


def false_discovery(ps: Iterable[float]) -> Array:
    """Benjamini and Hochberg's adjusted p-values, in the order given: the expected share of false claims among all.

    For screening many slices, where a few false alarms are borne; not for deciding. Benjamini and Hochberg 1995,
    "Controlling the false discovery rate"; for comparisons that are independent or rise together. Raises InputError
    for what is no p-value.
    """
    p = _checked(ps)
    order = np.argsort(p, kind="stable")[::-1]
    stepped = np.minimum.accumulate(p[order] * (len(p) / np.arange(len(p), 0, -1)))
    return _placed(np.minimum(1, stepped), order)


def tie_groups(order: Sequence[str], apart: Callable[[str, str], bool]) -> tuple[tuple[str, ...], ...]:
    """Names in groups within which no two are shown to differ; `order` is best first, and so are the groups.

    `apart` says of two names whether their comparison, adjusted for all the pairs, shows a difference. Groups are as
    large as they can be and may overlap: of A, B and C, B can be tied with both while A and C differ. Two names that
    share no group differ, and only they do. Piepho 2004, "An algorithm for a letter-based representation of
    all-pairwise comparisons" (insert and absorb).
    """
    groups = {frozenset(order)} if order else set()
    for a, b in combinations(order, 2):
        if apart(a, b):
            split = [group for group in groups if {a, b} <= group]
            groups = _largest((groups - set(split)) | {group - {name} for group in split for name in (a, b)})
    place = {name: number for number, name in enumerate(order)}
    ranked = [tuple(sorted(group, key=place.__getitem__)) for group in groups]
    return tuple(sorted(ranked, key=lambda group: [place[name] for name in group]))


def _largest(groups: set[frozenset[str]]) -> set[frozenset[str]]:
    """The groups that no other one holds."""
    return {group for group in groups if not any(group < other for other in groups)}


def _placed(values: Array, order: np.ndarray[tuple[int, ...], np.dtype[np.intp]]) -> Array:
    placed = np.empty_like(values)
    placed[order] = values
    return placed


def _checked(ps: Iterable[float]) -> Array:
    p = np.array(list(ps), dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise InputError(f"p-values lie between 0 and 1, not {p[~((p >= 0) & (p <= 1))][0]}")
    return p
