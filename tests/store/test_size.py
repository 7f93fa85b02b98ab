"""What a trial takes: on disk, in memory, and in time to the first row."""

from __future__ import annotations

import asyncio
import sqlite3
import time
import tracemalloc
from pathlib import Path

from measurand.core.ports import CallMade, Store
from measurand.core.run import Run, Slot
from measurand.store import open_store
from measurand.store.batch import Batcher
from measurand.store.connecting import open_for_writing
from measurand.store.entries import finished, now
from tests.store.examples import SUBJECT_ID, asked, items, key_of, marks, protocol, run, trial


async def work(store: Store, of: Run, n: int) -> None:
    numbers = iter(range(n))

    async def worker() -> None:
        for number in numbers:
            slot, key = Slot(number, 0), key_of(number)
            what = asked(f"question {number} " + "of a certain length " * 20, f"answer {number} " + "at length " * 40)
            await store.record(key, SUBJECT_ID, what)
            outcome = trial(of, slot)
            store.finish(slot, outcome, [CallMade("target", key)], marks(of, slot))

    await asyncio.gather(*(worker() for _ in range(64)))
    await store.flush()


def sizes(path: Path) -> tuple[int, int]:
    """Bytes of the file, and of the texts in it."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    (texts,) = connection.execute("SELECT coalesce(sum(length(data)), 0) FROM blob").fetchone()
    connection.close()
    return path.stat().st_size, texts


def test_ten_thousand_trials_take_less_than_500_bytes_each(tmp_path: Path) -> None:
    path, n = tmp_path / "runs.db", 10_000
    of = run(n)
    store = open_store(path)
    store.open_run(of, protocol(n), items(n))
    before, _ = sizes(path)
    asyncio.run(work(store, of, n))
    after, texts = sizes(path)
    store.close()
    assert texts > n * 600
    assert (after - before - texts) / n < 500


def test_items_are_kept_once_for_all_runs_of_them(tmp_path: Path) -> None:
    path, n = tmp_path / "runs.db", 2000
    store = open_store(path)
    store.open_run(run(n), protocol(n), items(n))
    one, _ = sizes(path)
    for occasion in "abcdefgh":
        store.open_run(run(n, occasion=occasion), protocol(n), items(n))
    nine, _ = sizes(path)
    store.close()
    assert nine - one < 20_000


def test_a_text_is_kept_once(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    store = open_store(path)

    async def record() -> None:
        for n in range(100):
            await store.record(key_of(n), SUBJECT_ID, asked("the same prompt " * 1000, "the same reply " * 1000))

    asyncio.run(record())
    assert sizes(path)[0] < 200_000
    store.close()


def fill_quickly(path: Path, of: Run, n: int) -> None:
    """Write trials past the writer thread: their reading is what is tested."""
    store = open_store(path)
    store.open_run(of, protocol(n), items(n))
    store.close()
    engine = open_for_writing(path, 5.0)
    batcher, at = Batcher(), now()
    with engine.begin() as connection:
        for start in range(0, n, 2000):
            slots = [Slot(number, 0) for number in range(start, min(start + 2000, n))]
            trials = [finished((1, 1), slot, trial(of, slot), [], marks(of, slot)) for slot in slots]
            batcher.write(connection, [], trials)
    engine.dispose()
    assert at < now()


def test_fifty_thousand_trials_are_read_in_little_memory(tmp_path: Path) -> None:
    path, n = tmp_path / "runs.db", 50_000
    of = run(n)
    fill_quickly(path, of, n)
    store = open_store(path, read_only=True)
    start = time.thread_time()
    assert next(store.done(of.id)) == (Slot(0, 0), "answered")
    assert next(store.scores(of.id))[0] == Slot(0, 0)
    first = time.thread_time() - start
    assert sum(1 for _ in store.items(of.id)) == sum(1 for _ in store.done(of.id)) == n
    whole = time.thread_time() - start
    tracemalloc.start()
    for place, (slot, _) in enumerate(store.scores(of.id)):
        assert slot.item_no == place
        if place == 5000:  # tracing makes this slow, and memory that grows has grown by now
            break
    for read in (store.trials, store.readings, store.items, store.done):
        assert len([None for _, _ in zip(range(3000), read(of.id), strict=False)]) == 3000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    store.close()
    assert first < whole / 10, "the first rows do not wait for the others"
    assert peak < 8_000_000
