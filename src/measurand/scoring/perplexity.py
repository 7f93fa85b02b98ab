"""How probable a text is, per byte, word or token of it. The sums are divided when all texts are in, never before."""

from __future__ import annotations

import math
from collections.abc import Callable

from measurand.core.benchmark import Marking, Reader, Scorer
from measurand.core.item import Document, Item
from measurand.core.outcome import Answer
from measurand.core.trial import Absent, Finding, Found, Measured, Missing


def _read(_: Item, answer: Answer) -> Finding:
    if len(answer.values) != 1 or not math.isfinite(answer.values[0]):
        return Absent("no log-probability of the text")
    return Found({"log_probability": answer.values[0], "tokens": answer.counts[0] if answer.counts else None})


TEXT_LOG_PROBABILITY = Reader("text_log_probability", 1, _read)
"""The log-probability of a text in nats and the tokens it sums over: an object {log_probability, tokens}."""


def count(text: str, unit: str) -> int:
    """The length of a text in UTF-8 bytes, or in words: what stands between white space."""
    return len(text.encode("utf-8", "surrogatepass")) if unit == "bytes" else len(text.split())


def _scorer(unit: str, length: Callable[[Item, dict[str, float]], float | None]) -> Scorer:
    def score(item: Item, finding: Finding) -> Measured | Missing:
        if not isinstance(finding, Found) or not isinstance(finding.value, dict):
            return Missing("not_answered", "the text has no log-probability")
        of = length(item, finding.value)
        if of is None:
            return Missing("not_applicable", f"the subject did not say how many {unit} it read")
        return Measured((finding.value["log_probability"], float(of)))

    return Scorer(f"log_probability_and_{unit}", 1, score)


def _of_text(unit: str) -> Callable[[Item, dict[str, float]], float | None]:
    """The gold may say how many units count, where the text that is read was changed from the one that is measured."""

    def length(item: Item, _: dict[str, float]) -> float | None:
        if isinstance(item.gold, dict) and isinstance(item.gold.get(unit), int):
            return float(item.gold[unit])
        return count(item.input.text, unit) if isinstance(item.input, Document) else None

    return length


BY_BYTES = _scorer("bytes", _of_text("bytes"))
"""The text's log-probability and its UTF-8 bytes; row: (log_probability, bytes)."""

BY_WORDS = _scorer("words", _of_text("words"))
"""The text's log-probability and its words; row: (log_probability, words)."""

BY_TOKENS = _scorer("tokens", lambda _, found: found.get("tokens"))
"""The text's log-probability and the subject's tokens; row: (log_probability, tokens)."""

MARKINGS = (
    Marking("bits_per_byte", TEXT_LOG_PROBABILITY, BY_BYTES),
    Marking("byte_perplexity", TEXT_LOG_PROBABILITY, BY_BYTES),
    Marking("word_perplexity", TEXT_LOG_PROBABILITY, BY_WORDS),
    Marking("token_perplexity", TEXT_LOG_PROBABILITY, BY_TOKENS),
)
"""Each unit's marking. Bits per byte come first: they alone compare between tokenizers."""
