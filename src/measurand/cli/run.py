"""`run`, `plan` and `score`: evaluate a subject, say beforehand what it takes, or score stored replies again."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console

from measurand.cli.options import is_data_file, options_from, private_set
from measurand.cli.output import show_plan, show_summaries, write_report
from measurand.cli.progress import Progress
from measurand.core.benchmark import Benchmark
from measurand.core.errors import InputError
from measurand.core.subject import subject_name
from measurand.study.records import PrivateSet
from measurand.wiring import (
    Evaluation,
    Options,
    benchmark_of,
    evaluate_async,
    open_benchmark,
    open_store,
    plan_evaluation,
    rescore_run,
    run_sync,
    summarise,
)
from measurand.wiring.comparing import named_run
from measurand.wiring.studying import departure

GOOD, BAD_INPUT, CANNOT_SAY = 0, 2, 3

Job = tuple[str | Benchmark | PrivateSet, str, Options]
"""What is asked of whom, and how."""


def run(given: argparse.Namespace) -> int:
    """Carry out `run`, `plan` or `score`."""
    if given.command == "score":
        return _score(given)
    if given.what.endswith(".toml"):
        from measurand.cli.study import run as run_study

        return run_study(given)
    jobs = list(_jobs(given))
    if given.command == "plan":
        for what, subject, options in jobs:
            show_plan(plan_evaluation(what, subject, options), as_json=given.json)
            canonical, departs = departure(what, options) if not isinstance(what, Benchmark) else ("", "")
            if canonical and not given.json:
                print(f"asked {departs}; published numbers are of {canonical}: see `measurand plan {canonical}`")
        return GOOD
    return _run(jobs, given)


def _jobs(given: argparse.Namespace) -> Iterator[Job]:
    options = options_from(given)
    what: str | PrivateSet = private_set(given) if is_data_file(given.what) else given.what
    if not given.subject:
        raise InputError("say who answers with --subject SPEC, as in --subject llamacpp:smollm2-135m")
    for subject in given.subject:
        yield what, subject, options


def _run(jobs: Sequence[Job], given: argparse.Namespace) -> int:
    console = Console(stderr=True, quiet=given.quiet or given.json, highlight=False)
    done: list[Evaluation] = []
    for what, subject, options in jobs:
        evaluation = _one(what, subject, options, console)
        done.append(evaluation)
        if not evaluation.ended.complete:
            break
    show_summaries([one.summary for one in done], as_json=given.json)
    if given.report:
        write_report([one.summary for one in done], Path(given.report))
        console.print(f"report: {given.report}")
    return verdict(done[-1], console)


def _one(what: str | Benchmark | PrivateSet, subject: str, options: Options, console: Console) -> Evaluation:
    progress = Progress(quiet=console.quiet)
    evaluation = run_sync(lambda: evaluate_async(what, subject, options, progress))
    tell(evaluation, console)
    return evaluation


def tell(evaluation: Evaluation, console: Console) -> None:
    """Say that a run is done, and what of it came from before."""
    run, ended = evaluation.run, evaluation.ended
    if ended.unclean:
        console.print(
            f"an earlier session of this run was cut off: up to {ended.unclean} requests may have been paid twice"
        )
    spent = evaluation.summary.spent
    note = f", {spent.replayed} replies from the store" if spent.replayed else ""
    console.print(f"{run.benchmark} by {subject_name(run.subject)}: run {run.id}{note}")


def verdict(last: Evaluation, console: Console) -> int:
    """The exit code of what ended with this run; where it stopped early, how to go on."""
    ended = last.ended
    if ended.complete:
        return GOOD
    again = shlex.join(["measurand", *sys.argv[1:]])
    console.print(f"stopped early: {ended.reason}")
    if ended.in_flight:
        console.print(f"{ended.in_flight} requests were in flight and may be paid twice")
    console.print(f"everything acknowledged is stored; go on with:\n  {again}")
    return CANNOT_SAY if ended.reason == "interrupted" or "budget" in ended.reason else BAD_INPUT


def _score(given: argparse.Namespace) -> int:
    """Read and score a stored run again, without a model; by another variant, both scorings are shown."""
    store = open_store(given.store)
    try:
        stored = named_run(store, given.run)
        other = open_benchmark(given.by) if given.by else None
        if given.errata:
            from measurand.wiring.errata import corrected_benchmark

            other = corrected_benchmark(other or benchmark_of(stored), given.errata, store, stored)
        summaries = [summarise(store, stored)] if other else []
        summaries.append(run_sync(lambda: rescore_run(store, stored, other)))
    finally:
        store.close()
    show_summaries(summaries, as_json=given.json)
    if given.report:
        write_report(summaries, Path(given.report))
    return GOOD
