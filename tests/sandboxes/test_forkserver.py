"""The server behind the jails: replaced when it is old or out of order, ended when its sandbox is closed."""

import asyncio
import os
import signal
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
    os.kill(fresh._idle[0]._process.pid, signal.SIGKILL)
    await asyncio.sleep(0.2)
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
