"""Control groups, where this user may make them: the only limit on what several processes use together."""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_NUMBERS = itertools.count()
_NAME = "measurand"
_PATIENCE = 50

_FILES = {
    2: ("memory.max", "memory.events"),
    1: ("memory.limit_in_bytes", "memory.oom_control"),
}
"""By version: the file of the memory limit, and the one that counts processes ended for lack of memory."""


@dataclass(slots=True)
class Group:
    """One control group in version 2, or one for each of memory and processes in version 1."""

    version: int
    folders: list[Path]
    _set: tuple[int, int] = (0, 0)

    def take(self, pids: Iterable[int]) -> None:
        """Move processes into it; what they fork afterwards is in it as well."""
        for folder in self.folders:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    (folder / "cgroup.procs").write_text(str(pid))

    def limit(self, memory_bytes: int, processes: int) -> None:
        """Set the limits for all its processes together."""
        if (memory_bytes, processes) == self._set:
            return
        (self.folders[0] / _FILES[self.version][0]).write_text(str(memory_bytes))
        (self.folders[-1] / "pids.max").write_text(str(processes))
        self._set = memory_bytes, processes

    def victims(self) -> int:
        """How many of its processes the kernel has ended for lack of memory."""
        for line in (self.folders[0] / _FILES[self.version][1]).read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
        return 0

    def remove(self) -> None:
        """Remove it. Its processes must have been ended; the kernel may need a moment to forget them."""
        for folder in self.folders:
            for _ in range(_PATIENCE):
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.01)


def make_group() -> Group | None:
    """A new group, or None where there is no controller or no permission. Removes what the dead have left."""
    name = f"{_NAME}-{os.getpid()}-{next(_NUMBERS)}"
    for version, parents in _places():
        made: list[Path] = []
        try:
            for parent in parents:
                _clean(parent)
                (parent / name).mkdir()
                made.append(parent / name)
            group = Group(version, made)
            group.limit(1 << 30, 64)
            group.victims()
        except OSError:
            Group(version, made).remove()
        else:
            return group
    return None


def _places() -> Iterator[tuple[int, list[Path]]]:
    """Where groups may be made: below our own, or beside it where only leaves may hold processes."""
    homes = {}
    try:
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            for controller in controllers.split(","):
                homes[controller] = path.lstrip("/")
    except OSError:
        return
    root = Path("/sys/fs/cgroup")
    if "" in homes and (root / "cgroup.controllers").exists():  # else it is mounted elsewhere, without controllers
        home = root / homes[""]
        yield 2, [home]
        if homes[""]:
            yield 2, [home.parent]
    if "memory" in homes and "pids" in homes:
        yield 1, [root / name / homes[name] for name in ("memory", "pids")]


def _clean(parent: Path) -> None:
    for folder in parent.glob(f"{_NAME}-*-*"):
        maker = folder.name.split("-")[1]
        if maker.isdigit() and not Path("/proc", maker).exists():
            with contextlib.suppress(OSError):
                folder.rmdir()
