"""LawBench's scores as its code has them, odd rules included, one function for each way of scoring (Fei et al. 2023).

The gold of an item is {"task": "3-3", "answer": the reference as published}.
"""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from measurand.core.benchmark import Scorer
from measurand.core.errors import InputError
from measurand.core.item import Item
from measurand.core.trial import Finding, Found, Measured, Missing
from measurand.scoring.lawbench_names import CRIMES, DISPUTES, ENTITIES, EVENTS, MARRIAGE, QUESTIONS

if TYPE_CHECKING:
    from types import ModuleType

Judged = tuple[float, bool | None]
"""The score of one reply, and whether it abstained; None where the task does not say what abstaining is."""

LONGEST = 8_000
"""Characters of a reply that are scored; ROUGE-L takes time in the product of two lengths."""
NOTHING = "无内容"
_MONTHS_OF_LIFE = 216
_SENTENCE_END = re.compile(r"([。！？?])([^”’])")
_DOTS = re.compile(r"(\.{6}|…{2})([^”’])")
_QUOTE_END = re.compile(r"([。！？?][”’])([^，。！？?])")
_NUMERAL_RUN = re.compile(r"[\d零〇一二三四五六七八九十百千万亿两壹贰叁肆伍陆柒捌玖拾佰仟萬億点.]{65,}")
_NO_LTP = "task 2-1 is scored by ChERRANT's edits, which need the parser ltp; it is not scored here"


class _LeftOutError(Exception):
    """The official code skips this item, or cannot be run here."""


def _only_one_named(names: Sequence[str], reply: str, answer: str) -> Judged:
    """1 where the right name is in the reply and no other of the names is, wherever and however often."""
    named = {name for name in names if name in reply}
    return float(named == {answer}), not named


def _set_f1(names: Sequence[str], reply: str, answers: Sequence[str]) -> Judged:
    """F1 of the names found as substrings, so that a name inside of a longer one counts too."""
    named = {name for name in names if name in reply}
    return _f1_of_sets(named, set(answers)), not named


def _f1_of_sets(found: set[str], wanted: set[str]) -> float:
    both = len(found & wanted)
    precision, recall = both / len(found) if found else 0.0, both / len(wanted) if wanted else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _dispute(reply: str, answer: str) -> Judged:
    """Documented as F1, coded as accuracy; items whose class is not among those offered are skipped."""
    name = answer[len("争议焦点类别：") : -1]
    if name not in DISPUTES:
        raise _LeftOutError(f"the class {name} is not among the 16 that are offered")
    return _only_one_named(DISPUTES, reply, name)


def _articles(reply: str, answer: str) -> Judged:
    """F1 of article numbers: the first number of each chunk between commas, paragraphs taken out."""
    wanted = set(answer.replace("法条:刑法第", "").replace("条", "").split("、"))
    found = set()
    for chunk in reply.split("、"):
        plain = _between(_between(chunk.replace("万元", "元"), "款", keep=False), "条", keep=True)
        number = re.search(r"\d+", _with_digits(plain))
        if number:
            found.add(number[0].lstrip("0") or "0")
    return _f1_of_sets(found, wanted), not found


def _between(text: str, end: str, *, keep: bool) -> str:
    """What stands between 第 and the nearest `end` of a line, alone or taken out with both; in one pass."""
    lines = []
    for line in text.split("\n"):
        pieces, place = [], 0
        while (start := line.find("第", place)) >= 0 and (stop := line.find(end, start + 1)) >= 0:
            pieces += [line[place:start], line[start + 1 : stop] if keep else ""]
            place = stop + 1
        lines.append("".join([*pieces, line[place:]]))
    return "\n".join(lines)


def _prison(reply: str, answer: str) -> Judged:
    """1 less the distance of the logarithms of months, in units of ln 216; death and life sentences are skipped."""
    if "死刑" in answer or "无期" in answer:
        raise _LeftOutError("a sentence to death or for life has no number of months")
    wanted = int(answer.replace("刑期:", "").replace("个月", ""))
    text = _with_digits(reply)
    months = re.findall(r"(?<!\d)(\d{1,15})个月", text) or re.findall(r"(?<!\d)(\d{1,15})月", text)
    years = re.findall(r"(?<!\d)(\d{1,15})年", text)
    if not months and not years:
        return 0.0, True
    given = int(months[0]) if months else int(years[0]) * 12
    return 1 - abs(math.log(wanted + 1) - math.log(given + 1)) / math.log(_MONTHS_OF_LIFE), False


def _amount(reply: str, answer: str) -> Judged:
    """1 where any number of the reply is the gold's."""
    wanted = float(answer.replace("上文涉及到的犯罪金额:", "").replace("元。", ""))
    numbers = [float(number) for number in re.findall(r"\d+\.?\d*", reply)]
    return float(wanted in numbers), not numbers


def _rouge(reply: str, answer: str) -> Judged:
    """F of ROUGE-L over the words of jieba, as rouge_chinese has it."""
    found, wanted = _words(reply if reply.strip() else NOTHING, cut=bool(reply.strip())), _words(answer)
    common = _longest_common(wanted, found)
    recall, precision = common / len(wanted), common / len(found)
    return 2.0 * (precision * recall / (precision + recall + 1e-8)), None


def _words(text: str, *, cut: bool = True) -> list[str]:
    """The words, line by line and sentence by sentence; a blank line within the text counts as an empty word."""
    spaced = " ".join(_jieba().cut(text)) if cut else text
    lined = _QUOTE_END.sub("\\1\n\\2", _DOTS.sub("\\1\n\\2", _SENTENCE_END.sub("\\1\n\\2", spaced)))
    return [word for line in lined.rstrip().split("\n") if line for word in " ".join(line.split()).split(" ")]


def _longest_common(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence, by bits (Allison and Dix 1986)."""
    places: dict[str, int] = {}
    for place, word in enumerate(one):
        places[word] = places.get(word, 0) | 1 << place
    row, full = 0, (1 << len(one)) - 1
    for word in other:
        marked = row | places.get(word, 0)
        row = marked & ~(marked - (row << 1 | 1)) & full
    return row.bit_count()


def _character_f1(one: str, other: str) -> float:
    """F1 of letters and digits, as CAIL's script counts them."""
    first, second = (
        Counter(char for char in text.lower() if char.isdigit() or char.isalpha()) for text in (one, other)
    )
    if not first or not second:
        return float(first == second)
    common = (first & second).total()
    precision, recall = common / second.total(), common / first.total()
    return 2 * precision * recall / (precision + recall) if common else 0.0


def _entities(reply: str, answer: str) -> Judged:
    """Soft F1: the character F1 of each kind of entity that both name."""
    found = _entities_of(reply)
    wanted = dict(part.split(":")[:2] for part in answer.split(";")) if answer.strip() else {}
    if not wanted:
        return float(not found), None
    values = [_character_f1(wanted[kind], text) for kind, text in found.items() if kind in wanted]
    return _soft_f1(values, len(found), len(wanted)), None


def _soft_f1(values: Sequence[float], found: int, wanted: int) -> float:
    precision, recall = sum(values) / found if found else 0.0, sum(values) / wanted
    return 2 * precision * recall / (precision + recall + 1e-10)


def _entities_of(reply: str) -> dict[str, str]:
    """What stands after each kind's last name and colon, up to white space."""
    found = {}
    for kind in ENTITIES:
        for match in re.finditer(kind, reply):
            end = match.end()
            if end < len(reply) - 2 and reply[end] in ":：":
                text = re.split(r"[\n ]", reply[end + 1 : end + 1 + LONGEST].lstrip(), maxsplit=1)[0].strip()
                if text not in {"无", "未提及"}:
                    found[kind] = text
    return found


def _triggers(reply: str, answer: str) -> Judged:
    """Soft F1 of trigger words, compared place by place."""
    wanted, found = answer.split(";"), reply.split(";")
    values = [_character_f1(*pair) for pair in zip(wanted, found, strict=False)]
    return _soft_f1(values, len(found), len(wanted)), None


def _no_parser(_: str, __: str) -> Judged:
    raise InputError(_NO_LTP)


TASKS: dict[str, Callable[[str, str], Judged]] = {
    "1-1": lambda reply, answer: _rouge(reply, answer.replace("答案:", "")),
    "1-2": lambda reply, answer: _only_one_named("ABCD", reply, answer[5]),
    "2-1": _no_parser,
    "2-2": _dispute,
    "2-3": lambda reply, answer: _set_f1(MARRIAGE, reply, answer[3:-1].split("、")),
    "2-4": lambda reply, answer: _only_one_named(QUESTIONS, reply, answer),
    "2-5": lambda reply, answer: (_character_f1(answer.replace("回答:", ""), reply), None),
    "2-6": _entities,
    "2-7": _rouge,
    "2-8": lambda reply, answer: _only_one_named("ABCDE", reply, answer[6]),
    "2-9": lambda reply, answer: _set_f1(EVENTS, reply, answer.split(";")),
    "2-10": _triggers,
    "3-1": _articles,
    "3-2": _rouge,
    "3-3": lambda reply, answer: _set_f1(CRIMES, reply, answer.replace("罪名:", "").split(";")),
    "3-4": _prison,
    "3-5": _prison,
    "3-6": lambda reply, answer: _only_one_named("ABCD", reply, answer[5]),
    "3-7": _amount,
    "3-8": _rouge,
}
"""How each task is scored."""


@cache
def _jieba() -> ModuleType:
    import logging

    try:
        import jieba
    except ImportError as error:
        raise InputError("LawBench's words are those of jieba: pip install 'measurand[lawbench]'") from error
    jieba.setLogLevel(logging.WARNING)
    module: ModuleType = jieba
    return module


def _with_digits(text: str) -> str:
    """Chinese numerals as digits, as cn2an transforms them; what it fails on, or could take for ever on, stays."""
    if _NUMERAL_RUN.search(text):
        return text
    try:
        import cn2an
    except ImportError as error:
        raise InputError("LawBench's numerals are read by cn2an: pip install 'measurand[lawbench]'") from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of what looks like a numeral and is none
        try:
            return str(cn2an.transform(text, "cn2an"))
        except ValueError:
            return text


@lru_cache(maxsize=64)
def _judged(task: str, reply: str, answer: str) -> Judged:
    return TASKS[task](reply, answer)


def _scorer(name: str, row: Callable[[Judged], tuple[float, ...] | None]) -> Scorer:
    def score(item: Item, finding: Finding) -> Measured | Missing:
        gold = item.gold if isinstance(item.gold, dict) else {}
        task, answer = gold.get("task"), gold.get("answer")
        if task not in TASKS or not isinstance(answer, str):
            return Missing("scorer_failed", f"the gold of item {item.id} names no task of LawBench")
        reply = str(finding.value)[:LONGEST] if isinstance(finding, Found) else ""
        try:
            numbers = row(_judged(task, reply, answer))
        except _LeftOutError as reason:
            return Missing("not_applicable", str(reason))
        except InputError as error:
            return Missing("scorer_failed", str(error))
        except (ValueError, IndexError):
            return Missing("scorer_failed", f"the gold of item {item.id} is not one of task {task}")
        return (
            Measured(numbers) if numbers is not None else Missing("not_applicable", f"task {task} knows no abstaining")
        )

    return Scorer(name, 1, score)


LAWBENCH_SCORE = _scorer("lawbench", lambda judged: (float(judged[0]),))
"""The score of the reply by the rule of its task, mostly from 0 to 1; row: (score,)."""

LAWBENCH_ANSWERED = _scorer("lawbench_answered", lambda judged: None if judged[1] is None else (float(not judged[1]),))
"""1 where something that could be an answer was found; 1 less the abstention that is published. Row: (answered,)."""
