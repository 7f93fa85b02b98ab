"""The store of a file: a journal of calls, and everything derived from it, in SQLite."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Connection, bindparam, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from measurand.core.call import Asked, Call, Ran, Reply
from measurand.core.decision import Signature, Signed
from measurand.core.errors import StoreError
from measurand.core.item import Item
from measurand.core.ports import CallMade, Session
from measurand.core.program import Result
from measurand.core.protocol import Protocol
from measurand.core.run import Run, Slot
from measurand.core.summary import Spent
from measurand.core.trial import Reading, Score, Trial
from measurand.store import schema, sessions
from measurand.store.batch import write_texts
from measurand.store.connecting import open_for_reading, open_for_writing
from measurand.store.entries import finished, now, recorded
from measurand.store.reading import Library
from measurand.store.texts import Packed, pack, shorten
from measurand.store.writer import Writer

T = TypeVar("T")

_run = schema.run.c


class SqlStore:
    """Implements the port `Store`. Writes go through one thread; reads may come from any."""

    def __init__(self, path: Path, *, read_only: bool, patience: float) -> None:
        self._where = str(path)
        self._runs: dict[str, tuple[int, int]] = {}
        self._writer = None if read_only else Writer(open_for_writing(path, patience), self._where)
        self._library = Library(open_for_reading(path, patience), self._where)

    def open_run(self, run: Run, protocol: Protocol, items: Iterable[Item]) -> None:
        """Write the run, its protocol, subject and items; a second time only its conditions."""
        known = self._library.run(run.id)
        if known is not None:
            body = pack(msgspec.structs.replace(known, conditions=run.conditions))
            self._write(lambda connection: _change(connection, run.id, body))
        else:
            parts = (pack(run), pack(run.subject), pack(protocol))
            packed = [(item.id, pack(item)) for item in items]
            self._write(lambda connection: _add_run(connection, run, parts, packed))
        self._row(run.id)

    def begin_session(self, run: str, concurrency: int) -> Session:
        """Note that this process works on the run; see `sessions.begin` for what counts as unclean."""
        row = self._row(run)[0]
        return Session(*self._write(lambda connection: sessions.begin(connection, row, concurrency, now())))

    def end_session(self, session: int, in_flight: int) -> None:
        """Note that it stopped on purpose, with this many requests unanswered."""
        self._write(lambda connection: sessions.end(connection, session, in_flight, now()))

    def recall(self, keys: Sequence[bytes]) -> dict[bytes, Reply | Result]:
        """What the journal holds under these keys; a reply says since when."""
        return self._library.recall(keys)

    async def record(self, key: bytes, subject_id: str, what: Asked | Ran) -> None:
        """Write a call to the journal; returns when it is committed. The first under a key stays."""
        await self._writing().record(recorded(key, subject_id, what))

    def finish(self, slot: Slot, trial: Trial, calls: Sequence[CallMade], marks: Sequence[Reading | Score]) -> None:
        """Hand over a finished trial; written with the next batch, in place of what the slot had."""
        self._writing().finish(finished(self._row(trial.run), slot, trial, calls, marks))

    async def flush(self) -> None:
        """Return when all that was handed over is committed."""
        await self._writing().flush()

    def done(self, run: str) -> Iterator[tuple[Slot, str]]:
        """The slots that have a trial, and the names of their outcomes; none for a run that is not there yet."""
        return self._library.done(run)

    def runs(self) -> list[Run]:
        """All runs, the latest first."""
        return self._library.runs()

    def protocol(self, run: str) -> Protocol:
        """The protocol of a run."""
        return self._library.protocol(run)

    def items(self, run: str) -> Iterator[Item]:
        """The items of a run, in the order of the plan."""
        return self._library.items(run)

    def trials(self, run: str) -> Iterator[tuple[Slot, Trial]]:
        """The trials of a run, in the order of the plan."""
        return self._library.trials(run)

    def scores(self, run: str) -> Iterator[tuple[Slot, Score]]:
        """The scores of a run, in the order of the plan."""
        return self._library.scores(run)

    def readings(self, run: str, slot: Slot | None = None) -> Iterator[tuple[Slot, Reading]]:
        """The readings of a run, or of one trial, in the order of the plan."""
        return self._library.readings(run, slot)

    def calls(self, run: str, slot: Slot) -> list[Call]:
        """Every call of one trial, as sent and as received."""
        return self._library.calls(run, slot)

    def spent(self, run: str) -> Spent:
        """The requests and tokens of a run's trials, and which of them are older than the run."""
        return self._library.spent(run)

    def sign(self, signed: Signed) -> None:
        """Keep a signed decision. What one person signed twice stays as it was first."""
        body = pack(signed)
        self._write(lambda connection: _add_decision(connection, signed.signature, body))

    def decisions(self) -> list[Signed]:
        """The signed decisions, the latest first."""
        return self._library.decisions()

    def close(self) -> None:
        """Commit and close. May be called twice."""
        self._library.close()
        if self._writer is not None:
            self._writer.close()

    def _writing(self) -> Writer:
        if self._writer is None:
            raise StoreError(f"The store {self._where} is open for reading only; open it without read_only to write.")
        return self._writer

    def _write(self, work: Callable[[Connection], T]) -> T:
        return self._writing().run(work)

    def _row(self, run: str) -> tuple[int, int]:
        if run not in self._runs:
            row = self._library.row_of(run)
            self._runs[run] = (row.id, row.item_set)
        return self._runs[run]


def _change(connection: Connection, key: str, body: Packed) -> None:
    write_texts(connection, [body], set())
    connection.execute(update(schema.run).where(_run.key == key).values(body=shorten(body.body)))


def _add_run(
    connection: Connection,
    run: Run,
    parts: tuple[Packed, Packed, Packed],
    items: list[tuple[str, Packed]],
) -> None:
    """Write a run that another process may have written since we looked: then nothing changes."""
    body, subject, protocol = parts
    write_texts(connection, [*parts, *(item for _, item in items)], set())
    add = upsert(schema.subject).values(key=run.subject_id, body=shorten(subject.body))
    connection.execute(add.on_conflict_do_update(index_elements=["key"], set_={"body": add.excluded.body}))
    add = upsert(schema.protocol).values(key=run.protocol, body=shorten(protocol.body))
    connection.execute(add.on_conflict_do_nothing())
    add = upsert(schema.run).values(
        key=run.id,
        protocol=_id_of(connection, schema.protocol.c.key, run.protocol),
        subject=_id_of(connection, schema.subject.c.key, run.subject_id),
        item_set=_add_items(connection, items),
        body=shorten(body.body),
    )
    connection.execute(add.on_conflict_do_nothing())


def _add_decision(connection: Connection, signature: Signature, body: Packed) -> None:
    write_texts(connection, [body], set())
    add = upsert(schema.decision).values(key=signature.decision, signer=signature.by, body=shorten(body.body))
    connection.execute(add.on_conflict_do_nothing())


def _add_items(connection: Connection, items: list[tuple[str, Packed]]) -> int:
    hashed = hashlib.sha256(b"\x00".join(item.body for _, item in items)).hexdigest()
    known = connection.execute(select(schema.item_set.c.id).where(schema.item_set.c.sha256 == hashed)).scalar()
    if known is not None:
        return int(known)
    connection.execute(insert(schema.item_set), {"sha256": hashed})
    number = _id_of(connection, schema.item_set.c.sha256, hashed)
    rows = [
        {"item_set": number, "item_no": n, "name": name, "body": shorten(item.body)}
        for n, (name, item) in enumerate(items)
    ]
    if rows:
        connection.execute(insert(schema.item), rows)
    return number


def _id_of(connection: Connection, column: Any, value: str) -> int:
    found = select(column.table.c.id).where(column == bindparam("value"))
    return int(connection.execute(found, {"value": value}).scalar_one())
