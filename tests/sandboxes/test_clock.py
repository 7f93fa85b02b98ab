"""Fair clocks: a slow or busy machine changes no verdict, and limits count the work of all processes of a jail."""

import asyncio
import multiprocessing
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from measurand.core.program import FunctionTest, Limits
from measurand.sandboxes.clock import factor_of, scaled
from measurand.sandboxes.jailer import Jailer

TEST = "def check(candidate):\n    assert candidate(3) == 4\n"
LIMITS = Limits(cpu_seconds=0.4, wall_seconds=3)


def test_factors_are_bounded_and_scale_both_limits() -> None:
    assert [factor_of(seconds) for seconds in (0, 1e-9, 1e9)] == [0.5, 0.5, 20.0]
    slow, fast = scaled(LIMITS, 2.0), scaled(LIMITS, 0.5)
    assert (slow.cpu_seconds, slow.wall_seconds) == (0.8, 6)
    assert (fast.cpu_seconds, fast.wall_seconds) == (0.2, 3)
    assert slow.memory_bytes == LIMITS.memory_bytes


def allowed(sandbox: Jailer) -> float:
    """The seconds of processor time that a program may use here."""
    found = sandbox._find()
    assert not isinstance(found, str)
    return scaled(LIMITS, found.room.factor).cpu_seconds


def test_the_factor_is_told(sandbox: Jailer) -> None:
    assert "processor time count " in sandbox.describe().detail


async def test_processor_time_of_children_counts(sandbox: Jailer) -> None:
    forks = "import os\ndef f(x):\n    for _ in range(3):\n        if os.fork() == 0:\n            while True: pass\n    for _ in range(3): os.wait()\n"
    began = time.monotonic()
    result = await sandbox.run(FunctionTest(forks, "f", TEST, limits=Limits(cpu_seconds=0.5, wall_seconds=60)))
    assert (result.ending, result.detail) == ("timeout", "the limit of processor time")
    assert time.monotonic() - began < 30


async def test_a_program_that_overdraws_and_ends_between_two_looks_is_no_pass(sandbox: Jailer) -> None:
    busy = "import time\ndef f(x):\n    while time.process_time() < SECONDS: pass\n    return x + 1\n"
    most = allowed(sandbox)
    for share, ending in ((0.5, "passed"), (1.1, "timeout")):
        program = FunctionTest(busy.replace("SECONDS", str(most * share)), "f", TEST, limits=LIMITS)
        assert (await sandbox.run(program)).ending == ending


def programs(most: float) -> dict[str, FunctionTest]:
    """Right, wrong, raising, endless, asleep, and such as need a part of what they may use, or more than it."""
    spin = "import time\ndef f(x):\n    while time.process_time() < {}: pass\n    return x + 1\n"
    sources = {
        "right": "def f(x): return x + 1",
        "wrong": "def f(x): return x",
        "raises": "def f(x): raise ValueError",
        "endless": "def f(x):\n    while True: pass",
        "asleep": "import time\ndef f(x):\n    time.sleep(60)",
        "sleeps a while": "import time\ndef f(x):\n    time.sleep(1.0)\n    return x + 1",
        **{f"{share} of the limit": spin.format(most * share) for share in (0.3, 0.7, 1.5, 2.5)},
        "counts": "def f(x):\n    n = 0\n    for i in range(300_000): n += i\n    return x + 1",
        "children count": "import os\ndef f(x):\n    if os.fork() == 0:\n        sum(range(10**6))\n        os._exit(0)\n    os.wait()\n    return x + 1",
        "children endless": "import os\ndef f(x):\n    if os.fork() == 0:\n        while True: pass\n    os.wait()",
        "threads": "import threading\ndef f(x):\n    ts = [threading.Thread(target=sum, args=(range(10**6),)) for _ in range(4)]\n    [t.start() for t in ts]; [t.join() for t in ts]\n    return x + 1",
    }  # fmt: skip
    return {name: FunctionTest(source, "f", TEST, limits=LIMITS) for name, source in sources.items()}


TIMEOUTS = {"endless", "asleep", "children endless", "1.5 of the limit", "2.5 of the limit"}
ENDINGS = dict.fromkeys(programs(1.0), "passed") | {"wrong": "wrong_answer", "raises": "exception"}
ENDINGS |= dict.fromkeys(TIMEOUTS, "timeout")


async def endings(sandbox: Jailer) -> dict[str, str]:
    """How each program ends, all at once."""
    asked = programs(allowed(sandbox))
    results = await asyncio.gather(*map(sandbox.run, asked.values()))
    return {name: result.ending for name, result in zip(asked, results, strict=True)}


def burn() -> None:
    os.setsid()  # the scheduler shares out between sessions, of which each jail is one
    while True:
        pass


@contextmanager
def both_cores_loaded() -> Iterator[list[BaseProcess]]:
    """Four processes for each core that never rest."""
    context = multiprocessing.get_context("spawn")
    burners: list[BaseProcess] = [context.Process(target=burn, daemon=True) for _ in range(4 * (os.cpu_count() or 1))]
    for burner in burners:
        burner.start()
    try:
        yield burners
    finally:
        for burner in burners:
            burner.kill()
            burner.join()
            burner.close()


def seconds_of(process: BaseProcess) -> float:
    stat = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_a_busy_machine_changes_no_verdict(sandbox: Jailer) -> None:
    assert await endings(sandbox) == ENDINGS
    with both_cores_loaded() as burners:
        for _ in range(2):
            began, before = time.monotonic(), sum(map(seconds_of, burners))
            assert await endings(sandbox) == ENDINGS
            burnt = sum(map(seconds_of, burners)) - before
            assert burnt > 0.2 * (os.cpu_count() or 1) * (time.monotonic() - began), "the cores were not loaded"
