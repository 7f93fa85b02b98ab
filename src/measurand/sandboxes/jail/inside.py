"""The first thing that runs inside a jail: it sets the limits, says that it has begun, and hands over the job."""

from __future__ import annotations

import os
import resource
import struct
import sys

from measurand.sandboxes.jail.codec import MAX_BYTES, CodecError, decode, encode

TYPE_CHECKING = False  # a bare interpreter takes longer to import typing than for all else here
if TYPE_CHECKING:
    from typing import Any, NoReturn

MAX_TEXT = 2000
"""Characters of an error's text that are kept."""

BEGUN = b"!"

REPORT = struct.Struct(">id")
"""What the watcher reports: the wait status of its child, and the seconds of processor time it used."""

_LENGTH = struct.Struct(">I")


def enter() -> tuple[tuple[Any, ...], list[int]]:
    """Take the job and the channels from the command line, in a process that bubblewrap has just started.

    The command line holds file descriptors: the job, the pipe of the watcher, and the channels. The job runs in a
    child; its parent, the watcher, says in the end how the child ended and what it used, for which there is no way
    around bubblewrap.
    """
    job_fd, watcher_fd, *channels = [int(number) for number in sys.argv[1:]]
    job = take(job_fd)
    child = os.fork()
    if child:
        _watch(child, watcher_fd, channels)
    begin(watcher_fd)
    return job, channels


def take(job_fd: int) -> tuple[Any, ...]:
    """Read the job, and from here on keep to its limits."""
    with open(job_fd, "rb") as file:
        limits, *job = decode(file.read())
    _limit(**limits)
    return tuple(job)


def begin(watcher_fd: int) -> None:
    """Say that the jail has been built, and let go of the last thing that is not the program's own."""
    os.write(watcher_fd, BEGUN)
    os.close(watcher_fd)
    sys.argv[1:] = []
    del sys.path[0]  # where our own modules are


def _watch(child: int, watcher_fd: int, channels: list[int]) -> NoReturn:
    """Wait for the child, report, and leave, which ends whatever it left running."""
    for channel in channels:
        os.close(channel)
    _, status, usage = os.wait4(child, 0)
    os.write(watcher_fd, report(status, usage))
    os._exit(0)


def report(status: int, usage: resource.struct_rusage) -> bytes:
    """The report of how a program ended."""
    return REPORT.pack(status, usage.ru_utime + usage.ru_stime)


def _limit(*, cpu: int, memory: int, disk: int, processes: int) -> None:
    """Limits inside the jail's own user namespace, where the number of processes is counted apart."""
    for what, most in (
        (resource.RLIMIT_CPU, cpu),
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, disk),
        (resource.RLIMIT_NPROC, processes),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
    ):
        _, before = resource.getrlimit(what)
        if before != resource.RLIM_INFINITY:
            most = min(most, before)  # noqa: PLW2901 - a limit can only be lowered
        resource.setrlimit(what, (most, most))


def define(name: str, source: str) -> dict[str, Any]:
    """Run a source as a module of that name, and return its namespace. Random numbers are repeatable."""
    if "random" in source:
        import random

        random.seed(0)
    module = type(sys)(name)
    sys.modules[name] = module
    execute(source, name, module.__dict__)
    return module.__dict__


def execute(source: str, name: str, namespace: dict[str, Any]) -> None:
    """Run a source in a namespace, under its own `from __future__` only."""
    exec(compile(source, f"{name}.py", "exec", dont_inherit=True), namespace)  # noqa: S102 - this is the jail


def text_of(error: BaseException) -> str:
    """The text of an error, short; its `__str__` may be anybody's."""
    try:
        return str(error)[:MAX_TEXT]
    except Exception:  # noqa: BLE001 - an error that cannot be shown is no reason to stop
        return ""


class Channel:
    """Values to and from another process, over two pipes."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    def send(self, value: object) -> None:
        """Send one value. Raises CodecError before anything is sent, and OSError where nobody listens."""
        write_frame(self._outgoing, encode(value))

    def receive(self) -> Any:
        """The next value. Raises EOFError at the end, and CodecError for what is no value."""
        (length,) = _LENGTH.unpack(self._read(_LENGTH.size))
        if length > MAX_BYTES:
            raise CodecError("a frame that is too long")
        return decode(self._read(length))

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            more = os.read(self._incoming, min(size - len(data), 1 << 20))
            if not more:
                raise EOFError
            data += more
        return bytes(data)


def write_frame(fd: int, payload: bytes) -> None:
    """Write a length and so many bytes."""
    data = memoryview(_LENGTH.pack(len(payload)) + payload)
    while data:
        data = data[os.write(fd, data) :]


def read_frames(data: bytes) -> list[bytes]:
    """The whole frames at the start of some bytes."""
    frames = []
    while len(data) >= _LENGTH.size:
        (length,) = _LENGTH.unpack_from(data)
        frame = data[_LENGTH.size : _LENGTH.size + length]
        if len(frame) < length:
            break
        frames.append(frame)
        data = data[_LENGTH.size + length :]
    return frames
