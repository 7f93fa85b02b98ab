"""Published results, read with doubt: what a CSV of leaderboard numbers can and cannot say."""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import combinations, pairwise
from pathlib import Path
from typing import get_args

import msgspec

from measurand.core.decision import Threat
from measurand.core.errors import DataError, InputError
from measurand.core.estimate import Estimate
from measurand.core.record import Record
from measurand.core.subject import Passes
from measurand.stats.compare import better, compare_unpaired
from measurand.stats.intervals import wilson
from measurand.study.words import amount, chances, counted, gap, listed

STALE_DAYS = 365
JUMP = 0.10
"""A rise of ten points over a model's own earlier number on a board is sudden…"""
SUPPORT = 0.02
"""…and without support where it rose by less than two points on every other board."""
NEEDED = ("board", "model", "score")
KNOWN = (*NEEDED, "n", "date", "code", "protocol", "source", "family", "passes")
LEVEL = 0.95


class Published(Record, frozen=True):
    """One published number: the score as a share of one, the items it rests on, and where it comes from.

    `date` is ISO. `code` links to what made it, `protocol` says how it was asked and scored. `family` names the model's
    line, so that a new version can be held against the one before. `passes` says what an answer rests on: numbers of a
    majority or a search are never ranked with those of a single pass.
    """

    board: str
    model: str
    score: float
    n: int | None = None
    date: str = ""
    code: str = ""
    protocol: str = ""
    source: str = ""
    family: str = ""
    passes: Passes = "single pass"


def read_published(path: Path) -> tuple[Published, ...]:
    """Read a CSV with the columns board, model and score, and any of the other columns of a Published.

    Scores above 1 are taken as percentages, board by board. Raises DataError with the line that cannot be used.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read ({error}); give a CSV in UTF-8") from error
    reader = csv.DictReader(io.StringIO(text))
    columns = [name.strip().lower() for name in reader.fieldnames or ()]
    lacking = [name for name in NEEDED if name not in columns]
    if lacking:
        raise InputError(f"{path} has no column '{lacking[0]}'; a board is read from {', '.join(KNOWN)}")
    rows = [_row(path, number, row) for number, row in enumerate(reader, 2)]
    percent = {row.board for row in rows if row.score > 1}
    return tuple(msgspec.structs.replace(row, score=row.score / 100) if row.board in percent else row for row in rows)


def as_estimate(row: Published) -> Estimate:
    """A published number with the interval that its count of items allows; none where no count is given."""
    low, high = wilson(row.score, row.n, LEVEL) if row.n else (None, None)
    method = "Wilson, taken as independent items" if row.n else "none: the count of items is not published"
    return Estimate(row.board, row.score, low, high, LEVEL, method, row.n or 0, row.n or 0)


def check(rows: Iterable[Published], today: str) -> tuple[Threat, ...]:
    """Every doubt about a set of published numbers, with its evidence and what would remove it."""
    found = list(rows)
    doubts = (disagreement, noise, jumps, missing, survivors, mixed_passes, no_code, no_protocol, no_count)
    return (*(threat for doubt in doubts for threat in doubt(found)), *stale(found, today))


def disagreement(rows: Sequence[Published]) -> Iterator[Threat]:
    """Two boards that rank the same models otherwise."""
    boards = _by_rank(rows)
    for a, b in combinations(boards, 2):
        shared = [model for model in boards[a] if model in boards[b]]
        turned = [
            (x, y)
            for x, y in combinations(shared, 2)
            if (boards[a][x].score - boards[a][y].score) * (boards[b][x].score - boards[b][y].score) < 0
        ]
        pairs = len(shared) * (len(shared) - 1) // 2
        if turned:
            x, y = max(turned, key=lambda pair: abs(boards[a][pair[0]].score - boards[a][pair[1]].score))
            first, second = (x, y) if boards[a][x].score > boards[a][y].score else (y, x)
            yield Threat(
                "boards_disagree",
                f"{a} and {b} order {len(turned)} of {counted(pairs, 'pair')} the other way round, {first} above "
                f"{second} on {a} for one",
                "ask which board is like your use; do not average their ranks",
                f"{a}, {b}",
            )


def noise(rows: Sequence[Published]) -> Iterator[Threat]:
    """Neighbours on a board whose difference its items cannot show."""
    for board, models in _by_rank(rows).items():
        order = sorted((row for row in models.values() if row.n), key=lambda row: -row.score)
        tied = []
        for one, other in pairwise(order):
            made = compare_unpaired(as_estimate(one), as_estimate(other), names=(one.model, other.model))
            if not better(made):
                tied.append((one, other, made))
        if tied:
            one, other, made = tied[0]
            p = "" if made.p is None else f" ({chances(made.p)})"
            yield Threat(
                "ranks_within_noise",
                f"{len(tied)} of {counted(len(order) - 1, 'neighbouring pair')} on {board} cannot be told apart by "
                f"their items, as {one.model} and {other.model}, {gap(one.score - other.score)} apart{p}",
                "read tie groups, not ranks; ask for the scores by item and compare in pairs",
                board,
            )


def jumps(rows: Sequence[Published]) -> Iterator[Threat]:
    """A model that leaps over its own predecessor on one board and on no other."""
    boards = _by_rank(rows)
    for board, models in boards.items():
        for new, old in _successions(models):
            rise = new.score - old.score
            elsewhere = [
                other[new.model].score - other[old.model].score
                for name, other in boards.items()
                if name != board and new.model in other and old.model in other
            ]
            if rise >= JUMP and elsewhere and max(elsewhere) < SUPPORT:
                yield Threat(
                    "jump_without_support",
                    f"{new.model} is {gap(rise)} above {old.model} on {board}, and at most {gap(max(elsewhere))} "
                    f"{'above' if max(elsewhere) >= 0 else 'below'} on {counted(len(elsewhere), 'other board')}",
                    "look for training on the board's items or its kind; measure on items that were never published",
                    board,
                )


def missing(rows: Sequence[Published]) -> Iterator[Threat]:
    """Models that a board says nothing of."""
    boards = _by_board(rows)
    models = dict.fromkeys(row.model for row in rows)
    for board, have in boards.items():
        absent = [model for model in models if model not in have]
        if absent and len(boards) > 1:
            yield Threat(
                "missing_results",
                f"{board} has no number for {listed(absent)}",
                "do not rank over boards with gaps; ask, or run them",
                board,
            )


def survivors(rows: Sequence[Published]) -> Iterator[Threat]:
    """Models whose published boards are the ones where they do well."""
    boards = _by_board(rows)
    ranks: dict[str, list[float]] = defaultdict(list)
    for models in boards.values():
        order = sorted(models.values(), key=lambda row: -row.score)
        for place, row in enumerate(order):
            ranks[row.model].append(place / max(1, len(order) - 1))
    for model, own in ranks.items():
        few = len(own) * 2 <= len(boards)
        if few and len(boards) > 2 and max(own) == 0.0:  # noqa: PLR2004 - of two boards, one is no choice
            yield Threat(
                "survivorship",
                f"{model} is on {len(own)} of {counted(len(boards), 'board')}, and first on each of them",
                "ask for the boards that are not shown before you believe those that are",
                model,
            )


def stale(rows: Sequence[Published], today: str) -> Iterator[Threat]:
    """Numbers that are older than a year, or of no known day."""
    for board, models in _by_board(rows).items():
        undated = [row.model for row in models.values() if not row.date]
        old = [row for row in models.values() if row.date and _days(row.date, today) > STALE_DAYS]
        if old:
            oldest = min(old, key=lambda row: row.date)
            yield Threat(
                "stale",
                f"{len(old)} of {counted(len(models), 'number')} on {board} are older than a year, the oldest of "
                f"{oldest.date}",
                "what is served under the name may have changed; measure again",
                board,
            )
        if undated:
            yield Threat("undated", f"{board} gives no date for {listed(undated)}", "ask when it was measured", board)


def mixed_passes(rows: Sequence[Published]) -> Iterator[Threat]:
    """A search that stands on one board with single passes."""
    kinds: dict[str, dict[str, str]] = defaultdict(dict)
    for row in rows:
        kinds[row.board].setdefault(row.passes, row.model)
    for board, found in kinds.items():
        if len(found) > 1:
            shown = listed([f"{model} by {kind}" for kind, model in found.items()])
            yield Threat(
                "passes_differ",
                f"{board} lists numbers of {len(found)} kinds side by side: {shown}",
                "rank each kind by itself, beside what an answer costs",
                board,
            )


def no_code(rows: Sequence[Published]) -> Iterator[Threat]:
    """Numbers that nobody can make again."""
    for board, models in _by_board(rows).items():
        without = [row.model for row in models.values() if not row.code]
        if without:
            yield Threat(
                "no_code",
                f"no code is named for {listed(without)} on {board}",
                "ask for it, or take the number as a claim",
                board,
            )


def no_protocol(rows: Sequence[Published]) -> Iterator[Threat]:
    """Numbers of which nobody knows how they were asked and scored."""
    for board, models in _by_board(rows).items():
        without = [row.model for row in models.values() if not row.protocol]
        if without:
            yield Threat(
                "imported_without_protocol",
                f"{counted(len(without), 'number')} on {board} came without a protocol",
                "ask how they were prompted, sampled and scored; several points hang on it",
                board,
            )
        ways = dict.fromkeys(row.protocol for row in models.values() if row.protocol)
        if len(ways) > 1:
            yield Threat(
                "protocols_differ",
                f"numbers on {board} were made under {len(ways)} protocols: {listed(list(ways))}",
                "rank only within one protocol",
                board,
            )


def no_count(rows: Sequence[Published]) -> Iterator[Threat]:
    """Numbers without the count of items, so that no error can be known."""
    for board, models in _by_board(rows).items():
        without = [row for row in models.values() if not row.n]
        if without:
            best = max(without, key=lambda row: row.score)
            yield Threat(
                "no_error_known",
                f"{board} gives no count of items, so {amount(best.score)} of {best.model} has no interval",
                "find the size of the test set and add it as n",
                board,
            )


def _successions(models: Mapping[str, Published]) -> Iterator[tuple[Published, Published]]:
    """Each model with the one before it in its family, by date."""
    families: dict[str, list[Published]] = defaultdict(list)
    for row in models.values():
        families[row.family or _family(row.model)].append(row)
    for members in families.values():
        ordered = sorted(members, key=lambda row: (row.date, row.model))
        yield from zip(ordered[1:], ordered, strict=False)


def _family(model: str) -> str:
    """A model's name without its version and size."""
    return re.sub(r"[-_. ]*v?\d[\w.]*$", "", model).lower() or model.lower()


def _by_board(rows: Sequence[Published]) -> dict[str, dict[str, Published]]:
    boards: dict[str, dict[str, Published]] = {}
    for row in rows:
        boards.setdefault(row.board, {})[row.model] = row
    return boards


def _by_rank(rows: Sequence[Published]) -> dict[str, dict[str, Published]]:
    """The boards, with the numbers of each kind of passes as a board of their own."""
    boards: dict[str, dict[str, Published]] = {}
    for row in rows:
        name = row.board if row.passes == "single pass" else f"{row.board} ({row.passes})"
        boards.setdefault(name, {})[row.model] = row
    return boards


def _days(day: str, today: str) -> int:
    return (date.fromisoformat(today) - date.fromisoformat(day)).days


def _row(path: Path, number: int, row: Mapping[str, str | None]) -> Published:
    cells = {(name or "").strip().lower(): (value or "").strip() for name, value in row.items() if name}
    try:
        score = float(cells["score"].removesuffix("%"))
        n = int(cells["n"].replace(",", "")) if cells.get("n") else None
        if cells.get("date"):
            date.fromisoformat(cells["date"])
    except ValueError as error:
        raise DataError(
            f"{path}, line {number}: {error}; score is a number, n a count and date a day as 2026-01-31"
        ) from error
    if not cells["board"] or not cells["model"] or not 0 <= score <= 100:  # noqa: PLR2004 - a percentage
        raise DataError(f"{path}, line {number}: needs a board, a model and a score of 0 to 1 or 0 to 100")
    extra = {name: cells.get(name, "") for name in ("date", "code", "protocol", "source", "family")}
    passes = cells.get("passes") or "single pass"
    if passes not in get_args(Passes):
        kinds = ", ".join(get_args(Passes))
        raise DataError(f"{path}, line {number}: there is no kind of passes '{passes}'; there are {kinds}")
    return msgspec.convert(
        {"board": cells["board"], "model": cells["model"], "score": score, "n": n, "passes": passes, **extra}, Published
    )
