"""`gate`: may this change go in? Exits with 0 pass, 1 fail, 3 cannot say, 2 bad input."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec
from rich.console import Console

from measurand.cli.output import print_json, write_text
from measurand.core.decision import Gate
from measurand.report.gate import MARKS, headline, junit, markdown, terms
from measurand.study.gating import GateOptions
from measurand.wiring import open_store
from measurand.wiring.comparing import named_run
from measurand.wiring.gating import gate_stored, save_baseline

EXITS = {"pass": 0, "fail": 1, "undecided": 3}


def run(given: argparse.Namespace) -> int:
    """Check a run, or write the baseline that it is."""
    options = GateOptions(
        margin=given.margin / 100,
        false_alarm=given.false_alarm / 100,
        flakes=given.flakes / 100,
        rules=tuple(given.rule),
        accept=tuple(given.accept),
    )
    store = open_store(given.store, read_only=True)
    try:
        stored = named_run(store, given.run)
        if given.write:
            size = save_baseline(store, stored, given.write)
            print(f"baseline of run {stored.id}: {given.write}, {size:,} bytes")
            if not given.baseline and not given.rule:
                return EXITS["pass"]
        made = gate_stored(store, stored, options, given.baseline or None)
    finally:
        store.close()
    if given.junit:
        write_text(Path(given.junit), junit(made))
    if given.markdown:
        write_text(Path(given.markdown), markdown(made))
    if given.json:
        print_json({"verdict": made.verdict} | msgspec.to_builtins(made))
    else:
        _show(made)
    return EXITS[made.verdict]


def _show(made: Gate) -> None:
    console = Console(highlight=False, markup=False)
    console.print(headline(made), style="bold")
    for check in made.checks:
        console.print(f"{MARKS[check.verdict]}  {check.text}")
        console.print(f"   {check.because}", style="dim")
        if check.needs:
            console.print(f"   about {check.needs:,} further items would decide", style="dim")
    console.print(terms(made), style="dim")
