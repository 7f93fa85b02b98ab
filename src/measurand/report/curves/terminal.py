"""A watched training run in the terminal: the alerts first, then the latest checkpoints of each curve."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from measurand.core.curves import Curve, Curves
from measurand.report.curves.wording import KINDS, opening, rows, terms
from measurand.report.rendered import as_plain, as_text

LATEST = 5
"""Checkpoints shown of each curve; the page has all."""
PLAIN_WIDTH = 100


def terminal(curves: Curves) -> RenderableType:
    """Something that `rich` prints. Names from outside are never read as markup and hide nothing."""
    return Group(*_blocks(curves))


def plain(curves: Curves, width: int = PLAIN_WIDTH) -> str:
    """The same as plain text, for files, pipes and tests."""
    return as_plain(terminal(curves), width)


def _blocks(curves: Curves) -> Iterator[RenderableType]:
    yield as_text(opening(curves), "bold")
    for alert in curves.alerts:
        yield as_text(f"! {KINDS[alert.kind]}, {alert.checkpoint}: {alert.text}", "red")
        yield from (Padding(as_text(said), (0, 0, 0, 2)) for said in alert.evidence)
    for curve in curves.curves:
        yield Text()
        yield _table(curve, curves)
    if curves.unmeasured or curves.waiting or curves.notes:
        yield Text()
    yield from (as_text(f"not measured: {one.checkpoint}: {one.why}", "yellow") for one in curves.unmeasured)
    yield from (as_text(f"still being written: {name}", "dim") for name in curves.waiting)
    yield from (as_text(note, "dim") for note in curves.notes)
    if curves.checkpoints:
        yield as_text(terms(curves), "dim")


def _table(curve: Curve, curves: Curves) -> RenderableType:
    canary = " (canary task)" if curve.role == "canary" else ""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column(as_text(f"{curve.name}{canary}"), overflow="fold")
    for name in (curve.metric, "interval", "from the one before", "detectable"):
        table.add_column(as_text(name), justify="right")
    shown = list(rows(curve, curves))
    for row in shown[:LATEST]:
        mark = "! " if row.alert else ""
        cells = (row.value, row.interval, row.change, row.detectable)
        table.add_row(as_text(f"{mark}{row.checkpoint}", "red" if row.alert else ""), *map(as_text, cells))
    if len(shown) > LATEST:
        table.add_row(Text(f"{len(shown) - LATEST:,} earlier on the page (--report)", "dim"))
    return table
