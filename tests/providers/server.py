"""A scripted server on the loopback: each request gets the next answer of the script, the last one for ever."""

from __future__ import annotations

import asyncio
import json
import ssl
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Self


@dataclass(frozen=True)
class Answer:
    """What is sent: whole, cut half-way, in drips, nothing at all (hang), after the head nothing (stall), or raw."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    how: Literal["whole", "cut", "drip", "hang", "stall", "raw", "slam"] = "whole"


@dataclass(frozen=True)
class Heard:
    """A request as it arrived."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def as_json(value: Any, status: int = 200, **headers: str) -> Answer:
    sent = {name.replace("_", "-"): text for name, text in headers.items()}
    return Answer(json.dumps(value).encode(), status, {"Content-Type": "application/json", **sent})


def as_events(*payloads: Any, **kind: Any) -> Answer:
    """A stream of server-sent events; texts are sent as they are, all else as JSON."""
    lines = [payload if isinstance(payload, str) else json.dumps(payload) for payload in payloads]
    body = "".join(f"data: {line}\n\n" for line in lines).encode()
    return Answer(body, 200, {"Content-Type": "text/event-stream"}, **kind)


class Server:
    """Serves the script until it is left. `connections` counts how often a client connected."""

    def __init__(self, *script: Answer, tls: ssl.SSLContext | None = None) -> None:
        self.script = list(script)
        self.heard: list[Heard] = []
        self.connections = 0
        self.port = 0
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()
            self._tasks.discard(task)

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        method, target, _ = first.split(" ", 2)
        self.heard.append(Heard(method, target, headers, body))
        answer = self.script[min(len(self.heard), len(self.script)) - 1]
        return await self._send(answer, writer)

    async def _send(self, answer: Answer, writer: asyncio.StreamWriter) -> bool:
        """Send one answer; whether the connection stays open."""
        if answer.how == "slam":
            return False
        if answer.how == "hang":
            await asyncio.Event().wait()
        if answer.how != "raw":
            writer.write(_head(answer))
        if answer.how == "stall":
            await writer.drain()
            await asyncio.Event().wait()
        if answer.how == "drip":
            for place in range(len(answer.body)):
                writer.write(answer.body[place : place + 1])
                await writer.drain()
                await asyncio.sleep(0)
        else:
            writer.write(answer.body[: len(answer.body) // 2] if answer.how == "cut" else answer.body)
        await writer.drain()
        if answer.how == "cut":
            writer.write_eof() if writer.can_write_eof() else None
            await asyncio.sleep(0.02)
        return answer.how in {"whole", "drip"}


def _head(answer: Answer) -> bytes:
    headers = {"Content-Length": str(len(answer.body)), **answer.headers}
    lines = [f"HTTP/1.1 {answer.status} Whatever", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
