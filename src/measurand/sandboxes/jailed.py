"""One jail while it lives: bubblewrap's process, the namespace behind it, and what comes out of it."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import re
import signal
import subprocess
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from measurand.core.errors import SandboxError
from measurand.sandboxes.jail.codec import CodecError, encode
from measurand.sandboxes.jail.inside import REPORT
from measurand.sandboxes.room import Room, memory_file, module_files

if TYPE_CHECKING:
    from measurand.core.program import Limits

DEATH_SECONDS = 5.0
"""How long the kernel may take to end what was killed."""

_SIGNALLED = 128
_INIT = re.compile(rb'"child-pid": (\d+)')
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


class Jail:
    """A program in its own namespaces, started at once. `kill` must be awaited whatever happens.

    `driver` is a module of `sandboxes.jail`; it gets `job` and the descriptors `channels`, which stay open here.
    `ended` is done when bubblewrap has ended, `full` when there is more output than the limit allows. After
    `kill`, `begun` says whether the jail was built and the driver took over, and `code`, `signal` and
    `cpu_seconds` how the program ended by itself. The latter are reported from inside, where the program could
    change them: they may explain a failure but never make a success.
    """

    def __init__(  # noqa: PLR0913 - it is the one place where a process is started
        self,
        room: Room,
        driver: str,
        job: Sequence[object],
        limits: Limits,
        *,
        uid: int | None,
        channels: Sequence[int] = (),
        stdin: bytes | None = None,
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
        self.cpu_seconds = 0.0
        self._limits = limits
        self._informed = asyncio.Event()
        self._init: int | None = None
        ours, theirs = _pipes(4)
        info, begun, out, err = theirs
        files = module_files(driver)
        job_fd = memory_file(job_data)
        stdin_fd = memory_file(stdin or b"")
        code = f"from {_module(driver)} import run; run()"
        command = room.command(code, disk_bytes=limits.disk_bytes, files=files, options=("--info-fd", str(info)))
        passed = [job_fd, begun, *channels]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own command; the program comes by descriptor
                [*command, *map(str, passed)],
                stdin=subprocess.DEVNULL if stdin is None else stdin_fd,
                stdout=out,
                stderr=err,
                pass_fds=[*passed, info, *(fd for fd, _ in files)],
                start_new_session=True,
                user=uid,
                group=uid,
                extra_groups=None if uid is None else [],
            )
            self._pidfd = os.pidfd_open(self._process.pid)
        except OSError as error:
            close_all(ours)
            raise SandboxError(f"no process could be started: {error}") from error
        finally:
            close_all([job_fd, stdin_fd, *theirs, *(fd for fd, _ in files)])
        self._info, self._begun = ours[:2]
        self._taps = [Tap(fd, limits.output_bytes, self._overflow) for fd in ours[2:]]
        os.set_blocking(self._begun, False)
        self._loop.add_reader(self._info, self._learn_init)
        self._loop.add_reader(self._pidfd, self._reap)

    @property
    def timed_out(self) -> bool:
        """Whether it was ended by its limit of processor time; the second signal is for those who ignore the first."""
        return self.signal == "SIGXCPU" or (self.signal == "SIGKILL" and self.cpu_seconds >= _cpu(self._limits))

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

        The first process of a namespace takes all others with it, however they were detached. Bubblewrap names it
        as soon as it exists; were bubblewrap killed before, that process could be left waiting for it.
        """
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(DEATH_SECONDS):
                    await self._informed.wait()
            if self._init is not None:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._init, signal.SIGKILL)
            elif not self.ended.done():
                self._process.kill()
            async with asyncio.timeout(DEATH_SECONDS):
                if self._init is not None:
                    await _readable(self._init)
                    _bury(self._init)
                await self.ended
        except TimeoutError:
            raise SandboxError(f"a jail could not be ended within {DEATH_SECONDS:g} seconds") from None
        finally:
            self._let_go()

    def _let_go(self) -> None:
        for fd in (self._info, self._pidfd):
            self._loop.remove_reader(fd)
        for tap in self._taps:
            tap.close()
        self._hear(_take(self._begun))
        close_all([self._info, self._pidfd, self._begun, *([] if self._init is None else [self._init])])

    def _learn_init(self) -> None:
        self._loop.remove_reader(self._info)
        self._informed.set()
        said = _INIT.search(_take(self._info))
        if said:
            with contextlib.suppress(ProcessLookupError):
                self._init = os.pidfd_open(int(said[1]))

    def _hear(self, said: bytes) -> None:
        """Take the watcher's report; where there is none, what bubblewrap says must do."""
        self.begun = said[:1] == b"!"
        code = -signal.SIGKILL if self._process.returncode is None else self._process.returncode
        if len(said) == 1 + REPORT.size:
            status, self.cpu_seconds = REPORT.unpack(said[1:])
            code = os.waitstatus_to_exitcode(status)
        elif code > _SIGNALLED:
            code = _SIGNALLED - code
        self.code = max(code, 0)
        if code < 0:
            self.signal = _signal_name(-code)

    def _reap(self) -> None:
        self._loop.remove_reader(self._pidfd)
        self._process.wait()
        if not self.ended.done():
            self.ended.set_result(None)

    def _overflow(self) -> None:
        if not self.full.done():
            self.full.set_result(None)


def printable(text: str) -> str:
    """The text with control characters and lone surrogates escaped; safe to store and to show."""
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def close_all(fds: Sequence[int]) -> None:
    """Close descriptors."""
    for fd in fds:
        os.close(fd)


def _bury(pidfd: int) -> None:
    """Reap an orphan that fell to us, as it does where we are the first process of a container."""
    with contextlib.suppress(ChildProcessError):
        os.waitid(os.P_PIDFD, pidfd, os.WEXITED | os.WNOHANG)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _pipes(count: int) -> tuple[list[int], list[int]]:
    pairs = [os.pipe() for _ in range(count)]
    return [reading for reading, _ in pairs], [writing for _, writing in pairs]


def _take(fd: int) -> bytes:
    os.set_blocking(fd, False)
    try:
        return os.read(fd, _CHUNK)
    except BlockingIOError:
        return b""


def _module(driver: str) -> str:
    return f"measurand.sandboxes.jail.{driver}"


def _cpu(limits: Limits) -> int:
    return max(1, math.ceil(limits.cpu_seconds))


def _inner(limits: Limits) -> dict[str, int]:
    return {
        "cpu": _cpu(limits),
        "memory": limits.memory_bytes,
        "disk": limits.disk_bytes,
        "processes": limits.processes,
    }


async def _readable(fd: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(fd, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(fd)
