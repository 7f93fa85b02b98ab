"""A summary as Markdown and as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from measurand.core.identity import canonical
from measurand.core.summary import Summary, View
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

_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#!|~&$:@]|(?<=www)\.)")


def as_json(summary: Summary) -> str:
    """The summary's canonical JSON: keys sorted, defaults left out. `core.identity.decode` reads it back."""
    return canonical(summary).decode()


def markdown(summary: Summary) -> str:
    """The claim, the numbers, the tally and the notes. Text from outside cannot become markup."""
    return "\n".join(_lines(summary)) + "\n"


def _lines(summary: Summary) -> Iterator[str]:
    yield f"**{_safe(claim(summary))}** {_safe(caveat(summary))}".rstrip()
    yield ""
    yield _safe(about(summary.run.claim))
    yield ""
    yield from _table(summary, wholes(summary), "number")
    yield ""
    counts = " + ".join(f"{count:,} {name}" for name, count in tally_parts(summary.tally) if count)
    yield f"{summary.tally.planned:,} trials planned = {counts or 'none'}."
    for field, values in slices(summary).items():
        yield ""
        yield from _table(summary, [view for views in values.values() for view in views], field)
    if summary.notes:
        yield ""
    yield from (f"- {_safe(note)}" for note in summary.notes)


def _table(summary: Summary, views: Sequence[View], first: str) -> Iterator[str]:
    if not views:
        return
    interval_name = f"{level(views[0].estimate)} interval"
    yield f"| {_safe(first)} | metric | value | {interval_name} | items | missing | bounds | protocol |"
    yield "|---|---|--:|--:|--:|--:|--:|---|"
    for view in views:
        estimate = view.estimate
        few = " (too few to say)" if view.view.startswith("slice:") and estimate.n_items < FEW else ""
        cells = (
            _safe(view_name(view)),
            _safe(estimate.metric),
            number(estimate),
            interval(estimate) or "none",
            f"{estimate.n_items:,}{few}",
            f"{estimate.n_missing:,}",
            bounds(estimate),
            f"`{protocol_id(summary)}`",
        )
        yield "| " + " | ".join(cells) + " |"


def _safe(text: str) -> str:
    return _MARKUP.sub(r"\\\1", visible(text).replace("\n", " "))
