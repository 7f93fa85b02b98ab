"""The sandboxes that were found to work here, each in turn, and a watch for whatever outlives its program."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from measurand.sandboxes import room
from measurand.sandboxes.bubblewrap import Bubblewrap
from measurand.sandboxes.forkserver import ForkServer
from measurand.sandboxes.jailer import Jailer
from measurand.sandboxes.usage import pid_of

OURS = 1_000_000 + os.getpid() % 100_000 * 1000
"""Numbers of users that nobody else's jails have, even where several test runs share a machine."""

SANDBOXES: dict[str, Jailer] = {"fork-server": ForkServer(), "bubblewrap": Bubblewrap()}


@pytest.fixture(params=SANDBOXES)
def sandbox(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Jailer:
    monkeypatch.setattr(room, "FIRST_UID", OURS)
    found = SANDBOXES[request.param]
    isolation = found.describe()
    if isolation.level == "none":
        if os.environ.get("CI") == "true":
            pytest.fail(isolation.detail)
        pytest.skip(isolation.detail)
    return found


@pytest.fixture
def survivors(sandbox: Jailer) -> Callable[[], set[int]]:
    """Processes of jails that were not there when the test began, but for the examiners that wait for a candidate.

    A server is none: its jails are one level deeper.
    """
    level = 2 if isinstance(sandbox, ForkServer) else 1
    before = strangers(level)
    return lambda: strangers(level) - before - examiners(sandbox)


def examiners(sandbox: Jailer) -> set[int]:
    """The processes that examine for idle servers. What one of these may have left running is not among them."""
    servers = sandbox._idle if isinstance(sandbox, ForkServer) else []
    kept = [server._examiner for server in servers if server._examiner and not server._examiner.closed]
    return {pid_of(examiner.jail._init) for examiner in kept if examiner.jail._init is not None}


def strangers(level: int) -> set[int]:
    """Living processes so many process namespaces below ours; the dead that wait for their parent do not count."""
    home = depth(Path("/proc/self"))
    wanted = range(OURS, OURS + room.UIDS) if os.geteuid() == 0 else range(os.geteuid(), os.geteuid() + 1)
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and entry.stat().st_uid in wanted and depth(entry) >= home + level:
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                found |= {int(entry.name)} if state not in "ZX" else set()
        except OSError:
            continue
    return found


def depth(process: Path) -> int:
    """How many process namespaces a process is in."""
    for line in (process / "status").read_text().splitlines():
        if line.startswith("NSpid:"):
            return len(line.split()) - 1
    return 0
