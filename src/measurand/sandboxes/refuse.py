"""The sandbox of a machine that has none."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from measurand.core.errors import SandboxError
from measurand.core.ports import Isolation

if TYPE_CHECKING:
    from measurand.core.program import Program


class NoSandbox:
    """Refuses every program with the same sentence, which says what is missing and how to mend it."""

    def __init__(self, why: str) -> None:
        self._why = why

    def describe(self) -> Isolation:
        """No isolation, and why."""
        return Isolation("none", "nothing", self._why)

    async def run(self, program: Program) -> NoReturn:
        """Raises SandboxError; nothing is executed."""
        del program
        raise SandboxError(self._why)

    async def close(self) -> None:
        """Nothing was opened."""
