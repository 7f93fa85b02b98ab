"""The memory of all processes of a workspace together: bounded by the kernel where it can be, else watched."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from measurand.sandboxes.cgroup import make_group
from measurand.sandboxes.usage import descendants, private_bytes

if TYPE_CHECKING:
    from measurand.core.workspace import WorkspaceLimits

_LOOK_SECONDS = 0.25
_OWN_BYTES = 1 << 26
_OWN_PROCESSES = 8


@asynccontextmanager
async def bounded(outside: int, limits: WorkspaceLimits) -> AsyncIterator[None]:
    """Bound the descendants of a process as long as this lasts. Either way the largest is killed where it is too much.

    To be entered before any command runs, and left when all processes are gone.
    """
    group = make_group()
    if group is None:
        watcher = asyncio.create_task(_watch(outside, limits.together_bytes))
        try:
            yield
        finally:
            watcher.cancel()
        return
    try:
        group.limit(limits.together_bytes + limits.disk_bytes + _OWN_BYTES, limits.processes + _OWN_PROCESSES)
        group.take([outside, *descendants(outside)])
        yield
    finally:
        group.remove()


async def _watch(outside: int, most: int) -> None:
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        _driver, *others = descendants(outside) or [outside]
        used = {pid: private_bytes(Path(f"/proc/{pid}")) for pid in others}
        if sum(used.values()) > most:
            with contextlib.suppress(ProcessLookupError):
                os.kill(max(used, key=used.__getitem__), signal.SIGKILL)
