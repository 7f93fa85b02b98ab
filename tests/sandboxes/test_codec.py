"""Plain values cross exactly; everything else crosses as nothing."""

import collections
import contextlib
import math
import struct
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.sandboxes.jail.codec import MAX_BYTES, CodecError, Opaque, decode, encode

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text(st.characters())
    | st.binary()
    | st.decimals()
    | st.fractions()
)
KEYS = st.none() | st.booleans() | st.integers() | st.text() | st.tuples(st.integers(), st.text())
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(KEYS, inner)
        | st.sets(KEYS)
        | st.frozensets(KEYS)
        | st.dictionaries(KEYS, inner).map(collections.OrderedDict)
        | st.lists(KEYS).map(collections.Counter)
        | st.lists(inner).map(lambda items: collections.deque(items, maxlen=5))
    ),
    max_leaves=12,
)


def shape(value: object) -> object:
    """A form in which equal means: same types, same bits, same order."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else struct.pack(">d", value)
    if isinstance(value, complex):
        return shape(value.real), shape(value.imag)
    if isinstance(value, dict):
        return type(value), [(shape(key), shape(inner)) for key, inner in value.items()]
    if isinstance(value, set | frozenset):
        return type(value), sorted(map(repr, value))
    if isinstance(value, list | tuple | collections.deque):
        return type(value), getattr(value, "maxlen", None), [shape(inner) for inner in value]
    return type(value), repr(value)


@given(VALUES)
def test_plain_values_cross_exactly(value: Any) -> None:
    assert shape(decode(encode(value))) == shape(value)


@given(st.binary(max_size=200))
def test_junk_is_refused_and_nothing_else(data: Any) -> None:
    with contextlib.suppress(CodecError):
        decode(data)


@given(VALUES, st.data())
def test_damaged_values_are_refused_or_are_values(value: Any, data: Any) -> None:
    encoded = bytearray(encode(value))
    place = data.draw(st.integers(0, len(encoded) - 1))
    encoded[place] = data.draw(st.integers(0, 255))
    with contextlib.suppress(CodecError):
        decode(bytes(encoded))
    with pytest.raises(CodecError):
        decode(bytes(encode(value)) + b"N")


@pytest.mark.parametrize(
    "value",
    [10**5000, -(10**5000), 10**100_000, "\ud800", -0.0, math.inf, 2**63],
    ids=lambda value: type(value).__name__,
)
def test_awkward_values_cross(value: Any) -> None:
    back = decode(encode(value))
    assert type(back) is type(value)
    assert back == value
    if isinstance(value, float):
        assert math.copysign(1, back) == math.copysign(1, value)


def test_a_defaultdict_keeps_its_items() -> None:
    back = decode(encode(collections.defaultdict(list, {"a": [1]})))
    assert type(back) is collections.defaultdict
    assert back == {"a": [1]}


class Equal(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


@pytest.mark.parametrize(
    "value", [Equal(3), object(), (n for n in [1]), range(3), bytearray(b"x"), len, {1: 2}.keys(), int]
)
def test_all_else_is_opaque_and_equals_nothing(value: Any) -> None:
    back = decode(encode(value))
    assert isinstance(back, Opaque)
    assert back not in (3, decode(encode(value)))
    assert not back.__eq__(back)
    assert [back] != [3]
    assert type(value).__name__ in repr(back)
    with pytest.raises(AssertionError, match="not a plain value"):
        bool(back)


def test_an_opaque_inside_a_container_stays_one() -> None:
    back = decode(encode({"a": [Equal(1)], Equal(2): frozenset({Equal(3)})}))
    assert back != {"a": [1], 2: frozenset({3})}


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def cyclic() -> list[Any]:
    value: list[Any] = []
    value += [value, value, value]
    return value


def doubling() -> list[Any]:
    value: list[Any] = [0]
    for _ in range(60):
        value = [value, value]
    return value


@pytest.mark.parametrize("make", [lambda: deep(100_000), cyclic, doubling])
def test_what_is_too_deep_is_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(CodecError):
        encode(make())


@pytest.mark.parametrize(
    "value",
    ["a" * (MAX_BYTES + 1), b"a" * (MAX_BYTES + 1), 1 << (8 * MAX_BYTES), "é" * MAX_BYTES],
    ids=lambda value: type(value).__name__,
)
def test_what_is_too_large_is_refused(value: Any) -> None:
    with pytest.raises(CodecError, match="larger"):
        encode(value)


def test_deep_bytes_are_refused() -> None:
    with pytest.raises(CodecError):
        decode(b"l\x00\x00\x00\x01" * 100_000 + b"N")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"?",
        b"i\xff\xff\xff\xff",
        b"S\x00\x00\x00\x01l\x00\x00\x00\x00",
        b"QNN",
        b"D\x00\x00\x00\x01x",
        b"qNN",
        b"s\x00\x00\x00\x01\xff",
    ],
)
def test_ill_formed_bytes_are_refused(data: Any) -> None:
    with pytest.raises(CodecError):
        decode(data)


def test_a_fraction_and_a_decimal_keep_their_kind() -> None:
    assert type(decode(encode(Fraction(4, 2)))) is Fraction
    assert repr(decode(encode(Decimal("1.50")))) == "Decimal('1.50')"
    with pytest.raises(CodecError):
        decode(b"Q" + encode(1) + encode(0))
