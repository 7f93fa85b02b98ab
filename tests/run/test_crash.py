"""kill -9 at any moment: nothing acknowledged is lost or asked twice, and the tables come out the same."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from measurand.core.identity import identity
from measurand.core.message import user
from measurand.core.request import Decode, Draw, Generate, key
from measurand.core.run import Slot
from measurand.report.rows import trial_rows
from measurand.run.summary import summarise
from measurand.store import open_store
from tests.run.crash_child import STEPS
from tests.run.endpoint import Endpoint, endpoint

ROOT = Path(__file__).resolve().parents[2]
ITEMS = 400
CONCURRENCY = 8
TIMES = {"started", "seconds", "replayed_from"}


def write_items(folder: Path, n: int) -> Path:
    path = folder / "items.jsonl"
    rows = ({"q": f"number {i}", "a": str(i % 7), "id": str(i), "kind": str(i % 3), "text": "-"} for i in range(n))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def answer(prompt: str) -> str:
    return str(int(prompt.rsplit(maxsplit=1)[-1]) % 7 if prompt.startswith("number") else len(prompt))


def child(served: Endpoint, store: Path, *more: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "tests.run.crash_child", "--url", served.url, "--store", str(store), *more]
    environment = os.environ | {"MEASURAND_API_KEY": "none"}
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process: subprocess.Popen) -> None:
    _, errors = process.communicate()
    assert process.returncode == 0, errors


def table(path: Path) -> bytes:
    """Everything a report or an export would show of the only run, times left out."""
    store = open_store(path, read_only=True)
    try:
        (run,) = store.runs()
        summary = summarise(store, run)
        rows = [{name: value for name, value in row.items() if name not in TIMES} for row in trial_rows(store, run)]
        views = (summary.tally, summary.views, summary.readings, summary.examples)
        return msgspec.json.encode((views, rows), order="sorted")
    finally:
        store.close()


def acknowledged(path: Path, prompts: list[str]) -> set[str]:
    """The prompts whose replies are in the journal."""
    store = open_store(path, read_only=True)
    try:
        runs = store.runs()
        if not runs:
            return set()
        subject = identity(runs[0].subject)
        keys = {
            key(subject, Generate((user(prompt),), decode=Decode(max_tokens=512)), Draw()): prompt for prompt in prompts
        }
        return {keys[found] for found in store.recall(list(keys))}
    finally:
        store.close()


def crash(folder: Path, kills: int) -> None:
    items = write_items(folder, ITEMS)
    prompts = [f"number {i}" for i in range(ITEMS)]
    chance = random.Random(7)
    with endpoint(answer, delay=0.004) as served:
        undisturbed = folder / "calm.db"
        finish(child(served, undisturbed, "--items", str(items)))
        assert set(served.received.values()) == {1}
        store, killed = folder / "crash.db", 0
        while killed < kills:
            if not store.exists() or killed % 10 == 9:  # a finished run has nothing left to kill: begin another store
                store = folder / f"crash-{killed}.db"
            served.received.clear()
            known = acknowledged(store, prompts) if store.exists() else set()
            process = child(served, store, "--items", str(items))
            wait_for(served, process, 1 + chance.randrange(ITEMS // 8))
            time.sleep(chance.random() * 0.02)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            killed += 1
            after = acknowledged(store, prompts) if store.exists() else set()
            assert not known & set(served.received), "an acknowledged reply was asked for again"
            lost = sum(served.received.values()) - len(after - known)
            assert 0 <= lost <= CONCURRENCY, (
                f"{lost} requests were paid for in vain by one kill; {len(after)} known, {len(served.received)} received"
            )
            if killed % 10 == 9 or killed == kills:
                finish(child(served, store, "--items", str(items)))
                assert table(store) == table(undisturbed)


def wait_for(served: Endpoint, process: subprocess.Popen, requests: int) -> None:
    while sum(served.received.values()) < requests and process.poll() is None:
        time.sleep(0.001)


def test_killed_at_a_few_random_points(tmp_path: Path):
    crash(tmp_path, kills=4)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_killed_at_a_hundred_random_points(tmp_path: Path):
    crash(tmp_path, kills=100)


def kill_at_steps(folder: Path, steps: list[int]) -> None:
    items = write_items(folder, 1)
    store = folder / "agent.db"
    with endpoint(answer) as served:
        for step in steps:
            process = child(served, store, "--items", str(items), "--pause-before", str(step))
            assert process.stdout is not None
            said = process.stdout.readline().strip()
            process.send_signal(signal.SIGKILL)
            _, errors = process.communicate()
            assert said == f"before {step}", errors
        finish(child(served, store, "--items", str(items), "--pause-before", str(STEPS)))
        assert sum(served.received.values()) == STEPS
        assert set(served.received.values()) == {1}
    opened = open_store(store, read_only=True)
    (run,) = opened.runs()
    assert len(opened.calls(run.id, Slot(0, 0))) == STEPS
    opened.close()


def test_an_agent_killed_between_some_steps(tmp_path: Path):
    kill_at_steps(tmp_path, [0, 1, 20, 39])


@pytest.mark.slow
def test_an_agent_killed_between_all_steps(tmp_path: Path):
    kill_at_steps(tmp_path, list(range(STEPS)))
