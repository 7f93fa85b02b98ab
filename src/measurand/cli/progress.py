"""Progress that a person can trust: rate, cost, time left, errors by kind, and what is being waited for."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from rich.console import Console
from rich.live import Live
from rich.text import Text

from measurand.run.engine import Engine

REFRESH = 0.25
PLAIN_EVERY = 10.0
"""Seconds between lines where the output is no terminal."""


class Progress:
    """Watches runs on a terminal, or in plain lines elsewhere; handles Ctrl-C."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = Console(file=sys.stderr, quiet=quiet)

    @asynccontextmanager
    async def __call__(self, engine: Engine) -> AsyncIterator[None]:
        """Follow one run until it ends."""
        loop = asyncio.get_running_loop()
        presses = iter((engine.stop, lambda _reason: engine.abort()))

        def interrupt() -> None:
            next(presses, lambda _reason: engine.abort())("interrupted")

        with suppress(NotImplementedError, RuntimeError):  # no signal handlers off the main thread or on Windows
            loop.add_signal_handler(signal.SIGINT, interrupt)
        shower = asyncio.create_task(self._show(engine))
        try:
            yield
        finally:
            shower.cancel()
            with suppress(asyncio.CancelledError):
                await shower
            with suppress(NotImplementedError, RuntimeError):
                loop.remove_signal_handler(signal.SIGINT)

    async def _show(self, engine: Engine) -> None:
        if not self._console.is_terminal:
            while True:
                await asyncio.sleep(PLAIN_EVERY)
                self._console.print(describe(engine), highlight=False, soft_wrap=True)
        with Live(console=self._console, auto_refresh=False, transient=True) as live:
            while True:
                live.update(Text(describe(engine)), refresh=True)
                await asyncio.sleep(REFRESH)


def describe(engine: Engine) -> str:
    """One line (two when something takes long) that says where a run stands."""
    meter = engine.meter
    done = meter.done_before + meter.done
    parts = [
        f"{engine.run.benchmark}  {done:,}/{meter.planned:,}",
        f"{meter.rate:,.1f}/s",
        f"{meter.input_tokens + meter.output_tokens:,} tokens",
    ]
    if meter.price is not None:
        parts.append(f"${meter.cost:,.4f}")
    if meter.replayed:
        parts.append(f"{meter.replayed:,} replayed")
    if meter.seconds_left is not None:
        parts.append(f"{duration(meter.seconds_left)} left")
    parts += [f"{count} x {where}" for where, count in meter.errors.most_common(3)]
    if meter.stopping:
        parts.append(f"stopping: {meter.stopping}")
    waiting = meter.waiting()
    lines = " · ".join(parts)
    if waiting:
        lines += f"\n  waiting for {waiting}"
    if meter.errors and meter.last_error:
        lines += f"\n  last error: {meter.last_error}"
    return lines


def duration(seconds: float) -> str:
    """Seconds as people say them."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
