"""The jail of a test that is kept for its next candidate: it saves work and changes no verdict."""

import asyncio
import os
import signal

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from measurand.core.program import FunctionTest, Limits
from measurand.sandboxes.forkserver import ForkServer
from measurand.sandboxes.jailer import Jailer
from measurand.sandboxes.usage import pid_of
from tests.sandboxes.conformance import RIGHT

TEST = """
import random
seen = []
def check(candidate):
    seen.append(random.random())
    assert candidate(len(seen)) == 2, seen
    assert candidate([seen[0]]) == [seen[0]], seen
"""
"""It fails wherever an examination finds anything that another has left."""

CANDIDATES = {
    "def f(x): return x + 1 if isinstance(x, int) else x": "passed",
    "def f(x): return x": "wrong_answer",
    "def f(x): raise ValueError(x)": "exception",
    "def f(x): return object()": "wrong_answer",
    "def f(x: return x": "exception",
    "def g(x): return x": "exception",
    "import os\ndef f(x): os._exit(0)": "exception",
    "import ctypes\ndef f(x): ctypes.string_at(0)": "killed",
    "def f(x):\n    while True: print('x' * 65536)": "output_limit",
    "def f(x): return [0] * 100 if x == 1 else [x] * 10**7": "wrong_answer",
    # answers that nobody asked for, which the next candidate's examination must not read
    "import os\nfrom measurand.sandboxes.jail.codec import encode\nfrom measurand.sandboxes.jail.inside import write_frame\n"
    "def f(x):\n    for fd in range(3, 64):\n        try: [write_frame(fd, encode(('returned', 2))) for _ in range(9)]\n"
    "        except OSError: pass\n    return 1": {"wrong_answer", "exception"},
}  # fmt: skip


@pytest.fixture
def kept(sandbox: Jailer) -> ForkServer:
    if not isinstance(sandbox, ForkServer):
        pytest.skip("it keeps no jail")
    return ForkServer(1)


def examiner(sandbox: ForkServer) -> int:
    """The process that waits for the next candidate; 0 for none."""
    (server,) = sandbox._idle
    found = server._examiner
    if found is None or found.closed or found.jail._init is None:
        return 0
    return max(pid_of(found.jail._init), 0)


def of(candidate: str, **changes: object) -> FunctionTest:
    return msgspec.structs.replace(FunctionTest(candidate, "f", TEST), **changes)


async def test_candidates_of_one_test_share_its_jail(kept: ForkServer) -> None:
    assert (await kept.run(RIGHT)).ending == "passed"
    first = examiner(kept)
    assert first
    for ending, candidate in (("wrong_answer", "def f(x): return x"), ("exception", "def f(x): return 1 / 0")):
        assert (await kept.run(msgspec.structs.replace(RIGHT, candidate=candidate))).ending == ending
        assert examiner(kept) == first
    assert (await kept.run(of("def f(x): return x"))).ending == "wrong_answer"
    assert examiner(kept) not in {0, first}
    await kept.close()


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.lists(st.sampled_from(sorted(CANDIDATES)), min_size=4, max_size=8))
def test_no_candidate_changes_what_becomes_of_the_next(kept: ForkServer, order: list[str]) -> None:
    async def run() -> None:
        for candidate in order:
            ending = (await kept.run(of(candidate))).ending
            expected = CANDIDATES[candidate]
            assert ending in ({expected} if isinstance(expected, str) else expected), candidate
        await kept.close()

    asyncio.run(run())


async def test_a_test_that_imports_has_a_jail_for_each_candidate(kept: ForkServer) -> None:
    imports = msgspec.structs.replace(RIGHT, test=f"import csv\n{RIGHT.test}")
    for _ in range(2):
        assert (await kept.run(imports)).ending == "passed"
        assert not examiner(kept)
    await kept.close()


async def test_a_jail_that_held_much_is_not_kept(kept: ForkServer) -> None:
    much = msgspec.structs.replace(RIGHT, candidate="def f(x): return 'x' * 10**7 * (x == 1)")
    assert (await kept.run(much)).ending == "wrong_answer"
    assert (await kept.run(RIGHT)).ending == "passed"
    assert examiner(kept)
    large = msgspec.structs.replace(RIGHT, candidate="def f(x): return [None] * (1 << 23)")
    assert (await kept.run(large)).ending == "wrong_answer"
    assert not examiner(kept)
    assert (await kept.run(RIGHT)).ending == "passed"
    await kept.close()


async def test_processor_time_counts_for_each_examination(kept: ForkServer) -> None:
    """Together they take far more than one may, and more than the kernel lets one process have."""
    test = "import time\ndef check(candidate):\n    end = time.process_time() + 0.2\n    while time.process_time() < end: pass\n    assert candidate(1) == 2\n"
    limits = Limits(cpu_seconds=0.5, wall_seconds=30)
    for _ in range(30):
        result = await kept.run(msgspec.structs.replace(RIGHT, test=test, limits=limits))
        assert result.ending == "passed", result
    slow = test.replace("0.2", "20")
    assert (await kept.run(msgspec.structs.replace(RIGHT, test=slow, limits=limits))).ending == "timeout"
    await kept.close()


async def test_a_dead_examiner_is_replaced(kept: ForkServer) -> None:
    assert (await kept.run(RIGHT)).ending == "passed"
    dead = examiner(kept)
    os.kill(dead, signal.SIGKILL)
    server = kept._idle[0]
    assert server._examiner
    await asyncio.wait({server._examiner.jail.ended}, timeout=10)
    assert (await kept.run(RIGHT)).ending == "passed"
    assert examiner(kept) not in {0, dead}
    await kept.close()


def test_another_event_loop_gets_another_examiner(kept: ForkServer) -> None:
    async def run() -> int:
        assert (await kept.run(RIGHT)).ending == "passed"
        return examiner(kept)

    assert asyncio.run(run()) != asyncio.run(run())
    asyncio.run(kept.close())
