"""Records for the tests of the store: a small run, and its calls and trials."""

from __future__ import annotations

import hashlib

from measurand.core.call import Asked, Ran, Reply, Timings, Usage
from measurand.core.item import Item, Question
from measurand.core.message import Text, user
from measurand.core.outcome import Answer, Answered, Outcome
from measurand.core.ports import CallMade, Store
from measurand.core.program import Result, Script
from measurand.core.protocol import AggregationPart, AskingPart, MarkingPart, Protocol, ScoringPart, TaskPart
from measurand.core.request import Decode, Generate
from measurand.core.run import Run, Slot
from measurand.core.subject import Model
from measurand.core.trial import Found, Measured, Reading, Score, Trial

SUBJECT = Model("openai", "example-model-1", "2026-01-01")
SUBJECT_ID = "5" * 64


def protocol(n_items: int = 3, samples: int = 1) -> Protocol:
    return Protocol(
        "example",
        TaskPart("example", 1, {}, "test", n_items, "0" * 64),
        AskingPart("example", 1, "{question}", ("chat",), samples),
        ScoringPart((MarkingPart("accuracy", "number@1", "equal@1"),), False, False),
        AggregationPart({"accuracy": "accuracy@1"}, (), (), 0.95),
    )


def run(n_items: int = 3, samples: int = 1, occasion: str = "") -> Run:
    return Run("example", protocol(n_items, samples).id, SUBJECT, SUBJECT_ID, n_items, samples, occasion)


def items(n_items: int = 3) -> list[Item]:
    return [Item(f"example/{n}", Question(f"What is {n} + {n}?"), gold=2 * n) for n in range(n_items)]


def key_of(name: object) -> bytes:
    return hashlib.sha256(str(name).encode()).digest()[:16]


def asked(name: object, text: str = "four") -> Asked:
    request = Generate((user(f"What is {name}?"),), decode=Decode(max_tokens=16))
    return Asked(request, Reply((Text(text),), usage=Usage(12, 3), timings=Timings(0.25), served_as="example-1"))


def ran(source: str = "print(1)") -> Ran:
    return Ran(Script(source), Result("finished", 0, "1\n"))


def trial(of: Run, slot: Slot, outcome: Outcome | None = None) -> Trial:
    return Trial(
        of.id,
        f"example/{slot.item_no}",
        slot.sample_no,
        outcome or Answered(Answer("four")),
        slot.member,
        cost=0.001,
        started="2026-01-01T00:00:00+00:00",
        seconds=0.5,
    )


def marks(of: Run, slot: Slot, value: float = 1.0) -> list[Reading | Score]:
    name = f"{of.id}/{slot.item_no}/{slot.sample_no}" + (f"/{slot.member}" if slot.member else "")
    return [
        Reading(name, "number@1", Found(4, (0, 4))),
        Score((name,), "accuracy", Measured((value, 1.0)), "equal@1"),
    ]


async def fill(store: Store, of: Run, n_items: int, samples: int = 1) -> None:
    """Open the run, and record and finish all of it, in an order that is not the plan's."""
    store.open_run(of, protocol(n_items, samples), items(n_items))
    for n in reversed(range(n_items)):
        for sample in reversed(range(samples)):
            slot, key = Slot(n, sample), key_of((n, sample))
            await store.record(key, SUBJECT_ID, asked((n, sample)))
            store.finish(slot, trial(of, slot), [CallMade("target", key)], marks(of, slot))
    await store.flush()
