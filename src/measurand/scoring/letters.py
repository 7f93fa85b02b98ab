"""Reading which option a reply chooses."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from measurand.core.benchmark import Reader
from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.trial import Absent, Ambiguous, Finding, Found
from measurand.scoring.folding import MOST_STATEMENTS, REACH, STATED, abstains, by_question, fold, moved, reader
from measurand.scoring.labels import LATIN, NATIVE, Labels, Statement, labels_of, listed, mentions, named

_PICK = (
    r"\bI(?:['’](?:ll|d|m)|[ ](?:will|would|am|must))?[ ]"
    r"(?:choose|choosing|pick|select|say|opt for|go(?:ing)? (?:with|for))\b"
    r"|\bmy (?:pick|choice|guess|selection)(?: is|:)|\b(?:best|correct|right) (?:option|choice|letter)(?: is|:)"
    r"|\b(?:select|choose|pick)(?=[ ]+(?:option|choice|\())|\b(?:choice|option|selection)[ ]?:"
    r"|\b(?:therefore|thus|hence|so),?[ ](?=\W{0,3}(?:option |choice )?\W{0,3}[A-Z]\W{0,4}(?:\n|$))"
    r"|故选|因此选|所以选|应选|选择|選擇|选(?![项項择])"
)
_MARK = re.compile(rf"{STATED.pattern}|\\boxed[ ]?(?=\{{)|{_PICK}", re.IGNORECASE)
_NOT = re.compile(r"[\s*_:]{0,4}(?:not|n['’]t|neither|nicht|pas|no es|不是|नहीं|ليست?)(?!\w)", re.IGNORECASE)
_NONE = re.compile(r"(?:none|neither|nothing|unknown|unclear|undecided|no (?:option|answer|choice))\b", re.IGNORECASE)
_CLOSING = r"[)\].*_\"'”}]{0,4}"
_RIGHT = re.compile(
    rf"{_CLOSING}[ ](?:is|are)[ ](?:the[ ])?(?:(?:only|most|both)[ ])?(?:correct|right|best|true|accurate|answer)\b",
    re.IGNORECASE,
)
_WRONG = re.compile(
    rf"{_CLOSING}[ ](?:(?:is|are|was|would be|seems?|looks)[ ](?:\w{{1,20}}[ ])?"
    r"(?:not|wrong|incorrect|false|impossible|out)\b"
    r"|(?:is|does|do|would|could|ca|wo)n['’]t\b|cannot\b)",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:\bnot|n['’]t(?: be)?|\bneither|\bnor|\brules? out|\beliminates?|\bexcludes?|\bunlike|\brather than)[ ]"
    r"\W{0,3}(?:option |choice )?\W{0,3}\Z",
    re.IGNORECASE,
)
_HEAD = re.compile(r"[)\]*_]{0,3}[.):,]|[)\]*_]{1,3}")
_CONCLUSION = 4000  # characters at the end of a reply in which "B is correct" is looked for
_SHORT = 1000  # characters of a reply that may be read by its bare labels
_ENDING = 300  # characters of a reply in which a bare label counts
_TAIL = " \t\r)]}*_`\"'”’»」>$.,;:!?。"


def _stated(text: str, known: Labels, *, multiple: bool) -> Iterator[Statement | None]:
    """What each place where an answer is stated says, from the last to the first; None declines to choose."""
    for mark in islice(reversed(list(_MARK.finditer(text))), MOST_STATEMENTS):
        place = mark.end()
        if _NOT.match(text, place):
            continue
        statement = listed(text, place, known, lower=True, multiple=multiple)
        if statement is not None:
            yield statement
            continue
        rest = text[place : place + REACH]
        begin = place + len(rest) - len(rest := rest.lstrip(" \t\r\n*_`:"))
        line = rest.partition("\n")[0]
        if (statement := named(line, known)) is not None:
            yield statement.moved(begin)
        elif _NONE.match(line) or abstains(line):
            yield None


def _alone(text: str, known: Labels, *, multiple: bool) -> Statement | None:
    """The label, or the option's text, that the text is and nothing else.

    A bare letter is the label even where another option's text is that letter, as in "A. B".
    """
    statement = listed(text, 0, known, lower=True, multiple=multiple)
    alone = statement is not None and not text[statement.span[1] :].strip(_TAIL + "\n")
    if alone and text.strip() in known.labels:
        return statement
    return named(text, known) or (statement if alone else None)


def _on_a_line(text: str, known: Labels, *, multiple: bool) -> Statement | None:
    """The last line or the first where it is a label alone; or the first line's label where no other line has one."""
    lines = [(match.start(), match[0]) for match in re.finditer(r"[^\n]+", text) if match[0].strip()]
    for start, line in [lines[-1], lines[0]] if lines else []:
        if (statement := _alone(line, known, multiple=multiple)) is not None:
            return statement.moved(start)
    heads = []
    for start, line in lines:
        head = listed(line, 0, known, lower=False, multiple=multiple)
        if head is not None and _HEAD.match(line, head.span[1]):
            heads.append(head.moved(start))
    first_end = lines[0][0] + len(lines[0][1]) if lines else 0
    return heads[0] if len(heads) == 1 and heads[0].span[0] < first_end else None


def _asserted(text: str, known: Labels, *, multiple: bool) -> Statement | None:
    """The last of "B is correct", "A and B are right"."""
    found, position = None, 0
    for match in known.token.finditer(text, max(0, len(text) - _CONCLUSION)):
        if match.start() < position:
            continue
        statement = listed(text, match.start(), known, lower=False, multiple=multiple)
        position = statement.span[1] if statement else match.end()
        if statement and _RIGHT.match(text, position):
            found = statement
    return found


def _mentioned(text: str, known: Labels) -> Statement | None:
    """The bare labels at the end of the text that are not ruled out; long before it they belong to the reasoning.

    A long reply that states nothing was cut off, and its letters are those of its formulas.
    """
    if len(text) > _SHORT:
        return None
    start = max(0, len(text) - _ENDING)
    kept = [
        (label, match)
        for label, match in mentions(text, known, start)
        if not _DENIED.search(text[max(0, match.start() - 24) : match.start()]) and not _WRONG.match(text, match.end())
    ]
    if not kept:
        return None
    return Statement(tuple(dict.fromkeys(label for label, _ in kept)), (kept[0][1].start(), kept[-1][1].end()))


def _read(text: str, known: Labels, *, multiple: bool) -> Finding:
    """Statements beat lines, lines beat assertions, assertions beat bare mentions; declining beats mentions."""
    folded = fold(text)
    if (statement := _alone(folded, known, multiple=multiple)) is not None:
        return _finding(statement, known, multiple=multiple)
    for said in _stated(folded, known, multiple=multiple):
        return Absent("declined") if said is None else _finding(said, known, multiple=multiple)
    statement = _on_a_line(folded, known, multiple=multiple) or _asserted(folded, known, multiple=multiple)
    if statement is None and abstains(folded):
        return Absent("declined")
    statement = statement or _mentioned(folded, known)
    return Absent("no option named") if statement is None else _finding(statement, known, multiple=multiple)


def _finding(statement: Statement, known: Labels, *, multiple: bool) -> Finding:
    if multiple:
        return Found(sorted(statement.labels, key=known.labels.index), statement.span)
    if len(statement.labels) > 1:
        return Ambiguous(statement.labels)
    return Found(statement.labels[0], statement.span)


def _of_item(item: Item, labels: Sequence[str], aliases: Mapping[str, str]) -> Labels:
    texts = item.input.options if isinstance(item.input, Question) else ()
    own = tuple(labels) if labels else LATIN[: len(texts) or 10]
    native = {spelling: own[place] for place, spellings in enumerate(NATIVE[: len(own)]) for spelling in spellings}
    return labels_of(own, tuple({**native, **aliases}.items()), texts)


def choice(labels: Sequence[str] = (), aliases: Mapping[str, str] | None = None, *, multiple: bool = False) -> Reader:
    """Reads the label of the option chosen; with `multiple`, a list of labels in the options' order.

    `labels` are those shown to the subject (by default A, B, C…, one for each option); `aliases` maps other
    spellings to a label, beside the letters of Arabic, Bengali and Hindi translations. A statement ("The
    answer is C") beats a later mention, the last statement beats an earlier one, and an option's exact text
    stands for its label. Two labels where one is asked for are ambiguous; declining to answer gives nothing.
    """
    given = dict(aliases or {})

    def read(item: Item, text: str) -> Finding:
        known = _of_item(item, labels, given)
        finding: Finding = Absent("no option named")
        for offset, part in by_question(text):
            finding = _read(part, known, multiple=multiple)
            if not isinstance(finding, Absent) or finding.why == "declined":
                return moved(finding, offset)
        return finding

    options = ["".join(labels)] * bool(labels) + [f"{key}={value}" for key, value in given.items()]
    options += ["multiple"] * multiple
    return reader(f"choice({', '.join(options)})" if options else "choice", 2, read)


_STRICT = re.compile(r"[\s*_#>]{0,8}answer[\s*_]{0,4}:", re.IGNORECASE)


def _read_strict(item: Item, text: str) -> Finding:
    known = _of_item(item, (), {})
    text = text.rstrip()
    start = text.rfind("\n") + 1
    line = fold(text[start:])
    mark = _STRICT.match(line)
    statement = listed(line, mark.end(), known, lower=True) if mark else None
    if statement is None or line[statement.span[1] :].strip(_TAIL):
        return Absent("no last line 'Answer: X'")
    return _finding(statement.moved(start), known, multiple=False)


def _read_argmax(_: Item, answer: Answer) -> Finding:
    if not answer.values or any(math.isnan(value) for value in answer.values):
        return Absent("no value for each option")
    best = max(answer.values)
    tied = [place for place, value in enumerate(answer.values) if value == best]
    return Found(tied[0] if len(tied) == 1 else tied)


CHOICE = choice()
"""The lenient reader of one option."""

CHOICES = choice(multiple=True)
"""The lenient reader of several options; its value is a list of labels."""

CHOICE_STRICT = reader("choice_strict", 1, _read_strict)
"""The label of a last line "Answer: X" that says nothing else."""

ARGMAX = Reader("argmax", 1, _read_argmax)
"""The index of the largest of `Answer.values`; a list of indices where several are largest."""
