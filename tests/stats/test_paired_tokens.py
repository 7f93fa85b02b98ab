"""Perplexities per token compare only between subjects that split the texts alike; bits per byte compare always."""

import numpy as np
import pytest

from measurand.core.benchmark import Metric
from measurand.stats.metrics import BITS_PER_BYTE, TOKEN_PERPLEXITY
from measurand.stats.missing import by_item
from measurand.stats.paired import Pair, difference

NATS = np.array([-10.0, -20.0, -12.0, -40.0, -9.0, -15.0])
TOKENS = np.array([5.0, 9.0, 6.0, 20.0, 4.0, 8.0])


def pair(metric: Metric, nats: np.ndarray, a: np.ndarray, b: np.ndarray) -> Pair:
    def table(values: np.ndarray, units: np.ndarray):
        return by_item(metric, np.column_stack((values, units)), np.arange(len(values)), len(values))

    return Pair(table(NATS, a), table(nats, b))


def test_other_tokens_are_refused_with_what_compares_instead() -> None:
    found = difference(pair(TOKEN_PERPLEXITY, NATS * 0.9, TOKENS, TOKENS + 1))
    assert found.value is None
    assert "different tokens; compare bits per byte" in found.method


def test_equal_tokens_are_compared() -> None:
    found = difference(pair(TOKEN_PERPLEXITY, NATS * 0.9, TOKENS, TOKENS))
    assert found.value == pytest.approx(np.exp(106 / 52) - np.exp(0.9 * 106 / 52))


def test_bytes_are_the_text_s_own() -> None:
    assert difference(pair(BITS_PER_BYTE, NATS * 0.9, TOKENS * 4, TOKENS * 4)).value is not None
