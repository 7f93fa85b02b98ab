"""A test's jail that examines one candidate after another: what a test costs to set up is paid once for its samples."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from measurand.core.errors import SandboxError
from measurand.sandboxes.jail.examiner_driver import READY

if TYPE_CHECKING:
    from measurand.core.program import Limits
    from measurand.sandboxes.jailed import Jail
    from measurand.sandboxes.usage import Usage

StartExaminer = Callable[[Sequence[object], "Limits", int], "Jail"]
"""Starts a jail with `examiner_driver`: of a test, its limits, and the descriptor of the jail's control socket."""


class Examiner:
    """The jail of a test, between its examinations. It must be closed, or let go where its jail has been ended."""

    def __init__(self, start: StartExaminer, test: Sequence[object], limits: Limits) -> None:
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control.setblocking(False)
        self.limits = limits
        self.spent = 0.0
        self.closed = False
        self._test = tuple(test)
        self._loop = asyncio.get_running_loop()
        with theirs:
            try:
                self.jail = start(test, limits, theirs.fileno())
            except BaseException:
                self.control.close()
                raise

    @property
    def belongs_here(self) -> bool:
        """Whether it was started in the event loop that runs."""
        return self._loop is asyncio.get_running_loop()

    def serves(self, test: Sequence[object], limits: Limits) -> bool:
        """Whether it can examine with that test. It leaves the kernel's limit of processor time far away."""
        return (
            (self._test, self.limits) == (tuple(test), limits)
            and not self.jail.ended.done()
            and self.spent <= limits.cpu_seconds
        )

    async def close(self) -> None:
        """End it. May be called twice."""
        if not self.closed:
            self.closed = True
            self.control.close()
            await self.jail.kill()

    def let_go(self) -> None:
        """Close what is open here, where somebody has ended the jail."""
        if not self.closed:
            self.closed = True
            self.control.close()
            self.jail.let_go()


class Examination:
    """One examination; to those who wait for it, the jail of a test that examines once.

    `kill` leaves the examiner alone where it is ready for another candidate, and ends it otherwise.
    """

    def __init__(self, examiner: Examiner, nonce: bytes, channels: Sequence[int]) -> None:
        self._examiner = examiner
        self._jail = examiner.jail
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[None] = self._loop.create_future()
        self.full = self._jail.full
        self.cpu_seconds = 0.0
        self._ready = False
        self._waited_before: float | None = None
        try:
            socket.send_fds(examiner.control, [nonce], channels)
        except OSError as error:
            raise SandboxError(f"the jail of the test ended before it had anybody to examine: {error}") from error
        self._loop.add_reader(examiner.control.fileno(), self._listen)
        self._jail.ended.add_done_callback(self._end)

    @property
    def begun(self) -> bool:
        """Whether the jail was built."""
        return self._ready or self._jail.begun

    @property
    def code(self) -> int:
        """The exit code, where the examiner left."""
        return self._jail.code

    @property
    def signal(self) -> str:
        """What ended the examiner, if anything did."""
        return self._jail.signal

    @property
    def starved(self) -> bool:
        """Whether the kernel ended the examiner for lack of memory."""
        return self._jail.starved

    @property
    def stderr(self) -> str:
        """Why the jail could not be built."""
        return self._jail.stderr

    @property
    def stdout(self) -> str:
        """Nothing, for a test is silent."""
        return self._jail.stdout

    @property
    def usage(self) -> Usage:
        """What this examination uses, as seen from outside; memory is that of the whole jail.

        Waiting counts from the first look, for looking costs more than most examinations take.
        """
        now = self._jail.usage
        if self._waited_before is None:
            self._waited_before = now.waited
        return replace(
            now,
            cpu_seconds=now.cpu_seconds - self._examiner.spent,
            waited=max(now.waited - self._waited_before, 0.0),
        )

    @property
    def most_cpu_seconds(self) -> float:
        """The processor time that it may use."""
        return self._jail.most_cpu_seconds

    @property
    def timed_out(self) -> bool:
        """Whether it has used more processor time than it may."""
        return self.cpu_seconds > self.most_cpu_seconds

    async def kill(self) -> None:
        """Come to an end, and take the examiner with it unless that is ready for another."""
        self._loop.remove_reader(self._examiner.control.fileno())
        self._jail.ended.remove_done_callback(self._end)
        if not self._ready:
            await self._examiner.close()
            self.cpu_seconds = self._jail.cpu_seconds - self._examiner.spent

    def _listen(self) -> None:
        """Hear that the examiner is ready for another. Where it leaves instead, its jail says when that has ended."""
        said = self._examiner.control.recv(READY.size)
        self._loop.remove_reader(self._examiner.control.fileno())
        if said:
            (spent,) = READY.unpack(said)
            self.cpu_seconds = spent - self._examiner.spent
            self._examiner.spent = spent
            self._ready = True
            self._end()

    def _end(self, _: object = None) -> None:
        if not self.ended.done():
            self.ended.set_result(None)
