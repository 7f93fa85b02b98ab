"""Constraints on the form of the text: lines, bullets, brackets, quotes, punctuation, repetition."""

from __future__ import annotations

import re
from itertools import pairwise

from measurand.scoring.ifbench.words import words_of
from measurand.scoring.ifeval.given import Check, Given, count_of, text_of

_PAIRS = {")": "(", "]": "[", "}": "{"}
_DEEP_BRACKETS, _DEEP_QUOTES = 5, 3
_PARTS = ("My Answer:", "My Conclusion:", "Future Outlook:")


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def line_indent(text: str, _: Given) -> bool:
    """Each line is indented by more spaces than the one before; blank lines do not matter, and there are two."""
    indents = [len(line) - len(line.lstrip(" ")) for line in _lines(text)]
    return len(indents) > 1 and all(a < b for a, b in pairwise(indents))


def sub_bullets(text: str, _: Given) -> bool:
    """There are bullets *, and after each of them at least one line that begins with -."""
    marks = [line.lstrip()[0] for line in _lines(text)]
    bullets = [place for place, mark in enumerate(marks) if mark == "*"]
    return bool(bullets) and all("-" in marks[a:b] for a, b in pairwise([*bullets, len(marks)]))


def no_bullets_bullets(text: str, _: Given) -> bool:
    """At least two sentences without bullets, then only bullets *, at least two."""
    lines = [line.strip() for line in _lines(text)]
    first = next((place for place, line in enumerate(lines) if line.startswith("*")), len(lines))
    before = sum(len(re.findall(r"[.!?](?:\s|\Z)", line)) for line in lines[:first])
    after = [line.startswith("*") for line in lines[first:]]
    return before > 1 and len(after) > 1 and all(after)


def special_list(text: str, given: Given) -> bool:
    """At least two lines begin with this separator."""
    mark = text_of(given, "sep").strip()
    return sum(line.lstrip().startswith(mark) for line in _lines(text)) > 1


def newline(text: str, _: Given) -> bool:
    """One word on each line."""
    return all(len(line.split()) == 1 for line in _lines(text))


def parentheses(text: str, _: Given) -> bool:
    """Brackets stand five deep and are closed."""
    opened: list[str] = []
    deepest = 0
    for char in text:
        if char in _PAIRS.values():
            opened.append(char)
            deepest = max(deepest, len(opened))
        elif char in _PAIRS:
            if not opened or opened.pop() != _PAIRS[char]:
                opened, deepest = [], 0
            elif deepest >= _DEEP_BRACKETS and not opened:
                return True
    return False


def quotes(text: str, _: Given) -> bool:
    """Quotes within quotes stand three deep and are closed."""
    opened: list[str] = []
    deepest = 0
    for place, char in enumerate(text):
        apostrophe = char == "'" and text[place - 1 : place].isalnum() and text[place + 1 : place + 2].isalnum()
        if char not in "\"'" or apostrophe:
            continue
        if opened and opened[-1] == char:
            opened.pop()
            if deepest >= _DEEP_QUOTES and not opened:
                return True
        else:
            opened.append(char)
            deepest = max(deepest, len(opened))
    return False


def punctuation(text: str, _: Given) -> bool:
    """Every usual mark . , ! ? ; : and an interrobang beside."""
    for mark in ("?!", "!?", "‽"):
        if mark in text:
            return all(sign in text.replace(mark, "", 1) for sign in ".,!?;:")
    return False


def thesis(text: str, _: Given) -> bool:
    """A thesis in <i> or <em> that is not blank, and text after it."""
    match = re.search(r"<(i|em)>", text)
    if match is None:
        return False
    end = text.find(f"</{match[1]}>", match.end())
    return end >= 0 and bool(text[match.end() : end].strip()) and bool(text[end + len(match[1]) + 3 :].strip())


def output_template(text: str, _: Given) -> bool:
    """The three parts of the template, in order."""
    places = [text.find(part) for part in _PARTS]
    return places[0] >= 0 and places == sorted(places)


def title_case(text: str, _: Given) -> bool:
    """Each word begins with a capital and goes on in small letters."""
    found = re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)*", text)
    return bool(found) and all(word[0].isupper() and word[1:] == word[1:].lower() for word in found)


def no_whitespace(text: str, _: Given) -> bool:
    """No white space, not even at the ends."""
    return not any(char.isspace() for char in text)


def repeat_change(text: str, given: Given) -> bool:
    """The request word for word but for its first word, which is another."""
    asked, said = text_of(given, "prompt_to_repeat").split(), text.split()
    return bool(asked) and bool(said) and asked[0] != said[0] and asked[1:] == said[1:]


def repeat_span(text: str, given: Given) -> bool:
    """The words of the request from one place to another, and nothing else."""
    asked = words_of(text_of(given, "prompt_to_repeat"))[count_of(given, "n_start") : count_of(given, "n_end")]
    return bool(asked) and words_of(text) == asked


CHECKS: dict[str, Check] = {
    "format:line_indent": line_indent,
    "format:sub-bullets": sub_bullets,
    "format:no_bullets_bullets": no_bullets_bullets,
    "format:list": special_list,
    "format:newline": newline,
    "format:parentheses": parentheses,
    "format:quotes": quotes,
    "format:thesis": thesis,
    "format:output_template": output_template,
    "format:title_case": title_case,
    "format:no_whitespace": no_whitespace,
    "count:punctuation": punctuation,
    "repeat:repeat_change": repeat_change,
    "repeat:repeat_span": repeat_span,
}
