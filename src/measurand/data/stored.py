"""Reading files of outputs that others stored, as they are: JSON Lines, JSON and CSV, gzipped or alone in a zip."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from pathlib import Path

from measurand.core.errors import DataError
from measurand.core.record import Json


def rows_of(path: Path) -> list[dict[str, Json]]:
    """The rows of a table, a list of objects. Raises DataError with the file and what is wrong with it."""
    name, text = _text(path)
    if name.endswith((".csv", ".tsv")):
        return list(csv.DictReader(io.StringIO(text), delimiter="\t" if name.endswith(".tsv") else ","))
    if name.endswith(".jsonl"):
        return [_loads(line, path) for line in text.split("\n") if line.strip()]
    value = _loads(text, path)
    if not isinstance(value, list):
        message = f"{path} holds no list of rows; give the file as it was published"
        raise DataError(message)
    return value


def document_of(path: Path) -> Json:
    """The one JSON value that a file holds. Raises DataError as `rows_of` does."""
    return _loads(_text(path)[1], path)


def _loads(text: str, path: Path) -> Json:
    try:
        return json.loads(text)
    except ValueError as error:
        message = f"{path} is not valid JSON ({error}); give the file as it was published"
        raise DataError(message) from error


def _text(path: Path) -> tuple[str, str]:
    """The name without the packing, and the text."""
    try:
        data, name = path.read_bytes(), path.name
        if name.endswith(".gz"):
            data, name = gzip.decompress(data), name.removesuffix(".gz")
        elif name.endswith(".zip"):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                (member,) = (one for one in archive.namelist() if not one.startswith("__MACOSX") and one[-1] != "/")
                data, name = archive.read(member), member
        return name, data.decode("utf-8-sig")
    except (OSError, EOFError, ValueError, zipfile.BadZipFile) as error:
        message = f"{path} cannot be read ({error}); give the file as it was published"
        raise DataError(message) from error
