"""MMMLU: the questions of MMLU in 14 languages, translated by people (OpenAI 2024)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from measurand.benchmarks.mmlu import LETTER_METRICS, READ_LETTER, THINKING, translated
from measurand.core.benchmark import Aggregation, Benchmark, Card, Task
from measurand.core.errors import DataError
from measurand.core.item import Item, Row
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.source import Hub

LANGUAGES = [
    "AR-XY",
    "BN-BD",
    "DE-DE",
    "ES-LA",
    "FR-FR",
    "HI-IN",
    "ID-ID",
    "IT-IT",
    "JA-JP",
    "KO-KR",
    "PT-BR",
    "SW-KE",
    "YO-NG",
    "ZH-CN",
]


def items_in(locale: str = "") -> Callable[[str, Sequence[Mapping[str, Json]]], list[Item]]:
    """Items of one locale's file, or of all, whose rows then name their file (mmlu_SW-KE).

    Translations of one question are one cluster: they are not independent.
    """

    def to_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
        items = []
        places: dict[str, int] = {}
        for number, row in enumerate(rows, 1):
            where = f"row {number} of {source}"
            place = locale or str(row.get("__file__", "")).removeprefix("mmlu_")
            found = translated(row, ("Question", *"ABCD"), "Answer", "Subject")
            if place not in LANGUAGES:
                message = (
                    f"mmmlu: {where} lies in no file that is named mmlu_ and a locale such as SW-KE; keep the names"
                )
                raise DataError(message)
            if found is None:
                message = (
                    f"mmmlu: {where} is no question with options A to D, an answer and a subject; mend its columns"
                )
                raise DataError(message)
            question, letter, slices = found
            position = places[place] = places.get(place, -1) + 1
            items.append(
                Item(
                    id=f"mmmlu/{place}/{position}",
                    input=question,
                    gold=letter,
                    slices={"language": place, **slices},
                    cluster=f"mmlu/{position}",
                    language=place.split("-")[0].lower(),
                    origin=Row(f"mmmlu/{place}", position, made="real"),
                )
            )
        return items

    return to_items


CARD = Card(
    title="MMMLU",
    measures="knowledge and understanding that four-way multiple choice questions of 57 subjects ask for, in 14 languages other than English",
    blind_spots=(
        "The questions are MMLU's: law, history and government of the United States, in every language.",
        "The instruction is in English, and so is the answer line that is asked for; models answer in either language.",
        "Faults of MMLU's labels are kept in every language.",
        "Other sets are called multilingual MMLU too; those translated by machine are not comparable.",
    ),
    style="quiz",
    canonical_source="openai/MMMLU on the Hugging Face hub, 14,042 test questions in each of 14 languages",
    canonical_protocol=(
        "Zero-shot chain of thought by simple-evals' template in English. Headline: the mean over languages; the reader "
        "knows the word for answer, and the letters, of all 14. There is no dev split, so few-shot numbers use other data."
    ),
    licence="MIT",
    languages=tuple(locale.split("-")[0].lower() for locale in LANGUAGES),
    released="2024-09-23",
    chance=0.25,
    saturated_at=0.9,
    errata=("The faults that MMLU-Redux found in MMLU, in 6.49 of a hundred checked questions.",),
)

_HUB, _PIN = "openai/MMMLU", "325a01dc3e173cac1578df94120499aaca2e2504"

BENCHMARK = Benchmark(
    name="mmmlu",
    task=Task(sources={"test": Hub(_HUB, _PIN, ("test/mmlu_*.csv",))}, to_items=items_in(), version=1),
    asking=THINKING,
    scoring=READ_LETTER,
    aggregation=Aggregation(metrics=LETTER_METRICS, macro=("language",), groups=("language", "category")),
    card=CARD,
    gold_answer=lambda item: Answer(f"Answer: {item.gold}"),
)


def in_language(locale: str) -> Benchmark:
    """One language alone."""
    return replace(
        BENCHMARK,
        name=f"mmmlu:{locale}",
        task=Task(
            sources={"test": Hub(_HUB, _PIN, (f"test/mmlu_{locale}.csv",))}, to_items=items_in(locale), version=1
        ),
        aggregation=Aggregation(metrics=LETTER_METRICS, macro=("subject",), groups=("category",)),
    )


VARIANTS: dict[str, Benchmark] = {locale: in_language(locale) for locale in LANGUAGES}
