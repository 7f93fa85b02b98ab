"""Keys: where they are read, to which host they may go, and how they are kept out of everything else."""

from __future__ import annotations

import base64
import os
from urllib.parse import quote, quote_plus

import msgspec

from measurand.core.call import Reply
from measurand.core.errors import InputError

MASK = "***"

FREE_KEY = "MEASURAND_API_KEY"
"""The one variable whose key goes to whatever base URL the user names."""

BOUND: dict[str, tuple[str, ...]] = {
    "ANTHROPIC_API_KEY": ("api.anthropic.com",),
    "AZURE_OPENAI_API_KEY": (".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"),
    "CEREBRAS_API_KEY": ("api.cerebras.ai",),
    "DEEPSEEK_API_KEY": ("api.deepseek.com",),
    "FIREWORKS_API_KEY": ("api.fireworks.ai",),
    "GEMINI_API_KEY": ("generativelanguage.googleapis.com",),
    "GOOGLE_API_KEY": ("generativelanguage.googleapis.com",),
    "GROQ_API_KEY": ("api.groq.com",),
    "HF_TOKEN": ("router.huggingface.co",),
    "MISTRAL_API_KEY": ("api.mistral.ai",),
    "OPENAI_API_KEY": ("api.openai.com", ".api.openai.com"),
    "OPENROUTER_API_KEY": ("openrouter.ai",),
    "TOGETHER_API_KEY": ("api.together.xyz", "api.together.ai"),
    "XAI_API_KEY": ("api.x.ai",),
}
"""The hosts that each vendor's variable belongs to; a leading dot stands for any subdomain."""

_SHORTEST = 8
"""Shorter values are placeholders (EMPTY, ollama); masking them would eat ordinary words."""

_PLACEHOLDERS = frozenset({"lm-studio", "not-needed", "no-key-required", "token-abc123"})

_spellings: dict[str, bytes] = {}
"""Every way a key seen by this process may be written, the longest first."""


def key_names(scheme: str, host: str, key_env: str = "") -> tuple[str, ...]:
    """The environment variables whose key may be sent to this host, the first choice first.

    A vendor's variable goes to that vendor's host over TLS and nowhere else, even when it is named.
    Raises InputError where `key_env` names a vendor's variable for another host.
    """
    if key_env:
        if key_env in BOUND and not _belongs(key_env, scheme, host):
            raise InputError(
                f"{key_env} is sent to https://{BOUND[key_env][0].lstrip('.')} only, not to {scheme}://{host}: "
                f"put the key for this host into {FREE_KEY}, or into a variable of another name given as key_env.",
            )
        return (key_env,)
    return tuple(name for name in BOUND if _belongs(name, scheme, host)) or (FREE_KEY,)


def api_key(names: tuple[str, ...]) -> str:
    """The key in the first of these environment variables that is set, or the empty text.

    Raises InputError where it holds what no HTTP header may hold.
    """
    for name in names:
        value = os.environ.get(name, "")
        if value.strip():
            remember(value)
            return header_value(name, value)
    return ""


def header_value(name: str, value: str) -> str:
    """The value, if it may stand in an HTTP header. Raises InputError, without the value, otherwise."""
    if not value.isascii() or not value.isprintable() or value != value.strip():
        raise InputError(
            f"{name} holds a line break, a space at an end or a character outside ASCII, which no HTTP header may: "
            "set it again without.",
        )
    return value


def remember(secret: str) -> None:
    """Mask this value from now on, in each spelling in which it may turn up."""
    for value in {secret, secret.strip()}:
        if len(value) < _SHORTEST or value in _PLACEHOLDERS:
            continue
        plain = value.encode("utf-8", "surrogateescape")
        escaped = msgspec.json.encode(plain.decode("utf-8", "replace")).decode()[1:-1]
        for spelling in {value, escaped, quote(plain, safe=""), quote_plus(plain), *_base64(plain)}:
            _spellings[spelling] = spelling.encode("utf-8", "surrogateescape")
    ordered = sorted(_spellings.items(), key=lambda pair: -len(pair[0]))
    _spellings.clear()
    _spellings.update(ordered)


def redact(text: str) -> str:
    """The text with every key that this process has read replaced by three asterisks."""
    for spelling in _spellings:
        if spelling in text:
            text = text.replace(spelling, MASK)
    return text


def scrub(reply: Reply) -> Reply:
    """The reply, masked wherever an endpoint sent a key back; the same object where it did not."""
    if not _spellings:
        return reply
    encoded = msgspec.json.encode(reply)
    if not any(spelling in encoded for spelling in _spellings.values()):
        return reply
    return msgspec.json.decode(redact(encoded.decode()), type=Reply)


def _belongs(name: str, scheme: str, host: str) -> bool:
    """Whether the variable's key may go to this host."""
    return scheme == "https" and any(
        host.endswith(owner) if owner.startswith(".") else host == owner for owner in BOUND[name]
    )


def _base64(plain: bytes) -> list[str]:
    """What stays the same of the value's base64 text, for each of the three places at which it may begin."""
    found = []
    for shift in range(3):
        whole = base64.b64encode(b"\0" * shift + plain).decode().rstrip("=")
        begin = (shift * 8 + 5) // 6
        end = (shift + len(plain)) * 8 // 6
        found += [whole[begin:end], whole[begin:end].translate(str.maketrans("+/", "-_"))]
    return found
