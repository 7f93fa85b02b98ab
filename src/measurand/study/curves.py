"""From measured checkpoints to curves: one for each scenario, and one for each domain of the texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from measurand.core.curves import Checkpoint, Curve, Point
from measurand.core.estimate import Comparison, Estimate
from measurand.run.tables import Tables
from measurand.stats.compare import compare
from measurand.stats.estimate import pooled
from measurand.stats.intervals import student_p
from measurand.stats.metrics import BITS_PER_BYTE
from measurand.stats.missing import ByItem, Mask
from measurand.stats.power import detectable
from measurand.study.aligning import align
from measurand.study.comparing import FEWEST
from measurand.study.evidence import NO_CODES, field_codes, higher_is_better

COARSE = 0.01
"""Below this a p-value of random permutations is too coarse for the small level of one of many looks."""

Key = tuple[str, str, str, str, float]


@dataclass(frozen=True, slots=True)
class Taken:
    """One checkpoint with the tables of what it was measured on, by scenario."""

    checkpoint: Checkpoint
    tables: Mapping[str, Tables]


@dataclass(frozen=True, slots=True)
class Series:
    """One curve with what it was made from, so that any two of its checkpoints can be compared.

    `known` keeps comparisons that were made at an earlier look: they are of stored runs, and cannot change.
    """

    curve: Curve
    tables: tuple[Tables, ...]
    known: MutableMapping[Key, Comparison] = field(default_factory=dict)

    def between(self, later: int, earlier: int, level: float = 0.95) -> Comparison | None:
        """The paired difference of two points by their index, later - earlier; None where protocols differ."""
        points = self.curve.points
        names = points[later].checkpoint, points[earlier].checkpoint
        cut = self.curve.view, self.curve.value
        return compared(self.tables[later], self.tables[earlier], names, cut, self.known, level)


def series_of(taken: Sequence[Taken], known: MutableMapping[Key, Comparison]) -> list[Series]:
    """Every curve: each scenario as a whole, then each domain of the perplexities. Checkpoints without one are gaps."""
    scenarios = dict.fromkeys(name for one in taken for name in one.tables)
    found: list[Series] = []
    for scenario in scenarios:
        have = [(place, one) for place, one in enumerate(taken) if scenario in one.tables]
        found.append(_series(scenario, have, ("pooled", ""), known))
        first = have[0][1].tables[scenario]
        if is_perplexity(first):
            found += [_series(scenario, have, cut, known) for cut in _cuts(first)]
    return found


def is_perplexity(tables: Tables) -> bool:
    """Whether a scenario measures how well texts are predicted."""
    return tables.metrics[tables.headline].metric.name == BITS_PER_BYTE.name


def chance(made: Comparison) -> float:
    """The two-sided p-value of a comparison, fine enough for a level of one in thousands.

    A random permutation has no p-value below one in its draws. In the tail it is Student's t on the same standard
    error, which the smallest detectable difference holds (Miller 2024, equation 10).
    """
    difference = made.difference
    if made.p is None or difference.value is None:
        return 1.0
    if made.p > COARSE or made.test != "label permutation" or not made.detectable:
        return made.p
    error = made.detectable / detectable(1.0, alpha=1 - difference.level)
    units = difference.n_clusters or difference.n_items
    return student_p(difference.value / error, max(1.0, units - 1.0))


def compared(
    later: Tables,
    earlier: Tables,
    names: tuple[str, str],
    cut: tuple[str, str],
    known: MutableMapping[Key, Comparison],
    level: float,
) -> Comparison | None:
    """The paired difference of two checkpoints on one scenario or slice; None where it may not be made."""
    if later.run.protocol != earlier.run.protocol:
        return None
    key = later.run.id, earlier.run.id, *cut, level
    if key not in known:
        both = align(later, earlier)
        a, b = both.pair(later.headline, _mask(later, cut))
        known[key] = compare(a, b, level=level)
    return msgspec.structs.replace(known[key], a=names[0], b=names[1])


def _series(
    scenario: str, have: Sequence[tuple[int, Taken]], cut: tuple[str, str], known: MutableMapping[Key, Comparison]
) -> Series:
    tables = tuple(one.tables[scenario] for _, one in have)
    first = tables[0]
    bare = Curve(
        scenario=scenario,
        metric=first.headline,
        role="perplexity" if is_perplexity(first) else "canary",
        points=tuple(
            Point(one.checkpoint.name, place, one.checkpoint.step, _estimate(table, cut), table.run.id)
            for (place, one), table in zip(have, tables, strict=True)
        ),
        view=cut[0],
        value=cut[1],
        protocol=first.run.protocol,
    )
    series = Series(bare, tables, known)
    points = tuple(_related(series, at) for at in range(len(tables)))
    latest = next((one.from_previous for one in reversed(points) if one.from_previous is not None), None)
    curve = msgspec.structs.replace(bare, points=points, detectable=None if latest is None else latest.detectable)
    return Series(curve, tables, known)


def _related(series: Series, at: int) -> Point:
    """A point with its differences from the one before and from the best one before."""
    points = series.curve.points
    point = points[at]
    earlier = [place for place in range(at) if points[place].estimate.value is not None]
    if not earlier or point.estimate.value is None:
        return point
    sign = 1.0 if higher_is_better(series.curve.metric) else -1.0
    best = max(earlier, key=lambda place: sign * (points[place].estimate.value or 0.0))
    return msgspec.structs.replace(
        point, from_previous=series.between(at, earlier[-1]), from_best=series.between(at, best)
    )


def _estimate(tables: Tables, cut: tuple[str, str]) -> Estimate:
    made = pooled(_cut(tables, cut), tables.protocol.aggregation.level)
    return msgspec.structs.replace(made, metric=tables.headline)


def _cut(tables: Tables, cut: tuple[str, str]) -> ByItem:
    mask = _mask(tables, cut)
    table = tables.metrics[tables.headline]
    return table if mask is None else table.only(mask)


def _mask(tables: Tables, cut: tuple[str, str]) -> Mask | None:
    view, value = cut
    if not value:
        return None
    codes, labels = field_codes(tables, view.removeprefix("slice:")) or NO_CODES
    return np.asarray(codes == labels.index(value)) if value in labels else np.zeros(len(tables.names), dtype=np.bool_)


def _cuts(tables: Tables) -> Iterator[tuple[str, str]]:
    """The slices of a perplexity that the protocol groups by, each value with enough texts to say anything."""
    for name in tables.protocol.aggregation.groups:
        codes, labels = field_codes(tables, name) or (None, [])
        for code, label in sorted(enumerate(labels), key=lambda pair: pair[1]):
            if codes is not None and int((codes == code).sum()) >= FEWEST:
                yield f"slice:{name}", label
