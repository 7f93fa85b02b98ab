"""MMLU: multiple choice over 57 subjects (Hendrycks et al. 2021), asked by the letter of the next token."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import msgspec

from measurand.asking import fill, labels, lay_out
from measurand.asking.orders import Order, cyclic, every, in_own_order
from measurand.core.benchmark import Aggregation, Benchmark, Card, Marking, Prompting, Scorer, Scoring, Shots, Task
from measurand.core.call import Reply
from measurand.core.errors import DataError
from measurand.core.item import Item, Question, Row
from measurand.core.message import user
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.request import Decode, Generate, Loglikelihood
from measurand.core.source import Hub
from measurand.scoring.choosing import CHOICE_SCORE
from measurand.scoring.errata import graded_by
from measurand.scoring.letters import ARGMAX, CHOICE, CHOICE_STRICT
from measurand.scoring.official import SIMPLE_EVALS_LETTER
from measurand.scoring.options import (
    ACCURACY_OVER_ORDERS,
    ARGMAX_BYTES,
    ARGMAX_CHARACTERS,
    ARGMAX_PMI,
    ARGMAX_TOKENS,
    BY_ORDER,
    CONFIDENCE,
    OPTION_SHARES,
    SAME_IN_ALL_ORDERS,
)
from measurand.stats.metrics import ACCURACY, BRIER, RMS_CALIBRATION_ERROR

# The official map (hendrycks/test, categories.py): category, subcategory, subjects.
CATEGORIES: dict[str, dict[str, str]] = {
    "STEM": {
        "physics": "astronomy college_physics conceptual_physics high_school_physics",
        "chemistry": "college_chemistry high_school_chemistry",
        "biology": "college_biology high_school_biology",
        "computer science": "college_computer_science computer_security high_school_computer_science machine_learning",
        "math": "abstract_algebra college_mathematics elementary_mathematics high_school_mathematics high_school_statistics",
        "engineering": "electrical_engineering",
    },
    "humanities": {
        "history": "high_school_european_history high_school_us_history high_school_world_history prehistory",
        "philosophy": "formal_logic logical_fallacies moral_disputes moral_scenarios philosophy world_religions",
        "law": "international_law jurisprudence professional_law",
    },
    "social sciences": {
        "politics": "high_school_government_and_politics public_relations security_studies us_foreign_policy",
        "culture": "human_sexuality sociology",
        "economics": "econometrics high_school_macroeconomics high_school_microeconomics",
        "geography": "high_school_geography",
        "psychology": "high_school_psychology professional_psychology",
    },
    "other (business, health, misc.)": {
        "other": "global_facts miscellaneous professional_accounting",
        "business": "business_ethics management marketing",
        "health": "anatomy clinical_knowledge college_medicine human_aging medical_genetics nutrition "
        "professional_medicine virology",
    },
}
GROUPS: dict[str, tuple[str, str]] = {
    subject: (subcategory, category)
    for category, parts in CATEGORIES.items()
    for subcategory, subjects in parts.items()
    for subject in subjects.split()
}

# Beside the pooled number, which is the official code's: the mean over subjects is HELM's; the nested one counts the 4
# categories the same, in each its subcategories (17 in all), and in each of these its subjects (57 in all).
MACRO = ("subject", "category>subcategory>subject")

# The official code puts a space before every word of a subject, so there are two after "about".
HEAD = "The following are multiple choice questions (with answers) about  {{subject}}.\n\n"
ASKED = "{{question}}\n{{options}}\nAnswer:"
ANSWERED = ASKED + " {{letter}}\n\n"

GENERATE = """\
Here is a multiple choice question about {{subject}}. Think it through in a few sentences if that helps. Then end with one line that holds only "Answer: " and the letter of the best option.

{{question}}

{{options}}"""

# The template of simple-evals (common.py), word for word: what most published numbers of chat models were asked by.
COT = """\
Answer the following multiple choice question. The last line of your response should be of the following format: 'Answer: $LETTER' (without quotes) where LETTER is one of {{letters}}. Think step by step before answering.

{{question}}

{{options}}"""

TEXT_ASKED = "Question: {{question}}\nAnswer:"
TEXT_ANSWERED = TEXT_ASKED + " {{right}}\n\n"
PREMISE = "Answer:"

_LETTERS = "ABCD"
CYCLIC, EVERY = cyclic(len(_LETTERS)), every(len(_LETTERS))
_LABEL = re.compile(r"\b[A-D0-3]\b")
_ENDING = re.compile(r"_(?:test|dev|val|validation)\Z")


def to_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """Rows of the hub (question, subject, choices, answer 0-3), or of CSV files that are named by their subject.

    Such files are those of the original archive (no header, letters) or have question, choice0 to choice3, answer
    0-3. Ids count within a subject, so they are the same whichever form was read.
    """
    items = []
    counts: Counter[str] = Counter()
    for number, row in enumerate(rows, 1):
        subject, texts, answer = _parts(row, f"row {number} of {source}")
        place = counts[subject]
        counts[subject] += 1
        subcategory, category = GROUPS[subject]
        items.append(
            Item(
                id=f"mmlu/{source}/{subject}/{place}",
                input=Question(texts[0], texts[1:]),
                gold=_LETTERS[answer],
                slices={"subject": subject, "subcategory": subcategory, "category": category},
                language="en",
                origin=Row(f"mmlu/{source}/{subject}", place, made="real"),
            )
        )
    return items


def _parts(row: Mapping[str, Json], where: str) -> tuple[str, tuple[str, ...], int]:
    """The subject, the question with its four options, and the index of the right one."""
    if "choices" in row:
        subject, choices = row.get("subject"), row["choices"]
        texts = [row.get("question"), *(choices if isinstance(choices, list) else [])]
        answer = row.get("answer")
    else:
        names = ("0", "1", "2", "3", "4") if "5" in row else ("question", "choice0", "choice1", "choice2", "choice3")
        subject = _ENDING.sub("", str(row.get("__file__", "")))
        texts = [row.get(name) for name in names]
        answer = row.get("5" if "5" in row else "answer")
    if subject not in GROUPS:
        message = f"mmlu: {where} has the subject {subject!r}, which is none of the 57; name the file or column by one"
        raise DataError(message)
    written = str(answer).strip()
    index = _LETTERS.find(written) if len(written) == 1 and written in _LETTERS else "0123".find(written or "-")
    if len(texts) != 1 + len(_LETTERS) or not all(isinstance(text, str) for text in texts) or index < 0:
        message = f"mmlu: {where} is no question with four options and an answer of A-D or 0-3; mend its columns"
        raise DataError(message)
    return subject, tuple(texts), index


def by_letter(item: Item, exemplars: Sequence[Item]) -> tuple[Loglikelihood, ...]:
    """The official prompt, and the log-probability of each letter with the space before it."""
    shots = "".join(fill(ANSWERED, _fields(shot)) for shot in exemplars)
    context = fill(HEAD, _fields(item)) + shots + fill(ASKED, _fields(item))
    return (Loglikelihood(context, tuple(f" {letter}" for letter in labels(len(_LETTERS)))),)


def by_text(item: Item, exemplars: Sequence[Item]) -> tuple[Loglikelihood, ...]:
    """The question without its options, and the log-probability of each option's text."""
    shots = "".join(fill(TEXT_ANSWERED, _fields(shot)) for shot in exemplars)
    return (Loglikelihood(fill(HEAD, _fields(item)) + shots + fill(TEXT_ASKED, _fields(item)), _texts(item)),)


def by_text_and_alone(item: Item, exemplars: Sequence[Item]) -> tuple[Loglikelihood, ...]:
    """As `by_text`, and then the same texts after a premise that asks nothing."""
    return (*by_text(item, exemplars), Loglikelihood(PREMISE, _texts(item)))


def in_orders(orders: Sequence[Order]) -> Callable[[Item, Sequence[Item]], tuple[Loglikelihood, ...]]:
    """The official prompt once for each order of the item's options."""

    def requests(item: Item, exemplars: Sequence[Item]) -> tuple[Loglikelihood, ...]:
        assert isinstance(item.input, Question)  # noqa: S101  to_items makes nothing else
        options = item.input.options
        shown = [Question(item.input.text, tuple(options[place] for place in order)) for order in orders]
        return tuple(by_letter(msgspec.structs.replace(item, input=asked), exemplars)[0] for asked in shown)

    return requests


def _texts(item: Item) -> tuple[str, ...]:
    return tuple(f" {option}" for option in item.input.options) if isinstance(item.input, Question) else ()


def _joined(_: Item, replies: Sequence[Reply]) -> Answer:
    """The values of all replies, one after the other."""
    return Answer(values=tuple(value for reply in replies for value in reply.values))


def by_generation(item: Item, _: Sequence[Item]) -> tuple[Generate, ...]:
    """One user turn, no exemplars, any reasoning before the letter."""
    return (Generate((user(fill(GENERATE, _fields(item))),), decode=Decode(max_tokens=2048)),)


def by_thinking(item: Item, _: Sequence[Item]) -> tuple[Generate, ...]:
    """One user turn that asks for reasoning and a last line "Answer: X"."""
    assert isinstance(item.input, Question)  # noqa: S101  to_items makes nothing else
    options = item.input.options
    shown = {"letters": "".join(labels(len(options))), "question": item.input.text, "options": lay_out(options, "A)")}
    return (Generate((user(fill(COT, shown)),), decode=Decode(max_tokens=4096)),)


THINKING = Prompting("zero-shot chat, chain of thought", 1, by_thinking, frozenset({"chat"}), COT)
"""Asking any question with lettered options by simple-evals' template."""


def letter_scoring(scorer: Scorer = CHOICE_SCORE) -> Scoring:
    """A letter in a reply, read leniently, strictly, and as simple-evals does."""
    readers = {"accuracy": CHOICE, "strict": CHOICE_STRICT, "simple_evals": SIMPLE_EVALS_LETTER}
    return Scoring(
        markings=tuple(Marking(metric, reader, scorer) for metric, reader in readers.items()),
        score_truncated=False,  # the letter comes last, so a reply cut short has not given it
        score_refused=True,
    )


READ_LETTER = letter_scoring()
LETTER_METRICS = {"accuracy": ACCURACY, "strict": ACCURACY, "simple_evals": ACCURACY}


def translated(
    row: Mapping[str, Json], texts: Sequence[str], answer: str, subject: str
) -> tuple[Question, str, dict[str, str]] | None:
    """One question of MMLU in another language, for the sets that hold such: the question, its letter and its slices.

    `texts` names the columns of the question and its four options, `answer` and `subject` theirs. None where the row
    has no such question.
    """
    found, right, of = [row.get(name) for name in texts], row.get(answer), row.get(subject)
    if of not in GROUPS or right not in tuple(_LETTERS) or not all(isinstance(text, str) for text in found):
        return None
    question = Question(str(found[0]), tuple(map(str, found[1:])))
    return question, str(right), {"subject": str(of), "category": GROUPS[str(of)][1]}


def to_redux_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """Rows of MMLU-Redux: the questions of a subject's folder, each with its error type and corrected label.

    The gold holds both labels: `original`, and `corrected`, which is a list where several are right and None where
    none is, or where the question itself is faulty.
    """
    if source != "test":
        return to_items(source, rows)
    named = [{**row, "subject": row.get("subject") or row.get("__folder__")} for row in rows]
    return [
        msgspec.structs.replace(
            item,
            gold={"original": item.gold, "corrected": _corrected(item, row)},
            slices={**item.slices, "error_type": str(row.get("error_type"))},
        )
        for item, row in zip(to_items(source, named), named, strict=True)
    ]


def _corrected(item: Item, row: Mapping[str, Json]) -> Json:
    kind, stated = row.get("error_type"), str(row.get("correct_answer") or "").strip()
    if kind == "ok":
        return item.gold
    if kind not in {"wrong_groundtruth", "multiple_correct_answers"}:
        return None
    assert isinstance(item.input, Question)  # noqa: S101  to_items makes nothing else
    if stated in item.input.options:
        return _LETTERS[item.input.options.index(stated)]
    found = [_LETTERS["0123".find(one)] if one in "0123" else one for one in _LABEL.findall(stated)]
    return found if len(found) > 1 else found[0] if found else None


def _fields(item: Item) -> dict[str, str]:
    assert isinstance(item.input, Question)  # noqa: S101  to_items makes nothing else
    letter = str(item.gold["original"] if isinstance(item.gold, dict) else item.gold)
    return {
        "subject": item.slices["subject"].replace("_", " "),
        "question": item.input.text,
        "options": lay_out(item.input.options),
        "letter": letter,
        "right": item.input.options[_LETTERS.index(letter)],
    }


CARD = Card(
    title="MMLU",
    measures="knowledge and understanding that four-way multiple choice questions of 57 school, university and professional subjects ask for, in English",
    blind_spots=(
        "A choice among four is easier than an answer: one item in four is right by chance.",
        "Much of law, history and government is that of the United States.",
        "The questions were collected from freely available sources and have been public since 2020; training on them is common.",
        "Scoring by letters, by whole answers and by generated text give different numbers; they are different protocols.",
        "Subjects hold between 100 and 1,534 questions, so the pooled number and the mean over subjects differ; both are shown.",
    ),
    style="quiz",
    canonical_source="cais/mmlu on the Hugging Face hub, config all, 14,042 test questions (originally hendrycks/test); dated by arXiv:2009.03300, whose estimate for experts is the level of people",
    canonical_protocol=(
        'Five exemplars: the first five dev rows of the same subject, in order. Raw text, the letters " A" to " D" '
        'after "Answer:" compared by log-probability. The official code drops exemplars, one at a time, until the '
        "prompt holds 2,048 tokens; here none is dropped, and what does not fit a subject's window is not asked. "
        "Headline: all questions pooled, as in the official code; the mean over subjects is HELM's. anatomy counts as "
        "health, under other; lm-evaluation-harness has it under STEM, which moves two category means."
    ),
    licence="MIT",
    released="2020-09-07",
    chance=0.25,
    human=0.898,
    saturated_at=0.9,
    errata=(
        "Of 5,700 questions that were checked again, 6.49 in a hundred were found faulty (MMLU-Redux), so differences above 0.9 say little.",
    ),
)

_HUB, _PIN = "cais/mmlu", "c30699e8356da336a370243923dbaf21066bb9fe"

BENCHMARK = Benchmark(
    name="mmlu",
    task=Task(
        sources={
            "test": Hub(_HUB, _PIN, ("all/test-*.parquet",)),
            "dev": Hub(_HUB, _PIN, ("all/dev-*.parquet",)),
        },
        to_items=to_items,
        version=1,
    ),
    asking=Prompting(
        name="letters by log-probability, 5 shots",
        version=1,
        requests=by_letter,
        needs=frozenset({"loglikelihood"}),
        text=HEAD + ANSWERED + ASKED,
        shots=Shots(5, "dev", same="subject"),
    ),
    scoring=Scoring(markings=(Marking("accuracy", ARGMAX, CHOICE_SCORE),)),
    aggregation=Aggregation(metrics={"accuracy": ACCURACY}, macro=MACRO, groups=("category",)),
    card=CARD,
    gold_answer=lambda item: Answer(values=tuple(float(letter == item.gold) for letter in _LETTERS)),
)

_BY_TEXT = {
    "accuracy": ARGMAX,
    "accuracy_per_byte": ARGMAX_BYTES,
    "accuracy_per_character": ARGMAX_CHARACTERS,
    "accuracy_per_token": ARGMAX_TOKENS,
}


def _reordered(name: str, orders: Sequence[Order], words: str) -> Benchmark:
    """The letters asked in several orders of the options: how often they are right, and whether the choice stays."""
    scorers = {"accuracy": ACCURACY_OVER_ORDERS, "same_choice": SAME_IN_ALL_ORDERS}
    asking = BENCHMARK.asking
    assert isinstance(asking, Prompting)  # noqa: S101  it is one, above
    return replace(
        BENCHMARK,
        name=f"mmlu:{name}",
        asking=replace(
            asking,
            name=f"letters by log-probability, 5 shots, {words} of the options",
            requests=in_orders(orders),
            answer=lambda _, replies: Answer(values=in_own_order([reply.values for reply in replies], orders)),
        ),
        scoring=Scoring(tuple(Marking(metric, BY_ORDER, scorer) for metric, scorer in scorers.items())),
        aggregation=Aggregation(dict.fromkeys(scorers, ACCURACY), macro=MACRO, groups=("category",)),
        gold_answer=lambda item: Answer(values=_gold_values(item) * len(orders)),
    )


def _gold_values(item: Item) -> tuple[float, ...]:
    return tuple(float(letter == item.gold) for letter in _LETTERS)


VARIANTS: dict[str, Benchmark] = {
    "text": replace(
        BENCHMARK,
        name="mmlu:text",
        asking=Prompting(
            name="options' texts by log-probability, 5 shots",
            version=1,
            requests=by_text,
            needs=frozenset({"loglikelihood"}),
            text=HEAD + TEXT_ANSWERED + TEXT_ASKED,
            shots=Shots(5, "dev", same="subject"),
        ),
        scoring=Scoring(tuple(Marking(metric, reader, CHOICE_SCORE) for metric, reader in _BY_TEXT.items())),
        aggregation=Aggregation(dict.fromkeys(_BY_TEXT, ACCURACY), macro=MACRO, groups=("category",)),
        gold_answer=lambda item: Answer(values=_gold_values(item), counts=(1,) * len(_LETTERS)),
    ),
    "pmi": replace(
        BENCHMARK,
        name="mmlu:pmi",
        asking=Prompting(
            name="options' texts by what the question adds to their log-probability, 5 shots",
            version=1,
            requests=by_text_and_alone,
            needs=frozenset({"loglikelihood"}),
            text=HEAD + TEXT_ANSWERED + TEXT_ASKED + "\n\n" + PREMISE,
            shots=Shots(5, "dev", same="subject"),
            answer=_joined,
        ),
        scoring=Scoring((Marking("accuracy", ARGMAX_PMI, CHOICE_SCORE),)),
        gold_answer=lambda item: Answer(values=_gold_values(item) + (0.0,) * len(_LETTERS)),
    ),
    "cyclic": _reordered("cyclic", CYCLIC, "the 4 cyclic orders"),
    "orders": _reordered("orders", EVERY, "all 24 orders"),
    "confidence": replace(
        BENCHMARK,
        name="mmlu:confidence",
        scoring=Scoring(
            markings=(
                Marking("accuracy", ARGMAX, CHOICE_SCORE),
                *(Marking(metric, OPTION_SHARES, CONFIDENCE) for metric in ("brier", "rms_calibration_error")),
            )
        ),
        aggregation=Aggregation(
            {"accuracy": ACCURACY, "brier": BRIER, "rms_calibration_error": RMS_CALIBRATION_ERROR},
            groups=("category",),
        ),
    ),
    "generate": replace(
        BENCHMARK,
        name="mmlu:generate",
        task=replace(BENCHMARK.task, sources={"test": BENCHMARK.task.sources["test"]}),
        asking=Prompting(
            name="zero-shot chat, letter read",
            version=1,
            requests=by_generation,
            needs=frozenset({"chat"}),
            text=GENERATE,
        ),
        scoring=Scoring(
            markings=(
                Marking("accuracy", CHOICE, CHOICE_SCORE),
                Marking("strict", CHOICE_STRICT, CHOICE_SCORE),
            ),
            score_truncated=False,  # the letter comes last, so a reply cut short has not given it
            score_refused=True,
        ),
        gold_answer=lambda item: Answer(f"Answer: {item.gold}"),
        aggregation=Aggregation(metrics={"accuracy": ACCURACY, "strict": ACCURACY}, macro=MACRO, groups=("category",)),
    ),
    "cot": replace(
        BENCHMARK,
        name="mmlu:cot",
        task=replace(BENCHMARK.task, sources={"test": BENCHMARK.task.sources["test"]}),
        asking=THINKING,
        scoring=READ_LETTER,
        gold_answer=lambda item: Answer(f"Answer: {item.gold}"),
        aggregation=Aggregation(metrics=LETTER_METRICS, macro=MACRO, groups=("category",)),
    ),
}

REDUX_CARD = msgspec.structs.replace(
    CARD,
    title="MMLU-Redux",
    canonical_source="edinburgh-dawg/mmlu-redux-2.0 on the Hugging Face hub, 100 questions of each of the 57 subjects; dated by arXiv:2406.04127, whose first version had 30 of the subjects",
    canonical_protocol=(
        "MMLU's questions with the labels that its checkers gave them (Gema et al. 2024). Corrected counts an item by its "
        "corrected label, any of them where several are right, and leaves out items whose question or options are faulty; "
        "original counts the same replies by MMLU's own label. Some keep only the items that were found in order: the "
        "slice error_type shows them."
    ),
    licence="CC-BY-4.0",
    released="2024-06-06",
    errata=(
        "Where MMLU-Redux states a corrected answer that names no option, the item is left out of the corrected number.",
    ),
)


def redux(name: str, asked: Benchmark) -> Benchmark:
    """A way of asking MMLU, on MMLU-Redux and by both labels."""
    labels = {"accuracy": graded_by("corrected", CHOICE_SCORE), "original": graded_by("original", CHOICE_SCORE)}
    reader = asked.scoring.markings[0].reader
    return replace(
        asked,
        name=f"mmlu:{name}",
        task=Task(
            sources={
                "test": Hub(
                    "edinburgh-dawg/mmlu-redux-2.0", "372ea425445d51e1ba1188c56e5e893f8138621f", ("*/data-*.arrow",)
                ),
                **{part: source for part, source in asked.task.sources.items() if part != "test"},
            },
            to_items=to_redux_items,
            version=1,
        ),
        scoring=replace(
            asked.scoring, markings=tuple(Marking(metric, reader, scorer) for metric, scorer in labels.items())
        ),
        aggregation=Aggregation(
            metrics=dict.fromkeys(labels, ACCURACY), macro=MACRO, groups=("category", "error_type")
        ),
        card=REDUX_CARD,
        gold_answer=lambda item: _gold_answer(asked, item),
    )


def _gold_answer(asked: Benchmark, item: Item) -> Answer:
    """What is right by the original label, which every item has."""
    assert asked.gold_answer is not None  # noqa: S101  each way of asking MMLU has one
    return asked.gold_answer(msgspec.structs.replace(item, gold=item.gold["original"]))


VARIANTS["redux"] = redux("redux", BENCHMARK)
VARIANTS["redux_cot"] = redux("redux_cot", VARIANTS["cot"])
