"""Stored answers scored again under errata: which pass@k move, and which are saturated. No model is asked twice."""

from dataclasses import replace

from measurand.benchmarks.humaneval import BENCHMARK, COUNTED, VARIANTS
from measurand.core.benchmark import Benchmark
from measurand.core.call import Reply
from measurand.core.message import Text
from measurand.core.ports import Abilities
from measurand.core.program import FunctionTest, Program, Result
from measurand.core.request import Complete, Request
from measurand.core.subject import Model
from measurand.core.summary import Summary
from measurand.run.engine import Ports
from measurand.run.limits import RunLimits
from measurand.run.rescore import rescore
from measurand.run.session import Occasion, begin, carry_out
from measurand.run.summary import summarise
from measurand.sandboxes.fake import FakeSandbox
from measurand.store import open_store
from tests.run.world import Listed

ROWS = [
    {
        "task_id": name,
        "prompt": f"def f{number}():\n",
        "entry_point": f"f{number}",
        "test": "def check(candidate): assert candidate()",
    }
    for number, name in enumerate(("HumanEval/46", "HumanEval/47", "HumanEval/48"))
]


class Sampler:
    """Right in 190 of 200 samples of a problem, but only in 20 of the one whose test is flawed."""

    subject = Model("fake", "sampler")
    asked = 0

    def describe(self) -> Abilities:
        return Abilities(("complete",), local=True)

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def reply(self, request: Request) -> Reply:
        assert isinstance(request, Complete)
        self.asked += 1
        every = 10 if "f1" in request.prompt else 1
        return Reply((Text("    return True" if self.asked % 20 and self.asked % every == 1 % every else "    pass"),))


def judge(program: Program) -> Result:
    assert isinstance(program, FunctionTest)
    return Result("passed" if "True" in program.candidate else "wrong_answer")


def numbers(summary: Summary) -> dict[str, float | None]:
    return {view.estimate.metric: view.estimate.value for view in summary.views if view.view == "pooled"}


def hundred(name: str) -> Benchmark:
    """The variant with as many samples as this test can bear."""
    return replace(VARIANTS[name], asking=replace(VARIANTS[name].asking, samples=100))


async def test_errata_are_applied_to_stored_answers() -> None:
    subject, store = Sampler(), open_store(":memory:")
    ports = Ports({"target": subject}, FakeSandbox(judge), store)
    engine = begin(hundred("samples"), Listed(ROWS), ports, RunLimits(concurrency=1), Occasion())
    await carry_out(engine)
    before = summarise(store, engine.run)
    assert subject.asked == 300

    sandbox = FakeSandbox(judge)
    after = summarise(store, await rescore(store, engine.run, hundred("samples_errata"), sandbox))
    assert subject.asked == 300
    assert len(sandbox.programs) == 200

    was, now = numbers(before), numbers(after)
    assert list(was) == list(now) == list(COUNTED)
    moved = {name for name in COUNTED if was[name] != now[name]}
    assert moved == {"pass_at_1", "pass_at_10"}
    assert now["pass_at_1"] == 0.95
    saturated = [note.partition(" is saturated")[0] for note in after.notes if "is saturated" in note]
    assert saturated == ["pass@10", "pass@100"]
    assert [note.partition(" is ")[0] for note in before.notes if "is saturated" in note] == ["pass@100"]


def test_one_answer_can_be_scored_under_errata_too() -> None:
    assert VARIANTS["errata"].asking == BENCHMARK.asking
