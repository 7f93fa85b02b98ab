"""What a hostile program tries, by the numbers of the project's list of 70 cases, and how each attempt is judged.

Cases 1 to 17 (resources) are in `test_programs_resources`, 18 to 41 (host, network, parent and siblings) in
`test_programs_reach`, 42 to 61 (false passes) in `test_programs_verdicts`. Cases 24 to 26 are about files that a
program leaves for collection and belong to workspaces, as do 62 to 70, about repositories.

Each is wrong code with a trick, unless it says otherwise, and is tried in every sandbox that works here. After each:
the right ending, in time, nobody left, nothing written outside, and the next sample unharmed.
"""

import os
import time
from collections.abc import Callable

import msgspec

from measurand.core.program import FunctionTest, Limits
from measurand.sandboxes.clock import scaled
from measurand.sandboxes.jailed import printable
from measurand.sandboxes.jailer import Jailer

LIMITS = Limits(cpu_seconds=0.5, wall_seconds=2, memory_bytes=1 << 28, disk_bytes=1 << 22, processes=16)
UNHURRIED = msgspec.structs.replace(LIMITS, cpu_seconds=5, wall_seconds=20)
"""For what must end by its memory: filling it takes a slow machine longer than the half second of the others."""

SECRET = 424242_987_654
TEST = f"""
def check(candidate):
    assert candidate([1, 2, 3]) == {SECRET}
    assert abs(candidate([]) - 17) < 1e-6
"""
NEXT = FunctionTest(f"def total(xs):\n    return {SECRET} if xs else 17\n", "total", TEST)
WRONG = "def total(xs):\n    return 0\n"


async def attempt(
    sandbox: Jailer, survivors: Callable[[], set[int]], source: str, test: str = TEST, limits: Limits = LIMITS
) -> str:
    began = time.monotonic()
    result = await sandbox.run(FunctionTest(source, "total", test, limits=limits))
    assert time.monotonic() - began < patience(sandbox, limits)
    assert not survivors()
    assert len(result.stdout) <= limits.output_bytes
    assert len(result.detail) < 10_000
    assert printable(result.detail + result.stdout + result.stderr) == result.detail + result.stdout + result.stderr
    after = await sandbox.run(NEXT)
    assert after.ending == "passed", after
    return result.ending


def patience(sandbox: Jailer, limits: Limits = LIMITS) -> float:
    """The deadline, which waits while others have the cores, and time enough for a slow machine to clear away."""
    found = sandbox._find()
    assert not isinstance(found, str)
    deadline, load = scaled(limits, found.room.factor).wall_seconds, os.getloadavg()[0]
    return deadline * max(1, 2 * load / (os.cpu_count() or 1)) + 10
