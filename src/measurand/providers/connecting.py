"""Settled once for each endpoint: its address, its waits, whom to trust, which proxy; and how a connection breaks."""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import math
import os
import ssl
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from measurand.core.errors import CallFailedError, InputError
from measurand.core.identity import canonical_json, digest
from measurand.core.record import Json, Record
from measurand.providers.secrets import redact, remember

_BROKEN: tuple[tuple[type[Exception], str, str], ...] = (
    (
        aiohttp.ClientConnectorCertificateError,
        "{host} shows a certificate that is not trusted; name its authority in ca_bundle or SSL_CERT_FILE",
        "fatal",
    ),
    (
        aiohttp.ClientSSLError,
        "{host} cannot be spoken to over TLS ({reason}); check http and https in the base URL",
        "final",
    ),
    (aiohttp.ConnectionTimeoutError, "{host} could not be reached within {connect:g} s (timeouts.connect)", ""),
    (aiohttp.SocketTimeoutError, "{host} sent nothing for {read:g} s (timeouts.read)", ""),
    (asyncio.TimeoutError, "{host} did not finish its answer within {total:g} s (timeouts.total)", ""),
    (aiohttp.ClientHttpProxyError, "the proxy refused the way to {host} with status {status}; check HTTPS_PROXY", ""),
    (aiohttp.ClientProxyConnectionError, "the proxy on the way to {host} could not be reached", ""),
    (aiohttp.ClientConnectorDNSError, "{host} is not a name that can be found; check the base URL", ""),
    (aiohttp.ClientConnectorError, "{host} could not be reached at port {port} ({reason})", ""),
    (aiohttp.ClientResponseError, "{host} did not answer in HTTP", ""),
    (Exception, "the connection to {host} broke before the answer was whole ({reason})", ""),
)
"""What broke, the sentence, and whether trying again is of no use (final) or no call can succeed (fatal)."""


class Timeouts(Record, frozen=True):
    """Seconds for one attempt: to connect, to wait for the first or the next byte, and in all."""

    connect: float = 20.0
    read: float = 300.0
    total: float = 900.0


class HttpOptions(Record, frozen=True):
    """How the network is used. `ca_bundle` is a PEM file or a directory of certificates to trust instead.

    `max_body` bounds a reply in bytes.
    """

    timeouts: Timeouts = Timeouts()
    ca_bundle: str = ""
    max_body: int = 64 << 20


def checked_fields(extra: dict[str, Json], own: frozenset[str]) -> dict[str, Json]:
    """Further fields of a body, if none is one that the request itself sets. Raises InputError otherwise."""
    if taken := own & extra.keys():
        raise InputError(f"extra sets {', '.join(sorted(taken))}, which the request itself sets: take it out.")
    return extra


def varied(revision: str, settings: dict[str, Json]) -> str:
    """The revision, marked with a hash of settings that may change replies but have no field in the subject."""
    if not settings:
        return revision
    mark = digest(canonical_json(settings)).hex()[:8]
    return f"{revision}+{mark}" if revision else f"+{mark}"


def broken_connection(error: Exception, url: URL, times: Timeouts) -> CallFailedError:
    """The error for a connection that failed: which wait ran out, or what broke."""
    sentence, lasting = next((words, lasting) for kind, words, lasting in _BROKEN if isinstance(error, kind))
    if isinstance(error, aiohttp.ClientHttpProxyError) and error.status < HTTPStatus.INTERNAL_SERVER_ERROR:
        lasting = "fatal"
    why = sentence.format(
        host=url.host,
        port=url.port,
        reason=_reason(error),
        status=getattr(error, "status", ""),
        connect=times.connect,
        read=times.read,
        total=times.total,
    )
    return CallFailedError(redact(why), where="network", transient=not lasting, fatal=lasting == "fatal")


def is_loopback(host: str) -> bool:
    """Whether the host is this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def checked_url(base_url: str) -> URL:
    """The base URL, if nothing can hide in it. Raises InputError, without repeating it, otherwise."""
    try:
        url = URL(base_url.strip())
        known = url.scheme in {"http", "https"} and bool(url.host) and url.port is not None
    except (ValueError, TypeError):
        known = False
    if not known:
        raise InputError("base_url is not an address of the form https://host/path.")
    if url.user is not None or url.password is not None or url.query_string or url.fragment:
        raise InputError(
            "base_url holds a user, a password, a query or a fragment: put the key into a variable (key_env)."
        )
    return url


def checked(options: HttpOptions) -> HttpOptions:
    """The options, if every wait has an end. Raises InputError otherwise."""
    times = options.timeouts
    for name in ("connect", "read", "total"):
        seconds = getattr(times, name)
        if not (math.isfinite(seconds) and seconds > 0):
            raise InputError(f"timeouts.{name} is {seconds}: every wait has an end, so give seconds above zero.")
    return options


def trust(url: URL, ca_bundle: str) -> ssl.SSLContext | bool:
    """Whom to trust: the option's certificates, or those of the environment, or the system's."""
    if url.scheme != "https":
        return True
    path = ca_bundle or os.environ.get("SSL_CERT_FILE") or os.environ.get("REQUESTS_CA_BUNDLE") or ""
    try:
        if path and Path(path).is_dir():
            return ssl.create_default_context(capath=path)
        return ssl.create_default_context(cafile=path or None)
    except OSError:
        raise InputError(
            f"{path} is not a file of certificates in PEM form: correct ca_bundle or SSL_CERT_FILE."
        ) from None


def proxy_for(url: URL) -> dict[str, Any]:
    """The arguments that send a request through the environment's proxy; this machine is asked directly.

    Read once: aiohttp's trust_env would do it, and read netrc, for each request.
    """
    host = url.host or ""
    proxies = getproxies()
    address = proxies.get(url.scheme) or proxies.get("all")
    if not address or is_loopback(host) or proxy_bypass(f"{host}:{url.port}"):
        return {}
    try:
        proxy = URL(address if "//" in address else f"http://{address}")
        usable = proxy.scheme in {"http", "https"} and bool(proxy.host)
    except ValueError:
        usable = False
    if not usable:
        raise InputError(f"the proxy for {host} (HTTPS_PROXY, HTTP_PROXY) is not of the form http://host:port.")
    if proxy.user is None:
        return {"proxy": proxy}
    remember(proxy.password or "")
    who = base64.b64encode(f"{proxy.user}:{proxy.password or ''}".encode()).decode()
    # Inside a tunnel (https) the proxy sees only its own headers; otherwise it sees those of the request.
    place = "proxy_headers" if url.scheme == "https" else "headers"
    return {"proxy": proxy.with_user(None), place: {"Proxy-Authorization": f"Basic {who}"}}


def _reason(error: Exception) -> str:
    """The system's word for what went wrong, without addresses."""
    inner = getattr(error, "os_error", error)
    return getattr(inner, "reason", None) or getattr(inner, "strerror", None) or type(inner).__name__
