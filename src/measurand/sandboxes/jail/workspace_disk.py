"""Files below /work, as the driver of a workspace reads and writes them: over no link, and waiting for nothing."""

from __future__ import annotations

import contextlib
import errno
import os
import stat

WORK = "/work"
_KINDS = {stat.S_IFREG: "file", stat.S_IFLNK: "link", stat.S_IFDIR: "folder"}


class Refused(Exception):  # noqa: N818 - an answer, not a fault of ours
    """A file that is not given or taken, and why."""


def read(path: str, offset: int, size: int, limit: int) -> bytes:
    """A part of a regular file. Raises Refused for any other, and for one that is longer than `limit`."""
    folder, name = _walk(path, make=False)
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Refused("it is a link, and links are not followed") from error
        raise
    finally:
        os.close(folder)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise Refused("it is not a regular file")
        if found.st_size > limit:
            raise Refused(f"it has {found.st_size} bytes and at most {limit} are taken")
        return os.pread(fd, size, offset)
    finally:
        os.close(fd)


def list_below(path: str, most: int) -> list[tuple[str, str, int]]:
    """What is below a folder, over no link. Names that are no text are escaped, and cannot be read."""
    found: list[tuple[str, str, int]] = []
    below, name = _walk(path, make=False) if path else (os.open("/", os.O_PATH), "work")
    try:
        for top, folders, files, here in os.fwalk(name, dir_fd=below):
            folders.sort()
            inside = top[len(name) :].lstrip("/")
            for each in sorted((*folders, *files)):
                entry = os.stat(each, dir_fd=here, follow_symlinks=False)
                kind = _KINDS.get(stat.S_IFMT(entry.st_mode), "other")
                whole = "/".join(filter(None, (path, inside, each)))
                found.append(
                    (whole.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"), kind, entry.st_size)
                )
            if len(found) > most:
                raise Refused(f"there are more than {most} files")
    finally:
        os.close(below)
    return found


def write(path: str, data: bytes, mode: int, offset: int) -> None:
    """Write a file anew, whatever was there under its name, or go on with it where it ended."""
    folder, name = _walk(path, make=True)
    flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        if offset == 0:
            flags |= os.O_CREAT | os.O_EXCL
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
        fd = os.open(name, flags | (os.O_APPEND if offset else 0), mode, dir_fd=folder)
    finally:
        os.close(folder)
    with open(fd, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
        file.write(data)


def _walk(path: str, *, make: bool) -> tuple[int, str]:
    """The folder that a path below /work leads to, step by step and over no link, and the name in it."""
    *folders, name = path.split("/")
    here = os.open(WORK, os.O_PATH | os.O_DIRECTORY)
    for folder in folders:
        try:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(folder, 0o755, dir_fd=here)
            below = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
        except NotADirectoryError:
            raise Refused("a folder on the way is a link or no folder") from None
        finally:
            os.close(here)
        here = below
    return here, name
