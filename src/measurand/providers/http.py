"""One way to the network for every remote provider: JSON goes out, JSON or a stream of events comes back.

The hot path is short on purpose: headers, proxy, address and TLS are settled once, in `start`, and each
request is one aiohttp call and one msgspec decode. Every other ending becomes one CallFailedError or
CallBlockedError. These are raised outside the `except` blocks, because aiohttp's own exceptions carry the
request's headers, and so the key.
"""

from __future__ import annotations

import io
from http import HTTPStatus
from typing import Any, Protocol, TypeVar

import aiohttp
import msgspec
from multidict import CIMultiDict
from yarl import URL

from measurand.core.errors import CallError, CallFailedError
from measurand.providers import endings
from measurand.providers.connecting import (
    HttpOptions,
    broken_connection,
    checked,
    checked_url,
    is_loopback,
    proxy_for,
    trust,
)
from measurand.providers.secrets import FREE_KEY, api_key, header_value, key_names, redact
from measurand.providers.sse import Events

T = TypeVar("T")

_LARGE = 1 << 20
"""Bytes from which aiohttp wants a body as a file, lest it hold up the loop."""

_ERROR_BODY = 1 << 20
"""Bytes of an error's body that are read at most."""


class Sink(Protocol):
    """What takes the payloads of a stream."""

    @property
    def finished(self) -> bool:
        """Whether the reply is whole, so that a cut of the connection loses nothing."""
        ...

    def feed(self, payload: bytes) -> bool:
        """Take one payload; True says that the stream is over. Raises CallError for a broken payload."""
        ...


class Transport:
    """Posts to one base URL with one key.

    `key_header` and `key_prefix` say how the key is sent, `key_env` names its variable where it is not the
    one that belongs to the host.
    """

    def __init__(
        self,
        base_url: str,
        options: HttpOptions,
        *,
        key_env: str = "",
        key_header: tuple[str, str] = ("Authorization", "Bearer "),
        headers: dict[str, str] | None = None,
    ) -> None:
        self.base = checked_url(base_url)
        self.local = is_loopback(self.base.host or "")
        keys = key_names(self.base.scheme, self.base.host or "", key_env)
        self.asked = endings.Asked(self.base.host or "", keys)
        self._options = checked(options)
        self._key_header = key_header
        self._key_needed = bool(key_env) or keys != (FREE_KEY,)
        self._headers = {name: header_value(name, value) for name, value in (headers or {}).items()}
        self._session: aiohttp.ClientSession | None = None
        self._settings: dict[str, Any] = {}
        self._missing_key = False

    def url(self, path: str, query: str = "") -> URL:
        """The address of a path under the base URL."""
        return URL(f"{str(self.base).rstrip('/')}{path}{'?' + query if query else ''}", encoded=True)

    async def start(self) -> None:
        """Read the key, the proxy and the certificates, and open the pool.

        Raises InputError where one of them cannot be used. A key that is not there is no error yet: a run
        whose replies are all in the journal needs none.
        """
        headers = CIMultiDict({"Content-Type": "application/json", "User-Agent": "measurand", **self._headers})
        key = api_key(self.asked.keys)
        if key:
            name, prefix = self._key_header
            headers[name] = prefix + key
        self._missing_key = self._key_needed and not key
        # The key is given with each request: aiohttp sends a session's headers to a proxy, before the tunnel stands.
        proxy = proxy_for(self.base)
        headers.update(proxy.pop("headers", {}))
        self._settings = {"headers": headers, "allow_redirects": False, **proxy}
        times = self._options.timeouts
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=trust(self.base, self._options.ca_bundle)),
            timeout=aiohttp.ClientTimeout(total=times.total, sock_connect=times.connect, sock_read=times.read),
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def close(self) -> None:
        """Close the pool. May be called twice."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def post(self, url: URL, body: bytes, decoder: msgspec.json.Decoder[T]) -> tuple[T, bytes]:
        """Post JSON; gives the decoded reply and the bytes it came from. Raises CallError."""
        session = self._open()
        problem: CallError
        try:
            async with session.post(url, data=_payload(body), **self._settings) as response:
                if response.status == HTTPStatus.OK:
                    raw = await self._read(response, self._options.max_body)
                    return self.decode(decoder, raw), raw
                problem = await self._failure(response)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            problem = broken_connection(error, self.base, self._options.timeouts)
        raise problem

    async def stream(self, url: URL, body: bytes, sink: Sink) -> None:
        """Post JSON and hand each event's payload to the sink. Raises CallError, also for a stream that is cut."""
        session = self._open()
        problem: CallError | None = None
        try:
            async with session.post(url, data=_payload(body), **self._settings) as response:
                if response.status != HTTPStatus.OK:
                    problem = await self._failure(response)
                elif response.content_type in {"application/json", "text/html"}:
                    problem = self._no_stream(await self._read(response, self._options.max_body))
                else:
                    await self._pump(response, sink)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            problem = None if sink.finished else broken_connection(error, self.base, self._options.timeouts)
        if problem is None and not sink.finished:
            why = f"{self.asked.host} ended its stream before the reply was whole"
            problem = CallFailedError(why, where="reply", transient=True)
        if problem is not None:
            raise problem

    def decode(self, decoder: msgspec.json.Decoder[T], raw: bytes) -> T:
        """Decode a body or an event. Raises CallError for what is not the JSON that was due."""
        try:
            return decoder.decode(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            problem = endings.unreadable(self.asked, raw)
        raise problem

    def unreadable(self, raw: bytes) -> CallError:
        """The error for a body that is JSON but no reply: an error in disguise, or nonsense."""
        return endings.unreadable(self.asked, raw)

    def broken(self, why: str, *, transient: bool = True) -> CallFailedError:
        """The error for a reply that cannot stand; `why` goes on after the host's name."""
        return CallFailedError(redact(f"{self.asked.host} {why}"), where="reply", transient=transient)

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise CallFailedError(f"the connection to {self.asked.host} is not open: start the provider first")
        if self._missing_key:
            names = " or ".join(self.asked.keys)
            raise CallFailedError(f"there is no key for {self.asked.host}: set {names}", fatal=True)
        return self._session

    async def _pump(self, response: aiohttp.ClientResponse, sink: Sink) -> None:
        events = Events()
        size = 0
        async for chunk in response.content.iter_any():
            size += len(chunk)
            if size > self._options.max_body:
                raise self._too_large(self._options.max_body)
            for payload in events.feed(chunk):
                if sink.feed(payload):
                    return
        for payload in events.finish():
            sink.feed(payload)

    async def _read(self, response: aiohttp.ClientResponse, limit: int) -> bytes:
        """The whole body, bounded. What is compressed is counted as it is unpacked."""
        length = response.content_length
        if length is not None and length <= limit and "Content-Encoding" not in response.headers:
            return await response.read()
        chunks: list[bytes] = []
        size = 0
        async for chunk in response.content.iter_any():
            size += len(chunk)
            if size > limit:
                raise self._too_large(limit)
            chunks.append(chunk)
        return b"".join(chunks)

    def _too_large(self, limit: int) -> CallFailedError:
        return self.broken(f"sent more than {limit} bytes in one answer", transient=False)

    async def _failure(self, response: aiohttp.ClientResponse) -> CallError:
        status = response.status
        if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
            return endings.redirected(self.asked, status, response.headers.get("Location", ""))
        body = await self._read(response, _ERROR_BODY)
        if status < HTTPStatus.BAD_REQUEST:
            return endings.unreadable(self.asked, body)
        return endings.failure(self.asked, status, response.headers, body)

    def _no_stream(self, raw: bytes) -> CallError:
        if endings.complaint(raw).message or not raw.lstrip().startswith(b"{"):
            return endings.unreadable(self.asked, raw)
        return self.broken("does not stream: switch the option `stream` off", transient=False)


def encode(body: dict[str, Any]) -> bytes:
    """A request body as JSON. Raises CallFailedError for text that no endpoint can be sent."""
    try:
        return msgspec.json.encode(body)
    except (UnicodeEncodeError, TypeError, RecursionError):
        problem = CallFailedError(
            "the request holds what is not Unicode text, such as half a surrogate pair", where="request"
        )
    raise problem


def _payload(body: bytes) -> bytes | io.BytesIO:
    return body if len(body) < _LARGE else io.BytesIO(body)
