"""`leaderboard` and `signals`: what others publish, and what users do."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from measurand.cli.output import print_json
from measurand.study.leaderboards import Published, as_estimate, check, read_published
from measurand.study.records import ProductionLog
from measurand.study.signals import Signal, read_log, signals
from measurand.study.words import amount, counted, span


def run(given: argparse.Namespace) -> int:
    """Carry out one of the two."""
    return _leaderboard(given) if given.command == "leaderboard" else _signals(given)


def _leaderboard(given: argparse.Namespace) -> int:
    rows = read_published(Path(given.file))
    doubts = check(rows, datetime.now(UTC).date().isoformat())
    if given.json:
        for one in (*rows, *doubts):
            print_json(one)
        return 0
    console = Console(highlight=False, markup=False)
    console.print(_boards(rows))
    console.print(f"\n{counted(len(doubts), 'doubt')}", style="bold")
    for number, one in enumerate(doubts, 1):
        console.print(f"{number}. {one.name.replace('_', ' ')}: {one.evidence}")
        console.print(f"   → {one.remedy}", style="dim")
    return 0


def _boards(rows: Sequence[Published]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("board", "model"):
        table.add_column(name)
    for name in ("score", "95 % interval", "items", "date"):
        table.add_column(name, justify="right")
    several = any(row.passes != "single pass" for row in rows)
    if several:
        table.add_column("passes")
    for row in sorted(rows, key=lambda row: (row.board, row.passes != "single pass", row.passes, -row.score)):
        made = as_estimate(row)
        items = f"{row.n:,}" if row.n else "?"
        kind = [row.passes] if several else []
        table.add_row(row.board, row.model, amount(made.value), span(made), items, row.date or "?", *kind)
    return table


def _signals(given: argparse.Namespace) -> int:
    spec = ProductionLog(
        file=given.file,
        action=given.action,
        accepted=given.accepted,
        user=given.user,
        cohort=given.cohort,
        subject=given.subject,
        shown=given.shown,
        kept=given.kept,
    )
    found = signals(read_log(spec))
    if given.json:
        for one in found:
            print_json(one)
        return 0
    console = Console(highlight=False, markup=False)
    console.print(_cohorts(found))
    if any(one.users for one in found):
        console.print(
            "replies of one user are taken together; power users see three times the median or more", style="dim"
        )
    else:
        console.print(
            "no user is named, so every reply counts as a user of its own: intervals are too narrow", style="dim"
        )
    return 0


def _cohorts(found: Sequence[Signal]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("subject", "cohort", "number"):
        table.add_column(name)
    for name in ("value", "95 % interval", "replies", "users"):
        table.add_column(name, justify="right")
    for one in found:
        made = one.estimate
        users = f"{one.users:,}" if one.users else "?"
        name = made.metric.replace("_", " ")
        table.add_row(one.subject, one.cohort, name, amount(made.value), span(made), f"{made.n_trials:,}", users)
    return table
