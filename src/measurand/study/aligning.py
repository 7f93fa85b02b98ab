"""Two runs side by side: the same items, found by id and by content, never by position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from measurand.core.errors import InputError
from measurand.stats.missing import ByItem, Mask

if TYPE_CHECKING:
    from measurand.run.tables import Codes, Tables


@dataclass(frozen=True, slots=True)
class Aligned:
    """The items that two runs share: where each stands in `a` and in `b`.

    `only_a` and `only_b` count the items of one run alone; `changed` those that have the same id in both and ask or
    want something else.
    """

    a: Tables
    b: Tables
    at_a: Codes
    at_b: Codes
    only_a: int
    only_b: int
    changed: int

    @property
    def n(self) -> int:
        """The items in common."""
        return len(self.at_a)

    def pair(self, metric: str, items: Mask | None = None) -> tuple[ByItem, ByItem]:
        """The rows of a metric in both runs, item by item; `items` [items of a] cuts them further.

        Raises InputError where a run lacks the metric.
        """
        for one in (self.a, self.b):
            if metric not in one.metrics:
                raise InputError(f"{one.run.benchmark} has no metric '{metric}'; it has {', '.join(one.metrics)}")
        kept = slice(None) if items is None else items[self.at_a]
        a, b = rows_at(self.a.metrics[metric], self.at_a[kept]), rows_at(self.b.metrics[metric], self.at_b[kept])
        return a, ByItem(b.metric, b.rows, b.worst, b.best, b.measured, b.missing, a.clusters)


def align(a: Tables, b: Tables) -> Aligned:
    """Find the items that two runs share, in the order of `a`."""
    places = {(name, content): at for at, (name, content) in enumerate(zip(b.names, b.contents, strict=True))}
    found = [(at, places[key]) for at, key in enumerate(zip(a.names, a.contents, strict=True)) if key in places]
    shared = {a.names[at] for at, _ in found}
    changed = len(set(a.names) & set(b.names) - shared)
    at_a, at_b = (np.array([pair[which] for pair in found], dtype=np.int64) for which in (0, 1))
    return Aligned(a, b, at_a, at_b, len(a.names) - len(found), len(b.names) - len(found), changed)


def rows_at(table: ByItem, places: Codes) -> ByItem:
    """The rows of the items at these places, in this order."""
    return ByItem(
        table.metric,
        table.rows[places],
        None if table.worst is None else table.worst[places],
        None if table.best is None else table.best[places],
        table.measured[places],
        table.missing[places],
        None if table.clusters is None else table.clusters[places],
    )
