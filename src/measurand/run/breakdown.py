"""A number broken down into its parts: which kinds of instruction fail, the worst first, and among which items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from measurand.core.estimate import Estimate
from measurand.core.summary import Part
from measurand.run.tables import Items, Marks, Trials, table
from measurand.stats.estimate import pooled
from measurand.stats.metrics import RATE
from measurand.stats.missing import ByItem

if TYPE_CHECKING:
    from measurand.core.protocol import Protocol as ProtocolRecord
    from measurand.core.run import Run

FEWEST = 5
"""A value of a slice with fewer items than this is not looked at by itself."""


def has_parts(protocol: ProtocolRecord) -> bool:
    """Whether the metrics are parts of one rate: each scorer is told its part, and the metric bears its name."""
    rules = protocol.aggregation.metrics
    return len(protocol.scoring.markings) > 1 and all(
        one.scorer.partition("@")[0].endswith(f", {one.metric})")
        and rules.get(one.metric, "").partition("@")[0] == RATE.name
        for one in protocol.scoring.markings
    )


def breakdown(
    marks: Mapping[str, Marks],
    by_part: Mapping[str, ByItem],
    trials: Trials,
    items: Items,
    run_of: Run,
    protocol: ProtocolRecord,
) -> Iterator[Part]:
    """All parts together, then each, by the share that failed; over all items, then over the values of slices."""
    whole = table(_together(marks), trials, items, run_of, protocol)
    level = protocol.aggregation.level
    for field, value, of_value in _groups(items, run_of):
        yield _part("", whole.only(of_value), level, field, value)
        parts = [_part(name, rows.only(of_value), level, field, value) for name, rows in by_part.items()]
        yield from sorted((part for part in parts if part.of or part.estimate.n_missing), key=_rank)


def _together(marks: Mapping[str, Marks]) -> Marks:
    """The sums of what every trial was asked for; unmeasured where any of it is."""
    applies = np.array([mark.applies for mark in marks.values()])
    rows = np.array([mark.rows for mark in marks.values()])
    due = np.asarray(applies.any(axis=0), dtype=np.bool_)
    return Marks(RATE, np.where(applies[:, :, None], rows, 0.0).sum(axis=0), due)


def _groups(items: Items, run_of: Run) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
    """All items, and the values of each slice that has several of some size."""
    yield "", "", np.ones(run_of.n_items, dtype=np.bool_)
    for field, (codes, labels) in items.slices.items():
        found = [(label, codes == code) for code, label in enumerate(labels)]
        large = sorted((one for one in found if one[1].sum() >= FEWEST), key=lambda one: one[0])
        if len(large) > 1:
            yield from ((field, label, of_value) for label, of_value in large)


def _part(name: str, rows: ByItem, level: float, field: str, value: str) -> Part:
    followed = pooled(rows, level)
    counts = rows.measured_only().rows.sum(axis=0)
    return Part(name, float(counts[1] - counts[0]), float(counts[1]), _failing(followed, name), field, value)


def _failing(followed: Estimate, name: str) -> Estimate:
    """The share that failed instead of the share that did not."""

    def other(share: float | None) -> float | None:
        return None if share is None else 1 - share

    bounds = None if followed.bounds is None else (1 - followed.bounds[1], 1 - followed.bounds[0])
    return msgspec.structs.replace(
        followed,
        metric=name,
        value=other(followed.value),
        low=other(followed.high),
        high=other(followed.low),
        bounds=bounds,
    )


def _rank(part: Part) -> tuple[bool, float, float, str]:
    share = part.estimate.value
    return share is None, -(share or 0.0), -part.of, part.name
