"""Parquet, Arrow and XLSX. The libraries that read them are imported here, where they are used."""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import io
import math
import uuid
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from typing import Any
from xml.etree.ElementTree import ParseError

from measurand.core.errors import DataError
from measurand.core.record import Json
from measurand.data.table import Table, header_of
from measurand.data.texts import FREE, RATIO

EXTRA = 'install what reads it: pip install "measurand[data]"'


def read_parquet(data: bytes, where: str) -> Table:
    """Every row as plain JSON values: dates as ISO 8601, decimals as text, bytes as base64.

    Raises DataError with row and column for NaN and infinities, which have no JSON form.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        message = f"{where} is a parquet file; {EXTRA}"
        raise DataError(message) from error
    try:
        return _plain_table(pq.ParquetFile(pa.BufferReader(data)).read(), where)
    except (pa.ArrowException, ValueError, OverflowError, OSError) as error:
        message = f"{where} is not a readable parquet file ({_first_line(error)}); fetch or write it again"
        raise DataError(message) from error


def read_arrow(data: bytes, where: str) -> Table:
    """A stream of Arrow record batches, as the `datasets` library saves them; values as in `read_parquet`."""
    try:
        import pyarrow as pa
    except ImportError as error:
        message = f"{where} is an Arrow file; {EXTRA}"
        raise DataError(message) from error
    try:
        return _plain_table(pa.ipc.open_stream(pa.BufferReader(data)).read_all(), where)
    except (pa.ArrowException, ValueError, OverflowError, OSError) as error:
        message = f"{where} is not a readable Arrow stream ({_first_line(error)}); fetch or write it again"
        raise DataError(message) from error


def _plain_table(table: Any, where: str) -> Table:
    names = header_of(table.schema.names, where)
    values = table.to_pylist()
    rows = [
        {name: _plain(row[name], f"{where}: row {number}, column {name!r}") for name in names}
        for number, row in enumerate(values, 1)
    ]
    return Table(rows, [f"row {number}" for number in range(1, len(rows) + 1)])


def read_xlsx(data: bytes, where: str) -> Table:
    """The one sheet that has cells; its first row names the columns.

    Numbers stay numbers, dates become ISO 8601, an empty cell is None. Rows without any cell are skipped.
    Raises DataError for several sheets, for an error value, and for a cell under no name.
    """
    try:
        import openpyxl
    except ImportError as error:
        message = f"{where} is an XLSX file; {EXTRA}"
        raise DataError(message) from error
    try:
        _refuse_bomb(data, where)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of styles and extensions, never of values
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
            sheets = {sheet.title: list(_cells(sheet, where)) for sheet in book.worksheets}
            book.close()
    except (zipfile.BadZipFile, zlib.error, ParseError, EOFError, OSError, *_SLIPS) as error:
        message = f"{where} is not a readable XLSX file ({_first_line(error)}); save it again"
        raise DataError(message) from error
    filled = {title: rows for title, rows in sheets.items() if rows}
    if len(filled) > 1:
        message = f"{where} has several sheets with cells ({', '.join(filled)}); keep one in the file"
        raise DataError(message)
    return _sheet(next(iter(filled.values()), []), where)


_SLIPS = (KeyError, ValueError, TypeError, AttributeError, IndexError)
"""What openpyxl raises on damaged workbooks, beside its own errors."""


def _refuse_bomb(data: bytes, where: str) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > max(FREE, RATIO * len(data)):
        message = f"{where} grows to {size} bytes when unpacked; save it again without what swells it"
        raise DataError(message)


def _cells(sheet: Any, where: str) -> Iterator[tuple[int, list[Json]]]:
    sheet.reset_dimensions()  # what a file says of its own size is not to be trusted
    for number, row in enumerate(sheet.iter_rows(), 1):
        values = [_cell(cell, where) for cell in row]
        while values and values[-1] is None:
            values.pop()
        if values:
            yield number, values


def _cell(cell: Any, where: str) -> Json:
    value = cell.value
    if cell.data_type == "e":
        message = f"{where}: cell {cell.coordinate} holds the error {value}; mend it"
        raise DataError(message)
    if isinstance(value, dt.datetime) and "h" not in str(cell.number_format).lower():
        return value.date().isoformat()
    return _plain(value, where)


def _sheet(rows: Sequence[tuple[int, list[Json]]], where: str) -> Table:
    if not rows:
        return Table([], [])
    number, first = rows[0]
    header = header_of(["" if name is None else str(name) for name in first], f"{where}: row {number}")
    table = Table([], [])
    for place, values in rows[1:]:
        if len(values) > len(header):
            message = f"{where}: row {place} has a cell in column {len(values)}, which has no name; name it or empty it"
            raise DataError(message)
        padded = [*values, *[None] * (len(header) - len(values))]
        table.rows.append(dict(zip(header, padded, strict=True)))
        table.places.append(f"row {place}")
    return table


def _plain(value: Any, where: str) -> Json:
    """A value as JSON data."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        message = f"{where} is {value}, which has no JSON form; write null there"
        raise DataError(message)
    if isinstance(value, dict):
        return {str(key): _plain(inner, where) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner, where) for inner in value]
    return _as_text(value)


def _as_text(value: Any) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, dt.timedelta | decimal.Decimal | uuid.UUID):
        return str(value)
    message = f"a value of type {type(value).__name__} has no JSON form"
    raise ValueError(message)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
