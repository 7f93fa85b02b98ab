"""MBPP+: rows in both forms, the types of their arguments, and its reference solutions against its own tests."""

from pathlib import Path
from typing import Any

import pytest

from measurand.asking import lint_items
from measurand.benchmarks.humaneval_plus import BENCHMARK as HUMANEVAL_PLUS
from measurand.benchmarks.mbpp_plus import BENCHMARK, CPU_SECONDS, ORACLES, VARIANTS, to_items
from measurand.core.benchmark import Prompting
from measurand.core.errors import DataError
from measurand.core.item import Item
from measurand.core.request import Complete, Generate
from measurand.data import open_data
from tests.artifacts import artifact
from tests.benchmarks.programs import golds, isolation, verdicts

RELEASE = "mbpp/MbppPlus.jsonl.gz"
RELEASED = {
    "task_id": "Mbpp/2",
    "prompt": '"""\nWrite a function to join two tuples.\nassert join((1,), (2,)) == (1, 2)\n"""\n',
    "entry_point": "join",
    "canonical_solution": "def join(a, b):\n    return a + b\n",
    "base_input": [[[1], [2]]],
    "plus_input": [[[], [3]]],
    "atol": 0,
}
OF_THE_HUB = {
    "task_id": 2,
    "prompt": "Write a function to join two tuples.",
    "code": "def join(a, b):\n    return a + b\n",
    "test_list": ["assert join((1,), (2,)) == (1, 2)", "assert join((), ()) == ()"],
    "test": "inputs = [[(1,), (2,)], [(), (3,)]]\nresults = [(1, 2), (3,)]\n"
    "for i, (inp, exp) in enumerate(zip(inputs, results)):\n    assertion(join(*inp), exp, 0)\n",
}


def release() -> list[Item]:
    """As a run reads it: a local copy stands in for the hub's file."""
    data = open_data({"mbpp_plus": str(artifact(RELEASE))}, offline=True)
    return list(to_items("test", data.rows("mbpp_plus:test", BENCHMARK.task.sources["test"]).rows))


def test_both_forms_are_one_item() -> None:
    (one,), (other,) = to_items("test", [RELEASED]), to_items("test", [OF_THE_HUB])
    assert one == other
    assert isinstance(BENCHMARK.asking, Prompting)
    (raw,) = BENCHMARK.asking.requests(one, ())
    assert isinstance(raw, Complete)
    assert raw.prompt == RELEASED["prompt"]
    chat = VARIANTS["chat"].asking
    assert isinstance(chat, Prompting)
    (request,) = chat.requests(one, ())
    assert isinstance(request, Generate)
    assert 'assert join((1,), (2,)) == (1, 2)\n"""\n```\n\nReply' in request.messages[0].text


@pytest.mark.parametrize(
    "row", [{}, {"task_id": 2}, RELEASED | {"prompt": None}, RELEASED | {"atol": None}, OF_THE_HUB | {"test": ""}]
)
def test_other_rows_are_refused(row: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="mbpp_plus: row 1 of test"):
        to_items("test", [row])


@pytest.mark.parametrize(
    ("number", "given", "meant"),
    [
        (3, [[1, [2]]], "[[[1, [2]]]]"),
        (2, [[1], [2]], "[[(1,), (2,)]]"),
        (63, [[[1, 2], [3]]], "[[[(1, 2), (3,)]]]"),
        (75, [[[1, 2]], 2], "[[[(1, 2)], 2]]"),
        (106, [[1], [2]], "[[[1], (2,)]]"),
        (307, [[1, [2]], 1, 5], "[[(1, [2]), 1, 5]]"),
        (259, [[[1, 2]], [[3]]], "[[((1, 2),), ((3,),)]]"),
        (278, [[1, [2]]], "[[(1, (2,))]]"),
        (580, [[1, [2, [3]]]], "[[(1, (2, (3,)))]]"),
        (115, [[[1, 1], []]], "[[[{1}, {}]]]"),
        (124, ["1", "2j"], "[[1.0, 2j]]"),
        (252, ["1+2j"], "[[(1+2j)]]"),
        (404, ["-Infinity", 1], "[[-inf, 1]]"),
        (722, [{"a": [1, 2]}, 3], "[[{'a': (1, 2)}, 3]]"),
    ],
)
def test_arguments_have_the_types_that_the_problem_means(number: int, given: list[Any], meant: str) -> None:
    row = RELEASED | {"task_id": f"Mbpp/{number}", "base_input": [given], "plus_input": {}}
    (item,) = to_items("test", [row])
    assert f"\n_inputs = {meant}\n" in item.gold["test"]


def test_the_release_is_whole_with_its_infinities() -> None:
    items = {item.id: item for item in release()}
    assert len(items) == 378
    assert lint_items(list(items.values())) == ()
    assert items.keys() >= CPU_SECONDS.keys()
    assert {item.gold["entry_point"] for item in items.values()} >= ORACLES.keys()
    assert "[-inf, inf]" in items["Mbpp/404"].gold["test"]


def test_only_this_source_may_hold_infinities(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"x": [NaN, -Infinity, "NaN"]}\n')
    data = open_data({"mine": str(tmp_path / "a.jsonl"), "mbpp_plus": str(tmp_path / "a.jsonl")})
    source = BENCHMARK.task.sources["test"]
    assert data.rows("mbpp_plus:test", source).rows == [{"x": ["NaN", "-Infinity", "NaN"]}]
    with pytest.raises(DataError, match="holds NaN, which is not JSON"):
        data.rows("mine:test", HUMANEVAL_PLUS.task.sources["test"])


async def test_several_answers_may_be_right() -> None:
    """The answers that EvalPlus accepts besides the reference's."""
    sandbox, items = isolation(), {item.gold["entry_point"]: item for item in release()}
    answers = {
        "similar_elements": ("def similar_elements(a, b):\n    return list(set(a) & set(b)) * 2\n", 1.0),
        "text_starta_endb": ("import re\ndef text_starta_endb(s):\n    return re.search('a.*?b$', s)\n", 1.0),
        "check_str": ("def check_str(s):\n    return True\n", 0.0),
        "Diff": ("def Diff(a, b):\n    return list(a)\n", 0.0),
        "digit_distance_nums": ("def digit_distance_nums(a, b):\n    return 0\n", 0.0),
        "surface_Area": ("def surface_Area(a, b):\n    return 1\n", 0.0),
    }
    scores = await verdicts(sandbox, BENCHMARK, [(items[name], text) for name, (text, _) in answers.items()])
    assert scores == [score for _, score in answers.values()]
    assert await verdicts(sandbox, BENCHMARK, golds(BENCHMARK, [items[name] for name in ORACLES])) == (
        [1.0] * len(ORACLES)
    )


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("benchmark", [BENCHMARK, VARIANTS["chat"]], ids=lambda benchmark: benchmark.name)
async def test_every_reference_of_the_release_is_right(benchmark: Any) -> None:
    items = release()
    scores = await verdicts(isolation(), benchmark, golds(benchmark, items))
    assert [item.id for item, score in zip(items, scores, strict=True) if score != 1.0] == []
