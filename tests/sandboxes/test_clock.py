"""Fair clocks: a slow or busy machine changes no verdict, and limits count the work of all processes of a jail."""

import asyncio
import multiprocessing
import os
import time

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


def programs(most: float) -> list[FunctionTest]:
    """Sixty: right, wrong, raising, endless, asleep, and such as need a part of what they may use, or more than it."""
    spin = "import time\ndef f(x):\n    while time.process_time() < {}: pass\n    return x + 1\n"
    sources = [
        "def f(x): return x + 1",
        "def f(x): return x",
        "def f(x): raise ValueError",
        "def f(x):\n    while True: pass",
        "import time\ndef f(x):\n    time.sleep(60)",
        "import time\ndef f(x):\n    time.sleep(1.0)\n    return x + 1",
        *(spin.format(most * share) for share in (0.3, 0.6, 1.6, 2.5)),
        "def f(x):\n    n = 0\n    for i in range(300_000): n += i\n    return x + 1",
        "import os\ndef f(x):\n    if os.fork() == 0:\n        sum(range(10**6))\n        os._exit(0)\n    os.wait()\n    return x + 1",
    ]
    return [FunctionTest(source, "f", TEST, limits=LIMITS) for source in sources] * 5


def burn() -> None:
    while True:
        pass


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_a_busy_machine_changes_no_verdict(sandbox: Jailer) -> None:
    most = allowed(sandbox)
    quiet = [result.ending for result in await asyncio.gather(*map(sandbox.run, programs(most)))]
    context = multiprocessing.get_context("spawn")
    burners = [context.Process(target=burn, daemon=True) for _ in range(2 * (os.cpu_count() or 1))]
    for burner in burners:
        burner.start()
    try:
        busy = [result.ending for result in await asyncio.gather(*map(sandbox.run, programs(most)))]
    finally:
        for burner in burners:
            burner.kill()
            burner.join()
            burner.close()
    assert busy == quiet
    assert set(quiet) == {"passed", "wrong_answer", "exception", "timeout"}
