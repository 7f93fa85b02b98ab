"""Grids of ARC: reading them from replies, and scoring two attempts at each test input."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence

from measurand.core.benchmark import Reader, Scorer
from measurand.core.item import Item
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.trial import Absent, Finding, Found, Measured, Missing
from measurand.scoring.reasoning import final_text

Grid = list[list[int]]

COLOURS = 10
LARGEST = 30
"""Cells along one side."""

_OPENS = re.compile(r"\[\s*\[")
_ROW = re.compile(r"[ \t|\[(]*(?:\d(?:[ \t]*[ ,|][ \t]*\d){0,29}|\d{1,30})[ \t|,\])]*", re.ASCII)
_MOST = 64
"""How many places are tried, from the last; a reply with more holds no answer that anybody meant."""
_REACH = 8_000
"""Characters that a grid may take: 900 cells, each in quotes, with a comma and an indented line of its own."""


_LINE = 200
_DIGITS = "0123456789"


def grid_of(value: Json) -> Grid | None:
    """The value as a grid: 1 to 30 rows of one length from 1 to 30, colours 0 to 9. Digits in quotes are digits.

    None where it is no grid. Nothing is padded or cut.
    """
    if not isinstance(value, list) or not 0 < len(value) <= LARGEST:
        return None
    rows = [[_colour(cell) for cell in row] if isinstance(row, list) else [] for row in value]
    if len({len(row) for row in rows}) > 1 or not 0 < len(rows[0]) <= LARGEST:
        return None
    known = [[cell for cell in row if cell is not None] for row in rows]
    return known if known == rows else None


def _colour(cell: Json) -> int | None:
    if isinstance(cell, str) and len(cell) == 1 and cell in _DIGITS:
        return int(cell)
    whole = isinstance(cell, int) and not isinstance(cell, bool)
    return cell if whole and 0 <= cell < COLOURS else None


def read_grid(text: str) -> Grid | None:
    """The last grid of a text: the last JSON array of arrays, or, where there is none, the last block of digit rows.

    The official harness reads JSON alone; the block of rows is a fallback, for replies that print grids as the eye
    sees them. Where the last array is no grid there is no answer: nothing before it is taken instead.
    """
    places = [match.start() for match in _OPENS.finditer(text)]
    for place in reversed(places[-_MOST:]):
        found = _array_at(text, place)
        if found is not None:
            return grid_of(found)
    return _last_block(text)


def _array_at(text: str, place: int) -> Json | None:
    """The JSON value that begins there; None where there is none, or where it is nested in another array."""
    if text[:place].rstrip()[-1:] in {"[", ","}:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(text[place : place + _REACH])
    except (ValueError, RecursionError):
        return None
    return value


def _last_block(text: str) -> Grid | None:
    blocks: list[list[str]] = [[]]
    for line in text.split("\n"):
        if len(line) < _LINE and _ROW.fullmatch(line):
            blocks[-1].append(line.strip())
        elif blocks[-1]:
            blocks.append([])
    last = next((block for block in reversed(blocks) if block), [])
    if len(last) == 1 and last[0].startswith("[") and not last[0].startswith("[["):
        return None  # a list of numbers is no grid of one row
    return grid_of([[int(char) for char in line if char in _DIGITS] for line in last])


def attempts_text(replies: Sequence[Sequence[str]]) -> str:
    """The replies of every attempt at every test input, [input][attempt], as the text of one answer."""
    return json.dumps(replies, ensure_ascii=False)


def _read_attempts(_: Item, answer: Answer) -> Finding:
    """The grid of each attempt; null where there is none."""
    try:
        replies = json.loads(answer.text)
    except (ValueError, RecursionError):
        return Absent("no attempts")
    if not isinstance(replies, list) or not all(isinstance(each, list) for each in replies):
        return Absent("no attempts")
    grids = [[_of_reply(str(reply)) for reply in each] for each in replies]
    return Found(grids) if any(grid for each in grids for grid in each) else Absent("no grid")


def _of_reply(reply: str) -> Grid | None:
    final = final_text(reply)
    return read_grid(final.text) if final.complete else None


ATTEMPTED_GRIDS = Reader("attempted_grids", 1, _read_attempts)
"""The grids of an answer that holds several replies; reasoning is taken out of each."""


def solved(attempts: Json, golds: Sequence[Json]) -> list[bool]:
    """Whether each test input has an attempt that equals its gold: every cell, and the size."""
    given = attempts if isinstance(attempts, list) else []
    tried = [each if isinstance(each, list) else [] for each in given]
    return [gold in attempted for gold, attempted in _paired(golds, tried)]


def _paired(golds: Sequence[Json], tried: Sequence[list[Json]]) -> Iterator[tuple[Json, list[Json]]]:
    for place, gold in enumerate(golds):
        yield gold, tried[place] if place < len(tried) else []


def _scorer(name: str, row: Callable[[list[bool]], tuple[float, ...]]) -> Scorer:
    def score(item: Item, finding: Finding) -> Measured | Missing:
        golds = item.gold
        if not isinstance(golds, list | tuple) or not golds or any(grid_of(gold) is None for gold in golds):
            return Missing("scorer_failed", f"the gold of item {item.id} is not a list of grids")
        return Measured(row(solved(finding.value if isinstance(finding, Found) else [], golds)))

    return Scorer(name, 1, score)


WHOLE_TASK = _scorer("arc_whole_task", lambda each: (float(all(each)),))
"""1 where all test inputs of the task are solved, else 0; row: (solved,)."""

TASK_MEAN = _scorer("arc_task_mean", lambda each: (sum(each) / len(each),))
"""The share of the task's test inputs that are solved; row: (share,)."""

OUTPUTS = _scorer("arc_outputs", lambda each: (float(sum(each)), float(len(each))))
"""How many test inputs are solved, of how many; row: (solved, of)."""
