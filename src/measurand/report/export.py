"""Rows in files: JSONL, CSV, Excel workbooks and Parquet, streamed."""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from measurand.core.errors import InputError
from measurand.report.rows import Row, trial_rows

__all__ = ["TABLE_FORMATS", "TableFormat", "export", "neutral", "trial_rows"]

TableFormat = Literal["jsonl", "csv", "xlsx", "parquet"]
TABLE_FORMATS: tuple[str, ...] = get_args(TableFormat)

AT_A_TIME = 5_000
LARGEST = 2**53
LONGEST_CELL = 32_767
"""Characters that Excel keeps in a cell."""
MOST_ROWS = 1_048_575
"""Rows below the header that Excel opens."""

_NUMBER = re.compile(r"[+-]?[0-9]{1,300}(\.[0-9]{0,300})?([eE][+-]?[0-9]{1,4})?")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def export(rows: Iterable[Row], path: str | Path, format: TableFormat) -> int:  # noqa: A002 -- the word for it
    """Write rows to a file and return how many there were. The file appears whole or not at all.

    JSONL and Parquet are exact. In CSV and Excel a text that a spreadsheet would run as a formula gets a leading
    apostrophe, nested values are JSON text, and Excel's limits on characters and lengths are kept. JSONL keeps each
    row's own columns; the others take the columns of the first rows and refuse later ones. Raises InputError for
    an unknown format, a column or type that comes too late, or a path that cannot be written.
    """
    writers: dict[str, Callable[[Iterable[Row], Path], int]] = {
        "jsonl": _jsonl,
        "csv": _csv,
        "xlsx": _xlsx,
        "parquet": _parquet,
    }
    if format not in writers:
        raise InputError(f"there is no format '{format}'; take one of {', '.join(TABLE_FORMATS)}")
    target = Path(path)
    part = target.with_name(target.name + ".part")
    try:
        count = writers[format](rows, part)
        part.replace(target)
    except OSError as error:
        raise InputError(
            f"cannot write {target}: {error.strerror or error}; give a path that can be written"
        ) from error
    finally:
        part.unlink(missing_ok=True)
    return count


def neutral(text: str) -> str:
    """Text that no spreadsheet takes for a formula: a leading apostrophe where it could. Numbers stay as they are.

    A formula may hide behind spaces, quotes, invisible marks or full-width signs; all of these are looked through.
    """
    if _NUMBER.fullmatch(text):
        return text
    for character in text:
        if character in "=+-@\t\r" or unicodedata.normalize("NFKC", character) in ("=", "+", "-", "@"):
            return "'" + text
        if not (character.isspace() or character in "'\"`‘’“”" or unicodedata.category(character) in ("Cc", "Cf")):
            return text
    return text


def _jsonl(rows: Iterable[Row], path: Path) -> int:
    count = 0
    with path.open("wb") as file:
        for count, row in enumerate(rows, 1):  # noqa: B007 -- the last number is the count
            file.write(_json_bytes(row) + b"\n")
    return count


def _json_bytes(value: object) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=True).encode()  # half of a surrogate pair can only be written escaped


def _csv(rows: Iterable[Row], path: Path) -> int:
    columns, stream = _with_columns(rows)
    count = 0
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerow(neutral(column) for column in columns)
        for count, row in enumerate(stream, 1):  # noqa: B007 -- the last number is the count
            writer.writerow(_cell(row.get(column)) for column in columns)
    return count


def _xlsx(rows: Iterable[Row], path: Path) -> int:
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    book = Workbook(write_only=True)
    sheet = book.create_sheet("trials")

    def cell(value: object) -> object:
        plain = _cell(value)
        if not isinstance(plain, str):
            if plain is None or abs(plain) <= LARGEST:
                return plain
            plain = str(plain)  # neither NaN nor an infinity is a number to Excel, and it rounds large ones
        made = WriteOnlyCell(sheet, _excel_text(plain))
        made.data_type = "s"  # whatever it looks like, it is text
        return made

    columns, stream = _with_columns(rows)
    count = 0
    try:
        sheet.append([cell(column) for column in columns])
        for count, row in enumerate(stream, 1):
            if count > MOST_ROWS:
                raise InputError(f"Excel opens {MOST_ROWS:,} rows at most; export to csv or parquet instead")
            sheet.append([cell(row.get(column)) for column in columns])
    finally:
        sheet.close()
    book.save(path)
    return count


def _excel_text(text: str) -> str:
    legal = _NOT_XML.sub(lambda match: chr(0x2400 + ord(match[0])) if ord(match[0]) < 0x20 else "\ufffd", text)  # noqa: PLR2004 -- C0 controls have pictures
    return legal if len(legal) <= LONGEST_CELL else legal[: LONGEST_CELL - 1] + "…"


def _parquet(rows: Iterable[Row], path: Path) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns, stream = _with_columns(rows)
    count, writer = 0, None
    try:
        while batch := [{name: row.get(name) for name in columns} for row in islice(stream, AT_A_TIME)]:
            if writer is None:
                schema = _schema(pa.Table.from_pylist(batch).schema, pa)
                writer = pq.ParquetWriter(path, schema, compression="zstd")
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
            count += len(batch)
        if writer is None:
            pq.write_table(pa.table({}), path)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, UnicodeEncodeError) as error:
        raise InputError(f"rows {count + 1:,} on do not fit the columns' types: {error}; export to jsonl") from error
    finally:
        if writer is not None:
            writer.close()
    return count


def _schema(found: Any, pa: Any) -> Any:
    """The types of the first rows; a column that is empty in all of them is text."""
    return pa.schema([field.with_type(pa.string()) if pa.types.is_null(field.type) else field for field in found])


def _with_columns(rows: Iterable[Row]) -> tuple[list[str], Iterator[Row]]:
    """The columns of the first rows, and all rows, each checked to have no others."""
    stream = iter(rows)
    first = list(islice(stream, AT_A_TIME))
    columns = list(dict.fromkeys(name for row in first for name in row))
    known = set(columns)

    def checked() -> Iterator[Row]:
        for number, row in enumerate(chain(first, stream), 1):
            if not known.issuperset(row):
                extra = sorted(row.keys() - known)
                raise InputError(f"row {number:,} has columns that the first rows lack: {extra}; export to jsonl")
            yield row

    return columns, checked()


def _cell(value: object) -> str | float | None:
    """A value as a cell of a spreadsheet."""
    if value is None or isinstance(value, int | float):
        return value
    return neutral(value if isinstance(value, str) else _json_bytes(value).decode())
