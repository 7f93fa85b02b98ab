"""The trials of a run as flat rows: the same columns in every row, whatever became of the trial."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from measurand.core.identity import canonical_json
from measurand.core.outcome import Blocked, Failed, NotRun, Outcome, Truncated, answer_of, outcome_name
from measurand.core.trial import Absent, Ambiguous, Found, Measured, Reading, Score, Trial

if TYPE_CHECKING:
    from measurand.core.item import Item
    from measurand.core.ports import Store
    from measurand.core.record import Json
    from measurand.core.run import Run, Slot

Row = dict[str, Any]
T = TypeVar("T")


def trial_rows(store: Store, run: Run) -> Iterator[Row]:
    """The trials of a run, in the order of the plan, streamed.

    Each has `run`, `benchmark`, `protocol`, `subject_id`, `item`, `sample`, `member`, `outcome`, `why`, `answer`,
    `reasoning`, `cost`, `started`, `seconds` and `gold`; then `slice:NAME`; `reading:READER` (the value, as text or
    JSON) with `found:READER` (found, absent or ambiguous); and `score:METRIC` (a number, or a list) with
    `missing:METRIC` (why there is none).
    """
    empty = _empty(store, run)
    items, readings, scores = enumerate(store.items(run.id)), store.readings(run.id), store.scores(run.id)
    at, item = -1, None
    waiting: list[Any] = [next(readings, None), next(scores, None)]
    for slot, trial in store.trials(run.id):
        while at < slot.item_no:
            at, item = next(items, (slot.item_no, None))
        row = _trial(run, slot, trial) | {"gold": None} | empty  # in the order in which people look for columns
        if item is not None:
            row.update(_item(item))
        waiting[0], mine = _take(readings, waiting[0], slot)
        for reading in mine:
            row.update(_reading(reading))
        waiting[1], given = _take(scores, waiting[1], slot)
        for score in given:
            row.update(_score(score))
        yield row


def _empty(store: Store, run: Run) -> Row:
    """Every column that a row of this run can have."""
    protocol = store.protocol(run.id)
    slices = dict.fromkeys(name for item in store.items(run.id) for name in item.slices)
    row: Row = dict.fromkeys(f"slice:{name}" for name in sorted(slices))
    for marking in protocol.scoring.markings:
        row |= {f"reading:{marking.reader}": None, f"found:{marking.reader}": None}
    for metric in sorted(protocol.aggregation.metrics):
        row |= {f"score:{metric}": None, f"missing:{metric}": None}
    return row


def _take(
    stream: Iterator[tuple[Slot, T]], waiting: tuple[Slot, T] | None, slot: Slot
) -> tuple[tuple[Slot, T] | None, list[T]]:
    """What the stream holds for this slot, and the first that is for a later one. Both are in the order of the plan."""
    mine: list[T] = []
    while waiting is not None and _order(waiting[0]) <= _order(slot):
        if waiting[0] == slot:
            mine.append(waiting[1])
        waiting = next(stream, None)
    return waiting, mine


def _order(slot: Slot) -> tuple[int, int, str]:
    return slot.item_no, slot.sample_no, slot.member


def _trial(run: Run, slot: Slot, trial: Trial) -> Row:
    answer = answer_of(trial.outcome)
    return {
        "run": run.id,
        "benchmark": run.benchmark,
        "protocol": run.protocol,
        "subject_id": run.subject_id,
        "item": trial.item,
        "sample": slot.sample_no,
        "member": trial.member,
        "outcome": outcome_name(trial.outcome),
        "why": _why(trial.outcome),
        "answer": answer.text if answer else None,
        "reasoning": answer.reasoning if answer else None,
        "cost": trial.cost,
        "started": trial.started,
        "seconds": trial.seconds,
    }


def _why(outcome: Outcome) -> str:
    match outcome:
        case Truncated(by=by) | Blocked(by=by):
            return by
        case Failed(where=where, why=why):
            return f"{where}: {why}"
        case NotRun(why=why):
            return why
        case _:
            return ""


def _item(item: Item) -> Row:
    return {"gold": _text(item.gold), **{f"slice:{name}": value for name, value in item.slices.items()}}


def _reading(reading: Reading) -> Row:
    match reading.finding:
        case Found(value=value):
            found, shown = "found", _text(value)
        case Ambiguous(candidates=candidates):
            found, shown = "ambiguous", _text(list(candidates))
        case Absent():
            found, shown = "absent", None
    return {f"reading:{reading.reader}": shown, f"found:{reading.reader}": found}


def _score(score: Score) -> Row:
    value = score.value
    if not isinstance(value, Measured):
        return {f"score:{score.metric}": None, f"missing:{score.metric}": value.why}
    return {f"score:{score.metric}": value.row[0] if len(value.row) == 1 else list(value.row)}


def _text(value: Json) -> str | None:
    return value if value is None or isinstance(value, str) else canonical_json(value).decode()
