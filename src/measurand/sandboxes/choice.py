"""The first of several sandboxes that works on this machine."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from measurand.core.errors import SandboxError

if TYPE_CHECKING:
    from measurand.core.ports import Isolation, Sandbox
    from measurand.core.program import Program, Result


class FirstThatWorks:
    """Tries sandboxes in order, once, and says why those before the chosen one were passed over."""

    def __init__(self, sandboxes: Sequence[Sandbox]) -> None:
        self._sandboxes = sandboxes
        self._chosen: tuple[Sandbox, Isolation] | None = None
        self._choosing = threading.Lock()

    def describe(self) -> Isolation:
        """The isolation of the first that isolates; else `none` with what each of them said."""
        return self._choose()[1]

    async def run(self, program: Program) -> Result:
        """Run one program there. Raises SandboxError where none isolates."""
        chosen = self._chosen
        if chosen is None:
            chosen = await asyncio.to_thread(self._choose)
        if chosen[1].level == "none":
            raise SandboxError(chosen[1].detail)
        return await chosen[0].run(program)

    async def close(self) -> None:
        """Close all; those that were not chosen may have tried something."""
        for sandbox in self._sandboxes:
            await sandbox.close()

    def _choose(self) -> tuple[Sandbox, Isolation]:
        with self._choosing:
            self._chosen = chosen = self._chosen or self._try()
            return chosen

    def _try(self) -> tuple[Sandbox, Isolation]:
        passed_over = ""
        said: dict[str, None] = {}
        for sandbox in self._sandboxes:
            isolation = sandbox.describe()
            if isolation.level != "none":
                detail = isolation.detail + passed_over
                return sandbox, msgspec.structs.replace(isolation, detail=detail)
            passed_over += f"; passed over {isolation.by}: {isolation.detail}"
            said[isolation.detail] = None
        return sandbox, msgspec.structs.replace(isolation, detail="; or: ".join(said))
