"""The search for isolation, and what it says where there is none."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from measurand.core.errors import SandboxError
from measurand.core.program import Script
from measurand.sandboxes import doctor, room
from measurand.sandboxes.bubblewrap import Bubblewrap
from measurand.sandboxes.jailed import printable
from measurand.sandboxes.jailer import Jailer
from tests.sandboxes.conftest import OURS

SETTINGS = {
    "kernel/apparmor_restrict_unprivileged_userns": ("1", "AppArmor"),
    "kernel/unprivileged_userns_clone": ("0", "kernel.unprivileged_userns_clone=1"),
    "user/max_user_namespaces": ("0", "user.max_user_namespaces"),
    "": ("", "Docker"),
}


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Puts a bwrap in the way that only says something."""

    def make(says: str) -> None:
        script = tmp_path / "bwrap"
        script.write_text(f"#!/bin/sh\necho '{says}' >&2\nexit 1\n")
        script.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setattr(room, "outside_uid", lambda _: None)

    return make


async def test_without_bubblewrap_nothing_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    sandbox = Bubblewrap()
    described = sandbox.describe()
    assert described.level == "none"
    assert "apt-get install bubblewrap" in described.detail
    with pytest.raises(SandboxError, match="bubblewrap"):
        await sandbox.run(Script("open('x', 'w')"))


@pytest.mark.parametrize("name", SETTINGS)
def test_each_obstacle_has_its_mend(
    name: str, monkeypatch: pytest.MonkeyPatch, stand_in: Callable[[str], None]
) -> None:
    value, word = SETTINGS[name]
    stand_in("bwrap: No permissions to create new namespace")
    monkeypatch.setattr(room, "_setting", lambda asked: value if asked == name else "")
    with pytest.raises(SandboxError) as caught:
        room.find_room()
    assert word in str(caught.value)
    assert "No permissions" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_old_version_is_named_as_such(stand_in: Callable[[str], None]) -> None:
    stand_in("bwrap: Unknown option --disable-userns")
    with pytest.raises(SandboxError, match=r"0\.8 or later"):
        room.find_room()


def test_it_is_tried_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    sandbox = Bubblewrap()
    first = sandbox.describe()
    monkeypatch.undo()
    assert sandbox.describe() == first


def test_an_interpreter_that_cannot_be_seen_inside_is_passed_over(
    sandbox: Jailer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.base_prefix", str(tmp_path))
    assert room.find_room().interpreter.path == "/usr/bin/python3"


def test_the_doctor_says_what_is_there(sandbox: Jailer) -> None:
    findings = doctor.report()
    assert findings[0].ok
    assert "namespaces" in findings[0].detail
    assert all(finding.ok and not finding.mend for finding in findings)


def test_the_doctor_says_what_to_mend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    bad = [finding for finding in doctor.report() if not finding.ok]
    assert [finding.name for finding in bad] == ["isolation of programs", "bubblewrap"]
    assert all(finding.mend for finding in bad)


def test_text_is_safe_to_show() -> None:
    assert printable("a\x1b[31m\x00\ud800\r\n\tü") == "a\\x1b[31m\\x00\\ud800\\r\n\tü"


KILLED = """
import asyncio, os, signal, threading, time
from measurand.core.program import FunctionTest, Limits
from measurand.sandboxes import room
from measurand.sandboxes.{module} import {kind}
room.FIRST_UID = {uid}
program = FunctionTest("def f():\\n    while True: pass\\n", "f", "def check(c): c()", limits=Limits(30, 60))
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
asyncio.run({kind}().run(program))
"""


def test_a_killed_harness_leaves_nobody(sandbox: Jailer, survivors: Callable[[], set[int]]) -> None:
    kind = type(sandbox)
    script = KILLED.format(uid=OURS, module=kind.__module__.rpartition(".")[2], kind=kind.__name__)
    done = subprocess.run([sys.executable, "-c", script], timeout=30, check=False)
    assert done.returncode == -9
    deadline = time.monotonic() + 20
    while survivors() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not survivors()
