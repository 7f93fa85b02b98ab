"""Fill the figures into the hand-written texts and write items.jsonl.

Run it in this folder: `python make_items.py`. The same texts and seed give the same bytes.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import random
import tomllib
import unicodedata
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SEED = "loan-support-1"

Inputs = dict[str, Any]
Row = dict[str, Any]

VARIETIES = {
    "english": ("en", "en", "Latn"),
    "hinglish-latin": ("hl", "hi-Latn", "Latn"),
    "hindi": ("hi", "hi", "Deva"),
    "hinglish-devanagari": ("hd", "hi", "Deva"),
}
"""Variety: (short code for ids, BCP 47 language, ISO 15924 script)."""

OPTIONS = {
    "intent": [
        "apply for a loan",
        "check eligibility",
        "EMI date or amount",
        "prepay or close a loan",
        "late or missed payment",
        "statement or certificate",
        "change of details",
        "complaint",
    ],
    "ambiguous": ["needs clarification", "can be answered"],
    "benign": ["answer", "refuse"],
    "fraud": ["answer", "refuse"],
}

BANDS = ((100_000, "under-1-lakh"), (1_000_000, "1-to-10-lakh"), (5_000_000, "10-to-50-lakh"))

MONTHS = {
    "Latn": "January,February,March,April,May,June,July,August,September,October,November,December",
    "Deva": "जनवरी,फ़रवरी,मार्च,अप्रैल,मई,जून,जुलाई,अगस्त,सितंबर,अक्तूबर,नवंबर,दिसंबर",
}

DEVANAGARI = str.maketrans("0123456789", "०१२३४५६७८९")


# --- formulas: rates are per cent a year, payments monthly at the end of the month, money in rupees ---


def emi(principal: float, rate: float, months: int) -> float:
    """EMI = P·r·(1+r)^n / ((1+r)^n - 1) with the monthly rate r; P/n where the rate is zero."""
    if rate == 0:
        return principal / months
    r = rate / 1200
    growth = (1 + r) ** months
    return principal * r * growth / (growth - 1)


def total_paid(principal: float, rate: float, months: int) -> float:
    """All instalments together."""
    return emi(principal, rate, months) * months


def total_interest(principal: float, rate: float, months: int) -> float:
    """All instalments less the principal."""
    return total_paid(principal, rate, months) - principal


def first_interest(principal: float, rate: float, months: int) -> float:
    """The interest in the first instalment: one month on the whole principal, however long the loan."""
    del months
    return principal * rate / 1200


def max_emi(income: float, obligations: float, foir: float) -> float:
    """What the fixed-obligations-to-income ratio leaves for a new instalment."""
    return income * foir / 100 - obligations


def max_loan(income: float, obligations: float, foir: float, rate: float, months: int) -> float:
    """The loan whose EMI is the largest allowed: the EMI formula solved for P."""
    return max_emi(income, obligations, foir) / emi(1, rate, months)


def outstanding(principal: float, rate: float, months: int, paid: int) -> float:
    """P·(1+r)^k - EMI·((1+r)^k - 1)/r after k instalments."""
    r = rate / 1200
    growth = (1 + r) ** paid
    return principal * growth - emi(principal, rate, months) * (growth - 1) / r


def exact_months_left(principal: float, rate: float, emi: float, extra: float) -> float:
    """-ln(1 - B·r/EMI) / ln(1+r) for the balance B after the extra payment, before rounding up."""
    r = rate / 1200
    return -math.log(1 - (principal - extra) * r / emi) / math.log(1 + r)


def months_left(principal: float, rate: float, emi: float, extra: float) -> int:
    """Instalments until the balance is gone; the last one is smaller and counts."""
    return math.ceil(exact_months_left(principal, rate, emi, extra))


def charge(principal: float, fee: float) -> float:
    """Foreclosure fee in per cent of the principal, plus GST of 18 % on the fee."""
    return principal * fee / 100 * 1.18


def broken_period(principal: float, rate: float, days: int) -> float:
    """Simple interest by days, 365 to the year."""
    return principal * rate / 100 * days / 365


def due_date(first: str, number: int) -> str:
    """The date of an instalment; every first date lies before the 29th, so the day always exists."""
    start = dt.date.fromisoformat(first)
    years, month = divmod(start.month - 1 + number - 1, 12)
    return start.replace(year=start.year + years, month=month + 1).isoformat()


def grace_end(due: str, days: int) -> str:
    """The last of so many days, counted from the day after the due date."""
    return (dt.date.fromisoformat(due) + dt.timedelta(days=days)).isoformat()


FORMULAS = {
    f.__name__: f
    for f in (
        emi,
        total_paid,
        total_interest,
        first_interest,
        max_emi,
        max_loan,
        outstanding,
        months_left,
        charge,
        broken_period,
        due_date,
        grace_end,
    )
}


def gold(formula: str, inputs: Inputs) -> Any:
    """The gold answer in the shape its scorer reads.

    A sum of instalments may be computed from an EMI rounded to the rupee, so its tolerance is half a rupee
    for every instalment, and one more.
    """
    arguments = {name: value for name, value in inputs.items() if name != "years"}
    value = FORMULAS[formula](**arguments)
    if isinstance(value, str | int):
        return value
    if formula == "max_emi":
        return indian(round(value))
    if inputs.get("rate") == 0:
        return round(value)
    return {"value": round(value, 2), "tolerance": tolerance(formula, inputs)}


def tolerance(formula: str, inputs: Inputs) -> int:
    """Rupees by which a right answer may differ."""
    match formula:
        case "total_paid" | "total_interest":
            return int(inputs["months"]) // 2 + 1
        case "outstanding":
            r: float = inputs["rate"] / 1200
            drift: float = 0.5 * ((1 + r) ** inputs["paid"] - 1) / r
            return math.ceil(drift) + 1
        case "max_loan":
            return 100
    return 1


# --- figures: drawn by a seed of their own for every item, so that adding a text moves no other figure ---


def _loan(rng: random.Random, amounts: range, rates: range, months: tuple[int, ...]) -> Inputs:
    return {"principal": rng.choice(amounts), "rate": rng.choice(rates) / 100, "months": rng.choice(months)}


def _anchor(_: random.Random) -> Inputs:
    return {"principal": 500_000, "rate": 10.5, "months": 60}


def _personal(rng: random.Random) -> Inputs:
    return _loan(rng, range(50_000, 1_500_001, 25_000), range(1050, 1801, 25), (12, 18, 24, 30, 36, 48, 60))


def _car(rng: random.Random) -> Inputs:
    return _loan(rng, range(300_000, 1_500_001, 25_000), range(850, 1151, 25), (36, 48, 60, 84))


def _car_part(rng: random.Random) -> Inputs:
    return _car(rng) | {"paid": rng.choice((12, 18, 24, 30))}


def _small(rng: random.Random) -> Inputs:
    return _loan(rng, range(25_000, 96_000, 5_000), range(1200, 1801, 25), (6, 9, 12, 18, 24))


def _villa(rng: random.Random) -> Inputs:
    return _loan(rng, range(5_500_000, 20_000_001, 500_000), range(835, 991, 5), (240,))


def _home(rng: random.Random) -> Inputs:
    loan = _loan(rng, range(2_000_000, 9_000_001, 100_000), range(835, 991, 5), (120, 180, 240, 300))
    return loan | {"years": loan["months"] // 12}


def _no_cost(rng: random.Random) -> Inputs:
    months = rng.choice((3, 6, 9, 12))
    return {"principal": rng.randrange(1_000, 7_000, 250) * months, "rate": 0, "months": months}


def _foir(rng: random.Random) -> Inputs:
    income = rng.randrange(30_000, 150_000, 1_000)
    return {"income": income, "obligations": rng.randrange(2_000, income // 5, 500), "foir": rng.choice((40, 45, 50))}


def _foir_loan(rng: random.Random) -> Inputs:
    loan = _personal(rng)
    return _foir(rng) | {"rate": loan["rate"], "months": loan["months"]}


def _prepay(rng: random.Random) -> Inputs:
    """Figures whose exact term is not close to a whole number, so that rounding cannot change the count."""
    while True:
        loan = _car(rng)
        pay = math.ceil(emi(**loan) / 100) * 100
        extra = round(loan["principal"] * rng.uniform(0.1, 0.3), -4)
        found = {"principal": loan["principal"], "rate": loan["rate"], "emi": pay, "extra": int(extra)}
        if 0.1 < exact_months_left(**found) % 1 < 0.9:
            return found


def _charge(rng: random.Random) -> Inputs:
    return {"principal": rng.randrange(200_000, 1_200_000, 1_000), "fee": rng.choice((2, 2.5, 3, 4))}


def _broken(rng: random.Random) -> Inputs:
    loan = _loan(rng, range(100_000, 5_000_000, 50_000), range(850, 1401, 25), (1,))
    return {"principal": loan["principal"], "rate": loan["rate"], "days": rng.randrange(7, 29)}


def _due(rng: random.Random) -> Inputs:
    return {"first": _day(rng), "number": rng.randrange(5, 40)}


def _grace(rng: random.Random) -> Inputs:
    return {"due": _day(rng), "days": rng.choice((3, 5, 7, 10))}


def _day(rng: random.Random) -> str:
    return dt.date(rng.choice((2026, 2027)), rng.randrange(1, 13), rng.randrange(1, 29)).isoformat()


POOLS = {
    "anchor": _anchor,
    "personal": _personal,
    "car": _car,
    "car_part": _car_part,
    "home": _home,
    "small": _small,
    "villa": _villa,
    "no_cost": _no_cost,
    "foir": _foir,
    "foir_loan": _foir_loan,
    "prepay": _prepay,
    "charge": _charge,
    "broken": _broken,
    "due": _due,
    "grace": _grace,
}


# --- rendering ---


def indian(amount: int) -> str:
    """Digits in Indian groups: the last three, then pairs (12,34,567)."""
    head, tail = str(amount)[:-3], str(amount)[-3:]
    groups: list[str] = []
    while head:
        head, group = head[:-2], head[-2:]
        groups.insert(0, group)
    return ",".join([*groups, tail])


class Figure:
    """A value as it is written in a question; see the head of written.toml for the formats."""

    def __init__(self, name: str, value: Any, script: str) -> None:
        self.name, self.value, self.script = name, value, script

    def __format__(self, form: str) -> str:
        if isinstance(self.value, str):
            day = dt.date.fromisoformat(self.value)
            return f"{day.day} {MONTHS[self.script].split(',')[day.month - 1]} {day.year}"
        money = self.name in ("principal", "income", "obligations", "emi", "extra")
        plain = indian(self.value) if money else f"{self.value:g}"
        match form:
            case "plain":
                return plain
            case "bare":
                return f"{self.value}"
            case "lakh":
                return f"{self.value / 100_000:g}"
        shown = f"₹{plain}" if money else plain
        return shown.translate(DEVANAGARI) if form == "deva" else shown


def band(amount: float) -> str:
    """The band of the loan that the question is about; `none` where it names no amount."""
    if not amount:
        return "none"
    return next((name for limit, name in BANDS if amount < limit), "over-50-lakh")


def row(kind: str, variety: str, number: int, written: Row) -> Row:
    """One item."""
    code, language, script = VARIETIES[variety]
    name = f"{kind}-{code}-{number:02d}"
    rng = random.Random(f"{SEED}:{name}")  # noqa: S311 - figures for questions, not secrets
    made: Row = {"id": name, "question": written["text"], "options": [], "answer": None, "scoring": ""}
    amount = written.get("amount", 0)
    if "formula" in written:
        inputs = POOLS[written["draw"]](rng)
        figures = {field: Figure(field, value, script) for field, value in inputs.items()}
        made["question"] = written["text"].format(**figures)
        made["answer"] = gold(written["formula"], inputs)
        made["scoring"] = "numeric" if kind == "emi" else "exact"
        amount = inputs.get("principal", 0)
        made |= {"formula": written["formula"], "inputs": inputs}
    elif "answer" in written:
        options = list(OPTIONS[kind])
        rng.shuffle(options)
        options.remove(written["answer"])
        turn = number * 3 // 2 + list(VARIETIES).index(variety)  # spreads the right place evenly
        options.insert(turn % (len(options) + 1), written["answer"])
        made |= {"options": options, "answer": written["answer"], "scoring": "choice"}
    else:
        made |= {"answer": written["references"], "scoring": written.get("scoring", "contains")}
    return made | {
        "kind": kind,
        "variety": variety,
        "language": language,
        "script": script,
        "amount_band": band(amount),
        "tone": written["tone"],
        "phrasing": written["phrasing"],
        "synthetic": True,
    }


def rows() -> list[Row]:
    """All items, in the order of written.toml."""
    written = tomllib.loads((HERE / "written.toml").read_text(encoding="utf-8"))
    return [
        row(kind, variety, number, text)
        for kind, varieties in written.items()
        for variety, texts in varieties.items()
        for number, text in enumerate(texts, 1)
    ]


def encode(items: list[Row]) -> str:
    """JSON lines in Unicode NFC."""
    return "".join(unicodedata.normalize("NFC", json.dumps(item, ensure_ascii=False)) + "\n" for item in items)


if __name__ == "__main__":
    (HERE / "items.jsonl").write_text(encode(rows()), encoding="utf-8", newline="\n")
