"""A summary for the terminal: the claim first, then the numbers. Plain text where there is no terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from measurand.core.summary import Summary, View
from measurand.report.breakdown import columns, parts_by_group, rows
from measurand.report.rendered import as_plain, as_text
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

PLAIN_WIDTH = 120


def terminal(summary: Summary) -> RenderableType:
    """Something that `rich` prints. Text from outside is never read as markup and hides nothing."""
    return Group(*_blocks(summary))


def plain(summary: Summary, width: int = PLAIN_WIDTH) -> str:
    """The same as plain text, for files, pipes and tests."""
    return as_plain(terminal(summary), width)


def _blocks(summary: Summary) -> Iterator[RenderableType]:
    yield as_text(claim(summary), "bold")
    if caveat(summary):
        yield as_text(caveat(summary))
    yield as_text(about(summary.run.claim), "dim")
    yield Text()
    if summary.breakdown:
        yield from _parts(summary)
    else:
        yield _numbers(summary, wholes(summary), "number")
    yield Text()
    yield _tally(summary)
    measured = any(view.estimate.value is not None for view in wholes(summary))
    for field, values in slices(summary).items() if measured else ():
        yield Text()
        yield _numbers(summary, [view for views in values.values() for view in views], field)
    if summary.notes:
        yield Text()
        yield from (as_text(f"• {note}") for note in summary.notes)


def _parts(summary: Summary) -> Iterator[RenderableType]:
    for number_, (title, parts) in enumerate(parts_by_group(summary)):
        if number_:
            yield Text()
        yield as_text(f"{title}, protocol {protocol_id(summary)}")
        table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 3, 0, 0))
        for name in columns(parts):
            table.add_column(name, justify="left" if name == columns(parts)[0] else "right")
        for part, cells in zip(parts, rows(parts), strict=True):
            table.add_row(*map(Text, cells), style="" if part.failed or not part.name else "dim")
        yield table


def _numbers(summary: Summary, views: list[View], first: str) -> Table:
    several = len({view.estimate.metric for view in views}) > 1 or first == "number"
    missing = any(view.estimate.n_missing for view in views)
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 3, 0, 0))
    table.add_column(as_text(first), overflow="fold")
    if several:
        table.add_column("metric")
    table.add_column("value", justify="right")
    table.add_column(f"{level(views[0].estimate)} interval" if views else "interval", justify="right")
    table.add_column("items", justify="right")
    if missing:
        table.add_column("missing", justify="right")
        table.add_column("bounds", justify="right")
    table.add_column("protocol", style="dim")
    for view in views:
        estimate = view.estimate
        few = view.view.startswith("slice:") and estimate.n_items < FEW
        cells = [as_text(view_name(view)), *([as_text(estimate.metric)] if several else [])]
        cells += [Text(number(estimate)), Text(interval(estimate) or "none"), Text(f"{estimate.n_items:,}")]
        cells += [Text(f"{estimate.n_missing:,}"), Text(bounds(estimate))] if missing else []
        cells.append(Text(protocol_id(summary) + ("  too few to say" if few else "")))
        table.add_row(*cells, style="dim" if few else "")
    return table


def _tally(summary: Summary) -> Text:
    tally = summary.tally
    counts = " + ".join(f"{count:,} {name}" for name, count in tally_parts(tally) if count)
    text = Text(f"{tally.planned:,} trials planned = {counts or 'none'}")
    for reason, count in tally.reasons.items():
        text.append(visible(f"\n  {count:,}× {reason}"), "dim")
    return text
