"""`watch`: evaluate each new checkpoint of a training run. Exits with 0 fine, 1 an alert, 3 cannot say, 2 bad input."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import time
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
from rich.console import Console

from measurand.cli.options import data_overrides, limits_from, subject_options
from measurand.cli.output import print_json, write_text
from measurand.cli.progress import Progress, duration
from measurand.core.curves import Curves
from measurand.core.errors import InputError
from measurand.report.curves.wording import opening
from measurand.study.suite import load_suite
from measurand.wiring import Options, run_sync
from measurand.wiring.watching import Log, Watcher

GOOD, ALERT, CANNOT_SAY = 0, 1, 3
SETTLE = 2.0
"""Seconds between the two looks of `--once`, in which a finished checkpoint does not change."""


def run(given: argparse.Namespace) -> int:
    """Watch until nothing comes any more, or look once."""
    if given.every <= 0 or given.patience <= 0:
        raise InputError("--every and --patience are seconds, more than 0")
    watcher = Watcher(
        folder=Path(given.folder),
        suite=load_suite(Path(given.suite)),
        options=Options(
            data=data_overrides(given.data),
            store=given.store,
            limits=limits_from(given),
            subject=subject_options(given),
        ),
        log=_log(given),
    )
    watcher.check()
    console = Console(stderr=True, quiet=given.quiet or given.json, highlight=False, markup=False)
    run_sync(lambda: _once(watcher, console) if given.once else _watch(watcher, given, console))
    found = watcher.curves()
    show(found, as_json=given.json)
    _write(found, given)
    return verdict(found, given.since)


def verdict(found: Curves, since: int | None = None) -> int:
    """The exit code: an alert from the step `since` on, or something that has no number, or neither."""
    if any(since is None or alert.step is None or alert.step >= since for alert in found.alerts):
        return ALERT
    return CANNOT_SAY if found.unmeasured or not found.checkpoints else GOOD


def show(found: Curves, *, as_json: bool) -> None:
    """Print the curves as text, or as JSON."""
    if as_json:
        print_json(found)
        return
    from measurand.report.curves.terminal import plain, terminal

    console = Console()
    if console.is_terminal:
        console.print(terminal(found))
    else:
        sys.stdout.write(plain(found))


async def _once(watcher: Watcher, console: Console) -> None:
    progress = Progress(quiet=console.quiet)
    await watcher.look(progress)
    if watcher.waiting and not watcher.stopped:
        await asyncio.sleep(SETTLE)
        await watcher.look(progress)


async def _watch(watcher: Watcher, given: argparse.Namespace, console: Console) -> None:
    """Look, show, wait; until interrupted, or until no checkpoint came for as long as patience lasts."""
    progress = Progress(quiet=console.quiet)
    since = time.monotonic()
    while True:
        if await watcher.look(progress):
            since = time.monotonic()
            found = watcher.curves()
            console.print(opening(found), style="bold")
            _write(found, given)
        left = given.patience - (time.monotonic() - since)
        if watcher.stopped or left <= 0:
            break
        ends = (datetime.now().astimezone() + timedelta(seconds=left)).strftime("%Y-%m-%d %H:%M:%S")
        console.print(
            f"waiting for the trainer to finish the next checkpoint in {watcher.folder}: next look in "
            f"{duration(given.every)}, ends at {ends} if none comes; Ctrl-C ends it now"
        )
        if await _interrupted(min(given.every, left)):
            break
    console.print("the watch has ended; what was evaluated is stored, and the same command goes on")


async def _interrupted(seconds: float) -> bool:
    """Wait so long, or until Ctrl-C; say which."""
    loop, pressed = asyncio.get_running_loop(), asyncio.Event()
    with suppress(NotImplementedError, RuntimeError):  # no signal handlers off the main thread or on Windows
        loop.add_signal_handler(signal.SIGINT, pressed.set)
    try:
        await asyncio.wait_for(pressed.wait(), seconds)
    except TimeoutError:
        return False
    finally:
        with suppress(NotImplementedError, RuntimeError):
            loop.remove_signal_handler(signal.SIGINT)
    return True


def _write(found: Curves, given: argparse.Namespace) -> None:
    if not given.report:
        return
    path = Path(given.report)
    if path.suffix == ".html":
        from measurand.report.curves.page import curves_page

        text = curves_page(found)
    elif path.suffix == ".json":
        text = msgspec.json.encode(found).decode()
    else:
        raise InputError(f"{path}: a report of a watch is .html or .json")
    write_text(path, text)


def _log(given: argparse.Namespace) -> Log | None:
    if not given.log:
        return None
    step, comma, loss = given.log_columns.partition(",")
    if not comma or not step or not loss:
        raise InputError(f"--log-columns {given.log_columns}: write two names, STEP,LOSS")
    return Log(Path(given.log), step.strip(), loss.strip())
