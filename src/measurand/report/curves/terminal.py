"""A watched training run in the terminal: the alerts first, then the latest checkpoints of each curve."""

from __future__ import annotations

import io
from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from measurand.core.curves import Curve, Curves
from measurand.report.curves.wording import KINDS, opening, rows, terms
from measurand.report.wording import NBSP, visible

LATEST = 5
"""Checkpoints shown of each curve; the page has all."""
PLAIN_WIDTH = 100


def terminal(curves: Curves) -> RenderableType:
    """Something that `rich` prints. Names from outside are never read as markup and hide nothing."""
    return Group(*_blocks(curves))


def plain(curves: Curves, width: int = PLAIN_WIDTH) -> str:
    """The same as plain text, for files, pipes and tests."""
    target = io.StringIO()
    console = Console(file=target, width=width, color_system=None, force_terminal=False, legacy_windows=False)
    console.print(terminal(curves))
    return "\n".join(line.rstrip() for line in target.getvalue().splitlines()) + "\n"


def _blocks(curves: Curves) -> Iterator[RenderableType]:
    yield _text(opening(curves), "bold")
    for alert in curves.alerts:
        yield _text(f"! {KINDS[alert.kind]}, {alert.checkpoint}: {alert.text}", "red")
        yield from (Padding(_text(said), (0, 0, 0, 2)) for said in alert.evidence)
    for curve in curves.curves:
        yield Text()
        yield _table(curve, curves)
    if curves.unmeasured or curves.waiting or curves.notes:
        yield Text()
    yield from (_text(f"not measured: {one.checkpoint}: {one.why}", "yellow") for one in curves.unmeasured)
    yield from (_text(f"still being written: {name}", "dim") for name in curves.waiting)
    yield from (_text(note, "dim") for note in curves.notes)
    if curves.checkpoints:
        yield _text(terms(curves), "dim")


def _table(curve: Curve, curves: Curves) -> RenderableType:
    canary = " (canary task)" if curve.role == "canary" else ""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column(_text(f"{curve.name}{canary}"), overflow="fold")
    for name in (curve.metric, "interval", "from the one before", "detectable"):
        table.add_column(_text(name), justify="right")
    shown = list(rows(curve, curves))
    for row in shown[:LATEST]:
        mark = "! " if row.alert else ""
        cells = (row.value, row.interval, row.change, row.detectable)
        table.add_row(_text(f"{mark}{row.checkpoint}", "red" if row.alert else ""), *map(_text, cells))
    if len(shown) > LATEST:
        table.add_row(Text(f"{len(shown) - LATEST:,} earlier on the page (--report)", "dim"))
    return table


def _text(value: str, style: str = "") -> Text:
    return Text(visible(value).replace(NBSP, " "), style)
