"""MATH and MATH-500: rows in both forms, the prompts word for word, and what is right under which rule."""

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from measurand.asking import lint_items
from measurand.benchmarks.math import BENCHMARK, FEW_SHOT, VARIANTS, to_items
from measurand.core.benchmark import Prompting
from measurand.core.errors import DataError
from measurand.core.item import Question
from measurand.core.request import Complete, Generate
from measurand.data import open_data
from tests.artifacts import artifact
from tests.benchmarks.checking import assert_check_passes, marks
from tests.benchmarks.hub import rows_from_hub

GOLDEN = Path(__file__).parent / "golden"
# Rows in the official columns, of our own making.
MATH_ROWS = [
    {
        "problem": "What is $\\frac{1}{2}$ of {{six}} thousand?",
        "level": "Level 2",
        "type": "Prealgebra",
        "solution": "It is half of that, so \\boxed{3,\\!000}.",
    },
    {
        "problem": "Give the roots of $x^2 = 4$.",
        "level": "Level 1",
        "type": "Algebra",
        "solution": "The roots are $\\boxed{-2, 2}$.",
    },
]
MATH_500_ROWS = [
    {
        "problem": "Where is the point?",
        "solution": "At $\\boxed{\\left( 3, \\frac{\\pi}{2} \\right)}$.",
        "answer": "\\left( 3, \\frac{\\pi}{2} \\right)",
        "subject": "Precalculus",
        "level": 2,
        "unique_id": "test/precalculus/1.json",
    }
]


def test_the_prompts_word_for_word() -> None:
    (item, _) = to_items("test", MATH_ROWS)
    for benchmark, name in ((BENCHMARK, "math"), (VARIANTS["chat"], "math_chat")):
        assert isinstance(benchmark.asking, Prompting)
        (request,) = benchmark.asking.requests(item, ())
        golden = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
        if isinstance(request, Complete):
            assert request.prompt == golden
            assert request.decode.stop == ("Problem:",)
        else:
            assert isinstance(request, Generate)
            assert [message.text for message in request.messages] == [golden]
        assert request.decode.temperature == 0


def test_rows_of_both_forms_become_items() -> None:
    one, other = to_items("test", MATH_ROWS)
    assert (one.id, one.gold, one.slices) == ("math/test/0", "3,\\!000", {"subject": "Prealgebra", "level": "2"})
    assert other.gold == "-2, 2"
    (point,) = to_items("test", MATH_500_ROWS)
    assert (point.id, point.slices["level"]) == ("math/test/precalculus/1.json", "2")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"problem": None}, "row 1 of test lacks"),
        ({"type": "Cooking"}, "row 1 of test lacks"),
        ({"solution": "It is 5."}, "the solution of row 1 of test has no .boxed answer"),
    ],
)
def test_other_rows_are_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(DataError, match=says):
        to_items("test", [MATH_ROWS[0] | change])


@pytest.mark.parametrize(
    ("text", "accuracy", "hendrycks", "lenient"),
    [
        (" So.\nFinal Answer: The final answer is $3000$. I hope it is correct.", 1, 0, 1),
        (" So.\nFinal Answer: The final answer is $3,\\!000$. I hope it is correct.", 1, 1, 1),
        (" The answer is $3000$.", 0, 0, 1),
        (" \\boxed{3000}", 0, 0, 1),
        ("", 0, 0, 0),
        (" I give up.\nIt is hard.", 0, 0, 0),
    ],
)
def test_three_markings_of_raw_text(text: str, accuracy: int, hendrycks: int, lenient: int) -> None:
    expected = {"accuracy": accuracy, "hendrycks": hendrycks, "lenient": lenient}
    assert marks(BENCHMARK, "3,\\!000", text) == expected


def test_chat_wants_a_box() -> None:
    chat = VARIANTS["chat"]
    assert marks(chat, "3,\\!000", "It is \\boxed{3000}.")["accuracy"] == 1
    assert marks(chat, "3,\\!000", "The answer is 3000.") == {"accuracy": 0, "hendrycks": 0, "lenient": 1}


@pytest.mark.parametrize("name", ["", *VARIANTS])
def test_check_passes_on_rows_of_the_real_schema(name: str) -> None:
    benchmark = VARIANTS[name] if name else BENCHMARK
    assert_check_passes(benchmark, MATH_500_ROWS if name.startswith("500") else MATH_ROWS)


def test_sampling_for_a_vote() -> None:
    voting = VARIANTS["500_majority"]
    assert isinstance(voting.asking, Prompting)
    assert voting.asking.samples == 8
    (request,) = voting.asking.requests(to_items("test", MATH_500_ROWS)[0], ())
    assert isinstance(request, Generate)
    assert request.decode.samples
    assert voting.scoring.markings[0].metric == "maj_at_8"


def test_the_hub_is_read_where_its_files_lie(tmp_path: Path) -> None:
    def parquet(rows: list[dict[str, Any]]) -> bytes:
        buffer = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), buffer)
        return buffer.getvalue()

    files = {
        "algebra/test-00000-of-00001.parquet": parquet(MATH_ROWS[1:]),
        "algebra/train-00000-of-00001.parquet": parquet(MATH_ROWS),
        "prealgebra/test-00000-of-00001.parquet": parquet(MATH_ROWS[:1]),
    }
    items = to_items("test", rows_from_hub(BENCHMARK, tmp_path, files))
    assert [item.gold for item in items] == ["-2, 2", "3,\\!000"]
    lines = "".join(json.dumps(row) + "\n" for row in MATH_500_ROWS).encode()
    assert rows_from_hub(VARIANTS["500"], tmp_path, {"test.jsonl": lines}) == MATH_500_ROWS


@pytest.mark.parametrize(
    ("name", "file", "count"), [("math", "math_test_5000.jsonl", 5000), ("math:500", "math500_test.jsonl", 500)]
)
def test_the_whole_set_is_read_and_its_own_solutions_are_right(name: str, file: str, count: int) -> None:
    benchmark = VARIANTS["500"] if name == "math:500" else BENCHMARK
    data = open_data({"math": str(artifact(f"math/{file}"))}, offline=True)
    rows = data.rows(f"{name}:test", benchmark.task.sources["test"]).rows
    items = to_items("test", rows)
    assert len({item.id for item in items}) == count
    assert lint_items(items) == ()
    chat = VARIANTS["chat"]
    wrong = [
        item.id
        for item, row in zip(items, rows, strict=True)
        if marks(chat, item.gold, row["solution"])["accuracy"] != 1
    ]
    assert wrong == []
    assert not any(item.input.text in FEW_SHOT for item in items if isinstance(item.input, Question))
