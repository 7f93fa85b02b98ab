"""The loan-support items through the project's own doors: loaded from the study, asked, read and scored."""

from pathlib import Path

import pytest

from measurand.core.benchmark import Benchmark, Prompting, Scorer
from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.request import Generate
from measurand.core.trial import Measured
from measurand.data import open_data
from measurand.study.load import load_study
from measurand.study.private_set import private_benchmark

STUDY = Path(__file__).resolve().parents[2] / "examples" / "loan_support" / "study.toml"
DEVANAGARI = str.maketrans("0123456789", "०१२३४५६७८९")


@pytest.fixture(scope="module")
def benchmark() -> Benchmark:
    (private,) = load_study(STUDY).sets
    return private_benchmark(private)


@pytest.fixture(scope="module")
def items(benchmark: Benchmark) -> list[Item]:
    (source,) = benchmark.task.sources.values()
    rows = open_data({}).rows("loan-support:test", source).rows
    return list(benchmark.task.to_items("test", rows))


def score(benchmark: Benchmark, item: Item, text: str) -> tuple[float, ...]:
    (marking,) = benchmark.scoring.markings
    assert isinstance(marking.scorer, Scorer)
    value = marking.scorer.score(item, marking.reader.read(item, Answer(text)))
    assert isinstance(value, Measured), (item.id, value)
    return value.row


def grouped(amount: int) -> str:
    """Indian grouping, by another way than make_items.py: from the right, three digits and then pairs."""
    digits = str(amount)[::-1]
    pairs = [digits[:3], *(digits[at : at + 2] for at in range(3, len(digits), 2))]
    return ",".join(pairs)[::-1]


def right_answers(item: Item) -> list[str]:
    """What a person who knows the answer may write."""
    gold = item.gold
    if item.slices["scoring"] == "numeric":
        value = gold["value"] if isinstance(gold, dict) else gold
        whole = round(float(str(value).replace(",", "")))
        indian = grouped(whole)
        return [
            f"The answer is ₹{indian}.",
            f"Rs. {whole}/-" if whole >= 1000 else str(whole),
            f"{whole:,}",
            f"Aapka jawab: {indian} rupaye.",
            f"कुल ₹{indian.translate(DEVANAGARI)} होंगे।",
        ]
    if item.slices["scoring"] == "choice":
        assert isinstance(item.input, Question)
        letter = "ABCDEFGH"[item.input.options.index(gold)]
        return [gold, letter, f"Answer: {letter}", f"({letter}) {gold}"]
    references = gold if isinstance(gold, list) else [gold]
    return [*references, f"{references[0]}."]


def test_every_item_is_loaded_with_its_slices(items: list[Item]) -> None:
    assert len(items) == 240
    for item in items:
        assert {"kind", "variety", "script", "amount_band", "tone", "phrasing"} <= item.slices.keys()
        assert item.language in {"en", "hi", "hi-Latn"}
        assert getattr(item.origin, "made", "") == "synthetic"


def test_right_answers_score_one(benchmark: Benchmark, items: list[Item]) -> None:
    wrong = [
        (item.id, text) for item in items for text in right_answers(item) if score(benchmark, item, text) != (1.0,)
    ]
    assert wrong == []


def test_nothing_and_nonsense_score_zero(benchmark: Benchmark, items: list[Item]) -> None:
    for item in items:
        for text in ("", "…", "I am sorry, I do not know that."):
            assert score(benchmark, item, text) == (0.0,), (item.id, text)


def test_a_figure_beside_the_right_one_scores_zero(benchmark: Benchmark, items: list[Item]) -> None:
    for item in items:
        if item.slices["scoring"] == "numeric":
            gold = item.gold if isinstance(item.gold, dict) else {"value": str(item.gold).replace(",", "")}
            beside = float(gold["value"]) + float(gold.get("tolerance", 0)) + 1
            assert score(benchmark, item, f"{beside:.2f}") == (0.0,), item.id


def test_the_first_option_wins_no_more_than_chance(benchmark: Benchmark, items: list[Item]) -> None:
    for kind, chance in (("intent", 1 / 8), ("ambiguous", 1 / 2), ("benign", 1 / 2), ("fraud", 1 / 2)):
        rows = [item for item in items if item.slices["kind"] == kind and item.slices["scoring"] == "choice"]
        first = sum(score(benchmark, item, "A")[0] for item in rows) / len(rows)
        assert first <= chance + 0.05, (kind, first)


def test_prompts_show_the_question_and_the_options(benchmark: Benchmark, items: list[Item]) -> None:
    assert isinstance(benchmark.asking, Prompting)
    for item in items:
        (request,) = benchmark.asking.requests(item, ())
        assert isinstance(request, Generate)
        assert isinstance(item.input, Question)
        text = request.messages[-1].text
        assert request.messages[0].role == "system"
        assert item.input.text in text
        assert all(option in text for option in item.input.options)
        assert "{{" not in text
