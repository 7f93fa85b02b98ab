"""Long values, kept once: what is long inside stored JSON is taken out by hash, and the rest is packed.

A stored body is JSON in which a string of at least 256 bytes, or a list of at least 32 floats, has given
way to a reference: `@t` (text) or `@d` (64-bit floats) and 22 characters of base64. A user's own string that
starts with `@` gets a second one, so no user's data can pass for a reference.
"""

from __future__ import annotations

import hashlib
import re
import struct
import zlib
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterable, Mapping
from functools import cache
from math import isfinite
from typing import Any, NamedTuple, NoReturn

import msgspec

from measurand.core.errors import InvalidRecordError, StoreError
from measurand.core.record import Json, Record

LONG = 256
MANY = 32
_PERHAPS_LONG = LONG // 4  # characters: UTF-8 takes at most four bytes for each
_BIG = 1 << 14
HASH_BYTES = 16

_REFERENCE = re.compile(rb'"@[td]([A-Za-z0-9+/]{22})"')
_ENCODER = msgspec.json.Encoder()
_decoder = cache(msgspec.json.Decoder)
_WORTH_DEFLATING = 1024
_DEFLATED = b"\x1f"

# Bodies are short and alike, and JSON holds no control characters, so each of these may stand for a phrase: what
# a body starts with, and what may follow in such a body. Faster than zlib on so little, and shorter. An entry never
# changes, since stores are written with it; new ones may be added.
_FORMS: tuple[tuple[bytes, bytes, tuple[bytes, ...]], ...] = (
    (b"\x01", b'{"type":"generate","messages":[{"role":"', (b"\x02", b"\x03", b"\x04", b"\x05", b"\x06")),
    (b"\x07", b'{"parts":[{"type":"text","text":"', (b"\x08", b"\x0b", b"\x0c", b"\x0e", b"\x0f", b"\x10")),
    (b"\x11", b'{"type":"answered","answer":{"text":"', (b"\x10",)),
    (b"\x12", b'{"type":"found","value":', (b"\x13",)),
    (b"\x14", b'{"type":"measured","row":[', ()),
    (b"\x15", b'{"type":"absent","why":"', ()),
    (b"\x16", b'{"values":[', (b"\x0b", b"\x0c")),
    (b"\x17", b'{"type":"loglikelihood","context":"', (b"\x18",)),
    (b"\x19", b'{"type":"complete","prompt":"', (b"\x05", b"\x06")),
    (b"\x1a", b'{"type":"truncated","by":"', (b"\x10",)),
    (b"\x1b", b'{"type":"', ()),
)
_PHRASES: dict[bytes, bytes] = {
    b"\x02": b'"}]},{"role":"',
    b"\x03": b'user","parts":[{"type":"text","text":"',
    b"\x04": b'assistant","parts":[{"type":"text","text":"',
    b"\x05": b',"decode":{"temperature":',
    b"\x06": b'"max_tokens":',
    b"\x08": b'"finish":"',
    b"\x0b": b',"usage":{"input":',
    b"\x0c": b'},"timings":{"total":',
    b"\x0e": b',"output":',
    b"\x0f": b'},"served_as":"',
    b"\x10": b'"reasoning":',
    b"\x13": b',"span":[',
    b"\x18": b'","continuations":["',
}
_STARTS = {short: (start, inner) for short, start, inner in _FORMS}


class Packed(NamedTuple):
    """A body, and what was taken out of it: pairs of a 16-byte hash and the bytes it stands for."""

    body: bytes
    texts: tuple[tuple[bytes, bytes], ...] = ()


def pack(record: Record) -> Packed:
    """Encode a record with its long values taken out.

    Raises InvalidRecordError for what would not come back as it went in: NaN, infinities, lone surrogates,
    values of another type than their field's.
    """
    kind = type(record)
    try:
        encoded = _ENCODER.encode(record)
        _decoder(kind).decode(encoded)
        # NaN is encoded as null without complaint, so whatever holds a null is looked at.
        if len(encoded) < LONG and b'"@' not in encoded and b"null" not in encoded:
            return Packed(encoded)
        texts: dict[bytes, bytes] = {}
        plain = _take_out(msgspec.to_builtins(record), texts)
        return Packed(_ENCODER.encode(plain), tuple(texts.items()))
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError) as error:
        message = f"A {kind.__name__} cannot be stored, because not all of it is plain JSON data: {error}."
        raise InvalidRecordError(message) from error


def hashes(bodies: Iterable[bytes]) -> set[bytes]:
    """The hashes of all that was taken out of these bodies (and perhaps some more, which name nothing)."""
    return {a2b_base64(found + b"==") for body in bodies for found in _REFERENCE.findall(body)}


def unpack(body: bytes, texts: Mapping[bytes, bytes], kind: Any) -> Any:
    """Read a body back as that type, with what was taken out of it. Raises StoreError where the two do not fit."""
    try:
        if b'"@' not in body:
            return msgspec.json.decode(body, type=kind)
        return msgspec.convert(_put_back(msgspec.json.decode(body), texts), kind)
    except (msgspec.MsgspecError, KeyError, ValueError, struct.error) as error:
        name = getattr(kind, "__name__", str(kind))
        message = f"The store holds a {name} that cannot be read ({error}); the file is damaged, use a copy of it."
        raise StoreError(message) from error


def shorten(body: bytes) -> bytes:
    """A body as it lies on disk."""
    if len(body) >= _WORTH_DEFLATING:
        return _DEFLATED + zlib.compress(body)
    for short, start, inner in _FORMS:
        if body.startswith(start):
            body = short + body[len(start) :]
            for mark in inner:
                body = body.replace(_PHRASES[mark], mark)
            break
    return body


def lengthen(stored: bytes) -> bytes:
    """What `shorten` was given."""
    if stored[:1] == _DEFLATED:
        return zlib.decompress(stored[1:])
    form = _STARTS.get(stored[:1])
    if form is None:
        return stored
    start, inner = form
    body = start + stored[1:]
    for mark in inner:
        body = body.replace(mark, _PHRASES[mark])
    return body


def deflate_text(text: bytes) -> tuple[bytes, bool]:
    """A taken-out value as it lies on disk, and whether it was deflated: short ones are not worth the time."""
    if len(text) < _WORTH_DEFLATING:
        return text, False
    # A small window is set up ten times as fast as the usual one, which is most of the cost of a page of text.
    packer = zlib.compressobj(1, zlib.DEFLATED, -12, 5) if len(text) < _BIG else zlib.compressobj(6, zlib.DEFLATED, -15)
    small = packer.compress(text) + packer.flush()
    return (small, True) if len(small) < len(text) else (text, False)


def inflate_text(data: bytes, deflated: bool) -> bytes:  # noqa: FBT001 - a column of a row
    """What `deflate_text` was given."""
    return zlib.decompress(data, -15) if deflated else data


def _take_out(value: Json, texts: dict[bytes, bytes]) -> Json:
    """What stays in the body. Changes dicts and lists in place: they are fresh, and copying them costs more."""
    places: Iterable[tuple[Any, Any]] = value.items() if type(value) is dict else enumerate(value)
    for place, inner in places:
        kind = type(inner)
        if kind is str:
            if len(inner) >= _PERHAPS_LONG or inner[:1] == "@":
                value[place] = _take_out_text(inner, texts)
        elif kind is dict:
            _take_out(inner, texts)
        elif kind is list or kind is tuple:
            if len(inner) >= MANY and all(type(number) is float for number in inner):
                value[place] = _take_out_floats(inner, texts)
            else:
                value[place] = _take_out(inner if kind is list else list(inner), texts)
        elif kind is float and not isfinite(inner):
            _refuse(inner)
    return value


def _take_out_text(text: str, texts: dict[bytes, bytes]) -> str:
    encoded = text.encode()
    if len(encoded) >= LONG:
        return "@t" + _keep(encoded, texts)
    return "@" + text if text[:1] == "@" else text


def _take_out_floats(numbers: list[float], texts: dict[bytes, bytes]) -> str:
    for number in numbers:
        if not isfinite(number):
            _refuse(number)
    return "@d" + _keep(struct.pack(f"<{len(numbers)}d", *numbers), texts)


def _refuse(number: float) -> NoReturn:
    message = f"it holds the number {number}"
    raise ValueError(message)


def _keep(encoded: bytes, texts: dict[bytes, bytes]) -> str:
    hashed = hashlib.sha256(encoded).digest()[:HASH_BYTES]
    texts[hashed] = encoded
    return b2a_base64(hashed, newline=False)[:22].decode()


def _put_back(value: Json, texts: Mapping[bytes, bytes]) -> Json:
    if isinstance(value, str):
        return _put_back_reference(value, texts) if value.startswith("@") else value
    if isinstance(value, dict):
        return {key: _put_back(inner, texts) for key, inner in value.items()}
    if isinstance(value, list):
        return [_put_back(inner, texts) for inner in value]
    return value


def _put_back_reference(text: str, texts: Mapping[bytes, bytes]) -> Json:
    if text.startswith("@@"):
        return text[1:]
    kept = texts[a2b_base64(text[2:] + "==")]
    if text.startswith("@t"):
        return kept.decode()
    return list(struct.unpack(f"<{len(kept) // 8}d", kept))
