"""What the commands share in showing things."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

from measurand.core.benchmark import Card
from measurand.core.errors import InputError
from measurand.core.findings import Findings
from measurand.core.identity import short
from measurand.core.run import Plan
from measurand.core.subject import subject_name
from measurand.core.summary import Summary
from measurand.wiring import benchmark_of


def show_summaries(summaries: Sequence[Summary], *, as_json: bool) -> None:
    """Print results as tables, or as JSON lines."""
    if as_json:
        for summary in summaries:
            print_json(summary)
        return
    from measurand.report.terminal import plain, terminal

    console = Console()
    for number, summary in enumerate(summaries):
        if number:
            console.print()
        if console.is_terminal:
            console.print(terminal(summary))
        else:
            sys.stdout.write(plain(summary))


def print_json(record: object) -> None:
    """Print a record as one line of JSON."""
    sys.stdout.write(msgspec.json.encode(record).decode() + "\n")


def write_report(summaries: Sequence[Summary], path: Path) -> None:
    """Write results as one page (.html), as text (.md) or as JSON, by the name's ending."""
    from measurand.report.page import page
    from measurand.report.plain import markdown

    if path.suffix == ".html":
        text = page(summaries, cards=_cards(summaries))
    elif path.suffix == ".md":
        text = "\n\n".join(markdown(summary) for summary in summaries)
    elif path.suffix == ".json":
        text = msgspec.json.encode(list(summaries)).decode()
    else:
        raise InputError(f"{path}: a report is .html, .md or .json")
    write_text(path, text)


def show_findings(findings: Findings) -> None:
    """Print what a study came to, the answer first."""
    from measurand.report.study.terminal import plain, terminal

    console = Console()
    if console.is_terminal:
        console.print(terminal(findings))
    else:
        sys.stdout.write(plain(findings))


def write_findings(findings: Findings, path: Path) -> None:
    """Write what a study came to as one page (.html), as text (.md) or as JSON, by the name's ending."""
    from measurand.report.study.page import findings_page
    from measurand.report.study.plain import findings_markdown

    if path.suffix == ".html":
        text = findings_page(findings, _cards(findings.summaries))
    elif path.suffix == ".md":
        text = findings_markdown(findings)
    elif path.suffix == ".json":
        text = msgspec.json.encode(findings).decode()
    else:
        raise InputError(f"{path}: a report is .html, .md or .json")
    write_text(path, text)


def show_model_card(findings: Findings, subject: str, output: str) -> None:
    """Print or write what a model card may say of a subject."""
    from measurand.report.model_card import model_card

    text = model_card(findings, subject, _cards(findings.summaries))
    if output:
        write_text(Path(output), text)
    else:
        sys.stdout.write(text)


def write_plots(findings: Findings, folder: Path) -> None:
    """Write every plot of a study into a folder, and say how many there are."""
    from measurand.report.study.drawn import save

    written = save(findings, folder)
    print(f"{len(written)} files in {folder}", file=sys.stderr)


def write_text(path: Path, text: str) -> None:
    """Write a file that the user asked for."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); choose another place") from error


def _cards(summaries: Sequence[Summary]) -> Mapping[str, Card]:
    cards = {}
    for summary in summaries:
        try:
            cards[summary.run.benchmark] = benchmark_of(summary.run).card
        except InputError:  # the benchmark's file is gone; its numbers are still true
            continue
    return cards


def show_plan(plan: Plan, *, as_json: bool) -> None:
    """Print what a run will take."""
    if as_json:
        print_json(plan)
        return
    table = Table(title=f"{plan.run.benchmark} by {subject_name(plan.run.subject)}", title_justify="left", box=None)
    table.show_header = False
    for name, value in _plan_rows(plan):
        table.add_row(f"[dim]{name}[/dim]", value)
    Console(highlight=False).print(table)


def _plan_rows(plan: Plan) -> list[tuple[str, str]]:
    run = plan.run
    answers = "1 answer" if run.samples == 1 else f"{run.samples} answers"
    rows = [
        ("run", f"{run.id}, protocol {short(run.protocol)}"),
        ("trials", f"{plan.n_trials:,} ({run.n_items:,} items, {answers} each), {plan.n_done:,} done"),
        ("requests", f"{plan.n_requests:,}, of which {plan.n_replayable:,} are in the store"),
        ("tokens, estimated", f"{plan.input_tokens:,} in, up to {plan.output_tokens:,} out"),
        ("cost, estimated", "unknown" if plan.cost is None else f"${plan.cost:,.4f}"),
    ]
    rows.append(("detectable difference", _detectable(plan)))
    return rows + [("note", note) for note in plan.notes]


def _detectable(plan: Plan) -> str:
    if plan.detectable_paired is None or plan.detectable_unpaired is None:
        return "none: too few items to tell any two subjects apart"
    paired, unpaired = plan.detectable_paired * 100, plan.detectable_unpaired * 100
    return f"{paired:.1f} points to a run on the same items, {unpaired:.1f} to one on others"
