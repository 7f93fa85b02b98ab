"""What makes rows unfit to be asked: names that clash, golds that are missing, golds that nobody can choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from measurand.core.errors import DataError
from measurand.core.record import Json, Record

_LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_INDEX_DIGITS = 3


class Flag(Record, frozen=True):
    """A row that can be read and should not be asked as it is: its index from 0, and why."""

    row: int
    why: str


def check_rows(
    rows: Sequence[Mapping[str, Json]],
    places: Sequence[str] = (),
    *,
    id: str = "id",  # noqa: A002  the column's own name
    gold: str = "",
    options: str = "",
) -> tuple[Flag, ...]:
    """Check rows before they become items. The names are those of columns; empty ones are not checked.

    Args:
        rows: What was read.
        places: Where each row is (Table.places), for the messages; counted from 1 where not given.
        id: The column that must not repeat; it may be absent from all rows.
        gold: The column that every row must fill.
        options: The column of a list of options, of which the gold must be one: by value, letter or index.

    Returns:
        The rows that nobody can win: gold not among the options, or two options alike.

    Raises:
        DataError: a repeated id, or a missing gold, with its place.
    """
    places = places or [f"row {number}" for number in range(1, len(rows) + 1)]
    if id:
        _unique(rows, places, id)
    if gold:
        _filled(rows, places, gold)
    return (
        tuple(flag for index, row in enumerate(rows) if (flag := _flag(index, row, gold, options))) if options else ()
    )


def _unique(rows: Sequence[Mapping[str, Json]], places: Sequence[str], name: str) -> None:
    seen: dict[str, str] = {}
    for row, place in zip(rows, places, strict=True):
        if row.get(name) is None:
            continue
        value = str(row[name])
        if value in seen:
            message = (
                f"duplicate id {value} ({seen[value]} and {place}); results would overwrite each other: rename one"
            )
            raise DataError(message)
        seen[value] = place


def _filled(rows: Sequence[Mapping[str, Json]], places: Sequence[str], name: str) -> None:
    for row, place in zip(rows, places, strict=True):
        value = row.get(name)
        if value is None or (isinstance(value, str) and not value.strip()) or value == []:
            message = f"{place} missing {name}: a row without a gold cannot be scored; fill it in or remove the row"
            raise DataError(message)


def _flag(index: int, row: Mapping[str, Json], gold: str, options: str) -> Flag | None:
    shown = row.get(options)
    if not isinstance(shown, list) or not shown:
        return Flag(index, f"there is no list of options in {options!r}")
    texts = [str(option).strip() for option in shown]
    if len(set(texts)) < len(texts):
        return Flag(index, "two of the options are alike")
    if gold and not _among(row.get(gold), texts):
        return Flag(index, f"the gold {str(row.get(gold))[:60]!r} is not among the options")
    return None


def _among(gold: Json, texts: Sequence[str]) -> bool:
    """Whether a gold names one of the options, in any of the ways in which data sets do."""
    if isinstance(gold, list):
        return all(_among(one, texts) for one in gold)
    written = str(gold).strip()
    if written in texts:
        return True
    if isinstance(gold, bool):
        return False
    if len(written) == 1 and written in _LABELS:
        return _LABELS.index(written) < len(texts)
    return len(written) <= _INDEX_DIGITS and written.isascii() and written.isdigit() and int(written) < len(texts)
