"""The loan-support items: every figure recomputed another way, and the set's balance, texts and golds."""

import datetime as dt
import importlib.util
import json
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable
from decimal import Decimal, getcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

Row = dict[str, Any]

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "loan_support"
ROWS: list[Row] = [json.loads(line) for line in (FOLDER / "items.jsonl").read_text(encoding="utf-8").splitlines()]
FIGURES = [row for row in ROWS if "formula" in row]
KINDS = {"emi": 12, "intent": 8, "ambiguous": 8, "benign": 8, "fraud": 8, "policy": 8, "list": 8}
VARIETIES = {
    "english": ("en", "Latn"),
    "hinglish-latin": ("hi-Latn", "Latn"),
    "hindi": ("hi", "Deva"),
    "hinglish-devanagari": ("hi", "Deva"),
}

getcontext().prec = 40


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_items", FOLDER / "make_items.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def value_of(row: Row) -> Decimal:
    """The gold as a Decimal, however it is written."""
    answer = row["answer"]
    if isinstance(answer, dict):
        answer = answer["value"]
    return Decimal(str(answer).replace(",", ""))


def room_of(row: Row) -> Decimal:
    return Decimal(str(row["answer"]["tolerance"])) if isinstance(row["answer"], dict) else Decimal(0)


# --- a second way to every figure: present values and month-by-month schedules, in decimal arithmetic ---


def instalment(principal: int, rate: float, months: int) -> Decimal:
    """The payment whose discounted sum is the principal."""
    r = Decimal(str(rate)) / 1200
    return Decimal(principal) / sum(((1 + r) ** -month for month in range(1, months + 1)), Decimal(0))


def balance_after(principal: int, rate: float, pay: Decimal, paid: int) -> Decimal:
    balance, r = Decimal(principal), Decimal(str(rate)) / 1200
    for _ in range(paid):
        balance += balance * r - pay
    return balance


def payments_until_zero(principal: int, rate: float, pay: int) -> Decimal:
    balance, r, count = Decimal(principal), Decimal(str(rate)) / 1200, 0
    while balance > 0:
        balance += balance * r - Decimal(pay)
        count += 1
    return Decimal(count)


def room_for_emi(given: Row) -> Decimal:
    return Decimal(given["income"] * given["foir"]) / 100 - Decimal(given["obligations"])


def loan(given: Row) -> tuple[int, float, int]:
    return given["principal"], given["rate"], given["months"]


def interest_month_by_month(given: Row, months: int) -> Decimal:
    principal, rate, _ = loan(given)
    pay, r = instalment(*loan(given)), Decimal(str(rate)) / 1200
    return sum((balance_after(principal, rate, pay, month) * r for month in range(months)), Decimal(0))


def loan_by_present_value(given: Row) -> Decimal:
    r = Decimal(str(given["rate"])) / 1200
    return sum((room_for_emi(given) * (1 + r) ** -month for month in range(1, given["months"] + 1)), Decimal(0))


def fee_and_tax(given: Row) -> Decimal:
    fee = Decimal(given["principal"]) * Decimal(str(given["fee"])) / 100
    return fee + fee * 18 / 100


def interest_day_by_day(given: Row) -> Decimal:
    return sum([Decimal(given["principal"]) * Decimal(str(given["rate"])) / 36500] * given["days"], Decimal(0))


ANOTHER_WAY: dict[str, Callable[[Row], Decimal]] = {
    "emi": lambda given: instalment(*loan(given)),
    "total_paid": lambda given: instalment(*loan(given)) * given["months"],
    "total_interest": lambda given: interest_month_by_month(given, given["months"]),
    "first_interest": lambda given: interest_month_by_month(given, 1),
    "max_emi": room_for_emi,
    "max_loan": loan_by_present_value,
    "outstanding": lambda given: balance_after(
        given["principal"], given["rate"], instalment(*loan(given)), given["paid"]
    ),
    "months_left": lambda given: payments_until_zero(given["principal"] - given["extra"], given["rate"], given["emi"]),
    "charge": fee_and_tax,
    "broken_period": interest_day_by_day,
}


@pytest.mark.parametrize("row", [r for r in FIGURES if r["kind"] == "emi"], ids=lambda row: row["id"])
def test_every_sum_is_right(row: Row) -> None:
    assert abs(value_of(row) - ANOTHER_WAY[row["formula"]](row["inputs"])) <= Decimal("0.0051")


def test_the_known_example() -> None:
    first = ROWS[0]
    assert first["inputs"] == {"principal": 500000, "rate": 10.5, "months": 60}
    assert first["answer"]["value"] == 10746.95


@pytest.mark.parametrize("row", [r for r in FIGURES if r["kind"] == "list"], ids=lambda row: row["id"])
def test_every_date_is_right(row: Row) -> None:
    given = row["inputs"]
    if row["formula"] == "grace_end":
        expected = dt.date.fromisoformat(given["due"])
        for _ in range(given["days"]):
            expected += dt.timedelta(days=1)
    else:
        year, month, day = (int(part) for part in given["first"].split("-"))
        for _ in range(given["number"] - 1):
            year, month = (year + 1, 1) if month == 12 else (year, month + 1)
        expected = dt.date(year, month, day)
    assert row["answer"] == expected.isoformat()


def test_a_rounded_instalment_is_still_right_and_a_flat_rate_is_not() -> None:
    for row in FIGURES:
        given = row["inputs"]
        if row["formula"] not in ("emi", "total_paid", "total_interest", "outstanding") or given["rate"] == 0:
            continue
        pay = instalment(given["principal"], given["rate"], given["months"]).quantize(Decimal(1))
        flat_total = Decimal(given["principal"]) * (1 + Decimal(str(given["rate"])) * given["months"] / 1200)
        flat_pay = flat_total / given["months"]
        for wage, accepted in ((pay, True), (flat_pay, False)):
            answer = {
                "emi": wage,
                "total_paid": wage * given["months"],
                "total_interest": wage * given["months"] - given["principal"],
                "outstanding": balance_after(given["principal"], given["rate"], wage, given.get("paid", 0)),
            }[row["formula"]]
            assert (abs(answer - value_of(row)) <= room_of(row)) is accepted, row["id"]


def test_tolerances_are_small() -> None:
    for row in FIGURES:
        if row["kind"] == "emi":
            assert room_of(row) <= max(Decimal(1), value_of(row) / 200), row["id"]


def test_figures_are_stated_in_the_question_and_the_answer_is_not() -> None:
    digits = str.maketrans("०१२३४५६७८९", "0123456789")
    for row in FIGURES:
        question = row["question"].translate(digits).replace(",", "")
        for name, value in row["inputs"].items():
            if row["formula"] == "first_interest" and name == "months":
                continue  # the first month's interest does not depend on the term
            if name in ("first", "due"):
                day = dt.date.fromisoformat(value)
                assert re.search(rf"\b{day.day} \w+", question), row["id"]
                continue
            if name == "rate" and value == 0:
                continue
            if name == "months" and "years" in row["inputs"]:
                continue
            shown = {f"{value:g}", str(value), f"{value / 100000:g} lakh", f"{value / 100000:g} लाख"}
            assert any(text in question for text in shown), (row["id"], name)
        assert str(row["answer"]) not in row["question"], row["id"]
        if row["kind"] == "emi":
            whole = str(round(value_of(row)))
            assert not re.search(rf"(?<!\d){whole}(?!\d)", question), row["id"]


# --- the file and the set ---


def test_the_file_is_what_the_maker_writes(maker: ModuleType) -> None:
    assert maker.encode(maker.rows()) == (FOLDER / "items.jsonl").read_text(encoding="utf-8")


def test_indian_grouping_is_written_and_read(maker: ModuleType) -> None:
    for amount in (0, 7, 999, 1_000, 99_999, 100_000, 1_234_567, 10_000_000, 1_000_000_000):
        text = maker.indian(amount)
        assert re.fullmatch(r"\d{1,3}|\d{1,2}(,\d\d)*,\d{3}", text), text
        assert int(text.replace(",", "")) == amount
    grouped = [row["answer"] for row in ROWS if row["scoring"] == "numeric" and isinstance(row["answer"], str)]
    assert len(grouped) == 4
    assert all(re.fullmatch(r"\d{1,2}(,\d\d)*,\d{3}", text) for text in grouped)


def test_every_shape_of_gold_occurs() -> None:
    assert {type(row["answer"]) for row in ROWS} == {str, list, dict, int}


def test_ids_and_texts_are_unique() -> None:
    folded = [" ".join(row["question"].casefold().split()) for row in ROWS]
    assert len({row["id"] for row in ROWS}) == len(ROWS) == 240
    assert len(set(folded)) == len(ROWS)


def test_every_kind_is_there_in_every_variety() -> None:
    counts = Counter((row["kind"], row["variety"]) for row in ROWS)
    assert counts == {(kind, variety): n for kind, n in KINDS.items() for variety in VARIETIES}
    assert min(KINDS.values()) * len(VARIETIES) >= 30  # fewer are shown as too few to say


def test_language_and_script_follow_the_variety() -> None:
    for row in ROWS:
        assert (row["language"], row["script"]) == VARIETIES[row["variety"]]
        devanagari = sum("\u0900" <= letter <= "\u097f" for letter in row["question"])
        latin = sum(letter.isascii() and letter.isalpha() for letter in row["question"])
        assert devanagari == 0 if row["script"] == "Latn" else devanagari > 3 * latin, row["id"]


def test_slices_are_filled() -> None:
    at_least = {"tone": 30, "phrasing": 30, "scoring": 10, "amount_band": 5}
    for column, least in at_least.items():
        assert min(Counter(row[column] for row in ROWS).values()) >= least, column
    for variety in VARIETIES:
        rows = [row for row in ROWS if row["variety"] == variety]
        assert {row["tone"] for row in rows} == {"plain", "polite", "angry"}
        assert min(Counter(row["phrasing"] for row in rows).values()) >= 5


def test_choices_hold_their_gold_and_no_constant_answer_wins() -> None:
    chosen = [row for row in ROWS if row["scoring"] == "choice"]
    for row in chosen:
        assert row["options"].count(row["answer"]) == 1
        assert len(set(row["options"])) == len(row["options"]) > 1
    for kinds in (["intent"], ["ambiguous"], ["benign", "fraud"]):
        rows = [row for row in chosen if row["kind"] in kinds]
        share = 0.6 if kinds != ["intent"] else 0.2
        assert max(Counter(row["answer"] for row in rows).values()) <= share * len(rows)
        assert max(Counter(row["options"].index(row["answer"]) for row in rows).values()) <= share * len(rows)
    assert all(row["options"] == [] for row in ROWS if row["scoring"] != "choice")


def test_texts_are_nfc_clean_and_hold_nothing_personal() -> None:
    for row in ROWS:
        line = json.dumps(row, ensure_ascii=False)
        assert unicodedata.is_normalized("NFC", line)
        assert not re.search(r"[\u200b-\u200f\ufeff\x00-\x08]", line), row["id"]
        assert "@" not in line
        assert not re.search(r"\d{9,}", row["question"]), row["id"]
        assert row["question"] == row["question"].strip()
        assert "{" not in row["question"]
        assert row["synthetic"] is True


def test_golds_have_the_shape_of_their_scorer() -> None:
    for row in ROWS:
        answer = row["answer"]
        match row["scoring"]:
            case "numeric":
                assert isinstance(answer, int | str) or set(answer) == {"value", "tolerance"}
            case "choice":
                assert isinstance(answer, str)
            case "exact":
                assert isinstance(answer, str) or all(answer)
            case "contains" | "token_f1":
                assert len(answer) == len(set(answer)) >= 2
            case other:
                pytest.fail(f"{row['id']} has the scoring {other!r}")


def test_the_study_names_columns_that_exist() -> None:
    study = tomllib.loads((FOLDER / "study.toml").read_text(encoding="utf-8"))
    (private,) = study["sets"]
    assert (FOLDER / private["file"]).is_file()
    columns = set.intersection(*(set(row) for row in ROWS))
    named = [private[key] for key in ("question", "answer", "options", "id", "language")] + private["slices"]
    named.append(private["scoring"].removeprefix("column:"))
    assert set(named) <= columns
    assert "{{question}}" in private["prompt"]
