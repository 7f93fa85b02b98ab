"""Theme caching-resume: which requests are the same, and what a second session asks again."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from typing import Any

import msgspec

from measurand.core.message import user
from measurand.core.outcome import Answered
from measurand.core.ports import Store
from measurand.core.request import Decode, Draw, Generate, key
from measurand.run.limits import RunLimits
from measurand.run.session import carry_out
from measurand.store import open_store
from tests.run.world import BENCHMARK, PROMPTING, Scripted, ask, engine

Json = dict[str, Any]


def caching_resume(case: Json) -> Json:
    if "runs" in case:
        return {"distinct_keys": len({_key(run) for run in case["runs"]})}
    return asyncio.run(_repeats(case) if "prompt" in case else _items(case))


def _key(run: Json) -> bytes:
    """The key of one request that is described by what differs."""
    fields = {name: value for name, value in run.items() if name in Decode.__struct_fields__}
    decode = msgspec.convert(fields, Decode)
    messages = (user(str(run.get("prompt", "p"))),)
    subject = str(run.get("model", "m")) + str(run.get("base_url", "")) + str(run.get("revision", ""))
    sample = run.get("sample") or run.get("epoch") or run.get("repeat") or 0
    return key(subject, Generate(messages, decode=decode), Draw(int(sample)))


async def _repeats(case: Json) -> Json:
    """One prompt, several samples; then the same again."""
    samples = int(case.get("repeats") or case.get("epochs") or 1)
    given = iter(case.get("first_run") or [f"reply {number}" for number in range(samples)])
    store = open_store(":memory:")
    first = Scripted(lambda text: next(given))
    await _session(store, first, 1, samples, case.get("temperature", 1.0))
    second = Scripted(lambda text: "asked again")
    said = await _session(store, second, 1, samples, case.get("temperature", 1.0))
    return {"second_run": said, "new_calls": len(second.asked), "stored": len(said), "distinct": len(set(said))}


async def _items(case: Json) -> Json:
    """Several items; some were done by an earlier session that died."""
    n, samples = int(case["items"]), int(case.get("repeats", 1))
    store = open_store(":memory:")
    done = {str(number) for number in case.get("done_ids", [])}
    if done:
        dies = Scripted(lambda text: "ok" if text.split()[0] in done else OSError("died"))
        await _session(store, dies, n, samples, 0.0)
    subject = Scripted(lambda text: "ok")
    await _session(store, subject, n, samples, 0.0, workers=int(case.get("workers", 4)))
    (run,) = store.runs()
    records = Counter(trial.item for _, trial in store.trials(run.id) if isinstance(trial.outcome, Answered))
    return {
        "records": sum(records.values()),
        "duplicates": sum(count - samples for count in records.values()),
        "new_calls": len(subject.asked),
        "replies_per_item": [records[str(number)] for number in range(n)],
    }


async def _session(
    store: Store, subject: Scripted, n: int, samples: int, temperature: float, workers: int = 1
) -> list[str]:
    asking = replace(
        PROMPTING,
        samples=samples,
        requests=lambda item, shots: ask(item, shots, Decode(temperature)),
    )
    limits = RunLimits(concurrency=workers, max_tries=1)
    made = engine(subject, n=n, store=store, benchmark=replace(BENCHMARK, asking=asking), limits=limits)
    await carry_out(made)
    trials = [trial for _, trial in store.trials(made.run.id)]
    return [trial.outcome.answer.text for trial in trials if isinstance(trial.outcome, Answered)]
