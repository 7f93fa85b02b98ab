"""Things that a program can find in the text: placeholders and a postscript."""

from __future__ import annotations

import re
from collections.abc import Iterator

from measurand.scoring.ifeval.given import Check, Given, count_of, text_of

_MARKS = {"P.P.S": re.compile(r"p\.\s?p\.\s?s"), "P.S.": re.compile(r"p\.\s?s\.")}


def number_placeholders(text: str, given: Given) -> bool:
    """At least so many [placeholders], each on one line."""
    return sum(1 for line in text.split("\n") for _ in _bracketed(line)) >= count_of(given, "num_placeholders")


def _bracketed(line: str) -> Iterator[str]:
    # What \[.*?\] finds, in one pass: as an expression it takes for ever on a line of opening brackets.
    start = line.find("[")
    while start >= 0 and (end := line.find("]", start)) >= 0:
        yield line[start : end + 1]
        start = line.find("[", end)


def postscript(text: str, given: Given) -> bool:
    """There is a postscript with this marker, anywhere in the text; spaces inside of the marker are allowed."""
    marker = text_of(given, "postscript_marker")
    pattern = _MARKS.get(marker)
    return marker.lower() in text.lower() if pattern is None else pattern.search(text.lower()) is not None


CHECKS: dict[str, Check] = {
    "detectable_content:number_placeholders": number_placeholders,
    "detectable_content:postscript": postscript,
}
