"""What the store costs: CPU and bytes for each trial of one call, one reading and one score.

Run as `python perf/store.py [trials]`.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import sqlite3
import sys
import tempfile
import time
import timeit
from pathlib import Path

from measurand.core.call import Asked, Reply, Timings, Usage
from measurand.core.item import Item, Question
from measurand.core.message import Text, user
from measurand.core.outcome import Answer, Answered
from measurand.core.ports import CallMade, Store
from measurand.core.protocol import AggregationPart, AskingPart, MarkingPart, Protocol, ScoringPart, TaskPart
from measurand.core.request import Decode, Generate
from measurand.core.run import Run, Slot
from measurand.core.subject import Model
from measurand.core.trial import Found, Measured, Reading, Score, Trial

CONCURRENCY = 64
WORDS = ("the", "cat", "sat", "on", "a", "mat", "and", "counted", "forty-two", "apples", "slowly", "before", "lunch")


def protocol(n_items: int) -> Protocol:
    return Protocol(
        "perf",
        TaskPart("perf", 1, {}, "test", n_items, ""),
        AskingPart("perf", 1, "{question}", ("chat",), 1),
        ScoringPart((MarkingPart("accuracy", "last_number@1", "equal@1"),), False, False),
        AggregationPart({"accuracy": "accuracy@1"}, (), (), 0.95),
    )


def text(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(WORDS, k=words)) + f" {rng.getrandbits(64):x}"


async def work(store: Store, run: Run, calls: list[tuple[bytes, Asked]]) -> float:
    """Record and finish every trial; returns the CPU seconds of the whole process."""
    waiting = iter(enumerate(calls))
    run_id = run.id

    async def worker() -> None:
        for n, (key, asked) in waiting:
            await store.record(key, run.subject_id, asked)
            name = f"{run_id}/{n}/0"
            outcome = Answered(Answer(text=asked.reply.text))
            trial = Trial(run_id, f"perf/{n}", 0, outcome, cost=0.00012, started="2026-01-01T00:00:00Z", seconds=0.7)
            reading = Reading(name, "last_number@1", Found("42", (17, 19)))
            score = Score((name,), "accuracy", Measured((1.0, 1.0)), "equal@1")
            store.finish(Slot(n, 0), trial, [CallMade("target", key)], [reading, score])

    started = time.process_time()
    await asyncio.gather(*(worker() for _ in range(CONCURRENCY)))
    await store.flush()
    return time.process_time() - started


def measure(path: Path, n: int) -> None:
    start = time.process_time()
    import measurand.store.sql_store  # noqa: F401 - measured

    loaded = time.process_time() - start
    from measurand.store import open_store

    rng = random.Random(1)
    subject = Model("openai", "example-model-1", "2026-01-01")
    run = Run("perf", "p" * 64, subject, "s" * 64, n, 1)
    store = open_store(path)
    start = time.perf_counter()
    store.open_run(run, protocol(n), [Item(f"perf/{k}", Question(f"What is {k}?"), gold=str(k)) for k in range(n)])
    opened = time.perf_counter() - start
    calls = []
    for k in range(n):
        request = Generate((user(text(rng, 110)),), decode=Decode(max_tokens=512))
        reply = Reply((Text(text(rng, 80)),), usage=Usage(212, 87), timings=Timings(0.73), served_as="example-model-1")
        calls.append((hashlib.sha256(str(k).encode()).digest()[:16], Asked(request, reply)))
    start = time.perf_counter()
    cpu = asyncio.run(work(store, run, calls))
    wall = time.perf_counter() - start
    start = time.perf_counter()
    recalled = store.recall([key for key, _ in calls])
    recall = time.perf_counter() - start
    start = time.perf_counter()
    scores = sum(1 for _ in store.scores(run.id))
    scored = time.perf_counter() - start
    store.close()
    bare = min(timeit.repeat(lambda: [k + 1 for k in range(100)], number=2000, repeat=9)) / 2000
    print(f"to compare machines by    {bare * 1e6:8.1f} us for [k + 1 for k in range(100)]")
    print(f"import                    {loaded * 1e3:8.0f} ms CPU")
    print(f"open_run, {n} items    {opened / n * 1e6:8.1f} us an item")
    print(f"record + finish           {cpu / n * 1e6:8.1f} us CPU a trial, {n / wall:.0f} trials a second")
    print(f"recall                    {recall / n * 1e6:8.1f} us a reply ({len(recalled)})")
    print(f"scores                    {scored / n * 1e6:8.1f} us a score ({scores})")
    with sqlite3.connect(path) as connection:
        kept, texts = connection.execute("SELECT sum(length(data)), count(*) FROM blob").fetchone()
    connection.close()
    size = path.stat().st_size
    print(f"file                      {size / n:8.0f} bytes a trial, of which {kept / n:.0f} in {texts} texts")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder) / "perf.db", int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
