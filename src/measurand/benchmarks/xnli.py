"""XNLI: whether one sentence follows from another, in 15 languages (Conneau et al. 2018)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from measurand.asking import fill
from measurand.core.benchmark import Aggregation, Benchmark, Card, Marking, Prompting, Scoring, Task
from measurand.core.errors import DataError
from measurand.core.item import Item, Question, Row
from measurand.core.message import user
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.request import Decode, Generate, Loglikelihood
from measurand.core.source import Hub
from measurand.scoring.answer_lines import ANSWER_LINE_STRICT
from measurand.scoring.choosing import CHOICE_SCORE, choice_scorer
from measurand.scoring.letters import ARGMAX, choice
from measurand.stats.metrics import ACCURACY

LABELS = ("entailment", "neutral", "contradiction")

# The words of lm-evaluation-harness's xnli, with its slips (Arabic's "no" is "number"): they are the protocol.
# language: right?, yes, also, no
CLOZE = {
    "ar": ("صحيح", "نعم", "لذا", "رقم"),
    "bg": ("правилно", "да", "така", "не"),
    "de": ("richtig", "Ja", "Auch", "Nein"),
    "el": ("σωστός", "Ναί", "Έτσι", "όχι"),
    "en": ("right", "Yes", "Also", "No"),
    "es": ("correcto", "Sí", "Asi que", "No"),
    "fr": ("correct", "Oui", "Aussi", "Non"),
    "hi": ("सही", "हाँ", "इसलिए", "नहीं"),
    "ru": ("правильно", "Да", "Так", "Нет"),
    "sw": ("sahihi", "Ndiyo", "Hivyo", "Hapana"),
    "th": ("ถูกต้อง", "ใช่", "ดังนั้น", "ไม่"),
    "tr": ("doğru", "Evet", "Böylece", "Hayır"),
    "ur": ("صحیح", "جی ہاں", "اس لئے", "نہیں"),
    "vi": ("đúng", "Vâng", "Vì vậy", "Không"),
    "zh": ("正确", "是的", "所以", "不是的"),
}
CLOZE_TEXT = "{{premise}}, {{right}}? {{word}}, {{hypothesis}}"

ASKED = """\
Does the second statement follow from the first (entailment), does it contradict it (contradiction), or neither (neutral)? End with one line that holds only "Answer: " and one of these three words.

First: {{premise}}

Second: {{hypothesis}}"""

BETWEEN = "\n"
"""What parts premise and hypothesis in an item's text; neither holds a line break."""


def to_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """Rows of the hub's all_languages, one for all languages; or of TSV files of one language (sentence1_sw, label).

    What the languages say of one pair of sentences is one cluster.
    """
    items = []
    for number, row in enumerate(rows):
        pairs, label = _pairs(row), row.get("label")
        label = LABELS.index(label) if label in LABELS else label
        if not pairs or label not in (0, 1, 2) or isinstance(label, bool):
            message = (
                f"xnli: row {number + 1} of {source} is no premise and hypothesis with a label of 0 to 2; give the hub's "
                "all_languages, or a file with the columns label, sentence1_xx and sentence2_xx"
            )
            raise DataError(message)
        items += [
            Item(
                id=f"xnli/{source}/{language}/{number}",
                input=Question(f"{premise}{BETWEEN}{hypothesis}", LABELS),
                gold=label,
                slices={"language": language, "label": LABELS[label]},
                cluster=f"xnli/{source}/{number}",
                language=language,
                origin=Row(f"xnli/{source}/{language}", number, made="synthetic"),
            )
            for language, premise, hypothesis in pairs
        ]
    return items


def _pairs(row: Mapping[str, Json]) -> list[tuple[str, str, str]]:
    """(language, premise, hypothesis) for each language of the row; none where one is no text."""
    premise, hypothesis = row.get("premise"), row.get("hypothesis")
    if isinstance(premise, dict) and isinstance(hypothesis, dict) and "language" in hypothesis:
        second = dict(zip(hypothesis["language"], hypothesis["translation"], strict=True))
        found = [(language, premise.get(language), second.get(language)) for language in CLOZE]
    else:
        named = [name.removeprefix("sentence1_") for name in row if name.startswith("sentence1_")]
        found = [(one, row.get(f"sentence1_{one}"), row.get(f"sentence2_{one}")) for one in named]
    if not all(isinstance(text, str) and text and language in CLOZE for language, *texts in found for text in texts):
        return []
    return [(language, " ".join(str(a).split("\n")), " ".join(str(b).split("\n"))) for language, a, b in found]


def _fields(item: Item) -> dict[str, str]:
    assert isinstance(item.input, Question)  # noqa: S101  to_items makes nothing else
    premise, _, hypothesis = item.input.text.partition(BETWEEN)
    return {"premise": premise, "hypothesis": hypothesis}


def by_chat(item: Item, _: Sequence[Item]) -> tuple[Generate, ...]:
    """One user turn, the instruction in English."""
    return (Generate((user(fill(ASKED, _fields(item))),), decode=Decode(max_tokens=1024)),)


def by_cloze(item: Item, _: Sequence[Item]) -> tuple[Loglikelihood, ...]:
    """Three whole texts, "premise, right? Yes, hypothesis" and its like in the item's language, without a context."""
    right, *words = CLOZE[item.language]
    texts = tuple(" " + fill(CLOZE_TEXT, _fields(item) | {"right": right, "word": word}) for word in words)
    return (Loglikelihood("", texts),)


CARD = Card(
    title="XNLI",
    measures="telling whether a statement follows from another, contradicts it or neither, in 15 languages",
    blind_spots=(
        "Only the English sentences were labelled; translation can change what follows, and nobody labelled again.",
        "The hypothesis alone gives the label away more often than chance.",
        "The instruction is in English. Urdu, Swahili and Thai are the weakest translations and the lowest scores.",
        "Classic numbers are of models fine-tuned on English; numbers of prompted models are another protocol.",
    ),
    style="quiz",
    canonical_source="facebook/xnli on the Hugging Face hub, config all_languages, 5,010 test and 2,490 validation pairs; dated by arXiv:1809.05053",
    canonical_protocol=(
        "The test split, zero-shot in chat, mean over the 15 languages. Cloze is lm-evaluation-harness's xnli: the "
        "validation split and the likeliest of three texts in the item's own language, with its wording and its slips, so "
        "its numbers cannot be compared with those of the test split."
    ),
    licence="CC-BY-NC-4.0",
    languages=tuple(CLOZE),
    released="2018-09-13",
    chance=1 / 3,
)

_HUB, _PIN = "facebook/xnli", "b8dd5d7af51114dbda02c0e3f6133f332186418e"
_SCORE = choice_scorer(LABELS)

BENCHMARK = Benchmark(
    name="xnli",
    task=Task(
        sources={"test": Hub(_HUB, _PIN, ("all_languages/test-*.parquet",))},
        to_items=to_items,
        version=1,
    ),
    asking=Prompting(
        name="zero-shot chat",
        version=1,
        requests=by_chat,
        needs=frozenset({"chat"}),
        text=ASKED,
    ),
    scoring=Scoring(
        markings=(
            Marking("accuracy", choice(LABELS), _SCORE),
            Marking("strict", ANSWER_LINE_STRICT, _SCORE),
        ),
        score_truncated=False,  # the word comes last, so a reply cut short has not given it
        score_refused=True,
    ),
    aggregation=Aggregation(
        metrics={"accuracy": ACCURACY, "strict": ACCURACY}, macro=("language",), groups=("language", "label")
    ),
    card=CARD,
    gold_answer=lambda item: Answer(f"Answer: {LABELS[item.gold]}"),
)

VARIANTS: dict[str, Benchmark] = {
    "cloze": Benchmark(
        name="xnli:cloze",
        task=Task(
            sources={"validation": Hub(_HUB, _PIN, ("all_languages/validation-*.parquet",))},
            to_items=to_items,
            version=1,
            split="validation",
        ),
        asking=Prompting(
            name="cloze by log-probability",
            version=1,
            requests=by_cloze,
            needs=frozenset({"loglikelihood"}),
            text="\n".join(f"{language}: {', '.join(words)}" for language, words in CLOZE.items()) + f"\n{CLOZE_TEXT}",
        ),
        scoring=Scoring(markings=(Marking("accuracy", ARGMAX, CHOICE_SCORE),)),
        aggregation=Aggregation(metrics={"accuracy": ACCURACY}, macro=("language",), groups=("language", "label")),
        card=CARD,
        gold_answer=lambda item: Answer(values=tuple(float(place == item.gold) for place in range(len(LABELS)))),
    ),
}
