"""Workspaces over one base: jails of this machine, and a fake for tests of whoever uses them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from measurand.core.errors import InputError, SandboxDeadError, SandboxError
from measurand.core.ports import Isolation
from measurand.core.workspace import CommandResult, Entry, WorkspaceLimits
from measurand.sandboxes.room import users
from measurand.sandboxes.workspace import Workspace, inside
from measurand.sandboxes.workspace_jail import room_of_workspaces

if TYPE_CHECKING:
    from measurand.sandboxes.workspace_base import Base

Shell = Callable[[str, dict[str, bytes]], CommandResult]
"""Carries out a command of a fake workspace, whose files it may change."""


class JailedWorkspaces:
    """Each workspace is a jail, with its own changes above the base."""

    def __init__(self, base: Base | None = None, limits: WorkspaceLimits | None = None) -> None:
        self._base = base
        self._limits = limits or WorkspaceLimits()

    def describe(self) -> Isolation:
        """The isolation of a jail that was built once, and the limits of each."""
        try:
            room = room_of_workspaces()
        except SandboxError as error:
            return Isolation("none", "bubblewrap", str(error))
        limits = self._limits
        detail = (
            f"Python {room.version} inside; {users()}; {limits.together_bytes >> 20} MiB of memory together, "
            f"{limits.disk_bytes >> 20} MiB of disk, {limits.processes} processes"
        )
        return Isolation("namespaces", "bubblewrap", detail)

    def open(self) -> AbstractAsyncContextManager[Workspace]:
        """A jail, built when the context is entered."""
        return Workspace(self._base, self._limits)


class FakeWorkspaces:
    """Executes nothing: files are a dictionary, and `shell` says what each command does to it."""

    def __init__(self, shell: Shell, base: Mapping[str, bytes] | None = None) -> None:
        self._shell = shell
        self._base = dict(base or {})

    def describe(self) -> Isolation:
        """It claims isolation: nothing is ever executed."""
        return Isolation("container", "fake", "executes nothing")

    @asynccontextmanager
    async def open(self) -> AsyncIterator[FakeWorkspace]:
        """A copy of the base."""
        workspace = FakeWorkspace(self._shell, self._base)
        try:
            yield workspace
        finally:
            workspace.dead = True


class FakeWorkspace:
    """The workspace of one trial. Set `dead` to have it break down."""

    def __init__(self, shell: Shell, base: Mapping[str, bytes]) -> None:
        self._shell = shell
        self._files = dict(base)
        self.dead = False

    async def run(self, command: str, seconds: float) -> CommandResult:
        """As the shell says."""
        del seconds
        return self._shell(command, self._living())

    async def read(self, path: str, limit: int | None = None) -> bytes:
        """The bytes that were written."""
        data = self._living().get(inside(path))
        if data is None or (limit is not None and len(data) > limit):
            raise InputError(f"{path} cannot be read from the workspace")
        return data

    async def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Keep them."""
        del mode
        self._living()[inside(path)] = data

    async def entries(self, folder: str = "") -> list[Entry]:
        """The files below it, and the folders on the way to them."""
        found = {path: Entry(path, "file", len(data)) for path, data in self._living().items()}
        for path in list(found):
            parts = path.split("/")
            for n in range(1, len(parts)):
                found["/".join(parts[:n])] = Entry("/".join(parts[:n]), "folder", 0)
        below = f"{inside(folder)}/" if folder else ""
        return [found[path] for path in sorted(found) if path.startswith(below)]

    def _living(self) -> dict[str, bytes]:
        if self.dead:
            raise SandboxDeadError("a workspace cannot be used any more: it has been closed")
        return self._files
