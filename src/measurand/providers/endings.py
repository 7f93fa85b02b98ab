"""How a call ended, when it did not end well: from status, headers and body to one sentence and its flags."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, NamedTuple

import msgspec

from measurand.core.errors import CallBlockedError, CallError, CallFailedError
from measurand.providers.secrets import redact

LONGEST_WAIT = 3600.0
"""Seconds. No endpoint's wish to be left alone is granted for longer; what runs on needs a new session."""

_QUOTED = 300
"""Characters of an endpoint's own words that are shown."""

_OK = HTTPStatus.OK
_TRANSIENT = frozenset({408, 409, 425, 429})
_FATAL = frozenset({404, 405, 410})
_DENIED = frozenset({401, 403})
_CONTEXT = (
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "context length",
    "context window",
    "context limit",
    "context size",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "input token count",
    "maximum number of tokens",
    "reduce the length",
)
_BLOCKED = ("content_filter", "content_policy_violation", "responsibleaipolicyviolation", "data_inspection_failed")
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|h|m|s|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class Asked(NamedTuple):
    """Who was asked, for the sentences: the host, and the variables that may hold its key."""

    host: str
    keys: tuple[str, ...]


class Complaint(NamedTuple):
    """What an error body says: the words, the codes in lower case, and the wait that it asks for."""

    message: str
    codes: str
    wait: float | None


def failure(asked: Asked, status: int, headers: Mapping[str, str], body: bytes) -> CallError:
    """The error for an answer that is not a reply; status 200 stands for an error sent as a success."""
    said = complaint(body)
    words = f": {said.message}" if said.message else ""
    why = f"{asked.host} answered {'with an error' if status == _OK else status}{words}"
    everything = f"{said.codes} {said.message.lower()}"
    if blocked_by := _filter(everything, said.codes):
        return CallBlockedError(f"{asked.host} ({blocked_by})")
    too_long = status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE or any(mark in everything for mark in _CONTEXT)
    if too_long and status not in _TRANSIENT:
        return _failed(f"{why}; shorten the prompt, or use fewer examples or output tokens", where="context")
    if status != _OK and (hopeless := _hopeless(asked, status, said.codes)):
        return _failed(f"{why}; {hopeless}", fatal=True)
    wordy = "429" in said.codes.split() or "rate_limit" in said.codes or "rate limit" in everything
    return CallFailedError(
        redact(why),
        transient=status == _OK or status in _TRANSIENT or status >= HTTPStatus.INTERNAL_SERVER_ERROR,
        limited=status == HTTPStatus.TOO_MANY_REQUESTS or (status == _OK and wordy),
        retry_after=wait_asked(headers, said.wait),
    )


def redirected(asked: Asked, status: int, location: str) -> CallFailedError:
    """The error for a redirect: it is not followed, since the key would travel with it."""
    address = re.split(r"[?#]", location[:_QUOTED], maxsplit=1)[0]
    address = re.sub(r"//[^/@]*@", "//", address)
    return _failed(
        f"{asked.host} answered {status} and sends us to {_tidy(address) or 'nowhere'}, which is not followed because "
        "a key must not travel: give the new address as base_url if you trust it",
        fatal=True,
    )


def unreadable(asked: Asked, body: bytes, what: str = "body") -> CallError:
    """The error for a success that cannot be read: empty, HTML, broken JSON, or an error in disguise."""
    start = body[:64].lstrip().lower()
    if not start:
        why = f"{asked.host} answered with an empty {what}"
    elif start.startswith(b"<"):
        why = f"{asked.host} answered with a web page where JSON was due; check the base URL and any proxy"
    elif complaint(body).message:
        return failure(asked, _OK, {}, body)
    else:
        why = f"{asked.host} answered with a {what} that is not the JSON that was due"
    return _failed(why, where="reply", transient=True)


def refused_request(why: str) -> CallFailedError:
    """The error for a request that this wire format has no words for. No other call of the run fares better."""
    return CallFailedError(why, where="request", fatal=True)


def complaint(body: bytes) -> Complaint:
    """Read an error body of any vendor. Words that are no JSON are the message themselves, unless they are HTML."""
    try:
        tree = msgspec.json.decode(body)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        text = body[: 4 * _QUOTED].decode("utf-8", "replace")
        speaks = not text.lstrip().startswith(("<", "{", "[")) and "\N{REPLACEMENT CHARACTER}" not in text[:_QUOTED]
        return Complaint(_tidy(text) if speaks else "", "", None)
    if isinstance(tree, list) and tree:
        tree = tree[0]
    if not isinstance(tree, dict):
        return Complaint("", "", None)
    error = tree.get("error") or tree
    if isinstance(error, str):
        return Complaint(_tidy(error), "", None)
    if not isinstance(error, dict):
        return Complaint("", "", None)
    if error is tree and tree.get("object") != "error" and not {"message", "detail"} & tree.keys():
        return Complaint("", "", None)
    words = error.get("message") or error.get("detail") or error.get("type") or "an error without words"
    return Complaint(_tidy(words if isinstance(words, str) else str(words)), _codes(error), _delay(error))


def wait_asked(headers: Mapping[str, str], wait: float | None = None) -> float | None:
    """Seconds that the endpoint asks us to wait, at most an hour; None where it does not say or says nonsense.

    Headers are tried in order of precision: retry-after-ms, Retry-After in seconds or as a date (counted from
    the endpoint's own clock), the wait in the body, then the moments at which limits are reset.
    """
    for seconds in (
        _number(headers.get("retry-after-ms", ""), 0.001),
        _number(headers.get("retry-after", ""), 1.0),
        _until(headers.get("retry-after", ""), headers.get("date", "")),
        wait,
        _reset(headers),
    ):
        if seconds is not None and math.isfinite(seconds) and seconds >= 0:
            return min(seconds, LONGEST_WAIT)
    return None


def _failed(why: str, *, where: str = "provider", transient: bool = False, fatal: bool = False) -> CallFailedError:
    return CallFailedError(redact(why), where=where, transient=transient, fatal=fatal)


def _hopeless(asked: Asked, status: int, codes: str) -> str:
    """The remedy for what no other call of this subject could survive; empty for anything else."""
    if status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
        return "put the proxy's user and password into its variable (HTTPS_PROXY)"
    if status == HTTPStatus.PAYMENT_REQUIRED or "insufficient_quota" in codes:
        return "the account has no money or quota left"
    if status in _DENIED or "api_key_invalid" in codes:
        return f"set {' or '.join(asked.keys)} to a key that may use this model"
    if status in _FATAL or "model_not_found" in codes:
        return "check the model's name and the base URL"
    return ""


def _filter(everything: str, codes: str) -> str:
    """The name of the content filter that stopped the request, if one did."""
    for mark in _BLOCKED:
        if mark in codes:
            return mark
    if "blocked by content filter" in everything:
        return "content filter"
    flagged = "flagged" in everything and ("invalid_prompt" in codes or "moderation" in everything)
    return "moderation" if flagged else ""


def _codes(error: dict[str, Any]) -> str:
    """All codes of an error, inner ones too, in lower case."""
    found = [error.get(name) for name in ("code", "type", "status", "param")]
    inner = error.get("innererror")
    if isinstance(inner, dict):
        found.append(inner.get("code"))
    found += [detail.get("reason") for detail in _details(error)]
    return " ".join(str(code) for code in found if isinstance(code, str | int))[:_QUOTED].lower()


def _delay(error: dict[str, Any]) -> float | None:
    """The wait in an error's details, as Google gives it."""
    for detail in _details(error):
        if isinstance(delay := detail.get("retryDelay"), str):
            return _duration(delay)
    return None


def _details(error: dict[str, Any]) -> list[dict[str, Any]]:
    details = error.get("details")
    return [detail for detail in details if isinstance(detail, dict)] if isinstance(details, list) else []


def _tidy(text: str) -> str:
    """One short line without control characters or keys. Redacted before it is cut, lest half a key remain."""
    printable = "".join(mark if mark.isprintable() else " " for mark in redact(text[: 20 * _QUOTED]))
    line = " ".join(printable.split()).rstrip(".")
    return line if len(line) <= _QUOTED else line[:_QUOTED] + "…"


def _number(text: str, unit: float) -> float | None:
    try:
        return float(text) * unit
    except ValueError:
        return None


def _until(text: str, now: str) -> float | None:
    """Seconds from the endpoint's Date, or else from our clock, to an HTTP date."""
    then = _date(text)
    if then is None:
        return None
    since = _date(now)
    return then - (time.time() if since is None else since)


def _date(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _reset(headers: Mapping[str, str]) -> float | None:
    """When the limit that was hit is reset: the latest of those used up, or else the nearest of all."""
    spent: list[float] = []
    rest: list[float] = []
    for name, value in headers.items():
        lowered = name.lower()
        if "ratelimit" not in lowered or "reset" not in lowered:
            continue
        seconds = _moment(value)
        if seconds is not None:
            left = headers.get(lowered.replace("reset", "remaining"), "")
            (spent if left.strip() == "0" else rest).append(seconds)
    return max(spent) if spent else min(rest, default=None)


def _moment(value: str) -> float | None:
    """Seconds from now: a duration (6m0s), a number of seconds, a Unix time in seconds or ms, or an ISO time."""
    number = _number(value, 1.0)
    if number is not None:
        for unit in (1000.0, 1.0):
            if number / unit > 1e9:  # noqa: PLR2004 (no duration is thirty years long, so this is a time)
                return number / unit - time.time()
        return number
    if (seconds := _duration(value)) is not None:
        return seconds
    try:
        return datetime.fromisoformat(value).timestamp() - time.time()
    except ValueError:
        return None


def _duration(text: str) -> float | None:
    """Seconds of a duration such as 1m30.5s; None for anything else."""
    found = _DURATION.findall(text[:64])
    if not found or "".join(amount + unit for amount, unit in found) != text:
        return None
    return sum(float(amount) * _UNITS[unit] for amount, unit in found)
