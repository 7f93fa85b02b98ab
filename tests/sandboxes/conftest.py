"""A sandbox that was found to work, and a watch for whatever outlives its program."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from measurand.sandboxes import room
from measurand.sandboxes.bubblewrap import Bubblewrap

OURS = 1_000_000 + os.getpid() % 100_000 * 1000
"""Numbers of users that nobody else's jails have, even where several test runs share a machine."""

SANDBOX = Bubblewrap()


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch) -> Bubblewrap:
    monkeypatch.setattr(room, "FIRST_UID", OURS)
    isolation = SANDBOX.describe()
    if isolation.level == "none":
        if os.environ.get("CI") == "true":
            pytest.fail(isolation.detail)
        pytest.skip(isolation.detail)
    return SANDBOX


@pytest.fixture
def survivors(sandbox: Bubblewrap) -> Callable[[], set[int]]:
    """Processes in foreign namespaces that were not there when the test began."""
    before = strangers()
    return lambda: strangers() - before


def strangers() -> set[int]:
    """Living processes; those that are dead and wait for the system's first process to notice do not count."""
    home = Path("/proc/self/ns/pid").readlink()
    wanted = range(OURS, OURS + room.UIDS) if os.geteuid() == 0 else range(os.geteuid(), os.geteuid() + 1)
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and entry.stat().st_uid in wanted and (entry / "ns/pid").readlink() != home:
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                found |= {int(entry.name)} if state not in "ZX" else set()
        except OSError:
            continue
    return found
