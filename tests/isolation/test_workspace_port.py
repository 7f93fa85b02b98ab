"""What every place for agents owes them, and what the jails of this machine bound together."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from measurand.core.errors import InputError, SandboxDeadError, SandboxError
from measurand.core.ports import Workspaces
from measurand.core.workspace import CommandResult, WorkspaceLimits
from measurand.sandboxes import workspace_jail, workspace_memory
from measurand.sandboxes.workspace import Workspace
from measurand.sandboxes.workspace_base import shared_base
from measurand.sandboxes.workspaces import FakeWorkspaces, JailedWorkspaces
from tests.isolation.jails import jails

__all__ = ["jails"]

BASE = {"a.txt": b"from the base\n", "sub/b.txt": b"below\n"}


def shell(command: str, files: dict[str, bytes]) -> CommandResult:
    """Knows the commands of the suite."""
    match command.split():
        case ["exit", code]:
            return CommandResult(int(code))
        case ["echo", word]:
            return CommandResult(0, f"{word}\n")
        case ["rm", path]:
            del files[path]
            return CommandResult(0)
    return CommandResult(127, stderr=f"{command}: not found\n")


class WorkspacesConformance:
    """Subclass it and give the fixture `places`, over BASE."""

    def test_they_say_how_they_isolate(self, places: Workspaces) -> None:
        assert places.describe().level != "none"
        assert places.describe() == places.describe()

    async def test_commands_end_with_a_code_and_their_output(self, places: Workspaces) -> None:
        async with places.open() as one:
            assert (await one.run("exit 3", 20)).exit_code == 3
            result = await one.run("echo word", 20)
            assert (result.exit_code, result.stdout, result.timed_out) == (0, "word\n", False)
            assert (await one.run("no-such-command", 20)).exit_code == 127

    async def test_files_go_in_and_come_out(self, places: Workspaces) -> None:
        async with places.open() as one:
            await one.write("new/deep.bin", b"\0\xff")
            assert await one.read("/work/new/deep.bin") == b"\0\xff"
            found = [(entry.path, entry.kind, entry.size) for entry in await one.entries() if entry.kind == "file"]
            assert found == [("a.txt", "file", 14), ("new/deep.bin", "file", 2), ("sub/b.txt", "file", 6)]
            assert [entry.path for entry in await one.entries("sub")] == ["sub/b.txt"]

    async def test_bad_paths_are_refused(self, places: Workspaces) -> None:
        async with places.open() as one:
            for path in ("../a.txt", "/etc/passwd", "", "missing.txt"):
                with pytest.raises(InputError):
                    await one.read(path)
            with pytest.raises(InputError):
                await one.read("a.txt", limit=3)
            with pytest.raises(InputError):
                await one.write("../x", b"")

    async def test_each_changes_only_its_own(self, places: Workspaces) -> None:
        async with places.open() as one, places.open() as two:
            await one.run("rm a.txt", 20)
            await one.write("sub/b.txt", b"mine")
            assert [await two.read(path) for path in BASE] == [*BASE.values()]
        async with places.open() as three:
            assert [await three.read(path) for path in BASE] == [*BASE.values()]

    async def test_what_was_closed_answers_no_more(self, places: Workspaces) -> None:
        async with places.open() as one:
            pass
        for asked in (one.run("exit 0", 1), one.read("a.txt"), one.write("x", b""), one.entries()):
            with pytest.raises(SandboxDeadError):
                await asked


class TestFake(WorkspacesConformance):
    @pytest.fixture
    def places(self) -> Workspaces:
        return FakeWorkspaces(shell, BASE)

    async def test_it_can_break_down(self) -> None:
        async with FakeWorkspaces(shell).open() as one:
            one.dead = True
            with pytest.raises(SandboxDeadError):
                await one.run("exit 0", 1)


@pytest.mark.usefixtures("jails")
class TestJails(WorkspacesConformance):
    @pytest.fixture
    def places(self, tmp_path: Path, jails: Callable[[], set[int]]) -> Iterator[Workspaces]:
        for path, data in BASE.items():
            (tmp_path / "base" / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "base" / path).write_bytes(data)
        with shared_base(tmp_path / "base") as base:
            yield JailedWorkspaces(base)

    @pytest.mark.slow
    @pytest.mark.timeout(300)
    async def test_a_hundred_share_one_base(self, places: Workspaces) -> None:
        gate = asyncio.Semaphore(20)

        async def trial(n: int) -> str:
            async with gate, places.open() as one:
                await one.write("sub/b.txt", f"{n}\n".encode())
                return (await one.run("cat a.txt sub/b.txt", 60)).stdout

        said = await asyncio.gather(*(trial(n) for n in range(100)))
        assert said == [f"from the base\n{n}\n" for n in range(100)]


TOGETHER = WorkspaceLimits(memory_bytes=1 << 29, together_bytes=1 << 28, disk_bytes=8 << 20, processes=40)
MANY = (
    "python3 -c 'import os, time\n"
    "for n in range(6):\n"
    "  if os.fork() == 0:\n"
    "    x = bytearray(100_000_000)\n"
    "    for i in range(0, len(x), 4096): x[i] = 1\n"
    "    time.sleep(60)\n"
    "killed, end = 0, time.monotonic() + 15\n"
    "while killed < 3 and time.monotonic() < end:\n"
    "  killed += os.waitpid(-1, os.WNOHANG)[1] == 9\n"
    "  time.sleep(0.01)\n"
    "print(killed)'"
)


@pytest.fixture(params=["control group", "watched"])
async def bounded(
    request: pytest.FixtureRequest, jails: Callable[[], set[int]], monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Workspace]:
    if request.param == "watched":
        monkeypatch.setattr(workspace_memory, "make_group", lambda: None)
    async with Workspace(limits=TOGETHER) as workspace:
        yield workspace


async def test_04_processes_that_share_out_their_greed_are_killed(bounded: Workspace) -> None:
    """Six of 100 MB where 256 MB may be used: at least three must go, and the workspace stays."""
    result = await bounded.run(MANY, 60)
    assert (result.stdout, result.timed_out) == ("3\n", False)
    assert (await bounded.run("echo alive", 20)).stdout == "alive\n"


@pytest.mark.usefixtures("jails")
async def test_where_proc_cannot_be_mounted_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As inside a container that masks parts of its own."""
    real = workspace_jail.room_of_workspaces().bwrap
    script = tmp_path / "bwrap"
    fails = 'echo "bwrap: Can\'t mount proc on /newroot/proc: Operation not permitted" >&2; exit 1'
    script.write_text(f'#!/bin/sh\ncase "$*" in *--proc*) {fails};; esac\nexec {real} "$@"\n')
    script.chmod(0o755)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_mode & 0o001 == 0:
            folder.chmod(folder.stat().st_mode | 0o011)
    room = replace(workspace_jail.room_of_workspaces(), bwrap=str(script))
    monkeypatch.setattr(workspace_jail, "room_of_workspaces", lambda: room)
    with pytest.raises(SandboxError, match=r"mount proc.*systempaths=unconfined"):
        await Workspace().__aenter__()
