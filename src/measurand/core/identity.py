"""Canonical JSON and the hashes made of it. Two equal records have one identity, on any machine."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, TypeVar

import msgspec

from measurand.core.errors import InvalidRecordError

if TYPE_CHECKING:
    from measurand.core.record import Json, Record

SHORT = 8
"""Characters of a hash that are shown beside a number."""

T = TypeVar("T")


def canonical(record: Record) -> bytes:
    """Encode a record as canonical JSON: keys sorted, defaults left out, numbers in their field's type.

    The record is converted first, not merely encoded, so that 0, 0.0 and True in a float field are
    either one value or refused. Raises InvalidRecordError for NaN, infinities, lone surrogates and
    wrong types.
    """
    plain = msgspec.to_builtins(record, order="sorted")
    _refuse_unstable(plain, type(record).__name__)
    try:
        typed = msgspec.convert(plain, type(record))
        return msgspec.json.encode(typed, order="sorted")
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        message = f"{type(record).__name__} cannot be identified: {error}"
        raise InvalidRecordError(message) from error


def canonical_json(value: Json) -> bytes:
    """Encode plain JSON data canonically. Raises InvalidRecordError as `canonical` does."""
    _refuse_unstable(value, "value")
    try:
        return msgspec.json.encode(value, order="sorted")
    except (TypeError, UnicodeEncodeError) as error:
        message = f"a value cannot be identified: {error}"
        raise InvalidRecordError(message) from error


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


def _refuse_unstable(value: Json, where: str) -> None:
    """Refuse what has no one JSON form. Walks once; strings are checked when they are encoded."""
    if isinstance(value, dict):
        for key, inner in value.items():
            _refuse_unstable(inner, key)
    elif isinstance(value, list | tuple):
        for inner in value:
            _refuse_unstable(inner, where)
    elif isinstance(value, float) and not math.isfinite(value):
        message = f"{where} is {value}: NaN and infinities have no identity; use None or leave it out"
        raise InvalidRecordError(message)
