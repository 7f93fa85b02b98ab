"""What the processes of a jail use, as the kernel tells it outside, where no program can change it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = slice(11, 15)
"""Where the fields 14 to 17 of `stat` are, counted from behind the name: own and buried children's processor time."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Seconds of processor time of all processes; bytes of memory that are theirs alone.

    `waited` is for how many seconds the most delayed thread was ready to run and got no core.
    """

    cpu_seconds: float = 0.0
    memory_bytes: int = 0
    waited: float = 0.0


def usage_of(pidfd: int) -> Usage:
    """The usage of a process and all its descendants; of a first process of a namespace, that is everybody there."""
    cpu = waited = 0.0
    memory = 0
    pid = pid_of(pidfd)
    for process in (Path(f"/proc/{number}") for number in (pid, *descendants(pid))):
        try:
            stat = (process / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
            waited = max(waited, *map(_waited, (process / "task").iterdir()), 0.0)
        except (OSError, ValueError):
            continue  # it has ended meanwhile
        cpu += sum(map(int, stat[_TICKS])) / _TICK
        memory += private_bytes(process)
    return Usage(cpu, memory, waited)


def private_bytes(process: Path) -> int:
    """The memory that is a process's alone; 0 where it has ended."""
    try:
        resident, shared = (process / "statm").read_text().split()[1:3]
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * _PAGE


def pid_of(pidfd: int) -> int:
    """The number of a process; -1 where it is dead already."""
    for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "Pid":
            return int(value)
    return -1


def descendants(pid: int) -> list[int]:
    """The processes that descend from one, as far as they live, each after its parent."""
    found, new = [], [pid]
    while new:
        try:
            for thread in Path(f"/proc/{new.pop()}/task").iterdir():
                children = [int(child) for child in (thread / "children").read_text().split()]
                found += children
                new += children
        except OSError:
            continue
    return found


def _waited(thread: Path) -> float:
    """The run delay of a thread (kernel: sched-stats); none where the kernel keeps no account of it."""
    try:
        return int((thread / "schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0
