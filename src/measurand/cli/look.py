"""`ls`, `show`, `report` and `export`: look at what the store holds."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from measurand.cli.output import print_json, show_summaries, write_report
from measurand.core.call import Asked, Call
from measurand.core.errors import InputError
from measurand.core.identity import short
from measurand.core.ports import Store
from measurand.core.run import Run, Slot
from measurand.core.subject import subject_name
from measurand.core.trial import Missing, Trial
from measurand.report.export import TableFormat, export
from measurand.report.rows import trial_rows
from measurand.report.wording import visible
from measurand.wiring import open_store, summarise
from measurand.wiring.comparing import named_run

EXPORTS: dict[str, TableFormat] = {"jsonl": "jsonl", "csv": "csv", "xlsx": "xlsx", "parquet": "parquet"}


def run(given: argparse.Namespace) -> int:
    """Carry out one of the commands."""
    if given.command == "ls" and given.what == "benchmarks":
        return _benchmarks()
    if given.command == "report" and len(given.runs) == 1 and given.runs[0].endswith(".toml"):
        from measurand.cli.study import report as report_study

        return report_study(given)
    if given.command == "report" and (given.plots or given.model_card):
        raise InputError("plots and model cards are made of studies; name the study's file, as in `report study.toml`")
    store = open_store(given.store, read_only=True)
    try:
        return {"ls": _ls, "show": _show, "report": _report, "export": _export}[given.command](store, given)
    finally:
        store.close()


def _benchmarks() -> int:
    """One line for a family: what it measures, and its variants, each a protocol of its own."""
    from measurand.study.content import benchmark_names, family

    table = Table("benchmark", "measures", "asks by", "variants", box=None, header_style="bold", padding=(0, 2, 1, 0))
    for name in benchmark_names():
        first, *others = family(name)
        variants = [one.name.partition(":")[2] for one in others]
        table.add_row(name, first.card.measures, ", ".join(sorted(first.asking.needs)), ", ".join(variants))
    console = Console(highlight=False)
    console.print(table)
    console.print("A variant is asked for as benchmark:variant, such as gsm8k:chat.")
    return 0


def _ls(store: Store, given: argparse.Namespace) -> int:
    runs = store.runs()
    if given.json:
        for one in runs:
            print_json(one)
        return 0
    table = Table("run", "benchmark", "subject", "protocol", "done", box=None, header_style="bold")
    for one in runs:
        done = sum(1 for _ in store.done(one.id))
        row = (one.id, one.benchmark, subject_name(one.subject), short(one.protocol), f"{done:,}/{one.n_planned:,}")
        table.add_row(*row)
    Console(highlight=False).print(table if runs else "the store holds no run yet; make one with `measurand run`")
    return 0


def _report(store: Store, given: argparse.Namespace) -> int:
    summaries = [summarise(store, named_run(store, name)) for name in given.runs or [""]]
    if given.output:
        write_report(summaries, Path(given.output))
        return 0
    show_summaries(summaries, as_json=given.json)
    return 0


def _export(store: Store, given: argparse.Namespace) -> int:

    path = Path(given.output)
    kind = path.suffix.removeprefix(".").lower()
    if kind not in EXPORTS:
        raise InputError(f"{path}: an export is one of {', '.join(f'.{one}' for one in EXPORTS)}")
    n = export(trial_rows(store, named_run(store, given.run)), path, EXPORTS[kind])
    print(f"{n:,} trials in {path}")
    return 0


def _show(store: Store, given: argparse.Namespace) -> int:
    found = named_run(store, given.run)
    slot = _slot(store, found, given.item, given.sample) if given.item else _first(store, found)
    trial = next((trial for at, trial in store.trials(found.id) if at == slot), None)
    if trial is None:
        raise InputError(f"run {found.id} has not reached item {given.item}, sample {given.sample}")
    calls = store.calls(found.id, slot)
    readings = [reading for _, reading in store.readings(found.id, slot)]
    scores = [score for at, score in store.scores(found.id) if at == slot]
    if given.json:
        print_json({"trial": trial, "calls": calls, "readings": readings, "scores": scores})
        return 0
    console = Console(highlight=False)
    console.print(_heading(found, trial))
    for call in calls:
        console.print(_call(call))
    for reading in readings:
        console.print(Text(f"read by {reading.reader}: {visible(str(reading.finding))}"))
    for score in scores:
        if isinstance(score.value, Missing) and score.value.why == "not_applicable":
            continue
        console.print(Text(f"{score.metric} by {score.by}: {visible(str(score.value))}"))
    return 0


def _slot(store: Store, run: Run, item: str, sample_no: int) -> Slot:
    for number, one in enumerate(store.items(run.id)):
        if one.id == item:
            return Slot(number, sample_no)
    raise InputError(f"run {run.id} has no item '{item}'; `measurand export` lists its items")


def _first(store: Store, run: Run) -> Slot:
    """The trial that was asked first: with a subject that has a tokenizer, its reply holds the ids of its prompt."""
    trials = ((trial.started, slot) for slot, trial in store.trials(run.id) if trial.started)
    first = min(trials, key=lambda pair: pair[0], default=None)
    if first is None:
        raise InputError(f"run {run.id} has reached no item yet")
    return first[1]


def _heading(run: Run, trial: Trial) -> Text:
    outcome = type(trial.outcome).__name__
    return Text(
        f"{run.benchmark} by {subject_name(run.subject)}, item {visible(trial.item)}, sample {trial.sample_no}: "
        f"{outcome} after {trial.seconds:.2f} s, protocol {short(run.protocol)}"
    )


def _call(call: Call) -> Panel:
    if isinstance(call.what, Asked):
        request, reply = call.what.request, call.what.reply
        since = f", replayed from {reply.replayed_from}" if reply.replayed_from else ""
        body = Group(
            Text("asked", style="bold"),
            Text(_readable(request)),
            Text(f"\nreply ({reply.finish}{since})", style="bold"),
            Text(_readable(reply)),
        )
    else:
        program, result = call.what.program, call.what.result
        body = Group(
            Text("ran", style="bold"),
            Text(_readable(program)),
            Text(f"\nended: {result.ending}", style="bold"),
            Text(_readable(result)),
        )
    return Panel(body, title=f"step {call.step} · {call.role} · {call.key[:8]}", title_align="left")


def _readable(record: object) -> str:
    """A record as indented text, in which line breaks are line breaks and hidden characters are seen."""
    import msgspec

    plain = msgspec.to_builtins(record)
    return "\n".join(_lines(plain, 0))


def _lines(value: object, depth: int) -> list[str]:
    pad = "  " * depth
    if isinstance(value, dict):
        lines = []
        for name, inner in value.items():
            if isinstance(inner, dict | list | tuple) and inner:
                lines += [f"{pad}{name}:", *_lines(inner, depth + 1)]
            else:
                text = visible(str(inner))
                lines += [f"{pad}{name}: {text}"] if "\n" not in text else [f"{pad}{name}:", *_indented(text, depth)]
        return lines
    if isinstance(value, list | tuple) and value and all(isinstance(inner, int) for inner in value):
        return textwrap.wrap(" ".join(map(str, value)), initial_indent=pad, subsequent_indent=pad)
    if isinstance(value, list | tuple):
        return [line for inner in value for line in _lines(inner, depth)]
    return [f"{pad}{visible(str(value))}"]


def _indented(text: str, depth: int) -> list[str]:
    return [f"{'  ' * (depth + 1)}{line}" for line in text.split("\n")]
