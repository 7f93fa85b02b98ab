"""Writing a batch: all its calls and trials in one transaction, a handful of statements whatever their number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from sqlalchemy import Connection, Executable, Table, bindparam, func, select, text
from sqlalchemy.dialects.sqlite import dialect, insert

from measurand.store import schema
from measurand.store.entries import Finished, Recorded
from measurand.store.texts import Packed, deflate_text, shorten

_MOST_KNOWN = 20_000
_MOST_ROWS = 32  # so few that a statement for each number of rows can be kept prepared
_LEAVING_ALONE = " ON CONFLICT DO NOTHING"

Rows = list[tuple[Any, ...]]


class ManyRows:
    """A statement over rows of parameters, in as few steps as may be.

    Each step of SQLite lets other threads run, and a busy one gives way only after five milliseconds; one
    step for each row would make a batch wait for as many of them.
    """

    def __init__(self, statement: Executable, *order: str, row: str = "") -> None:
        compiled = statement.compile(dialect=dialect())  # type: ignore[attr-defined]
        if tuple(compiled.positiontup) != order:
            message = f"a statement takes {compiled.positiontup}, not {order}"
            raise AssertionError(message)
        sql = str(compiled)
        self._row = row or sql.partition(" VALUES ")[2].removesuffix(_LEAVING_ALONE)
        self._head, _, self._tail = sql.partition(self._row)
        self._texts: dict[int, str] = {}

    def run(self, connection: Connection, rows: Rows) -> None:
        """Run it over all rows, past SQLAlchemy: the statement is compiled, and its own steps cost more than these."""
        execute = connection.connection.driver_connection.execute  # type: ignore[union-attr] # it is there in a transaction
        for start in range(0, len(rows), _MOST_ROWS):
            some = rows[start : start + _MOST_ROWS]
            sql = self._texts.get(len(some))
            if sql is None:
                sql = self._texts[len(some)] = self._head + ", ".join([self._row] * len(some)) + self._tail
            execute(sql, tuple(chain.from_iterable(some)))


def _insert(table: Table, *order: str, **special: Any) -> Any:
    columns = [column.name for column in table.columns]
    plain: dict[str, Any] = {name: bindparam(name) for name in order if name in columns}
    return insert(table).values({**plain, **special})


def inserting(table: Table, *order: str) -> ManyRows:
    """Insert rows of these columns, leaving alone what is there already."""
    return ManyRows(_insert(table, *order).on_conflict_do_nothing(), *order)


def _inserting(table: Table, *order: str, **special: Any) -> ManyRows:
    return ManyRows(_insert(table, *order, **special), *order)


_item_of_slot = (
    select(schema.item.c.id)
    .where(
        schema.item.c.item_set == bindparam("set"),
        schema.item.c.item_no == bindparam("no"),
        schema.item.c.name == bindparam("item_name"),
    )
    .scalar_subquery()
)
_journal_of_key = select(schema.journal.c.id).where(schema.journal.c.key == bindparam("journal_key")).scalar_subquery()
_trial = schema.trial.c
# The order of CROSS JOIN is kept by SQLite: few slots first, then what the indexes find for each.
_OLD_TRIALS = """
DELETE FROM trial WHERE id IN (
  WITH slot (run, item_set, item_no, sample_no, member) AS (VALUES (?, ?, ?, ?, ?))
  SELECT trial.id FROM slot CROSS JOIN item CROSS JOIN trial
  WHERE item.item_set = slot.item_set AND item.item_no = slot.item_no AND trial.run = slot.run
  AND trial.item = item.id AND trial.sample_no = slot.sample_no AND trial.member = slot.member
)"""

ADD_BLOB = inserting(schema.blob, "hash", "deflated", "data")
_ADD_JOURNAL = inserting(
    schema.journal, "key", "subject", "ran", "sent", "received", "at", "input_tokens", "output_tokens"
)
_DROP_TRIAL = ManyRows(text(_OLD_TRIALS), row="(?, ?, ?, ?, ?)")
_ADD_TRIAL = _inserting(
    schema.trial,
    *("id", "run", "set", "no", "item_name", "sample_no", "member", "outcome", "body", "cost", "started", "seconds"),
    item=_item_of_slot,
)
_ADD_CALL = _inserting(schema.call, "trial", "place", "role", "journal_key", "body", journal=_journal_of_key)
_ADD_READING = _inserting(schema.reading, "trial", "place", "reader", "step", "of", "body")
_ADD_SCORE = _inserting(schema.score, "trial", "place", "metric", "by", "of", "body")
_LAST_TRIAL = select(func.max(_trial.id))


class Interned:
    """Ids of texts in a table of texts, remembered for as long as the writer lives."""

    def __init__(self, table: Table, column: str) -> None:
        self._ids: dict[str, int] = {}
        self._column = table.c[column]
        self._add = inserting(table, column)
        self._find = select(table.c.id).where(self._column == bindparam("wanted"))

    def resolve(self, connection: Connection, wanted: Iterable[str]) -> dict[str, int]:
        """All ids known so far, among them the wanted ones."""
        for one in wanted:
            if one not in self._ids:
                self._add.run(connection, [(one,)])
                self._ids[one] = connection.execute(self._find, {"wanted": one}).scalar_one()
        return self._ids


class Batcher:
    """Writes batches, and remembers what need not be looked up or written again."""

    def __init__(self) -> None:
        self._names = Interned(schema.name, "text")
        self._subjects = Interned(schema.subject, "key")
        self._known: set[bytes] = set()

    def write(self, connection: Connection, calls: Sequence[Recorded], trials: Sequence[Finished]) -> set[bytes]:
        """Write all of it within the caller's transaction. Returns the hashes to `remember` once it is committed."""
        latest = list({(trial.run, trial.slot): trial for trial in trials}.values())
        added = write_texts(connection, _packed(calls, latest), self._known)
        if calls:
            self._write_calls(connection, calls)
        if latest:
            self._write_trials(connection, latest)
        return added

    def remember(self, hashes: set[bytes]) -> None:
        """Note that these texts are in the store, so that a shared prompt is deflated once and not a million times."""
        if len(self._known) + len(hashes) > _MOST_KNOWN:
            self._known.clear()
        self._known |= hashes

    def _write_calls(self, connection: Connection, calls: Sequence[Recorded]) -> None:
        subjects = self._subjects.resolve(connection, {call.subject for call in calls})
        rows: Rows = [
            (
                *(call.key, subjects[call.subject], call.ran, shorten(call.sent.body), shorten(call.received.body)),
                *(call.at, call.input_tokens, call.output_tokens),
            )
            for call in calls
        ]
        _ADD_JOURNAL.run(connection, rows)

    def _write_trials(self, connection: Connection, trials: Sequence[Finished]) -> None:
        ids = self._names.resolve(connection, _names(trials))
        old: Rows = [(one.run, one.item_set, one.slot.item_no, one.slot.sample_no, one.slot.member) for one in trials]
        _DROP_TRIAL.run(connection, old)
        first = (connection.execute(_LAST_TRIAL).scalar() or 0) + 1
        rows: Rows = []
        calls: Rows = []
        readings: Rows = []
        scores: Rows = []
        for row, one in enumerate(trials, first):
            slot, body = one.slot, shorten(one.body.body)
            place = (slot.item_no, one.item, slot.sample_no, slot.member)
            rows.append(
                (row, one.run, one.item_set, *place, ids[one.outcome], body, one.cost, one.started, one.seconds)
            )
            for n, call in enumerate(one.calls):
                calls.append((row, n, ids[call.role], call.key, shorten(call.whole.body) if call.whole.body else None))
            for n, reading in enumerate(one.readings):
                body = shorten(reading.finding.body)
                readings.append((row, n, ids[reading.reader], reading.step, reading.of, body))
            for n, score in enumerate(one.scores):
                scores.append((row, n, ids[score.metric], ids[score.by], score.of, shorten(score.value.body)))
        for statement, some in ((_ADD_TRIAL, rows), (_ADD_CALL, calls), (_ADD_READING, readings), (_ADD_SCORE, scores)):
            statement.run(connection, some)


def write_texts(connection: Connection, packed: Iterable[Packed], known: set[bytes]) -> set[bytes]:
    """Write what was taken out of these bodies, except what is known to be there. Returns the hashes written."""
    texts = {hashed: long for one in packed for hashed, long in one.texts if hashed not in known}
    if texts:
        rows: Rows = []
        for hashed, long in texts.items():
            data, deflated = deflate_text(long)
            rows.append((hashed, deflated, data))
        ADD_BLOB.run(connection, rows)
    return set(texts)


def _packed(calls: Sequence[Recorded], trials: Sequence[Finished]) -> Iterable[Packed]:
    for call in calls:
        yield call.sent
        yield call.received
    for trial in trials:
        yield trial.body
        yield from (call.whole for call in trial.calls)
        yield from (reading.finding for reading in trial.readings)
        yield from (score.value for score in trial.scores)


def _names(trials: Sequence[Finished]) -> set[str]:
    names: set[str] = set()
    for trial in trials:
        names.add(trial.outcome)
        names.update(call.role for call in trial.calls)
        names.update(reading.reader for reading in trial.readings)
        for score in trial.scores:
            names.update((score.metric, score.by))
    return names
