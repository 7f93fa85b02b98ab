"""One jail while it lives: its first process, what comes out of it, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from measurand.core.errors import SandboxError
from measurand.sandboxes.clock import kernel_cpu_seconds
from measurand.sandboxes.jail.codec import CodecError, encode
from measurand.sandboxes.jail.inside import BEGUN, REPORT
from measurand.sandboxes.room import close_all, memory_file
from measurand.sandboxes.usage import Usage, usage_of

if TYPE_CHECKING:
    from measurand.core.program import Limits

DEATH_SECONDS = 5.0
"""How long the kernel may take to end what was killed."""

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_CHUNK = 1 << 16


class Tap:
    """Reads a pipe as it fills, keeps the first bytes of it, and says when there are too many."""

    def __init__(self, fd: int, limit: int, on_full: Callable[[], None]) -> None:
        self.kept = bytearray()
        self._fd = fd
        self._limit = limit
        self._on_full = on_full
        self._loop = asyncio.get_running_loop()
        os.set_blocking(fd, False)
        self._loop.add_reader(fd, self.drain)

    def drain(self) -> None:
        """Read what is there, once."""
        try:
            data = os.read(self._fd, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._loop.remove_reader(self._fd)
            return
        room = self._limit - len(self.kept)
        self.kept += data[:room]
        if len(data) > room:
            self._on_full()

    def close(self) -> None:
        """Take the rest, as far as it may be kept, and close."""
        while len(self.kept) < self._limit:
            before = len(self.kept)
            self.drain()
            if len(self.kept) == before:
                break
        self._loop.remove_reader(self._fd)
        os.close(self._fd)


@dataclass(frozen=True, slots=True)
class Handed:
    """What a new jail is given, as descriptors that are closed here as soon as it has been started."""

    driver: str
    job: int
    stdin: int
    out: int
    err: int
    begun: int
    informed: int
    channels: tuple[int, ...]
    limits: Limits


class Jail(ABC):
    """A program in its own namespaces, started at once. `kill` must be awaited whatever happens.

    `driver` is a module of `sandboxes.jail`; it gets `job` and the descriptors `channels`, which stay open here.
    `ended` is done when nothing of the jail lives any more, `full` when there is more output than the limit allows.
    After `kill`, `begun` says whether the jail was built and the driver took over, `starved` whether the kernel
    ended it for lack of memory, and `code`, `signal` and `cpu_seconds` how the program ended by itself. The latter
    may be reported from inside, where the program could change them: they may explain a failure but never make a
    success.
    """

    def __init__(
        self,
        driver: str,
        job: Sequence[object],
        limits: Limits,
        *,
        channels: Sequence[int] = (),
        stdin: bytes = b"",
    ) -> None:
        try:
            job_data = encode((_inner(limits), *job))
        except CodecError as error:
            raise SandboxError(f"the program cannot be handed over: it is {error}") from error
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[None] = self._loop.create_future()
        self.full: asyncio.Future[None] = self._loop.create_future()
        self.begun = False
        self.code = 0
        self.signal = ""
        self.starved = False
        self.cpu_seconds = 0.0
        self._limits = limits
        self._informed: asyncio.Future[None] = self._loop.create_future()
        self._said = b""
        self._init: int | None = None
        (begun, out, err), theirs = _pipes(3)
        self._info, informed = socket.socketpair()
        job_fd, stdin_fd, informed_fd = memory_file(job_data), memory_file(stdin), informed.detach()
        fds = [job_fd, stdin_fd, informed_fd, *theirs]
        try:
            self._launch(
                Handed(driver, job_fd, stdin_fd, theirs[1], theirs[2], theirs[0], informed_fd, tuple(channels), limits)
            )
        except OSError as error:
            close_all([begun, out, err, self._info.detach()])
            raise SandboxError(f"no process could be started: {error}") from error
        finally:
            close_all(fds)
        self._begun = begun
        os.set_blocking(begun, False)
        self._taps = [Tap(fd, limits.output_bytes, self._overflow) for fd in (out, err)]
        self._loop.add_reader(self._begun, self._listen)
        self._loop.add_reader(self._info.fileno(), self._learn_init)

    @abstractmethod
    def _launch(self, handed: Handed) -> None:
        """Start it. Raises OSError, and SandboxError where only trying again will help."""

    @abstractmethod
    def _first_process(self, said: bytes, fds: list[int]) -> int | None:
        """A descriptor of the jail's first process, from what came over the socket `informed`."""

    @property
    def usage(self) -> Usage:
        """What it uses at the moment, as seen from outside."""
        return Usage() if self._init is None else usage_of(self._init)

    @property
    def most_cpu_seconds(self) -> float:
        """The processor time that it may use."""
        return self._limits.cpu_seconds

    @property
    def timed_out(self) -> bool:
        """Whether it has used more processor time than it may."""
        return self.cpu_seconds > self.most_cpu_seconds

    @property
    def stdout(self) -> str:
        """What it wrote, as printable text."""
        return printable(self._taps[0].kept.decode("utf-8", "backslashreplace"))

    @property
    def stderr(self) -> str:
        """What it wrote to the other stream."""
        return printable(self._taps[1].kept.decode("utf-8", "backslashreplace"))

    async def kill(self) -> None:
        """End everything inside, wait until it is gone, and let go of all descriptors.

        The first process of a namespace takes all others with it, however they were detached. Who starts a jail
        names that process as soon as it exists.
        """
        try:
            async with asyncio.timeout(DEATH_SECONDS):
                await _done(self._informed)
                self._end()
                await _done(self.ended)
                await self._bury()
        except TimeoutError:
            raise SandboxError(f"a jail could not be ended within {DEATH_SECONDS:g} seconds") from None
        finally:
            self.let_go()

    def _end(self) -> None:
        """End the first process, and with it all others."""
        if self._init is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init, signal.SIGKILL)

    async def _bury(self) -> None:  # noqa: B027 - most kinds leave nothing to us
        """Reap what is left to us once the first process is gone."""

    def _unreported_code(self) -> int:
        """The exit code, negative for a signal, where the watcher has not reported it."""
        return -signal.SIGKILL

    def _starved(self) -> bool:
        """Whether some process of it was ended for lack of memory, where that can be known."""
        return False

    def let_go(self) -> None:
        """Close all descriptors, and hear how the program ended. Its end itself is up to whoever calls this."""
        for fd in (self._info.fileno(), self._begun):
            self._loop.remove_reader(fd)
        if self._init is not None:
            os.close(self._init)
        for tap in self._taps:
            tap.close()
        self._hear(self._said)
        os.close(self._begun)
        self._info.close()

    def _learn_init(self) -> None:
        self._loop.remove_reader(self._info.fileno())
        with contextlib.suppress(OSError):
            said, fds, _, _ = socket.recv_fds(self._info, _CHUNK, 1)
            self._init = self._first_process(said, fds)
        self._informed.set_result(None)

    def _listen(self) -> None:
        """Take what the watcher says; it closes the pipe when all is over, and nobody else in the jail has it."""
        with contextlib.suppress(BlockingIOError):
            while said := os.read(self._begun, _CHUNK):
                self._said += said
            self._loop.remove_reader(self._begun)
            self.ended.set_result(None)

    def _hear(self, said: bytes) -> None:
        """Take the watcher's report; where there is none, what is known outside must do."""
        self.begun = said.startswith(BEGUN)
        code = self._unreported_code()
        if len(said) == len(BEGUN) + REPORT.size:
            status, self.cpu_seconds = REPORT.unpack(said[len(BEGUN) :])
            code = os.waitstatus_to_exitcode(status)
        self.code = max(code, 0)
        if code < 0:
            self.signal = _signal_name(-code)
            self.starved = code == -signal.SIGKILL and self._starved()

    def _overflow(self) -> None:
        if not self.full.done():
            self.full.set_result(None)


def printable(text: str) -> str:
    """The text with control characters and lone surrogates escaped; safe to store and to show."""
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _pipes(count: int) -> tuple[list[int], list[int]]:
    pairs = [os.pipe() for _ in range(count)]
    return [reading for reading, _ in pairs], [writing for _, writing in pairs]


def _inner(limits: Limits) -> dict[str, int]:
    return {
        "cpu": kernel_cpu_seconds(limits),
        "memory": limits.memory_bytes,
        "disk": limits.disk_bytes,
        "processes": limits.processes,
    }


async def _done(future: asyncio.Future[None]) -> None:
    """Wait for a future that outlives whoever waits."""
    if not future.done():
        await asyncio.wait({future})


async def readable(fd: int) -> None:
    """Wait until a descriptor can be read; of a process, until it has ended."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(fd, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(fd)
