"""MedMCQA: questions of the entrance examinations of Indian medical schools (Pal et al. 2022)."""

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
OPTIONS = ("opa", "opb", "opc", "opd")

ASKED = "Question: {{question}}\nChoices:\n{{options}}\nAnswer:"
"""As lm-evaluation-harness asks medmcqa."""


def to_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """Rows of question, opa to opd, cop (0-3) and subject_name, in the official order."""
    items = []
    for number, row in enumerate(rows):
        texts, right = [row.get("question"), *(row.get(name) for name in OPTIONS)], row.get("cop")
        if (
            not all(isinstance(text, str) for text in texts)
            or right not in range(len(LETTERS))
            or isinstance(right, bool)
        ):
            message = (
                f"medmcqa: row {number + 1} of {source} is no question with `opa` to `opd` and `cop` of 0 to 3; give the "
                "validation split, as the answers of the test split were never published"
            )
            raise DataError(message)
        items.append(
            Item(
                id=f"medmcqa/{row.get('id') or number}",
                input=Question(str(texts[0]), tuple(map(str, texts[1:]))),
                gold=LETTERS[int(str(right))],
                slices={
                    "subject": str(row.get("subject_name") or "unstated"),
                    "kind": str(row.get("choice_type") or "unstated"),
                },
                language="en",
                origin=Row(f"medmcqa/{source}", number, made="real"),
            )
        )
    return items


CARD = Card(
    title="MedMCQA",
    measures="choosing the right of four answers to entrance examination questions of medicine in India, in English",
    blind_spots=(
        "Short questions of fact; few describe a patient.",
        "Medicine as it is taught for examinations in India.",
        "A question of the kind multi still has one right option here.",
        "Public since 2022; training on it is common.",
    ),
    style="quiz",
    canonical_source="openlifescienceai/medmcqa on the Hugging Face hub, 4,183 validation questions; dated by arXiv:2203.14371",
    canonical_protocol=(
        "The validation split, as the answers of the test split were never published. Zero-shot letters by log-probability, "
        "as lm-evaluation-harness asks; :cot is zero-shot chain of thought in chat. One of MedHELM's public scenarios, which "
        "asks otherwise."
    ),
    licence="Apache-2.0",
    released="2022-03-27",
    chance=0.25,
)

BENCHMARK = Benchmark(
    name="medmcqa",
    task=Task(
        sources={
            "test": Hub(
                "openlifescienceai/medmcqa", "91c6572c454088bf71b679ad90aa8dffcd0d5868", ("data/validation-*.parquet",)
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
    aggregation=Aggregation(metrics={"accuracy": ACCURACY}, macro=("subject",), groups=("subject",)),
    card=CARD,
    gold_answer=lambda item: Answer(values=tuple(float(letter == item.gold) for letter in LETTERS)),
)

VARIANTS: dict[str, Benchmark] = {
    "cot": replace(
        BENCHMARK,
        name="medmcqa:cot",
        asking=THINKING,
        scoring=READ_LETTER,
        aggregation=Aggregation(metrics=LETTER_METRICS, macro=("subject",), groups=("subject",)),
        gold_answer=lambda item: Answer(f"Answer: {item.gold}"),
    ),
}
