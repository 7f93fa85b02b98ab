"""PubMedQA: whether an abstract answers the question of its title with yes, no or maybe (Jin et al. 2019)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

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

VERDICTS = ("yes", "no", "maybe")

ASKED = "Abstract: {{abstract}}\nQuestion: {{question}}\nAnswer:"
"""As lm-evaluation-harness asks pubmedqa."""

CHAT = """\
Read this abstract, and answer the question from it. End with one line that holds only "Answer: " and one of yes, no and maybe.

{{abstract}}

{{question}}"""


def to_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """Rows of pubid, question, context (with its contexts) and final_decision."""
    items = []
    for number, row in enumerate(rows):
        question, decision, context = row.get("question"), row.get("final_decision"), row.get("context")
        parts = context.get("contexts") if isinstance(context, dict) else None
        if not isinstance(question, str) or decision not in VERDICTS or not isinstance(parts, list) or not parts:
            message = (
                f"pubmedqa: row {number + 1} of {source} lacks `question`, `context` or a `final_decision` of yes, no or "
                "maybe; give the config pqa_labeled"
            )
            raise DataError(message)
        abstract = "\n".join(map(str, parts))
        items.append(
            Item(
                id=f"pubmedqa/{row.get('pubid', number)}",
                input=Question(f"{abstract}\n\n{question}", VERDICTS),
                gold=VERDICTS.index(decision),
                slices={"decision": str(decision)},
                language="en",
                origin=Row(f"pubmedqa/{source}", number, made="real"),
            )
        )
    return items


def _fields(item: Item) -> dict[str, str]:
    assert isinstance(item.input, Question)  # noqa: S101  to_items makes nothing else
    abstract, _, question = item.input.text.rpartition("\n\n")
    return {"abstract": abstract, "question": question}


def by_word(item: Item, _: Sequence[Item]) -> tuple[Loglikelihood, ...]:
    """The abstract and the question, and the log-probability of each word with the space before it."""
    return (Loglikelihood(fill(ASKED, _fields(item)), tuple(f" {word}" for word in VERDICTS)),)


def by_chat(item: Item, _: Sequence[Item]) -> tuple[Generate, ...]:
    """One user turn with the abstract and the question."""
    return (Generate((user(fill(CHAT, _fields(item))),), decode=Decode(max_tokens=1024)),)


CARD = Card(
    title="PubMedQA",
    measures="telling from the abstract of a medical paper whether it answers the question of its title with yes, no or maybe, in English",
    blind_spots=(
        "More than half of the answers are yes, so always saying yes beats chance by far.",
        "One reader in five disagrees with the label, most about maybe.",
        "The conclusion is cut from the abstract; nothing shows that it was understood rather than its tone.",
        "The abstracts are public and in most training sets, conclusions included.",
    ),
    style="quiz",
    canonical_source="qiaojin/PubMedQA on the Hugging Face hub, config pqa_labeled, 1,000 questions; dated by arXiv:1909.06146, which also gives the level of people, a single annotator",
    canonical_protocol=(
        "All 1,000 labelled questions; the authors' test set, and lm-evaluation-harness's, is 500 of them, so those numbers "
        "are near and not equal. Words by log-probability; :chat asks for a last line. One of MedHELM's "
        "public scenarios, which asks otherwise."
    ),
    licence="MIT",
    released="2019-09-13",
    chance=1 / 3,
    human=0.78,
)

BENCHMARK = Benchmark(
    name="pubmedqa",
    task=Task(
        sources={
            "test": Hub(
                "qiaojin/PubMedQA", "9001f2853fb87cab8d220904e0de81ac6973b318", ("pqa_labeled/train-*.parquet",)
            )
        },
        to_items=to_items,
        version=1,
    ),
    asking=Prompting(
        name="words by log-probability",
        version=1,
        requests=by_word,
        needs=frozenset({"loglikelihood"}),
        text=ASKED,
    ),
    scoring=Scoring(markings=(Marking("accuracy", ARGMAX, CHOICE_SCORE),)),
    aggregation=Aggregation(metrics={"accuracy": ACCURACY}, macro=("decision",), groups=("decision",)),
    card=CARD,
    gold_answer=lambda item: Answer(values=tuple(float(place == item.gold) for place in range(len(VERDICTS)))),
)

_SCORE = choice_scorer(VERDICTS)

VARIANTS: dict[str, Benchmark] = {
    "chat": replace(
        BENCHMARK,
        name="pubmedqa:chat",
        asking=Prompting(
            name="zero-shot chat",
            version=1,
            requests=by_chat,
            needs=frozenset({"chat"}),
            text=CHAT,
        ),
        scoring=Scoring(
            markings=(
                Marking("accuracy", choice(VERDICTS), _SCORE),
                Marking("strict", ANSWER_LINE_STRICT, _SCORE),
            ),
            score_truncated=False,  # the word comes last, so a reply cut short has not given it
            score_refused=True,
        ),
        aggregation=Aggregation(
            metrics={"accuracy": ACCURACY, "strict": ACCURACY}, macro=("decision",), groups=("decision",)
        ),
        gold_answer=lambda item: Answer(f"Answer: {VERDICTS[item.gold]}"),
    ),
}
