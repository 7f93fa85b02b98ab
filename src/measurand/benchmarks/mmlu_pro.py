"""MMLU-Pro: harder questions with up to ten options over 14 categories (Wang et al. 2024), asked by chain of thought."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from measurand.asking import fill, lay_out
from measurand.benchmarks.mmlu import THINKING
from measurand.core.benchmark import Aggregation, Benchmark, Card, Marking, Prompting, Scoring, Shots, Task
from measurand.core.errors import DataError
from measurand.core.item import Item, Question, Row
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.request import Complete, Decode
from measurand.core.source import Hub
from measurand.scoring.choosing import CHOICE_SCORE
from measurand.scoring.letters import CHOICE
from measurand.scoring.official import MMLU_PRO_FIRST_STEP, MMLU_PRO_THREE_STEPS
from measurand.stats.metrics import ACCURACY

LETTERS = "ABCDEFGHIJ"

# The official code (TIGER-AI-Lab/MMLU-Pro, evaluate_from_local.py), word for word; three empty lines follow its first.
HEAD = """\
The following are multiple choice questions (with answers) about {{category}}. Think step by step and then finish your answer with "the answer is (X)" where X is the correct letter choice.



"""
ASKED = "Question:\n{{question}}\nOptions:\n{{options}}\n"
ANSWERED = ASKED + "{{worked}}\n\n"
LAST = ASKED + "Answer: Let's think step by step."


def to_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """Rows of question_id, question, options (1 to 10), answer and category, in the official order.

    Options that are "N/A" pad the rows of some revisions, and are dropped as the official code does. The gold of an
    exemplar (source validation) is its worked solution.
    """
    items = []
    for number, row in enumerate(rows):
        options = [option for option in row.get("options") or () if option != "N/A"]
        question, answer, category = row.get("question"), row.get("answer"), row.get("category")
        texts = (question, category, *options)
        good = all(isinstance(text, str) for text in texts) and 1 <= len(options) <= len(LETTERS)
        if not good or str(answer) not in LETTERS[: len(options)] or not answer:
            message = (
                f"mmlu_pro: row {number + 1} of {source} is no question with up to 10 options, a category and the letter "
                "of one of them; give the official columns"
            )
            raise DataError(message)
        items.append(
            Item(
                id=f"mmlu_pro/{source}/{row.get('question_id', number)}",
                input=Question(str(question), tuple(map(str, options))),
                gold=answer if source == "test" else str(row.get("cot_content") or ""),
                slices={"category": str(category)},
                language="en",
                origin=Row(f"mmlu_pro/{source}", number, made="synthetic"),
            )
        )
    return items


def by_chain_of_thought(item: Item, exemplars: Sequence[Item]) -> tuple[Complete, ...]:
    """The official raw prompt: five worked questions of the category, then the question."""
    shots = "".join(fill(ANSWERED, _fields(shot) | {"worked": _worked(shot)}) for shot in exemplars)
    prompt = fill(HEAD, _fields(item)) + shots + fill(LAST, _fields(item))
    return (Complete(prompt, Decode(max_tokens=2048, stop=("Question:",))),)


def _fields(item: Item) -> dict[str, str]:
    assert isinstance(item.input, Question)  # noqa: S101  to_items makes nothing else
    return {
        "category": item.slices["category"],
        "question": item.input.text,
        "options": lay_out(item.input.options),
    }


def _worked(shot: Item) -> str:
    return str(shot.gold).replace("A: Let's think step by step.", "Answer: Let's think step by step.")


CARD = Card(
    title="MMLU-Pro",
    measures="knowledge and reasoning that multiple choice questions with up to ten options ask for, in 14 categories from law to physics, in English",
    blind_spots=(
        "Many questions come from MMLU and from public websites, and have been public for years.",
        "How the letter is read moves the number: by the first of the official three steps alone, a base model loses 0.4 to 4 points.",
        "Five in eight questions are of science, engineering or mathematics, so the pooled number is mostly theirs.",
    ),
    style="quiz",
    canonical_source="TIGER-Lab/MMLU-Pro on the Hugging Face hub, 12,032 test and 70 validation questions; an earlier revision held more; dated by arXiv:2406.01574",
    canonical_protocol=(
        "Five worked exemplars of the same category, raw text, greedy, 2,048 new tokens, stopped at Question:. Accuracy "
        "reads by the official three steps; a reply without a letter is wrong. The official code guesses a letter at "
        "random there, which adds about a tenth of their share and is not done here. First step reads as lm-eval does. "
        "The official code drops exemplars until the prompt holds 2,048 tokens; here none is dropped."
    ),
    licence="MIT",
    released="2024-06-03",
    chance=0.11,
    saturated_at=0.9,
    errata=(
        "A handful of questions are left with one or two options, and one option is right by itself.",
        "Questions were removed after the paper, so its numbers and those of the present 12,032 differ.",
    ),
)

_HUB, _PIN = "TIGER-Lab/MMLU-Pro", "527feea0afed1de15a8c115abf7be4c912123315"
READERS = {"accuracy": MMLU_PRO_THREE_STEPS, "lenient": CHOICE, "first_step": MMLU_PRO_FIRST_STEP}
METRICS = dict.fromkeys(READERS, ACCURACY)
MARKINGS = tuple(Marking(metric, reader, CHOICE_SCORE) for metric, reader in READERS.items())

BENCHMARK = Benchmark(
    name="mmlu_pro",
    task=Task(
        sources={
            "test": Hub(_HUB, _PIN, ("data/test-*.parquet",)),
            "validation": Hub(_HUB, _PIN, ("data/validation-*.parquet",)),
        },
        to_items=to_items,
        version=1,
    ),
    asking=Prompting(
        name="chain of thought, 5 shots",
        version=1,
        requests=by_chain_of_thought,
        needs=frozenset({"complete"}),
        text=HEAD + ANSWERED + LAST,
        shots=Shots(5, "validation", same="category"),
    ),
    scoring=Scoring(
        markings=MARKINGS,
        score_truncated=True,  # a base model runs on past its answer; what it said first counts
        score_refused=True,
    ),
    aggregation=Aggregation(metrics=METRICS, macro=("category",), groups=("category",)),
    card=CARD,
    gold_answer=lambda item: Answer(f"The answer is ({item.gold})."),
)

VARIANTS: dict[str, Benchmark] = {
    "chat": replace(
        BENCHMARK,
        name="mmlu_pro:chat",
        task=replace(BENCHMARK.task, sources={"test": BENCHMARK.task.sources["test"]}),
        asking=THINKING,
        scoring=Scoring(
            markings=(
                Marking("accuracy", CHOICE, CHOICE_SCORE),
                Marking("three_steps", MMLU_PRO_THREE_STEPS, CHOICE_SCORE),
            ),
            score_truncated=False,  # the letter comes last, so a reply cut short has not given it
            score_refused=True,
        ),
        aggregation=Aggregation(
            metrics={"accuracy": ACCURACY, "three_steps": ACCURACY}, macro=("category",), groups=("category",)
        ),
        gold_answer=lambda item: Answer(f"Answer: {item.gold}"),
    ),
}
