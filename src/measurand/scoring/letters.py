"""Reading which option a reply chooses, and comparing it with the gold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from measurand.core.benchmark import Reader
from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.trial import Absent, Ambiguous, Finding, Found
from measurand.scoring.folding import STATED, abstains, by_question, fold, reader

LATIN = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
NATIVE: tuple[tuple[str, ...], ...] = (
    ("أ", "ا", "অ", "ক", "क", "अ"),
    ("ب", "ব", "খ", "ख", "ब"),
    ("ج", "ড", "গ", "ग", "स"),
    ("د", "ঢ", "ঘ", "घ", "द"),
    ("ه", "هـ"),
)
"""Letters that label the first, second… option in Arabic, Bengali and Hindi translations."""

_DECORATION = r"(?:[\s*_`\"'“”‘’«»「」(\[{{<$#:：]|\\(?:boxed|text|textbf|mathbf|mathrm|fbox|[(\[])){{0,{most}}}"
_OPEN = _DECORATION.format(most=14)
_FILLER = r"(?:(?:the|option|choice|letter|answer|number|choix|opción|opção|letra|lettre|option[:]|选项|選項|第)[ \t]{0,2}){0,3}"
_JOIN = r"[\s)\]}*_`\"'’”.$]{0,6}(?:(?:,|;|、|/|&|\+|\band\b|\bor\b|\bet\b|\bou\b|\by\b|\be\b|\bo\b|\bund\b|\boder\b|和|与|或|及)[\s]?){1,3}"
_CLOSED = r"(?=[\s)\]}*_`\"'”’»」>$.,;:!?、。，；：–—/&+]|$)"
_NOT = re.compile(r"[\s*_]{0,4}(?:not|n['’]t|neither|nicht|pas|no es|不是|नहीं|ليست?)(?!\w)", re.IGNORECASE)
_PRONOUN = re.compile(
    r"['’]|[ ](?:don|do|did|am|can|cannot|could|would|will|was|have|had|think|believe|guess|know|need|see|'m)\b"
)
_PICK = (
    r"(?:\b(?:I['’ ]?(?:ll|d|would|will|am)?[ ]?(?:choose|choosing|pick|select|go(?:ing)? with|say|opt for)|my (?:pick|choice|guess)(?: is|:)|"
    r"best (?:option|choice) is|(?:correct|right|best) (?:option|choice)(?: is|:)|(?:select|choose|pick)(?=[ ]+(?:option|choice|\())|choice:|option:)"
    r"|故选|因此选|所以选|应选|选择|選擇|选(?![项項])[:：]?)"
)
_MARK = re.compile(rf"{STATED.pattern}|\\boxed[ ]?(?=\{{)|{_PICK}", re.IGNORECASE)
_RIGHT = re.compile(
    r"[)\].*_\"'”}]{0,4}[ ](?:is|are)[ ](?:the[ ])?(?:only[ ])?(?:most[ ])?(?:correct|right|best|true|accurate|answer)\b",
    re.IGNORECASE,
)
_WRONG = re.compile(
    r"[)\].*_\"'”}]{0,4}[ ](?:is|are|was|would be|seems?|looks)[ ](?:\w+[ ])?(?:not|n['’]t|wrong|incorrect|false|impossible|ruled|out\b)"
    r"|[)\].*_\"'”}]{0,4}[ ](?:isn|can|does|do|would|could)n?['’]t\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:\bnot|n['’]t(?: be)?|neither|nor|rules? out|eliminates?|unlike|rather than|excludes?)[ ]\W{0,3}(?:option |choice )?\W{0,3}$",
    re.IGNORECASE,
)


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


@lru_cache(maxsize=4096)
def _labels(labels: tuple[str, ...], aliases: tuple[tuple[str, str], ...], texts: tuple[str, ...]) -> Labels:
    spellings = {fold(label): label for label in labels}
    for spelling, label in aliases:
        spellings.setdefault(fold(spelling), label)
    for label in labels:
        spellings.setdefault(fold(label).upper(), label)
    names = "|".join(sorted(map(re.escape, spellings), key=len, reverse=True))
    # A label stands alone: no letter or digit of a script with spaces beside it. Chinese may touch it.
    edge = r"[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[\u0300-\u036f\u0610-\u061a\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0981-\u0983\u09bc-\u09cd]"
    return Labels(
        labels, spellings, texts, re.compile(rf"(?<!{edge[: edge.index('|')]})(?:{names})(?!{edge})", re.IGNORECASE)
    )


@dataclass(frozen=True, slots=True)
class _Statement:
    labels: tuple[str, ...]
    span: tuple[int, int]
    either: bool = False


def _whole(text: str, known: Labels) -> _Statement | None:
    """The label whose text the whole text is, or which it is alone."""
    core = text.strip(" \t\r\n*_`\"'“”‘’«»")
    exact = [label for label, own in zip(known.labels, known.texts, strict=False) if own.strip() and _same(own, core)]
    if len(exact) == 1:
        start = text.find(core)
        return _Statement((exact[0],), (start, start + len(core)))
    return None


def _same(one: str, two: str) -> bool:
    return one == two or _bare(one) == _bare(two) != ""


def _bare(text: str) -> str:
    return " ".join(fold(text).casefold().strip(" \t\r\n*_`\"'“”‘’«».,;:!?。$").split())


def _listed(text: str, at: int, known: Labels, *, strict_case: bool) -> _Statement | None:
    """The label or labels that begin at `at`, joined by commas, "and", "or"."""
    opening = re.compile(_OPEN + _FILLER + _OPEN, re.IGNORECASE).match(text, at)
    start = opening.end() if opening else at
    match = known.token.match(text, start)
    if match is None or not _is_label(text, match, strict_case=strict_case):
        return None
    first, found, either = match, [known.label(match[0])], False
    while (joint := re.compile(_JOIN + _OPEN + _FILLER + _OPEN, re.IGNORECASE).match(text, match.end())) is not None:
        following = known.token.match(text, joint.end())
        if following is None or not _is_label(text, following, strict_case=True):
            break
        either = either or re.search(r"\b(?:or|ou|oder)\b|或", joint[0]) is not None
        found.append(known.label(following[0]))
        match = following
    return _Statement(tuple(dict.fromkeys(found)), (first.start(), match.end()), either)


def _is_label(text: str, match: re.Match[str], *, strict_case: bool) -> bool:
    """Whether a letter that could be a label is one, not an article, a pronoun or a unit."""
    letter, after = match[0], text[match.end() : match.end() + 24]
    if letter == "I" and _PRONOUN.match(after):
        return False
    if letter.islower() and letter.isascii() and letter.isalpha():
        if strict_case:
            return False
        return re.match(r"[ \t]*(?:[)\]}*_`\"'”$.,;:!?\n/&]|\\|$|because|since|as\b)", after) is not None and not (
            letter == "a" and after[:1] == "." and after[1:2].isalpha()
        )
    return after[:1] not in {"'", "’", "-"} or not after[1:2].isalpha()


def _statements(text: str, known: Labels) -> Iterator[_Statement | None]:
    """What each place where an answer is stated says, from the last to the first; None is a refusal to choose."""
    for mark in reversed(list(_MARK.finditer(text))):
        place = mark.end()
        if _NOT.match(text, place):
            continue
        statement = _listed(text, place, known, strict_case=False)
        if statement is not None:
            yield statement
            continue
        rest = text[place : place + 2000].lstrip(" \t\r\n*_`:")
        line = rest.partition("\n")[0]
        begin = text.find(line, place) if line else place
        if line and (named := _whole(line, known)) is not None:
            yield _Statement(named.labels, (begin + named.span[0], begin + named.span[1]))
        elif abstains(line) or re.match(r"none\b|neither\b|no option", line, re.IGNORECASE):
            yield None


def _asserted(text: str, known: Labels) -> _Statement | None:
    """The last "B is correct"."""
    for match in reversed(list(known.token.finditer(text))):
        if (
            match[0].isupper() | (not match[0].isascii())
            and _RIGHT.match(text, match.end())
            and not _WRONG.match(text, match.end())
        ):
            return _Statement((known.label(match[0]),), match.span())
    return None


def _edge_line(text: str, known: Labels) -> _Statement | None:
    """A last line that is a label alone, or a first line that begins with the only label that begins a line."""
    lines = [(match.start(), match[0]) for match in re.finditer(r"[^\n]+", text) if match[0].strip()]
    if not lines:
        return None
    for start, line in (lines[-1], lines[0]):
        statement = _listed(line, 0, known, strict_case=False)
        if statement is not None and not line[statement.span[1] :].strip(" \t\r)]}*_`\"'”’»」>$.,;:!?。"):
            return _Statement(
                statement.labels, (statement.span[0] + start, statement.span[1] + start), statement.either
            )
        if (named := _whole(line, known)) is not None:
            return _Statement(named.labels, (named.span[0] + start, named.span[1] + start))
    heads = []
    for start, line in lines:
        head = _listed(line, 0, known, strict_case=True)
        if head is not None and re.match(r"[)\]*_]{0,3}[.):：,]|[)\]*_]{1,3}", line[head.span[1] :]):
            heads.append((start, head))
    if len(heads) == 1 and heads[0][0] == lines[0][0]:
        start, head = heads[0]
        return _Statement(head.labels, (head.span[0] + start, head.span[1] + start), head.either)
    return None


def _mentions(text: str, known: Labels) -> list[_Statement]:
    """Bare capitals that are labels and are neither articles, pronouns nor ruled out."""
    found: dict[str, _Statement] = {}
    for match in known.token.finditer(text):
        letter, after = match[0], text[match.end() : match.end() + 2]
        prose = letter in {"A", "I"} and after[:1] in {" ", "'", "’"} and (after[1:2].islower() or after[1:2].isalpha())
        if letter.islower() or prose or not _is_label(text, match, strict_case=True):
            continue
        if _DENIED.search(text[max(0, match.start() - 24) : match.start()]) or _WRONG.match(text, match.end()):
            continue
        found.setdefault(known.label(letter), _Statement((known.label(letter),), match.span()))
    return list(found.values())


def _finding(statement: _Statement | None, *, multiple: bool) -> Finding:
    if statement is None:
        return Absent("declined")
    if multiple:
        return Found(list(statement.labels), statement.span)
    if len(statement.labels) > 1:
        return Ambiguous(statement.labels)
    return Found(statement.labels[0], statement.span)


def _read(text: str, known: Labels, *, multiple: bool) -> Finding:
    if (named := _whole(text, known)) is not None:
        return _finding(named, multiple=multiple)
    folded = fold(text)
    for statement in _statements(folded, known):
        return _finding(statement, multiple=multiple)
    for look in (_edge_line, _asserted):
        if (statement := look(folded, known)) is not None:
            return _finding(statement, multiple=multiple)
    if abstains(folded):
        return Absent("declined")
    mentions = _mentions(folded, known)
    if not mentions:
        return Absent("no option named")
    labels = tuple(label for mention in mentions for label in mention.labels)
    return _finding(_Statement(labels, (mentions[0].span[0], mentions[-1].span[1])), multiple=multiple)


def _of_item(item: Item, labels: Sequence[str], aliases: Mapping[str, str]) -> Labels:
    texts = item.input.options if isinstance(item.input, Question) else ()
    own = tuple(labels) if labels else LATIN[: len(texts) or 10]
    native = {spelling: own[place] for place, spellings in enumerate(NATIVE[: len(own)]) for spelling in spellings}
    return _labels(own, tuple({**native, **aliases}.items()), texts)


def choice(labels: Sequence[str] = (), aliases: Mapping[str, str] | None = None, *, multiple: bool = False) -> Reader:
    """Reads the label of the option chosen: a label, or with `multiple` a list of labels in their order.

    `labels` are those shown to the subject (A, B, C… by default, one for each option); `aliases` maps other
    spellings to a label, beside the letters of Arabic, Bengali and Hindi translations.
    """
    given = dict(aliases or {})

    def read(item: Item, text: str) -> Finding:
        known = _of_item(item, labels, given)
        finding: Finding = Absent("no option named")
        for offset, part in by_question(text):
            finding = _read(part, known, multiple=multiple)
            if not isinstance(finding, Absent) or finding.why == "declined":
                if isinstance(finding, Found) and finding.span:
                    span = (finding.span[0] + offset, finding.span[1] + offset)
                    value = sorted(finding.value, key=known.labels.index) if multiple else finding.value
                    return Found(value, span)
                return finding
        return finding

    return reader(_named("choice", labels, given, multiple=multiple), 1, read)


def _named(name: str, labels: Sequence[str], aliases: Mapping[str, str], *, multiple: bool) -> str:
    options = (
        ["".join(labels)] * bool(labels)
        + [f"{key}={value}" for key, value in aliases.items()]
        + ["multiple"] * multiple
    )
    return f"{name}({', '.join(options)})" if options else name


_STRICT = re.compile(r"[\s*_#>]{0,8}answer[\s*_]{0,4}:", re.IGNORECASE)


def _read_strict(item: Item, text: str) -> Finding:
    known = _of_item(item, (), {})
    stripped = text.rstrip()
    start = stripped.rfind("\n") + 1
    line = fold(stripped[start:])
    mark = _STRICT.match(line)
    statement = _listed(line, mark.end(), known, strict_case=False) if mark else None
    if statement is None or line[statement.span[1] :].strip(" \t\r)]}*_`\"'”’»」>$.。"):
        return Absent("no final line 'Answer: X'")
    return _finding(
        _Statement(statement.labels, (statement.span[0] + start, statement.span[1] + start)), multiple=False
    )


def _argmax(item: Item, answer: Answer) -> Finding:
    if not answer.values or any(value != value for value in answer.values):  # noqa: PLR0124  # NaN is unequal to itself
        return Absent("no value for each option")
    best = max(answer.values)
    tied = [place for place, value in enumerate(answer.values) if value == best]
    return Found(tied[0] if len(tied) == 1 else tied)


CHOICE = choice()
"""The lenient reader of one option."""

CHOICES = choice(multiple=True)
"""The lenient reader of several options; its value is a list of labels."""

CHOICE_STRICT = reader("choice_strict", 1, _read_strict)
"""A last line "Answer: X" and nothing else."""

ARGMAX = Reader("argmax", 1, _argmax)
"""The index of the largest of `Answer.values`; a list of indices where several are largest."""
