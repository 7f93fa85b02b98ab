"""A summary as Markdown and as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from measurand.core.identity import canonical
from measurand.core.summary import Summary, View
from measurand.report.breakdown import NUMBERS, columns, parts_by_group, rows
from measurand.report.wording import (
    FEW,
    about,
    bounds,
    caveat,
    claim,
    interval,
    level,
    number,
    protocol_id,
    slices,
    tally_parts,
    view_name,
    visible,
    wholes,
)

_NUMBERS = frozenset({"value", "items"}) | NUMBERS
_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#!|~&$:@]|(?<=www)\.)")


def as_json(summary: Summary) -> str:
    """The summary's canonical JSON: keys sorted, defaults left out. `core.identity.decode` reads it back."""
    return canonical(summary).decode()


def markdown(summary: Summary) -> str:
    """The claim, the numbers, the tally and the notes. Text from outside cannot become markup."""
    return "\n".join(_lines(summary)) + "\n"


def _lines(summary: Summary) -> Iterator[str]:
    yield f"**{safe(claim(summary))}** {safe(caveat(summary))}".rstrip()
    yield ""
    yield safe(about(summary.run.claim))
    yield ""
    yield from _parts(summary) if summary.breakdown else _table(summary, wholes(summary), "number")
    yield ""
    counts = " + ".join(f"{count:,} {name}" for name, count in tally_parts(summary.tally) if count)
    yield f"{summary.tally.planned:,} trials planned = {counts or 'none'}."
    for field, values in slices(summary).items():
        yield ""
        yield from _table(summary, [view for views in values.values() for view in views], field)
    if summary.notes:
        yield ""
    yield from (f"- {safe(note)}" for note in summary.notes)


def _parts(summary: Summary) -> Iterator[str]:
    for number_, (title, parts) in enumerate(parts_by_group(summary)):
        yield from [""] * bool(number_)
        yield f"{safe(title)}, protocol {safe(protocol_id(summary))}"
        yield ""
        yield from table(columns(parts), list(rows(parts)))


def _table(summary: Summary, views: Sequence[View], first: str) -> Iterator[str]:
    if not views:
        return
    interval_name = f"{level(views[0].estimate)} interval"
    lines = []
    for view in views:
        estimate = view.estimate
        few = " (too few to say)" if view.view.startswith("slice:") and estimate.n_items < FEW else ""
        numbers = (number(estimate), interval(estimate) or "none", f"{estimate.n_items:,}{few}")
        missing = (f"{estimate.n_missing:,}", bounds(estimate))
        lines.append((view_name(view), estimate.metric, *numbers, *missing, protocol_id(summary)))
    yield from table((first, "metric", "value", interval_name, "items", "missing", "bounds", "protocol"), lines)


def table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A Markdown table. Cells are text, whatever they hold."""
    yield "| " + " | ".join(safe(name) for name in names) + " |"
    yield "|" + "".join("--:|" if name in _NUMBERS or name.endswith("interval") else "---|" for name in names)
    yield from ("| " + " | ".join(safe(cell) for cell in row) + " |" for row in rows)


def safe(text: str) -> str:
    """Text from outside that cannot become markup, on one line."""
    return _MARKUP.sub(r"\\\1", visible(text).replace("\n", " "))
