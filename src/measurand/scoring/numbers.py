"""Reading a number from a reply, and comparing it with the gold as a value, never as a float."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Context, Decimal, InvalidOperation

from measurand.core.benchmark import Reader, Scorer
from measurand.core.errors import InputError
from measurand.core.item import Item
from measurand.core.record import Json
from measurand.core.trial import Absent, Ambiguous, Finding, Found, Measured, Missing
from measurand.scoring.folding import MOST_STATEMENTS, REACH, STATED, abstains, by_question, moved, reader
from measurand.scoring.number_words import in_words
from measurand.scoring.numerals import EXACT, Number, Numerals, parse

_ROUNDED = Context(prec=60, traps=[])
_BOX = r"\\boxed[ ]?\{"
_DEFAULT_MARK = re.compile(rf"####|{_BOX}|(?:^|(?<=\n))A:|{STATED.pattern}", re.IGNORECASE)
_OPENING = re.compile(r"(?:[\s*_`:$(\[{]|\\[(\[]|\\text(?=\{))*")
_OPERATOR = r"\*\*|[*×÷+^/]|\\times|\\cdot|\\div|[ ][x%-][ ]"
_OPERAND_BEFORE = re.compile(rf"[\d)}}%][ ]?(?:{_OPERATOR})[ ]?[({{$]*\Z")
_OPERAND_AFTER = re.compile(rf"[)}}]*[ ]?(?:{_OPERATOR})[ ]?[({{$-]*\d")
_JOINED_BEFORE = re.compile(r"\d[-–,:]\Z")
_JOINED_AFTER = re.compile(r"[-–,]\d|:\d\d(?!\d)|[ ](?:or|oder|ou|o)[ ]\W?\d")
_LABELLED = re.compile(
    r"\b(?:steps?|parts?|figures?|tables?|equations?|examples?|chapters?|pages?|sections?|method|approach)[ ]#?\Z",
    re.IGNORECASE,
)
_ENUMERATED = re.compile(r"(?:^|\n)[ \t*]{0,6}(\d{1,2})[.)][ \t*]{1,4}(?=[^\W\d])")


def _judged(text: str, number: Number) -> Finding:
    """A number as found, unless it is an operand of an expression nobody worked out, or one of several."""
    start, end = number.span
    before, after = text[max(0, start - 16) : start], text[end : end + 16]
    if _OPERAND_BEFORE.search(before) or _OPERAND_AFTER.match(after):
        return Absent("an expression that was not worked out")
    if _JOINED_BEFORE.search(before) or _JOINED_AFTER.match(after):
        return Ambiguous((text[max(0, start - 16) : end + 16].strip(),))
    return Found(number.text, number.span)


def _after(text: str, place: int, language: str) -> Finding:
    """The number stated at `place`: the first of its line, or of what follows the line's last equals sign."""
    rest = text[place : place + REACH]
    opening = _OPENING.match(rest)
    place, rest = (place + opening.end(), rest[opening.end() :]) if opening else (place, rest)
    line = rest.partition("\n")[0]
    equals = line.rfind("=")
    if equals >= 0 and any(char.isdigit() for char in line[equals:]):
        place, line = place + equals + 1, line[equals + 1 :]
    number = Numerals(line, language).first()
    if number is None:
        return in_words(line, place, more=True) or Absent(
            "declined" if abstains(line) else "no number after the marker"
        )
    return moved(_judged(line, number), place)


def _marked(text: str, mark: re.Pattern[str], language: str) -> Finding | None:
    """The answer at the last marker that states one; None where there is no marker."""
    finding: Finding | None = None
    for place in [match.end() for match in mark.finditer(text)][: -MOST_STATEMENTS - 1 : -1]:
        stated = _after(text, place, language)
        if not isinstance(stated, Absent) or stated.why != "no number after the marker":
            return stated
        finding = finding or stated
    return finding


def _last(text: str, language: str) -> Finding:
    places = [(match.start(1), int(match[1])) for match in _ENUMERATED.finditer(text)]
    numbered = {count for _, count in places}
    # A list numbers its members: 1. 2. 3. are no quantities where each has a neighbour.
    members = {place for place, count in places if numbered & {count - 1, count + 1}}
    for number in Numerals(text, language).backwards():
        start = number.span[0]
        if start not in members and not _LABELLED.search(text[max(0, start - 16) : start]):
            return _judged(text, number)
    return in_words(text, 0) or Absent("no number")


def marked_number(*markers: str, name: str = "") -> Reader:
    r"""Reads the number after the last marker; nothing where there is none.

    Markers are plain texts, such as "####" or "A:"; without any, the usual ones are meant: ####, \boxed{},
    "The answer is", "Answer:" and its like in other languages. What a run-on model writes after the next
    "Question:" is cut off first.
    """
    mark = re.compile("|".join(map(re.escape, markers))) if markers else _DEFAULT_MARK

    def read(item: Item, text: str) -> Finding:
        for offset, part in by_question(text):
            if (finding := _marked(part, mark, item.language)) is not None:
                return moved(finding, offset)
        return Absent("no marker")

    return reader(name or ("marked_number" if not markers else f"marked_number({', '.join(markers)})"), 1, read)


def _read_number(item: Item, text: str) -> Finding:
    finding: Finding = Absent("no number")
    for offset, part in by_question(text):
        finding = _marked(part, _DEFAULT_MARK, item.language) or Absent("no marker")
        if isinstance(finding, Absent) and finding.why.startswith("no "):
            finding = _last(part, item.language)
        if not isinstance(finding, Absent) or not finding.why.startswith("no "):
            return moved(finding, offset)
    return finding


def _read_last(item: Item, text: str) -> Finding:
    finding: Finding = Absent("no number")
    for offset, part in by_question(text):
        finding = _last(part, item.language)
        if not isinstance(finding, Absent):
            return moved(finding, offset)
    return finding


_GSM8K = re.compile(r"#### (-?[0-9.,]+)")
_GSM8K_COT = re.compile(r"The answer is \$?(-?[0-9.,]+)")
_FLEXIBLE = re.compile(r"-?[$0-9.,]{2,}|-?[0-9]+")


def _spelled(raw: str, span: tuple[int, int]) -> Finding:
    value = raw.replace(",", "").replace("$", "").removesuffix(".")
    try:
        Decimal(value)
    except InvalidOperation:
        return Absent("not a number")
    return Found(value, span)


def _read_gsm8k_strict(_: Item, text: str) -> Finding:
    match = _GSM8K.search(text)
    return _spelled(match[1], match.span(1)) if match else Absent("no ####")


def _read_gsm8k_cot_strict(_: Item, text: str) -> Finding:
    match = _GSM8K_COT.search(text)
    return _spelled(match[1], match.span(1)) if match else Absent("no 'The answer is'")


def _read_flexible(_: Item, text: str) -> Finding:
    last = None
    for last in _FLEXIBLE.finditer(text):  # noqa: B007  # the last one is used
        pass
    return _spelled(last[0], last.span()) if last else Absent("no number")


NUMBER = reader("number", 1, _read_number)
"""The number at the last marker, or, without a marker, the last number. The lenient reader."""

LAST_NUMBER = reader("last_number", 1, _read_last)
"""The last number, marker or none."""

MARKED_NUMBER = marked_number()
"""The number at the last marker; nothing without one."""

GSM8K_STRICT = reader("gsm8k_strict", 1, _read_gsm8k_strict)
"""The first `#### n`, as the paper reads it (Cobbe et al. 2021, its code's ANS_RE)."""

GSM8K_COT_STRICT = reader("gsm8k_cot_strict", 1, _read_gsm8k_cot_strict)
"""The first "The answer is n" (Wei et al. 2022), as lm-eval's strict filter of gsm8k_cot but for a lost last digit."""

LM_EVAL_FLEXIBLE = reader("lm_eval_flexible", 1, _read_flexible)
"""The last match of lm-eval's flexible-extract filter of gsm8k."""


def _gold_number(gold: Json, language: str) -> Number | None:
    if isinstance(gold, bool):
        return None
    if isinstance(gold, int | float):
        value = Decimal(str(gold))
        return Number(str(gold), value) if value.is_finite() else None
    if not isinstance(gold, str):
        return None
    stated = gold.rpartition("####")[2]
    return parse(stated) or parse(stated, language) or next(Numerals(stated, language).backwards(), None)


def _decimal(value: Json, what: str) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise InputError(f"a {what} must be a number of at least 0, not {value!r}")
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        number = Decimal(-1)
    if not number.is_finite() or number < 0:
        raise InputError(f"a {what} must be a number of at least 0, not {value!r}")
    return number


def _close(found: Number, gold: Number, relative: Decimal, absolute: Decimal) -> bool:
    if found.equals(gold):
        return True
    if not relative and not absolute:
        return False
    scale = EXACT.multiply(found.bottom, gold.bottom)
    difference = _ROUNDED.abs(
        _ROUNDED.subtract(EXACT.multiply(found.top, gold.bottom), EXACT.multiply(gold.top, found.bottom))
    )
    share = EXACT.multiply(relative, EXACT.multiply(EXACT.abs(gold.top), found.bottom))
    return difference <= max(share, EXACT.multiply(absolute, scale))


def _golds(gold: Json) -> Sequence[Json]:
    return gold if isinstance(gold, list | tuple) else [gold]


def numeric(relative: Json = 0, absolute: Json = 0, *, percent: bool = False) -> Scorer:
    """1 where the number found has the gold's value, else 0; row: (correct,).

    The gold is a number, a text that states one ("#### -3"), an object {"value", "tolerance", "relative"},
    or a list of any of these, of which one must be met. Values are compared as exact decimals and fractions;
    `relative` (a share of the gold) and `absolute` allow a difference. With `percent`, gold, gold/100 and
    100 gold are accepted (the rule of ToRA, Gou et al. 2024).
    """
    near, within = _decimal(relative, "relative tolerance"), _decimal(absolute, "absolute tolerance")

    def matches(found: Number, gold: Json, language: str) -> bool | None:
        rel, tol, value = near, within, gold
        if isinstance(gold, dict):
            if unknown := sorted(gold.keys() - {"value", "tolerance", "relative"}):
                raise InputError(f"a gold number has value, tolerance and relative, not {', '.join(unknown)}")
            value = gold.get("value")
            rel = _decimal(gold.get("relative", relative), "relative tolerance of the gold")
            tol = _decimal(gold.get("tolerance", absolute), "tolerance of the gold")
        number = _gold_number(value, language)
        if number is None:
            return None
        shifts = (0, -2, 2) if percent else (0,)
        return any(
            _close(found, Number("", number.top.scaleb(shift, EXACT), number.bottom), rel, tol) for shift in shifts
        )

    def score(item: Item, finding: Finding) -> Measured | Missing:
        verdicts = []
        found = None
        if isinstance(finding, Found):
            found = parse(str(finding.value), item.language)
        for gold in _golds(item.gold):
            try:
                verdicts.append(matches(found or Number("0", Decimal(0)), gold, item.language))
            except InputError as error:
                return Missing("scorer_failed", str(error))
        if not verdicts or None in verdicts:
            return Missing("scorer_failed", f"the gold of item {item.id} is not a number")
        return Measured((float(found is not None and any(verdicts)),))

    options = [f"relative={near}"] * bool(near) + [f"absolute={within}"] * bool(within) + ["percent"] * percent
    return Scorer(f"numeric({', '.join(options)})" if options else "numeric", 1, score)


NUMERIC = numeric()
