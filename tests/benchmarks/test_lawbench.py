"""LawBench: files in the official layout, the prompt, and the empty cell of the task that is not scored here."""

import json
from pathlib import Path
from typing import Any

import pytest

from measurand.benchmarks.lawbench import BENCHMARK, VARIANTS, to_items
from measurand.core.benchmark import Prompting
from measurand.core.errors import DataError
from measurand.core.request import Generate
from measurand.data import open_data
from tests.benchmarks.checking import assert_check_passes, checked

# Rows of the official columns, of our own making.
ROW = {"instruction": "请回答。", "question": "是否正确？A:是;B:否。", "answer": "正确答案：B。"}
FILES = {
    "1-2": [ROW, ROW | {"question": "哪一个？A:甲;B:乙。"}],
    "2-1": [{"instruction": "改正句子。", "question": "句子:", "answer": "句子"}],
    "3-3": [{"instruction": "给出罪名。", "question": "事实:", "answer": "罪名:盗窃"}],
}
ROWS = [{**row, "__file__": task} for task in ("1-2", "3-3") for row in FILES[task]]


def test_the_folder_of_the_repository_is_read_with_the_tasks_of_its_files(tmp_path: Path) -> None:
    for task, rows in FILES.items():
        (tmp_path / f"{task}.json").write_text(json.dumps(rows, ensure_ascii=False, indent=2), encoding="utf-8")
    data = open_data({"lawbench": str(tmp_path)}, offline=True)
    items = to_items("test", data.rows("lawbench:test", BENCHMARK.task.sources["test"]).rows)
    assert [item.slices["task"] for item in items] == ["1-2", "1-2", "2-1", "3-3"]
    assert {item.slices["level"] for item in items} == {"memorising", "understanding", "applying"}
    assert items[0].gold == {"task": "1-2", "answer": "正确答案：B。"}


def test_the_prompt_is_instruction_newline_question() -> None:
    assert isinstance(BENCHMARK.asking, Prompting)
    (request,) = BENCHMARK.asking.requests(to_items("test", ROWS)[0], ())
    assert isinstance(request, Generate)
    assert [message.text for message in request.messages] == ["请回答。\n是否正确？A:是;B:否。"]
    assert request.decode.temperature == 0


@pytest.mark.parametrize("change", [{"__file__": "4-1"}, {"question": None}, {"answer": 3}])
def test_other_rows_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="lawbench: row 1 of test lacks"):
        to_items("test", [ROWS[0] | change])


@pytest.mark.parametrize("benchmark", [BENCHMARK, *VARIANTS.values()], ids=lambda one: one.name)
def test_check_passes_on_rows_of_the_real_schema(benchmark: Any) -> None:
    assert_check_passes(benchmark, ROWS)


def test_the_task_that_needs_ltp_stays_an_empty_cell() -> None:
    found = checked(BENCHMARK, [{**row, "__file__": "2-1"} for row in FILES["2-1"]])
    assert [(answers.metric, answers.gold) for answers in found.answers] == [("score", None), ("answered", None)]
    assert BENCHMARK.aggregation.macro == ()
