"""What an agent leaves behind: files taken out of a workspace, and archives unpacked. All of it is hostile."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

from measurand.core.errors import InputError
from measurand.sandboxes.jailed import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from measurand.sandboxes.workspace import Workspace

MOST_BYTES = 64 << 20
"""All files together, as they are taken out or as they come out of an archive."""

MOST_FILES = 10_000

_TAR_OVERHEAD = MOST_FILES * 1024
_PACKED: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}


@dataclass(slots=True)
class Collected:
    """Files by path, and what was left where it was, by path with the reason."""

    files: dict[str, bytes] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)


async def collect(workspace: Workspace, folder: str = "", most_bytes: int = MOST_BYTES) -> Collected:
    """The regular files below a folder of a workspace. Whatever else is there is skipped, and said so."""
    taken, room = Collected(), most_bytes
    for entry in await workspace.entries(folder):
        if entry.kind == "folder":
            continue
        if entry.kind != "file":
            taken.skipped[entry.path] = f"it is a {entry.kind}" if entry.kind == "link" else "it is no regular file"
            continue
        if entry.size > room or len(taken.files) >= MOST_FILES:
            taken.skipped[entry.path] = f"more than {most_bytes} bytes or {MOST_FILES} files are not taken"
            continue
        try:
            data = await workspace.read(entry.path, room)
        except InputError as error:
            taken.skipped[entry.path] = str(error)
            continue
        taken.files[entry.path] = data
        room -= len(data)
    return taken


def unpack(archive: bytes, most_bytes: int = MOST_BYTES) -> dict[str, bytes]:
    """The files in a tar or zip archive, by path; nothing is written anywhere.

    Raises InputError for an archive that reaches outside (absolute names, `..`), holds links or devices, names a
    file twice, or unpacks to more than `most_bytes`, however small it is.
    """
    try:
        return _gather(archive, most_bytes)
    except (tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, OSError, EOFError, ValueError) as error:
        raise InputError(
            f"the archive cannot be read ({printable(str(error))[:200]}): give a tar or zip file"
        ) from error
    except (RuntimeError, NotImplementedError) as error:
        raise InputError("the archive cannot be read: it is encrypted or packed in a rare way") from error


def _gather(archive: bytes, most_bytes: int) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    room = most_bytes
    zipped = zipfile.is_zipfile(io.BytesIO(archive))
    for name, file in _zipped(archive) if zipped else _tarred(_plain(archive, most_bytes)):
        path = _path(name)
        if path in files:
            raise InputError(f"the archive cannot be taken: it holds {path} twice")
        data = file.read(room + 1)
        room -= len(data)
        if room < 0 or len(files) >= MOST_FILES:
            raise InputError(
                f"the archive cannot be taken: it holds more than {most_bytes} bytes or {MOST_FILES} files"
            )
        files[path] = data
    return files


def _plain(archive: bytes, most_bytes: int) -> bytes:
    """The tar in a compressed tar. All of it is bounded, for its headers can be bombs as well as its files."""
    most = most_bytes + _TAR_OVERHEAD
    for magic, opened in _PACKED.items():
        if archive.startswith(magic):
            with opened(io.BytesIO(archive)) as file:
                archive = bytes(file.read(most + 1))
    if len(archive) > most:
        raise InputError(f"the archive cannot be taken: it unpacks to more than {most_bytes} bytes")
    return archive


def _zipped(archive: bytes) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        for member in opened.infolist():
            kind = member.external_attr >> 28
            if kind not in {0, 4, 8}:  # unknown, folder, file
                raise InputError(f"the archive cannot be taken: {_shown(member.filename)} is a link or a device")
            if member.is_dir():
                _path(member.filename.rstrip("/"))
                continue
            with opened.open(member) as file:
                yield member.filename, file


def _tarred(archive: bytes) -> Iterator[tuple[str, IO[bytes]]]:
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as opened:
        for member in opened:
            if member.isdir():
                _path(member.name.rstrip("/"))
                continue
            file = opened.extractfile(member) if member.isreg() and not member.issparse() else None
            if file is None:
                raise InputError(f"the archive cannot be taken: {_shown(member.name)} is a link or a device")
            yield member.name, file


def _path(name: str) -> str:
    path = name.removeprefix("./")
    if path != "." and (
        not path.isprintable() or "\\" in path or any(part in {"", ".", ".."} for part in path.split("/"))
    ):
        raise InputError(f"the archive cannot be taken: {_shown(name)} is no plain path inside it")
    return path


def _shown(name: str) -> str:
    return printable(name)[:200]
