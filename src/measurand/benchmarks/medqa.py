"""MedQA: questions of the United States medical licensing examination (Jin et al. 2021), with four options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from measurand.asking import by_letter
from measurand.benchmarks.mmlu import LETTER_METRICS, READ_LETTER, THINKING
from measurand.core.benchmark import Aggregation, Benchmark, Card, Marking, Prompting, Scoring, Task
from measurand.core.errors import DataError
from measurand.core.item import Item, Question, Row
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.source import Hub
from measurand.scoring.choosing import CHOICE_SCORE
from measurand.scoring.letters import ARGMAX
from measurand.stats.metrics import ACCURACY

LETTERS = "ABCD"

ASKED = "Question: {{question}}\n{{options}}\nAnswer:"
"""As lm-evaluation-harness asks medqa_4options."""


def to_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """Rows of question, options (an object A to D), answer_idx and meta_info, in the official order."""
    items = []
    for number, row in enumerate(rows):
        options = row.get("options")
        texts = [options.get(letter) for letter in LETTERS] if isinstance(options, dict) else []
        good = (
            isinstance(row.get("question"), str)
            and len(texts) == len(LETTERS)
            and all(isinstance(one, str) for one in texts)
        )
        if not good or row.get("answer_idx") not in tuple(LETTERS):
            message = (
                f"medqa: row {number + 1} of {source} is no question with `options` A to D and one of them as "
                "`answer_idx`; give the four-option form"
            )
            raise DataError(message)
        items.append(
            Item(
                id=f"medqa/{source}/{number}",
                input=Question(str(row["question"]), tuple(map(str, texts))),
                gold=row["answer_idx"],
                slices={"step": str(row.get("meta_info") or "unstated")},
                language="en",
                origin=Row(f"medqa/{source}", number, made="synthetic"),
            )
        )
    return items


CARD = Card(
    title="MedQA (USMLE, four options)",
    measures="choosing the right of four answers to examination questions of medicine in the United States, most of them about a patient, in English",
    blind_spots=(
        "An examination question states all that matters and has one answer; patients do neither.",
        "Medicine as it is practised and licensed in the United States.",
        "The examination is passed with about 0.6, which is no level of people: none was measured on these questions.",
        "Public since 2020; training on it is common.",
        "The original has five options; five- and four-option numbers differ by several points. Hard subsets chosen by what models fail on are another set.",
    ),
    style="quiz",
    canonical_source="GBaker/MedQA-USMLE-4-options on the Hugging Face hub, 1,273 test questions (originally jind11/MedQA); dated by arXiv:2009.13081",
    canonical_protocol=(
        "Zero-shot letters by log-probability, as lm-evaluation-harness asks; :cot is zero-shot chain of thought in chat. "
        "HELM asks five shots and one line of instruction; Med-PaLM's numbers are five shots with a vote of eleven."
    ),
    licence="MIT",
    released="2020-09-28",
    chance=0.25,
    saturated_at=0.95,
)

BENCHMARK = Benchmark(
    name="medqa",
    task=Task(
        sources={
            "test": Hub(
                "GBaker/MedQA-USMLE-4-options",
                "0fb93dd23a7339b6dcd27e241cb9b5eca62d4d18",
                ("phrases_no_exclude_test.jsonl",),
            )
        },
        to_items=to_items,
        version=1,
    ),
    asking=Prompting(
        name="letters by log-probability",
        version=1,
        requests=by_letter(ASKED),
        needs=frozenset({"loglikelihood"}),
        text=ASKED,
    ),
    scoring=Scoring(markings=(Marking("accuracy", ARGMAX, CHOICE_SCORE),)),
    aggregation=Aggregation(metrics={"accuracy": ACCURACY}, groups=("step",)),
    card=CARD,
    gold_answer=lambda item: Answer(values=tuple(float(letter == item.gold) for letter in LETTERS)),
)

VARIANTS: dict[str, Benchmark] = {
    "cot": replace(
        BENCHMARK,
        name="medqa:cot",
        asking=THINKING,
        scoring=READ_LETTER,
        aggregation=Aggregation(metrics=LETTER_METRICS, groups=("step",)),
        gold_answer=lambda item: Answer(f"Answer: {item.gold}"),
    ),
}
