"""The first program in a container: it starts a driver, and carries what belongs to it over the two streams there are.

It arrives as text on the command line, and reads from standard input a head (JSON after its length) and then what
goes to the driver's first channel. To standard output it writes frames: the number of a stream, a length, and bytes.
Stream 0 is the watcher's report, 1 and 2 are the program's output, 3 and so on its further channels. What runs here
may rewrite or end all of this; it then ends only itself.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import struct
import sys
import threading

TYPE_CHECKING = False  # a bare interpreter takes longer to import typing than for all else here
if TYPE_CHECKING:
    from typing import Any

FRAME = struct.Struct(">BI")
HEAD = struct.Struct(">I")
CHUNK = 1 << 16
_DUMPABLE = 4


def main() -> None:
    """Start the driver, carry until it has ended, and leave, which ends the container."""
    ctypes.CDLL(None).prctl(_DUMPABLE, 0, 0, 0, 0)
    head = json.loads(_exactly(HEAD.unpack(_exactly(HEAD.size))[0]))
    signal.setitimer(signal.ITIMER_REAL, head["seconds"])  # whatever becomes of the harness, nothing runs for ever
    for path, text in head["files"].items():
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120 - pathlib is slow to import
        with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123 - pathlib is slow to import
            file.write(text)
    streams = [os.pipe() for _ in range(head["streams"])]
    incoming = os.pipe()
    child = os.fork()
    if child == 0:
        _become(head, incoming, streams)
    os.close(incoming[0])
    for _, writing in streams:
        os.close(writing)
    threading.Thread(target=_feed, args=(incoming[1],), daemon=True).start()
    ended = os.pipe()
    threading.Thread(target=_await, args=(child, ended[1]), daemon=True).start()
    _carry([reading for reading, _ in streams], ended[0])
    os._exit(0)


def _become(head: dict[str, Any], incoming: tuple[int, int], streams: list[tuple[int, int]]) -> None:
    signal.setitimer(signal.ITIMER_REAL, 0)
    job, stdin = (_file(head[name].encode("latin-1")) for name in ("job", "stdin"))
    begun, out, err, *others = (writing for _, writing in streams)
    for number, fd in enumerate((stdin, out, err)):
        os.dup2(fd, number)
    passed = [job, begun, *([incoming[0]] if others else []), *others]
    for fd in passed:
        os.set_inheritable(fd, True)
    arguments = [sys.executable, "-sSB", "-c", head["code"], *map(str, passed)]
    os.execve(sys.executable, arguments, head["environment"])  # noqa: S606 - the command line is ours


def _carry(fds: list[int], ended: int) -> None:
    poll = select.poll()
    for fd in (*fds, ended):
        poll.register(fd, select.POLLIN)
    while True:
        ready = [fd for fd, _ in poll.poll()]
        for fd in ready:
            if fd != ended and not _frame(fds.index(fd), fd):
                poll.unregister(fd)
        if ended in ready:
            break
    for number, fd in enumerate(fds):
        os.set_blocking(fd, False)
        try:
            while _frame(number, fd):
                pass
        except BlockingIOError:
            continue


def _frame(number: int, fd: int) -> bool:
    data = os.read(fd, CHUNK)
    rest = memoryview(FRAME.pack(number, len(data)) + data)
    while rest:
        rest = rest[os.write(1, rest) :]
    return bool(data)


def _feed(fd: int) -> None:
    try:
        while data := os.read(0, CHUNK):
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(fd, rest) :]
    except OSError:
        pass  # nobody reads it any more
    os.close(fd)


def _await(child: int, bell: int) -> None:
    os.waitpid(child, 0)
    os.write(bell, b"!")


def _exactly(size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = os.read(0, size - len(data))
        if not more:
            os._exit(1)
        data += more
    return data


def _file(data: bytes) -> int:
    fd = os.memfd_create("measurand")
    with open(fd, "wb", closefd=False) as file:
        file.write(data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


if __name__ == "__main__":
    main()
