"""What workspaces start from: one folder that any number of them share and none can change."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from measurand.core.errors import InputError, SandboxError
from measurand.sandboxes.jail.workspace_mounts import copy
from measurand.sandboxes.leases import owner
from measurand.sandboxes.room import outside_uid

_turns = itertools.count(100)
_GIT_SECONDS = 300
_GIT = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0", "-c", "core.autocrlf=false"),
    *("-c", "user.name=base", "-c", "user.email=base@localhost", "-c", "core.logAllRefUpdates=false"),
)


@dataclass(frozen=True, slots=True)
class Base:
    """A folder that workspaces see as /work, each with its own changes on top.

    `uid` is the user outside under whom they run, who owns the files; None where that is us. `packages` are more
    folders or files that they see, read-only, each with its place inside.
    """

    path: Path
    uid: int | None = None
    packages: tuple[tuple[str, str], ...] = ()


@contextmanager
def shared_base(
    source: Path, *, one_commit: bool = False, packages: tuple[tuple[str, str], ...] = ()
) -> Iterator[Base]:
    """Make a folder the base of workspaces, as long as this context lasts; it must not change meanwhile.

    Only folders, regular files and links are taken over. With `one_commit`, any history in it is left out and it
    becomes a git repository of a single commit: no remote, tag, branch, reflog or unreachable object from which a
    fix could be dug up. The copy is made once, whatever the number of workspaces, and is a lease.
    Raises InputError where the source is no folder, SandboxError where it cannot be copied.
    """
    if not source.is_dir():
        raise InputError(f"{source} is no folder, so no workspace can start from it")
    uid = outside_uid(next(_turns))
    if uid is None and not one_commit:
        yield Base(source.resolve(), None, packages)
        return
    with owner().folder() as folder:
        try:
            copy(str(source), str(folder))
            if one_commit:
                _commit(folder)
            give(folder, uid)
        except OSError as error:
            raise SandboxError(f"{source} cannot be copied as the base of workspaces: {error}") from error
        yield Base(folder, uid, packages)


def _commit(folder: Path) -> None:
    """Throw away every history and begin a new one. Without git there is none."""
    for found in list(folder.rglob(".git")):
        if found.is_dir() and not found.is_symlink():
            shutil.rmtree(found)
        else:
            found.unlink()
    git = shutil.which("git")
    if git is None:
        return
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_TEMPLATE_DIR": "", "GIT_ATTR_NOSYSTEM": "1"}
    date = "2000-01-01T00:00:00Z"
    environment |= {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    for arguments in (
        ("init", "--quiet"),
        ("add", "--all", "--force"),
        ("commit", "--quiet", "--allow-empty", "-mbase"),
    ):
        try:
            subprocess.run(  # noqa: S603 - git, under a configuration of ours alone
                [git, *_GIT, *arguments],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_GIT_SECONDS,
                check=True,
            )
        except subprocess.SubprocessError as error:
            raise SandboxError(f"git cannot make a repository of the base: {error}") from error


def give(folder: Path, uid: int | None) -> None:
    """Make everything in a folder the property of that user; None is us, whose it is already."""
    if uid is None:
        return
    for top, folders, files in os.walk(folder):  # does not follow links
        for name in (*folders, *files):
            os.chown(Path(top, name), uid, uid, follow_symlinks=False)
    os.chown(folder, uid, uid)
