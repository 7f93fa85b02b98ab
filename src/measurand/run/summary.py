"""From a run in the store to its summary: the tally, the numbers, and a few trials worth a look."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from measurand.core.benchmark import NESTED, Metric
from measurand.core.estimate import Estimate
from measurand.core.summary import ReadingCount, Spent, Summary, View
from measurand.core.trial import Ambiguous, Finding, Found
from measurand.run.breakdown import breakdown, has_parts
from measurand.run.examples import chosen, example
from measurand.run.notes import notes
from measurand.run.tables import (
    MOST_VALUES,
    NOTHING,
    Items,
    Marks,
    Trials,
    grouped_by,
    metrics_of,
    place,
    read_items,
    read_scores,
    read_trials,
    table,
    tally,
)
from measurand.stats.estimate import pooled
from measurand.stats.missing import ByItem
from measurand.stats.nested import over_nested

if TYPE_CHECKING:
    from measurand.core.ports import Store
    from measurand.core.protocol import Protocol as ProtocolRecord
    from measurand.core.run import Run


def summarise(store: Store, run: Run, *, examples: int = 12, metrics: Mapping[str, Metric] | None = None) -> Summary:
    """The summary of a run, from the store alone.

    `metrics` gives metrics of your own by their name in the protocol; all others are found by name. Raises
    ReportError where the stored trials do not add up to the plan, InputError for an unknown metric.
    """
    protocol = store.protocol(run.id)
    marks = read_scores(store, run, metrics_of(protocol, metrics or {}))
    readings, absent = _read_readings(store, run)
    parts = has_parts(protocol)
    judged = list(marks.values()) if parts else list(marks.values())[:1]
    reasons = _worth_a_look(judged, absent, run, examples)
    trials = read_trials(store, run, reasons.keys(), examples // 4)
    reasons |= trials.broken
    items = read_items(store.items(run.id), run, protocol, {at // run.samples for at in reasons})
    counted = tally(run, trials)
    by_metric = {name: table(mark, trials, items, run, protocol) for name, mark in marks.items()}
    views = tuple(view for name, rows in by_metric.items() for view in _views(name, rows, items, protocol))
    return Summary(
        run=run,
        protocol=protocol,
        tally=counted,
        views=views,
        breakdown=tuple(breakdown(marks, by_metric, trials, items, run, protocol)) if parts else (),
        readings=readings,
        examples=tuple(
            example(store, run, reasons[at], trials.kept[at], items.kept[at // run.samples])
            for at in sorted(reasons)
            if at in trials.kept
        ),
        spent=_spent(store, run, trials),
        made=items.made,
        notes=tuple(notes(run, protocol, counted, views, chain(_gaps(marks, items, protocol), _ties(readings)))),
    )


def _gaps(marks: Mapping[str, Marks], items: Items, protocol: ProtocolRecord) -> Iterator[str]:
    """What could not be measured or shown, and why."""
    if has_parts(protocol):
        yield "The order is that of the shares: where intervals overlap, it may be chance."
    for name, mark in marks.items():
        for why, count in sorted(mark.missing.items()):
            if why == "not_applicable" and has_parts(protocol):
                continue  # a part is asked for in some items only, and its counts say so
            yield f"{count:,} {'trial has' if count == 1 else 'trials have'} no {name}: {why.replace('_', ' ')}."
    for name in sorted(grouped_by(protocol) - items.slices.keys()):
        yield f"The protocol groups by {name}, which no item names."
    for name in items.wide:
        yield f"The slice {name} has more than {MOST_VALUES} values and is not shown."


def _read_readings(store: Store, run: Run) -> tuple[tuple[ReadingCount, ...], dict[str, NDArray[np.bool_]]]:
    """How often each reader found something, and where it did not."""
    counts: dict[str, list[int]] = {}
    absent: dict[str, NDArray[np.bool_]] = {}
    for slot, reading in store.readings(run.id):
        if reading.reader not in counts:
            counts[reading.reader] = [0, 0, 0, 0]
            absent[reading.reader] = np.zeros(run.n_planned, dtype=np.bool_)
        finding = reading.finding
        kind = 0 if isinstance(finding, Found) else 2 if isinstance(finding, Ambiguous) else 1
        counts[reading.reader][kind] += 1
        counts[reading.reader][3] += _is_tie(finding)
        if kind:
            absent[reading.reader][place(run, slot)] = True
    return tuple(ReadingCount(reader, *count) for reader, count in sorted(counts.items())), absent


def _is_tie(finding: Finding) -> bool:
    """Whether several options were found because none is likelier than the others: places, not labels."""
    value = finding.value if isinstance(finding, Found) else None
    return isinstance(value, list | tuple) and len(value) > 1 and all(isinstance(one, int) for one in value)


def _ties(readings: tuple[ReadingCount, ...]) -> Iterator[str]:
    for count in readings:
        if count.tied:
            yield f"By {count.reader}, {count.tied:,} of {count.found:,} choices are ties; the tied share their point."


def _worth_a_look(
    judged: list[Marks], absent: Mapping[str, NDArray[np.bool_]], run: Run, examples: int
) -> dict[int, str]:
    """Places of wrong answers (half of what is shown) and of answers that could not be read (a quarter).

    Wrong is what one of the metrics in `judged` gives its least to: the headline's, or every part's.
    """
    unread = np.zeros(run.n_planned, dtype=np.bool_)
    for places in absent.values():
        unread |= places
    shown = dict.fromkeys(chosen(unread, examples // 4, run.id), "no single answer could be read")
    lowest = [(mark.rows[:, 0], mark.metric.low) for mark in judged if mark.metric.low is not None]
    if lowest:
        wrong = np.any([first <= low for first, low in lowest], axis=0) & ~unread
        shown |= dict.fromkeys(chosen(wrong, examples // 2, run.id), "wrong answer")
    return shown


def _views(name: str, rows: ByItem, items: Items, protocol: ProtocolRecord) -> Iterator[View]:
    """The pooled number, the macro numbers, then each value of each slice."""
    rule = protocol.aggregation

    def named(estimate: Estimate) -> Estimate:
        return msgspec.structs.replace(estimate, metric=name)

    yield View("pooled", named(pooled(rows, rule.level)))
    for path in rule.macro:
        levels = [items.slices[part][0] for part in path.split(NESTED) if part in items.slices]
        if len(levels) == len(path.split(NESTED)):
            yield View(f"macro:{path}", named(over_nested(rows, levels, rule.level)))
    for slice_name, (codes, labels) in items.slices.items():
        for code, label in sorted(enumerate(labels), key=lambda pair: (pair[1] == NOTHING, pair[1])):
            yield View(f"slice:{slice_name}", named(pooled(rows.only(codes == code), rule.level)), label)


def _spent(store: Store, run: Run, trials: Trials) -> Spent:
    priced = not bool(np.isnan(trials.costs).all())
    cost = float(np.nansum(trials.costs)) if priced else None
    return msgspec.structs.replace(store.spent(run.id), cost=cost, seconds=float(np.nansum(trials.seconds)))
