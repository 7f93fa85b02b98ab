"""The `Data` port: sources, and the local copies that may stand in for them."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from measurand.core.errors import DataError
from measurand.core.identity import canonical_json
from measurand.core.ports import Data, Rows
from measurand.core.record import Json
from measurand.core.source import File, Hub, Inline, Package, Source
from measurand.data.formats import format_of, parse, parse_many
from measurand.data.hub import hub_files, matching
from measurand.data.table import Table

InlineRows = Sequence[Mapping[str, Json]]


def open_data(
    overrides: Mapping[str, str], *, offline: bool = False, inline: Mapping[str, InlineRows] | None = None
) -> Data:
    """Open what rows come from.

    Args:
        overrides: Local copies that stand in: a benchmark, or benchmark:source, to a file or a folder. In a folder
            are looked for, in this order: the declared hub files, a folder named like the source, one file named
            like the source, and else all data files, in the order of their names. A JSON file of it that is one
            object is one row.
        offline: Touch no network.
        inline: Rows given in a program, by the name of their `Inline` source.
    """
    return _Opened(dict(overrides), offline=offline, inline=dict(inline or {}))


def inline(name: str, rows: InlineRows) -> Inline:
    """The source that stands for rows given in a program. Raises InvalidRecordError for rows that are not JSON."""
    return Inline(name, hashlib.sha256(canonical_json(list(rows))).hexdigest())


@dataclass(slots=True)
class _Opened:
    overrides: dict[str, str]
    offline: bool
    inline: dict[str, InlineRows]
    _stands_for: dict[str, str] = field(default_factory=dict)

    def rows(self, name: str, source: Source) -> Rows:
        """Read a source; `name` is benchmark:source. Raises DataError with file and line."""
        local = self._stand_in(name)
        if local is not None:
            files, many = _in_place_of(Path(local).expanduser(), name.rpartition(":")[2], source)
            nonfinite = isinstance(source, Hub) and source.nonfinite
            return _read(files, many=many, stands_in=local, nonfinite=nonfinite)
        if isinstance(source, Inline):
            return self._inline(source)
        if isinstance(source, Hub):
            many = len(source.files) > 1 or any(set("*?[") & set(pattern) for pattern in source.files)
            prefix = f"{source.repo}@{source.revision[:8]}"
            found = hub_files(source, offline=self.offline)
            return _read([(f"{prefix}: {file}", path) for file, path in found], many=many)
        if isinstance(source, Package):
            path = _in_package(source)
            return _read([(f"{source.package}/{source.resource}", path)], many=False)
        return self._file(source)

    def _file(self, source: File) -> Rows:
        path = Path(source.path).expanduser()
        if path.is_dir():
            return _read(_data_files(path), many=True)
        data = _bytes_of(path)
        return _rows(parse(data, str(path), source.format), [data])

    def _inline(self, source: Inline) -> Rows:
        rows = self.inline.get(source.name)
        if rows is None or inline(source.name, rows).digest != source.digest:
            message = f"the rows of {source.name} are not those that its source was made of; make it from them again"
            raise DataError(message)
        if not rows:
            message = f"{source.name} has no samples; give at least one"
            raise DataError(message)
        return Rows([dict(row) for row in rows], source.digest)

    def _stand_in(self, name: str) -> str | None:
        """The local copy for a source: the most exact key wins, and a variant falls back on its benchmark."""
        bench, _, part = name.rpartition(":")
        base = bench.partition(":")[0]
        for key in (name, f"{base}:{part}", bench, base):
            if key in self.overrides:
                local = self.overrides[key]
                if ":" not in key or key == bench:
                    self._refuse_twice(key, part, local)
                return local
        return None

    def _refuse_twice(self, key: str, part: str, local: str) -> None:
        """One file cannot be both the questions and the exemplars; a folder can hold both."""
        if Path(local).expanduser().is_dir():
            return
        first = self._stands_for.setdefault(key, part)
        if first != part:
            message = (
                f"{local} cannot stand in for both {first!r} and {part!r} of {key}; "
                f"give {key}:{first} and {key}:{part}, or a folder that holds both"
            )
            raise DataError(message)


def _in_place_of(path: Path, part: str, source: Source) -> tuple[list[tuple[str, Path]], bool]:
    """The files of a local copy, and whether they are several of one table."""
    if not path.is_dir():
        return [(str(path), path)], False
    if isinstance(source, Hub):
        names = matching(
            [file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file()], source.files
        )
        if names:
            return [(str(path / name), path / name) for name in names], len(names) > 1
    if (path / part).is_dir():
        return _data_files(path / part), True
    named = [file for file in path.iterdir() if file.is_file() and file.name.split(".")[0] == part]
    named = [file for file in named if format_of(file.name)]
    if len(named) == 1:
        return [(str(named[0]), named[0])], False
    return _data_files(path), True


def _data_files(folder: Path) -> list[tuple[str, Path]]:
    found = sorted(file for file in folder.iterdir() if format_of(file.name) and not file.name.startswith("."))
    if not found:
        folders = ", ".join(sorted(entry.name for entry in folder.iterdir() if entry.is_dir())) or "no folders"
        message = f"{folder} holds no data files (it has {folders}); name the folder or the file that does"
        raise DataError(message)
    return [(str(file), file) for file in found]


def _in_package(source: Package) -> Path:
    """The file inside a package, or beside it where a wheel put it there. The package is not imported."""
    try:
        spec = importlib.util.find_spec(source.package)
    except (ImportError, ValueError):
        spec = None
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for root in (Path(folder), Path(folder).parent):
            if (root / source.resource).is_file():
                return root / source.resource
    found = "is not in this version of" if spec else "comes with"
    message = f'{source.resource} {found} the package {source.package}: pip install --upgrade "{source.install}"'
    raise DataError(message)


def _read(files: Sequence[tuple[str, Path]], *, many: bool, stands_in: str = "", nonfinite: bool = False) -> Rows:
    contents = [_bytes_of(path, name) for name, path in files]
    named = [(name, data) for (name, _), data in zip(files, contents, strict=True)]
    table = parse_many(named, nonfinite=nonfinite) if many else parse(contents[0], files[0][0], nonfinite=nonfinite)
    return _rows(table, contents, stands_in)


def _rows(table: Table, contents: Sequence[bytes], stands_in: str = "") -> Rows:
    hashed = hashlib.sha256()
    for data in contents:
        hashed.update(data)
    return Rows(table.rows, hashed.hexdigest(), stands_in)


def _bytes_of(path: Path, name: str = "") -> bytes:
    """The bytes of a regular file; a pipe or a device could be waited on for ever. Raises DataError."""
    name = name or str(path)
    if not path.exists():
        message = f"there is no file {name}; mend its path"
        raise DataError(message)
    if not path.is_file():
        message = f"{name} is not a regular file; give a file that holds the rows"
        raise DataError(message)
    try:
        return path.read_bytes()
    except OSError as error:
        message = f"{name} cannot be read ({error.strerror}); mend its permissions"
        raise DataError(message) from error
