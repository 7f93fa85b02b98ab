"""Measuring helpers: a mock endpoint in a process of its own, and the cost of a child process."""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Cost:
    """What a child process took: CPU and wall seconds, peak memory in MB, and what it printed as JSON."""

    cpu: float
    wall: float
    peak_mb: float
    said: dict


def environment() -> dict[str, str]:
    """The environment of measured children: bytecode may be cached, as on a user's machine."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPATH": str(ROOT), "MEASURAND_API_KEY": "none"}


@contextmanager
def mock(delay: float = 0.0) -> Iterator[str]:
    """The base URL of a fresh mock endpoint."""
    command = [sys.executable, "-m", "perf.mock", "--delay", str(delay)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment())
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(child.stdout.readline())}/v1"
    finally:
        child.stdin.close()
        child.stdout.close()
        child.wait(10)


def cost_of(command: list[str], *, timeout: float = 1800, env: dict[str, str] | None = None) -> Cost:
    """Run a command to its end and say what it took. Its last line of output may be a JSON object."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        command, capture_output=True, text=True, env=env or environment(), timeout=timeout, check=False
    )
    wall = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise RuntimeError(f"{command} ended with {done.returncode}: {done.stderr[-2000:]}")
    lines = done.stdout.strip().splitlines()
    said = json.loads(lines[-1]) if lines and lines[-1].startswith("{") else {}
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, wall, said.get("peak_mb", 0.0), said)
