"""HumanEval+: rows in both forms, and its reference solutions against its own tests."""

from typing import Any

import pytest

from measurand.asking import lint_items
from measurand.benchmarks.humaneval import BENCHMARK as HUMANEVAL
from measurand.benchmarks.humaneval_plus import BENCHMARK, CPU_SECONDS, VARIANTS, inputs_of, to_items
from measurand.core.errors import DataError
from tests.benchmarks.programs import golds, isolation, lines, verdicts

ROW = {
    "task_id": "t/1",
    "prompt": 'def f(x):\n    """Half of x."""\n',
    "entry_point": "f",
    "canonical_solution": "    return x / 2\n",
}
RELEASED = ROW | {"base_input": [[3]], "plus_input": [[4], [-5]], "atol": 0}
# The hub's form, in words of our own: inputs are Python, answers stand beside them, and the tolerance is at the end.
OF_THE_HUB = ROW | {
    "test": "from math import inf\n\ndef check(candidate):\n    inputs = [[3], [(4)], [-5]]\n    results = [1.5, 2.0, -2.5]\n"
    "    for i, (inp, exp) in enumerate(zip(inputs, results)):\n        assertion(candidate(*inp), exp, 0.0001)\n"
}


def test_both_forms_hold_the_inputs_and_the_tolerance() -> None:
    assert inputs_of(RELEASED, "here") == ("[[3], [4], [-5]]", 0.0)
    assert inputs_of(OF_THE_HUB, "here") == ("[[3], [4], [-5]]", 1e-4)
    infinite = {"test": OF_THE_HUB["test"].replace("[3]", "[-inf]").replace("0.0001", "0")}
    assert inputs_of(infinite, "here") == ("[[-inf], [4], [-5]]", 0.0)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({}, "row 1 of test lacks a text"),
        (ROW, "row 1 of test has neither"),
        (ROW | {"test": "def check(c): pass"}, "row 1 of test has neither"),
        (ROW | {"test": "def check(:"}, "row 1 of test has neither"),
        (RELEASED | {"atol": "none"}, "row 1 of test has neither"),
    ],
)
def test_other_rows_are_refused(row: dict[str, Any], says: str) -> None:
    with pytest.raises(DataError, match=says):
        to_items("test", [row])


@pytest.mark.parametrize("row", [RELEASED, OF_THE_HUB], ids=["release", "hub"])
async def test_golds_are_right_and_others_wrong(row: dict[str, Any]) -> None:
    sandbox, items = isolation(), to_items("test", [row])
    for benchmark in (BENCHMARK, VARIANTS["chat"]):
        assert await verdicts(sandbox, benchmark, golds(benchmark, items)) == [1.0]
    answers = ["    return x / 2 + 1e-9\n", "    return x // 2\n", "    return abs(x / 2)\n", "    return -1j * x\n"]
    assert await verdicts(sandbox, BENCHMARK, [(items[0], text) for text in answers]) == [1.0, 0.0, 0.0, 0.0]


def test_it_asks_as_humaneval_does_under_another_name() -> None:
    assert BENCHMARK.asking is HUMANEVAL.asking
    assert {variant.name for variant in VARIANTS.values()} == {f"humaneval_plus:{name}" for name in VARIANTS}
    assert all(variant.task is BENCHMARK.task and variant.card is BENCHMARK.card for variant in VARIANTS.values())


def test_the_release_is_whole() -> None:
    items = to_items("test", lines("humaneval/HumanEvalPlus.jsonl.gz"))
    assert len(items) == 164
    assert lint_items(items) == ()
    assert {item.id for item in items} >= CPU_SECONDS.keys()


QUICK = ("HumanEval/0", "HumanEval/32", "HumanEval/38", "HumanEval/53", "HumanEval/99", "HumanEval/163")


async def test_a_few_references_of_the_release_are_right_and_an_empty_body_is_wrong() -> None:
    sandbox = isolation()
    items = [item for item in to_items("test", lines("humaneval/HumanEvalPlus.jsonl.gz")) if item.id in QUICK]
    assert await verdicts(sandbox, BENCHMARK, golds(BENCHMARK, items)) == [1.0] * len(QUICK)
    assert await verdicts(sandbox, BENCHMARK, [(item, "    pass\n") for item in items]) == [0.0] * len(QUICK)


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_every_reference_of_the_release_is_right() -> None:
    sandbox = isolation()
    items = to_items("test", lines("humaneval/HumanEvalPlus.jsonl.gz"))
    scores = await verdicts(sandbox, BENCHMARK, golds(BENCHMARK, items))
    assert [item.id for item, score in zip(items, scores, strict=True) if score != 1.0] == []


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_more_tests_find_more_faults() -> None:
    """GPT-4's answers: HumanEval passes 134 of 164; HumanEval+ passes fewer, and none besides."""
    sandbox = isolation()
    items = {item.id: item for item in to_items("test", lines("humaneval/HumanEvalPlus.jsonl.gz"))}
    rows = lines("humaneval/simple_gpt4_humaneval.jsonl")
    chat = VARIANTS["chat"]
    scores = await verdicts(sandbox, chat, [(items[row["task_id"]], row["solution"]) for row in rows])
    more = [row["task_id"] for row, score in zip(rows, scores, strict=True) if score > row["is_solved"]]
    assert more == []
    assert 110 < sum(scores) < 134
