"""Humanity's Last Exam: questions at the edge of what experts know, a part of them with images (Phan et al. 2025)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from measurand.core.benchmark import Aggregation, Benchmark, Card, Marking, Prompting, Scoring, Task
from measurand.core.errors import DataError
from measurand.core.item import Conversation, Item, Row
from measurand.core.message import Image, Message, Text, system
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.request import Decode, Generate
from measurand.core.source import Hub
from measurand.scoring.answer_lines import ANSWER_AND_CONFIDENCE, ANSWER_LINE, ANSWER_LINE_STRICT, CONFIDENT_EXACT
from measurand.scoring.errata import graded_by
from measurand.scoring.rubric import RUBRIC
from measurand.scoring.texts import EXACT
from measurand.stats.metrics import ACCURACY, HLE_CALIBRATION_ERROR

# The system message that the authors' code sends with every item, those with an exact answer too; it is the protocol.
SYSTEM = """\
Your response should be in the following format:
Explanation: {your explanation for your answer choice}
Answer: {your chosen answer}
Confidence: {your confidence score between 0% and 100% for your answer}"""

_DATA_URL = re.compile(r"data:(image/[\w.+-]{1,40});base64,")


def to_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """Rows of id, question, image, answer, answer_type, category, raw_subject and canary.

    An image is kept as the part of the message that it is, and the canary beside the gold, so that whatever is exported
    can be found in training data. A copy of the data without its canary is refused.
    """
    items = []
    for number, row in enumerate(rows):
        where = f"row {number + 1} of {source}"
        texts = [row.get(name) for name in ("id", "question", "answer", "answer_type")]
        if not all(isinstance(text, str) and text for text in texts):
            message = (
                f"hle: {where} lacks a text in `id`, `question`, `answer` or `answer_type`; give the official columns"
            )
            raise DataError(message)
        if not row.get("canary"):
            message = f"hle: {where} has lost its canary; use the official files, which carry one in `canary`"
            raise DataError(message)
        image = _image(row.get("image"), where)
        items.append(
            Item(
                id=f"hle/{texts[0]}",
                input=Conversation((Message("user", (Text(str(texts[1])), *image)),)),
                gold={"label": str(texts[2]), "canary": str(row["canary"])},
                slices={
                    "category": str(row.get("category") or "unstated"),
                    "answer_type": str(texts[3]),
                    "image": "with image" if image else "text only",
                },
                language="en",
                origin=Row(f"hle/{source}", number, made="synthetic"),
            )
        )
    return items


def to_text_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """The items without an image: the subset that many published numbers are of."""
    return [item for item in to_items(source, rows) if item.slices["image"] == "text only"]


def _image(given: Json, where: str) -> tuple[Image, ...]:
    if not given:
        return ()
    match = _DATA_URL.match(given) if isinstance(given, str) else None
    if match is None:
        message = f"hle: {where} has an `image` that is no data URL; give the official file"
        raise DataError(message)
    return (Image(match[1], given[match.end() :]),)


def by_chat(item: Item, _: Sequence[Item]) -> tuple[Generate, ...]:
    """The system message, then the question with its image."""
    assert isinstance(item.input, Conversation)  # noqa: S101  to_items makes nothing else
    return (Generate((system(SYSTEM), *item.input.messages), decode=Decode(max_tokens=8192)),)


CARD = Card(
    title="Humanity's Last Exam",
    measures="answering closed questions at the edge of expert knowledge, about half of mathematics and science, in English",
    blind_spots=(
        "Questions were kept because the models of 2024 failed on them, so those models score lower than others as good.",
        "Whether an answer is right is said by a judge model; until one is run, accuracy is missing. The exact match beside it is a lower bound.",
        "Audits put many golds of chemistry and biology in doubt.",
        "The whole set, the text-only subset and the rolling and verified sets are different sets.",
    ),
    style="quiz",
    canonical_source="cais/hle on the Hugging Face hub, 2,500 questions, gated: ask for access there, then set HF_TOKEN; dated by arXiv:2501.14249, when there were 3,000",
    canonical_protocol=(
        "One system message that asks for an explanation, an answer and a confidence; the authors' code has always sent the "
        "one written for multiple choice, to all items, and it is kept. Correctness is judged (the authors use o3-mini); "
        "a reply without a confidence counts as sure. Calibration error is computed as their code does, root "
        "mean square over bins of 100 answers of which the last is left out, but against the exact match."
    ),
    licence="MIT",
    released="2025-01-24",
    chance=0.0,
    errata=(
        "An independent audit found a large share of the chemistry and biology answers contradicted by the literature.",
    ),
)

_MARKINGS = (
    Marking("accuracy", ANSWER_LINE, RUBRIC),
    Marking("exact", ANSWER_LINE_STRICT, graded_by("label", EXACT)),
    Marking("exact_lenient", ANSWER_LINE, graded_by("label", EXACT)),
    Marking("calibration_error", ANSWER_AND_CONFIDENCE, graded_by("label", CONFIDENT_EXACT)),
)

BENCHMARK = Benchmark(
    name="hle",
    task=Task(
        sources={
            "test": Hub("cais/hle", "5a81a4c7271a2a2a312b9a690f0c2fde837e4c29", ("data/test-*.parquet",), gated=True)
        },
        to_items=to_items,
        version=1,
    ),
    asking=Prompting(
        name="explanation, answer and confidence",
        version=1,
        requests=by_chat,
        needs=frozenset({"chat", "images"}),
        text=SYSTEM,
    ),
    scoring=Scoring(markings=_MARKINGS, score_truncated=False, score_refused=True),
    aggregation=Aggregation(
        metrics={
            "accuracy": ACCURACY,
            "exact": ACCURACY,
            "exact_lenient": ACCURACY,
            "calibration_error": HLE_CALIBRATION_ERROR,
        },
        groups=("category", "answer_type", "image"),
    ),
    card=CARD,
    gold_answer=lambda item: Answer(f"Explanation: known.\nAnswer: {item.gold['label']}\nConfidence: 100%"),
)

VARIANTS: dict[str, Benchmark] = {
    "text": replace(
        BENCHMARK,
        name="hle:text",
        task=replace(BENCHMARK.task, to_items=to_text_items),
        asking=replace(BENCHMARK.asking, needs=frozenset({"chat"})),
        card=msgspec.structs.replace(CARD, title="Humanity's Last Exam, text-only subset"),
    ),
}
