"""A summary laid out for a page: which facts stand where, already in words. Computes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import msgspec
from markupsafe import Markup

from measurand.core.benchmark import Card
from measurand.core.estimate import Estimate
from measurand.core.identity import canonical_json, short
from measurand.core.protocol import PARTS
from measurand.core.record import Json, Record
from measurand.core.summary import Example, ReadingCount, Summary, View
from measurand.report.breakdown import TOGETHER, count, parts_by_group
from measurand.report.drawing import Scale, bar, scale_of, whisker
from measurand.report.wording import (
    FEW,
    NBSP,
    about,
    bounds,
    caveat,
    claim,
    headline,
    interval,
    level,
    number,
    protocol_id,
    reader_of,
    slices,
    tally_parts,
    view_name,
    who,
    wholes,
)

Fields = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table of numbers."""

    name: str
    detail: str
    value: str
    interval: str
    drawing: Markup
    items: str
    missing: str
    bounds: str
    protocol: str
    few: bool = False


@dataclass(frozen=True, slots=True)
class Lines:
    """A table of numbers. Where nothing is missing, the columns about it are left out."""

    first: str
    caption: str
    interval_name: str
    drawn: str
    missing: bool
    rows: list[Line]


@dataclass(frozen=True, slots=True)
class Part:
    """One outcome of the tally."""

    name: str
    count: int
    text: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the four choices, field by field."""

    name: str
    hash: str
    fields: Fields


@dataclass(frozen=True, slots=True)
class Section:
    """Everything the page says about one run, in the order it is said."""

    rank: int
    name: str
    benchmark: str
    claim: str
    caveat: str
    about: str
    protocol: str
    numbers: Lines
    notes: Sequence[str]
    planned: str
    bar: Markup
    parts: list[Part]
    reasons: Sequence[tuple[str, str]]
    gaps: list[str]
    card: Fields
    slices: list[Lines]
    other_slices: list[Lines]
    readings: Sequence[ReadingCount]
    choices: list[Choice]
    conditions: Fields
    examples: list[Example] = field(default_factory=list)
    left_out: int = 0


def section(summary: Summary, card: Card | None, rank: int) -> Section:
    """Lay out one run. `rank` is the level of its heading."""
    tally = summary.tally
    parts = list(tally_parts(tally))
    first = headline(summary)
    mine, others = list(_parts(summary)), []
    for name, values in slices(summary).items():
        views = [view for each in values.values() for view in each]
        head = [view for view in views if first and view.estimate.metric == first.metric]
        rest = [view for view in views if not first or view.estimate.metric != first.metric]
        mine.append(lines(summary, head, name, card))
        if rest:
            others.append(lines(summary, rest, name, None))
    return Section(
        rank=rank,
        name=f"{who(summary)} on {summary.run.benchmark}",
        benchmark=summary.run.benchmark,
        claim=claim(summary),
        caveat=caveat(summary),
        about=about(summary.run.claim),
        protocol=protocol_id(summary),
        numbers=mine.pop(0) if summary.breakdown else lines(summary, wholes(summary), "", card),
        notes=summary.notes,
        planned=f"{tally.planned:,}",
        bar=bar(parts),
        parts=[Part(name, count, f"{count:,}{NBSP}{name}") for name, count in parts],
        reasons=[(reason, f"{count:,}") for reason, count in tally.reasons.items()],
        gaps=list(_gaps(summary, card)),
        card=list(_card(card)) if card else [],
        slices=mine,
        other_slices=others,
        readings=summary.readings,
        choices=[_choice(summary, part) for part in PARTS],
        conditions=list(_conditions(summary)),
    )


def lines(summary: Summary, views: Sequence[View], first: str, card: Card | None) -> Lines:
    """A table of views of one run; `first` names the slice, or is empty for the numbers over all items."""
    estimates = [view.estimate for view in views]
    scales = {name: scale_of([e for e in estimates if e.metric == name]) for name in {e.metric for e in estimates}}
    head, chance = headline(summary), card.chance if card else None
    rows = [
        line(summary, view, scales[view.estimate.metric], chance if view.estimate.metric == head.metric else None)
        for view in views
        if head
    ]
    if first and len(scales) == 1:
        rows = [replace(row, detail="") for row in rows]
    caption = [f"By {first}." if first else "Each number with its interval."]
    caption.append(f"Made by: {'; '.join(dict.fromkeys(estimate.method for estimate in estimates))}.")
    if any(estimate.bounds for estimate in estimates):
        caption.append("The pale band is where a number could be, whatever the missing trials were.")
    if chance is not None:
        caption.append("The dashed line is chance.")
    drawn = drawn_on(list(scales.values()))
    return Lines(first, " ".join(caption), interval_name(estimates), drawn, any(e.n_missing for e in estimates), rows)


def line(summary: Summary, view: View, scale: Scale, reference: float | None = None) -> Line:
    """One view as a row, drawn on the scale of its table."""
    estimate = view.estimate
    return Line(
        name=view_name(view),
        detail=_metric(summary, estimate.metric),
        value=number(estimate),
        interval=interval(estimate),
        drawing=whisker(estimate, scale, {"reference": reference} if reference is not None else None),
        items=f"{estimate.n_items:,}",
        missing=f"{estimate.n_missing:,}",
        bounds=bounds(estimate),
        protocol=protocol_id(summary),
        few=view.view.startswith("slice:") and estimate.n_items < FEW,
    )


def _parts(summary: Summary) -> Iterator[Lines]:
    """The tables of a breakdown: over all items, then over each value of a slice."""
    for title, parts in parts_by_group(summary):
        drawn = [
            Line(
                name=part.name or TOGETHER,
                detail=f"{count(part.failed)} of {count(part.of)}",
                value=number(part.estimate),
                interval=interval(part.estimate),
                drawing=whisker(part.estimate, Scale(0.0, 1.0)),
                items=f"{part.estimate.n_items:,}",
                missing=f"{part.estimate.n_missing:,}",
                bounds=bounds(part.estimate),
                protocol=protocol_id(summary),
            )
            for part in parts
        ]
        caption = f"{title}. The share that failed, the worst first."
        missing = any(part.estimate.n_missing for part in parts)
        yield Lines(title, caption, interval_name([parts[0].estimate]), drawn_on([Scale(0.0, 1.0)]), missing, drawn)


def interval_name(estimates: Sequence[Estimate]) -> str:
    """The head of the column of intervals, with their level."""
    return f"{level(estimates[0])} interval" if estimates else "interval"


def drawn_on(scales: Sequence[Scale]) -> str:
    """The head of the column of drawings: the scale, where there is one for all and it is that of shares."""
    return f"from 0 to 100{NBSP}%" if scales and all(scale == Scale(0.0, 1.0) for scale in scales) else "drawn"


def _metric(summary: Summary, metric: str) -> str:
    reader = reader_of(summary, metric)
    return f"{metric}, read by {reader}" if reader else metric


def _gaps(summary: Summary, card: Card | None) -> Iterator[str]:
    """What a reader could take the number to say, and it does not."""
    if card is not None:
        yield from (f"Blind spot: {spot}" for spot in card.blind_spots)
        yield from (f"Known fault: {fault}" for fault in card.errata)
    else:
        yield f"There is no card for {summary.run.benchmark}: what it measures and what it misses is not written down."
    yield (
        "The interval is about the draw of items alone; another wording of the prompt, or another day of the endpoint, "
        "may move the number further."
    )
    made = {name: count for name, count in summary.made.items() if count}
    if made and set(made) != {"real"}:
        counts = ", ".join(f"{count:,} {_MADE.get(name, name)}" for name, count in made.items())
        yield f"How the items came about: {counts}."


_MADE = {"real": "met in life", "synthetic": "written for the purpose", "unstated": "unstated"}


def _card(card: Card) -> Iterator[tuple[str, str]]:
    style = {"quiz": "quiz: its questions have one right answer", "ask": "ask: what a user might really want"}
    yield "title", card.title
    yield "measures", card.measures
    yield "style", style[card.style]
    rates = (("chance", card.chance), ("people", card.human), ("saturated at", card.saturated_at))
    yield from ((name, f"{rate:.3g}") for name, rate in rates if rate is not None)
    for name in ("released", "licence", "canonical_source", "canonical_protocol"):
        if value := getattr(card, name):
            yield name.replace("_", " "), value
    yield "languages", ", ".join(card.languages)


def _choice(summary: Summary, part: str) -> Choice:
    """One of the four choices, with every field that is not at its default."""
    record: Record = getattr(summary.protocol, part)
    return Choice(part, short(summary.protocol.part_ids[part]), list(_fields("", msgspec.to_builtins(record))))


def _fields(path: str, value: Json) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _fields(f"{path}.{name}".removeprefix("."), inner)
    elif isinstance(value, list) and any(isinstance(inner, dict) for inner in value):
        for number_, inner in enumerate(value, 1):
            yield from _fields(f"{path} {number_}", inner)
    elif isinstance(value, str):
        yield path, value or "(empty)"
    elif isinstance(value, list) and all(isinstance(inner, str) for inner in value):
        yield path, ", ".join(value) or "(none)"
    else:
        yield path, canonical_json(value).decode()


def _conditions(summary: Summary) -> Iterator[tuple[str, str]]:
    run, spent = summary.run, summary.spent
    yield "subject", "; ".join(f"{name} {value}" for name, value in _fields("", msgspec.to_builtins(run.subject)))
    if run.facts is not None:
        yield "facts", "; ".join(f"{name} {value}" for name, value in _fields("", msgspec.to_builtins(run.facts)))
    for name, value in _fields("", msgspec.to_builtins(run.conditions)):
        yield name.replace("_", " "), value
    yield "run", run.id
    if run.occasion:
        yield "occasion", run.occasion
    since = f", first received {spent.replayed_since}" if spent.replayed_since else ""
    replayed = f", of which {spent.replayed:,} were replayed{since}" if spent.replayed else ""
    if spent.requests:
        yield "requests", f"{spent.requests:,}{replayed}"
        yield "tokens", f"{spent.input_tokens:,} in, {spent.output_tokens:,} out"
    yield "cost", f"${spent.cost:,.4f}" if spent.cost is not None else "no price is known"
    yield "time", f"{spent.seconds:,.1f}{NBSP}s of trials"
