"""Long values are kept apart and come back exactly; look-alikes in users' data stay data."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurand.core.call import Reply, TokenLogprob
from measurand.core.errors import InvalidRecordError, StoreError
from measurand.core.item import Environment, Item
from measurand.core.message import Image, Text, ToolCall
from measurand.core.record import Record
from measurand.core.request import Embed, Loglikelihood
from measurand.core.trial import Ambiguous, Found
from measurand.store.texts import (
    LONG,
    deflate_text,
    hashes,
    inflate_text,
    lengthen,
    pack,
    shorten,
    unpack,
)
from tests.growth import assert_grows_gently

HOSTILE = ("\x00", "\u2028", "@", "@t", "@d", "@@", "🧮", '"', "\\", "é", "\x1f", "null", "\x01", "A" * 22, "x" * 64)
texts = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=40),
    st.lists(st.sampled_from(HOSTILE), max_size=12).map("".join),
    st.builds(lambda text, n: text * n, st.sampled_from(HOSTILE), st.integers(1, 400)),
)
floats = st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | floats | texts | st.lists(floats, max_size=70),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
records = st.one_of(
    st.builds(Found, values, st.none() | st.tuples(st.integers(0, 9), st.integers(0, 9))),
    st.builds(Ambiguous, st.lists(values, max_size=3).map(tuple)),
    st.builds(lambda setup, text: Item(text, Environment(text, {text: setup})), values, texts),
    st.builds(Loglikelihood, texts, st.lists(texts, max_size=4).map(tuple)),
    st.builds(lambda rows: Reply(vectors=tuple(map(tuple, rows))), st.lists(st.lists(floats, max_size=70), max_size=3)),
    st.builds(lambda a, b: Reply((Text(a), ToolCall(a, b, b), Image(b, a)), reasoning=b), texts, texts),
    st.builds(lambda a, x: Reply(logprobs=(TokenLogprob(a, x, {a: x}),)), texts, floats),
)


@settings(max_examples=150, deadline=None)
@given(records)
def test_a_record_comes_back_through_the_disks_form(record: Record) -> None:
    packed = pack(record)
    stored = shorten(packed.body)
    kept = {hashed: inflate_text(*deflate_text(text)) for hashed, text in packed.texts}
    body = lengthen(stored)
    assert body == packed.body
    assert set(kept) <= hashes([body])
    back = unpack(body, kept, type(record))
    assert back == record
    assert repr(back) == repr(record)


def test_only_what_is_long_is_taken_out() -> None:
    short = pack(Found("é" * (LONG // 2 - 1) + "x"))
    assert short.texts == ()
    long = pack(Found(["é" * (LONG // 2), "x", "é" * (LONG // 2)]))
    assert [text.decode() for _, text in long.texts] == ["é" * (LONG // 2)]
    assert len(long.body) < 110


def test_one_text_in_two_records_has_one_hash() -> None:
    first, second = pack(Found("word " * 200)), pack(Embed(("word " * 200,)))
    assert first.texts == second.texts


def test_random_bytes_after_the_mark_are_data() -> None:
    rng = random.Random(3)
    for length in range(30):
        text = "@" + rng.choice("td=@") + "".join(rng.choices("abcXYZ019+/=", k=length))
        assert unpack(pack(Found(text)).body, {}, Found) == Found(text)


def test_a_body_is_small_on_disk() -> None:
    usual = b'{"type":"answered","answer":{"text":"@tQUJDREVGR0hJSktMTU5PUA"}}'
    assert len(shorten(usual)) < 30
    many = pack(Reply(logprobs=tuple(TokenLogprob(f"token{n}", -n / 7) for n in range(500))))
    assert len(shorten(many.body)) < len(many.body) / 3


def test_what_does_not_fit_is_said() -> None:
    packed = pack(Found("x" * 300))
    for body in (packed.body, b'{"type":"nonsense"}', b"{", b'{"type":"found","value":"@?"}'):
        with pytest.raises(StoreError, match=r"cannot be read .* use a copy of it\.$"):
            unpack(body, {}, Found)


NOT_JSON: dict[str, object] = {
    "endless": 10**5000,
    "nan": {"a": float("nan")},
    "infinite": ["x" * 300, float("inf")],
    "keys": {("a",): 1},
    "surrogates": "\udc00" * 300,
}


@pytest.mark.parametrize("name", NOT_JSON)
def test_what_is_not_json_is_refused(name: str) -> None:
    with pytest.raises(InvalidRecordError, match="Found cannot be stored"):
        pack(Found(NOT_JSON[name]))


@pytest.mark.parametrize("junk", ['"@t', "@", "\\", '"', "\x00"])
def test_junk_takes_no_longer_than_text(junk: str) -> None:
    def store(size: int) -> None:
        text = junk * size
        packed = pack(Found({"a": text, text[:200]: 1}))
        body = lengthen(shorten(packed.body))
        texts = {hashed: text for hashed, text in packed.texts if hashed in hashes([body])}
        assert unpack(body, texts, Found).value["a"] == text

    assert_grows_gently(store, 100_000)
