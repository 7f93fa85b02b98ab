"""`verify`: score stored outputs of others again, and compare the figures with those they published."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from measurand.cli.output import print_json
from measurand.core.errors import InputError
from measurand.core.fidelity import Check
from measurand.report.fidelity import counted, fidelity_page, shown
from measurand.wiring.verifying import verify_folder, verify_prompts_against

GOOD, FAILED = 0, 1
WIDE = 200
COLOURS = {"equal": "green", "explained": "yellow", "differs": "bold red"}


def run(given: argparse.Namespace) -> int:
    """Print one line for each figure; exit with 1 where one differs and nobody said why."""
    checks = []
    for check in _found(given):
        checks.append(check)
        if given.json:
            print_json(check)
    if not given.json:
        _print(checks)
    if given.markdown:
        _write(Path(given.markdown), fidelity_page(checks, prompts=given.prompts))
    return FAILED if any(check.verdict == "differs" for check in checks) else GOOD


def _found(given: argparse.Namespace) -> Iterator[Check]:
    if given.prompts:
        return verify_prompts_against(given.folder, given.peer, given.only)
    return verify_folder(given.folder, given.only, run_code=given.run_code)


def _print(checks: Sequence[Check]) -> None:
    table = Table("benchmark", "what", "source", "published", "ours", "", box=None, header_style="bold")
    for check in checks:
        verdict = Text(check.verdict, COLOURS.get(check.verdict, "dim"))
        if check.note:
            verdict.append(f": {check.note}", "default")
        row = (check.benchmark, check.what, check.source, shown(check.published), shown(check.ours))
        table.add_row(*map(Text, row), verdict)
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = WIDE
    console.print(table)
    console.print(counted(checks))
    seconds: dict[str, float] = {}
    for check in checks:
        seconds[check.benchmark] = seconds.get(check.benchmark, 0.0) + check.seconds
    if any(seconds.values()):
        console.print(", ".join(f"{name} {taken:.1f} s" for name, taken in seconds.items() if taken))


def _write(path: Path, page: str) -> None:
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        message = f"{path}: the page cannot be written ({error.strerror}); choose another place"
        raise InputError(message) from error
