"""Long values, kept once: what is long inside stored JSON is taken out by hash, and the rest is packed.

A stored body is JSON in which a string of at least 256 bytes, or a list of at least 32 floats, has given
way to a reference: `@t` (text) or `@d` (64-bit floats) and 22 characters of base64. A user's own string that
starts with `@` gets a second one, so no user's data can pass for a reference.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
import struct
import zlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from measurand.core.errors import InvalidRecordError, StoreError
from measurand.core.record import Json, Record

LONG = 256
MANY = 32
HASH_BYTES = 16

_REFERENCE = re.compile(rb'"@[td]([A-Za-z0-9_-]{22})"')
_ENCODER = msgspec.json.Encoder()
_BIG = 1 << 14
_DEFLATED = b"\x01"
_WORTH_DEFLATING = 72

# Bodies are short and alike, so they are deflated against what they are likely to hold. A dictionary never
# changes once a store has been written with it: a better one gets the next leading byte beside this one.
_DICTIONARY = (
    b'{"type":"loglikelihood","context":"@t","continuations":[" A"," B"," C"," D"]}{"type":"complete","prompt":"@t",'
    b'{"values":[-1.25,-0.5],{"type":"ran","program":{"type":"script","source":"@t","limits":{"cpu_seconds":10.0}}'
    b'{"ending":"finished","exit_code":0,"stdout":"","cpu_seconds":0.0,"wall_seconds":0.1}"logprobs":[{"token":"'
    b'","logprob":-0.0,"top":{"schema":{"type":"object","properties":{"type":"string"}},"required":["'
    b'{"type":"generate","messages":[{"role":"system","parts":[{"type":"text","text":"@t"}]},{"role":"user","parts":'
    b'[{"type":"text","text":"@t"}]}],"decode":{"temperature":0.7,"top_p":0.95,"max_tokens":512,"seed":1,"stop":["'
    b'{"type":"truncated","by":"tokens","answer":{"text":"{"type":"answered","answer":{"text":"@t","reasoning":"@t"}}'
    b'{"parts":[{"type":"text","text":"@t"}],"finish":"length","reasoning":"@t","usage":{"input":212,"output":87,'
    b'"cached_input":0,"reasoning":0},"timings":{"total":0.7,"first_token":0.1},"served_as":"gpt-4o-mini-2024-07-18"}'
)
_PRIMED = zlib.compressobj(1, zlib.DEFLATED, -10, 1, zlib.Z_DEFAULT_STRATEGY, _DICTIONARY)


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
        msgspec.json.decode(encoded, type=kind)
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
    return {base64.urlsafe_b64decode(found + b"==") for body in bodies for found in _REFERENCE.findall(body)}


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


def deflate(body: bytes) -> bytes:
    """A body as it lies on disk: shorter where that can be had."""
    if len(body) < _WORTH_DEFLATING:
        return body
    packer = _PRIMED.copy() if len(body) < _BIG else zlib.compressobj(6, zlib.DEFLATED, -15)
    small = _DEFLATED + packer.compress(body) + packer.flush()
    return small if len(small) < len(body) else body


def inflate(stored: bytes) -> bytes:
    """What `deflate` was given. JSON never starts with the byte that marks the deflated."""
    return zlib.decompressobj(-15, _DICTIONARY).decompress(stored[1:]) if stored[:1] == _DEFLATED else stored


def deflate_text(text: bytes) -> tuple[bytes, bool]:
    """A taken-out value as it lies on disk, and whether it was deflated."""
    # A small window is set up ten times as fast as the usual one, which is most of the cost of short texts.
    packer = zlib.compressobj(1, zlib.DEFLATED, -12, 5) if len(text) < _BIG else zlib.compressobj(6, zlib.DEFLATED, -15)
    small = packer.compress(text) + packer.flush()
    return (small, True) if len(small) < len(text) else (text, False)


def inflate_text(data: bytes, deflated: bool) -> bytes:  # noqa: FBT001 - a column of a row
    """What `deflate_text` was given."""
    return zlib.decompress(data, -15) if deflated else data


def _take_out(value: Json, texts: dict[bytes, bytes]) -> Json:
    kind = type(value)
    if kind is str:
        return _take_out_text(value, texts)
    if kind is dict:
        return {key: _take_out(inner, texts) for key, inner in value.items()}
    if kind is list or kind is tuple:
        if len(value) >= MANY and all(type(number) is float for number in value):
            return _take_out_floats(value, texts)
        return [_take_out(inner, texts) for inner in value]
    if kind is float:
        _refuse_unfinished((value,))
    return value


def _take_out_text(text: str, texts: dict[bytes, bytes]) -> str:
    if len(text) * 4 >= LONG:
        encoded = text.encode()
        if len(encoded) >= LONG:
            return "@t" + _keep(encoded, texts)
    return "@" + text if text.startswith("@") else text


def _take_out_floats(numbers: list[float], texts: dict[bytes, bytes]) -> str:
    _refuse_unfinished(numbers)
    return "@d" + _keep(struct.pack(f"<{len(numbers)}d", *numbers), texts)


def _refuse_unfinished(numbers: Iterable[float]) -> None:
    for number in numbers:
        if not math.isfinite(number):
            message = f"it holds the number {number}"
            raise ValueError(message)


def _keep(encoded: bytes, texts: dict[bytes, bytes]) -> str:
    hashed = hashlib.sha256(encoded).digest()[:HASH_BYTES]
    texts[hashed] = encoded
    return base64.urlsafe_b64encode(hashed)[:-2].decode()


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
    kept = texts[base64.urlsafe_b64decode(text[2:] + "==")]
    if text.startswith("@t"):
        return kept.decode()
    return list(struct.unpack(f"<{len(kept) // 8}d", kept))
