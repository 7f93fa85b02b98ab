"""GPQA: questions of biology, physics and chemistry that experts wrote to be hard to look up (Rein et al. 2023)."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from measurand.asking import by_letter
from measurand.benchmarks.mmlu import LETTER_METRICS, THINKING, letter_scoring
from measurand.core.benchmark import Aggregation, Benchmark, Card, Marking, Prompting, Scoring, Task
from measurand.core.errors import DataError
from measurand.core.item import Item, Question, Row
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.source import Hub
from measurand.scoring.choosing import CHOICE_SCORE
from measurand.scoring.errata import graded_by
from measurand.scoring.letters import ARGMAX
from measurand.stats.metrics import ACCURACY

SEED = 0
"""The seed of the options' order: simple-evals draws one permutation an item, in the order of the file, from it."""

TEXTS = ("Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")
CANARY = "Canary String"

ASKED = "What is the correct answer to this question:{{question}}\nChoices:\n{{options}}\nAnswer:"
_LETTERS = "ABCD"
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


CARD = Card(
    title="GPQA Diamond",
    measures="answering four-way multiple choice questions of biology, physics and chemistry that need a doctorate in the field, in English",
    blind_spots=(
        "198 questions, so one is half a point and differences of a few points are noise.",
        "Chemistry, physics and biology alone; chemistry's share is the largest.",
        "The order of the options moves the number; it is fixed by a seed, and another seed is another protocol.",
    ),
    style="quiz",
    canonical_source="Idavidrein/gpqa on the Hugging Face hub, gated: ask for access there, then set HF_TOKEN; 198 questions in gpqa_diamond.csv",
    canonical_protocol=(
        "Zero-shot, chain of thought, options shuffled as in the first repeat of simple-evals (seed 0); simple-evals "
        "repeats four times and samples at temperature 0.5, here once and greedy. Letters asks by the paper's zero-shot "
        "prompt and log-probability. The paper's few-shot exemplars are part of the gated data and are not given here."
    ),
    licence="CC-BY-4.0",
    released="2023-11-20",
    chance=0.25,
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
        canonical_source=CARD.canonical_source.partition("; 198")[0] + f"; {questions} questions in gpqa_{subset}.csv",
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


VARIANTS: dict[str, Benchmark] = {"letters": lettered(BENCHMARK, "letters")}
for _subset, _count, _human in (("main", 448, None), ("extended", 546, 0.65)):
    _task, _card = _of(_subset, _count, _human)
    VARIANTS[_subset] = replace(BENCHMARK, name=f"gpqa:{_subset}", task=_task, card=_card)
    VARIANTS[f"{_subset}_letters"] = lettered(VARIANTS[_subset], f"{_subset}_letters")
