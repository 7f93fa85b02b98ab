"""Runs a script as the main program."""

from __future__ import annotations

from measurand.sandboxes.jail.inside import define, enter


def run() -> None:
    """Run the source; the interpreter reports an exception and the exit code as ever."""
    (source,), _ = enter()
    define("__main__", source)
