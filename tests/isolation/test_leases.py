"""What is leased is gone once its owner is, whatever ended it; what a living owner holds is never touched."""

import contextlib
import glob
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from measurand.core.errors import SandboxError
from measurand.sandboxes import doctor, leases
from measurand.sandboxes.leases import Lease
from tests.isolation.jails import jails, wait_until

__all__ = ["jails"]

HARNESS = """
import asyncio, os, pathlib, sys
from measurand.sandboxes import leases, room
room.FIRST_UID = {uid}
if {orphaned}:
    leases._start_reaper = lambda state: -1
from measurand.sandboxes.workspace import Workspace
from measurand.sandboxes.workspace_base import shared_base
async def main():
    with shared_base(pathlib.Path(sys.argv[1]), one_commit=True) as base:
        async with Workspace(base) as w:
            await w.run("(setsid sleep 1000 &) ; (nohup sleep 1000 &)", 20)
            print(base.path, flush=True)
            await w.run("sleep 1000", 1000)
asyncio.run(main())
"""


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(leases, "_owner", None)
    return tmp_path / "state"


def harness(folder: Path, *, orphaned: bool) -> tuple[subprocess.Popen[str], Path]:
    from measurand.sandboxes import room

    code = HARNESS.format(uid=room.FIRST_UID, orphaned=orphaned)
    process = subprocess.Popen([sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    return process, Path(process.stdout.readline().strip())


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_killed_harness_leaves_nothing(number: int, jails: Callable[[], set[int]], tmp_path: Path):
    (tmp_path / "base").mkdir()
    process, copy = harness(tmp_path / "base", orphaned=False)
    assert copy.is_dir()
    assert jails()
    assert leases.leftovers() == []
    process.send_signal(number)
    process.communicate(timeout=20)
    assert wait_until(lambda: not jails())
    assert wait_until(lambda: not copy.exists())
    assert wait_until(lambda: not glob.glob(f"{tmp_path}/state/**/*.json", recursive=True))  # noqa: PTH207 - bears folders that vanish


def test_where_even_the_reaper_is_dead_the_doctor_helps(jails: Callable[[], set[int]], tmp_path: Path):
    (tmp_path / "base").mkdir()
    process, copy = harness(tmp_path / "base", orphaned=True)
    assert leases.clean() == []  # it lives
    assert copy.is_dir()
    assert jails()
    process.kill()
    process.communicate(timeout=20)
    assert wait_until(lambda: not jails())
    assert copy.is_dir()
    assert {(left.kind, left.what, left.owner) for left in leases.leftovers()} == {("folder", str(copy), process.pid)}
    found = next(finding for finding in doctor.report() if finding.name == "leftovers")
    assert not found.ok
    assert str(copy) in found.detail
    assert "doctor --clean" in found.mend
    assert [left.what for left in leases.clean()] == [str(copy)]
    assert not copy.exists()
    assert leases.clean() == leases.leftovers() == []
    assert next(finding for finding in doctor.report() if finding.name == "leftovers").ok


def dead_owner(*held: Lease) -> None:
    """Leases of a process that has ended without a word."""
    code = "import os, sys; from measurand.sandboxes import leases; leases._start_reaper = lambda s: -1; me = leases.owner(); held = []\n"
    code += "".join(
        f"held.append(me.lease(leases.Lease({lease.kind!r}, {lease.what!r}, {lease.started})))\nheld[-1].__enter__()\n"
        for lease in held
    )
    subprocess.run([sys.executable, "-c", code + "os._exit(0)"], check=True, timeout=60)


def test_a_jail_is_killed_only_if_it_is_the_same_process(state: Path):
    sleeper = subprocess.Popen(["sleep", "100"])
    other = subprocess.Popen(["sleep", "100"])
    began = leases.started(sleeper.pid)
    assert began > 0
    dead_owner(Lease("jail", str(sleeper.pid), began), Lease("jail", str(other.pid), began - 1), Lease("jail", "0"))
    assert [left.what for left in leases.leftovers()] == [str(sleeper.pid)]
    assert [left.what for left in leases.clean()] == [str(sleeper.pid)]
    assert sleeper.wait(10) == -9
    assert other.poll() is None
    other.kill()
    other.wait()


def test_what_strangers_put_into_a_folder_does_not_keep_it(state: Path, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o755)
    (outside / "file").write_text("alive")
    folder = tmp_path / "left"
    (folder / "locked" / "deep").mkdir(parents=True)
    (folder / "locked" / "deep" / "file").write_text("x")
    (folder / "link").symlink_to(outside)
    os.mkfifo(folder / "fifo")
    (folder / "locked" / "deep").chmod(0)
    (folder / "locked").chmod(0)
    dead_owner(Lease("folder", str(folder)))
    assert len(leases.clean()) == 1
    assert not folder.exists()
    assert (outside / "file").read_text() == "alive"
    assert outside.stat().st_mode & 0o777 == 0o755


def test_a_link_in_place_of_a_folder_is_left_alone(state: Path, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "left").symlink_to(outside)
    dead_owner(Lease("folder", str(tmp_path / "left")))
    assert leases.clean() == []
    assert outside.is_dir()
    assert len(leases.leftovers()) == 1


def test_leases_end_with_their_contexts_and_owners_with_their_process(state: Path):
    owner = leases.owner()
    assert leases.owner() is owner
    with owner.folder() as folder, contextlib.suppress(KeyError):
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "x").write_text("x")
        assert len(list(state.rglob("*.json"))) == 2
        assert leases.clean() == leases.leftovers() == []
        raise KeyError
    assert not folder.exists()
    owner.close()
    assert not list(state.rglob("*.json"))


def test_a_fork_does_not_give_back_what_its_parent_holds(state: Path):
    owner = leases.owner()
    child = os.fork()
    if child == 0:
        owner.close()
        os._exit(0 if leases.owner() is not owner else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert list(state.rglob(f"{owner.name}/owner.json"))
    owner.close()


def test_junk_among_the_leases_is_passed_over(state: Path):
    dead_owner(Lease("folder", "/nonexistent/x"))
    folder = next(path for path in (state / "measurand" / "leases").iterdir() if path.is_dir())
    (folder / "cut.json").write_text('{"kind": "fol')
    (folder.parent / "empty").mkdir()
    (folder.parent / "file").write_text("")
    (folder.parent / "junk").mkdir()
    (folder.parent / "junk" / "owner.json").write_text("no")
    assert leases.clean() == []
    assert not folder.exists()


def test_a_state_that_cannot_be_written_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(leases, "_owner", None)
    with pytest.raises(SandboxError, match="XDG_STATE_HOME"):
        leases.owner()
    assert leases.leftovers() == []


def test_the_reaper_keeps_nobody_waiting_and_knows_no_secret(state: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    code = (
        "import os, time; from measurand.sandboxes import leases; leases.owner(); time.sleep(1)\n"
        "for pid in open(f'/proc/self/task/{os.getpid()}/children').read().split():\n"
        "    print(pid, b'sk-secret' in open(f'/proc/{pid}/environ', 'rb').read(), os.getsid(int(pid)) == int(pid))"
    )
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert time.monotonic() - began < 20
    pid, secret, apart = done.stdout.split()
    assert (secret, apart) == ("False", "True")
    assert wait_until(lambda: leases.started(int(pid)) == 0)
