"""A fresh bubblewrap for each jail: slower than the fork-server, and with less to ask of the machine."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import signal
import subprocess
from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING, Any

from measurand.sandboxes.jailed import Handed, Jail, readable
from measurand.sandboxes.jailer import Found, Jailer
from measurand.sandboxes.room import SEALED, Room, as_user, close_all, filter_file, find_room, module_files, outside_uid

if TYPE_CHECKING:
    from measurand.core.program import Program
    from measurand.sandboxes.verdict import StartJail

_SIGNALLED = 128
_INIT = re.compile(rb'"child-pid": (\d+)')


class Bubblewrap(Jailer):
    """A sandbox that lets bubblewrap build each jail, under a user that differs from jail to jail as root."""

    by = "bubblewrap"

    def __init__(self, parallel: int | None = None) -> None:
        super().__init__(parallel)
        self._turns = itertools.count()

    def find(self) -> Found:
        """Build a jail and look around in it."""
        return Found(find_room())

    @contextlib.asynccontextmanager
    async def starting(self, room: Room, program: Program) -> AsyncIterator[StartJail]:
        """Each jail is on its own."""
        del program
        yield partial(self._start, room)

    def _start(self, room: Room, *args: Any, **options: Any) -> BubblewrapJail:
        return BubblewrapJail(room, outside_uid(next(self._turns)), *args, **options)


class BubblewrapJail(Jail):
    """A jail that bubblewrap builds; its process outside ends right after the first process inside."""

    def __init__(self, room: Room, uid: int | None, *args: Any, **options: Any) -> None:
        self._room = room
        self._uid = uid
        super().__init__(*args, **options)

    def _launch(self, handed: Handed) -> None:
        files = module_files(handed.driver)
        seccomp = filter_file()
        package = "measurand.sandboxes.jail"
        code = f"from {package}.{handed.driver} import run; from {package}.inside import enter; run(*enter())"
        passed = [handed.job, handed.begun, *handed.channels]
        options = (*SEALED, "--info-fd", str(handed.informed), "--seccomp", str(seccomp))
        command = self._room.command(code, disk_bytes=handed.limits.disk_bytes, files=files, options=options)
        temporary = [seccomp, *(fd for fd, _ in files)]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own command; the program comes by descriptor
                [*command, *map(str, passed)],
                stdin=handed.stdin,
                stdout=handed.out,
                stderr=handed.err,
                pass_fds=[*passed, handed.informed, *temporary],
                start_new_session=True,
                **as_user(self._uid),
            )
        finally:
            close_all(temporary)

    def _first_process(self, said: bytes, fds: list[int]) -> int | None:
        del fds
        found = _INIT.search(said)
        return os.pidfd_open(int(found[1])) if found else None

    async def _bury(self) -> None:
        if self._init is not None:
            await readable(self._init)  # bubblewrap leaves as soon as its first process has said how all ended
            bury(self._init)
        pidfd = os.pidfd_open(self._process.pid)
        try:
            await readable(pidfd)
        finally:
            os.close(pidfd)
        self._process.poll()

    def _unreported_code(self) -> int:
        code = self._process.returncode
        if code is None:
            return -signal.SIGKILL
        return _SIGNALLED - code if code > _SIGNALLED else code


def bury(pidfd: int) -> None:
    """Reap an orphan that fell to us, as it does where we are the first process of a container."""
    with contextlib.suppress(ChildProcessError):
        os.waitid(os.P_PIDFD, pidfd, os.WEXITED | os.WNOHANG)
