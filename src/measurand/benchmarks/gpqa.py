"""GPQA: questions of biology, physics and chemistry that experts wrote to be hard to look up (Rein et al. 2023)."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import msgspec

from measurand.asking import by_letter, fill, lay_out
from measurand.benchmarks.mmlu import LETTER_METRICS, THINKING, letter_scoring
from measurand.core.benchmark import Aggregation, Benchmark, Card, Marking, Prompting, Scoring, Shots, Task
from measurand.core.errors import DataError
from measurand.core.item import Item, Question, Row
from measurand.core.message import system, user
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.request import Decode, Generate, Loglikelihood
from measurand.core.source import File, Hub
from measurand.scoring.choosing import CHOICE_SCORE
from measurand.scoring.errata import graded_by
from measurand.scoring.letters import ARGMAX, CHOICE
from measurand.stats.metrics import ACCURACY

SEED = 0
"""The seed of the options' order: simple-evals draws one permutation an item, in the order of the file, from it."""

TEXTS = ("Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")
CANARY = "Canary String"

ASKED = "What is the correct answer to this question:{{question}}\nChoices:\n{{options}}\nAnswer:"
_LETTERS = "ABCD"

# The official repository's prompts with exemplars (baselines/utils.py), word for word; the quotation mark that the first
# opens in its last line is not closed there either.
SYSTEM = "You are a very intelligent assistant, who follows instructions directly."
FIVE_SHOT = "Here are some example questions from experts. Answer the final question yourself, following the format of the previous questions exactly.\n"
FIVE_SHOT_EXAMPLE = "Question: {{question}}\nChoices:\n{{options}}\nThe correct answer is ({{letter}})\n"
FIVE_SHOT_ASKED = (
    "Question: {{question}}\nChoices:\n{{options}}\n"
    "When you're ready to answer, please use the format \"The correct answer is (insert answer here)."
)
COT = "Here are some example questions from experts. An explanation is given before the final answer. Answer the final question yourself, giving your reasoning beforehand.\n"
COT_EXAMPLE = (
    "Question: {{question}}\nChoices:\n{{options}}\nLet's think step by step: \n{{explanation}}\n"
    "The correct answer is ({{letter}})\n"
)
COT_ASKED = (
    "Question: {{question}}\nChoices:\n{{options}}\n"
    "Give step by step reasoning before you answer, and when you're ready to answer, please use the format "
    '"The correct answer is (insert answer here)":\n'
)
LONGEST_REPLY = 1000
"""New tokens, as the official repository allows."""

# lm-evaluation-harness's gpqa_*_n_shot: the same opening, and the letter in brackets by log-probability.
SHOTS_ASKED = "Question: {{question}}\nChoices:\n{{options}}\nAnswer:"
SHOTS_ANSWERED = SHOTS_ASKED + " ({{letter}})\n\n"

REPEATED = {"diamond": (39, 124), "main": (105, 339), "extended": (146, 330, 436)}
"""Rows of each file, from 0, that the official exemplars repeat, as crfm-helm found; they are not asked with exemplars."""
LABEL = graded_by("label", CHOICE_SCORE)


def to_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """Rows of the official CSV files, whose right answer stands first: the options are shuffled by SEED.

    Each item keeps the row's canary, so that whatever is exported of it can be found in training data. A copy of the
    data that has lost its canary is refused.
    """
    draw = random.Random(SEED)  # noqa: S311  an order that anybody can draw again, no secret
    items = []
    for number, row in enumerate(rows):
        texts = [row.get(name) for name in TEXTS]
        where = f"row {number + 1} of {source}"
        if not isinstance(row.get("Question"), str) or not all(isinstance(text, str) and text for text in texts):
            message = f"gpqa: {where} lacks a text in `Question` or one of its four answers; give the official columns"
            raise DataError(message)
        if not row.get(CANARY):
            message = f"gpqa: {where} has lost its canary; use the official files, which carry one in `{CANARY}`"
            raise DataError(message)
        order = draw.sample(range(len(texts)), len(texts))
        items.append(
            Item(
                id=f"gpqa/{row.get('Record ID') or number}",
                input=Question(str(row["Question"]).strip(), tuple(str(texts[place]).strip() for place in order)),
                gold={"label": _LETTERS[order.index(0)], "canary": str(row[CANARY])},
                slices={
                    "domain": str(row.get("High-level domain") or "unstated"),
                    "subdomain": str(row.get("Subdomain") or "unstated"),
                },
                language="en",
                origin=Row(f"gpqa/{source}", number, made="synthetic"),
            )
        )
    return items


def exemplar_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """The `questions` of the official chain_of_thought_examples.json: question, choices A to D, explanation, letter."""
    items = []
    for number, row in enumerate(rows):
        choices, letter = row.get("choices"), row.get("correct_answer")
        texts = [choices.get(one) for one in _LETTERS] if isinstance(choices, dict) else []
        told = (row.get("question"), row.get("explanation"), *texts)
        if len(texts) < len(_LETTERS) or not all(isinstance(one, str) for one in told) or letter not in tuple(_LETTERS):
            message = (
                f"gpqa: row {number + 1} of {source} is no question with `choices` A to D, an `explanation` and a letter "
                "in `correct_answer`; give prompts/chain_of_thought_examples.json of the official repository"
            )
            raise DataError(message)
        gold = {"label": letter, "explanation": told[1]}
        asked = Question(str(told[0]), tuple(map(str, texts)))
        items.append(Item(f"gpqa/{source}/{number}", asked, gold, language="en", origin=Row(f"gpqa/{source}", number)))
    return items


def beside_exemplars(repeated: Sequence[int]) -> Callable[[str, Sequence[Mapping[str, Json]]], list[Item]]:
    """The items of a file without those rows that the official exemplars repeat; and the exemplars."""

    def items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
        if source == "exemplars":
            return exemplar_items(source, rows)
        return [item for number, item in enumerate(to_items(source, rows)) if number not in repeated]

    return items


def by_examples(head: str, example: str, asked: str) -> Callable[[Item, Sequence[Item]], tuple[Generate, ...]]:
    """The official system message, and one user turn with the exemplars and the question."""

    def requests(item: Item, exemplars: Sequence[Item]) -> tuple[Generate, ...]:
        text = head + "".join(fill(example, _shown(shot)) for shot in exemplars) + fill(asked, _shown(item))
        return (Generate((system(SYSTEM), user(text)), decode=Decode(max_tokens=LONGEST_REPLY)),)

    return requests


def by_letter_with_examples(item: Item, exemplars: Sequence[Item]) -> tuple[Loglikelihood, ...]:
    """Solved questions of the same set, the question, and the log-probability of each letter in brackets."""
    context = FIVE_SHOT + "".join(fill(SHOTS_ANSWERED, _shown(shot)) for shot in exemplars)
    letters = tuple(f" ({letter})" for letter in _LETTERS)
    return (Loglikelihood(context + fill(SHOTS_ASKED, _shown(item)), letters),)


def _shown(item: Item) -> dict[str, str]:
    assert isinstance(item.input, Question)  # noqa: S101  to_items makes nothing else
    return {
        "question": item.input.text,
        "options": lay_out(item.input.options, "(A)"),
        "letter": str(item.gold["label"]),
        "explanation": str(item.gold.get("explanation", "")),
    }


CARD = Card(
    title="GPQA Diamond",
    measures="answering four-way multiple choice questions of biology, physics and chemistry that need a doctorate in the field, in English",
    blind_spots=(
        "198 questions, so one is half a point and differences of a few points are noise.",
        "Chemistry, physics and biology alone; chemistry's share is the largest.",
        "The order of the options moves the number; it is fixed by a seed, and another seed is another protocol.",
    ),
    style="quiz",
    canonical_source=(
        "Idavidrein/gpqa on the Hugging Face hub, gated: ask for access there, then set HF_TOKEN; 198 questions in "
        "gpqa_diamond.csv; dated by arXiv:2311.12022. The level of people is that of the experts whom OpenAI asked in 2024"
    ),
    canonical_protocol=(
        "Zero-shot, chain of thought, options shuffled as in the first repeat of simple-evals (seed 0); simple-evals "
        "repeats four times and samples at temperature 0.5, here once and greedy. Letters asks by the paper's zero-shot "
        "prompt and log-probability. five_shot and cot_five_shot ask by the official repository's prompts and exemplars, which "
        "you give from your copy of it: --data gpqa:exemplars=gpqa/prompts/chain_of_thought_examples.json; rows that the "
        "exemplars repeat are left out, as crfm-helm does, and 1,000 new tokens are allowed, as there. letters_five_shot "
        "asks as lm-evaluation-harness's n_shot, with five other questions of the set drawn by a seed of ours, so the "
        "exemplars are not the harness's. Its cot_n_shot shows exemplars without any reasoning and is not offered."
    ),
    licence="CC-BY-4.0",
    released="2023-11-20",
    chance=0.25,
    human=0.697,
    saturated_at=0.9,
    errata=(
        "Experts score 65 in 100 on the extended set, and 74 where their own clear slips are forgiven; the rest is hard or wrong.",
    ),
)

_PIN = "5233cd1db58884ed0bf678c7c6be731722a23f84"


def _of(subset: str, questions: int, human: float | None) -> tuple[Task, Card]:
    """The task and the card of one of the three sets."""
    task = Task(
        sources={"test": Hub("Idavidrein/gpqa", _PIN, (f"gpqa_{subset}.csv",), gated=True)},
        to_items=to_items,
        version=1,
    )
    card = msgspec.structs.replace(
        CARD,
        title=f"GPQA {subset.capitalize()}",
        human=human,
        blind_spots=(f"{questions} questions, so differences of a few points are noise.", *CARD.blind_spots[1:]),
        canonical_source=CARD.canonical_source.partition("; 198")[0]
        + f"; {questions} questions in gpqa_{subset}.csv; dated by arXiv:2311.12022",
    )
    return task, card


BENCHMARK = Benchmark(
    name="gpqa",
    task=_of("diamond", 198, None)[0],
    asking=THINKING,
    scoring=letter_scoring(LABEL),
    aggregation=Aggregation(metrics=LETTER_METRICS, macro=("domain",), groups=("domain",)),
    card=CARD,
    gold_answer=lambda item: Answer(f"Answer: {item.gold['label']}"),
)


def lettered(benchmark: Benchmark, name: str) -> Benchmark:
    """The same set, asked by the letter of the next token."""
    return replace(
        benchmark,
        name=f"gpqa:{name}",
        asking=Prompting(
            name="letters by log-probability",
            version=1,
            requests=by_letter(ASKED, "(A)"),
            needs=frozenset({"loglikelihood"}),
            text=ASKED,
        ),
        scoring=Scoring(markings=(Marking("accuracy", ARGMAX, LABEL),)),
        aggregation=Aggregation(metrics={"accuracy": ACCURACY}, macro=("domain",), groups=("domain",)),
        gold_answer=lambda item: Answer(values=tuple(float(letter == item.gold["label"]) for letter in _LETTERS)),
    )


def lettered_with_examples(benchmark: Benchmark, name: str) -> Benchmark:
    """The same, after five other questions of the set with their letters."""
    return replace(
        lettered(benchmark, name),
        asking=Prompting(
            name="letters by log-probability, 5 shots of the same set",
            version=1,
            requests=by_letter_with_examples,
            needs=frozenset({"loglikelihood"}),
            text=FIVE_SHOT + SHOTS_ANSWERED + SHOTS_ASKED,
            shots=Shots(5, "test", rule="seeded"),
        ),
    )


def with_examples(benchmark: Benchmark, subset: str, name: str) -> Benchmark:
    """The same set, asked after the five exemplars of the official repository, with their reasoning or without."""
    thinking = name.endswith("cot_five_shot")
    parts = (COT, COT_EXAMPLE, COT_ASKED) if thinking else (FIVE_SHOT, FIVE_SHOT_EXAMPLE, FIVE_SHOT_ASKED)
    exemplars = File("gpqa/prompts/chain_of_thought_examples.json")
    return replace(
        benchmark,
        name=f"gpqa:{name}",
        task=replace(
            benchmark.task,
            sources={**benchmark.task.sources, "exemplars": exemplars},
            to_items=beside_exemplars(REPEATED[subset]),
        ),
        asking=Prompting(
            name="five shots in chat, chain of thought" if thinking else "five shots in chat",
            version=1,
            requests=by_examples(*parts),
            needs=frozenset({"chat"}),
            text=SYSTEM + "\n\n" + "".join(parts),
            shots=Shots(5, "exemplars"),
        ),
        scoring=Scoring(
            markings=(Marking("accuracy", CHOICE, LABEL),),
            score_truncated=False,  # the letter comes last, so a reply cut short has not given it
            score_refused=True,
        ),
        aggregation=Aggregation(metrics={"accuracy": ACCURACY}, macro=("domain",), groups=("domain",)),
        gold_answer=lambda item: Answer(f"The correct answer is ({item.gold['label']})"),
    )


def variants_of(benchmark: Benchmark, subset: str, prefix: str = "") -> dict[str, Benchmark]:
    """One set asked in all other ways."""
    return {
        f"{prefix}letters": lettered(benchmark, f"{prefix}letters"),
        f"{prefix}letters_five_shot": lettered_with_examples(benchmark, f"{prefix}letters_five_shot"),
        f"{prefix}five_shot": with_examples(benchmark, subset, f"{prefix}five_shot"),
        f"{prefix}cot_five_shot": with_examples(benchmark, subset, f"{prefix}cot_five_shot"),
    }


VARIANTS: dict[str, Benchmark] = variants_of(BENCHMARK, "diamond")
for _subset, _count, _human in (("main", 448, None), ("extended", 546, 0.65)):
    _task, _card = _of(_subset, _count, _human)
    VARIANTS[_subset] = replace(BENCHMARK, name=f"gpqa:{_subset}", task=_task, card=_card)
    VARIANTS |= variants_of(VARIANTS[_subset], _subset, f"{_subset}_")
