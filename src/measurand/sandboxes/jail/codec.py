"""Plain values as bytes: the only thing that crosses between the jail of a candidate and that of its test.

A value crosses if its type is exactly one of those listed here; a subclass may have its own `__eq__` and
does not. Everything else arrives as an Opaque. Nothing is ever unpickled, and reading builds no object of
the candidate's making. Written for a hostile writer: every length is checked before it is believed.
"""

from __future__ import annotations

import struct
import sys

TYPE_CHECKING = False  # a bare interpreter takes longer to import typing than for all else here
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MAX_BYTES = 1 << 24
"""The longest encoding of one value."""

MAX_DEPTH = 100
"""The deepest nesting: far below the recursion limit, so that values can be compared without overflow."""

_COUNT = struct.Struct(">I")
_FLOAT = struct.Struct(">d")
_COMPLEX = struct.Struct(">dd")


class CodecError(ValueError):
    """A value is too large or too deep to cross, or some bytes are no value."""


class Opaque:
    """Stands for a value that is not plain, in the test's jail. It equals nothing and has no truth."""

    __hash__ = object.__hash__

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name

    def __eq__(self, other: object) -> bool:
        return False

    def __bool__(self) -> bool:
        raise AssertionError(f"the candidate returned a {self.type_name}, which is not a plain value")

    def __repr__(self) -> str:
        return f"<opaque {self.type_name}>"


def encode(value: object) -> bytes:
    """The bytes of a value. Raises CodecError where it is too large, too deep, or contains itself."""
    out = bytearray()
    _write(out, value, 0)
    return bytes(out)


def decode(data: bytes) -> Any:
    """The value of some bytes. Raises CodecError, and nothing else, where they are not exactly one value."""
    reader = _Reader(data)
    try:
        value = reader.value(0)
    except (ArithmeticError, TypeError, ValueError, struct.error) as error:
        raise CodecError(f"not a value: {type(error).__name__}") from error
    if reader.at != len(data):
        raise CodecError("bytes after the value")
    return value


def _write(out: bytearray, value: object, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise CodecError(f"nested more than {MAX_DEPTH} levels deep")
    _WRITERS.get(type(value), _write_rarer)(out, value, depth)


def _write_int(out: bytearray, value: int, _: int) -> None:
    """As bytes, for text has a limit of digits and takes quadratic time."""
    size = value.bit_length() // 8 + 1
    _sized(out, b"i", size)
    out += value.to_bytes(size, "big", signed=True)


def _write_bytes(out: bytearray, value: bytes, _: int) -> None:
    _sized(out, b"b", len(value))
    out += value


def _write_rarer(out: bytearray, value: Any, depth: int) -> None:
    """Types whose modules are costly to import: a value of one exists only if its module is there."""
    kind = type(value)
    if _is(kind, "decimal", "Decimal"):
        _text(out, b"D", str(value))
    elif _is(kind, "fractions", "Fraction"):
        out += b"Q"
        _write(out, value.numerator, depth + 1)
        _write(out, value.denominator, depth + 1)
    elif _is(kind, "collections", "Counter"):
        _pairs(out, b"C", value, depth)
    elif _is(kind, "collections", "OrderedDict"):
        _pairs(out, b"O", value, depth)
    elif _is(kind, "collections", "defaultdict"):
        _pairs(out, b"E", value, depth)
    elif _is(kind, "collections", "deque"):
        out += b"q"
        _write(out, value.maxlen, depth + 1)
        _items(out, b"l", value, depth)
    else:
        _text(out, b"o", kind.__name__[:100])


def _is(kind: type, module: str, name: str) -> bool:
    return kind is getattr(sys.modules.get(module), name, None)


def _sized(out: bytearray, tag: bytes, size: int) -> None:
    if len(out) + size > MAX_BYTES:
        raise CodecError(f"larger than {MAX_BYTES} bytes")
    out += tag + _COUNT.pack(size)


def _text(out: bytearray, tag: bytes, text: str) -> None:
    data = text[: MAX_BYTES + 1].encode("utf-8", "surrogatepass")
    _sized(out, tag, len(data))
    out += data


def _items(out: bytearray, tag: bytes, items: Any, depth: int) -> None:
    _sized(out, tag, len(items))
    for item in items:
        _write(out, item, depth + 1)


def _pairs(out: bytearray, tag: bytes, pairs: dict[Any, Any], depth: int) -> None:
    _sized(out, tag, len(pairs))
    for key, value in pairs.items():
        _write(out, key, depth + 1)
        _write(out, value, depth + 1)


_WRITERS: dict[type, Callable[[bytearray, Any, int], None]] = {
    type(None): lambda out, _value, _depth: out.extend(b"N"),
    bool: lambda out, value, _depth: out.extend(b"T" if value else b"F"),
    int: _write_int,
    float: lambda out, value, _depth: out.extend(b"f" + _FLOAT.pack(value)),
    complex: lambda out, value, _depth: out.extend(b"c" + _COMPLEX.pack(value.real, value.imag)),
    str: lambda out, value, _depth: _text(out, b"s", value),
    bytes: _write_bytes,
    list: lambda out, value, depth: _items(out, b"l", value, depth),
    tuple: lambda out, value, depth: _items(out, b"t", value, depth),
    set: lambda out, value, depth: _items(out, b"S", value, depth),
    frozenset: lambda out, value, depth: _items(out, b"Z", value, depth),
    dict: lambda out, value, depth: _pairs(out, b"d", value, depth),
}


class _Reader:
    """A cursor over bytes that nobody vouches for."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        taken = self.data[self.at : self.at + size]
        if len(taken) != size:
            raise CodecError("cut short")
        self.at += size
        return taken

    def count(self) -> int:
        (count,) = _COUNT.unpack(self.take(4))
        if count > len(self.data) - self.at:
            raise CodecError("cut short")
        return int(count)

    def text(self) -> str:
        return self.take(self.count()).decode("utf-8", "surrogatepass")

    def items(self, depth: int) -> list[Any]:
        return [self.value(depth + 1) for _ in range(self.count())]

    def pairs(self, depth: int) -> dict[Any, Any]:
        return {self.value(depth + 1): self.value(depth + 1) for _ in range(self.count())}

    def value(self, depth: int) -> Any:
        tag = self.take(1)
        if depth > MAX_DEPTH or tag not in _READERS:
            raise CodecError(f"too deep, or an unknown tag {tag!r}")
        return _READERS[tag](self, depth)

    def fraction(self, depth: int) -> Any:
        from fractions import Fraction

        return Fraction(self.value(depth + 1), self.value(depth + 1))

    def decimal(self, _: int) -> Any:
        from decimal import Decimal

        return Decimal(self.text())

    def collection(self, name: str, *arguments: Any) -> Any:
        import collections

        return getattr(collections, name)(*arguments)

    def deque(self, depth: int) -> Any:
        limit = self.value(depth + 1)
        if self.take(1) != b"l":
            raise CodecError("a deque of something else")
        return self.collection("deque", self.items(depth), limit)


_READERS: dict[bytes, Callable[[_Reader, int], Any]] = {
    b"N": lambda _reader, _depth: None,
    b"T": lambda _reader, _depth: True,
    b"F": lambda _reader, _depth: False,
    b"i": lambda reader, _depth: int.from_bytes(reader.take(reader.count()), "big", signed=True),
    b"f": lambda reader, _depth: _FLOAT.unpack(reader.take(8))[0],
    b"c": lambda reader, _depth: complex(*_COMPLEX.unpack(reader.take(16))),
    b"s": lambda reader, _depth: reader.text(),
    b"b": lambda reader, _depth: reader.take(reader.count()),
    b"l": lambda reader, depth: reader.items(depth),
    b"t": lambda reader, depth: tuple(reader.items(depth)),
    b"S": lambda reader, depth: set(reader.items(depth)),
    b"Z": lambda reader, depth: frozenset(reader.items(depth)),
    b"d": lambda reader, depth: reader.pairs(depth),
    b"D": lambda reader, depth: reader.decimal(depth),
    b"Q": lambda reader, depth: reader.fraction(depth),
    b"C": lambda reader, depth: reader.collection("Counter", reader.pairs(depth)),
    b"O": lambda reader, depth: reader.collection("OrderedDict", reader.pairs(depth)),
    b"E": lambda reader, depth: reader.collection("defaultdict", None, reader.pairs(depth)),
    b"q": lambda reader, depth: reader.deque(depth),
    b"o": lambda reader, _depth: Opaque(reader.text()),
}
