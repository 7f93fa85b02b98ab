"""A program to run in isolation, its limits, and what became of it."""

from __future__ import annotations

from typing import Literal

from measurand.core.record import Record


class Limits(Record, frozen=True, gc=False):
    """What a program may use. Seconds and bytes; `wall_seconds` is the backstop behind `cpu_seconds`."""

    cpu_seconds: float = 5.0
    wall_seconds: float = 15.0
    memory_bytes: int = 1 << 30
    output_bytes: int = 1 << 16
    disk_bytes: int = 1 << 26
    processes: int = 32


class Script(Record, frozen=True, tag="script"):
    """A Python program run as it is; its exit code and output are all that is known of it."""

    source: str
    stdin: str = ""
    limits: Limits = Limits()


class FunctionTest(Record, frozen=True, tag="function_test"):
    """A function somebody untrusted wrote, and a test of it.

    `candidate` runs in one jail and defines `entry_point`. `preamble` and `test` run in another; `test`
    defines `check(candidate)`. Only plain values cross between them, so nothing that the candidate returns,
    prints or exits with can pass for a verdict.
    """

    candidate: str
    entry_point: str
    test: str
    preamble: str = ""
    limits: Limits = Limits()


Program = Script | FunctionTest

Ending = Literal[
    "passed",
    "wrong_answer",
    "exception",
    "timeout",
    "memory",
    "output_limit",
    "killed",
    "no_verdict",
    "finished",
]


class Result(Record, frozen=True, gc=False):
    """How a program ended. A Script that exits by itself is `finished`; only a FunctionTest can be `passed`."""

    ending: Ending
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    detail: str = ""
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
