"""MBPP: the prompts, the rows in both forms, and other people's verdicts reproduced and explained."""

import asyncio
import re
from typing import Any

import pytest

from measurand.asking import lint_items
from measurand.asking.exemplars import choose
from measurand.benchmarks.mbpp import BENCHMARK, VARIANTS, all_items, to_items
from measurand.core.benchmark import Prompting
from measurand.core.errors import DataError
from measurand.core.item import Item, Question
from measurand.core.program import FunctionTest
from measurand.core.request import Complete, Generate
from measurand.core.trial import Found, Measured, Missing
from measurand.scoring.code import FUNCTION_TEST
from tests.benchmarks.programs import golds, isolation, lines, verdicts

# Rows in the official columns, of our own making.
FULL = [
    {
        "task_id": number,
        "text": f"Write a function to add {number} to a number.",
        "code": f"import math\r\ndef add_{number}(x): \r\n  return x + {number}",
        "test_list": [f"assert set([add_{number}(1)]) == {{{number + 1}}}", f"assert add_{number}(-{number})==0"],
        "test_setup_code": "",
        "challenge_test_list": [],
    }
    for number in (1, 2, 3, 4, 5, 11, 12, 510, 511)
]
SANITISED = [
    {
        "task_id": 9,
        "prompt": "Write a function to halve a number.",
        "code": "def half(x):\n    return x / 2",
        "test_imports": ["import math"],
        "test_list": ["assert math.isclose(half(3), 1.5)"],
    },
    {
        "task_id": 600,
        "prompt": "Write a function to tell even numbers.",
        "code": "class Other: ...\n\nis_even = lambda x: x % 2 == 0",
        "test_imports": [],
        "test_list": ['assert is_even(2), """two\nlines"""', "assert not is_even(3)"],
    },
]


def test_the_prompt_word_for_word() -> None:
    items, pool = to_items("test", FULL), to_items("prompt", FULL)
    assert [item.id for item in items] == ["mbpp/11", "mbpp/12", "mbpp/510"]
    assert isinstance(BENCHMARK.asking, Prompting)
    assert BENCHMARK.asking.shots is not None
    shots = choose(BENCHMARK.asking.shots, items[0], pool)
    (request,) = BENCHMARK.asking.requests(items[0], shots)
    assert isinstance(request, Complete)
    assert request.decode.stop == ("[DONE]",)
    first, *_, last = request.prompt.split("You are an expert Python programmer, ")[1:]
    assert first == (
        "and here is your task: Write a function to add 2 to a number. Your code should pass these tests:\n\n"
        "assert set([add_2(1)]) == {3}\nassert add_2(-2)==0\n[BEGIN]\nimport math\ndef add_2(x): \n  return x + 2\n[DONE]\n\n"
    )
    assert last.endswith("assert set([add_11(1)]) == {12}\nassert add_11(-11)==0\n[BEGIN]\n")
    assert request.prompt.count("[BEGIN]") == 4


def test_the_chat_prompt_shows_the_task_and_its_tests() -> None:
    chat = VARIANTS["sanitised_chat"]
    assert isinstance(chat.asking, Prompting)
    (request,) = chat.asking.requests(all_items("test", SANITISED)[0], ())
    assert isinstance(request, Generate)
    assert "halve a number.\n\nIt will be called" in request.messages[0].text
    assert "```python\nassert math.isclose(half(3), 1.5)\n```" in request.messages[0].text
    assert set(chat.task.sources) == set(VARIANTS["chat"].task.sources) == {"test"}


def test_both_forms_of_rows_become_items() -> None:
    assert [item.id for item in all_items("test", SANITISED)] == ["mbpp/9", "mbpp/600"]
    assert [item.gold["entry_point"] for item in all_items("test", SANITISED)] == ["half", "is_even"]
    assert lint_items(all_items("test", [*FULL, *SANITISED])) == ()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"test_list": []}, "row 1 of test lacks"),
        ({"code": None}, "row 1 of test lacks"),
        ({"task_id": None}, "row 1 of test lacks"),
        ({"test_list": ["assert other(2)"]}, "no test that calls a function"),
        ({"code": "def half(x:"}, "no test that calls a function"),
    ],
)
def test_other_rows_are_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(DataError, match=says):
        all_items("test", [SANITISED[0] | change])


async def test_what_cannot_be_tested_apart_is_missing_and_not_wrong() -> None:
    """Like mbpp/367, whose test builds objects of a class of the reference."""
    tree = {
        "task_id": 367,
        "text": "Write a function to tell whether a node is a leaf.",
        "code": "class Node:\r\n  left = None\r\ndef is_leaf(node):\r\n  return node.left is None",
        "test_list": ["assert is_leaf(root)"],
        "test_setup_code": "root = Node()",
    }
    (item,) = to_items("test", [tree])
    program = FUNCTION_TEST.program(item, Found(item.gold["canonical_solution"]))
    assert isinstance(program, FunctionTest)
    value = FUNCTION_TEST.verdict(item, await isolation().run(program))
    assert isinstance(value, Missing)
    assert value.why == "scorer_failed"
    assert "'Node' is not defined" in value.detail


async def test_golds_are_right_and_others_wrong() -> None:
    sandbox = isolation()
    for benchmark, items in ((BENCHMARK, to_items("test", FULL)), (VARIANTS["chat"], all_items("test", SANITISED))):
        assert await verdicts(sandbox, benchmark, golds(benchmark, items)) == [1.0] * len(items)
        assert await verdicts(sandbox, benchmark, [(item, "def half(x):\n    return 0") for item in items]) == (
            [0.0] * len(items)
        )


@pytest.mark.slow
async def test_every_flag_of_a_published_run_is_met_or_explained() -> None:
    """Six right programs are flagged wrong there, and it can be said why.

    One solution defines a function named `sum`. The published flags were made in one process that ran every program
    in the same globals: from there on no program that calls the built-in `sum` is flagged right. (MultiPL-E tasks,
    with a `check` of their own.)
    """
    sandbox, rows = isolation(), lines("mbpp/simple_gpt4_mbpp_py.jsonl")

    async def one(row: dict[str, Any]) -> bool:
        gold = {"prompt": "", "entry_point": row["entry_point"], "test": row["test"].partition("\ndef test_check")[0]}
        item = Item(row["name"], Question(row["prompt"]), gold=gold)
        program = FUNCTION_TEST.program(item, Found(row["solution"]))
        assert isinstance(program, FunctionTest)
        value = FUNCTION_TEST.verdict(item, await sandbox.run(program))
        assert isinstance(value, Measured), value
        return value.row == (1.0,)

    passed = await asyncio.gather(*map(one, rows))
    assert sum(passed) == 324
    assert sum(row["is_solved"] for row in rows) == 318
    different = [row["name"] for row, found in zip(rows, passed, strict=True) if row["is_solved"] != found]
    assert different == [
        "mbpp_67_bell_number",
        "mbpp_170_sum_range_list",
        "mbpp_798__sum",
        "mbpp_724_power_base_sum",
        "mbpp_419_round_and_sum",
        "mbpp_598_armstrong_number",
    ]
    taken = next(place for place, row in enumerate(rows) if row["entry_point"] == "sum")
    calls = [row for row in rows[taken + 1 :] if re.search(r"(?<![\w.])sum\(", row["solution"])]
    assert not any(row["is_solved"] for row in calls)
    assert set(different) <= {row["name"] for row in calls}
    before = [row["is_solved"] for row in rows[:taken] if re.search(r"(?<![\w.])sum\(", row["solution"])]
    assert sum(before) > len(before) / 2
