"""What all sandboxes of jails have in common: found once by trying, so many programs at a time, fair limits."""

from __future__ import annotations

import asyncio
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Hashable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

import msgspec

from measurand.core.errors import SandboxError
from measurand.core.ports import Isolation
from measurand.core.program import FunctionTest, Limits, Program, Result
from measurand.sandboxes.clock import scaled
from measurand.sandboxes.lanes import Lanes
from measurand.sandboxes.room import Room, users
from measurand.sandboxes.verdict import StartJail, run_function_test, run_script


@dataclass(frozen=True, slots=True)
class Found:
    """A room that was tried, and what is to be said of how it was found."""

    room: Room
    remark: str = ""


class Jailer(ABC):
    """A sandbox that runs each program in jails of its own and leaves nothing of them behind.

    Inside: own user, process, mount, network, IPC, host-name and cgroup namespaces, no network, a read-only
    system, one temporary folder of limited size, a cleared environment, no privileges, and a filter of system
    calls. Outside: an unprivileged user, even where Measurand runs as root.

    `parallel` is how many programs run at once; by default one more than there are cores, which is being
    started or cleared away while the others run.
    """

    by: str
    """What isolates, in a few words."""

    def __init__(self, parallel: int | None = None) -> None:
        self.parallel = parallel or _cores() + 1
        self._found: Found | str = ""
        self._finding = threading.Lock()
        self._gate: tuple[asyncio.AbstractEventLoop, Lanes] | None = None

    def describe(self) -> Isolation:
        """The isolation found by building a jail, once."""
        found = self._find()
        if isinstance(found, str):
            return Isolation("none", self.by, found)
        return Isolation("namespaces", self.by, f"{_conditions(found.room)}{self.extra()}{found.remark}")

    async def run(self, program: Program) -> Result:
        """Run one program. Raises SandboxError where no jail can be built; then nothing is executed."""
        found = self._found or await asyncio.to_thread(self._find)
        if isinstance(found, str):
            raise SandboxError(found)
        program = msgspec.structs.replace(program, limits=scaled(program.limits, found.room.factor))
        async with self._lanes().turn(_lane(program)), self.starting(found.room, program) as start:
            if isinstance(program, FunctionTest):
                return await run_function_test(start, program)
            return await run_script(start, program)

    async def close(self) -> None:  # noqa: B027 - the default is enough for whoever keeps nothing
        """Nothing is left to do: every program has been cleared away before its result was given."""

    @abstractmethod
    def find(self) -> Found:
        """Try. Raises SandboxError with what is missing and how to mend it."""

    @abstractmethod
    def starting(self, room: Room, program: Program) -> AbstractAsyncContextManager[StartJail]:
        """A way to start the jails of one program."""

    def extra(self) -> str:
        """More conditions for `describe`, each after a semicolon."""
        return ""

    def _find(self) -> Found | str:
        with self._finding:
            if not self._found:
                try:
                    self._found = self.find()
                except SandboxError as error:
                    self._found = str(error)
        return self._found

    def _lanes(self) -> Lanes:
        """Turns belong to one event loop; a sandbox may outlive several."""
        loop = asyncio.get_running_loop()
        if self._gate is None or self._gate[0] is not loop:
            self._gate = loop, Lanes(self.parallel)
        return self._gate[1]


def _lane(program: Program) -> Hashable:
    """What programs share whose tests are the same; a script stands alone."""
    return (program.preamble, program.test, program.entry_point) if isinstance(program, FunctionTest) else object()


def _conditions(room: Room) -> str:
    limits = Limits()
    return (
        f"Python {room.version} inside; {users()}; seconds of processor time count {room.factor:g} times; "
        f"by default {limits.cpu_seconds:g} s of processor time, {limits.memory_bytes >> 20} MiB of memory, "
        f"{limits.disk_bytes >> 20} MiB of disk, {limits.processes} processes"
    )


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
