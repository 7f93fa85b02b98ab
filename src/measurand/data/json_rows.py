"""JSON and JSON Lines, strictly: no repeated keys, no NaN, no infinities, no half characters."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cache
from typing import NoReturn

from measurand.core.errors import DataError
from measurand.core.record import Json
from measurand.data.table import Table
from measurand.data.texts import lines


def read_jsonl(text: str, where: str, *, nonfinite: bool = False) -> Table:
    """One object a line; blank lines are skipped. Raises DataError with the line.

    With `nonfinite`, NaN and infinities are read as the texts that spell them.
    """
    rows: list[dict[str, Json]] = []
    places: list[str] = []
    for number, line in enumerate(lines(text), 1):
        if not line.strip(" \t\r"):
            continue
        place = f"line {number}"
        rows.append(_object(_loads(line, f"{where}: {place}", str if nonfinite else _constant), f"{where}: {place}"))
        places.append(place)
    return Table(rows, places)


KEY = "__key__"
WHOLE = "the whole"
"""The place of a row that is all of its file."""


def read_json(text: str, where: str, *, nonfinite: bool = False, whole: bool = False) -> Table:
    """A list of objects, alone or as the one such list in an object, such as `{"version": 1, "data": [...]}`.

    Or an object of objects, whose names the rows then carry in `__key__`. With `whole`, any other object is one row:
    many data sets keep each item in a file of its own.
    Raises DataError with the line, or with the number of the element.
    """
    if not text.strip() and not whole:
        return Table([], [])
    value = _loads(text, where, str if nonfinite else _constant)
    if isinstance(value, dict) and value and all(isinstance(row, dict) for row in value.values()):
        return Table([{KEY: name, **row} for name, row in value.items()], [f"key {name}" for name in value])
    if whole and isinstance(value, dict):
        return Table([value], [WHOLE])
    if isinstance(value, dict) and len(lists := [one for one in value.values() if _holds_rows(one)]) == 1:
        value = lists[0]
    if not isinstance(value, list):
        message = f"{where}: expected a list of objects, found {_kind(value)}; put the rows in one list"
        raise DataError(message)
    places = [f"element {number}" for number in range(1, len(value) + 1)]
    rows = [_object(row, f"{where}: {place}") for row, place in zip(value, places, strict=True)]
    return Table(rows, places)


def _holds_rows(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


class _FaultError(ValueError):
    """A value that JSON's grammar allows and we do not."""


def _loads(text: str, where: str, constant: Callable[[str], Json]) -> Json:
    try:
        value = _decoder(constant).decode(text)
    except _FaultError as error:
        message = f"{where} {error}"
        raise DataError(message) from error
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if "\n" in text else ""
        message = f"{where} is not valid JSON ({error.msg} at {line}character {error.colno}); mend it there"
        raise DataError(message) from error
    except RecursionError as error:
        message = f"{where} is nested too deeply to be read; flatten it"
        raise DataError(message) from error
    except ValueError as error:  # an integer of more digits than Python converts
        message = f"{where} holds a number too long to be read; write it as text"
        raise DataError(message) from error
    if "\\ud" in text or "\\uD" in text:
        _refuse_half_characters(text, value, where)
    return value


@cache
def _decoder(constant: Callable[[str], Json]) -> json.JSONDecoder:
    """Made once: to make one takes as long as to read a line."""
    return json.JSONDecoder(object_pairs_hook=_unique, parse_constant=constant, parse_float=_finite)


def _refuse_half_characters(text: str, value: Json, where: str) -> None:
    """Only an escape can spell a lone surrogate, so this is called where there is one."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        line = f" (near line {text.count(chr(10), 0, text.lower().find(chr(92) + 'ud')) + 1})" if "\n" in text else ""
        message = f"{where} holds half of a surrogate pair{line}, which is no character; mend the \\ud… escape"
        raise DataError(message) from error


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                message = f"has the duplicate key {key!r} in one object; keep one of them"
                raise _FaultError(message)
            seen.add(key)
    return made


def _constant(name: str) -> NoReturn:
    message = f"holds {name}, which is not JSON; write null, or leave the field out"
    raise _FaultError(message)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        message = f"holds {digits[:20]}, a number beyond the range of a float; write it as text"
        raise _FaultError(message)
    return number


def _object(value: Json, where: str) -> dict[str, Json]:
    if isinstance(value, dict):
        return value
    message = f'{where} is {_kind(value)}, not an object; write each row as {{"name": value, …}}'
    raise DataError(message)


def _kind(value: Json) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
