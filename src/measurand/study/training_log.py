"""The training loss, from the log that the trainer writes: JSONL or CSV, with two columns that are named."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from measurand.core.curves import Loss
from measurand.core.errors import DataError, InputError

Line = tuple[int, Mapping[str, object]]


def read_losses(path: Path, step: str = "step", loss: str = "loss") -> tuple[Loss, ...]:
    """The logged losses in the order of their steps; of one step, the last one counts.

    Lines without both columns are passed over (trainers log other things too), and so is a last line that is not
    written to its end. A loss that is NaN or infinite is kept, as no number. Raises InputError for a file that cannot
    be read, DataError, with the line, for one that is no log.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path of the training log") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: no text in UTF-8; give the training log as JSONL or CSV") from error
    whole = text[: text.rfind("\n") + 1]
    lines = list(_csv(whole) if path.suffix.lower() in {".csv", ".tsv"} else _jsonl(path, whole))
    seen = dict.fromkeys(name for _, row in lines for name in row)
    if lines and not any(step in row and loss in row for _, row in lines):
        raise DataError(f"{path}: no line has both '{step}' and '{loss}'; its columns are {', '.join(seen)}")
    found: dict[int, Loss] = {}
    for number, row in lines:
        if row.get(step) not in (None, "") and row.get(loss) not in (None, ""):
            at = _number(path, number, step, row[step])
            if not math.isfinite(at):
                raise DataError(f"{path}, line {number}: {step} is {at}, which is no step")
            value = _number(path, number, loss, row[loss])
            found[int(at)] = Loss(int(at), value if math.isfinite(value) else None)
    return tuple(found[at] for at in sorted(found))


def _jsonl(path: Path, text: str) -> Iterator[Line]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise DataError(
                f"{path}, line {number}: no JSON ({error}); a training log has one object a line"
            ) from error
        if not isinstance(row, dict):
            raise DataError(f"{path}, line {number}: no object; a training log has one object a line")
        yield number, row


def _csv(text: str) -> Iterator[Line]:
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    yield from enumerate(csv.DictReader(io.StringIO(text), delimiter=delimiter), 2)


def _number(path: Path, line: int, column: str, value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]  # whatever it is, a number comes out or it is refused
    except (TypeError, ValueError):
        raise DataError(f"{path}, line {line}: {column} is {str(value)[:40]!r}, which is no number") from None
