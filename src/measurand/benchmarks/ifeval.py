"""IFEval: instructions that a program can check, such as "no commas" and "at least 300 words" (Zhou et al. 2023)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from measurand.core.benchmark import Aggregation, Benchmark, Card, Marking, Prompting, Scoring, Task
from measurand.core.errors import DataError
from measurand.core.item import Item, Question, Row
from measurand.core.message import user
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.request import Complete, Decode, Generate
from measurand.core.source import Hub
from measurand.scoring.errata import with_errata
from measurand.scoring.ifeval.obeying import obedient, unruly
from measurand.scoring.ifeval.scorers import (
    BY_KIND,
    INSTRUCTION_LOOSE,
    INSTRUCTION_STRICT,
    PROMPT_LOOSE,
    PROMPT_STRICT,
    constraints_of,
)
from measurand.scoring.texts import ENTIRE_TEXT
from measurand.stats.metrics import ACCURACY, RATE

RANDOM_LETTER = frozenset({1122, 1129})
"""Keys of the two items that ask for # and !: the reference counts a letter drawn at random instead."""

ERRATA = {f"ifeval/{key}": None for key in sorted(RANDOM_LETTER)}
"""Items whose published verdicts are chance; the variant `errata` leaves them out, and shows both numbers."""

LONGEST_REPLY = 1280  # tokens, as lm-evaluation-harness allows


def to_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """Rows of key, prompt, instruction_id_list and kwargs; parameters that are null are left out."""
    items = []
    for number, row in enumerate(rows):
        key, prompt = row.get("key"), row.get("prompt")
        pairs = _paired(row.get("instruction_id_list"), row.get("kwargs"))
        if not isinstance(prompt, str) or not pairs or key is None:
            message = (
                f"ifeval: row {number + 1} of {source} lacks `key`, `prompt` or lists of one length in "
                "`instruction_id_list` and `kwargs`; give the official columns"
            )
            raise DataError(message)
        gold = [
            {"kind": kind, "given": {name: value for name, value in one.items() if value is not None}}
            for kind, one in pairs
        ]
        items.append(
            Item(
                id=f"ifeval/{key}",
                input=Question(prompt),
                gold=gold,
                slices={
                    "constraints": "single" if len(gold) == 1 else "several",
                    "reference": "random letter" if key in RANDOM_LETTER else "deterministic",
                },
                language="en",
                origin=Row(f"ifeval/{source}", number, made="synthetic"),
            )
        )
    return items


def _paired(kinds: Json, given: Json) -> list[tuple[str, dict[str, Json]]]:
    """Each kind with its parameters; none where the two lists do not fit together."""
    if not isinstance(kinds, list) or not isinstance(given, list) or len(kinds) != len(given):
        return []
    pairs = [
        (kind, one) for kind, one in zip(kinds, given, strict=True) if isinstance(kind, str) and isinstance(one, dict)
    ]
    return pairs if len(pairs) == len(kinds) else []


def by_chat(item: Item, _: Sequence[Item]) -> tuple[Generate, ...]:
    """The prompt as one user turn."""
    return (Generate((user(_prompt(item)),), decode=Decode(max_tokens=LONGEST_REPLY)),)


def by_completion(item: Item, _: Sequence[Item]) -> tuple[Complete, ...]:
    """The prompt as raw text, for a model without a chat template."""
    return (Complete(_prompt(item), Decode(max_tokens=LONGEST_REPLY)),)


def _prompt(item: Item) -> str:
    assert isinstance(item.input, Question)  # noqa: S101  to_items makes nothing else
    return item.input.text


CARD = Card(
    title="IFEval",
    measures="following instructions about the form of a reply that a program can check, given in English",
    blind_spots=(
        "Whether the reply is any good is not looked at: nonsense of the right form earns everything.",
        "The instructions were put together from 25 kinds, and some prompts are odd for it.",
        (
            "The checks are crude: a bold part can count as two highlights, a bare number as JSON, and the language of a "
            "short or coded text is guessed."
        ),
        "Reasoning that is not taken out before breaks almost every check.",
        "Public since November 2023, and its kinds of instructions are common in post-training; saturated near the top.",
    ),
    style="quiz",
    canonical_source="google/IFEval on the Hugging Face hub, 541 prompts with 834 instructions (originally google-research); dated by arXiv:2311.07911",
    canonical_protocol=(
        "The prompt as one user turn, no examples, greedy, 1,280 new tokens as in lm-evaluation-harness. Strict: the reply as "
        "it stands. Loose: any of eight forms, without asterisks and without the first or last line; another form may "
        "serve each instruction. By prompt all instructions must be followed; by instruction each counts once. Language is "
        "detected with langdetect at seed 0, sentences are split by Punkt. Headline: strict by prompt."
    ),
    licence="Apache-2.0",
    released="2023-11-14",
    chance=0.0,
    saturated_at=0.9,
    errata=(
        (
            "Items 1122 and 1129 ask for a frequency of # and !. The reference replaces them by random letters, so its score "
            "varies by two items; here the sign is counted. The slice `reference` holds them apart."
        ),
        "The reference's language detection is unseeded: its verdict on a short text may change from run to run.",
        "Of the copies in circulation one asks for 1 placeholder in item 2785, where the original asks for 3.",
    ),
)

BENCHMARK = Benchmark(
    name="ifeval",
    task=Task(
        sources={
            "test": Hub("google/IFEval", "966cd89545d6b6acfd7638bc708b98261ca58e84", ("ifeval_input_data.jsonl",))
        },
        to_items=to_items,
        version=1,
    ),
    asking=Prompting(
        name="the prompt as one user turn", version=1, requests=by_chat, needs=frozenset({"chat"}), text="{{prompt}}"
    ),
    scoring=Scoring(
        markings=(
            Marking("prompt_strict", ENTIRE_TEXT, PROMPT_STRICT),
            Marking("instruction_strict", ENTIRE_TEXT, INSTRUCTION_STRICT),
            Marking("prompt_loose", ENTIRE_TEXT, PROMPT_LOOSE),
            Marking("instruction_loose", ENTIRE_TEXT, INSTRUCTION_LOOSE),
        ),
        score_truncated=True,  # the canonical limit is part of the task: a reply cut off there is checked as it is
        score_refused=True,
    ),
    aggregation=Aggregation(
        metrics={
            "prompt_strict": ACCURACY,
            "instruction_strict": RATE,
            "prompt_loose": ACCURACY,
            "instruction_loose": RATE,
        },
        groups=("constraints", "reference"),
    ),
    card=CARD,
    gold_answer=lambda item: Answer(obedient(constraints_of(item.gold))),
    wrong_answer=lambda item: Answer(unruly(constraints_of(item.gold))),
)

VARIANTS: dict[str, Benchmark] = {
    "raw": replace(
        BENCHMARK,
        name="ifeval:raw",
        asking=Prompting(
            name="the prompt as raw text",
            version=1,
            requests=by_completion,
            needs=frozenset({"complete"}),
            text="{{prompt}}",
        ),
    ),
    "errata": with_errata(replace(BENCHMARK, name="ifeval:errata"), ERRATA),
    "kinds": replace(
        BENCHMARK,
        name="ifeval:kinds",
        scoring=replace(
            BENCHMARK.scoring,
            markings=tuple(Marking(kind, ENTIRE_TEXT, scorer) for kind, scorer in BY_KIND.items()),
        ),
        aggregation=Aggregation(metrics=dict.fromkeys(BY_KIND, RATE)),
    ),
}
