"""Runs a script as the main program."""

from __future__ import annotations

from measurand.sandboxes.jail.inside import define

TYPE_CHECKING = False  # a bare interpreter takes longer to import typing than for all else here
if TYPE_CHECKING:
    from typing import Any


def run(job: tuple[Any, ...], channels: list[int]) -> None:
    """Run the source; the interpreter reports an exception and the exit code as ever."""
    del channels
    (source,) = job
    define("__main__", source)
