"""The door that everybody comes through."""

import asyncio

import pytest

import measurand
from measurand.core.errors import InputError, UnaskableError
from measurand.run.limits import RunLimits
from measurand.study.records import PrivateSet
from measurand.wiring import Options
from tests.artifacts import artifact
from tests.run.world import BENCHMARK, Scripted, right


@pytest.fixture
def sums(tmp_path):
    path = tmp_path / "sums.csv"
    path.write_text("q,a,kind\n" + "".join(f"{i} + 1,{i + 1},{'x' if i % 2 else 'y'}\n" for i in range(8)))
    return PrivateSet(file=str(path), question="q", answer="a", slices=("kind",))


MEMORY = Options(store=":memory:", limits=RunLimits(concurrency=2))


def test_a_python_function_is_evaluated(sums):
    result = measurand.evaluate(sums, right, options=MEMORY)
    assert result.summary.views[0].estimate.value == 1.0
    assert result.ended.complete
    assert len(list(result.trials())) == 8
    assert "<table" in result._repr_html_()


def test_it_works_inside_a_running_loop(sums):
    async def notebook():
        return measurand.evaluate(sums, right, options=MEMORY)

    assert asyncio.run(notebook()).summary.tally.answered == 8


def test_an_error_reaches_the_caller_inside_a_running_loop(sums):
    async def notebook():
        measurand.evaluate("no_such_benchmark", right, options=MEMORY)

    with pytest.raises(InputError, match="no benchmark 'no_such_benchmark'"):
        asyncio.run(notebook())


def test_a_subset_is_seeded(sums):
    one = measurand.evaluate(sums, right, subset=3, options=MEMORY)
    two = measurand.evaluate(sums, right, subset=3, options=MEMORY)
    assert one.run.id == two.run.id
    assert one.summary.tally.planned == 3


def test_a_subject_without_log_probabilities_is_shown_the_protocol_that_fits():
    options = Options(store=":memory:", data={"mmlu": str(artifact("mmlu"))})
    with pytest.raises(UnaskableError, match=r"asks by loglikelihood.*the protocol that fits is mmlu:generate"):
        measurand.evaluate("mmlu", Scripted(right), options=options)


def test_a_benchmark_of_ones_own_needs_no_name(tmp_path):
    with pytest.raises(UnaskableError):
        measurand.evaluate(BENCHMARK, Raw(right), options=MEMORY)


class Raw(Scripted):
    def describe(self):
        from measurand.core.ports import Abilities

        return Abilities(("complete",))
