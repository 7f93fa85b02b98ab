"""A sandbox that executes nothing and answers as it was told; for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from measurand.core.ports import Isolation

if TYPE_CHECKING:
    from collections.abc import Callable

    from measurand.core.program import Program, Result


class FakeSandbox:
    """Answers each program by `script` and keeps what it was given in `programs`, in order."""

    def __init__(self, script: Callable[[Program], Result]) -> None:
        self._script = script
        self.programs: list[Program] = []

    def describe(self) -> Isolation:
        """It claims isolation: nothing is ever executed."""
        return Isolation("container", "fake", "executes nothing")

    async def run(self, program: Program) -> Result:
        """The scripted result."""
        self.programs.append(program)
        return self._script(program)

    async def close(self) -> None:
        """Nothing was opened."""
