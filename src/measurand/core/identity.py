"""Canonical JSON and the hashes made of it. Two equal records have one identity, on any machine."""

from __future__ import annotations

import hashlib
import math
from functools import cache
from typing import TypeVar

import msgspec

from measurand.core.errors import InvalidRecordError
from measurand.core.record import Json, Record

SHORT = 8
"""Characters of a hash that are shown beside a number."""

T = TypeVar("T")


def canonical(record: Record) -> bytes:
    """Encode a record as canonical JSON: keys sorted, fields at their default left out, numbers in their type.

    The record is converted first, not merely encoded, so that 0, 0.0 and True in a float field are either one
    value or refused. Raises InvalidRecordError for NaN, infinities, lone surrogates and wrong types.
    """
    try:
        typed = msgspec.convert(msgspec.to_builtins(record), type(record))
        return msgspec.json.encode(_plain(typed, type(record).__name__), order="sorted")
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise InvalidRecordError(f"{type(record).__name__} cannot be identified: {error}") from error


def canonical_json(value: Json) -> bytes:
    """Encode plain JSON data canonically. Raises InvalidRecordError as `canonical` does."""
    try:
        return msgspec.json.encode(_plain(value, "value"), order="sorted")
    except (TypeError, UnicodeEncodeError) as error:
        raise InvalidRecordError(f"a value cannot be identified: {error}") from error


def identity(record: Record) -> str:
    """SHA-256 of the canonical encoding, as 64 hexadecimal characters."""
    return hashlib.sha256(canonical(record)).hexdigest()


def short(hexadecimal: str) -> str:
    """The first characters of a hash: what people read."""
    return hexadecimal[:SHORT]


def digest(*parts: bytes) -> bytes:
    """A 16-byte key of several encodings; a zero byte parts them, which JSON text cannot hold."""
    return hashlib.sha256(b"\x00".join(parts)).digest()[:16]


def sha256_text(text: str) -> str:
    """SHA-256 of a text in UTF-8, as hexadecimal. Lone surrogates are escaped, not refused."""
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def decode(encoded: bytes | str, kind: type[T]) -> T:
    """Read a record back, strictly. Raises InvalidRecordError that names the field at fault."""
    try:
        return msgspec.json.decode(encoded, type=kind)
    except msgspec.MsgspecError as error:
        message = f"not a valid {getattr(kind, '__name__', kind)}: {error}"
        raise InvalidRecordError(message) from error


@cache
def _fields(kind: type[Record]) -> tuple[str, tuple[tuple[str, object], ...]]:
    """A record's tag, and its fields with their defaults."""
    config = kind.__struct_config__
    defaults = []
    for field in msgspec.structs.fields(kind):
        made = field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default
        defaults.append((field.name, made))
    return str(config.tag or ""), tuple(defaults)


_AS_THEY_ARE = frozenset({str, int, bool, type(None), bytes})


def _plain(value: Json, where: str) -> Json:
    """A value as plain data without defaults; refuses what has no one JSON form.

    msgspec's own `omit_defaults` compares by identity, so that an explicit 0.0 would not be the default 0.0.
    Strings are checked when they are encoded. Types are asked for in the order of how often they come.
    """
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return value
    if kind is tuple or kind is list:
        return [_plain(inner, where) for inner in value]
    if kind is dict:
        return {key: _plain(inner, key) for key, inner in value.items()}
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidRecordError(f"{where} is {value}: NaN and infinities have no identity; leave them out")
        return value
    if isinstance(value, Record):
        tag, fields = _fields(type(value))
        plain: dict[str, Json] = {"type": tag} if tag else {}
        for name, default in fields:
            inner = getattr(value, name)
            if inner is not default and inner != default:
                plain[name] = inner if type(inner) in _AS_THEY_ARE else _plain(inner, name)
        return plain
    return value
