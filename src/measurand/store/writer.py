"""The one thread that writes. Whatever waits is committed together, at most a few milliseconds after it came."""

from __future__ import annotations

import asyncio
import atexit
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, Engine

from measurand.core.errors import StoreError
from measurand.store.batch import Batcher
from measurand.store.entries import Finished, Recorded
from measurand.store.failures import explain, explained

LONGEST_GATHER = 0.016
BREATHS = 4
"""The next commit begins so many times the last one's duration after it: under load, writing gives way to asking."""
_MOST = 1000

T = TypeVar("T")


class _Waiting(NamedTuple):
    """A call, and who awaits that it is committed."""

    call: Recorded
    future: asyncio.Future[None]
    loop: asyncio.AbstractEventLoop


class _Job(NamedTuple):
    """Something to do in a transaction of its own, after all that was handed over before it."""

    work: Callable[[Connection], Any] | None
    future: Future[Any]


class Writer:
    """Owns the writing connection.

    Under load, commits start up to 16 ms apart, sooner where they are quick, and each takes all that has come by
    then; after a pause, a call is committed at once. After a failed commit nothing more is written: every later
    call says why.
    """

    def __init__(self, engine: Engine, where: str) -> None:
        self._engine = engine
        self._connection = engine.connect()
        self._where = where
        self._queue: SimpleQueue[_Waiting | Finished | _Job | None] = SimpleQueue()
        self._failure: StoreError | None = None
        self._told = True
        self._closed = False
        self._batcher = Batcher()
        self._thread = threading.Thread(target=self._work, name="measurand-store", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    async def record(self, call: Recorded) -> None:
        """Return when the call is committed."""
        self._refuse_if_broken()
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self._queue.put(_Waiting(call, future, loop))
        await future

    def finish(self, trial: Finished) -> None:
        """Queue a trial for the next batch."""
        self._refuse_if_broken()
        self._queue.put(trial)

    async def flush(self) -> None:
        """Return when all that was queued is committed."""
        self._refuse_if_broken()
        future: Future[None] = Future()
        self._queue.put(_Job(None, future))
        await asyncio.wrap_future(future)

    def run(self, work: Callable[[Connection], T]) -> T:
        """Do something in a transaction of its own, and wait for it."""
        self._refuse_if_broken()
        future: Future[T] = Future()
        self._queue.put(_Job(work, future))
        return future.result()

    def close(self) -> None:
        """Commit what is queued and end. Raises a failure of which nobody has been told yet."""
        if not self._closed:
            self._closed = True
            atexit.unregister(self.close)
            self._queue.put(None)
            self._thread.join()
            with explained(self._where):
                self._connection.close()
                self._engine.dispose()
        if not self._told:
            self._refuse_if_broken(closing=True)

    def _refuse_if_broken(self, *, closing: bool = False) -> None:
        if self._failure is not None:
            self._told = True
            raise StoreError(str(self._failure))
        if self._closed and not closing:
            raise StoreError(f"The store {self._where} is closed; open it again.")

    def _work(self) -> None:
        going = True
        due = 0.0
        while going:
            first = self._queue.get()
            if not isinstance(first, _Job):
                time.sleep(max(0.0, due - time.monotonic()))
            started = time.monotonic()
            going = self._write([first, *(self._queue.get() for _ in range(min(self._queue.qsize(), _MOST)))])
            due = started + min(LONGEST_GATHER, BREATHS * (time.monotonic() - started))

    def _write(self, entries: list[_Waiting | Finished | _Job | None]) -> bool:
        """Write entries in their order: calls and trials together, each job by itself. Says whether to go on."""
        waiting: list[_Waiting] = []
        trials: list[Finished] = []
        going = True
        for entry in entries:
            if isinstance(entry, _Waiting):
                waiting.append(entry)
            elif isinstance(entry, Finished):
                trials.append(entry)
            else:
                self._commit(waiting, trials)
                waiting, trials = [], []
                going = going and entry is not None
                if entry is not None:
                    self._do(entry)
        self._commit(waiting, trials)
        return going

    def _commit(self, waiting: list[_Waiting], trials: list[Finished]) -> None:
        if not (waiting or trials):
            return
        if self._failure is None:
            try:
                with self._connection.begin():
                    added = self._batcher.write(self._connection, [one.call for one in waiting], trials)
                self._batcher.remember(added)
            except Exception as error:  # noqa: BLE001 - whatever it was, those who wait must be told
                self._failure = explain(error, self._where)
                self._told = False
        _tell(waiting, self._failure)
        self._told = self._told or bool(waiting)

    def _do(self, job: _Job) -> None:
        if self._failure is not None:
            self._told = True
            job.future.set_exception(StoreError(str(self._failure)))
            return
        if job.work is None:
            job.future.set_result(None)
            return
        try:
            with self._connection.begin():
                result = job.work(self._connection)
        except Exception as error:  # noqa: BLE001 - whatever it was, the one who waits must be told
            job.future.set_exception(explain(error, self._where))
        else:
            job.future.set_result(result)


def _tell(waiting: list[_Waiting], failure: StoreError | None) -> None:
    """Wake those who wait, with one call into each of their loops."""
    loops: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}
    for one in waiting:
        loops.setdefault(one.loop, []).append(one.future)
    for loop, futures in loops.items():
        with suppress(RuntimeError):  # a loop that is closed has nobody left who waits
            loop.call_soon_threadsafe(_settle, futures, failure)


def _settle(futures: list[asyncio.Future[None]], failure: StoreError | None) -> None:
    for future in futures:
        if future.done():
            continue
        if failure is None:
            future.set_result(None)
        else:
            future.set_exception(StoreError(str(failure)))
