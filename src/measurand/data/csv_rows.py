"""CSV and TSV. Every value is text exactly as written: NA, null, None and nan are words like others."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from measurand.core.errors import DataError
from measurand.core.record import Json
from measurand.data.table import Table, header_of

_LONGEST_FIELD = 2**31 - 1
FILE_COLUMN = "__file__"
"""In rows of several files, the name of each row's file without its endings."""
INDEX_COLUMN = "__index__"
"""The row numbers that pandas writes as a first column without a name."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The fields of a file, not yet named: each record with the line it begins on."""

    records: list[tuple[int, list[str]]]
    where: str

    @property
    def first(self) -> tuple[str, ...]:
        """The fields of the first record."""
        return tuple(self.records[0][1]) if self.records else ()


def read_grid(text: str, where: str, delimiter: str) -> Grid:
    """Split a text into records. Raises DataError with the line.

    A CSV follows RFC 4180. A TSV has no quoting by its registration, yet spreadsheets quote in it: it is read
    with quotes where that gives an even table, and otherwise every quote is a character like others.
    """
    if delimiter == ",":
        return _split(text, where, delimiter, csv.QUOTE_MINIMAL)
    try:
        quoted = _split(text, where, delimiter, csv.QUOTE_MINIMAL)
    except DataError:
        quoted = None
    if quoted is not None and len({len(fields) for _, fields in quoted.records}) <= 1:
        return quoted
    return _split(text, where, delimiter, csv.QUOTE_NONE)


def read_grids(grids: Sequence[Grid], names: Sequence[str]) -> Table:
    """Name the fields of one file (`names` is empty) or of several, told apart by a column `__file__`.

    Files of one table share their header. Where their first records all differ they have none, and the columns
    are named by position: 0, 1, … Raises DataError where neither is so.
    """
    headers = {grid.first for grid in grids}
    headless = len(grids) > 1 and len(headers) == len(grids)
    if len(headers) > 1 and not headless:
        odd = next(grid for grid in grids if grid.first != grids[0].first)
        message = f"{odd.where}: line 1 is not the header that {grids[0].where} has; give both the same"
        raise DataError(message)
    table = Table([], [])
    for index, grid in enumerate(grids):
        named = _name(grid, headless=headless)
        if names:
            for row in named.rows:
                row[FILE_COLUMN] = names[index]
        table.rows.extend(named.rows)
        table.places.extend(f"{names[index]}, {place}" if names else place for place in named.places)
    return table


def _name(grid: Grid, *, headless: bool) -> Table:
    if not grid.records:
        return Table([], [])
    if headless:
        header: tuple[str, ...] = tuple(str(number) for number in range(len(grid.first)))
        body = grid.records
    else:
        body = grid.records[1:]
        numbered = grid.first[0] == "" and all(fields[:1] and fields[0].isdecimal() for _, fields in body)
        header = header_of((INDEX_COLUMN, *grid.first[1:]) if numbered else grid.first, f"{grid.where}: line 1")
    rows: list[dict[str, Json]] = []
    for line, fields in body:
        if len(fields) != len(header):
            message = (
                f"{grid.where}: line {line} has {len(fields)} fields where the header has {len(header)}; "
                "quote a field that holds the delimiter, or add what is missing"
            )
            raise DataError(message)
        rows.append(dict(zip(header, fields, strict=True)))
    return Table(rows, [f"line {line}" for line, _ in body])


def _split(text: str, where: str, delimiter: str, quoting: Literal[0, 3]) -> Grid:
    # newline="\n" keeps a \r inside a field as it is; U+2028 and its kin never end a line here.
    source = io.StringIO(text, newline="\n")
    records: list[tuple[int, list[str]]] = []
    with _any_length():
        reader = csv.reader(source, delimiter=delimiter, quoting=quoting, strict=True)
        start = 1
        while True:
            try:
                fields = next(reader, None)
            except csv.Error as error:
                message = f"{where}: line {start} cannot be split into fields ({error}); mend its quotes or line ends"
                raise DataError(message) from error
            if fields is None:
                return Grid(records, where)
            if fields:
                records.append((start, fields))
            start = reader.line_num + 1


@contextmanager
def _any_length() -> Iterator[None]:
    """The csv module's limit is the process's; lift it for the time of one file."""
    before = csv.field_size_limit(_LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(before)
