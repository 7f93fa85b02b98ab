"""The server behind the jails: replaced when it is old or out of order, ended when its sandbox is closed."""

import asyncio
import os
import select
import signal
import socket
from pathlib import Path

import pytest

from measurand.core.errors import SandboxError
from measurand.core.program import FunctionTest, Limits
from measurand.sandboxes import forkserver
from measurand.sandboxes.bubblewrap import Bubblewrap
from measurand.sandboxes.cgroup import make_group
from measurand.sandboxes.choice import FirstThatWorks
from measurand.sandboxes.forkserver import ForkServer
from measurand.sandboxes.jail.seccomp import program
from measurand.sandboxes.jailer import Jailer
from measurand.sandboxes.usage import descendants
from tests.sandboxes.conformance import RIGHT


@pytest.fixture
def fresh(sandbox: Jailer) -> ForkServer:
    if not isinstance(sandbox, ForkServer):
        pytest.skip("it has no server")
    return ForkServer(1)


def servers() -> set[int]:
    """The processes directly below us."""
    return set(descendants(os.getpid()))


async def test_a_server_serves_many_and_is_replaced_when_it_is_old(
    fresh: ForkServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forkserver, "RECYCLED_AFTER", 3)
    seen = []
    for _ in range(4):
        assert (await fresh.run(RIGHT)).ending == "passed"
        seen.append(tuple(fresh._idle))
    assert seen[0] == seen[1] != ()
    assert seen[2] == ()
    assert seen[3] not in seen[:3]
    await fresh.close()


async def test_a_dead_server_is_replaced(fresh: ForkServer) -> None:
    assert (await fresh.run(RIGHT)).ending == "passed"
    server = fresh._idle[0]
    os.kill(server._process.pid, signal.SIGKILL)
    await asyncio.to_thread(select.select, [server.control], [], [], 10)
    assert (await fresh.run(RIGHT)).ending == "passed"
    await fresh.close()


async def test_a_server_that_dies_under_a_program_is_no_fault_of_the_program(fresh: ForkServer) -> None:
    assert (await fresh.run(RIGHT)).ending == "passed"
    server = fresh._idle[0]
    asleep = FunctionTest("import time\ndef f(x): time.sleep(9)", "f", RIGHT.test, limits=Limits(wall_seconds=20))
    asyncio.get_running_loop().call_later(0.4, os.kill, server._process.pid, signal.SIGKILL)
    with pytest.raises(SandboxError):
        await fresh.run(asleep)
    assert (await fresh.run(RIGHT)).ending == "passed"
    await fresh.close()


async def test_closing_leaves_nobody(fresh: ForkServer) -> None:
    before = servers()
    assert (await fresh.run(RIGHT)).ending == "passed"
    assert servers() - before
    await fresh.close()
    assert not servers() - before


async def test_where_no_server_can_be_built_bubblewrap_takes_over(
    fresh: ForkServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forkserver, "_OPTIONS", ())
    chosen = FirstThatWorks([fresh, Bubblewrap(1)])
    described = chosen.describe()
    assert (described.level, described.by) == ("namespaces", "bubblewrap")
    assert "passed over warm fork-server" in described.detail
    assert (await chosen.run(RIGHT)).ending == "passed"


def test_filters_are_whole_and_made_only_for_known_machines() -> None:
    assert len(program("x86_64")) % 8 == len(program("aarch64")) % 8 == 0
    assert program("x86_64") != program("aarch64")
    with pytest.raises(KeyError):
        program("vax")


def test_a_group_is_removed_with_its_maker() -> None:
    group = make_group()
    if group is None:
        pytest.skip("no control group can be made here")
    assert all(folder.is_dir() for folder in group.folders)
    group.remove()
    assert not any(folder.exists() for folder in group.folders)


def test_the_search_for_groups_leaves_nothing() -> None:
    def there() -> set[Path]:
        return set(Path("/sys/fs/cgroup").rglob(f"measurand-{os.getpid()}-*"))

    before = there()
    group = make_group()
    if group:
        group.remove()
    assert there() == before


async def test_a_test_reaches_nobody_from_the_network_that_it_shares_with_the_server(fresh: ForkServer) -> None:
    """Neither this machine, nor the candidate beside it, nor the test before it."""
    name = f"measurand-{os.getpid()}"
    listens = (
        "import socket\ns = socket.socket(socket.AF_UNIX)\ns.bind('\\0{}')\ns.listen()\n"
        "t = socket.create_server(('127.0.0.1', 0))\ndef f(x):\n    return t.getsockname()[1]"
    )
    test = (
        "import socket\n"
        "def fails(connect):\n"
        "    try: connect()\n"
        "    except OSError: return True\n"
        "def unix(name): return lambda: socket.socket(socket.AF_UNIX).connect(chr(0) + name)\n"
        "def tcp(port): return lambda: socket.create_connection(('127.0.0.1', port), 1)\n"
        "def check(candidate):\n"
        f"    assert all(map(fails, [unix('{name}-candidate'), unix('{name}'), tcp(candidate(0)), tcp(PORT)]))\n"
        f"    assert fails(unix('{name}-test')), 'the test before left something'\n"
        f"    left = socket.socket(socket.AF_UNIX); left.bind(chr(0) + '{name}-test'); left.listen()\n"
    )
    server = await asyncio.start_server(lambda _r, w: w.close(), "127.0.0.1", 0)
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(f"\0{name}")
        unix.listen()
        test = test.replace("PORT", str(server.sockets[0].getsockname()[1]))
        for _ in range(2):
            result = await fresh.run(FunctionTest(listens.format(f"{name}-candidate"), "f", test))
            assert (result.ending, result.detail) == ("passed", "")
    server.close()
    await server.wait_closed()
    await fresh.close()


async def test_without_control_groups_memory_is_watched(fresh: ForkServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forkserver, "make_group", lambda: None)
    assert "memory watched, without control group" in fresh.describe().detail
    shares_out = (
        "import os, time\ndef f(x):\n    for _ in range(5):\n        if os.fork() == 0:\n"
        "            held = bytearray(100_000_000)\n            for i in range(0, len(held), 4096): held[i] = 1\n"
        "            time.sleep(60)\n    time.sleep(60)"
    )
    limits = Limits(cpu_seconds=10, wall_seconds=30, memory_bytes=1 << 28)
    result = await fresh.run(FunctionTest(shares_out, "f", RIGHT.test, limits=limits))
    assert (result.ending, result.detail) == ("memory", "the limit of memory of all processes together")
    await fresh.close()
