"""`doctor`: what this machine can do, what it lacks, and how to mend it."""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.table import Table

from measurand.wiring.diagnosis import clean, diagnose

GOOD, NO_ISOLATION = 0, 2


def run(given: argparse.Namespace) -> int:
    """Print one line for each finding, after cleaning where that is asked for; 2 where no program can be isolated."""
    if given.clean:
        for leftover in clean():
            print(f"removed {leftover}")
    table = Table(box=None, show_header=False)
    isolation, *others = diagnose()
    for finding in (isolation, *others):
        mark = "[green]good[/green]" if finding.ok else "[yellow]lacks[/yellow]"
        table.add_row(mark, finding.name, finding.detail + (f"\n{finding.mend}" if finding.mend else ""))
    Console(highlight=False).print(table)
    return GOOD if isolation.ok else NO_ISOLATION
