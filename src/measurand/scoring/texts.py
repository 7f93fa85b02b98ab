"""Reading a text answer, and comparing it with references: exact match, containment, token F1, DROP."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from measurand.core.benchmark import Scorer
from measurand.core.item import Item
from measurand.core.record import Json
from measurand.core.trial import Absent, Finding, Found, Measured, Missing
from measurand.scoring.folding import by_question, reader
from measurand.scoring.normal import PLAIN, QUASI, SQUAD, check, normalise
from measurand.scoring.words import words


def _trimmed(text: str, start: int, end: int) -> Finding:
    part = text[start:end]
    start += len(part) - len(part.lstrip())
    part = part.strip()
    return Found(part, (start, start + len(part))) if part else Absent("empty")


def _read_whole(_: Item, text: str) -> Finding:
    return _trimmed(text, 0, len(text))


def _read_entire(_: Item, text: str) -> Finding:
    return Found(text, (0, len(text)))


def _read_first_line(_: Item, text: str) -> Finding:
    start = len(text) - len(text.lstrip())
    end = text.find("\n", start)
    return _trimmed(text, start, len(text) if end < 0 else end)


def _read_first_part(_: Item, text: str) -> Finding:
    for offset, part in by_question(text):
        if part.strip():
            return _trimmed(text, offset, offset + len(part))
    return Absent("empty")


WHOLE_TEXT = reader("whole_text", 1, _read_whole)
"""The whole text, without white space at its ends."""

ENTIRE_TEXT = reader("entire_text", 1, _read_entire)
"""The whole text with the white space at its ends."""

FIRST_LINE = reader("first_line", 1, _read_first_line)
"""The first line that is not blank."""

BEFORE_NEXT_QUESTION = reader("before_next_question", 1, _read_first_part)
"""The text up to where a run-on model begins the next question or passage."""


def references(gold: Json) -> list[str]:
    """The accepted answers of a gold: a text, a number, or alternatives of them, nested or not."""
    return list(_flat(gold))


def _flat(gold: Json) -> Iterator[str]:
    if isinstance(gold, list | tuple):
        for one in gold:
            yield from _flat(one)
    elif gold is not None and not isinstance(gold, dict):
        yield str(gold)


_ENTIRE = re.compile(r"-?(?:\d+(?:\.\d+)?|\.\d+)|[a-z](?:\+\+|#)", re.IGNORECASE)

Compare = Callable[[str, str], float]


def over_references(name: str, version: int, compare: Compare) -> Scorer:
    """A scorer that takes the best of `compare(text, reference)` over the references; row: (value,).

    The gold is a text, or a list of texts of which any is right. An empty reference stands for "no answer",
    and an empty list for an item without one: then giving nothing is right.
    """

    def score(item: Item, finding: Finding) -> Measured | Missing:
        if item.gold is None or isinstance(item.gold, dict):
            return Missing("scorer_failed", f"the gold of item {item.id} is not a text or a list of texts")
        text = str(finding.value) if isinstance(finding, Found) else ""
        if not isinstance(finding, Found | Absent):
            return Measured((0.0,))
        return Measured((max(compare(text, one) for one in references(item.gold) or [""]),))

    return Scorer(name, version, score)


def exact(steps: Sequence[str] = QUASI) -> Scorer:
    """1 where the text equals a reference after the named steps of normalising.

    Where normalising leaves nothing of either, they are compared as they stand, so "?" is not "!".
    """
    for step in steps:
        check(step)
    return over_references(f"exact({'+'.join(steps)})", 1, lambda text, gold: exact_match(text, gold, steps))


def exact_match(text: str, gold: str, steps: Sequence[str] = QUASI) -> float:
    """1.0 where both are equal after normalising, else 0.0."""
    if text == gold:
        return 1.0
    one, two = normalise(text, steps), normalise(gold, steps)
    return float(one == two if one or two else text.strip() == gold.strip())


def tokens(text: str, steps: Sequence[str] = QUASI) -> list[str]:
    """The words of the normalised text; a number keeps its sign, and C++ and C# their ends."""
    return [
        token
        for part in normalise(text, steps).split()
        for token in ([part] if _ENTIRE.fullmatch(part) else words(part))
    ]


def contained(text: str, gold: str, steps: Sequence[str] = QUASI) -> float:
    """1.0 where the words of `gold` occur in `text` one after the other. No words occur nowhere."""
    wanted, given = tokens(gold, steps), tokens(text, steps)
    joined = "\x00".join(["", *wanted, ""])
    return float(bool(wanted) and joined in "\x00".join(["", *given, ""]))


def f1(given: Sequence[str], wanted: Sequence[str]) -> float:
    """The harmonic mean of precision and recall over tokens with their counts (Rajpurkar et al. 2016).

    Two empty texts agree; one empty text agrees with nothing.
    """
    if not given or not wanted:
        return float(not given and not wanted)
    shared = sum((Counter(given) & Counter(wanted)).values())
    return 2 * shared / (len(given) + len(wanted))


def token_f1(text: str, gold: str) -> float:
    """F1 over the words of any script; texts without words are compared as they stand."""
    given, wanted = tokens(text), tokens(gold)
    return f1(given, wanted) if given or wanted else exact_match(text, gold)


def _squad_f1(text: str, gold: str) -> float:
    return f1(normalise(text, SQUAD).split(), normalise(gold, SQUAD).split())


EXACT = exact()
"""Exact match but for case, punctuation and English articles."""

EXACT_STRICT = exact(PLAIN)
"""Exact match of the texts as they stand, but for white space at the ends."""

CONTAINS = over_references("contains", 1, contained)
"""1 where a reference's words occur in the text."""

TOKEN_F1 = over_references("token_f1", 1, token_f1)
"""F1 over the words of any script."""

SQUAD_EXACT = over_references(
    "squad_exact", 1, lambda text, gold: float(normalise(text, SQUAD) == normalise(gold, SQUAD))
)
"""Exact match of the official SQuAD script."""

SQUAD_F1 = over_references("squad_f1", 1, _squad_f1)
"""Token F1 of the official SQuAD script."""
