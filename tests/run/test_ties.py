"""Options whose log-probabilities are equal share a point, are counted, and the report says how many there were."""

from dataclasses import replace

import pytest

from measurand.benchmarks.mmlu import BENCHMARK
from measurand.core.benchmark import Prompting
from measurand.core.ports import Abilities
from measurand.core.subject import Model
from measurand.providers.fake import Fake
from measurand.run.engine import Ports
from measurand.run.limits import RunLimits
from measurand.run.session import Occasion, begin, carry_out
from measurand.run.summary import summarise
from measurand.sandboxes.refuse import NoSandbox
from measurand.store import open_store
from tests.run.world import Listed

ROWS = [{"question": f"{n}?", "subject": "anatomy", "choices": list("abcd"), "answer": 0} for n in range(4)]
ASKING = BENCHMARK.asking
assert isinstance(ASKING, Prompting)
ONCE = replace(
    BENCHMARK,
    task=replace(BENCHMARK.task, sources={"test": BENCHMARK.task.sources["test"]}),
    asking=replace(ASKING, shots=None),
)


async def numbers(values):
    subject = Fake(
        lambda request: values if "1?" in request.context else (-1.0, -2.0, -3.0, -4.0),
        abilities=Abilities(("loglikelihood",), "any", local=True, conditions={"loglikelihood": "Computed by hand."}),
    )
    assert isinstance(subject.subject, Model)
    ports = Ports({"target": subject}, NoSandbox("none"), open_store(":memory:"))
    made = begin(ONCE, Listed(ROWS), ports, RunLimits(), Occasion())
    await carry_out(made)
    return summarise(made.ports.store, made.run)


async def test_ties_are_shared_counted_and_said():
    summary = await numbers((-1.0, -1.0, -2.0, -1.0))
    assert summary.views[0].estimate.value == pytest.approx((3 + 1 / 3) / 4)
    (count,) = summary.readings
    assert (count.found, count.tied) == (4, 1)
    assert "By argmax@1, 1 of 4 choices are ties; the tied share their point." in summary.notes
    assert "Computed by hand." in summary.notes


async def test_without_ties_nothing_is_said():
    summary = await numbers((-9.0, -1.0, -2.0, -1.5))
    assert summary.readings[0].tied == 0
    assert not any("ties" in note for note in summary.notes)
