"""GSM8K: the prompts word for word, the golds, and what counts as right."""

from pathlib import Path

import pytest

from measurand.asking import lint_items, lint_stop
from measurand.benchmarks.gsm8k import BENCHMARK, FEW_SHOT, VARIANTS, gold_of, to_items
from measurand.core.benchmark import Benchmark, Prompting
from measurand.core.errors import DataError
from measurand.core.item import Item, Question
from measurand.core.request import Complete, Generate, Request
from measurand.data import open_data
from tests.artifacts import artifact
from tests.benchmarks.checking import marks

GOLDEN = Path(__file__).parent / "golden"
CHAT = VARIANTS["chat"]
ITEM = Item("1", Question("A {{robe}} takes 2 bolts.  How many?"), gold="3")


def only_request(benchmark: Benchmark, item: Item) -> Request:
    assert isinstance(benchmark.asking, Prompting)
    (request,) = benchmark.asking.requests(item, ())
    return request


def test_the_prompt_is_the_canonical_one_word_for_word() -> None:
    request = only_request(BENCHMARK, ITEM)
    assert isinstance(request, Complete)
    assert request.prompt == (GOLDEN / "gsm8k.txt").read_text(encoding="utf-8")
    assert request.decode.temperature == 0
    assert request.decode.stop == ("Q:", "</s>", "<|im_end|>")


def test_the_chat_prompt_word_for_word() -> None:
    request = only_request(CHAT, ITEM)
    assert isinstance(request, Generate)
    assert [message.role for message in request.messages] == ["user"]
    assert request.messages[0].text == (GOLDEN / "gsm8k_chat.txt").read_text(encoding="utf-8")
    assert not request.decode.stop


@pytest.mark.parametrize(
    ("worked", "gold"),
    [("so <<1+1=2>>2\n#### 2", "2"), ("#### 1,234,000", "1234000"), ("#### -3", "-3"), ("#### 1\n#### 2.50 ", "2.50")],
)
def test_the_gold_stands_after_the_last_mark(worked: str, gold: str) -> None:
    assert gold_of(worked) == gold


@pytest.mark.parametrize("worked", ["42", "####", "#### two", "#### 1 2", "#### nan", ""])
def test_a_solution_without_a_number_is_refused(worked: str) -> None:
    with pytest.raises(DataError, match="row 1 of test states no number after ####"):
        to_items("test", [{"question": "q", "answer": worked}])


@pytest.mark.parametrize("row", [{}, {"question": "q"}, {"question": 1, "answer": "#### 1"}])
def test_other_columns_are_refused(row: dict[str, object]) -> None:
    with pytest.raises(DataError, match="row 1 of test lacks a text in `question` or `answer`"):
        to_items("test", [row])


@pytest.mark.parametrize(
    ("text", "strict", "flexible"),
    [
        (" 9 + 9 = 18. The answer is 18.", 1, 1),
        (" So it is $18.", 0, 1),
        (" The answer is 18.00.", 1, 1),
        (" The answer is 19.", 0, 0),
        (" The answer is 18. It took her 2 days.", 1, 0),
        ("", 0, 0),
        (" I cannot help with that.", 0, 0),
    ],
)
def test_strict_and_flexible_readings_of_raw_text(text: str, strict: int, flexible: int) -> None:
    assert marks(BENCHMARK, "18", text) == {"strict": strict, "flexible": flexible}


@pytest.mark.parametrize(
    ("text", "strict", "flexible"),
    [
        ("9 + 9 = 18\n#### 18", 1, 1),
        ("It is 18 dollars.", 0, 1),
        ("#### Step 1\nAdd.\n#### $1,018", 0, 0),
        ("#### Step 1\nAdd.\n#### **18**", 1, 1),
        ("", 0, 0),
    ],
)
def test_strict_and_flexible_readings_of_chat(text: str, strict: int, flexible: int) -> None:
    assert marks(CHAT, "18", text) == {"strict": strict, "flexible": flexible}


def test_the_whole_set_is_read_and_its_own_solutions_are_right() -> None:
    rows = open_data({"gsm8k": str(artifact("gsm8k/test.jsonl"))}, offline=True).rows(
        "gsm8k:test", BENCHMARK.task.sources["test"]
    )
    items = to_items("test", rows.rows)
    assert len(items) == 1319
    assert len({item.id for item in items}) == 1319
    assert lint_items(items) == ()
    assert lint_stop(("Q:", "</s>", "<|im_end|>"), [item.gold for item in items]) == ()
    for item, row in zip(items, rows.rows, strict=True):
        assert marks(CHAT, item.gold, row["answer"]) == {"strict": 1, "flexible": 1}
    assert not any(item.input.text in FEW_SHOT for item in items if isinstance(item.input, Question))


def test_protocols_differ_by_name_and_share_their_items() -> None:
    assert (BENCHMARK.name, CHAT.name) == ("gsm8k", "gsm8k:chat")
    assert BENCHMARK.task is CHAT.task
    assert set(BENCHMARK.aggregation.metrics) == {marking.metric for marking in BENCHMARK.scoring.markings}
