"""Examines one candidate after another with the same test, in a jail that is kept for as long as the test is.

That is safe because candidates reach this process as plain values only, and each examination runs the test anew, in
a namespace of its own. Where anything was out of the ordinary (the test did not come to its own end, it imported
something, which may run threads, or an answer took much memory, which may not all come back) the process leaves, and
the next candidate finds a new one.
"""

from __future__ import annotations

import os
import resource
import socket
import struct
import sys
import time

from measurand.sandboxes.jail.test_driver import be_silent, examine

TYPE_CHECKING = False  # a bare interpreter takes longer to import typing than for all else here
if TYPE_CHECKING:
    from typing import Any

READY = struct.Struct(">d")
"""What is said after an examination before another: the seconds of processor time that all of them have taken."""

CHANNELS = 3
"""The descriptors that come with the nonce of an examination: as for a test's jail that examines once."""

_MOST_NONCE = 64
_MOST_GROWTH = 1 << 15
"""Kibibytes that it may have held beyond what it began with."""


def run(job: tuple[Any, ...], channels: list[int]) -> None:
    """Entry: examine whoever is announced, until nobody will be or this process is no longer as it was."""
    be_silent()
    control = socket.socket(fileno=channels[0])
    modules, memory = {*sys.modules, "test"}, _most_memory() + _MOST_GROWTH
    while True:
        nonce, candidate, _, _ = socket.recv_fds(control, _MOST_NONCE, CHANNELS)
        if not nonce:
            break
        examine((*job, nonce), candidate)
        for fd in candidate:
            os.close(fd)
        if not modules.issuperset(sys.modules) or _most_memory() > memory:
            break
        control.send(READY.pack(time.process_time()))
    os._exit(0)


def _most_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
