"""How options are labelled, and how a reply names them: one label, several joined, or an option's text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from measurand.scoring.folding import fold

LATIN = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
"""The labels of options where none are given."""

NATIVE: tuple[tuple[str, ...], ...] = (
    ("أ", "ا", "অ", "ক", "क", "अ"),
    ("ب", "ব", "খ", "ख", "ब"),
    ("ج", "ড", "গ", "ग", "स"),
    ("د", "ঢ", "ঘ", "घ", "द"),
    ("ه", "ঙ", "ङ"),
)
"""Letters that label the first, second… option in Arabic, Bengali and Hindi translations."""

_DECORATION = r"(?:[\s*_`\"'“”‘’«»「」(\[{<$#:]|\\(?:boxed|text|textbf|mathbf|mathrm|fbox|[(\[])){0,14}"
_FILLER = (
    r"(?:(?:either|maybe|possibly|perhaps|probably|both|the|la|le|el|die|option|options|choice|choices|letter|letters|answer|number|choix|opción|opção|letra|lettre"
    r"|选项|選項|第)[ \t]{1,2}|选项|選項|第){0,3}"
)
_BEGIN = re.compile(_DECORATION + _FILLER + _DECORATION, re.IGNORECASE)
_AND = r"and|or|et|ou|y|e|o|und|oder|и|или|और|या|এবং|বা"
_JOINT = re.compile(
    rf"[\s)\]}}*_`\"'’”.$]{{0,6}}(?:(?:[,;،、/&+|]|(?<!\w)(?:{_AND})(?!\w)|و(?=[ ]?\w)|أو|和|与|及|或)\s?){{1,3}}"
    rf"{_DECORATION}{_FILLER}{_DECORATION}",
    re.IGNORECASE,
)
_SPACE = re.compile(r"[)\]}*_`]{0,3}[ \t]{1,3}[(\[*_]{0,3}")
_PRONOUN = re.compile(
    r"['’]|[ ](?:don|do|did|am|can|cannot|could|would|will|was|have|had|think|believe|guess|know|need|see|lack|must)\b"
)
_PROSE_BEFORE = re.compile(r"[\s(\[*\"'“‘`:]?\Z|[^\x00-\u02ff]\Z")
_PROSE_AFTER = re.compile(r"(?![)\]]?[ ]?[=<>+*/^_(\\])(?:[\s)\].,;:!?*\"'”’`]|[^\x00-\u02ff]|\Z)")
_SMALL = re.compile(r"[ ](?=\w)[^A-ZÀ-Þ\d]")
_VERB = re.compile(r"[)\]]?[ ](?:is|was|does|has|fails|can|could|cannot|would|seems|looks)\b")
_LONE = re.compile(r"[ \t]*(?:[)\]}*_`\"'”’$,;:!?\n/&|\\。，]|\.(?!\w)|$|(?:because|since|as)\b)")
# A label stands alone: no letter, digit or mark of a script with spaces beside it. Chinese and Korean may touch it.
_EDGE = r"[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
_MARKS = r"[\u0300-\u036f\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u09d7]"


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of an item's options, how else each may be written, and the options' texts."""

    labels: tuple[str, ...]
    spellings: Mapping[str, str]
    texts: tuple[str, ...]
    token: re.Pattern[str]

    def label(self, spelling: str) -> str:
        """The label that a spelling stands for."""
        return self.spellings.get(spelling) or self.spellings[spelling.upper()]


@dataclass(frozen=True, slots=True)
class Statement:
    """The labels that a place of the text names, each once, and the place."""

    labels: tuple[str, ...]
    span: tuple[int, int]

    def moved(self, offset: int) -> Statement:
        """The same, `offset` characters further on."""
        return Statement(self.labels, (self.span[0] + offset, self.span[1] + offset))


@lru_cache(maxsize=1024)
def labels_of(labels: tuple[str, ...], aliases: tuple[tuple[str, str], ...], texts: tuple[str, ...]) -> Labels:
    """The labels with all spellings: as given, in the other case, and by (spelling, label) aliases."""
    spellings = {fold(label): label for label in labels}
    for spelling, label in [*aliases, *((label.upper(), label) for label in labels)]:
        spellings.setdefault(fold(spelling), label)
    names = "|".join(sorted(map(re.escape, spellings), key=len, reverse=True))
    return Labels(labels, spellings, texts, re.compile(rf"(?<!{_EDGE})(?:{names})(?!{_EDGE}|{_MARKS})", re.IGNORECASE))


def named(text: str, known: Labels) -> Statement | None:
    """The option whose text the whole text is, but for case, decoration and edge punctuation."""
    core = text.strip()
    bare = _bare(core) if len(core) < 10_000 else ""  # noqa: PLR2004  # no option is longer
    same = [label for label, own in zip(known.labels, known.texts, strict=False) if bare and _bare(own) == bare]
    if len(same) != 1:
        same = [label for label, own in zip(known.labels, known.texts, strict=False) if core and own.strip() == core]
    start = len(text) - len(text.lstrip())
    return Statement((same[0],), (start, start + len(core))) if len(same) == 1 else None


def _bare(text: str) -> str:
    return " ".join(fold(text).casefold().strip(" \t\r\n*_`\"'“”‘’«».,;:!?。$").split())


def listed(text: str, at: int, known: Labels, *, lower: bool, multiple: bool = False) -> Statement | None:
    """The label or labels that begin at `at`, after decoration and words such as "option".

    Labels are joined by commas, "and", "or" and their like, and with `multiple` also by spaces or by nothing.
    Small letters count where `lower` is set and nothing follows that makes them a word.
    """
    opening = _BEGIN.match(text, at)
    start = opening.end() if opening else at
    match = known.token.match(text, start)
    if match is None:
        return _fused(text, start, known) if multiple else None
    if not is_label(text, match, lower=lower):
        return None
    found, end = [known.label(match[0])], match.end()
    while True:
        joint = _JOINT.match(text, end) or (_SPACE.match(text, end) if multiple else None)
        following = known.token.match(text, joint.end()) if joint else None
        if following is None or not is_label(text, following, lower=False) or _begins_clause(text, following):
            return Statement(tuple(dict.fromkeys(found)), (match.start(), end))
        found.append(known.label(following[0]))
        end = following.end()


def _fused(text: str, start: int, known: Labels) -> Statement | None:
    """Labels written without anything between them: ABD."""
    run = re.compile(r"[^\W\d_]{2,26}(?![^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])").match(text, start)
    if run is None or len(set(run[0])) < len(run[0]) or not all(letter in known.spellings for letter in run[0]):
        return None
    return Statement(tuple(known.label(letter) for letter in run[0]), run.span())


def is_label(text: str, match: re.Match[str], *, lower: bool) -> bool:
    """Whether a letter that could be a label is one: not a pronoun, a prefix, or a small letter of a sentence."""
    letter, after = match[0], text[match.end() : match.end() + 12]
    if len(letter) == 1 and letter.isascii() and letter.islower():
        return lower and _LONE.match(after) is not None
    if letter == "I" and _PRONOUN.match(after):
        return False
    return after[:1] not in {"'", "’", "-"} or not after[1:2].isalpha()


def _is_article(text: str, match: re.Match[str]) -> bool:
    """Whether a capital A or I is the word: a small letter follows after a space."""
    return match[0] in {"A", "I"} and _SMALL.match(text, match.end()) is not None


def _begins_clause(text: str, match: re.Match[str]) -> bool:
    """Whether a label after a comma begins the next clause: "C, D is wrong"."""
    return _is_article(text, match) or _VERB.match(text, match.end()) is not None


def mentions(text: str, known: Labels, start: int) -> list[tuple[str, re.Match[str]]]:
    """Bare labels from `start` on that are not articles, pronouns or symbols of a formula, each with its label."""
    return [
        (known.label(match[0]), match)
        for match in known.token.finditer(text, start)
        if is_label(text, match, lower=False)
        and not _is_article(text, match)
        and _PROSE_BEFORE.match(text[max(0, match.start() - 1) : match.start()])
        and _PROSE_AFTER.match(text, match.end())
        and (match[0] != "I" or text[match.start() - 1 : match.start()] in {"(", "*", "["})
    ]
