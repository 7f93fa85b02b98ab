"""Per byte, word and token: the right length, and sums that are divided last."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.item import Document, Item
from measurand.core.outcome import Answer
from measurand.core.trial import Absent, Found, Measured, Missing
from measurand.scoring.perplexity import BY_BYTES, BY_TOKENS, BY_WORDS, MARKINGS, TEXT_LOG_PROBABILITY
from measurand.stats.estimate import estimate
from measurand.stats.metrics import BITS_PER_BYTE, BYTE_PERPLEXITY, PERPLEXITIES, TOKEN_PERPLEXITY, WORD_PERPLEXITY


def row(scorer, text, nats=-8.0, tokens=3, gold=None):
    item = Item("x", Document(text), gold=gold)
    finding = TEXT_LOG_PROBABILITY.read(item, Answer(values=(nats,), counts=(tokens,) if tokens else ()))
    score = scorer.score(item, finding)
    return score.row if isinstance(score, Measured) else score


def test_lengths():
    assert row(BY_BYTES, "ёлка 東") == (-8.0, 12.0)
    assert row(BY_WORDS, " ёлка  東\n") == (-8.0, 2.0)
    assert row(BY_TOKENS, "ёлка") == (-8.0, 3.0)
    assert row(BY_WORDS, "a b", gold={"words": 9}) == (-8.0, 9.0)
    missing = row(BY_TOKENS, "a", tokens=0)
    assert isinstance(missing, Missing)
    assert missing.why == "not_applicable"
    assert isinstance(TEXT_LOG_PROBABILITY.read(Item("x", Document("a")), Answer(values=(-math.inf,))), Absent)
    assert isinstance(BY_BYTES.score(Item("x", Document("a")), Absent()), Missing)
    assert isinstance(BY_BYTES.score(Item("x", Document("a")), Found("text")), Missing)


def test_every_marking_has_its_metric():
    assert [marking.metric for marking in MARKINGS] == list(PERPLEXITIES)
    assert next(iter(PERPLEXITIES)) == "bits_per_byte"


def test_uniform_over_a_vocabulary():
    """T tokens at -ln V each: perplexity V; bytes at -ln 256: 8 bits a byte."""
    tokens = np.array([[-math.log(50_000) * count, count] for count in (1, 7, 500)])
    assert estimate(tokens, TOKEN_PERPLEXITY).value == pytest.approx(50_000)
    in_bytes = np.array([[-math.log(256) * count, count] for count in (3, 8, 99)])
    assert estimate(in_bytes, BITS_PER_BYTE).value == pytest.approx(8)
    assert estimate(in_bytes, BYTE_PERPLEXITY).value == pytest.approx(256)


def test_sums_before_ratios():
    rows = np.array([[-10.0, 5.0], [-6.0, 2.0]])
    assert estimate(rows, WORD_PERPLEXITY).value == pytest.approx(math.exp(16 / 7))
    assert estimate(rows, WORD_PERPLEXITY).value != pytest.approx((math.exp(2) + math.exp(3)) / 2, rel=0.1)


@given(st.lists(st.tuples(st.floats(-500, 0), st.integers(1, 300)), min_size=1, max_size=20))
def test_a_perplexity_lies_between_those_of_its_documents_and_its_interval_around_it(rows):
    table = np.array(rows, dtype=np.float64)
    made = estimate(table, BYTE_PERPLEXITY)
    each = np.exp(-table[:, 0] / table[:, 1])
    assert made.value is not None
    assert each.min() * (1 - 1e-9) <= made.value <= each.max() * (1 + 1e-9)
    assert math.log2(made.value) == pytest.approx(estimate(table, BITS_PER_BYTE).value, abs=1e-9)
