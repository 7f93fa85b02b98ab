"""Reading the store in pages: bounded memory, and no cursor, lock or old snapshot held between two pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec
from sqlalchemy import ColumnElement, Engine, Row, Select, bindparam, case, func, inspect, select, tuple_
from sqlalchemy.dialects.sqlite import dialect

from measurand.core.call import Asked, Call, Ran, Reply
from measurand.core.decision import Signed
from measurand.core.errors import StoreError
from measurand.core.item import Item
from measurand.core.outcome import Outcome
from measurand.core.program import Program, Result
from measurand.core.protocol import Protocol
from measurand.core.record import Json
from measurand.core.request import Request
from measurand.core.run import Run, Slot, trial_name
from measurand.core.summary import Spent
from measurand.core.trial import Finding, Measured, Missing, Reading, Score, Trial
from measurand.store import schema
from measurand.store.entries import as_iso
from measurand.store.failures import explained
from measurand.store.texts import hashes, inflate_text, lengthen, unpack

PAGE = 500
FIRST = (-1, -1, "")


class Among:
    """A query for the rows whose column is among many values, compiled once and not again for each number of them."""

    def __init__(self, query: Select[Any], column: ColumnElement[Any]) -> None:
        compiled = query.where(column.in_([0])).compile(dialect=dialect(), compile_kwargs={"render_postcompile": True})
        self._head, self._tail = str(compiled).split("IN (?)")

    def text(self, values: int) -> str:
        """The statement for that many values."""
        return f"{self._head}IN ({', '.join('?' * values)}){self._tail}"


T = TypeVar("T")
Rows = Sequence[Any]  # rows of a query, as named tuples
Texts = dict[bytes, bytes]

_run, _item, _trial, _blob, _journal = schema.run.c, schema.item.c, schema.trial.c, schema.blob.c, schema.journal.c
_outcome, _role, _reader, _metric, _by = (schema.name.alias(role) for role in ("o", "r", "i", "m", "b"))

_place = (_trial.item, _trial.sample_no, _trial.member)
_slot = (_item.item_no, _trial.sample_no, _trial.member)
_after = tuple_(bindparam("item"), bindparam("sample"), bindparam("who"))

_RUNS = select(_run.body).order_by(_run.id.desc())
_RUN = select(_run.id, _run.item_set, _run.protocol, _run.body).where(_run.key == bindparam("key"))
_PROTOCOL = select(schema.protocol.c.body).where(schema.protocol.c.id == bindparam("id"))
_DECISIONS = select(schema.decision.c.body).order_by(schema.decision.c.id.desc())
_TEXTS = Among(select(_blob.hash, _blob.deflated, _blob.data), _blob.hash)
_RECALL = Among(select(_journal.key, _journal.ran, _journal.received, _journal.at), _journal.key)
_ITEMS = (
    select(_item.item_no, _item.body)
    .where(_item.item_set == bindparam("set"), _item.item_no > bindparam("after"))
    .order_by(_item.item_no)
    .limit(PAGE)
)
_PAGE = (
    select(_trial.id, *_place)
    .where(_trial.run == bindparam("run"), tuple_(*_place) > _after)
    .order_by(*_place)
    .limit(PAGE)
)
_ONE = (
    select(_trial.id)
    .join(schema.item, _trial.item == _item.id)
    .where(_trial.run == bindparam("run"), tuple_(*_slot) == tuple_(*map(bindparam, ("item", "sample", "who"))))
)


def _of_trials(*columns: Any) -> Select[Any]:
    """Columns of trials in the order of the plan, behind the three that make the slot."""
    return select(*_slot, *columns).join(schema.item, _trial.item == _item.id).order_by(*_place)


_TRIALS = Among(_of_trials(_item.name, _trial.body, _trial.cost, _trial.started, _trial.seconds), _trial.id)
_DONE = Among(_of_trials(_outcome.c.text).join(_outcome, _trial.outcome == _outcome.c.id), _trial.id)
_READINGS = Among(
    _of_trials(schema.reading.c.of, _reader.c.text, schema.reading.c.step, schema.reading.c.body)
    .join(schema.reading, schema.reading.c.trial == _trial.id)
    .join(_reader, schema.reading.c.reader == _reader.c.id)
    .order_by(schema.reading.c.place),
    _trial.id,
)
_SCORES = Among(
    _of_trials(schema.score.c.of, _metric.c.text.label("metric"), _by.c.text.label("by"), schema.score.c.body)
    .join(schema.score, schema.score.c.trial == _trial.id)
    .join(_metric, schema.score.c.metric == _metric.c.id)
    .join(_by, schema.score.c.by == _by.c.id)
    .order_by(schema.score.c.place),
    _trial.id,
)
_CALLS = (
    select(
        *(schema.call.c.place, _role.c.text, schema.call.c.body.label("whole")),
        *(_journal.key, schema.subject.c.key.label("subject"), _journal.ran, _journal.sent, _journal.received),
    )
    .join(_role, schema.call.c.role == _role.c.id)
    .outerjoin(schema.journal, schema.call.c.journal == _journal.id)
    .outerjoin(schema.subject, _journal.subject == schema.subject.c.id)
    .where(schema.call.c.trial == bindparam("trial"))
    .order_by(schema.call.c.place)
)


_BEGAN = select(func.min(schema.session.c.began)).where(schema.session.c.run == bindparam("run"))
_older = _journal.at < bindparam("began")
_SPENT = (
    select(
        func.count().label("requests"),
        func.sum(case((_older, 1), else_=0)).label("replayed"),
        func.min(case((_older, _journal.at))).label("since"),
        func.sum(_journal.input_tokens).label("input"),
        func.sum(_journal.output_tokens).label("output"),
    )
    .select_from(_trial.id.table)
    .join(schema.call, schema.call.c.trial == _trial.id)
    .join(schema.journal, schema.call.c.journal == _journal.id)
    .where(_trial.run == bindparam("run"), _journal.ran.is_(False))
)


class Library:
    """Everything that can be read. Usable from any thread, and while others write."""

    def __init__(self, engine: Engine, where: str) -> None:
        self._engine = engine
        self._where = where

    def recall(self, keys: Sequence[bytes]) -> dict[bytes, Reply | Result]:
        """The journal's replies and results under these keys."""
        found: dict[bytes, Reply | Result] = {}
        for some in _chunks(list(dict.fromkeys(keys))):
            rows = self._among(_RECALL, some)
            bodies = [lengthen(row.received) for row in rows]
            texts = self._texts(bodies)
            for row, body in zip(rows, bodies, strict=True):
                found[row.key] = unpack(body, texts, Result) if row.ran else _replayed(body, texts, row.at)
        return found

    def runs(self) -> list[Run]:
        """All runs, the latest first."""
        return self._unpacked([row.body for row in self._all(_RUNS)], Run)

    def run(self, key: str) -> Run | None:
        """One run, if it is there."""
        found = self._unpacked([row.body for row in self._all(_RUN, key=key)], Run)
        return found[0] if found else None

    def protocol(self, run: str) -> Protocol:
        """The protocol of a run."""
        (row,) = self._all(_PROTOCOL, id=self.row_of(run).protocol)
        protocol: Protocol = self._unpacked([row.body], Protocol)[0]
        return protocol

    def row_of(self, run: str) -> Row[Any]:
        """The row of a run: its id, and those of its items and protocol."""
        rows = self._all(_RUN, key=run)
        if not rows:
            raise StoreError(f"The store {self._where} has no run {run}; `measurand ls` lists those it has.")
        found: Row[Any] = rows[0]
        return found

    def spent(self, run: str) -> Spent:
        """The requests and tokens of a run's trials; what is older than its first session was replayed."""
        id = self.row_of(run).id  # noqa: A001 - the column's name
        began = self._all(_BEGAN, run=id)[0][0]
        (row,) = self._all(_SPENT, run=id, began=began or 0)
        since = as_iso(row.since) if row.since else ""
        return Spent(row.requests, row.replayed or 0, since, row.input or 0, row.output or 0)

    def items(self, run: str) -> Iterator[Item]:
        """The items of a run, in the order of the plan."""
        items, after = self.row_of(run).item_set, -1
        while rows := self._all(_ITEMS, set=items, after=after):
            yield from self._unpacked([row.body for row in rows], Item)
            after = rows[-1].item_no

    def done(self, run: str) -> Iterator[tuple[Slot, str]]:
        """The slots that have a trial, and the names of their outcomes; none for a run that is not there yet."""
        if not self._all(_RUN, key=run):
            return
        for page in self._pages(run):
            yield from ((Slot(*at), outcome) for *at, outcome in self._among(_DONE, page))

    def trials(self, run: str) -> Iterator[tuple[Slot, Trial]]:
        """The trials of a run, in the order of the plan."""
        for page in self._pages(run):
            rows = self._among(_TRIALS, page)
            outcomes = self._unpacked([row.body for row in rows], Outcome)
            for (no, sample, who, item, _, *times), outcome in zip(rows, outcomes, strict=True):
                yield Slot(no, sample, who), Trial(run, item, sample, outcome, who, *times)

    def readings(self, run: str, slot: Slot | None) -> Iterator[tuple[Slot, Reading]]:
        """The readings of a run or of one trial, in the order of the plan."""
        for page in self._pages(run) if slot is None else [self._one(run, slot)]:
            rows = self._among(_READINGS, page)
            findings = self._unpacked([row.body for row in rows], Finding)
            for (*at, of, reader, step, _), finding in zip(rows, findings, strict=True):
                where = Slot(*at)
                yield where, Reading(trial_name(run, where) if of is None else of, reader, finding, step)

    def scores(self, run: str) -> Iterator[tuple[Slot, Score]]:
        """The scores of a run, in the order of the plan."""
        for page in self._pages(run):
            rows = self._among(_SCORES, page)
            values = self._unpacked([row.body for row in rows], Measured | Missing)
            for (*at, of, metric, by, _), value in zip(rows, values, strict=True):
                where = Slot(*at)
                trials = (trial_name(run, where),) if of is None else unpack(of, {}, tuple[str, ...])
                yield where, Score(trials, metric, value, by)

    def calls(self, run: str, slot: Slot) -> list[Call]:
        """The calls of one trial, in their order."""
        owner, calls = trial_name(run, slot), []
        for trial in self._one(run, slot):
            for row in self._all(_CALLS, trial=trial):
                what = self._whole(row.whole) if row.whole else self._journalled(row)
                key = row.key.hex() if row.key else ""
                calls.append(Call(owner, row.place, row.text, row.subject or "", key, what))
        return calls

    def decisions(self) -> list[Signed]:
        """The signed decisions, the latest first; none in a store of a version that kept none."""
        with explained(self._where):
            if not inspect(self._engine).has_table(schema.decision.name):
                return []
        return self._unpacked([row.body for row in self._all(_DECISIONS)], Signed)

    def close(self) -> None:
        """Release every connection."""
        with explained(self._where):
            self._engine.dispose()

    def _pages(self, run: str) -> Iterator[list[int]]:
        """The ids of a run's trials, a page at a time, in the order of the plan."""
        row, place = self.row_of(run).id, FIRST
        while rows := self._all(_PAGE, run=row, item=place[0], sample=place[1], who=place[2]):
            yield [found.id for found in rows]
            place = (rows[-1].item, rows[-1].sample_no, rows[-1].member)

    def _one(self, run: str, slot: Slot) -> list[int]:
        where = {"item": slot.item_no, "sample": slot.sample_no, "who": slot.member}
        return [row.id for row in self._all(_ONE, run=self.row_of(run).id, **where)]

    def _whole(self, body: bytes) -> Ran:
        ran: Ran = self._unpacked([body], Ran)[0]
        return ran

    def _journalled(self, row: Row[Any]) -> Asked | Ran:
        sent, received = lengthen(row.sent), lengthen(row.received)
        texts = self._texts([sent, received])
        if row.ran:
            return Ran(unpack(sent, texts, Program), unpack(received, texts, Result))
        return Asked(unpack(sent, texts, Request), unpack(received, texts, Reply))

    def _unpacked(self, stored: Sequence[bytes], kind: Any) -> list[Any]:
        """The records of these bodies. Equal bodies, such as those of most scores, are read once."""
        bodies = {body: lengthen(body) for body in dict.fromkeys(stored)}
        texts = self._texts(bodies.values())
        records = {short: unpack(body, texts, kind) for short, body in bodies.items()}
        return [records[body] for body in stored]

    def _texts(self, bodies: Iterable[bytes]) -> Texts:
        texts: Texts = {}
        for some in _chunks(list(hashes(bodies))):
            texts.update((row.hash, inflate_text(row.data, row.deflated)) for row in self._among(_TEXTS, some))
        return texts

    def _among(self, query: Among, values: Sequence[Any]) -> Rows:
        with explained(self._where), self._engine.connect() as connection:
            return connection.exec_driver_sql(query.text(len(values)), tuple(values)).all()

    def _all(self, statement: Select[*tuple[Any, ...]], **values: Json) -> Rows:
        with explained(self._where), self._engine.connect() as connection:
            return connection.execute(statement, values).all()


def _replayed(body: bytes, texts: Texts, at: int) -> Reply:
    reply: Reply = unpack(body, texts, Reply)
    return msgspec.structs.replace(reply, replayed_from=as_iso(at))


def _chunks(keys: list[T]) -> Iterator[list[T]]:
    for start in range(0, len(keys), PAGE):
        yield keys[start : start + PAGE]
