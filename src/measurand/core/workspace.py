"""What a workspace may use, how a command in it ended, and what lies in it."""

from __future__ import annotations

from typing import Literal

from measurand.core.record import Record


class WorkspaceLimits(Record, frozen=True):
    """What a workspace may use. The disk is memory too, and shared by all its folders.

    `memory_bytes` is for each process and `together_bytes` for all of them; where they use more, the largest is killed.
    `output_bytes` is what is kept of each stream of one command; `file_bytes` is the largest file read or written
    from outside.
    """

    memory_bytes: int = 4 << 30
    together_bytes: int = 4 << 30
    disk_bytes: int = 1 << 30
    processes: int = 256
    output_bytes: int = 1 << 16
    file_bytes: int = 64 << 20


class CommandResult(Record, frozen=True):
    """How a command ended. `exit_code` is None where it was killed, by `signal` or because it timed out.

    The output is what there was until then; `truncated` says that there was more. The code is what the kernel says
    of the shell, so it cannot be printed; what it means is up to the command, and is never a verdict.
    """

    exit_code: int | None
    stdout: str = ""
    stderr: str = ""
    timed_out: bool = False
    signal: str = ""
    truncated: bool = False
    seconds: float = 0.0


class Entry(Record, frozen=True):
    """One thing in a workspace: its path there, what it is, and its size in bytes. The name is its maker's choice."""

    path: str
    kind: Literal["file", "link", "folder", "other"]
    size: int
