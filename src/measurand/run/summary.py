"""From a run in the store to its summary: the tally, the numbers, and a few trials worth a look.

Everything is streamed once, in the order scores, readings, trials, items. What is kept is a number or a code
for each planned trial, never its text, so a run of 200,000 trials fits in a few megabytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from measurand.core.benchmark import Metric
from measurand.core.errors import ReportError
from measurand.core.estimate import Estimate, Tally
from measurand.core.item import Item, Row
from measurand.core.outcome import OUTCOMES, Answered, Blocked, Failed, NotRun, Outcome, Truncated, outcome_name
from measurand.core.summary import ReadingCount, Spent, Summary, View
from measurand.core.trial import Ambiguous, Found, Measured, Trial
from measurand.run.examples import chosen, example
from measurand.run.notes import notes
from measurand.stats.estimate import over_groups, pooled
from measurand.stats.metrics import find
from measurand.stats.missing import ByItem, by_item

if TYPE_CHECKING:
    from measurand.core.ports import Store
    from measurand.core.protocol import Protocol as ProtocolRecord
    from measurand.core.run import Run, Slot

MOST_VALUES = 40
"""A slice with more values than this is not shown value by value, unless the protocol asks for it."""
MOST_REASONS = 30
LONGEST_REASON = 160
NOTHING = "(unstated)"
"""The value of a slice for items that do not name one, where others do."""


@dataclass(slots=True)
class _Marks:
    """The scores of one metric: a row for each planned trial (NaN without one), and where none is due."""

    metric: Metric
    rows: NDArray[np.float64]
    applies: NDArray[np.bool_]
    missing: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class _Trials:
    """What the trials came to: an outcome code for each planned trial, and the few that are shown."""

    codes: NDArray[np.uint8]
    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    kept: dict[int, tuple[Slot, Trial]] = field(default_factory=dict)
    broken: dict[int, str] = field(default_factory=dict)
    seconds: float = 0.0
    cost: float = 0.0
    unpriced: int = 0


@dataclass(slots=True)
class _Items:
    """Which value each item has in each slice, which cluster it is in, and how it came about."""

    slices: dict[str, tuple[NDArray[np.int64], list[str]]]
    wide: list[str]
    clusters: NDArray[np.int64] | None
    made: dict[str, int]
    kept: dict[int, Item]


def summarise(store: Store, run: Run, *, examples: int = 12, metrics: Mapping[str, Metric] | None = None) -> Summary:
    """The summary of a run, from the store alone.

    `metrics` gives metrics of your own by their name in the protocol; all others are found by name. Raises
    ReportError where the stored trials do not add up to the plan, InputError for an unknown metric.
    """
    protocol = store.protocol(run.id)
    marks = _read_scores(store, run, _metrics(protocol, metrics or {}))
    readings, absent = _read_readings(store, run)
    headline = next(iter(marks.values()), None)
    reasons = _worth_a_look(headline, absent, run, examples)
    trials = _read_trials(store, run, reasons.keys(), examples)
    reasons |= trials.broken
    items = _read_items(store, run, protocol, {place // run.samples for place in reasons})
    tally = _tally(run, trials)
    tables = {name: _table(mark, trials, items, run, protocol) for name, mark in marks.items()}
    views = tuple(view for name, table in tables.items() for view in _views(name, table, items, protocol))
    return Summary(
        run=run,
        protocol=protocol,
        tally=tally,
        views=views,
        readings=readings,
        examples=tuple(
            example(store, run, reasons[place], trials.kept[place], items.kept[place // run.samples])
            for place in sorted(reasons)
            if place in trials.kept
        ),
        spent=_spent(store, run, trials),
        made=items.made,
        notes=tuple(notes(run, protocol, tally, views, _gaps(marks, items, protocol))),
    )


def _gaps(marks: Mapping[str, _Marks], items: _Items, protocol: ProtocolRecord) -> Iterator[str]:
    """What could not be measured or shown, and why."""
    for name, mark in marks.items():
        for why, count in sorted(mark.missing.items()):
            yield f"{count:,} {'trial has' if count == 1 else 'trials have'} no {name}: {why.replace('_', ' ')}."
    for name in sorted({*protocol.aggregation.macro, *protocol.aggregation.groups} - items.slices.keys()):
        yield f"The protocol groups by {name}, which no item names."
    for name in items.wide:
        yield f"The slice {name} has more than {MOST_VALUES} values and is not shown."


def _metrics(protocol: ProtocolRecord, own: Mapping[str, Metric]) -> dict[str, Metric]:
    """The metrics by name, the headline first: the order of the markings."""
    rule = protocol.aggregation.metrics
    marked = [marking.metric for marking in protocol.scoring.markings]
    order = dict.fromkeys([name for name in marked if name in rule] + sorted(rule))
    return {name: own[name] if name in own else find(rule[name]) for name in order}


def _place(run: Run, slot: Slot) -> int:
    if not (0 <= slot.item_no < run.n_items and 0 <= slot.sample_no < run.samples):
        raise ReportError(
            f"run {run.id} holds trial {slot.item_no}.{slot.sample_no}, which its plan of {run.n_items} items and "
            f"{run.samples} samples does not: the store is damaged, or two plans were written under one run"
        )
    return slot.item_no * run.samples + slot.sample_no


def _read_scores(store: Store, run: Run, metrics: Mapping[str, Metric]) -> dict[str, _Marks]:
    planned = run.n_planned
    marks = {
        name: _Marks(metric, np.full((planned, len(metric.columns)), np.nan), np.ones(planned, dtype=np.bool_))
        for name, metric in metrics.items()
    }
    for slot, score in store.scores(run.id):
        mark = marks.get(score.metric)
        if mark is None:
            continue
        place, value = _place(run, slot), score.value
        if not isinstance(value, Measured):
            mark.missing[value.why] += 1
            mark.applies[place] = value.why != "not_applicable"
        elif len(value.row) == mark.rows.shape[1]:
            mark.rows[place] = value.row
        else:
            raise ReportError(
                f"a score of {score.metric} by {score.by} has {len(value.row)} numbers and its metric "
                f"{len(mark.metric.columns)}: score the run again with the protocol's own scorer"
            )
    return marks


def _read_readings(store: Store, run: Run) -> tuple[tuple[ReadingCount, ...], dict[str, NDArray[np.bool_]]]:
    """How often each reader found something, and where it did not."""
    counts: dict[str, list[int]] = {}
    absent: dict[str, NDArray[np.bool_]] = {}
    for slot, reading in store.readings(run.id):
        if reading.reader not in counts:
            counts[reading.reader] = [0, 0, 0]
            absent[reading.reader] = np.zeros(run.n_planned, dtype=np.bool_)
        finding = reading.finding
        kind = 0 if isinstance(finding, Found) else 2 if isinstance(finding, Ambiguous) else 1
        counts[reading.reader][kind] += 1
        if kind:
            absent[reading.reader][_place(run, slot)] = True
    return tuple(ReadingCount(reader, *count) for reader, count in sorted(counts.items())), absent


def _worth_a_look(
    headline: _Marks | None, absent: Mapping[str, NDArray[np.bool_]], run: Run, examples: int
) -> dict[int, str]:
    """Places of wrong answers (half of what is shown) and of answers that could not be read (a quarter)."""
    unread = np.zeros(run.n_planned, dtype=np.bool_)
    for places in absent.values():
        unread |= places
    shown = dict.fromkeys(chosen(unread, examples // 4, run.id), "no single answer could be read")
    if headline is not None and headline.metric.low is not None:
        wrong = (headline.rows[:, 0] <= headline.metric.low) & ~unread
        shown |= dict.fromkeys(chosen(wrong, examples // 2, run.id), "wrong answer")
    return shown


def _read_trials(store: Store, run: Run, wanted: Container[int], examples: int) -> _Trials:
    trials = _Trials(np.full(run.n_planned, OUTCOMES.index("not_run"), dtype=np.uint8))
    code = {name: number for number, name in enumerate(OUTCOMES)}
    different: set[str] = set()
    for slot, trial in store.trials(run.id):
        place, outcome, name = _place(run, slot), trial.outcome, outcome_name(trial.outcome)
        trials.codes[place] = code[name]
        trials.counts[name] += 1
        trials.seconds += trial.seconds
        trials.cost += trial.cost or 0.0
        trials.unpriced += trial.cost is None
        if place in wanted:
            trials.kept[place] = slot, trial
        if isinstance(outcome, Answered):
            continue
        reason = _reason(outcome)
        if reason not in trials.reasons and len(trials.reasons) >= MOST_REASONS:
            reason = f"{name}: other reasons"
        trials.reasons[reason] += 1
        if isinstance(outcome, Failed) and reason not in different and len(different) < examples // 4:
            different.add(reason)
            trials.broken[place] = reason
            trials.kept[place] = slot, trial
    return trials


def _reason(outcome: Outcome) -> str:
    match outcome:
        case Truncated(by=by):
            return f"truncated by {by}"
        case Blocked(by=by):
            return f"blocked by {by}"[:LONGEST_REASON]
        case Failed(where=where, why=why):
            return f"failed in {where}: {why}"[:LONGEST_REASON]
        case NotRun(why=why):
            return f"not run: {why}"[:LONGEST_REASON]
        case _:
            return outcome_name(outcome)


def _tally(run: Run, trials: _Trials) -> Tally:
    """Trials by outcome. A planned trial without a row was not run; more rows than places is a damaged store."""
    counts, reasons = dict(trials.counts), dict(trials.reasons)
    waiting = int((trials.codes == OUTCOMES.index("not_run")).sum()) - counts.get("not_run", 0)
    if waiting > 0:
        counts["not_run"] = counts.get("not_run", 0) + waiting
        reasons["not run: not started"] = waiting
    tally = Tally(planned=run.n_planned, **counts, reasons=dict(sorted(reasons.items())))
    if tally.total != tally.planned:
        raise ReportError(
            f"run {run.id} planned {tally.planned} trials and its outcomes add up to {tally.total}: "
            "no number is shown until they agree; look for a trial that was stored twice"
        )
    return tally


def _read_items(store: Store, run: Run, protocol: ProtocolRecord, wanted: Container[int]) -> _Items:
    asked_for = {*protocol.aggregation.macro, *protocol.aggregation.groups}
    codes: dict[str, NDArray[np.int64]] = {}
    labels: dict[str, dict[str, int]] = {}
    clusters: dict[str, int] = {}
    cluster = np.arange(run.n_items, dtype=np.int64)
    made: Counter[str] = Counter()
    kept: dict[int, Item] = {}
    n = 0
    for n, item in enumerate(store.items(run.id), 1):
        if n > run.n_items:
            break
        made[item.origin.made if isinstance(item.origin, Row) else "unstated"] += 1
        if item.cluster:
            cluster[n - 1] = run.n_items + clusters.setdefault(item.cluster, len(clusters))
        if n - 1 in wanted:
            kept[n - 1] = item
        for name, value in item.slices.items():
            seen = labels.setdefault(name, {})
            if len(seen) <= MOST_VALUES or name in asked_for:
                if name not in codes:
                    codes[name] = np.full(run.n_items, -1, dtype=np.int64)
                codes[name][n - 1] = seen.setdefault(value, len(seen))
    if n != run.n_items:
        raise ReportError(f"run {run.id} planned {run.n_items} items and the store holds {n}: open another copy of it")
    wide = {name for name, seen in labels.items() if len(seen) > MOST_VALUES and name not in asked_for}
    slices = {name: _complete(codes[name], list(labels[name])) for name in sorted(codes.keys() - wide)}
    return _Items(slices, sorted(wide), cluster if clusters else None, dict(sorted(made.items())), kept)


def _complete(codes: NDArray[np.int64], labels: list[str]) -> tuple[NDArray[np.int64], list[str]]:
    """Items that name no value are a group of their own: they do not vanish from a table that others are in."""
    if (codes < 0).any():
        codes = np.where(codes < 0, len(labels), codes)
        labels = [*labels, NOTHING]
    return codes, labels


def _table(mark: _Marks, trials: _Trials, items: _Items, run: Run, protocol: ProtocolRecord) -> ByItem:
    """The rows by item, without the answers that the protocol does not score."""
    scoring = protocol.scoring
    unscored = [("truncated", scoring.score_truncated), ("refused", scoring.score_refused)]
    for name, scored in unscored:
        if not scored:
            mark.rows[trials.codes == OUTCOMES.index(name)] = np.nan
    of = np.repeat(np.arange(run.n_items, dtype=np.int64), run.samples)
    return by_item(mark.metric, mark.rows[mark.applies], of[mark.applies], run.n_items, items.clusters)


def _views(name: str, table: ByItem, items: _Items, protocol: ProtocolRecord) -> Iterator[View]:
    """The pooled number, the macro numbers, then each value of each slice."""
    rule = protocol.aggregation

    def named(estimate: Estimate) -> Estimate:
        return msgspec.structs.replace(estimate, metric=name)

    yield View("pooled", named(pooled(table, rule.level)))
    for slice_name in rule.macro:
        if slice_name in items.slices:
            yield View(f"macro:{slice_name}", named(over_groups(table, items.slices[slice_name][0], rule.level)))
    for slice_name, (codes, labels) in items.slices.items():
        for code, label in sorted(enumerate(labels), key=lambda pair: (pair[1] == NOTHING, pair[1])):
            yield View(f"slice:{slice_name}", named(pooled(table.only(codes == code), rule.level)), label)


def _spent(store: Store, run: Run, trials: _Trials) -> Spent:
    priced = sum(trials.counts.values()) > trials.unpriced
    cost = trials.cost if priced else None
    return msgspec.structs.replace(store.spent(run.id), cost=cost, seconds=trials.seconds)
