"""Parquet and XLSX as their own libraries write them."""

import datetime as dt
import decimal
import io
import math
import zipfile
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from measurand.core.errors import DataError
from measurand.core.identity import canonical_json
from measurand.data import parse


def parquet(table: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def xlsx(*rows: list[Any], sheets: int = 1) -> bytes:
    book = openpyxl.Workbook()
    for number in range(sheets):
        sheet = book.active if number == 0 else book.create_sheet()
        for row in rows:
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def test_parquet_values_become_plain_json_values() -> None:
    table = pa.table(
        {
            "text": ["NA", None],
            "whole": [1, 2**62],
            "list": [["a", "b"], []],
            "struct": [{"x": 1}, {"x": None}],
            "day": [dt.date(2024, 2, 29), None],
            "time": [dt.datetime(2024, 1, 2, 3, 4, 5, tzinfo=dt.UTC), None],
            "exact": [decimal.Decimal("1.10"), None],
            "bytes": [b"\x00\xff", None],
        }
    )
    rows = parse(parquet(table), "x.parquet").rows
    assert rows[0] == {
        "text": "NA",
        "whole": 1,
        "list": ["a", "b"],
        "struct": {"x": 1},
        "day": "2024-02-29",
        "time": "2024-01-02T03:04:05+00:00",
        "exact": "1.10",
        "bytes": "AP8=",
    }
    assert rows[1]["whole"] == 2**62
    assert rows[1]["text"] is None
    assert canonical_json(rows)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_parquet_refuses_what_has_no_json_form(value: float) -> None:
    with pytest.raises(DataError, match=r"x.parquet: row 2, column 'x' is (nan|inf)"):
        parse(parquet(pa.table({"x": [1.0, value]})), "x.parquet")


def test_parquet_refuses_columns_of_one_name_and_no_rows_and_damage() -> None:
    doubled = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"])
    with pytest.raises(DataError, match="column 2 has the name of column 1"):
        parse(parquet(doubled), "x.parquet")
    with pytest.raises(DataError, match="no samples"):
        parse(parquet(pa.table({"x": pa.array([], pa.int64())})), "x.parquet")
    whole = parquet(pa.table({"x": list(range(1000))}))
    for damaged in (b"", whole[:-3], whole[:50], b"PAR1" * 10):
        with pytest.raises(DataError, match="not a readable parquet file"):
            parse(damaged, "x.parquet")


def test_xlsx_keeps_numbers_and_renders_dates() -> None:
    data = xlsx(
        ["q", "a", "when", "at", "yes"],
        ["NA", 12.25, dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 13, 30, tzinfo=dt.UTC).replace(tzinfo=None), True],
        [None, None, None, None, None],
        ["007", 42, None, None, None],
    )
    table = parse(data, "x.xlsx")
    assert table.rows == [
        {"q": "NA", "a": 12.25, "when": "2024-02-29", "at": "2024-02-29T13:30:00", "yes": True},
        {"q": "007", "a": 42, "when": None, "at": None, "yes": None},
    ]
    assert table.places == ["row 2", "row 4"]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (xlsx(["q", "q"], [1, 2]), "column 2 has the name of column 1"),
        (xlsx(["q", None, "a"], [1, 2, 3]), "column 2 has no name"),
        (xlsx(["q"], [1, 2]), "row 2 has a cell in column 2, which has no name"),
        (xlsx(["q"], [1], sheets=2), "several sheets with cells (Sheet, Sheet1)"),
        (xlsx(["q"]), "no samples"),
        (xlsx(), "no samples"),
        (xlsx(["q"], ["#N/A"]), "cell A2 holds the error #N/A"),
        (b"", "not a readable XLSX file"),
        (xlsx(["q"], [1])[:-40], "not a readable XLSX file"),
    ],
)
def test_xlsx_faults_are_named(data: bytes, says: str) -> None:
    with pytest.raises(DataError) as caught:
        parse(data, "x.xlsx")
    assert says in str(caught.value)


def test_an_xlsx_bomb_is_refused_unopened() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b" " * (80 * 2**20))
    with pytest.raises(DataError, match="when unpacked"):
        parse(out.getvalue(), "x.xlsx")
