"""Write the store that later releases must still read: `python -m tests.store.make_golden PATH`.

Run it once for each release whose schema or encoding is new, and keep the earlier files.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from measurand.core.call import Asked, Ran, Reply, Timings, TokenLogprob, Usage
from measurand.core.identity import identity
from measurand.core.item import Item, Question
from measurand.core.message import Text, Tool, ToolCall, assistant, system, user
from measurand.core.outcome import Answer, Answered
from measurand.core.ports import CallMade
from measurand.core.program import FunctionTest, Limits, Result, Script
from measurand.core.request import Complete, Decode, Draw, Embed, Generate, Loglikelihood, Request, key
from measurand.core.run import Run, Slot
from measurand.core.subject import Model
from measurand.core.trial import Absent, Found, Measured, Missing, Reading, Score, Trial
from measurand.store import open_store
from tests.store.examples import protocol

DATA = Path(__file__).parent / "data"
SUBJECT = Model("openai", "example-model-1", "2026-01-01", endpoint="https://models.example")
SUBJECT_ID = identity(SUBJECT)
LONG = "A long text, of which there is one copy; @t, \x00, \u2028, 🧮. " * 12
TOOL = Tool("look_up", "Looks a word up", {"type": "object", "properties": {"word": {"type": "string"}}})

ASKED: tuple[tuple[Request, Draw, Reply], ...] = (
    (Generate((user("What is 2 + 2?"),)), Draw(), Reply((Text("4"),), usage=Usage(9, 1), timings=Timings(0.5, 0.1))),
    (
        Generate(
            (system(LONG), user("@t"), assistant("@@")), (TOOL,), {"type": "object"}, Decode(0.7, 0.9, 64, ("\n",), 1)
        ),
        Draw(3, 1, "again", "example/1"),
        Reply((Text(LONG), ToolCall("1", "look_up", '{"word":"x"}')), "tool_calls", LONG[::-1], served_as="example-1"),
    ),
    (
        Complete("Once upon", Decode(top_logprobs=2)),
        Draw(),
        Reply((Text(" a"),), "length", logprobs=(TokenLogprob(" a", -0.25, {" a": -0.25, " the": -2.5}),)),
    ),
    (Loglikelihood("2 + 2 =", (" 4", " 5")), Draw(), Reply(values=(-0.125, -7.75))),
    (Embed(("a", LONG)), Draw(), Reply(vectors=(tuple(n / 64 for n in range(64)), (0.5, -0.5)))),
)
RAN: tuple[tuple[bytes, Ran], ...] = (
    (b"a program's key.", Ran(Script("print(1)"), Result("finished", 0, "1\n", cpu_seconds=0.25))),
    (b"another's key...", Ran(FunctionTest("f = 1", "f", "def check(f): ...", LONG, Limits(9.0)), Result("passed"))),
)


def keys() -> list[bytes]:
    """The keys of all requests, as this release makes them."""
    return [key(SUBJECT_ID, request, draw) for request, draw, _ in ASKED]


def golden_run() -> Run:
    return Run("golden", protocol(2).id, SUBJECT, SUBJECT_ID, 2, 1)


def golden_items() -> list[Item]:
    return [Item("golden/0", Question("What is 2 + 2?"), 4), Item("golden/1", Question(LONG, ("A", "B")), "B")]


async def write(path: Path) -> None:
    store, run = open_store(path), golden_run()
    store.open_run(run, protocol(2), golden_items())
    session = store.begin_session(run.id, 4)
    for name, (request, _, reply) in zip(keys(), ASKED, strict=True):
        await store.record(name, SUBJECT_ID, Asked(request, reply))
    for name, ran in RAN:
        await store.record(name, "sandbox", ran)
    for slot, trial, calls, marks in finished():
        store.finish(slot, trial, calls, marks)
    await store.flush()
    store.end_session(session.id, 0)
    store.close()


def finished() -> list[tuple[Slot, Trial, list[CallMade], list[Reading | Score]]]:
    """The two trials of the run, with all that hangs on them."""
    run = golden_run().id
    trials = [
        Trial(run, f"golden/{n}", 0, Answered(Answer(text)), cost=0.5, started="2026-01-01T00:00:00Z", seconds=1.5)
        for n, text in enumerate(("4", LONG))
    ]
    calls = [CallMade("target", keys()[0]), CallMade("scorer", ran=RAN[0][1]), CallMade("sandbox", RAN[1][0])]
    first: list[Reading | Score] = [
        Reading(f"{run}/0/0", "number@1", Found(4, (0, 1))),
        Score((f"{run}/0/0",), "accuracy", Measured((1.0, 1.0)), "equal@1"),
    ]
    second: list[Reading | Score] = [
        Reading(f"{run}/1/0", "number@1", Absent("no number"), step=2),
        Score(("golden/1", f"{run}/1/0#2"), "accuracy", Missing("not_answered"), "equal@1"),
    ]
    return [(Slot(0, 0), trials[0], calls, first), (Slot(1, 0), trials[1], calls[:1], second)]


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1])))
