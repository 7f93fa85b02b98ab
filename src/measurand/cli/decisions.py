"""`decisions`: list what was decided and by whom, show one, or sign what a study came to."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.table import Table

from measurand.cli.output import print_json
from measurand.core.decision import Signed
from measurand.core.errors import InputError
from measurand.core.ports import Store
from measurand.study.load import load_study
from measurand.wiring import Options, open_store, run_sync
from measurand.wiring.signing import named, sign, superseded_by
from measurand.wiring.studying import study_findings

ANSWER_WIDTH = 60


def run(given: argparse.Namespace) -> int:
    """Carry out one of the three."""
    if given.what != "list" and not given.name:
        raise InputError(f"`measurand decisions {given.what}` needs {'a study' if given.what == 'sign' else 'an id'}")
    store = open_store(given.store, read_only=given.what != "sign")
    try:
        return {"list": _list, "show": _show, "sign": _sign}[given.what](store, given)
    finally:
        store.close()


def _sign(store: Store, given: argparse.Namespace) -> int:
    found = run_sync(lambda: study_findings(load_study(Path(given.name)), Options(store=given.store, offline=True)))
    signed = sign(store, found.decision, given.by, date=given.date, supersedes=given.supersedes)
    if given.json:
        print_json(signed)
    else:
        _print(signed, store.decisions())
    return 0


def _show(store: Store, given: argparse.Namespace) -> int:
    known = store.decisions()
    signed = named(known, given.name)
    if given.json:
        print_json(signed)
        return 0
    _print(signed, known)
    console = Console(highlight=False, markup=False)
    for rule in signed.decision.rules:
        console.print(f"{rule.verdict:<10} {rule.subject}: {rule.text}")
        console.print(f"           {rule.because}", style="dim")
    for title, lines in (
        ("because", signed.decision.causes),
        ("threats", [f"{one.name.replace('_', ' ')}: {one.evidence}" for one in signed.decision.threats]),
        ("evidence", signed.decision.evidence),
    ):
        if lines:
            console.print(f"\n{title}", style="bold")
        for line in lines:
            console.print(f"  {line}")
    return 0


def _list(store: Store, given: argparse.Namespace) -> int:
    known = store.decisions()
    if given.json:
        for one in known:
            print_json(one)
        return 0
    console = Console(highlight=False, markup=False)
    if not known:
        console.print("nothing is signed yet; sign with `measurand decisions sign STUDY.toml --by NAME`")
        return 0
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("decision", "signed by", "on", "state", "answer"):
        table.add_column(name, no_wrap=name in {"decision", "on"})
    for one in known:
        key, answer = one.signature.decision, one.decision.answer
        later = superseded_by(known, key)
        state = f"superseded by {later[:8]}" if later else "in force"
        short = answer if len(answer) <= ANSWER_WIDTH else f"{answer[: ANSWER_WIDTH - 1]}…"
        table.add_row(key[:8], one.signature.by, one.signature.date, state, short)
    console.print(table)
    return 0


def _print(signed: Signed, known: list[Signed]) -> None:
    console = Console(highlight=False, markup=False)
    mark, later = signed.signature, superseded_by(known, signed.signature.decision)
    console.print(signed.decision.question, style="bold")
    console.print(signed.decision.answer)
    console.print(f"decision {mark.decision}, signed by {mark.by} on {mark.date}", style="dim")
    if mark.supersedes:
        console.print(f"it supersedes {mark.supersedes}", style="dim")
    if later:
        console.print(f"it is superseded by {later}", style="dim")
