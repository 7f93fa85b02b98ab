"""What the tests of isolation share: their own numbers of users, and a watch for whatever outlives a test."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from measurand.core.errors import SandboxError
from measurand.sandboxes import leases, room, workspace_jail

OURS = 2_000_000 + os.getpid() % 100_000 * 1000
"""Numbers of users that nobody else's jails have, even where several test runs share a machine."""


@pytest.fixture
def jails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[], set[int]]]:
    """Skip where no jail can be built; afterwards nobody may be left, nor anything on the disk."""
    monkeypatch.setattr(room, "FIRST_UID", OURS)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(leases, "_owner", None)
    try:
        workspace_jail.room_of_workspaces()
    except SandboxError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(str(error))
        pytest.skip(str(error))
    before = strangers()
    folders = set(Path("/tmp").glob("measurand-*"))
    yield lambda: strangers() - before
    assert wait_until(lambda: not strangers() - before)  # the doctor's own trials may be ending still
    mine = {folder for folder in set(Path("/tmp").glob("measurand-*")) - folders if ours(folder)}
    assert not mine
    if leases._owner is not None:
        leases._owner.close()
    assert not list((tmp_path / "state").rglob("*.json"))


def ours(folder: Path) -> bool:
    try:
        return folder.stat().st_uid in range(OURS, OURS + room.UIDS) or os.geteuid() != 0
    except OSError:
        return False


def wait_until(true: Callable[[], bool], seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def strangers() -> set[int]:
    """Living processes in other namespaces than ours, under the numbers of our jails."""
    home = Path("/proc/self/ns/pid").readlink()
    wanted = range(OURS, OURS + room.UIDS) if os.geteuid() == 0 else range(os.geteuid(), os.geteuid() + 1)
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and entry.stat().st_uid in wanted and (entry / "ns/pid").readlink() != home:
                found |= {int(entry.name)} if leases.started(int(entry.name)) else set()
        except OSError:
            continue
    return found
