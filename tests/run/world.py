"""A small world for the engine: a benchmark of sums, data from a list, and subjects that do as they are told."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from measurand.core.benchmark import (
    Aggregation,
    Benchmark,
    Card,
    Marking,
    Prompting,
    Reader,
    Scaffold,
    Scorer,
    Scoring,
    Task,
)
from measurand.core.call import Finish, Reply, Usage
from measurand.core.item import Item, Question
from measurand.core.message import Text, user
from measurand.core.ports import Abilities, Provider, Rows, Store
from measurand.core.request import Decode, Generate, Request
from measurand.core.source import Inline, Source
from measurand.core.subject import Model
from measurand.core.trial import Absent, Finding, Found, Measured
from measurand.run.engine import Engine, Ports
from measurand.run.limits import RunLimits
from measurand.run.session import Occasion, begin
from measurand.sandboxes.refuse import NoSandbox
from measurand.stats.metrics import ACCURACY
from measurand.store import open_store

CARD = Card("Sums", "adding", ("everything else",), "quiz", "here", "here", "none")


class Listed:
    """The Data port over a list of rows."""

    def __init__(self, rows: Sequence[dict]) -> None:
        self._rows = list(rows)

    def rows(self, name: str, source: Source) -> Rows:
        return Rows(self._rows, "0" * 64)


class Scripted:
    """A subject that answers by a function of the user's text; counts what it is asked."""

    def __init__(self, script: Callable[[str], Reply | str | Exception], name: str = "scripted") -> None:
        self.script = script
        self.asked: list[str] = []
        self.subject = Model("fake", name)

    def describe(self) -> Abilities:
        return Abilities(("chat",), local=True)

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def reply(self, request: Request) -> Reply:
        assert isinstance(request, Generate)
        text = request.messages[-1].text
        self.asked.append(text)
        said = self.script(text)
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, Reply) else says(said)


def says(text: str, finish: Finish = "stop") -> Reply:
    return Reply((Text(text),), finish, usage=Usage(10, 2))


def right(text: str) -> str:
    """The right answer to a sum, as `right("2 + 3")`."""
    a, _, b = text.split()[:3]
    return str(int(a) + int(b))


def _read(_item: Item, answer: object) -> Finding:
    text = answer.text  # type: ignore[attr-defined]
    return Found(text, (0, len(text))) if text else Absent("empty")


def _score(item: Item, finding: Finding) -> Measured:
    return Measured((float(isinstance(finding, Found) and finding.value == item.gold),))


SCORING = Scoring((Marking("accuracy", Reader("whole", 1, _read), Scorer("same", 1, _score)),))


def sums(n: int) -> list[dict]:
    return [
        {"id": str(i), "q": f"{i} + {i + 1}", "a": str(2 * i + 1), "kind": "even" if i % 2 == 0 else "odd"}
        for i in range(n)
    ]


def to_items(_name: str, rows: Sequence[Mapping[str, Any]]) -> list[Item]:
    return [Item(row["id"], Question(row["q"]), row["a"], {"kind": row["kind"]}) for row in rows]


def ask(item: Item, _shots: Sequence[Item], decode: Decode = Decode(max_tokens=8)) -> tuple[Request, ...]:
    assert isinstance(item.input, Question)
    return (Generate((user(item.input.text),), decode=decode),)


PROMPTING = Prompting("plain", 1, ask, frozenset({"chat"}), "{{q}}")

BENCHMARK = Benchmark(
    "sums",
    Task({"test": Inline("sums", "0")}, to_items, 1),
    PROMPTING,
    SCORING,
    Aggregation({"accuracy": ACCURACY}, groups=("kind",)),
    CARD,
)


def with_samples(k: int) -> Benchmark:
    return replace(BENCHMARK, asking=replace(BENCHMARK.asking, samples=k))


def scaffold(attempt: Callable, *, steps: int | None = None) -> Benchmark:
    asking = Scaffold("agent", 1, attempt, frozenset({"chat"}), "an agent", steps=steps)
    return replace(BENCHMARK, name="agent", asking=asking)


def engine(
    subject: Provider,
    *,
    n: int = 10,
    benchmark: Benchmark = BENCHMARK,
    store: Store | None = None,
    limits: RunLimits | None = None,
    occasion: Occasion | None = None,
) -> Engine:
    ports = Ports({"target": subject}, NoSandbox("none"), store or open_store(":memory:"))
    fast = RunLimits(concurrency=4, max_tries=3, grace=1.0)
    return begin(benchmark, Listed(sums(n)), ports, limits or fast, occasion or Occasion())
