"""ARC-AGI: the official prompt, the counts, and the three rules of aggregation on the public evaluation tasks."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from measurand.asking import lint_items
from measurand.benchmarks.arc_agi import BENCHMARK, VARIANTS, joined, to_items
from measurand.core.benchmark import Benchmark, Prompting, Scorer
from measurand.core.call import Reply
from measurand.core.errors import DataError
from measurand.core.item import Item
from measurand.core.message import Text
from measurand.core.outcome import Answer
from measurand.core.request import Generate
from measurand.core.source import Package
from measurand.core.trial import Measured
from measurand.data import open_data
from measurand.scoring.grids import attempts_text
from tests.artifacts import artifact
from tests.benchmarks.checking import assert_check_passes

V1 = VARIANTS["v1"]
TASK = {
    "train": [{"input": [[1, 0]], "output": [[0, 1]]}, {"input": [[2, 0]], "output": [[0, 2]]}],
    "test": [{"input": [[3, 0]], "output": [[0, 3]]}, {"input": [[4, 0]], "output": [[0, 4]]}],
}
ROWS = [{"__key__": name, **TASK} for name in ("0a1b2c3d", "4e5f6a7b")]


def test_the_prompt_is_the_official_one_word_for_word() -> None:
    (item, _) = to_items("test", ROWS)
    assert isinstance(BENCHMARK.asking, Prompting)
    requests = BENCHMARK.asking.requests(item, ())
    assert len(requests) == 4
    assert requests[0] == requests[1] != requests[2] == requests[3]
    assert isinstance(requests[0], Generate)
    golden = (Path(__file__).parent / "golden" / "arc_agi.txt").read_text(encoding="utf-8")
    assert requests[0].messages[0].text == golden
    assert requests[0].decode.samples


def test_attempts_are_joined_by_test_input() -> None:
    (item, _) = to_items("test", ROWS)
    answer = joined(item, [Reply((Text(text),)) for text in ("[[9]]", "[[0, 3]]", "x", "[[0, 4]]")])
    assert json.loads(answer.text) == [["[[9]]", "[[0, 3]]"], ["x", "[[0, 4]]"]]
    assert rows_of(BENCHMARK, item, answer) == {"whole_task": (1.0,), "task_mean": (1.0,), "outputs": (2.0, 2.0)}


def rows_of(benchmark: Benchmark, item: Item, answer: Answer) -> dict[str, tuple[float, ...]]:
    found = {}
    for marking in benchmark.scoring.markings:
        assert isinstance(marking.scorer, Scorer)
        value = marking.scorer.score(item, marking.reader.read(item, answer))
        assert isinstance(value, Measured)
        found[marking.metric] = value.row
    return found


def numbers(benchmark: Benchmark, answers: list[tuple[Item, Answer]]) -> dict[str, float]:
    each = [rows_of(benchmark, item, answer) for item, answer in answers]
    return {
        name: float(metric.over(np.array([rows[name] for rows in each]), np.ones(len(each))))  # type: ignore[arg-type]
        for name, metric in benchmark.aggregation.metrics.items()
    }


@pytest.mark.parametrize("benchmark", [BENCHMARK, V1], ids=lambda one: one.name)
def test_check_passes_on_rows_of_the_real_schema(benchmark: Benchmark) -> None:
    assert_check_passes(benchmark, ROWS)


@pytest.mark.parametrize(
    "change", [{"train": []}, {"test": None}, {"test": [{"input": [[1]]}]}, {"train": [{"input": [[1], [2, 3]], "output": [[1]]}]}]
)  # fmt: skip
def test_tasks_that_are_none_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="task 0a1b2c3d of test lacks `train` or `test` pairs"):
        to_items("test", [ROWS[0] | change])


def items_of(benchmark: Benchmark, stand_in: str = "") -> list[Item]:
    overrides = {"arc_agi": stand_in} if stand_in else {}
    rows = open_data(overrides, offline=True).rows(f"{benchmark.name}:test", benchmark.task.sources["test"]).rows
    return list(benchmark.task.to_items("test", rows))


def test_a_folder_of_one_file_for_each_task_is_read_as_the_repository_lays_it_out(tmp_path: Path) -> None:
    tasks = json.loads(gzip.decompress(artifact("arc_agi/v2_evaluation.json.gz").read_bytes()))
    for name in reversed(tasks):
        (tmp_path / f"{name}.json").write_text(json.dumps(tasks[name]), encoding="utf-8")
    items = items_of(BENCHMARK, str(tmp_path))
    assert [item.id for item in items] == sorted(f"arc_agi/{name}" for name in tasks)
    packaged = items_of(BENCHMARK, str(artifact("arc_agi/v2_evaluation.json.gz")))
    assert {item.id: (item.input, item.gold) for item in items} == {one.id: (one.input, one.gold) for one in packaged}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", r"0a\.json is not valid JSON"),
        ('{"train": [], "test": []}', "task 0a of test lacks `train` or `test` pairs of grids"),
        ('["0a"]', r"0a\.json: element 1 is a string, not an object"),
    ],
)
def test_a_file_of_a_folder_that_is_no_task_is_named(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "0a.json").write_text(text, encoding="utf-8")
    (tmp_path / "0b.json").write_text(json.dumps(TASK), encoding="utf-8")
    with pytest.raises(DataError, match=says):
        items_of(BENCHMARK, str(tmp_path))


def test_two_tasks_of_one_id_are_refused() -> None:
    with pytest.raises(DataError, match="two tasks of test have one id"):
        to_items("test", [ROWS[0], ROWS[0]])


@pytest.mark.parametrize(
    ("benchmark", "name", "tasks", "inputs", "several", "expected"),
    [
        (V1, "v1", 400, 419, 19, {"whole_task": 0.9525, "task_mean": 0.97625, "outputs": 0.9547}),
        (BENCHMARK, "v2", 120, 167, 45, {"whole_task": 0.6250, "task_mean": 0.8097, "outputs": 0.7186}),
    ],
    ids=["v1", "v2"],
)
def test_a_solver_of_first_inputs_under_three_rules(
    benchmark: Benchmark, name: str, tasks: int, inputs: int, several: int, expected: dict[str, float]
) -> None:
    items = items_of(benchmark, str(artifact(f"arc_agi/{name}_evaluation.json.gz")))
    assert lint_items(items) == ()
    assert (len(items), sum(len(item.gold) for item in items)) == (tasks, inputs)
    assert sum(item.slices["test_inputs"] == "several" for item in items) == several
    first = [(item, Answer(attempts_text([["", json.dumps(item.gold[0])]]))) for item in items]
    assert numbers(benchmark, first) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(("name", "inputs"), [("v1", 416), ("v2", 1076)])
def test_training_tasks_are_read_too(name: str, inputs: int) -> None:
    tasks = json.loads(gzip.decompress(artifact(f"arc_agi/{name}_training.json.gz").read_bytes()))
    items = to_items("train", [{"__key__": key, **task} for key, task in tasks.items()])
    assert sum(len(item.gold) for item in items) == inputs


@pytest.mark.parametrize(("benchmark", "name"), [(V1, "v1"), (BENCHMARK, "v2")], ids=["v1", "v2"])
def test_the_package_holds_the_tasks_of_the_repository(benchmark: Benchmark, name: str) -> None:
    source = benchmark.task.sources["test"]
    assert isinstance(source, Package)
    packaged = {item.id: item.gold for item in items_of(benchmark)}
    theirs = {item.id: item.gold for item in items_of(benchmark, str(artifact(f"arc_agi/{name}_evaluation.json.gz")))}
    assert packaged == theirs


def test_protocols_differ_by_their_tasks_alone() -> None:
    assert (BENCHMARK.asking, BENCHMARK.scoring) == (V1.asking, V1.scoring)
    assert BENCHMARK.task.sources != V1.task.sources
