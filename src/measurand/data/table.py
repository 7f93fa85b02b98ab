"""What every format becomes: rows of named values, each with its place in the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from measurand.core.errors import DataError
from measurand.core.record import Json


@dataclass(frozen=True, slots=True)
class Table:
    """Rows, and where each of them is: `line 3`, `row 3` or `element 3`."""

    rows: list[dict[str, Json]]
    places: list[str]


def header_of(names: Sequence[str], where: str) -> tuple[str, ...]:
    """The column names, each given and each given once. Raises DataError that names the column."""
    seen: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        if not name:
            message = f"{where}: column {number} has no name; give it one, or remove the column"
            raise DataError(message)
        if name in seen:
            message = f"{where}: column {number} has the name of column {seen[name]}, {name!r}; rename one of them"
            raise DataError(message)
        seen[name] = number
    return tuple(names)


def not_empty(table: Table, where: str) -> Table:
    """The table, unless it has no rows. Raises DataError: a score of nothing is not a score."""
    if not table.rows:
        message = f"{where} has no samples; give a file with at least one"
        raise DataError(message)
    return table
