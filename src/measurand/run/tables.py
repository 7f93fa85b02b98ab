"""What was measured in one run, item by item: the rows of every metric, and what each item belongs to.

Everything is streamed once. What is kept is a number or a code for each planned trial, never its text, so a run of
200,000 trials fits in a few megabytes. `tables` is the whole; a summary takes the parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from measurand.core.benchmark import NESTED, Metric
from measurand.core.errors import ReportError
from measurand.core.estimate import Tally
from measurand.core.identity import canonical_json, digest
from measurand.core.item import Item, Row
from measurand.core.outcome import OUTCOMES, Answered, Blocked, Failed, NotRun, Outcome, Truncated, outcome_name
from measurand.core.trial import Measured, Trial
from measurand.run.examples import item_text
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

Codes = NDArray[np.int64]


@dataclass(slots=True)
class Marks:
    """The scores of one metric: a row for each planned trial (NaN without one), and where none is due."""

    metric: Metric
    rows: NDArray[np.float64]
    applies: NDArray[np.bool_]
    missing: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Trials:
    """What the trials came to: outcome, seconds and cost of each planned trial, and a few kept whole."""

    codes: NDArray[np.uint8]
    seconds: NDArray[np.float64]
    costs: NDArray[np.float64]
    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    kept: dict[int, tuple[Slot, Trial]] = field(default_factory=dict)
    broken: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class Items:
    """Which value each item has in each slice, which cluster it is in, and how it came about."""

    slices: dict[str, tuple[Codes, list[str]]]
    wide: list[str]
    clusters: Codes | None
    made: dict[str, int]
    kept: dict[int, Item]


@dataclass(frozen=True, slots=True)
class Tables:
    """One run as tables.

    `metrics` holds the rows by item, the headline first. `fields` gives each item's value in each slice, and in
    `language`; `lengths` [items] the characters of what is asked. `names` and `contents` [items] are the items' ids and
    the hashes of what they ask and want: two runs share an item where both are equal. `seconds` and `costs` [trials]
    are NaN where unknown.
    """

    run: Run
    protocol: ProtocolRecord
    tally: Tally
    metrics: dict[str, ByItem]
    fields: dict[str, tuple[Codes, list[str]]]
    names: tuple[str, ...]
    contents: tuple[bytes, ...]
    lengths: NDArray[np.int64]
    seconds: NDArray[np.float64]
    costs: NDArray[np.float64]
    made: dict[str, int]

    @property
    def headline(self) -> str:
        """The name of the first metric."""
        return next(iter(self.metrics))


def tables(store: Store, run: Run, metrics: Mapping[str, Metric] | None = None) -> Tables:
    """Read a run from the store. `metrics` gives metrics of your own by their name in the protocol.

    Raises ReportError where the stored trials do not add up to the plan, InputError for an unknown metric.
    """
    protocol = store.protocol(run.id)
    marks = read_scores(store, run, metrics_of(protocol, metrics or {}))
    trials = read_trials(store, run, (), 0)
    items = read_items(store.items(run.id), run, protocol, ())
    names, contents, lengths, languages = [], [], [], []
    for item in store.items(run.id):
        names.append(item.id)
        contents.append(_content(item))
        lengths.append(len(item_text(item)))
        languages.append(item.language)
    fields = dict(items.slices)
    if any(languages):
        fields.setdefault("language", _coded(languages))
    return Tables(
        run=run,
        protocol=protocol,
        tally=tally(run, trials),
        metrics={name: table(mark, trials, items, run, protocol) for name, mark in marks.items()},
        fields=fields,
        names=tuple(names),
        contents=tuple(contents),
        lengths=np.array(lengths, dtype=np.int64),
        seconds=trials.seconds,
        costs=trials.costs,
        made=items.made,
    )


def _content(item: Item) -> bytes:
    """What makes two items one: the question and the gold, whatever slices they are counted in."""
    import msgspec

    return digest(canonical_json(msgspec.to_builtins(item.input)), canonical_json(item.gold))


def _coded(values: list[str]) -> tuple[Codes, list[str]]:
    labels = {value: number for number, value in enumerate(dict.fromkeys(value or NOTHING for value in values))}
    return np.array([labels[value or NOTHING] for value in values], dtype=np.int64), list(labels)


def grouped_by(protocol: ProtocolRecord) -> set[str]:
    """The slices that the protocol combines or shows; a nested macro number names several."""
    rule = protocol.aggregation
    return {part for path in rule.macro for part in path.split(NESTED)} | set(rule.groups)


def metrics_of(protocol: ProtocolRecord, own: Mapping[str, Metric]) -> dict[str, Metric]:
    """The metrics by name, the headline first: the order of the markings."""
    rule = protocol.aggregation.metrics
    marked = [marking.metric for marking in protocol.scoring.markings]
    order = dict.fromkeys([name for name in marked if name in rule] + sorted(rule))
    return {name: own[name] if name in own else find(rule[name]) for name in order}


def place(run: Run, slot: Slot) -> int:
    """Where a trial stands in the plan. Raises ReportError for one that is not in it."""
    if not (0 <= slot.item_no < run.n_items and 0 <= slot.sample_no < run.samples):
        raise ReportError(
            f"run {run.id} holds trial {slot.item_no}.{slot.sample_no}, which its plan of {run.n_items} items and "
            f"{run.samples} samples does not: the store is damaged, or two plans were written under one run"
        )
    return slot.item_no * run.samples + slot.sample_no


def read_scores(store: Store, run: Run, metrics: Mapping[str, Metric]) -> dict[str, Marks]:
    """The scores of each metric. Raises ReportError for a row that does not fit its metric."""
    planned = run.n_planned
    marks = {
        name: Marks(metric, np.full((planned, len(metric.columns)), np.nan), np.ones(planned, dtype=np.bool_))
        for name, metric in metrics.items()
    }
    for slot, score in store.scores(run.id):
        mark = marks.get(score.metric)
        if mark is None:
            continue
        at, value = place(run, slot), score.value
        if not isinstance(value, Measured):
            mark.missing[value.why] += 1
            mark.applies[at] = value.why != "not_applicable"
        elif len(value.row) == mark.rows.shape[1]:
            mark.rows[at] = value.row
        else:
            raise ReportError(
                f"a score of {score.metric} by {score.by} has {len(value.row)} numbers and its metric "
                f"{len(mark.metric.columns)}: score the run again with the protocol's own scorer"
            )
    return marks


def read_trials(store: Store, run: Run, wanted: Container[int], most_broken: int) -> Trials:
    """The trials; those in `wanted` places are kept whole, and up to `most_broken` that failed in different ways."""
    trials = Trials(
        np.full(run.n_planned, OUTCOMES.index("not_run"), dtype=np.uint8),
        np.full(run.n_planned, np.nan, dtype=np.float64),
        np.full(run.n_planned, np.nan, dtype=np.float64),
    )
    code = {name: number for number, name in enumerate(OUTCOMES)}
    different: set[str] = set()
    for slot, trial in store.trials(run.id):
        at, outcome, name = place(run, slot), trial.outcome, outcome_name(trial.outcome)
        trials.codes[at] = code[name]
        trials.counts[name] += 1
        trials.seconds[at] = trial.seconds
        if trial.cost is not None:
            trials.costs[at] = trial.cost
        if at in wanted:
            trials.kept[at] = slot, trial
        if isinstance(outcome, Answered):
            continue
        reason = _reason(outcome)
        if reason not in trials.reasons and len(trials.reasons) >= MOST_REASONS:
            reason = f"{name}: other reasons"
        trials.reasons[reason] += 1
        if isinstance(outcome, Failed) and reason not in different and len(different) < most_broken:
            different.add(reason)
            trials.broken[at] = reason
            trials.kept[at] = slot, trial
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


def tally(run: Run, trials: Trials) -> Tally:
    """Trials by outcome. A planned trial without a row was not run; more rows than places is a damaged store."""
    counts, reasons = dict(trials.counts), dict(trials.reasons)
    waiting = int((trials.codes == OUTCOMES.index("not_run")).sum()) - counts.get("not_run", 0)
    if waiting > 0:
        counts["not_run"] = counts.get("not_run", 0) + waiting
        reasons["not run: not started"] = waiting
    counted = Tally(planned=run.n_planned, **counts, reasons=dict(sorted(reasons.items())))
    if counted.total != counted.planned:
        raise ReportError(
            f"run {run.id} planned {counted.planned} trials and its outcomes add up to {counted.total}: "
            "no number is shown until they agree; look for a trial that was stored twice"
        )
    return counted


def read_items(all_items: Iterable[Item], run: Run, protocol: ProtocolRecord, wanted: Container[int]) -> Items:
    """What the items belong to; those in `wanted` places are kept whole. Raises ReportError where some are lacking."""
    asked_for = grouped_by(protocol)
    codes: dict[str, Codes] = {}
    labels: dict[str, dict[str, int]] = {}
    clusters: dict[str, int] = {}
    cluster = np.arange(run.n_items, dtype=np.int64)
    made: Counter[str] = Counter()
    kept: dict[int, Item] = {}
    n = 0
    for n, item in enumerate(all_items, 1):
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
    return Items(slices, sorted(wide), cluster if clusters else None, dict(sorted(made.items())), kept)


def _complete(codes: Codes, labels: list[str]) -> tuple[Codes, list[str]]:
    """Items that name no value are a group of their own: they do not vanish from a table that others are in."""
    if (codes < 0).any():
        codes = np.where(codes < 0, len(labels), codes)
        labels = [*labels, NOTHING]
    return codes, labels


def table(mark: Marks, trials: Trials, items: Items, run: Run, protocol: ProtocolRecord) -> ByItem:
    """The rows by item, without the answers that the protocol does not score."""
    scoring = protocol.scoring
    unscored = [("truncated", scoring.score_truncated), ("refused", scoring.score_refused)]
    for name, scored in unscored:
        if not scored:
            mark.rows[trials.codes == OUTCOMES.index(name)] = np.nan
    of = np.repeat(np.arange(run.n_items, dtype=np.int64), run.samples)
    return by_item(mark.metric, mark.rows[mark.applies], of[mark.applies], run.n_items, items.clusters)
