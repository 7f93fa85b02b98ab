"""Sentences of English, as Punkt splits them (Kiss and Strunk 2006), with the model that NLTK hands out.

What NLTK's splitter does, read from its behaviour and held to it by a test; written anew because a verdict on hundreds
of replies must take less than a second.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from measurand.core.errors import InputError

_QUOTES = "‘’“”«»"
_PUNCTUATION = rf"[)\";}}\]*:@'({{\[{_QUOTES}?!]"
_SEVERAL = r"(?:-{2,}|\.{2,}|(?:\.\s){2,}\.)"
_WORD_ENDS = rf"\s|\Z|{_PUNCTUATION}|{_SEVERAL}"
_TOKEN = re.compile(rf"{_SEVERAL}|(?=[^(\"`{{\[:;&#*@)}}\]\-,])\S+?(?={_WORD_ENDS}|,(?={_WORD_ENDS}))|\S")
_STOP = re.compile(rf"[.?!](?=(?P<after>{_PUNCTUATION}|\s+(?P<next>\S+)))")
_CLOSING = re.compile(rf"[\"')\]}}{_QUOTES}]+?(?:\s+|(?=--)|$)", re.MULTILINE)
_NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*\.?$")
_INITIAL = re.compile(r"[^\W\d]\.$")
_ASCII_SPACE = re.compile(r"[ \t\n\r\x0b\x0c](?=[^ \t\n\r\x0b\x0c]*\Z)")

# How a word was seen in the training text: where (begin, middle, unknown) and in which case, one bit each.
_BEGIN_UPPER, _MIDDLE_UPPER, _UNKNOWN_UPPER = 1 << 1, 1 << 2, 1 << 3
_BEGIN_LOWER, _MIDDLE_LOWER, _UNKNOWN_LOWER = 1 << 4, 1 << 5, 1 << 6
_UPPER = _BEGIN_UPPER | _MIDDLE_UPPER | _UNKNOWN_UPPER
_LOWER = _BEGIN_LOWER | _MIDDLE_LOWER | _UNKNOWN_LOWER


@dataclass(frozen=True, slots=True)
class Punkt:
    """A trained model: abbreviations, words that begin sentences, word pairs across a full stop, and cases seen."""

    abbreviations: frozenset[str]
    starters: frozenset[str]
    collocations: frozenset[tuple[str, ...]]
    cases: Mapping[str, int]


@dataclass(slots=True)
class _Token:
    text: str
    kind: str
    breaks: bool = False
    abbreviation: bool = False

    @property
    def bare(self) -> str:
        return self.kind[:-1] if len(self.kind) > 1 and self.kind.endswith(".") else self.kind


def model_folder() -> Path:
    """Where the English model lies: in NLTK's own data folders, or in the wheel of llama-index-core.

    Raises:
        InputError: in neither.
    """
    roots = [*filter(None, os.environ.get("NLTK_DATA", "").split(os.pathsep)), str(Path.home() / "nltk_data")]
    folders = [Path(root) / "tokenizers/punkt_tab/english" for root in roots]
    for folder in [*folders, *_packaged()]:
        if (folder / "abbrev_types.txt").is_file():
            return folder
    raise InputError(
        "to count sentences, NLTK's model punkt_tab is needed: `pip install --no-deps llama-index-core` brings it, "
        "or put it below a folder that NLTK_DATA names"
    )


def _packaged() -> Iterator[Path]:
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        wheel = distribution("llama-index-core")
    except PackageNotFoundError:
        return
    yield Path(str(wheel.locate_file("llama_index/core/_static/nltk_cache/tokenizers/punkt_tab/english")))


@lru_cache(maxsize=1)
def english() -> Punkt:
    """The model of `model_folder`."""
    folder = model_folder()

    def lines(name: str) -> list[str]:
        return (folder / name).read_text(encoding="utf-8").split("\n")

    pairs = [line.split("\t") for line in lines("ortho_context.tab") if "\t" in line]
    return Punkt(
        abbreviations=frozenset(line.strip() for line in lines("abbrev_types.txt")) - {""},
        starters=frozenset(line.strip() for line in lines("sent_starters.txt")) - {""},
        collocations=frozenset(tuple(line.split("\t")) for line in lines("collocations.tab") if "\t" in line),
        cases={word: int(bits) for word, bits in pairs},
    )


@lru_cache(maxsize=4096)
def count_sentences(text: str) -> int:
    """How many sentences the text has.

    Raises:
        InputError: the model is not there.
    """
    return len(sentences(text, english()))


def sentences(text: str, model: Punkt) -> list[str]:
    """The sentences of the text in order, each with the quotes and brackets that close it."""
    slices, start = [], 0
    for stop, context in _contexts(text):
        if _has_break(context, model):
            slices.append((start, stop.end()))
            start = stop.start("next") if stop["next"] else stop.end()
    slices.append((start, len(text.rstrip())))
    found, moved = [], 0
    for number, (begin, end) in enumerate(slices):
        begin += moved  # noqa: PLW2901
        after = slices[number + 1] if number + 1 < len(slices) else None
        closing = _CLOSING.match(text, *after) if after else None
        if closing:
            found.append(text[begin : closing.start() + len(closing[0].rstrip())])
        elif text[begin:end]:
            found.append(text[begin:end])
        moved = closing.end() - closing.start() if closing else 0
    return found


def _contexts(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Each place where a sentence may end, with the words around it; of stops that share a word only the last."""
    held: re.Match[str] | None = None
    begin = end = 0
    for stop in _STOP.finditer(text):
        space = _ASCII_SPACE.search(text, end, stop.start())
        # A space that stands first is taken for none, as in NLTK.
        first = space.start() + 1 if space and space.start() > end else begin
        if held and end <= first:
            yield held, text[begin:end] + held[0] + held["after"]
        held, begin, end = stop, first, stop.start()
    if held:
        yield held, text[begin:end] + held[0] + held["after"]


def _has_break(context: str, model: Punkt) -> bool:
    """Whether a sentence ends at a token of the context that is not its last."""
    tokens = [_token(word, model) for line in context.split("\n") for word in _TOKEN.findall(line)]
    for one, other in pairwise(tokens):
        if one.text.endswith("."):
            _reconsider(one, other, model)
        if one.breaks:
            return True
    return False


def _token(text: str, model: Punkt) -> _Token:
    """A token and what its form alone says."""
    token = _Token(text, _NUMBER.sub("##number##", text.lower()) if _NUMBER.match(text) else text.lower())
    if text in {".", "?", "!"}:
        token.breaks = True
    elif text.endswith(".") and not text.endswith(".."):
        word = text[:-1].lower()
        token.abbreviation = word in model.abbreviations or word.split("-")[-1] in model.abbreviations
        token.breaks = not token.abbreviation
    return token


def _reconsider(one: _Token, other: _Token, model: Punkt) -> None:
    """What the next token says about whether this one, which ends in a full stop, ends a sentence."""
    following = other.bare if other.breaks else other.kind
    if (one.bare, following) in model.collocations:
        one.breaks = False
        return
    initial = _INITIAL.match(one.text) is not None
    begins = _begins(other, following, model)
    starts = begins or (other.text[0].isupper() and following in model.starters)
    if starts and not initial and (one.abbreviation or one.text.endswith("..")):
        one.breaks = True
        return
    if initial or one.bare == "##number##":
        always_upper = other.text[0].isupper() and not model.cases.get(following, 0) & _LOWER
        if begins is False or (begins is None and initial and always_upper):
            one.breaks = False


def _begins(token: _Token, kind: str, model: Punkt) -> bool | None:
    """Whether the word begins a sentence, by the cases it was seen in; None where they do not tell."""
    if token.text in {";", ":", ",", ".", "!", "?"}:
        return False
    seen = model.cases.get(kind, 0)
    if token.text[0].isupper() and seen & _LOWER and not seen & _MIDDLE_UPPER:
        return True
    if token.text[0].islower() and (seen & _UPPER or not seen & _BEGIN_LOWER):
        return False
    return None
