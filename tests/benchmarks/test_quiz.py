"""The quiz benchmarks one by one: prompts word for word, golds, what is refused, and what the readings come to."""

import gzip
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from measurand.asking import choose
from measurand.benchmarks import factkg, gpqa, hle, medmcqa, medqa, mmlu, mmlu_pro, mmmlu, pubmedqa, truthfulqa, xnli
from measurand.core.benchmark import Benchmark, Prompting, Scorer
from measurand.core.errors import DataError
from measurand.core.item import Conversation, Item, Question
from measurand.core.message import Image
from measurand.core.outcome import Answer
from measurand.core.request import Complete, Generate, Loglikelihood, Request
from measurand.core.trial import Measured, Missing
from measurand.data import parse
from measurand.data.stored import rows_of
from measurand.study.content import benchmark_names, family
from tests.artifacts import artifact
from tests.benchmarks import quiz_rows

GOLDEN = Path(__file__).parent / "golden"


def asked(benchmark: Benchmark, rows: list[dict[str, Any]], pool: list[dict[str, Any]] | None = None) -> Request:
    """The one request of the last item."""
    asking = benchmark.asking
    assert isinstance(asking, Prompting)
    item = benchmark.task.to_items("test", rows)[-1]
    shots: tuple[Item, ...] = ()
    if asking.shots is not None:
        shots = choose(asking.shots, item, benchmark.task.to_items(asking.shots.pool, pool or []))
    (request,) = asking.requests(item, shots)
    return request


def text_of(request: Request) -> str:
    if isinstance(request, Generate):
        return "\n\n".join(f"[{message.role}]\n{message.text}" for message in request.messages)
    if isinstance(request, Complete):
        return f"{request.prompt}\n[stop] {list(request.decode.stop)}"
    assert isinstance(request, Loglikelihood)
    return "\n[continuation]".join((request.context, *request.continuations))


PROMPTS = {
    "mmlu_cot": (mmlu.VARIANTS["cot"], quiz_rows.MMLU, None),
    "mmlu_pro": (mmlu_pro.BENCHMARK, quiz_rows.mmlu_pro("test", 3), quiz_rows.mmlu_pro("validation", 5)),
    "mmlu_pro_chat": (mmlu_pro.VARIANTS["chat"], quiz_rows.mmlu_pro("test", 3), None),
    "gpqa": (gpqa.BENCHMARK, quiz_rows.GPQA, None),
    "gpqa_letters": (gpqa.VARIANTS["letters"], quiz_rows.GPQA, None),
    "hle": (hle.BENCHMARK, quiz_rows.HLE, None),
    "truthfulqa": (truthfulqa.BENCHMARK, quiz_rows.TRUTHFUL_CHOICES, None),
    "truthfulqa_mc0": (truthfulqa.VARIANTS["mc0"], quiz_rows.TRUTHFUL_PAIRS, None),
    "truthfulqa_generation": (truthfulqa.VARIANTS["generation"], quiz_rows.TRUTHFUL_WRITTEN, None),
    "xnli": (xnli.BENCHMARK, quiz_rows.XNLI, None),
    "xnli_cloze": (xnli.VARIANTS["cloze"], quiz_rows.XNLI, None),
    "medqa": (medqa.BENCHMARK, quiz_rows.MEDQA, None),
    "medmcqa": (medmcqa.BENCHMARK, quiz_rows.MEDMCQA, None),
    "pubmedqa": (pubmedqa.BENCHMARK, quiz_rows.PUBMEDQA, None),
    "pubmedqa_chat": (pubmedqa.VARIANTS["chat"], quiz_rows.PUBMEDQA, None),
    "factkg": (factkg.BENCHMARK, [{"__key__": key, **row} for key, row in quiz_rows.FACTKG.items()], None),
}


@pytest.mark.parametrize("name", PROMPTS)
def test_the_prompt_word_for_word(name: str) -> None:
    assert text_of(asked(*PROMPTS[name])) == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("benchmark", "row", "says"),
    [
        (
            mmlu_pro.BENCHMARK,
            {"question": "q", "options": ["a"], "answer": "B", "category": "law"},
            "mmlu_pro: row 1 of test",
        ),
        (
            mmlu_pro.BENCHMARK,
            {"question": "q", "options": [], "answer": "", "category": "law"},
            "mmlu_pro: row 1 of test",
        ),
        (gpqa.BENCHMARK, quiz_rows.GPQA[0] | {"Canary String": ""}, "row 1 of test has lost its canary"),
        (gpqa.BENCHMARK, quiz_rows.GPQA[0] | {"Incorrect Answer 2": None}, "lacks a text"),
        (hle.BENCHMARK, quiz_rows.HLE[0] | {"canary": None}, "row 1 of test has lost its canary"),
        (hle.BENCHMARK, quiz_rows.HLE[0] | {"image": "picture.png"}, "has an `image` that is no data URL"),
        (hle.BENCHMARK, quiz_rows.HLE[0] | {"answer": ""}, "lacks a text"),
        (truthfulqa.BENCHMARK, {"question": "q"}, "lacks `question`, or true answers in `mc1_targets`"),
        (truthfulqa.BENCHMARK, {"question": "q", "mc1_targets": {"a": 0}}, "lacks `question`, or true answers"),
        (truthfulqa.VARIANTS["generation"], {"question": "q"}, "lacks `question`, `correct_answers`"),
        (xnli.BENCHMARK, quiz_rows.XNLI[0] | {"label": 3}, "xnli: row 1 of test is no premise"),
        (
            xnli.BENCHMARK,
            {"sentence1_xx": "a", "sentence2_xx": "b", "label": "neutral"},
            "xnli: row 1 of test is no premise",
        ),
        (xnli.BENCHMARK, {"label": 1}, "xnli: row 1 of test is no premise"),
        (medqa.BENCHMARK, quiz_rows.MEDQA[0] | {"answer_idx": "E"}, "medqa: row 1 of test is no question"),
        (medqa.BENCHMARK, quiz_rows.MEDQA[0] | {"options": ["a"]}, "medqa: row 1 of test is no question"),
        (factkg.BENCHMARK, {"__key__": "c", "Label": ["yes"], "types": []}, "factkg: row 1 of test lacks"),
        (medmcqa.BENCHMARK, quiz_rows.MEDMCQA[0] | {"cop": -1}, "medmcqa: row 1 of test is no question"),
        (pubmedqa.BENCHMARK, quiz_rows.PUBMEDQA[0] | {"final_decision": "perhaps"}, "pubmedqa: row 1 of test lacks"),
        (mmmlu.BENCHMARK, {"__file__": "mmlu_XX-YY"}, "lies in no file that is named mmlu_ and a locale"),
        (
            mmmlu.VARIANTS["SW-KE"],
            {"Question": "q", "Subject": "magic", "Answer": "A"},
            "is no question with options A to D",
        ),
        (mmlu.VARIANTS["redux"], {"question": "q", "choices": ["a"] * 4, "answer": 1}, "which is none of the 57"),
    ],
)
def test_rows_that_are_not_those_of_the_set_are_refused(benchmark: Benchmark, row: dict[str, Any], says: str) -> None:
    with pytest.raises(DataError) as caught:
        benchmark.task.to_items("test", [row])
    assert says in str(caught.value)


def scores(benchmark: Benchmark, item: Item, answer: Answer) -> dict[str, float | str]:
    found: dict[str, float | str] = {}
    for marking in benchmark.scoring.markings:
        assert isinstance(marking.scorer, Scorer)
        value = marking.scorer.score(item, marking.reader.read(item, answer))
        found[marking.metric] = value.row[0] if isinstance(value, Measured) else value.why
    return found


def test_redux_counts_by_both_labels_and_leaves_out_faulty_questions() -> None:
    rows = [row | {"__folder__": "anatomy"} for row in quiz_rows.REDUX["anatomy"]]
    items = mmlu.VARIANTS["redux_cot"].task.to_items("test", rows)
    assert [item.gold["corrected"] for item in items] == ["B", "D", ["A", "C"], None, None, None]
    assert {item.gold["original"] for item in items} == {"B"}
    redux = mmlu.VARIANTS["redux_cot"]
    table = [[scores(redux, item, Answer(f"Answer: {letter}")) for letter in "BDC"] for item in items]
    accuracy = [[one["accuracy"] for one in row] for row in table]
    assert accuracy == [[1, 0, 0], [0, 1, 0], [0, 0, 1], *[["not_applicable"] * 3] * 3]
    assert [[one["original"] for one in row] for row in table] == [[1, 0, 0]] * 6


def test_the_exemplars_of_redux_are_those_of_mmlu() -> None:
    asking = mmlu.VARIANTS["redux"].asking
    assert isinstance(asking, Prompting)
    assert asking.shots is not None
    assert (asking.shots.pool, mmlu.VARIANTS["redux"].task.sources["dev"]) == (
        "dev",
        mmlu.BENCHMARK.task.sources["dev"],
    )


def test_options_that_pad_mmlu_pro_are_dropped() -> None:
    items = mmlu_pro.to_items("test", quiz_rows.mmlu_pro("test", 3))
    assert [len(item.input.options) for item in items if isinstance(item.input, Question)] == [4, 5, 6] * 2
    assert mmlu_pro.to_items("validation", quiz_rows.mmlu_pro("validation", 1))[0].gold.startswith("A: Let's think")


def test_the_letters_of_mmlu_pro_by_three_rules() -> None:
    item = mmlu_pro.to_items("test", quiz_rows.mmlu_pro("test", 2))[1]
    for text, row in {
        "So the answer is (B).": {"accuracy": 1, "lenient": 1, "first_step": 1},
        "Answer: B": {"accuracy": 1, "lenient": 1, "first_step": 0},
        "It follows that B": {"accuracy": 1, "lenient": 1, "first_step": 0},
        "the answer is (J).": {"accuracy": 0, "lenient": 0, "first_step": 0},
        "": {"accuracy": 0, "lenient": 0, "first_step": 0},
    }.items():
        assert scores(mmlu_pro.BENCHMARK, item, Answer(text)) == row


EXAMPLE = "Question: Exemplar 1?\nChoices:\n(A) A1\n(B) B1\n(C) C1\n(D) D1\n"


def gpqa_request(name: str) -> tuple[Item, Request]:
    """The first fixture question, asked by a variant with exemplars; of the set's own ones, those that come last."""
    benchmark = gpqa.VARIANTS[name]
    items = benchmark.task.to_items("test", quiz_rows.gpqa(7))
    assert isinstance(benchmark.asking, Prompting)
    assert benchmark.asking.shots is not None
    pool = items
    if benchmark.asking.shots.pool == "exemplars":
        pool = benchmark.task.to_items("exemplars", quiz_rows.GPQA_EXEMPLARS)
    (request,) = benchmark.asking.requests(items[0], choose(benchmark.asking.shots, items[0], pool))
    return items[0], request


def test_gpqa_with_exemplars_is_asked_as_the_official_repository_does() -> None:
    item, request = gpqa_request("five_shot")
    assert isinstance(item.input, Question)
    shown = "\n".join(f"({letter}) {text}" for letter, text in zip("ABCD", item.input.options, strict=True))
    assert isinstance(request, Generate)
    told, asked = request.messages
    assert told.text == "You are a very intelligent assistant, who follows instructions directly."
    assert asked.text.startswith(
        "Here are some example questions from experts. Answer the final question yourself, foll"
    )
    assert EXAMPLE + "The correct answer is (B)\nQuestion: Exemplar 2?" in asked.text
    last = f"The correct answer is (A)\nQuestion: What is measured in case 0?\nChoices:\n{shown}\nWhen you're ready to "
    assert asked.text.endswith(f'{last}answer, please use the format "The correct answer is (insert answer here).')
    assert request.decode.max_tokens == 1000


def test_gpqa_with_reasoned_exemplars_shows_their_reasoning() -> None:
    _, request = gpqa_request("main_cot_five_shot")
    assert isinstance(request, Generate)
    text = request.messages[-1].text
    assert f"{EXAMPLE}Let's think step by step: \nBecause of 1.\nThe correct answer is (B)\nQuestion" in text
    assert text.endswith(
        'when you\'re ready to answer, please use the format "The correct answer is (insert answer here)":\n'
    )


def test_gpqa_by_letters_shows_five_others_of_the_set() -> None:
    item, request = gpqa_request("letters_five_shot")
    assert isinstance(item.input, Question)
    assert isinstance(request, Loglikelihood)
    assert request.continuations == (" (A)", " (B)", " (C)", " (D)")
    assert request.context.count("\nAnswer: (") == 5
    assert request.context.count(item.input.text) == 1
    assert request.context.endswith(f"(D) {item.input.options[3]}\nAnswer:")
    assert re.search(r"\nAnswer: \([A-D]\)\n\nQuestion: ", request.context)


def test_rows_that_the_exemplars_of_gpqa_repeat_are_not_asked_with_them() -> None:
    rows = [row | {"Record ID": f"rec{n}"} for n, row in enumerate(quiz_rows.GPQA * 90)]
    for subset, repeated in gpqa.REPEATED.items():
        name = "five_shot" if subset == "diamond" else f"{subset}_five_shot"
        whole, left = gpqa.to_items("test", rows), gpqa.VARIANTS[name].task.to_items("test", rows)
        assert [item for number, item in enumerate(whole) if number not in repeated] == left
        assert len(whole) - len(left) == len(repeated)


@pytest.mark.parametrize("change", [{"choices": {"A": "a"}}, {"explanation": None}, {"correct_answer": "E"}])
def test_exemplars_of_another_form_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="row 1 of exemplars is no question with `choices` A to D"):
        gpqa.VARIANTS["five_shot"].task.to_items("exemplars", [quiz_rows.GPQA_EXEMPLARS[0] | change])


def test_the_options_of_gpqa_are_shuffled_as_simple_evals_does_first() -> None:
    items = gpqa.to_items("test", quiz_rows.GPQA)
    draw = random.Random(0)
    for item in items:
        order = draw.sample(range(4), 4)
        assert item.gold["label"] == "ABCD"[order.index(0)]
        assert isinstance(item.input, Question)
        assert item.input.options["ABCD".index(item.gold["label"])].startswith("right")
        assert item.gold["canary"] == "a canary of our own making"
    assert gpqa.to_items("test", quiz_rows.GPQA) == items
    assert len({item.gold["label"] for item in gpqa.to_items("test", quiz_rows.GPQA * 8)}) == 4


def test_gated_data_is_marked_so_and_never_comes_along() -> None:
    for name in ("gpqa", "hle"):
        for benchmark in family(name):
            source = benchmark.task.sources["test"]
            assert source.gated  # type: ignore[union-attr]
            assert "HF_TOKEN" in benchmark.card.canonical_source


def test_items_with_images_carry_them_and_the_text_only_subset_has_none() -> None:
    items = hle.to_items("test", quiz_rows.HLE)
    with_image = [item for item in items if item.slices["image"] == "with image"]
    (item,) = with_image
    assert isinstance(item.input, Conversation)
    assert item.input.messages[0].parts[1] == Image("image/png", quiz_rows.PIXEL)
    assert hle.to_text_items("test", quiz_rows.HLE) == [item for item in items if item not in with_image]
    assert hle.BENCHMARK.asking.needs == {"chat", "images"}
    assert hle.VARIANTS["text"].asking.needs == {"chat"}


def test_the_judges_slot_is_empty_and_the_exact_match_beside_it_is_not() -> None:
    item = hle.to_items("test", quiz_rows.HLE)[2]
    found = scores(hle.BENCHMARK, item, Answer("Explanation: so.\nAnswer: answer 2\nConfidence: 60%"))
    assert found == {"accuracy": "needs_judge", "exact": 1, "exact_lenient": 1, "calibration_error": 1.0}
    found = scores(hle.BENCHMARK, item, Answer("I think it is so.\nanswer 2"))
    assert found == {"accuracy": "needs_judge", "exact": 0, "exact_lenient": 1, "calibration_error": 0.0}


def test_a_subject_that_always_likes_the_first_answer_best_scores_all_and_one_with_ties_chance() -> None:
    """The gold of MC1 stands first, so a tie that went to the first would look like knowledge."""
    item = truthfulqa.BENCHMARK.task.to_items("test", quiz_rows.TRUTHFUL_CHOICES)[0]
    assert scores(truthfulqa.BENCHMARK, item, Answer(values=(-2.0, -2.0, -2.0))) == {"mc1": pytest.approx(1 / 3)}
    assert scores(truthfulqa.BENCHMARK, item, Answer(values=(-1.0, -2.0, -2.0))) == {"mc1": 1.0}


def test_both_forms_of_truthfulqa_make_the_same_items() -> None:
    original = [
        {
            "question": row["question"],
            **{
                name: dict(zip(row[name]["choices"], row[name]["labels"], strict=True))
                for name in ("mc1_targets", "mc2_targets")
            },
        }
        for row in quiz_rows.TRUTHFUL_CHOICES
    ]
    for benchmark in (truthfulqa.BENCHMARK, truthfulqa.VARIANTS["mc2"]):
        assert benchmark.task.to_items("test", original) == benchmark.task.to_items("test", quiz_rows.TRUTHFUL_CHOICES)


def test_the_right_one_of_two_is_not_always_the_first() -> None:
    items = truthfulqa.to_pairs("test", quiz_rows.TRUTHFUL_PAIRS)
    assert {item.gold for item in items} == {"A", "B"}
    for item in items:
        assert isinstance(item.input, Question)
        assert item.input.options["AB".index(item.gold)].startswith("True")


@pytest.mark.parametrize("language", ["sw", "ur"])
def test_xnli_of_two_languages_has_the_published_size(language: str) -> None:
    for split, size in (("test", 5010), ("dev", 2490)):
        data = gzip.decompress(artifact(f"xnli/{language}.{split}.tsv.gz").read_bytes())
        items = xnli.to_items(split, parse(data, f"{language}.tsv").rows)
        assert len(items) == size
        assert {item.language for item in items} == {language}
        assert set(Counter(item.gold for item in items).values()) == {size // 3}


def test_translations_of_a_question_are_one_cluster() -> None:
    items = xnli.to_items("test", quiz_rows.XNLI)
    assert len({item.cluster for item in items}) == len(quiz_rows.XNLI)
    assert len(items) == 15 * len(quiz_rows.XNLI)


@pytest.mark.parametrize(
    ("text", "gold", "right"),
    [
        ("Answer: entailment", 0, 1),
        ("It is neutral.\nAnswer: Neutral", 1, 1),
        ("contradiction", 2, 1),
        ("entailment", 2, 0),
        ("", 0, 0),
    ],
)
def test_the_word_of_xnli_is_read(text: str, gold: int, right: int) -> None:
    item = next(item for item in xnli.to_items("test", quiz_rows.XNLI) if item.gold == gold)
    assert scores(xnli.BENCHMARK, item, Answer(text))["accuracy"] == right


@pytest.mark.parametrize(
    ("text", "lenient", "strict"),
    [
        ("Answer: True", 1, 1),
        ("This is true.\nAnswer: true.", 1, 1),
        ("The claim is false. Answer: False", 0, 0),
        ("I cannot tell.", 0, 0),
    ],
)
def test_the_verdict_of_factkg_is_read(text: str, lenient: int, strict: int) -> None:
    item = factkg.to_items("test", [{"__key__": key, **row} for key, row in quiz_rows.FACTKG.items()])[0]
    assert scores(factkg.BENCHMARK, item, Answer(text)) == {"accuracy": lenient, "strict": strict}


def test_medqa_is_read_whole() -> None:
    items = medqa.to_items("test", rows_of(artifact("medqa/medqa_usmle_4opt_test_1273.jsonl")))
    assert len(items) == 1273
    assert set(Counter(item.slices["step"] for item in items)) == {"step1", "step2&3"}


QUIZ = (
    "factkg",
    "global_mmlu",
    "gpqa",
    "hle",
    "medmcqa",
    "medqa",
    "mmlu",
    "mmlu_pro",
    "mmmlu",
    "pubmedqa",
    "truthfulqa",
    "xnli",
)


@pytest.mark.parametrize("name", QUIZ)
def test_every_variant_says_what_it_is(name: str) -> None:
    assert name in benchmark_names()
    for benchmark in family(name):
        assert benchmark.name.partition(":")[0] == name
        assert [marking.metric for marking in benchmark.scoring.markings] == list(benchmark.aggregation.metrics)
        card = benchmark.card
        assert all((card.title, card.measures, card.licence, card.released, card.canonical_protocol, card.blind_spots))
        assert card.chance is not None


def test_a_missing_score_is_never_counted() -> None:
    item = hle.to_items("test", quiz_rows.HLE)[0]
    scorer = hle.BENCHMARK.scoring.markings[0].scorer
    assert isinstance(scorer, Scorer)
    assert isinstance(scorer.score(item, hle.BENCHMARK.scoring.markings[0].reader.read(item, Answer("B"))), Missing)
