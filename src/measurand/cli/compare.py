"""`compare`: two runs in pairs, with everything in which they differ."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from measurand.cli.output import print_json, write_findings
from measurand.core.claim import AboutMethod
from measurand.core.errors import InputError
from measurand.core.findings import Contrast
from measurand.core.identity import short
from measurand.core.run import Run
from measurand.core.subject import subject_name
from measurand.report.study.wording import over
from measurand.report.wording import about
from measurand.study.comparing import winner_of
from measurand.study.words import chances, counted, difference, gap, span
from measurand.wiring import open_store
from measurand.wiring.comparing import Compared, compare_stored, named_run

GOOD, CANNOT_SAY = 0, 3
MOST_ROWS = 30


def run(given: argparse.Namespace) -> int:
    """Print the comparison; exit with 3 where the two may not be compared."""
    store = open_store(given.store, read_only=True)
    try:
        first, second = ((store, named_run(store, name)) for name in (given.a, given.b))
        made = compare_stored(first, second, accept=given.accept, slices=given.slice, claim=_claim(given, second[1]))
    finally:
        store.close()
    if given.json:
        for one in made.contrasts:
            print_json(one)
    else:
        _show(made)
    if given.report:
        write_findings(made.findings(), Path(given.report))
        print(f"report: {given.report}", file=sys.stderr)
    return CANNOT_SAY if made.may.refused else GOOD


def _claim(given: argparse.Namespace, baseline: Run) -> AboutMethod | None:
    """A claim about a method, where it is said what varies; the second run is its baseline."""
    held = tuple(part.strip() for part in given.held_equal.split(",") if part.strip())
    if not given.varies:
        if held:
            raise InputError("--held-equal goes with --varies NAME, the one training variable that differs")
        return None
    return AboutMethod(given.varies, held, subject_name(baseline.subject), 1)


def _show(made: Compared) -> None:
    console = Console(highlight=False, markup=False)
    if isinstance(made.evidence.study.claim, AboutMethod):
        console.print(about(made.evidence.study.claim), style="dim")
    console.print(_verdict(made.whole), style="bold")
    for line in _details(made):
        console.print(line)
    if made.may.differs or made.may.conditions:
        console.print("\nwhat differs", style="bold")
    for line in made.may.differs:
        taken = " (accepted)" if line.partition(":")[0] in made.may.accepted else ""
        console.print(f"  {line}{taken}")
    for line in made.may.conditions:
        console.print(f"  conditions.{line}", style="dim")
    rest = [one for one in made.contrasts[1:] if one.comparison is not None]
    if rest:
        console.print()
        console.print(_table(rest))


def _verdict(one: Contrast) -> str:
    if one.comparison is None:
        return f"not compared: {one.refused}"
    winner = winner_of(one)
    if not winner:
        return f"{one.a} and {one.b} cannot be told apart on {one.scenario}"
    return f"{winner} is better than {one.b if winner == one.a else one.a} on {one.scenario}"


def _details(made: Compared) -> Iterator[str]:
    one = made.whole
    same = made.a.protocol == made.b.protocol
    protocols = (
        f"protocol {short(made.a.protocol)}"
        if same
        else f"protocols {short(made.a.protocol)} and {short(made.b.protocol)}"
    )
    if one.comparison is None:
        yield protocols
        return
    d = one.comparison.difference
    yield f"{one.metric}, {one.a} - {one.b}: {difference(one.comparison)}"
    yield f"{counted(d.n_items, 'item')} in both, {d.method}, {one.comparison.test}; {protocols}"
    if one.comparison.detectable is not None:
        yield f"smallest difference that such a comparison finds: {gap(one.comparison.detectable, d.unit)}"
    if d.bounds is not None:
        low, high = d.bounds
        ends = f"{100 * low:+.1f} to {100 * high:+.1f} points"
        yield f"{counted(d.n_missing, 'trial')} without a score: with these, the difference could be {ends}"


def _table(rest: Sequence[Contrast]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("over")
    for name in ("items", "difference", "interval", "p"):
        table.add_column(name, justify="right")
    table.add_column("better")
    for one in rest[:MOST_ROWS]:
        comparison = one.comparison
        if comparison is None:
            continue
        d = comparison.difference
        p = comparison.p if comparison.adjusted_p is None else comparison.adjusted_p
        shown = "" if d.value is None else f"{100 * d.value:+.1f}" if not d.unit else f"{d.value:+.3g}"
        table.add_row(
            over(one.view, one.value),
            f"{d.n_items:,}",
            shown,
            span(d),
            "" if p is None else chances(p)[2:],
            winner_of(one),
        )
    if len(rest) > MOST_ROWS:
        table.add_row(f"{len(rest) - MOST_ROWS} more with --json")
    table.caption = "p-values of slices are adjusted for their number (Holm)"
    table.caption_justify = "left"
    return table
