"""Processes that are killed, limited or raced: what was acknowledged is there, and nobody sees a raw error."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from measurand.core.call import Reply
from measurand.store import open_store
from tests.artifacts import ROOT
from tests.store.child import TEXT
from tests.store.examples import key_of, run


def child(*words: object, **options: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.store.child", *map(str, words)]
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": ROOT}
    return subprocess.Popen(command, **piped, **options)  # type: ignore[call-overload,no-any-return]


def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    """Twenty deaths of writers of one store, each at a random number of acknowledgements."""
    path, rng = tmp_path / "runs.db", random.Random(8)
    acknowledged: dict[str, set[int]] = {}
    for death in range(20):
        writer = child("tell", path, death, 100_000)
        assert writer.stdout is not None
        enough = rng.randrange(1, 600)
        told = [writer.stdout.readline() for _ in range(enough)]
        writer.send_signal(signal.SIGKILL)
        rest, _ = writer.communicate()
        assert writer.returncode == -signal.SIGKILL
        lines = "".join(told) + rest
        acknowledged[str(death)] = {int(line) for line in lines[: lines.rindex("\n")].split("\n")}
        assert len(acknowledged[str(death)]) >= enough
    store = open_store(path)
    for name, numbers in acknowledged.items():
        found = store.recall([key_of(f"{name} {number}") for number in numbers])
        texts = {reply.text for reply in found.values() if isinstance(reply, Reply)}
        assert texts == {f"{name} {number} {TEXT}" for number in numbers}
    store.close()


def test_two_processes_write_one_run_at_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "runs.db"
    both = [child("trials", path, sample, 300) for sample in range(2)]
    for one in both:
        out, err = one.communicate()
        assert (one.returncode, out, err) == (0, "unclean 0\n", "")
    store = open_store(path)
    assert len(list(store.done(run(300, 2).id))) == 600
    assert len(list(store.scores(run(300, 2).id))) == 600
    assert len(store.recall([key_of(f"{sample} {n}") for sample in range(2) for n in range(300)])) == 600
    assert len(store.runs()) == 1
    store.close()


def test_only_a_dead_session_is_unclean_and_only_once(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    first = child("session", path)
    assert first.stdout is not None
    assert first.stdout.readline() == "unclean 0\n"
    store = open_store(path)
    shared = run(1).id
    assert store.begin_session(shared, 4).unclean == 0
    first.kill()
    os.waitid(os.P_PID, first.pid, os.WEXITED | os.WNOWAIT)  # dead, though nobody has buried it yet
    assert store.begin_session(shared, 4).unclean == 16
    assert store.begin_session(shared, 4).unclean == 0
    first.communicate()
    store.close()


def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path) -> None:
    """A limit on the size of files is what a full disk looks like to SQLite, and needs no privileges."""
    path = tmp_path / "runs.db"
    writer = child("tell", path, "full", 100_000, 2_000_000)
    out, err = writer.communicate()
    assert writer.returncode == 1
    assert err.startswith("StoreError: The store ")
    assert err.strip().endswith("nothing recorded is lost.")
    assert "Traceback" not in err
    numbers = [int(line) for line in out.split()]
    assert len(numbers) > 100
    store = open_store(path)
    assert len(store.recall([key_of(f"full {n}") for n in numbers])) == len(numbers)
    store.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small file system")
def test_a_really_full_disk_is_said_and_loses_nothing(tmp_path: Path) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(tmp_path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("no file system may be mounted here")
    try:
        writer = child("tell", tmp_path / "runs.db", "full", 100_000)
        out, err = writer.communicate()
        assert writer.returncode == 1
        assert "because the disk is full; make room and start again, nothing recorded is lost." in err
        assert "Traceback" not in err
        numbers = [int(line) for line in out.split()]
        assert len(numbers) > 100
        store = open_store(tmp_path / "runs.db", read_only=True)
        assert len(store.recall([key_of(f"full {n}") for n in numbers])) == len(numbers)
        store.close()
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)
