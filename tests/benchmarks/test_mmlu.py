"""MMLU: the official prompt, its exemplars, three forms of the data, and the official map."""

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from measurand.asking import choose
from measurand.benchmarks.mmlu import BENCHMARK, GROUPS, VARIANTS, to_items
from measurand.core.benchmark import NESTED, Prompting, Scorer
from measurand.core.errors import DataError
from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.request import Generate, Loglikelihood
from measurand.core.source import Hub
from measurand.core.trial import Measured
from measurand.data import open_data
from tests.artifacts import artifact

GOLDEN = Path(__file__).parent / "golden"
GENERATE = VARIANTS["generate"]
SUBJECT = "us_foreign_policy"


def row(question: str, answer: int, *choices: str, subject: str = SUBJECT) -> dict[str, Any]:
    return {"question": question, "subject": subject, "choices": list(choices or "abcd"), "answer": answer}


TEST = [
    row("Who?", 1, " spaced ", "None of the above", "3", "{{letter}}"),
    row("Another?", 0, subject="anatomy"),
]
DEV = [
    row("Elsewhere?", 0, subject="anatomy"),
    row("First question\nasked?", 2, "one", "two", "NA", "null"),
    row("Second?", 0),
    row("who? ", 1, "spaced", "none of the above", "3", "{{letter}}"),
    row("Third?", 3),
    row("Fourth?", 1),
    row("Fifth?", 1),
    row("Sixth?", 1),
]


def prompting(benchmark: Any) -> Prompting:
    assert isinstance(benchmark.asking, Prompting)
    return benchmark.asking


def exemplars() -> tuple[Item, tuple[Item, ...]]:
    asked = to_items("test", TEST)[0]
    shots = prompting(BENCHMARK).shots
    assert shots is not None
    return asked, choose(shots, asked, to_items("dev", DEV))


def test_the_prompt_is_the_official_one_word_for_word() -> None:
    (request,) = prompting(BENCHMARK).requests(*exemplars())
    assert request == Loglikelihood((GOLDEN / "mmlu.txt").read_text(encoding="utf-8"), (" A", " B", " C", " D"))


def test_exemplars_are_the_first_five_of_the_subject_in_order_without_the_item() -> None:
    _, chosen = exemplars()
    texts = [shot.input.text for shot in chosen if isinstance(shot.input, Question)]
    assert texts == ["First question\nasked?", "Second?", "Third?", "Fourth?", "Fifth?"]


def test_the_chat_prompt_word_for_word() -> None:
    (request,) = prompting(GENERATE).requests(to_items("test", TEST)[0], ())
    assert isinstance(request, Generate)
    assert [message.text for message in request.messages] == [
        (GOLDEN / "mmlu_generate.txt").read_text(encoding="utf-8")
    ]
    assert prompting(GENERATE).shots is None


def write_three_forms(root: Path, rows: list[dict[str, Any]]) -> list[str]:
    """The hub's parquet, CSV files with a header, and those of the original archive."""
    hub, headed, original = root / "hub", root / "headed", root / "original"
    (hub / "all").mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows), hub / "all" / "test-00000-of-00001.parquet")
    for subject in sorted({one["subject"] for one in rows}):
        mine = [one for one in rows if one["subject"] == subject]
        for folder, head, letters in ((headed, True, False), (original, False, True)):
            (folder / "test").mkdir(parents=True, exist_ok=True)
            with (folder / "test" / f"{subject}_test.csv").open("w", encoding="utf-8", newline="") as out:
                writer = csv.writer(out)
                if head:
                    writer.writerow(["question", "choice0", "choice1", "choice2", "choice3", "answer"])
                for one in mine:
                    writer.writerow(
                        [one["question"], *one["choices"], "ABCD"[one["answer"]] if letters else one["answer"]]
                    )
    return [str(hub), str(headed), str(original)]


def test_the_three_forms_of_the_data_make_the_same_items(tmp_path: Path) -> None:
    rows = sorted([*TEST, *DEV], key=lambda one: str(one["subject"]))
    source = BENCHMARK.task.sources["test"]
    made = [
        to_items("test", open_data({"mmlu": form}, offline=True).rows("mmlu:test", source).rows)
        for form in write_three_forms(tmp_path, rows)
    ]
    assert made[0] == made[1] == made[2]
    assert [item.gold for item in made[0]] == ["ABCD"[one["answer"]] for one in rows]
    assert [item.input for item in made[0]] == [Question(one["question"], tuple(one["choices"])) for one in rows]
    assert made[0][0].id == "mmlu/test/anatomy/0"
    assert made[0][0].slices == {
        "subject": "anatomy",
        "subcategory": "health",
        "category": "other (business, health, misc.)",
    }


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (row("q", 0, subject="alchemy"), "row 1 of test has the subject 'alchemy', which is none of the 57"),
        (row("q", 4), "row 1 of test is no question with four options"),
        (row("q", 0, "a", "b", "c"), "is no question with four options"),
        (row("q", 0) | {"answer": None}, "is no question with four options"),
        (row("q", 0) | {"answer": ""}, "is no question with four options"),
        (row("q", 0) | {"answer": True}, "is no question with four options"),
        (row("q", 0) | {"question": None}, "is no question with four options"),
        ({"__file__": "anatomy_test", "0": "q", "1": "a"}, "is no question with four options"),
        ({}, "has the subject ''"),
    ],
)
def test_rows_that_are_no_questions_are_refused(bad: dict[str, Any], says: str) -> None:
    with pytest.raises(DataError) as caught:
        to_items("test", [bad])
    assert says in str(caught.value)


def items_of(source: str) -> list[Item]:
    data = open_data({"mmlu": str(artifact("mmlu"))}, offline=True)
    return list(to_items(source, data.rows(f"mmlu:{source}", BENCHMARK.task.sources[source]).rows))


def test_the_whole_set_has_the_published_counts_and_the_official_map() -> None:
    items = items_of("test")
    assert Counter(item.slices["category"] for item in items) == {
        "humanities": 4705,
        "social sciences": 3077,
        "STEM": 3018,
        "other (business, health, misc.)": 3242,
    }
    assert len({item.id for item in items}) == len(items) == 14042
    assert {len({item.slices[name] for item in items}) for name in ("subject", "subcategory")} == {57, 17}
    assert all("" not in item.input.options for item in items if isinstance(item.input, Question))
    official = json.loads(artifact("mmlu/subject_categories.json").read_text(encoding="utf-8"))
    assert {subject: (one["subcategory"], one["category"]) for subject, one in official.items()} == GROUPS


def test_every_question_gets_five_exemplars_of_its_subject() -> None:
    dev, shots = items_of("dev"), prompting(BENCHMARK).shots
    assert shots is not None
    assert len(dev) == 285
    seen = Counter[str]()
    for item in items_of("test"):
        if seen[item.slices["subject"]] < 20:
            seen[item.slices["subject"]] += 1
            chosen = choose(shots, item, dev)
            assert [shot.id for shot in chosen] == [f"mmlu/dev/{item.slices['subject']}/{place}" for place in range(5)]


@pytest.mark.parametrize(
    ("values", "row"),
    [
        ((-3.0, -1.0, -2.0, -9.0), (1.0,)),
        ((-1.0, -3.0, -2.0, -9.0), (0.0,)),
        ((-1.0, -1.0, -2.0, -9.0), (0.5,)),
        ((-1.0, -1.0, -1.0, -1.0), (0.25,)),
    ],
)
def test_the_likeliest_letter_is_the_answer_and_ties_are_shared(
    values: tuple[float, ...], row: tuple[float, ...]
) -> None:
    (marking,) = BENCHMARK.scoring.markings
    assert isinstance(marking.scorer, Scorer)
    item = to_items("test", TEST)[0]
    assert marking.scorer.score(item, marking.reader.read(item, Answer(values=values))) == Measured(row)


@pytest.mark.parametrize(
    ("text", "lenient", "strict"),
    [("Since…\nAnswer: B", 1, 1), ("The answer is (B).", 1, 0), ("Answer: C", 0, 0), ("", 0, 0)],
)
def test_a_letter_is_read_from_a_reply(text: str, lenient: int, strict: int) -> None:
    item = to_items("test", TEST)[0]
    found = {}
    for marking in GENERATE.scoring.markings:
        assert isinstance(marking.scorer, Scorer)
        found[marking.metric] = marking.scorer.score(item, marking.reader.read(item, Answer(text)))
    assert found == {"accuracy": Measured((lenient,)), "strict": Measured((strict,))}


def test_57_subjects_nest_in_17_subcategories_in_4_categories() -> None:
    assert (len(GROUPS), len(set(GROUPS.values())), len({category for _, category in GROUPS.values()})) == (57, 17, 4)
    assert set(to_items("test", TEST)[0].slices) == set(BENCHMARK.aggregation.macro[1].split(NESTED))


def test_the_number_is_pooled_with_both_means_over_subjects_and_the_categories_beside_it() -> None:
    for benchmark in (BENCHMARK, GENERATE):
        assert benchmark.aggregation.macro == ("subject", "category>subcategory>subject")
        assert benchmark.aggregation.groups == ("category",)
        assert all(isinstance(source, Hub) and len(source.revision) == 40 for source in benchmark.task.sources.values())
