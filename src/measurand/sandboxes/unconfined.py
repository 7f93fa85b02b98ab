"""Programs without isolation, on a machine that has none and for whoever accepts that by name, for one run.

A program is a process of ours with limits, a cleared environment, a deadline outside, and an end of its process group.
Nothing keeps it from this user's files, from the network, from what else runs here, or from leaving its group.
"""

from __future__ import annotations

import contextlib
import os
import platform
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from measurand.core.errors import InputError, SandboxError
from measurand.core.ports import Isolation
from measurand.sandboxes.clock import WORK, factor_of
from measurand.sandboxes.jailed import Handed, Jail, readable
from measurand.sandboxes.jailer import Found, Jailer
from measurand.sandboxes.room import Interpreter, Room

if TYPE_CHECKING:
    from measurand.core.ports import Sandbox
    from measurand.core.program import Limits, Program
    from measurand.sandboxes.verdict import StartJail

SENTENCE = "I accept that model-written code runs as me"
"""What has to be typed."""

_SOURCE = Path(__file__).parents[2]
_TRIAL_SECONDS = 20
_UNCOUNTED = 1 << 20
"""The number of processes is not limited: the kernel would count all of this user's."""


def accept(sentence: str, found: Sandbox) -> Sandbox:
    """The sandbox that was found, if it isolates; else one that does not. Raises InputError for another sentence."""
    if sentence != SENTENCE:
        raise InputError(f'to run programs without isolation, type exactly: --no-isolation "{SENTENCE}"')
    isolation = found.describe()
    return found if isolation.level != "none" else Unconfined(isolation.detail)


class Unconfined(Jailer):
    """Runs programs as this user. `lacking` says why there is no isolation."""

    by = "nothing, as accepted on the command line"

    def __init__(self, lacking: str, parallel: int | None = None) -> None:
        super().__init__(parallel)
        self._lacking = lacking

    def describe(self) -> Isolation:
        """No isolation, why, and as whom programs run."""
        return Isolation("none", self.by, f"programs run as user {os.geteuid()}; {self._lacking}", accepted=True)

    def find(self) -> Found:
        """Our own interpreter, once it has shown how fast it is."""
        try:
            done = subprocess.run(  # noqa: S603 - our own command
                [sys.executable, "-sSB", "-c", WORK], capture_output=True, text=True, timeout=_TRIAL_SECONDS, check=True
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise SandboxError(f"no process could be started: {error}") from error
        factor = factor_of(float(done.stdout))
        return Found(Room("", Interpreter(sys.executable), platform.python_version(), factor))

    @asynccontextmanager
    async def starting(self, room: Room, program: Program) -> AsyncIterator[StartJail]:
        """Processes in a folder of their own, which is removed with what they left there."""
        del program
        with tempfile.TemporaryDirectory(prefix="measurand-", ignore_cleanup_errors=True) as folder:
            yield partial(Process, room.interpreter.path, folder)


class Process(Jail):
    """A process group in the place of a jail."""

    def __init__(self, python: str, folder: str, driver: str, job: Any, limits: Limits, **options: Any) -> None:
        self._python = python
        self._folder = folder
        super().__init__(driver, job, msgspec.structs.replace(limits, processes=_UNCOUNTED), **options)

    def _launch(self, handed: Handed) -> None:
        package = "measurand.sandboxes.jail"
        code = (
            f"import sys; sys.path[0] = {str(_SOURCE)!r}; from {package}.{handed.driver} import run; "
            f"from {package}.inside import enter; run(*enter())"
        )
        passed = [handed.job, handed.begun, *handed.channels]
        self._process = subprocess.Popen(  # noqa: S603 - our own command; the program comes by descriptor
            [self._python, "-sSB", "-c", code, *map(str, passed)],
            stdin=handed.stdin,
            stdout=handed.out,
            stderr=handed.err,
            pass_fds=passed,
            start_new_session=True,
            cwd=self._folder,
            env={"PATH": "/usr/bin:/bin", "HOME": self._folder, "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"},
        )

    def _first_process(self, said: bytes, fds: list[int]) -> int | None:
        del said, fds
        return os.pidfd_open(self._process.pid)

    def _end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # its number stays taken until it is reaped

    async def _bury(self) -> None:
        if self._init is not None:
            await readable(self._init)
        self._end()
        self._process.poll()

    def _unreported_code(self) -> int:
        code = self._process.returncode
        return -signal.SIGKILL if code is None else code
