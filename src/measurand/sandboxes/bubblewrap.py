"""Programs in namespaces of their own, by bubblewrap."""

from __future__ import annotations

import asyncio
import itertools
import os
import threading
from functools import partial
from typing import TYPE_CHECKING

from measurand.core.errors import SandboxError
from measurand.core.ports import Isolation
from measurand.core.program import FunctionTest, Program, Result
from measurand.sandboxes.jailed import Jail
from measurand.sandboxes.room import Room, find_room, outside_uid
from measurand.sandboxes.verdict import run_function_test, run_script

if TYPE_CHECKING:
    from typing import Any

    from measurand.core.program import Limits


class Bubblewrap:
    """A sandbox that builds a fresh jail for each program and leaves nothing of it behind.

    Inside: own user, process, mount, network, IPC, host-name and cgroup namespaces, no network, a read-only
    /usr, one temporary folder of limited size, a cleared environment, no privileges. Outside: an unprivileged
    user, who differs from jail to jail, where Measurand runs as root. Memory is limited for each process, not
    for their sum.

    `parallel` is how many programs run at once; by default one for each core.
    """

    def __init__(self, parallel: int | None = None) -> None:
        self._parallel = parallel or _cores()
        self._found: Room | str = ""
        self._finding = threading.Lock()
        self._turns = itertools.count()
        self._gate: tuple[asyncio.AbstractEventLoop, asyncio.Semaphore] | None = None

    def describe(self) -> Isolation:
        """The isolation found by building a jail, once."""
        found = self._find()
        if isinstance(found, str):
            return Isolation("none", "bubblewrap", found)
        return Isolation("namespaces", "bubblewrap", f"Python {found.version} inside")

    async def run(self, program: Program) -> Result:
        """Run one program. Raises SandboxError where no jail can be built; then nothing is executed."""
        found = self._found or await asyncio.to_thread(self._find)
        if isinstance(found, str):
            raise SandboxError(found)
        async with self._turnstile():
            start = partial(self._start, found)
            if isinstance(program, FunctionTest):
                return await run_function_test(start, program)
            return await run_script(start, program)

    async def close(self) -> None:
        """Nothing is left to do: every program has been cleared away before its result was given."""

    def _start(self, room: Room, driver: str, job: tuple[object, ...], limits: Limits, **options: Any) -> Jail:
        return Jail(room, driver, job, limits, uid=outside_uid(next(self._turns)), **options)

    def _find(self) -> Room | str:
        with self._finding:
            if not self._found:
                try:
                    self._found = find_room()
                except SandboxError as error:
                    self._found = str(error)
        return self._found

    def _turnstile(self) -> asyncio.Semaphore:
        """A semaphore belongs to one event loop; a sandbox may outlive several."""
        loop = asyncio.get_running_loop()
        if self._gate is None or self._gate[0] is not loop:
            self._gate = loop, asyncio.Semaphore(self._parallel)
        return self._gate[1]


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
