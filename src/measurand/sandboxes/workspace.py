"""A place of its own for an agent: one jail for a whole trial, with a shell and files, over a shared base."""

from __future__ import annotations

import asyncio
import itertools
import posixpath
import signal
import socket
import struct
import time
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any, Self

from measurand.core.errors import InputError, SandboxDeadError, SandboxError
from measurand.core.workspace import CommandResult, Entry, WorkspaceLimits
from measurand.sandboxes.jail.codec import MAX_BYTES, CodecError, decode, encode
from measurand.sandboxes.jailed import printable
from measurand.sandboxes.workspace_jail import WorkspaceJail
from measurand.sandboxes.workspace_memory import bounded

if TYPE_CHECKING:
    from measurand.sandboxes.workspace_base import Base

WORK = "/work"
"""Where the files are, inside."""

_ANSWER_SECONDS = 15.0
"""How long the driver may take beyond a command's own deadline; far more than a busy machine needs."""

_CHUNK = 1 << 20
_LENGTH = struct.Struct(">I")
_OUTPUT_LIMIT = 1 << 20
_MOST_ENTRIES = 50_000


class Workspace:
    """An isolated folder /work with a shell, for one trial; an async context manager. There is no network.

    Commands run one after another, as in one shell: the folder, variables, functions and options of one are there
    for the next. What a command leaves in the background lives on until the workspace is closed, but `wait` and
    `jobs` know nothing of it. All files live in memory, within `limits.disk_bytes`, above the read-only `base`, so
    nothing is left on any disk. Raises SandboxError where no jail can be built, and SandboxDeadError as soon as
    the jail answers no more.
    """

    def __init__(self, base: Base | None = None, limits: WorkspaceLimits | None = None) -> None:
        self._base = base
        self._limits = limits or WorkspaceLimits()
        self._dead = "it has not been opened"
        self._turns = itertools.count(1)
        self._turn_over = asyncio.Lock()
        self._stack = AsyncExitStack()
        self._heard = bytearray()
        self._jail: WorkspaceJail | None = None

    async def __aenter__(self) -> Self:
        """Build the jail and wait until its driver answers."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        self._socket = ours
        self._stack.callback(ours.close)
        try:
            with theirs:
                self._jail = await WorkspaceJail.start(self._limits, self._base, theirs)
            try:
                await self._stack.enter_async_context(bounded(self._jail.outside, self._limits))
            finally:
                self._stack.push_async_callback(self._jail.kill)  # it comes first in the end
            self._dead = ""
            await self.ping()
        except SandboxDeadError as error:
            why = self._jail.complaint() if self._jail else str(error)
            await self._stack.aclose()
            raise SandboxError(f"a workspace could not be built ({why}), so nothing was run") from error
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """End everything inside; nothing of it is left."""
        self._dead = self._dead or "it has been closed"
        await self._stack.aclose()

    async def ping(self) -> None:
        """Return if the sandbox is alive. Raises SandboxDeadError."""
        await self._ask("ping")

    async def run(self, command: str, seconds: float) -> CommandResult:
        """Run a shell command; after `seconds` its whole process group is killed and the output so far returned."""
        if "\0" in command:
            raise InputError("a command cannot contain a NUL character")
        began = time.monotonic()
        cap = min(self._limits.output_bytes, _OUTPUT_LIMIT)
        told = await self._ask("run", command.encode("utf-8", "backslashreplace"), float(seconds), cap, seconds=seconds)
        match told:
            case ("ran", int(status), bytes(out), bytes(err), bool(timed_out), bool(lost)):
                return CommandResult(
                    exit_code=None if timed_out or status < 0 else status,
                    stdout=_text(out),
                    stderr=_text(err),
                    timed_out=timed_out,
                    signal=_signal_name(-status) if status < 0 else "",
                    truncated=lost,
                    seconds=time.monotonic() - began,
                )
            case ("stuck", str(why)):
                raise self._gone(f"no command can be started in it: {why}")
            case _:
                raise self._gone("its driver broke the protocol")

    async def read(self, path: str, limit: int | None = None) -> bytes:
        """The bytes of a regular file below /work. Raises InputError for anything else, and for more than `limit`.

        Links are not followed; FIFOs and devices are not waited for.
        """
        most = min(limit or self._limits.file_bytes, self._limits.file_bytes)
        within, data = inside(path), bytearray()
        while True:
            match await self._ask("read", within, len(data), _CHUNK, most):
                case ("bytes", bytes(part)):
                    data += part
                    if len(data) > most:
                        raise InputError(f"{path} cannot be read from the workspace: it grows while it is read")
                    if len(part) < _CHUNK:
                        return bytes(data)
                case ("refused", str(why)):
                    raise InputError(f"{path} cannot be read from the workspace: {printable(why)}")
                case _:
                    raise self._gone("its driver broke the protocol")

    async def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Write a file below /work in place of whatever has its name. Raises InputError where it cannot be written."""
        if len(data) > self._limits.file_bytes:
            raise InputError(
                f"{path} has {len(data)} bytes and a file of a workspace may have {self._limits.file_bytes}"
            )
        within = inside(path)
        for start in range(0, max(1, len(data)), _CHUNK):
            match await self._ask("write", within, data[start : start + _CHUNK], mode, start):
                case ("done",):
                    continue
                case ("refused", str(why)):
                    raise InputError(f"{path} cannot be written to the workspace: {printable(why)}")
                case _:
                    raise self._gone("its driver broke the protocol")

    async def entries(self, folder: str = "") -> list[Entry]:
        """What is below a folder, in order; links are named and not followed. Raises InputError for too much."""
        match await self._ask("list", inside(folder) if folder else "", _MOST_ENTRIES):
            case ("entries", tuple(found)):
                return [Entry(path, kind, size) for path, kind, size in found]
            case ("refused", str(why)):
                raise InputError(f"{folder or WORK} cannot be listed: {printable(why)}")
            case _:
                raise self._gone("its driver broke the protocol")

    async def _ask(self, name: str, *arguments: object, seconds: float = 0.0) -> tuple[Any, ...]:
        """One request and its answer; answers to requests that were given up are passed over."""
        async with self._turn_over:
            if self._dead:
                raise self._gone(self._dead)
            turn = next(self._turns)
            try:
                async with asyncio.timeout(seconds + _ANSWER_SECONDS):
                    await self._send(encode((turn, name, *arguments)))
                    while True:
                        match await self._receive():
                            case (int(of), *told) if of == turn:
                                return tuple(told)
            except TimeoutError:
                raise self._gone(f"it has not answered for {seconds + _ANSWER_SECONDS:g} seconds") from None
            except (OSError, EOFError) as error:
                raise self._gone("its first process has ended") from error
            except CodecError as error:
                raise self._gone(f"its driver sent {error}") from error

    async def _send(self, data: bytes) -> None:
        try:
            await asyncio.get_running_loop().sock_sendall(self._socket, _LENGTH.pack(len(data)) + data)
        except asyncio.CancelledError:
            self._dead = "a request was cut off"
            raise

    async def _receive(self) -> Any:
        """The next value; half a frame is kept for the next time."""
        heard = self._heard
        while True:
            if len(heard) >= _LENGTH.size:
                (length,) = _LENGTH.unpack_from(heard)
                if length > MAX_BYTES:
                    raise CodecError("a frame that is too long")
                if len(heard) >= _LENGTH.size + length:
                    data = bytes(heard[_LENGTH.size : _LENGTH.size + length])
                    del heard[: _LENGTH.size + length]
                    return decode(data)
            more = await asyncio.get_running_loop().sock_recv(self._socket, 1 << 18)
            if not more:
                raise EOFError
            heard += more

    def _gone(self, why: str) -> SandboxDeadError:
        self._dead = why
        return SandboxDeadError(
            f"a workspace cannot be used any more: {printable(why)}; that says nothing about the subject"
        )


def inside(path: str) -> str:
    """A path below /work, relative to it and without detours. Raises InputError for any other."""
    rest = posixpath.relpath(path, WORK) if path.startswith("/") else path
    parts = rest.split("/")
    if "\0" in rest or not rest.isprintable() or any(part in {"", ".", ".."} for part in parts):
        raise InputError(
            f"{printable(path)[:200]} is no path below {WORK}: give it relative to that folder, without `..`"
        )
    try:
        rest.encode()
    except UnicodeEncodeError:
        raise InputError(f"{printable(path)[:200]} cannot be a path, for it is no text") from None
    return rest


def _text(data: bytes) -> str:
    return printable(data.decode("utf-8", "backslashreplace"))


def _signal_name(number: int) -> str:
    with suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"
