"""A user's own system, reached through a command line: the question on stdin, the answer on stdout."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import shlex
import shutil
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from measurand.core.call import Reply, Timings
from measurand.core.errors import CallFailedError, InputError
from measurand.core.ports import Abilities
from measurand.core.request import Request
from measurand.core.subject import System
from measurand.providers.plain import messages_of, only_text, reply_of, tidy
from measurand.providers.secrets import redact

OUTPUT_LIMIT = 10 << 20
"""Bytes of standard output that are read at most."""

_TAIL = 4096
_SHOWN = 500
"""Bytes of standard error that are kept, and characters of them that are shown: the last."""

_KILLED_SECONDS = 10.0
"""How long a killed process is waited for, at most."""

_MEND = "use the JSON form of the command, which is given the whole conversation"


class CommandProvider:
    """Runs a program for each request, without a shell.

    `command` is the argument vector, or one text that is split as a shell splits words. In the text form the program
    reads the user's text and writes the answer's text, less line breaks at the end. In the JSON form (`as_json`) it
    reads {"messages": [{"role": …, "content": …}]} and writes a JSON text or {"text": …, "usage": {…}}.

    The program gets the whole environment, keys included, because the system may need its own. After `timeout`
    seconds it is killed with all its children. Raises InputError for a command that cannot be run.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        as_json: bool = False,
        name: str = "",
        timeout: float = 600.0,
        concurrency: int | None = None,
    ) -> None:
        self._arguments = _vector(command)
        self._as_json = as_json
        self._timeout = timeout
        self._concurrency = concurrency or os.cpu_count() or 1
        files = [argument for argument in self._arguments if _is_file(argument)]
        self._name = name or Path((files or self._arguments[:1])[-1]).name
        self._subject = System(name=self._name, version=_version(self._arguments, as_json=as_json))

    @property
    def subject(self) -> System:
        """Who answers. The version is a hash of the arguments and of every file that they name."""
        return self._subject

    def describe(self) -> Abilities:
        """Chat in the JSON form; raw text too in the text form."""
        # Not local: nobody knows whom the program asks in its turn.
        return Abilities(can=("chat",) if self._as_json else ("chat", "complete"), concurrency=self._concurrency)

    async def start(self) -> None:
        """Nothing needs to be opened: each request has a process of its own."""

    async def close(self) -> None:
        """Nothing needs to be closed: no process outlives its request."""

    async def reply(self, request: Request) -> Reply:
        """Run the program. Raises CallFailedError."""
        begun = time.perf_counter()
        out = await self._run(self._input(request))
        reply = reply_of(self._output(out), self._name)
        return msgspec.structs.replace(reply, timings=Timings.since(begun))

    def _input(self, request: Request) -> bytes:
        try:
            if self._as_json:
                return msgspec.json.encode({"messages": messages_of(request, self._name)})
            return only_text(request, self._name, _MEND).encode()
        except UnicodeEncodeError:
            why = "the request holds what is not Unicode text, such as half a surrogate pair"
            raise CallFailedError(why, where="request") from None

    def _output(self, out: bytes) -> Any:
        try:
            return msgspec.json.decode(out) if self._as_json else out.decode().rstrip("\r\n")
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            wanted = "JSON" if self._as_json else "text in UTF-8"
            raise self._failed(f"wrote what is not {wanted}: make it write the answer and nothing else") from None

    async def _run(self, given: bytes) -> bytes:
        """Standard output of one run that went well. Nothing is left of any other."""
        loop = asyncio.get_running_loop()
        talk = _Talk(loop.create_future())
        try:
            transport, _ = await loop.subprocess_exec(lambda: talk, *self._arguments, start_new_session=True)
        except OSError as error:
            raise CallFailedError(f"{self._name} cannot be run ({error.strerror}): check it", fatal=True) from error
        try:
            talk.ask(given)
            await asyncio.wait({talk.over}, timeout=self._timeout)
            late, code = not talk.over.done(), transport.get_returncode()
        finally:
            await talk.end()
        if talk.too_much:
            raise self._failed(f"wrote more than {OUTPUT_LIMIT >> 20} MB, and was killed")
        if late:
            raise self._failed(f"did not finish within {self._timeout:g} s, and was killed", where="timeout")
        if code:
            ended = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
            last = tidy(redact(talk.errors.decode("utf-8", "replace")))[-_SHOWN:]
            raise self._failed(f"{ended}, and said: {last}" if last else f"{ended}, and said nothing")
        return bytes(talk.out)

    def _failed(self, what: str, where: str = "system") -> CallFailedError:
        return CallFailedError(f"{self._name} {what}", where=where)


class _Talk(asyncio.SubprocessProtocol):
    """What goes on between us and one process. `over` is done when it has ended and all its pipes are closed."""

    def __init__(self, over: asyncio.Future[None]) -> None:
        self.over = over
        self.out = bytearray()
        self.errors = b""
        self.too_much = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The process runs."""
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def ask(self, given: bytes) -> None:
        """Write the question. A program that does not care to read it all is free to."""
        stdin = cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0))
        stdin.write(given)
        stdin.write_eof()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Keep the output, unless it is too much, and the last of the errors."""
        if fd != 1:
            self.errors = (self.errors + data)[-_TAIL:]
        elif len(self.out) + len(data) > OUTPUT_LIMIT:
            self.too_much = True
            self._kill()
        else:
            self.out += data

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 (asyncio gives it)
        """The process has ended, and nobody holds its pipes."""
        if not self.over.done():
            self.over.set_result(None)

    async def end(self) -> None:
        """Kill what still runs, and wait for the end of it."""
        if not self.over.done():
            self._kill()
        self._transport.close()
        await asyncio.wait({self.over}, timeout=_KILLED_SECONDS)

    def _kill(self) -> None:
        """Kill the process group, of which something must still live: else its number may be another's."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._transport.get_pid(), signal.SIGKILL)


def _vector(command: str | Sequence[str]) -> list[str]:
    """The arguments, the program among them found. Raises InputError."""
    try:
        arguments = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError as error:
        raise InputError(f"the command cannot be split into words ({error}): close the quotation marks") from None
    if not arguments or not arguments[0]:
        raise InputError("the command is empty: give a program and its arguments")
    if any("\x00" in argument for argument in arguments):
        raise InputError("the command holds a null character: take it out")
    if shutil.which(arguments[0]) is None:
        raise InputError(f"there is no program {arguments[0]} that may be run: check its name, or give its path")
    return arguments


def _version(arguments: list[str], *, as_json: bool) -> str:
    """A hash of the arguments, and of the content of those that are files: a script counts, not where it lies."""
    sha256 = hashlib.sha256(b"json" if as_json else b"text")
    for argument in arguments:
        part = argument.encode("utf-8", "surrogateescape")
        if _is_file(argument):
            with Path(argument).open("rb") as file:
                part = hashlib.file_digest(file, "sha256").digest()
        sha256.update(b"\x00" + part)
    return f"sha256:{sha256.hexdigest()}"


def _is_file(argument: str) -> bool:
    """Whether an argument names a file that may be read. Some arguments are no names at all."""
    try:
        return Path(argument).is_file() and os.access(argument, os.R_OK)
    except OSError:
        return False
