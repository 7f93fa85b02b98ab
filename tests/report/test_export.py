import csv
import json
import math

import openpyxl
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import InputError
from measurand.report.export import AT_A_TIME, TABLE_FORMATS, export, neutral, trial_rows
from tests.report.payloads import PAYLOADS
from tests.report.runs import SUBJECTS, rich

FORMULAS = (
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)",
    "\t=1+1",
    "\r=1+1",
    " =1+1",
    "\n=1+1",
    '"=1+1',
    "'=1+1",
    "＝1+1",
    "＋1",
    "－1+1",
    "＠SUM(1)",
    "\ufeff=1+1",
    "\u200b=1+1",
    "\u00a0=1+1",
    "-",
    '=HYPERLINK("https://example.invalid")',
)
HARMLESS = ("-5", "+3.25", "1e-9", "-1E+10", "12", "a=b", "", "x@y", "3 - 2", "(−1)", "no = sign")


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_neutralised(text):
    assert neutral(text) == "'" + text


@pytest.mark.parametrize("text", HARMLESS)
def test_numbers_and_ordinary_text_are_untouched(text):
    assert neutral(text) == text


@given(st.text(max_size=20))
def test_neutralising_hides_nothing_and_is_done_once(text):
    made = neutral(text)
    assert made in (text, "'" + text)
    assert neutral(made.lstrip("'")) in (made.lstrip("'"), "'" + made.lstrip("'"))


def test_neutral_is_linear():
    assert neutral(" " * 200_000 + "x") == " " * 200_000 + "x"
    assert neutral("1" * 200_000 + "x").endswith("x")


def rows_of(texts):
    return [{"item": str(number), "answer": text, "=name": number, "score": 0.5} for number, text in enumerate(texts)]


def test_jsonl_and_parquet_are_exact(tmp_path):
    texts = [*FORMULAS, *(text for text in PAYLOADS if "\ud800" not in text)]
    for format_ in ("jsonl", "parquet"):
        path = tmp_path / f"rows.{format_}"
        assert export(rows_of(texts), path, format_) == len(texts)
        back = (
            pq.read_table(path).to_pylist()
            if format_ == "parquet"
            else [json.loads(x) for x in path.read_bytes().splitlines()]
        )
        assert back == rows_of(texts)


def test_half_a_surrogate_pair_survives_jsonl_and_is_refused_by_parquet(tmp_path):
    rows = [{"answer": "\ud800"}]
    export(rows, tmp_path / "a.jsonl", "jsonl")
    assert json.loads((tmp_path / "a.jsonl").read_text()) == rows[0]
    with pytest.raises(InputError, match="jsonl"):
        export(rows, tmp_path / "a.parquet", "parquet")
    assert not list(tmp_path.glob("*.part"))


def test_csv_comes_back_with_nothing_to_run(tmp_path):
    texts = [*FORMULAS, *HARMLESS, *(text for text in PAYLOADS if "\ud800" not in text)]
    export(rows_of(texts), tmp_path / "rows.csv", "csv")
    with (tmp_path / "rows.csv").open(newline="", encoding="utf-8") as file:
        back = list(csv.reader(file))
    assert back[0] == ["item", "answer", "'=name", "score"]
    assert [row[1] for row in back[1:]] == [neutral(text) for text in texts]
    assert back[1][2:] == ["0", "0.5"]


def test_excel_opens_it_and_finds_no_formula(tmp_path):
    texts = [*FORMULAS, *HARMLESS, *PAYLOADS, "#N/A", "x" * 40_000]
    rows = [*rows_of(texts), {"item": "big", "answer": None, "=name": 2**60, "score": math.nan}]
    assert export(rows, tmp_path / "rows.xlsx", "xlsx") == len(rows)
    cells = list(openpyxl.load_workbook(tmp_path / "rows.xlsx")["trials"].iter_rows())
    assert len(cells) == len(rows) + 1
    assert {cell.data_type for row in cells for cell in row} <= {"s", "inlineStr", "n"}
    answers = [row[1].value for row in cells[1:]]
    assert answers[len(FORMULAS)] == "-5"
    assert max(len(answer) for answer in answers if answer) == 32_767
    assert cells[-1][2].value == str(2**60)
    assert cells[-1][3].value == "nan"


def test_rows_of_a_run_have_the_same_columns_whatever_became_of_them(tmp_path):
    store, run = rich()
    rows = list(trial_rows(store, run))
    assert len(rows) == sum(SUBJECTS.values())
    assert len({tuple(row) for row in rows}) == 1
    failed = next(row for row in rows if row["outcome"] == "failed")
    assert failed["why"].startswith("provider: HTTP 503")
    assert failed["score:accuracy"] is None
    answered = [row for row in rows if row["outcome"] == "answered"]
    assert {row["score:accuracy"] for row in answered} == {0.0, 1.0, None}
    assert {row["missing:accuracy"] for row in answered} == {None, "scorer_failed"}
    assert {row["found:number_strict@2"] for row in answered} == {"found", "absent"}
    right = [row for row in answered if row["score:accuracy_flexible"] is not None]
    number = int(right[5]["item"].rpartition("-")[2])
    assert right[5]["reading:number_flexible@1"] == str(number)
    assert right[5]["slice:length"] == ("long" if number % 4 else "short")
    for format_ in TABLE_FORMATS:
        assert export(iter(rows), tmp_path / f"run.{format_}", format_) == len(rows)


def test_a_column_that_comes_too_late_is_refused_and_leaves_no_file(tmp_path):
    rows = [{"a": 1}] * AT_A_TIME + [{"a": 1, "b": 2}]
    for format_ in ("csv", "xlsx", "parquet"):
        with pytest.raises(InputError, match="row 5,001 has columns"):
            export(rows, tmp_path / f"late.{format_}", format_)
    assert list(tmp_path.iterdir()) == []
    assert export(rows, tmp_path / "late.jsonl", "jsonl") == AT_A_TIME + 1


@pytest.mark.parametrize("format_", TABLE_FORMATS)
def test_no_rows_make_an_empty_file(tmp_path, format_):
    assert export([], tmp_path / "empty", format_) == 0
    assert (tmp_path / "empty").exists()


def test_bad_formats_and_paths_are_refused_in_a_sentence(tmp_path):
    with pytest.raises(InputError, match="jsonl, csv, xlsx, parquet"):
        export([], tmp_path / "x", "ods")
    with pytest.raises(InputError, match="cannot write"):
        export([], tmp_path / "none" / "x.csv", "csv")
