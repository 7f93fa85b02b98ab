"""The formats by name, and the reading of one file or of several as one table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import get_args

from measurand.core.errors import DataError
from measurand.core.source import FileFormat
from measurand.data.binary_rows import read_arrow, read_parquet, read_xlsx
from measurand.data.csv_rows import FILE_COLUMN, read_grid, read_grids
from measurand.data.json_rows import WHOLE, read_json, read_jsonl
from measurand.data.pickle_rows import read_pickle
from measurand.data.table import Table, not_empty
from measurand.data.texts import decode, decompress, read_txt

GZIP = ".gz"
FOLDER = "__folder__"
_DELIMITERS = {"csv": ",", "tsv": "\t"}
_ENDINGS: dict[str, FileFormat] = {f".{name}": name for name in get_args(FileFormat)} | {".ndjson": "jsonl"}


def format_of(name: str) -> FileFormat | None:
    """The format that a file's name tells, with or without .gz; None where it tells none."""
    return _ENDINGS.get(PurePath(_unzipped(name)).suffix.lower())


def stem_of(name: str) -> str:
    """The file's name without its folder and its endings."""
    return PurePath(_unzipped(name)).stem


def _folder_of(name: str) -> str:
    """The name of the folder a file lies in; of a file of the hub, which is named `repository@commit: path`, too."""
    return PurePath(name.rpartition(": ")[2]).parent.name


def parse(
    data: bytes,
    name: str,
    format: FileFormat | None = None,  # noqa: A002  the records' word for it
    *,
    nonfinite: bool = False,
) -> Table:
    """Read the bytes of one file. Raises DataError with the name, the place and the mend.

    With `nonfinite`, JSON may hold NaN and infinities, which are read as texts.
    """
    return not_empty(_one(data, name, format or _known(name), nonfinite=nonfinite), name)


def parse_many(files: Sequence[tuple[str, bytes]], *, nonfinite: bool = False) -> Table:
    """Read several files as one table, in order.

    A JSON document that is one object is one row, as of data sets that keep each item in a file of its own.
    Rows of CSV, TSV, of several JSON documents and of such objects carry their file's stem in `__file__`. Where the
    files lie in several folders, all rows carry the name of theirs in `__folder__`, which is often a language.
    Raises DataError where the formats differ.
    """
    formats = {_known(name) for name, _ in files}
    if len(formats) > 1:
        message = f"{files[0][0]} and {files[-1][0]} are of different formats; keep one format in a folder"
        raise DataError(message)
    kind = formats.pop()
    if kind in _DELIMITERS:
        grids = [read_grid(_text(data, name), name, _DELIMITERS[kind]) for name, data in files]
        table = read_grids(grids, [stem_of(name) for name, _ in files])
    else:
        table = Table([], [])
        several = len({_folder_of(name) for name, _ in files}) > 1
        for name, data in files:
            part = _one(data, name, kind, nonfinite=nonfinite, whole=True)
            more = {FOLDER: _folder_of(name)} if several else {}
            named = kind == "json" and (len(files) > 1 or part.places == [WHOLE])
            more |= {FILE_COLUMN: stem_of(name)} if named else {}
            table.rows.extend({**row, **more} for row in part.rows)
            table.places.extend(f"{stem_of(name)}, {place}" for place in part.places)
    return not_empty(table, f"{files[0][0]} and what stands beside it")


def _one(data: bytes, name: str, kind: FileFormat, *, nonfinite: bool, whole: bool = False) -> Table:
    """One file; with `whole`, a JSON object may be a row."""
    if kind in _DELIMITERS:
        return read_grids([read_grid(_text(data, name), name, _DELIMITERS[kind])], [])
    if kind == "json":
        return read_json(_text(data, name), name, nonfinite=nonfinite, whole=whole)
    if kind in _TEXTS:
        return _TEXTS[kind](_text(data, name), name, nonfinite=nonfinite)
    return _BINARIES[kind](_bytes(data, name), name)


_TEXTS: dict[FileFormat, Callable[..., Table]] = {"jsonl": read_jsonl, "txt": read_txt}
_BINARIES: dict[FileFormat, Callable[[bytes, str], Table]] = {
    "parquet": read_parquet,
    "xlsx": read_xlsx,
    "arrow": read_arrow,
    "pickle": read_pickle,
}


def _text(data: bytes, name: str) -> str:
    return decode(_bytes(data, name), name)


def _bytes(data: bytes, name: str) -> bytes:
    return decompress(data, name) if name.lower().endswith(GZIP) else data


def _known(name: str) -> FileFormat:
    found = format_of(name)
    if found is None:
        message = f"{name} has no known ending; name it with one of {', '.join(_ENDINGS)} (.gz may follow)"
        raise DataError(message)
    return found


def _unzipped(name: str) -> str:
    return name[: -len(GZIP)] if name.lower().endswith(GZIP) else name
