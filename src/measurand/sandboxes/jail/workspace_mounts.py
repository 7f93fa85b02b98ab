"""Runs before the jail of a workspace is built, as the user that the jail belongs to: it prepares the disk.

In a user and mount namespace of its own it mounts a temporary file system of limited size, lays it over the base
as a copy-on-write layer (where that cannot be mounted: copies the base into it), and becomes bubblewrap. All of
it goes when the last process of the jail does, and nothing of it is ever seen outside. Arguments: the base or
nothing, the size in bytes, and the command.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import stat
import sys

GROUND = "/dev/shm"  # noqa: S108 - covered by our own file system before anything is put there
"""Where the file system is mounted: a folder that every Linux has and that no interpreter lives in."""

FOLDERS = ("work", "tmp", "shm", "run")
"""What the jail gets of it."""

_INODE_BYTES = 4096
_NEWUSER, _NEWNS = 0x10000000, 0x00020000
_NOSUID, _NODEV = 2, 4
_REC_PRIVATE = 0x4000 | (1 << 18)


def main() -> None:
    """Prepare, and become the command."""
    base, size, *command = sys.argv[1:]
    uid, gid = os.getuid(), os.getgid()
    _call("unshare", _NEWUSER | _NEWNS)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123 - pathlib is slow to import
            file.write(text)
    _mount("none", "/", "", _REC_PRIVATE, "")
    here = os.open(base, os.O_RDONLY | os.O_DIRECTORY) if base else None
    inodes = int(size) // _INODE_BYTES + 64
    _mount("tmpfs", GROUND, "tmpfs", _NOSUID | _NODEV, f"size={size},nr_inodes={inodes},mode=755")
    for name in FOLDERS:
        os.mkdir(f"{GROUND}/{name}")  # noqa: PTH102 - pathlib is slow to import
    if here is not None:
        try:
            _overlay(here)
        except OSError:
            copy(f"/proc/self/fd/{here}", f"{GROUND}/work")
        os.close(here)
    os.execv(command[0], command)  # noqa: S606 - the command line is ours


def _overlay(base: int) -> None:
    for name in ("upper", "scratch"):
        os.mkdir(f"{GROUND}/{name}")  # noqa: PTH102 - pathlib is slow to import
    layers = f"lowerdir=/proc/self/fd/{base},upperdir={GROUND}/upper,workdir={GROUND}/scratch,userxattr"
    _mount("overlay", f"{GROUND}/work", "overlay", _NOSUID | _NODEV, layers)


def copy(source: str, destination: str) -> None:
    """Copy the folders, files and links in a folder; nothing else is worth having, and some of it would hang."""
    for entry in os.scandir(source):
        target = f"{destination}/{entry.name}"
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            os.symlink(os.readlink(entry.path), target)  # noqa: PTH115, PTH211 - pathlib is slow to import
        elif stat.S_ISDIR(mode):
            os.mkdir(target)  # noqa: PTH102 - pathlib is slow to import
            copy(entry.path, target)
        elif stat.S_ISREG(mode):
            shutil.copyfile(entry.path, target, follow_symlinks=False)
            os.chmod(target, (mode & 0o777) | 0o600)  # noqa: PTH101 - pathlib is slow to import


def _mount(source: str, target: str, kind: str, flags: int, data: str) -> None:
    _call("mount", source.encode(), target.encode(), kind.encode(), flags, data.encode())


def _call(name: str, *arguments: object) -> None:
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


if __name__ == "__main__":
    main()
