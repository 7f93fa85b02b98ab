"""A private evaluation: a data file, mapped by column names, becomes a benchmark like any other."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from measurand.asking.chat import lay_out
from measurand.asking.templates import fill, names
from measurand.core.benchmark import Ability, Aggregation, Benchmark, Card, Prompting, Scoring, Subset, Task
from measurand.core.errors import DataError, InputError
from measurand.core.item import Conversation, Item, ItemInput, Question, Row
from measurand.core.message import Image, Message, Part, Text, system, user
from measurand.core.record import Json
from measurand.core.request import Decode, Generate, Request
from measurand.core.source import File
from measurand.data import check_rows
from measurand.stats.metrics import ACCURACY
from measurand.study.private_scoring import SCORED_AS, private_markings
from measurand.study.private_text import PERPLEXITY, TEXT_SCORING, documents, text_aggregation, text_asking
from measurand.study.records import PrivateSet

Rows = Sequence[Mapping[str, Json]]

BY_COLUMN = "column:"
Made = Literal["real", "synthetic", "unstated"]
MADE: Mapping[str, Made] = {"real": "real", "synthetic": "synthetic", "unstated": "unstated"}
LETTER = "Answer with the letter of the right option."
"""Our own words for a multiple choice whose template does not lay its options out itself."""


def private_benchmark(spec: PrivateSet) -> Benchmark:
    """Make a benchmark of a private set. Raises InputError for a spec that cannot be carried out."""
    reads = spec.scoring == PERPLEXITY
    if not reads and bool(spec.question) == bool(spec.conversation):
        raise InputError("a private set needs either a question column or a conversation column")
    name = spec.name or Path(spec.file).name.partition(".")[0]
    subset = Subset(spec.subset_size, spec.seed, spec.stratify) if spec.subset_size is not None else None
    return Benchmark(
        name=name,
        task=Task(
            sources={"test": File(spec.file)},
            to_items=partial(_texts if reads else _to_items, spec),
            version=1,
            subset=subset,
            local_only=spec.local_only,
        ),
        asking=text_asking(spec) if reads else _asking(spec),
        scoring=TEXT_SCORING if reads else Scoring(private_markings(spec)),
        aggregation=text_aggregation(spec) if reads else Aggregation({"score": ACCURACY}, groups=spec.slices),
        card=_card(name, spec),
        recipe=msgspec.to_builtins(spec),
    )


def _asking(spec: PrivateSet) -> Prompting:
    needs: frozenset[Ability] = frozenset({"chat"})
    return Prompting(
        name="private",
        version=1,
        requests=partial(_requests, spec),
        needs=needs,
        text=_as_read(spec),
        samples=spec.samples,
    )


def _texts(spec: PrivateSet, _name: str, rows: Rows) -> list[Item]:
    return documents(spec, rows)


def _card(name: str, spec: PrivateSet) -> Card:
    return Card(
        title=name,
        measures=f"the items of {Path(spec.file).name}",
        blind_spots=("everything that these items do not ask",),
        style="ask",
        canonical_source=Path(spec.file).name,
        canonical_protocol="as this run declares it",
        licence="private",
    )


def _as_read(spec: PrivateSet) -> str:
    """The template as a person reads it: part of the protocol."""
    return "\n".join(part for part in (spec.system, spec.prompt or "{{question}}") if part)


def _requests(spec: PrivateSet, item: Item, _shots: Sequence[Item]) -> tuple[Request, ...]:
    opening = (system(spec.system),) if spec.system else ()
    if isinstance(item.input, Conversation):
        messages = opening + item.input.messages
    elif isinstance(item.input, Question):
        messages = (*opening, user(_laid_out(spec, item.input)))
    else:
        raise InputError(f"item {item.id} is neither a question nor a conversation")
    return (Generate(messages, decode=Decode(temperature=spec.temperature, max_tokens=spec.max_tokens)),)


def _laid_out(spec: PrivateSet, question: Question) -> str:
    if not question.options or "options" in names(spec.prompt):
        return question.text
    return f"{question.text}\n\n{lay_out(question.options)}\n\n{LETTER}"


def _to_items(spec: PrivateSet, _name: str, rows: Rows) -> list[Item]:
    _check_columns(spec, rows)
    gold = spec.answer if not spec.rubric else ""
    check_rows(rows, id=spec.id, gold=gold)
    chosen = [(number, row) for number, row in enumerate(rows) if spec.options and _options(spec, row, number)]
    unwinnable = check_rows(
        [
            {**row, spec.options: list(_options(spec, row, number)), spec.answer: _gold(row[spec.answer])}
            for number, row in chosen
        ],
        id="",
        gold=spec.answer,
        options=spec.options,
    )
    if unwinnable:
        number = chosen[unwinnable[0].row][0]
        raise DataError(f"{spec.file}, row {number + 1}: {unwinnable[0].why}; nobody could answer it")
    source = Path(spec.file).name
    return [_item(spec, source, number, row) for number, row in enumerate(rows)]


def _check_columns(spec: PrivateSet, rows: Rows) -> None:
    present = {column for row in rows for column in row}
    named = [spec.question, spec.conversation, spec.answer, spec.options, spec.rubric, spec.id, spec.cluster]
    named += [spec.language, *spec.slices, *_columns(spec)]
    for column in named:
        if column and column not in present:
            raise InputError(f"{spec.file} has no column '{column}'; it has {', '.join(sorted(present))}")
    if not spec.answer and not spec.rubric and not spec.scoring.startswith("python:"):
        raise InputError(f"{spec.file}: name the column with the right answers (answer), or a rubric")


def _columns(spec: PrivateSet) -> list[str]:
    return [value.removeprefix(BY_COLUMN) for value in (spec.scoring, spec.made) if value.startswith(BY_COLUMN)]


def _item(spec: PrivateSet, source: str, number: int, row: Mapping[str, Json]) -> Item:
    slices = {name: str(row[name]) for name in spec.slices if row.get(name) not in (None, "")}
    if spec.scoring.startswith(BY_COLUMN):
        slices[SCORED_AS] = str(row.get(spec.scoring.removeprefix(BY_COLUMN), ""))
    return Item(
        id=str(row[spec.id]) if spec.id else str(number + 1),
        input=_input(spec, number, row),
        gold=_gold(row.get(spec.rubric or spec.answer)),
        slices=slices,
        cluster=str(row.get(spec.cluster, "")) if spec.cluster else "",
        language=str(row.get(spec.language) or "") if spec.language else "",
        origin=Row(source, number, _made(spec, row)),
    )


def _made(spec: PrivateSet, row: Mapping[str, Json]) -> Made:
    made = row.get(spec.made.removeprefix(BY_COLUMN)) if spec.made.startswith(BY_COLUMN) else spec.made
    if isinstance(made, bool):
        return "synthetic" if made else "real"
    if str(made) not in MADE:
        raise InputError(f"{spec.file}: made is '{made}'; it is {', '.join(MADE)}")
    return MADE[str(made)]


def _input(spec: PrivateSet, number: int, row: Mapping[str, Json]) -> ItemInput:
    if spec.conversation:
        return Conversation(_messages(spec, number, row[spec.conversation]))
    options = _options(spec, row, number)
    question = row.get(spec.question)
    if not isinstance(question, str) or not question.strip():
        raise DataError(f"{spec.file}, row {number + 1}: the column '{spec.question}' holds no question")
    fields = {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for name, value in row.items()
    }
    fields |= {"question": question, "options": lay_out(options) if options else ""}
    return Question(fill(spec.prompt, fields) if spec.prompt else question, options)


def _options(spec: PrivateSet, row: Mapping[str, Json], number: int) -> tuple[str, ...]:
    """The options of a row: a list, or in a text file a JSON list or parts between bars."""
    value = row.get(spec.options) if spec.options else None
    if value in (None, "", []):
        return ()
    if isinstance(value, str):
        value = _parsed(value) if value.lstrip().startswith("[") else [part.strip() for part in value.split("|")]
    if not isinstance(value, list) or len(value) < 2:  # noqa: PLR2004 - a choice needs two
        raise DataError(f"{spec.file}, row {number + 1}: '{spec.options}' is no list of at least two options")
    return tuple(str(option) for option in value)


def _gold(value: Json) -> Json:
    """A gold as given; in a text file, a JSON list or object stands for itself."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        return _parsed(value)
    return value


def _parsed(text: str) -> Json:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _messages(spec: PrivateSet, number: int, value: Json) -> tuple[Message, ...]:
    if isinstance(value, str):
        value = _parsed(value)
    try:
        messages = tuple(Message(one["role"], _parts(one["content"])) for one in value)
        return msgspec.convert(msgspec.to_builtins(messages), tuple[Message, ...])
    except (KeyError, TypeError, ValueError) as error:
        message = f"{spec.file}, row {number + 1}: '{spec.conversation}' is no list of messages with role and content"
        raise DataError(message) from error


def _parts(content: Json) -> tuple[Part, ...]:
    """The parts of a message's content: a text, or a list of texts and images as data URLs."""
    if isinstance(content, str):
        return (Text(content),)
    return tuple(
        _image(part["image_url"]["url"]) if part["type"] == "image_url" else Text(part["text"]) for part in content
    )


def _image(url: str) -> Image:
    head, comma, data = url.partition(",")
    if not comma or not head.startswith("data:") or not head.endswith(";base64"):
        raise ValueError("an image must be a data URL")
    return Image(head.removeprefix("data:").removesuffix(";base64"), data)
