"""The writing thread: commits are shared, nobody waits for ever, and the first batch holds what came first."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from measurand.core.errors import StoreError
from measurand.core.ports import CallMade
from measurand.core.run import Slot
from measurand.store import open_store
from measurand.store.batch import Batcher
from tests.store.examples import SUBJECT_ID, asked, items, key_of, marks, protocol, run, trial


async def test_those_who_wait_together_are_committed_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    all_wait = threading.Event()
    write = Batcher.write

    def counted(self, connection, calls, trials):
        all_wait.wait()
        sizes.append(len(calls))
        return write(self, connection, calls, trials)

    monkeypatch.setattr(Batcher, "write", counted)
    store = open_store(tmp_path / "runs.db")
    told = [asyncio.ensure_future(store.record(key_of(n), SUBJECT_ID, asked(n))) for n in range(640)]
    await asyncio.sleep(0)
    all_wait.set()
    await asyncio.gather(*told)
    store.close()
    assert sum(sizes) == 640
    assert len(sizes) <= 2, "the first few, and in one commit all who came meanwhile"


async def test_a_trial_is_written_no_earlier_than_its_calls(tmp_path: Path) -> None:
    store, of = open_store(tmp_path / "runs.db"), run(50)
    store.open_run(of, protocol(50), items(50))

    async def worker(n: int) -> None:
        await store.record(key_of(n), SUBJECT_ID, asked(n))
        store.finish(Slot(n, 0), trial(of, Slot(n, 0)), [CallMade("target", key_of(n))], marks(of, Slot(n, 0)))

    await asyncio.gather(*(worker(n) for n in range(50)))
    store.close()
    store = open_store(tmp_path / "runs.db", read_only=True)
    assert all(len(store.calls(of.id, slot)) == 1 for slot, _ in store.done(of.id))
    assert len(list(store.done(of.id))) == 50
    store.close()


async def test_one_who_gives_up_loses_nothing(tmp_path: Path) -> None:
    store = open_store(tmp_path / "runs.db")
    waiting = asyncio.ensure_future(store.record(key_of(1), SUBJECT_ID, asked(1)))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await store.flush()
    assert len(store.recall([key_of(1)])) == 1
    store.close()


def test_a_loop_that_ended_stops_nobody_else(tmp_path: Path) -> None:
    store = open_store(tmp_path / "runs.db")

    async def leave() -> None:
        waiting = asyncio.ensure_future(store.record(key_of("left"), SUBJECT_ID, asked(1)))
        await asyncio.sleep(0)
        waiting.cancel()

    asyncio.run(leave())
    asyncio.run(store.record(key_of("later"), SUBJECT_ID, asked(1)))
    assert len(store.recall([key_of("left"), key_of("later")])) == 2
    store.close()


def test_many_threads_with_loops_of_their_own(tmp_path: Path) -> None:
    store = open_store(tmp_path / "runs.db")

    def work(who: int) -> None:
        async def record() -> None:
            await asyncio.gather(*(store.record(key_of((who, n)), SUBJECT_ID, asked(n)) for n in range(50)))

        asyncio.run(record())

    threads = [threading.Thread(target=work, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.recall([key_of((who, n)) for who in range(4) for n in range(50)])) == 200
    store.close()


async def test_after_a_bug_in_a_batch_everybody_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(tmp_path / "runs.db")
    monkeypatch.setattr(Batcher, "write", lambda *_: 1 / 0)
    told = [store.record(key_of(n), SUBJECT_ID, asked(n)) for n in range(5)]
    results = await asyncio.gather(*told, return_exceptions=True)
    assert all(isinstance(result, StoreError) and "ZeroDivisionError" in str(result) for result in results)
    with pytest.raises(StoreError, match="ZeroDivisionError"):
        await store.flush()
    with pytest.raises(StoreError, match="ZeroDivisionError"):
        store.end_session(1, 0)
    store.close()
