"""Jails forked from a warm interpreter inside bubblewrap: the default for short programs."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import select
import signal
import socket
import subprocess
import weakref
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from measurand.core.errors import SandboxError
from measurand.core.program import FunctionTest
from measurand.sandboxes.cgroup import Group, make_group
from measurand.sandboxes.examiner import Examination, Examiner
from measurand.sandboxes.jail.server import DRIVERS, READY, REQUEST
from measurand.sandboxes.jailed import DEATH_SECONDS, Handed, Jail
from measurand.sandboxes.jailer import Found, Jailer
from measurand.sandboxes.room import (
    Room,
    as_user,
    close_all,
    filter_file,
    find_room,
    module_files,
    outside_uid,
    try_room,
)
from measurand.sandboxes.usage import descendants

if TYPE_CHECKING:
    from measurand.core.program import Limits, Program
    from measurand.sandboxes.verdict import Confined, StartJail

RECYCLED_AFTER = 500
"""Programs that one server serves."""

_START_SECONDS = 20
_MODULES = (*DRIVERS, "test_driver", "server")
_OPTIONS = ("--proc", "/proc", "--dir", "/empty")
_DISK_BYTES = 1 << 20
_OWN_BYTES = 1 << 26
"""Memory of the server itself and of what all interpreters share, beside what a program may use."""


class ForkServer(Jailer):
    """A sandbox that keeps one server for each program that may run at once, and forks the program's jails from it.

    A server is replaced after some hundred programs and whenever anything about it is out of order. As root, each
    runs under a user of its own, and in control groups that limit the memory of a program's processes together. A
    candidate has a jail to itself; the jail of its test is kept for the next candidate of the same test.
    """

    by = "warm fork-server"

    def __init__(self, parallel: int | None = None) -> None:
        super().__init__(parallel)
        self._turns = itertools.count()
        self._idle: list[Server] = []
        weakref.finalize(self, _close_all, self._idle)

    def find(self) -> Found:
        """Build a room, and in it a server and one jail of it."""
        room = find_room()
        try:
            try_room(room, "from measurand.sandboxes.jail.server import trial; trial()", _MODULES, _OPTIONS)
        except SandboxError as error:
            raise SandboxError(f"the fork-server cannot build a jail: {error}") from error
        group = make_group()
        if group:
            group.remove()
        return Found(room, "; memory limited by control group" if group else "; memory watched, without control group")

    @contextlib.asynccontextmanager
    async def starting(self, room: Room, program: Program) -> AsyncIterator[StartJail]:
        """Jails of one server, which is used again only if all went well."""
        server = await self._borrow(room, program)
        try:
            await server.prepare(program)
            yield partial(_start, server)
            server.demand_life()
        except BaseException:
            server.close()
            raise
        if server.served < RECYCLED_AFTER:
            self._idle.append(server)
        else:
            server.close()

    async def close(self) -> None:
        """End the servers. A program that runs afterwards starts one again."""
        _close_all(self._idle)

    async def _borrow(self, room: Room, program: Program) -> Server:
        """A server that has an examiner of the program's test, else any that lives, else a new one."""
        self._idle.sort(key=lambda server: server.has_examiner_for(program))
        while self._idle:
            server = self._idle.pop()
            if server.lives():
                return server
            server.close()
        server = Server(room, outside_uid(next(self._turns)))
        try:
            await server.be_ready()
        except BaseException:
            server.close()
            raise
        return server


class Server:
    """A warm interpreter in bubblewrap, seen from outside. It must be closed."""

    def __init__(self, room: Room, uid: int | None) -> None:
        self.served = 0
        self._examiner: Examiner | None = None
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control.setblocking(False)
        files = module_files(*_MODULES)
        fds = [filter_file(), *(fd for fd, _ in files)]
        code = "from measurand.sandboxes.jail.server import main; run = main(); run and run()"
        command = room.command(code, disk_bytes=_DISK_BYTES, files=files, options=_OPTIONS)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own command
                [*command, str(theirs.fileno()), str(fds[0])],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=[theirs.fileno(), *fds],
                start_new_session=True,
                **as_user(uid),
            )
        except OSError as error:
            self.control.close()
            raise SandboxError(f"no process could be started: {error}") from error
        finally:
            close_all(fds)
            theirs.close()
        self._group: Group | None = None
        self._victims = 0

    async def be_ready(self) -> None:
        """Wait for it, and put it into control groups, whose limits all that it forks will share."""
        try:
            async with asyncio.timeout(_START_SECONDS):
                said = await asyncio.get_running_loop().sock_recv(self.control, 64)
        except (OSError, TimeoutError) as error:
            raise SandboxError(f"the fork-server did not start: {type(error).__name__}") from error
        if said != READY:
            raise SandboxError(f"the fork-server did not start: {self._last_words()}; see `measurand doctor`")
        self._group = make_group()
        if self._group:
            self._group.take(descendants(self._process.pid))

    def has_examiner_for(self, program: Program) -> bool:
        """Whether the jail of that program's test is there already."""
        return (
            isinstance(program, FunctionTest)
            and self._examiner is not None
            and self._examiner.serves(_test_of(program), program.limits)
        )

    async def prepare(self, program: Program) -> None:
        """Set the limits that the jails of one program have together, and end an examiner that is of no use to it."""
        self.served += 1
        if self._examiner and not self.has_examiner_for(program):
            examiner, self._examiner = self._examiner, None
            await examiner.close()
        limits = program.limits
        if self._group:
            self._group.limit(limits.memory_bytes + limits.disk_bytes + _OWN_BYTES, 2 * limits.processes + 8)

    def examine(self, test: Sequence[object], nonce: bytes, limits: Limits, channels: Sequence[int]) -> Examination:
        """Begin the examination of a candidate, by the examiner of the test."""
        if self._examiner is None:  # `prepare` has left none of another test
            self._examiner = Examiner(self._start_examiner, test, limits)
        return Examination(self._examiner, nonce, channels)

    def _start_examiner(self, test: Sequence[object], limits: Limits, control: int) -> ForkedJail:
        return ForkedJail(self, "examiner_driver", test, limits, channels=(control,))

    def has_starved(self) -> bool:
        """Whether some process was ended for lack of memory since this was asked last."""
        before, self._victims = self._victims, self._group.victims() if self._group else 0
        return self._victims > before

    def lives(self) -> bool:
        """Whether it waits for our requests: it says nothing, has not closed the connection, and serves this loop."""
        if self._examiner and not self._examiner.belongs_here:
            return False
        return not select.select([self.control], [], [], 0)[0]

    def demand_life(self) -> None:
        """Raise SandboxError unless it lives still."""
        if not self.lives():
            raise SandboxError("the fork-server ended while a program ran, so its result does not count; try again")

    def close(self) -> None:
        """End it and all its jails. May be called twice."""
        self.control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.2)
        for process in descendants(self._process.pid)[::-1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self._process.wait(DEATH_SECONDS)
        if self._examiner:
            self._examiner.let_go()
            self._examiner = None
        if self._process.stdout:
            self._process.stdout.close()
        if self._group:
            self._group.remove()

    def _last_words(self) -> str:
        assert self._process.stdout is not None  # noqa: S101 - it was asked for
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
            said: bytes = self._process.stdout.read()
            return (said.decode(errors="replace").strip().splitlines() or ["it said nothing"])[-1][:300]
        return "it gave no reason"


class ForkedJail(Jail):
    """A jail that a server forks."""

    def __init__(self, server: Server, *args: Any, **options: Any) -> None:
        self._server = server
        super().__init__(*args, **options)

    def _launch(self, handed: Handed) -> None:
        request = REQUEST.pack(handed.limits.disk_bytes, DRIVERS.index(handed.driver))
        standard = (handed.stdin, handed.out, handed.err)
        fds = [handed.job, *standard, handed.begun, handed.informed, *handed.channels]
        socket.send_fds(self._server.control, [request], fds)

    def _first_process(self, said: bytes, fds: list[int]) -> int | None:
        return fds[0] if said and fds else None

    def _starved(self) -> bool:
        return self._server.has_starved()


def _start(server: Server, driver: str, job: Sequence[Any], limits: Limits, **options: Any) -> Confined:
    """A jail of its own, but for tests: they have an examiner."""
    if driver != "test_driver":
        return ForkedJail(server, driver, job, limits, **options)
    *test, nonce = job
    return server.examine(test, nonce, limits, **options)


def _test_of(program: FunctionTest) -> tuple[str, str, str]:
    """What `verdict` hands to the jail of a test, but for the nonce."""
    return program.preamble, program.test, program.entry_point


def _close_all(servers: list[Server]) -> None:
    while servers:
        servers.pop().close()
