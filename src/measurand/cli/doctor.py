"""`doctor`: what this machine can do, what it lacks, and how to mend it."""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.table import Table

from measurand.wiring.diagnosis import clean, diagnose


def run(given: argparse.Namespace) -> int:
    """Print one line for each finding, after cleaning where that is asked for."""
    if given.clean:
        for leftover in clean():
            print(f"removed {leftover}")
    table = Table(box=None, show_header=False)
    for finding in diagnose():
        mark = "[green]good[/green]" if finding.ok else "[yellow]lacks[/yellow]"
        table.add_row(mark, finding.name, finding.detail + (f"\n{finding.mend}" if finding.mend else ""))
    Console(highlight=False).print(table)
    return 0
