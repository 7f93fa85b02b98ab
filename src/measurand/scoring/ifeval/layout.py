"""The form of the reply: bullets, highlights, sections, a title, JSON, one of three sentences."""

from __future__ import annotations

import json
import re

from measurand.scoring.ifeval.given import Check, Given, count_of, text_of

_OPTIONS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
_HIGHLIGHT = re.compile(r"\*[^\n*]*\*")
_BOLD = re.compile(r"\*\*[^\n*]*\*\*")
_FENCES = ("```json", "```Json", "```JSON", "```")


def number_bullet_lists(text: str, given: Given) -> bool:
    """Exactly so many lines that begin with - or with a single *."""
    lines = [line.lstrip() for line in text.split("\n")]
    count, following = sum(line.startswith("-") for line in lines), iter(lines)
    for line in following:
        if line == "*":
            count += next(following, None) is not None  # a bare * takes the next line with it, and needs one
        else:
            count += line.startswith("*") and not line.startswith("**")
    return count == count_of(given, "num_bullets")


def constrained_response(text: str, _: Given) -> bool:
    """One of the three sentences is in the text."""
    return any(option in text for option in _OPTIONS)


def number_highlighted_sections(text: str, given: Given) -> bool:
    """At least so many *highlighted* parts; a **bold** one that is matched both ways counts twice."""
    single = sum(bool(part.strip("*").strip()) for part in _HIGHLIGHT.findall(text))
    double = sum(bool(part.removeprefix("**").removesuffix("**").strip()) for part in _BOLD.findall(text))
    return single + double >= count_of(given, "num_highlights")


def multiple_sections(text: str, given: Given) -> bool:
    """At least so many numbered sections: the given word and a number."""
    mark = re.compile(rf"{re.escape(text_of(given, 'section_spliter').strip())}\s?\d+")
    return len(mark.findall(text)) >= count_of(given, "num_sections")


def json_format(text: str, _: Given) -> bool:
    """The whole text is JSON, but for a fence around it."""
    text = text.strip()
    for fence in _FENCES:
        text = text.removeprefix(fence)
    try:
        json.loads(text.removesuffix("```").strip())
    except (ValueError, RecursionError):
        return False
    return True


def title(text: str, _: Given) -> bool:
    """Some line holds a <<title>> that is not blank."""
    for line in text.split("\n"):
        start, end = line.find("<<"), line.rfind(">>")
        if 0 <= start < end - 2 and line[start : end + 2].lstrip("<").rstrip(">").strip():
            return True
    return False


CHECKS: dict[str, Check] = {
    "detectable_format:number_bullet_lists": number_bullet_lists,
    "detectable_format:constrained_response": constrained_response,
    "detectable_format:number_highlighted_sections": number_highlighted_sections,
    "detectable_format:multiple_sections": multiple_sections,
    "detectable_format:json_format": json_format,
    "detectable_format:title": title,
}
