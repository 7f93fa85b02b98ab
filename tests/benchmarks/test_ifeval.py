"""IFEval: rows as the hub holds them, the prompt, what is scored, and published figures reproduced."""

import json
from pathlib import Path
from typing import Any

import pytest

from measurand.asking import lint_items
from measurand.benchmarks.ifeval import BENCHMARK, VARIANTS, to_items
from measurand.core.benchmark import Benchmark, Prompting, Scorer
from measurand.core.errors import DataError
from measurand.core.fidelity import Stored
from measurand.core.item import Item
from measurand.core.outcome import Answer
from measurand.core.request import Complete, Generate
from measurand.core.trial import Measured
from measurand.data import open_data
from measurand.fidelity.ifeval import RESCORINGS
from measurand.scoring.ifeval.kinds import KINDS
from tests.artifacts import artifact
from tests.benchmarks.checking import assert_check_passes
from tests.benchmarks.hub import rows_from_hub

# The hub's rows name every parameter and leave null what a constraint does not take. Prompts of our own making.
NAMES = (
    "num_highlights", "relation", "num_words", "num_placeholders", "prompt_to_repeat", "num_bullets", "section_spliter",
    "num_sections", "capital_relation", "capital_frequency", "keywords", "num_paragraphs", "language", "let_relation",
    "letter", "let_frequency", "end_phrase", "forbidden_words", "keyword", "frequency", "num_sentences",
    "postscript_marker", "first_word", "nth_paragraph",
)  # fmt: skip


def given(**named: Any) -> dict[str, Any]:
    return dict.fromkeys(NAMES) | named


ROWS: list[dict[str, Any]] = [
    {
        "key": 7,
        "prompt": "Praise the rain without commas, in at least 12 words.",
        "instruction_id_list": ["punctuation:no_comma", "length_constraints:number_words"],
        "kwargs": [given(), given(relation="at least", num_words=12)],
    },
    {
        "key": 8,
        "prompt": "Give two names for a cat, separated by ******.",
        "instruction_id_list": ["combination:two_responses"],
        "kwargs": [given()],
    },
    {
        "key": 1122,
        "prompt": "Write a post with at least four hash signs and a title in <<brackets>>.",
        "instruction_id_list": ["keywords:letter_frequency", "detectable_format:title"],
        "kwargs": [given(letter="#", let_frequency=4, let_relation="at least"), given()],
    },
]


def marks(benchmark: Benchmark, item: Item, text: str) -> dict[str, tuple[float, ...]]:
    found = {}
    for marking in benchmark.scoring.markings:
        assert isinstance(marking.scorer, Scorer)
        value = marking.scorer.score(item, marking.reader.read(item, Answer(text)))
        if isinstance(value, Measured):
            found[marking.metric] = value.row
    return found


def test_rows_of_the_hub_become_items_without_nulls() -> None:
    items = to_items("test", ROWS)
    assert lint_items(items) == ()
    assert [item.id for item in items] == ["ifeval/7", "ifeval/8", "ifeval/1122"]
    assert items[0].gold[1] == {
        "kind": "length_constraints:number_words",
        "given": {"relation": "at least", "num_words": 12},
    }
    assert [item.slices["constraints"] for item in items] == ["several", "single", "several"]
    assert [item.slices["reference"] for item in items] == ["deterministic", "deterministic", "random letter"]


def test_the_prompt_is_asked_as_it_stands() -> None:
    (item, *_) = to_items("test", ROWS)
    assert isinstance(BENCHMARK.asking, Prompting)
    (request,) = BENCHMARK.asking.requests(item, ())
    assert isinstance(request, Generate)
    assert [message.text for message in request.messages] == [ROWS[0]["prompt"]]
    assert (request.decode.max_tokens, request.decode.stop, request.decode.temperature) == (1280, (), 0)
    raw = VARIANTS["raw"].asking
    assert isinstance(raw, Prompting)
    (text,) = raw.requests(item, ())
    assert isinstance(text, Complete)
    assert text.prompt == ROWS[0]["prompt"]
    assert VARIANTS["raw"].scoring is BENCHMARK.scoring


@pytest.mark.parametrize(
    "change", [{"key": None}, {"prompt": 3}, {"kwargs": []}, {"kwargs": [None]}, {"instruction_id_list": [1, 2]}]
)
def test_other_rows_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="ifeval: row 1 of test lacks `key`, `prompt` or lists of one length"):
        to_items("test", [ROWS[0] | change])


def test_reasoning_is_taken_out_and_white_space_is_not() -> None:
    item = to_items("test", ROWS)[1]
    assert marks(BENCHMARK, item, "<think>Tom, Tim ****** ****** x</think>Tom\n******\nTim")["prompt_strict"] == (1.0,)
    assert marks(BENCHMARK, item, "<think>Tom ****** Tim")["prompt_loose"] == (0.0,)
    assert marks(BENCHMARK, item, "Tom\n******\nTom")["prompt_loose"] == (0.0,)


def test_each_kind_is_a_metric_of_its_own() -> None:
    kinds = VARIANTS["kinds"]
    assert list(kinds.aggregation.metrics) == list(KINDS)
    assert marks(kinds, to_items("test", ROWS)[0], "Rain") == {
        "punctuation:no_comma": (1.0, 1.0),
        "length_constraints:number_words": (0.0, 1.0),
    }


def test_errata_leave_out_what_the_reference_draws_at_random_and_show_both_numbers() -> None:
    errata, items = VARIANTS["errata"], to_items("test", ROWS)
    assert marks(errata, items[2], "#### <<A>>") == {
        f"{metric} by old labels": row for metric, row in marks(BENCHMARK, items[2], "#### <<A>>").items()
    }
    assert marks(errata, items[0], "Rain")["prompt_strict"] == marks(BENCHMARK, items[0], "Rain")["prompt_strict"]


@pytest.mark.parametrize("benchmark", [BENCHMARK, *VARIANTS.values()], ids=lambda one: one.name)
def test_check_passes_on_rows_of_the_real_schema(benchmark: Benchmark) -> None:
    assert_check_passes(benchmark, ROWS)


def test_the_hub_is_read_where_its_file_lies(tmp_path: Path) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
    rows = rows_from_hub(BENCHMARK, tmp_path, {"ifeval_input_data.jsonl": lines, "README.md": b"# IFEval"})
    assert to_items("test", rows) == to_items("test", ROWS)


def test_the_whole_set_is_read() -> None:
    data = open_data({"ifeval": str(artifact("ifeval/input_data.jsonl"))}, offline=True)
    items = to_items("test", data.rows("ifeval:test", BENCHMARK.task.sources["test"]).rows)
    assert len({item.id for item in items}) == 541
    assert sum(len(item.gold) for item in items) == 834
    assert lint_items(items) == ()
    assert sum(item.slices["constraints"] == "single" for item in items) == 305
    assert {one["kind"] for item in items for one in item.gold} == set(KINDS)


def test_published_figures_are_met_or_explained_and_the_same_twice() -> None:
    """Those of smaller models are scored again in tests/fidelity."""
    rescoring = RESCORINGS[0]
    folder = artifact("ifeval").parent

    def mark(scoring: Any, pairs: Any) -> list[Any]:
        each = Benchmark("b", BENCHMARK.task, BENCHMARK.asking, scoring, BENCHMARK.aggregation, BENCHMARK.card)
        return [{name: Measured(row) for name, row in marks(each, item, answer.text).items()} for item, answer in pairs]

    first = list(rescoring.figures(Stored(folder, mark)))
    assert {figure.verdict for figure in first} <= {"equal", "explained", "unpublished"}
    assert any(figure.verdict in {"equal", "explained"} for figure in first)
    assert first == list(rescoring.figures(Stored(folder, mark)))
