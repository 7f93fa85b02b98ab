"""Global-MMLU: the questions of MMLU in 42 languages, marked where they need a culture's knowledge (Singh et al. 2024)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import msgspec

from measurand.benchmarks.mmlu import LETTER_METRICS, READ_LETTER, THINKING, translated
from measurand.core.benchmark import Aggregation, Benchmark, Card, Task
from measurand.core.errors import DataError
from measurand.core.item import Item, Row
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.source import Hub

LANGUAGES = [
    "am",
    "ar",
    "bn",
    "cs",
    "de",
    "el",
    "en",
    "es",
    "fa",
    "fil",
    "fr",
    "ha",
    "he",
    "hi",
    "id",
    "ig",
    "it",
    "ja",
    "ko",
    "ky",
    "lt",
    "mg",
    "ms",
    "ne",
    "nl",
    "ny",
    "pl",
    "pt",
    "ro",
    "ru",
    "si",
    "sn",
    "so",
    "sr",
    "sv",
    "sw",
    "te",
    "tr",
    "uk",
    "vi",
    "yo",
    "zh",
]
LITE_LANGUAGES = ["ar", "bn", "de", "en", "es", "fr", "hi", "id", "it", "ja", "ko", "pt", "sw", "yo", "zh"]
"""The languages of Lite as it was published, and as lm-evaluation-harness asks it; the repository has more since."""

TEXTS = ("question", "option_a", "option_b", "option_c", "option_d")
CULTURE = {"CS": "culturally sensitive", "CA": "culturally agnostic"}
"""The annotation; most questions carry none."""


def items_in(language: str = "") -> Callable[[str, Sequence[Mapping[str, Json]]], list[Item]]:
    """Items of one language, or of all, whose rows then name their folder. Translations of one question are one cluster."""

    def to_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
        items = []
        for number, row in enumerate(rows, 1):
            where = f"row {number} of {source}"
            spoken = language or str(row.get("__folder__", ""))
            found, sample = translated(row, TEXTS, "answer", "subject"), row.get("sample_id")
            if spoken not in LANGUAGES:
                message = (
                    f"global_mmlu: {where} lies in no folder that is named by a language such as sw; keep the folders"
                )
                raise DataError(message)
            if found is None or not isinstance(sample, str):
                message = (
                    f"global_mmlu: {where} is no question with a sample_id, a subject, options a to d and an answer; give "
                    "the official columns"
                )
                raise DataError(message)
            question, letter, slices = found
            culture = CULTURE.get(str(row.get("cultural_sensitivity_label")), "not annotated")
            items.append(
                Item(
                    id=f"global_mmlu/{spoken}/{sample}",
                    input=question,
                    gold=letter,
                    slices={"language": spoken, **slices, "culture": culture},
                    cluster=f"global_mmlu/{sample}",
                    language=spoken,
                    origin=Row(f"global_mmlu/{spoken}", number, made="real"),
                )
            )
        return items

    return to_items


CARD = Card(
    title="Global-MMLU",
    measures="knowledge and understanding that four-way multiple choice questions of 57 subjects ask for, in 42 languages",
    blind_spots=(
        "Of the annotated questions, more than a quarter need knowledge of one culture, mostly that of the United States: read the two kinds apart.",
        "Translations are by people for some languages and by machine for most.",
        "The instruction is in English.",
        "Faults of MMLU's labels are kept in every language. The set called Lite (:lite), which is lm-eval's global_mmlu, is a sample of 400 a language.",
    ),
    style="quiz",
    canonical_source="CohereLabs/Global-MMLU on the Hugging Face hub, 14,042 test questions in each of 42 languages; dated by arXiv:2412.03304",
    canonical_protocol=(
        "Zero-shot chain of thought by simple-evals' template in English. Culturally sensitive and agnostic questions are "
        "shown apart, and so is each language; the headline is the mean over languages."
    ),
    licence="Apache-2.0",
    languages=tuple(LANGUAGES),
    released="2024-12-04",
    chance=0.25,
    saturated_at=0.9,
    errata=("The faults that MMLU-Redux found in MMLU, in 6.49 of a hundred checked questions.",),
)

_HUB, _PIN = "CohereLabs/Global-MMLU", "0e619dbeb34206cd48705a1a0ea7fb21cae09993"

BENCHMARK = Benchmark(
    name="global_mmlu",
    task=Task(sources={"test": Hub(_HUB, _PIN, ("*/test-*.parquet",))}, to_items=items_in(), version=1),
    asking=THINKING,
    scoring=READ_LETTER,
    aggregation=Aggregation(metrics=LETTER_METRICS, macro=("language",), groups=("culture", "language", "category")),
    card=CARD,
    gold_answer=lambda item: Answer(f"Answer: {item.gold}"),
)


def in_language(language: str) -> Benchmark:
    """One language alone."""
    return _one_language(BENCHMARK, language, language, _HUB, _PIN)


def _one_language(whole: Benchmark, variant: str, language: str, hub: str, pin: str) -> Benchmark:
    files = (f"{language}/test-*.parquet",)
    return replace(
        whole,
        name=f"global_mmlu:{variant}",
        task=Task(sources={"test": Hub(hub, pin, files)}, to_items=items_in(language), version=1),
        aggregation=Aggregation(metrics=LETTER_METRICS, macro=("subject",), groups=("culture", "category")),
    )


LITE_CARD = msgspec.structs.replace(
    CARD,
    title="Global-MMLU Lite",
    measures="knowledge and understanding that four-way multiple choice questions ask for, in 15 languages whose translations people made or corrected",
    blind_spots=(
        "Half of the questions need knowledge of one culture and half do not, so the pooled number is of a mixture that was chosen: read the two kinds apart.",
        "400 questions a language, so a language's number is known to about 5 points and each kind's to about 7.",
        "The questions were chosen among those of MMLU that were annotated; a subject may have few or none.",
        "The instruction is in English.",
    ),
    canonical_source=(
        "CohereLabs/Global-MMLU-Lite on the Hugging Face hub, 200 culturally sensitive and 200 culturally agnostic test "
        "questions in each of 15 languages; dated by the commits of its files. Columns, splits and counts are those of its data card of March 2025; the rows "
        "at the pinned commit, which has 8 languages more, have not been seen by us"
    ),
    canonical_protocol=(
        "As the whole set is asked: zero-shot chain of thought by simple-evals' template in English; culturally sensitive "
        "and agnostic questions apart; the headline is the mean over languages. lm-evaluation-harness asks the same "
        "questions for a letter's log-probability, which is another protocol."
    ),
    languages=tuple(LITE_LANGUAGES),
    released="2024-12-12",
)

_LITE_HUB, _LITE_PIN = "CohereLabs/Global-MMLU-Lite", "36c2fd756f19ccf13a9a96c8e53ccecc02192b8b"

LITE = replace(
    BENCHMARK,
    name="global_mmlu:lite",
    task=Task(
        sources={"test": Hub(_LITE_HUB, _LITE_PIN, tuple(f"{one}/test-*.parquet" for one in LITE_LANGUAGES))},
        to_items=items_in(),
        version=1,
    ),
    card=LITE_CARD,
)

VARIANTS: dict[str, Benchmark] = {
    **{language: in_language(language) for language in LANGUAGES},
    "lite": LITE,
    **{
        f"lite_{language}": _one_language(LITE, f"lite_{language}", language, _LITE_HUB, _LITE_PIN)
        for language in LITE_LANGUAGES
    },
}
