"""`run`, `plan` and `report` of a study: everybody is asked everything, and it ends in a decision."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

from measurand.cli.options import options_from
from measurand.cli.output import print_json, show_findings, show_model_card, write_findings, write_plots
from measurand.cli.progress import Progress, duration
from measurand.cli.run import GOOD, tell, verdict
from measurand.core.errors import MeasurandError
from measurand.core.findings import Findings
from measurand.core.run import Plan
from measurand.study.load import load_study
from measurand.study.records import Candidate, Study
from measurand.study.words import counted, gap
from measurand.wiring import Options, run_sync
from measurand.wiring.studying import Job, plan_study, run_study, scenarios, study_findings

REPLY_SECONDS = 2.0
"""What a reply is taken to need where a plan says how long a study will run."""


def run(given: argparse.Namespace) -> int:
    """Carry out `run` or `plan` of a study file."""
    study, options = _study(given), options_from(given)
    if given.command == "plan":
        return _plan(study, options, as_json=given.json)
    console = Console(stderr=True, quiet=given.quiet or given.json, highlight=False)
    progress = Progress(quiet=console.quiet)
    done = run_sync(lambda: run_study(study, options, progress, lambda one: tell(one, console)))
    show(done.findings, as_json=given.json)
    if given.report:
        write_findings(done.findings, Path(given.report))
        console.print(f"report: {given.report}")
    return verdict(done.evaluations[-1], console) if done.evaluations else GOOD


def report(given: argparse.Namespace) -> int:
    """Show a study again from what is stored, without asking anybody."""
    study = load_study(Path(given.runs[0]))
    found = run_sync(lambda: study_findings(study, Options(store=given.store, offline=True)))
    if given.plots:
        write_plots(found, Path(given.plots))
    if given.model_card:
        show_model_card(found, given.model_card, given.output)
    elif given.output:
        write_findings(found, Path(given.output))
    elif not given.plots:
        show(found, as_json=given.json)
    return GOOD


def show(found: Findings, *, as_json: bool) -> None:
    """Print findings as text, or as JSON."""
    if as_json:
        print_json(found)
    else:
        show_findings(found)


def _study(given: argparse.Namespace) -> Study:
    """The study of the file; `--subject` asks others than it names."""
    study = load_study(Path(given.what))
    if not given.subject:
        return study
    return msgspec.structs.replace(study, subjects=tuple(Candidate(spec=spec) for spec in given.subject), present="")


def _plan(study: Study, options: Options, *, as_json: bool) -> int:
    plans = list(plan_study(study, options))
    if as_json:
        for _, plan in plans:
            if isinstance(plan, Plan):
                print_json(plan)
        return GOOD
    console = Console(highlight=False, markup=False)
    console.print(study.question, style="bold")
    console.print(_table(plans))
    for line in _totals(plans, options.limits.concurrency):
        console.print(line)
    if study.rules:
        console.print("\n".join(["decided by", *(f"  {rule}" for rule in study.rules)]))
    for line in _notes(plans):
        console.print(line, style="dim")
    return GOOD


def _notes(plans: Sequence[tuple[Job, Plan | MeasurandError]]) -> Iterator[str]:
    """Who cannot be asked what, which canonical protocols could be run beside, and what the plans say themselves."""
    for job, plan in plans:
        if isinstance(plan, MeasurandError):
            yield f"{job.candidate.label} cannot be asked: {plan}"
    asked = scenarios([job for job, _ in plans])
    for one in asked:
        if one.canonical and one.canonical not in {other.name for other in asked}:
            yield (
                f"{one.name} is asked {one.departs}; published numbers are of {one.canonical}: to see the delta, add "
                f'[[benchmarks]] name = "{one.canonical}"'
            )
    yield from dict.fromkeys(note for _, plan in plans if isinstance(plan, Plan) for note in plan.notes)


def _table(plans: Sequence[tuple[Job, Plan | MeasurandError]]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("subject", "asked"):
        table.add_column(name)
    for name in ("trials", "to ask", "tokens", "cost", "detectable"):
        table.add_column(name, justify="right")
    for job, plan in plans:
        if isinstance(plan, MeasurandError):
            table.add_row(job.candidate.label, job.scenario, "cannot")
            continue
        left = plan.n_requests - plan.n_replayable
        cost = "unknown" if plan.cost is None else f"${plan.cost:,.4f}"
        finds = "nothing" if plan.detectable_paired is None else gap(plan.detectable_paired)
        tokens = f"{plan.input_tokens + plan.output_tokens:,}"
        table.add_row(job.candidate.label, job.scenario, f"{plan.n_trials:,}", f"{left:,}", tokens, cost, finds)
    return table


def _totals(plans: Sequence[tuple[Job, Plan | MeasurandError]], concurrency: int) -> list[str]:
    made = [plan for _, plan in plans if isinstance(plan, Plan)]
    left = sum(plan.n_requests - plan.n_replayable for plan in made)
    priced = [plan.cost for plan in made if plan.cost is not None]
    unknown = len(made) - len(priced)
    money = f"about ${sum(priced):,.4f}" if priced else "of unknown cost"
    rest = f", without the {counted(unknown, 'run')} of unknown price" if priced and unknown else ""
    seconds = left * REPLY_SECONDS / concurrency
    return [
        f"{counted(left, 'request')} to ask, {money}{rest}; tokens and cost are estimates",
        f"about {duration(seconds)} if a reply takes {REPLY_SECONDS:g} s and {concurrency} are asked at once",
    ]
