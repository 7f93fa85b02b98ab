"""How people write numbers: digits, signs, currencies, grouping, decimal signs and multipliers, by language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal

from measurand.scoring.folding import fold

DECIMAL_COMMA = frozenset(
    [
        "af",
        "az",
        "be",
        "bg",
        "bs",
        "ca",
        "cs",
        "da",
        "de",
        "el",
        "es",
        "et",
        "eu",
        "fi",
        "fr",
        "gl",
        "hr",
        "hu",
        "hy",
        "id",
        "is",
        "it",
        "ka",
        "kk",
        "lt",
        "lv",
        "mk",
        "nb",
        "nl",
        "nn",
        "no",
        "pl",
        "pt",
        "ro",
        "ru",
        "sk",
        "sl",
        "sq",
        "sr",
        "sv",
        "tr",
        "uk",
        "uz",
        "vi",
    ]
)
"""Languages that write the decimal sign as a comma and group by points or spaces."""

EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
"""Arithmetic without rounding. Only products are taken in it: sums could be as long as an exponent is large."""

ONE = Decimal(1)

LONGEST = 10_000
"""Texts of this length and more are no number."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written: its plain spelling, its exact value top/bottom, and its place in the text."""

    text: str
    top: Decimal
    bottom: Decimal = ONE
    span: tuple[int, int] = (0, 0)

    def equals(self, other: Number) -> bool:
        """Whether the values are equal, exactly."""
        return EXACT.multiply(self.top, other.bottom) == EXACT.multiply(other.top, self.bottom)


_GAP = "\u00a0\u202f\u2009_"
_RUN = rf"(?:\d+(?:(?:[.,'’{_GAP}]|\{{,\}}|,\\!|[ ](?=\d{{3}}(?!\d)))\d+)*|(?<![\d.])\.\d+)"
_TOKEN = re.compile(
    rf"\\[dt]?frac[ ]?\{{[ ]?(?P<over>-?\d{{1,40}})[ ]?\}}[ ]?\{{[ ]?(?P<under>\d{{1,40}})[ ]?\}}"
    rf"|(?P<whole>\d{{1,9}})[ ](?P<top>\d{{1,9}})/(?P<bottom>\d{{1,9}})(?![\d/.])"
    r"|(?:(?P<before>\d{1,9})[ ]?)?(?P<vulgar>[¼-¾⅐-⅞])"
    rf"|(?P<run>{_RUN})(?:(?P<e>[eE][+-]?\d+)(?!\w)"
    r"|[ ]?(?:[x×*·]|\\times|\\cdot)[ ]?10[ ]?(?:\^|\*\*)[ ]?\{?(?P<power>-?\d{1,5})\}?(?![\w^*])"
    r"|/(?P<divisor>\d{1,40})(?![\d/]|\.\d))?"
)
_MULTIPLIERS = {
    "hundred": 2, "thousand": 3, "thousands": 3,
    "lakh": 5, "lakhs": 5, "lac": 5, "lacs": 5, "million": 6, "millions": 6,
    "crore": 7, "crores": 7, "cr": 7, "billion": 9, "billions": 9, "bn": 9, "trillion": 12, "trillions": 12,
    "हज़ार": 3, "हजार": 3, "लाख": 5, "करोड़": 7, "करोड": 7, "हाज़ार": 3, "হাজার": 3, "লক্ষ": 5, "লাখ": 5, "কোটি": 7,
    "mille": 3, "milliard": 9, "milliards": 9, "mil": 3, "millón": 6, "millones": 6, "milhão": 6, "milhões": 6,
    "tausend": 3, "millionen": 6, "milliarde": 9, "milliarden": 9, "тысяч": 3, "тысячи": 3, "миллион": 6,
    "миллиона": 6, "миллионов": 6, "миллиардов": 9, "ألف": 3, "مليون": 6, "مليار": 9, "千": 3, "万": 4, "萬": 4,
    "億": 8, "亿": 8,
}  # fmt: skip
_MULTIPLIER = re.compile(
    r"(?:[ \u00a0\u202f-]?(?P<word>{})(?!\w)|(?P<sign>[千万萬億亿]))".format(
        "|".join(sorted((word for word in _MULTIPLIERS if len(word) > 1), key=len, reverse=True))
    ),
    re.IGNORECASE,
)
_SHORT = re.compile(r"[kKMB](?!\w)")  # of money alone: 5M may be metres
_DIGITS_OF_EXPONENT = 6
_CURRENCY = r"(?:US|A|C|HK|NZ)?\\?\$|\\?[€£¥₹₩₽₦₺₫฿]|Rs\.?|INR|USD|EUR|GBP|JPY|CNY|RMB"
_BEFORE = re.compile(
    rf"(?P<sign>[-–+])?(?:(?:\\text\{{)?(?:{_CURRENCY})[ \u00a0]?)?(?P<inner>[-–+])?"
    r"(?P<word>\b(?:minus|negative)[ ])?\Z",
    re.IGNORECASE,
)
_MONEY = re.compile(r"(?:Rs|INR|USD|EUR|GBP|JPY|CNY|RMB)\Z", re.IGNORECASE)
_SPACED_SIGN = re.compile(r"=[ ]?-[ ]\Z")

_GROUP = rf"(?:[{_GAP} '’]|\{{,\}}|,\\!)"
_POINT = re.compile(
    rf"[1-9]\d{{0,2}}(?:,\d{{3}})+(?:\.\d+)?|[1-9]\d?(?:,\d{{2}})+,\d{{3}}(?:\.\d+)?|\d*(?:\.\d+)|\d+"
    rf"|[1-9]\d{{0,2}}(?:{_GROUP}\d{{3}})+(?:\.\d+)?"
)
_COMMA_ANYWHERE = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+,\d+|[1-9]\d{0,2}(?:\.\d{3}){2,}|0,\d+")
_COMMA = re.compile(rf"[1-9]\d{{0,2}}(?:\.\d{{3}})+(?:,\d+)?|[1-9]\d{{0,2}}(?:{_GROUP}\d{{3}})+(?:,\d+)?|\d+,\d+")
_DROP_POINT = re.compile(rf"[,{_GAP} '’{{}}\\!]")
_DROP_COMMA = re.compile(rf"[.{_GAP} '’{{}}\\!]")
_SPLIT = re.compile(rf"[,'’{_GAP} {{}}\\!]+")


def decimal_comma(language: str) -> bool:
    """Whether the language (a BCP 47 tag) writes 3,5 for three and a half."""
    return language.lower().replace("_", "-").split("-")[0] in DECIMAL_COMMA


def _plain(run: str, comma: bool) -> tuple[str, str] | None:  # noqa: FBT001  # private, and read at both call sites
    """The spelling without grouping, and the same with a decimal point; None where it is not one number."""
    if (comma and _COMMA.fullmatch(run)) or _COMMA_ANYWHERE.fullmatch(run):
        spelled = _DROP_COMMA.sub("", run)
        return spelled, spelled.replace(",", ".")
    if _POINT.fullmatch(run):
        spelled = _DROP_POINT.sub("", run)
        return spelled, spelled
    return None


def _pieces(run: str, start: int, comma: bool) -> Iterator[tuple[int, int]]:  # noqa: FBT001  # as above
    """The places of the numbers that a run of digits and separators holds: itself, or the members of a list."""
    if _plain(run, comma) is not None:
        yield start, start + len(run)
        return
    position = 0
    for gap in [*_SPLIT.finditer(run), None]:
        end = gap.start() if gap else len(run)
        if _plain(run[position:end], comma) is not None:
            yield start + position, start + end
        position = gap.end() if gap else end


@dataclass(frozen=True, slots=True)
class Numerals:
    """The numbers of a text in order. Offsets are those of the text."""

    text: str
    language: str = ""

    def first(self) -> Number | None:
        """The first number."""
        folded = fold(self.text)
        tokens = _TOKEN.finditer(folded)
        return next((number for token in tokens for number in self._read(folded, token)), None)

    def backwards(self) -> Iterator[Number]:
        """The numbers from the last to the first. Only as much is read as asked for."""
        folded = fold(self.text)
        for token in reversed(list(_TOKEN.finditer(folded))):
            yield from self._read(folded, token, last=True)

    def _read(self, folded: str, token: re.Match[str], *, last: bool = False) -> Iterator[Number]:
        """The numbers of a token, from its end where the last is wanted."""
        if token["run"] is None:
            yield from self._fraction(folded, token)
            return
        comma = decimal_comma(self.language)
        places = list(_pieces(token["run"], token.start("run"), comma))
        for start, end in reversed(places) if last else places:
            opening = _opening(folded, start)
            spelled = _plain(folded[start:end], comma)
            if opening is None or spelled is None:
                continue
            begin, sign = opening
            number: Number | None = Number(sign + spelled[0], Decimal(sign + spelled[1]), span=(begin, end))
            if number and end == token.end("run"):
                number = _scaled(folded, token, number, money=begin < start - len(sign))
            if number:
                yield number

    def _fraction(self, folded: str, token: re.Match[str]) -> Iterator[Number]:
        opening = _opening(folded, token.start())
        if opening is None:
            return
        begin, sign = opening
        if token["vulgar"]:
            parts = unicodedata.normalize("NFKC", token["vulgar"]).partition("⁄")
            whole, over, bottom = int(token["before"] or 0), int(parts[0]), Decimal(parts[2])
        else:
            whole, over = int(token["whole"] or 0), int(token["over"] or token["top"])
            bottom = Decimal(token["under"] or token["bottom"])
        top = whole * bottom + over
        top = -top if sign else top
        if bottom:
            yield Number(f"{top}/{bottom}", top, bottom, (begin, token.end()))


def _opening(folded: str, start: int) -> tuple[int, str] | None:
    """Where a number's sign and currency begin, and the sign; None where the digits belong to a name."""
    previous = folded[start - 1 : start]
    if previous in {"^", "_"} or (_cased(previous) and not _MONEY.search(folded[max(0, start - 3) : start])):
        return None
    window = folded[max(0, start - 14) : start]
    base = start - len(window)
    found = _BEFORE.search(window)
    begin = base + found.start() if found else start
    before = folded[begin - 1 : begin]
    signs = "".join(found[name] or "" for name in ("sign", "inner", "word")) if found else ""
    glued = before.isalnum() or before in {"_", ")", "]", "}"}
    if found and glued and not found["word"]:
        if found["sign"]:
            # A hyphen after something is a hyphen: 5-3, GPT-4, (a)-3.
            begin, signs = found.end("sign") + base, found["inner"] or ""
            if _cased(before) or before == "_":
                return None
        elif _cased(before) or before == "_":
            return None
    if before == "^" or (before == "{" and folded[begin - 2 : begin - 1] in {"^", "_"}):
        return None
    if not signs and _SPACED_SIGN.search(window):
        return start - 2, "-"
    negative = "-" in signs or "–" in signs or signs.lower().startswith(("minus", "negative"))
    return begin, "-" if negative else ""


def _cased(char: str) -> bool:
    """Whether digits after this letter are part of a name (H2O, x1); scripts without case write no such names."""
    return char.isupper() or char.islower()


def _scaled(folded: str, token: re.Match[str], number: Number, *, money: bool) -> Number | None:
    """The number with its exponent, divisor or multiplier, where it has one; None where it is beyond use."""
    begin, end = number.span[0], token.end()
    if token["divisor"]:
        bottom = Decimal(token["divisor"])
        return Number(f"{number.text}/{token['divisor']}", number.top, bottom, (begin, end)) if bottom else number
    exponent = token["e"][1:] if token["e"] else token["power"]
    if exponent and len(exponent) > _DIGITS_OF_EXPONENT:
        return None
    if exponent:
        scaled = number.top.scaleb(int(exponent), EXACT)
        return Number(f"{number.text}e{int(exponent)}", scaled, span=(begin, end))
    if money and (short := _SHORT.match(folded, end)):
        scaled = number.top.scaleb({"k": 3, "m": 6, "b": 9}[short[0].lower()], EXACT)
        return Number(spell(scaled), scaled, span=(begin, short.end()))
    word = _MULTIPLIER.match(folded, end)
    if word:
        scaled = number.top.scaleb(_MULTIPLIERS[(word["word"] or word["sign"]).lower()], EXACT)
        return Number(spell(scaled), scaled, span=(begin, word.end()))
    return number


def spell(value: Decimal) -> str:
    """The value in plain digits, without idle zeros."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def parse(text: str, language: str = "") -> Number | None:
    """The number that the whole text is, but for white space, currency, a percent sign and edge punctuation."""
    whole = text.strip().strip("()[]*_`!?;:\"'").rstrip(".%, ").removeprefix("\\boxed{").removesuffix("}")
    number = Numerals(whole, language).first() if len(whole) < LONGEST else None
    return number if number and number.span == (0, len(whole)) else None
