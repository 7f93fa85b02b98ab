"""What every reader shares: one character for one, so that spans hold; where an answer is stated; abstention."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import islice

from measurand.core.benchmark import Reader
from measurand.core.item import Item
from measurand.core.outcome import Answer
from measurand.core.trial import Absent, Finding, Found
from measurand.scoring.reasoning import final_text

_ONE_FOR_ONE = {"\u2212": "-", "\ufe63": "-", "\uff0d": "-", "\u066b": ".", "\u066c": ",", "\u066a": "%"}


class _Folds(dict[int, str]):
    """Folds of characters, worked out when first met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        folded = char if code < 128 else _fold(char)  # noqa: PLR2004  # ASCII
        self[code] = folded
        return folded


def _fold(char: str) -> str:
    if char in _ONE_FOR_ONE:
        return _ONE_FOR_ONE[char]
    if (digit := unicodedata.decimal(char, None)) is not None:
        return str(digit)
    wide = unicodedata.normalize("NFKC", char)
    return wide if len(wide) == 1 and not char.isspace() and unicodedata.category(char) != "No" else char


_FOLDS = _Folds()


def fold(text: str) -> str:
    """The text with full-width forms, native digits and minus signs as ASCII; of the same length."""
    return text.translate(_FOLDS)


def reader(name: str, version: int, read: Callable[[Item, str], Finding]) -> Reader:
    """A reader of the text of an answer, without its reasoning; spans refer to the text of the answer."""

    def read_answer(item: Item, answer: Answer) -> Finding:
        final = final_text(answer.text)
        if not final.complete:
            return Absent("reasoning was never ended")
        if not final.text.strip():
            return Absent("empty")
        finding = read(item, final.text)
        if isinstance(finding, Found) and finding.span is not None:
            return Found(finding.value, final.original(finding.span))
        return finding

    return Reader(name, version, read_answer)


def moved(finding: Finding, offset: int) -> Finding:
    """The finding with its span `offset` characters further on."""
    if isinstance(finding, Found) and finding.span is not None:
        return Found(finding.value, (finding.span[0] + offset, finding.span[1] + offset))
    return finding


# The word for "answer", as models write it before their answer. Words of scripts with spaces stand alone.
_SPACED = (
    "answer|solution|réponse|reponse|respuesta|resposta|risposta|antwort|lösung|antwoord|svar|vastaus|odpowiedź|"
    "odpověď|ответ|відповідь|отговор|răspuns|απάντηση|cevap|yanıt|jawaban|jibu|ìdáhùn|idahun|đáp án|câu trả lời|"
    "الإجابة|الاجابة|إجابة|الجواب|جواب|پاسخ|תשובה|उत्तर|जवाब|উত্তর|జవాబు|సమాధానం|ఉత్తరం|பதில்|விடை|ಉತ್ತರ|ഉത്തരം|"
    "જવાબ|ਉੱਤਰ|ਜਵਾਬ"
)
_UNSPACED = "정답|답변|답|答案|答え|回答|正解|解答|คำตอบ|ចម្លើយ|အဖြေ"
ANSWER_WORD = rf"(?:(?<![^\W_])(?:{_SPACED})(?![^\W_])|{_UNSPACED})"
_IS = (
    "is|are|was|would be|will be|must be|should be|equals|est|ist|lautet|es|é|è|jest|är|er|это"
    "|は|が|은|는|是|为|為|選|选|है|হলো|هي|هو"
)
STATED = re.compile(
    rf"{ANSWER_WORD}(?:[ \t]+(?:choice|option|letter|here))?[*_`\"'”」』]{{0,4}}"
    rf"(?:[ \t]{{0,3}}[:=：>][*_]{{0,4}}|[ \t]{{0,3}}(?:{_IS})(?![A-Za-zÀ-ɏа-я])[ \t]{{0,3}}:?|[ \t]{{0,3}}(?=\r?\n))",
    re.IGNORECASE,
)
"""A place where an answer is stated; the answer follows."""

REACH = 400
"""How many characters after such a place are looked at."""

MOST_STATEMENTS = 64
"""How many such places are looked at, from the last; a reply with more is stuck in a loop."""

_QUESTION = re.compile(
    r"\n[ \t]{0,8}(?:[#*]{1,6}[ \t]{0,4})?(?:Q|Question|Problem|Passage|Exercise|Frage|Pregunta|Pergunta|Domanda|"
    r"Вопрос|Swali|प्रश्न|প্রশ্ন|ప్రశ్న|問題|问题|题目|คำถาม|سؤال|السؤال)[ \t]{0,4}#?\d{0,4}[ \t]{0,4}[:：]",
    re.IGNORECASE,
)


def by_question(text: str) -> Iterator[tuple[int, str]]:
    """The text, cut where a run-on model begins the next question: (offset, part). Blank parts are left out."""
    start = 0
    for boundary in islice(_QUESTION.finditer(text), MOST_STATEMENTS):
        if text[start : boundary.start()].strip():
            yield start, text[start : boundary.start()]
        start = boundary.start()
    yield start, text[start:]


_ABSTAINS = re.compile(
    r"(?:do not|don['’]t|does not|doesn['’]t|did not|didn['’]t) (?:know|have|provide|contain|give)"
    r"|(?:cannot|can['’]t|can not|could not|couldn['’]t|unable to|impossible to|not able to) "
    r"(?:be )?(?:determined?|answer|say|tell|decide|find|solve|choose|pick|help|assist|provide|calculated?|compute)"
    r"|(?:not|n['’]t) (?:enough|sufficient)|insufficient (?:data|information)|(?:not|n['’]t) (?:sure|certain)|no idea"
    r"|无法(?:确定|回答|判断)|不知道|je ne sais pas|no lo sé|weiß (?:es )?nicht|не знаю|नहीं (?:पता|जानत)|لا أعرف",
    re.IGNORECASE,
)


def abstains(text: str) -> bool:
    """Whether the words decline to answer."""
    return _ABSTAINS.search(text) is not None
