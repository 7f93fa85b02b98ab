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
from typing import Any

import msgspec

from measurand.core.call import Reply, Timings
from measurand.core.errors import CallFailedError, InputError
from measurand.core.ports import Abilities
from measurand.core.request import Request
from measurand.core.subject import System
from measurand.providers.plain import messages_of, only_text, reply_of
from measurand.providers.secrets import redact

OUTPUT_LIMIT = 10 << 20
"""Bytes of standard output that are read at most."""

_TAIL = 4096
"""Bytes of standard error that are kept: the last."""

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
        files = [path for path in map(Path, self._arguments) if path.is_file()]
        self._name = name or (files[-1] if files else Path(self._arguments[0])).name
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
        return msgspec.structs.replace(reply, timings=Timings(time.perf_counter() - begun))

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
        """Standard output of one run that went well. Whatever else happens, its process group is killed."""
        try:
            process = await asyncio.create_subprocess_exec(
                *self._arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise CallFailedError(f"{self._name} cannot be run ({error.strerror}): check it", fatal=True) from error
        talk = asyncio.gather(_feed(process, given), _read(process), _tail(process))
        try:
            async with asyncio.timeout(self._timeout):
                _, out, errors = await talk
                code = await process.wait()
        except TimeoutError:
            why = f"did not finish within {self._timeout:g} s, and was killed"
            raise self._failed(why, where="timeout") from None
        finally:
            await _end(process, talk)
        if out is None:
            raise self._failed(f"wrote more than {OUTPUT_LIMIT >> 20} MB, and was killed")
        if code != 0:
            ended = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
            last = redact(" ".join(errors.decode("utf-8", "replace").split()))[-500:]
            raise self._failed(f"{ended}, and said: {last}" if last else f"{ended}, and said nothing")
        return out

    def _failed(self, what: str, where: str = "system") -> CallFailedError:
        return CallFailedError(f"{self._name} {what}", where=where)


async def _feed(process: asyncio.subprocess.Process, given: bytes) -> None:
    """Write the question. A program that does not care to read it all is free to."""
    stream = process.stdin
    if stream is not None:
        with contextlib.suppress(ConnectionError):
            stream.write(given)
            await stream.drain()
        with contextlib.suppress(ConnectionError):
            stream.close()
            await stream.wait_closed()


async def _read(process: asyncio.subprocess.Process) -> bytes | None:
    """All of standard output; None, with the program killed, where that is too much."""
    stream, chunks, size = process.stdout, [], 0
    while stream is not None and (chunk := await stream.read(1 << 16)):
        size += len(chunk)
        if size > OUTPUT_LIMIT:
            _kill(process)
            return None
        chunks.append(chunk)
    return b"".join(chunks)


async def _tail(process: asyncio.subprocess.Process) -> bytes:
    """The last of standard error."""
    stream, tail = process.stderr, b""
    while stream is not None and (chunk := await stream.read(1 << 16)):
        tail = (tail + chunk)[-_TAIL:]
    return tail


async def _end(process: asyncio.subprocess.Process, talk: asyncio.Future[Any]) -> None:
    """Kill what still runs, and wait for the end of it."""
    if process.returncode is None or not talk.done():
        _kill(process)
    talk.cancel()
    await asyncio.gather(talk, return_exceptions=True)
    await process.wait()


def _kill(process: asyncio.subprocess.Process) -> None:
    """Kill the process group, of which something must still live: else its number may be another's."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


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
        path = Path(argument)
        try:
            with path.open("rb") as file:
                part = hashlib.file_digest(file, "sha256").hexdigest()
        except (OSError, ValueError):
            part = argument
        sha256.update(b"\x00" + part.encode("utf-8", "surrogateescape"))
    return f"sha256:{sha256.hexdigest()}"
