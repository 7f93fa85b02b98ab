"""Fair clocks: limits that mean the same amount of work on a slow machine, and on one that others keep busy."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from measurand.core.program import Ending, Limits
    from measurand.sandboxes.verdict import Confined

REFERENCE_SECONDS = 0.0022
"""Processor time that `WORK` takes on the core whose seconds the limits of benchmarks are meant in.

A convention, for the authors of benchmarks do not say on which machine their limits hold; the machines that this was
written on differed by a factor of three.
"""

WORK = (
    "import time\n"
    "def work():\n"
    "    began, table = time.process_time(), {}\n"
    "    for n in range(10_000): table[n % 977] = (table.get(n % 977, 0) * 31 + len(str(n))) % 1_000_003\n"
    "    return time.process_time() - began\n"
    "print(min(work() for _ in range(25)))\n"
)
"""A fixed piece of work, and the least of a few measurements: what disturbs a measurement only makes it longer."""

CPU_LIMIT = "the limit of processor time"

_SLOWEST, _FASTEST = 20.0, 0.5
_STEP_SECONDS = 0.25

_MOST_WAITING = 10
"""The deadline moves by at most so many times itself, however busy the machine is."""


def factor_of(seconds: float) -> float:
    """How many seconds here do the work of one second on the reference machine, to one decimal."""
    return round(min(max(seconds / REFERENCE_SECONDS, _FASTEST), _SLOWEST), 1)


def scaled(limits: Limits, factor: float) -> Limits:
    """The limits in seconds of this machine. The deadline behind them is never shortened."""
    return msgspec.structs.replace(
        limits,
        cpu_seconds=limits.cpu_seconds * factor,
        wall_seconds=limits.wall_seconds * max(1.0, factor),
    )


def kernel_cpu_seconds(limits: Limits) -> int:
    """The limit that the kernel keeps for each process, behind the true one.

    It counts by sampling, which is unfair where cores are shared, so that it must not be what decides.
    """
    return 4 * math.ceil(limits.cpu_seconds) + 1


async def watch(
    ends: Iterable[asyncio.Future[None]], jails: Sequence[Confined], limits: Limits
) -> tuple[Ending, str] | None:
    """Wait for the first of `ends`, and say which limit was exceeded before it, if any, as ending and detail.

    The deadline is by the monotonic clock, which stops while a jail is ready to run and others have the cores.
    Processor time and memory are those of each jail's processes together. What ends between two looks is judged by
    the processor time it has used in the end.
    """
    waiting = set(ends)
    began = time.monotonic()
    left = limits.wall_seconds
    while True:
        done, _ = await asyncio.wait(waiting, timeout=min(left, _STEP_SECONDS), return_when="FIRST_COMPLETED")
        if done:
            return None
        used = [jail.usage for jail in jails]
        if any(usage.memory_bytes > limits.memory_bytes for usage in used):
            return "memory", "the limit of memory of all processes together"
        if any(usage.cpu_seconds > limits.cpu_seconds for usage in used):
            return "timeout", CPU_LIMIT
        waited = min(sum(usage.waited for usage in used), _MOST_WAITING * limits.wall_seconds)
        left = began + limits.wall_seconds + waited - time.monotonic()
        if left <= 0:
            return "timeout", "the deadline"
