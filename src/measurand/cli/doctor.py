"""`doctor`: what this machine can do, what it lacks, and how to mend it."""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.table import Table

from measurand.wiring.diagnosis import diagnose


def run(_given: argparse.Namespace) -> int:
    """Print one line for each finding."""
    table = Table(box=None, show_header=False)
    for finding in diagnose():
        mark = "[green]good[/green]" if finding.ok else "[yellow]lacks[/yellow]"
        table.add_row(mark, finding.name, finding.detail + (f"\n{finding.mend}" if finding.mend else ""))
    Console(highlight=False).print(table)
    return 0
