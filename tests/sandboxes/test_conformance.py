"""Each sandbox, by the one suite."""

import asyncio
import time
from collections.abc import Callable
from typing import Literal

import pytest

from measurand.core.errors import SandboxError
from measurand.core.ports import Sandbox
from measurand.sandboxes import find_sandbox
from measurand.sandboxes.choice import FirstThatWorks
from measurand.sandboxes.fake import FakeSandbox
from measurand.sandboxes.jailer import Jailer
from measurand.sandboxes.refuse import NoSandbox
from tests.sandboxes.conformance import ENDLESS, RIGHT, SandboxConformance, scripted


class TestJails(SandboxConformance):
    found: Jailer

    @pytest.fixture(autouse=True)
    def _found(self, sandbox: Jailer) -> None:
        self.found = sandbox

    def make(self) -> Sandbox:
        return self.found

    async def test_a_cancelled_program_is_gone(self, survivors: Callable[[], set[int]]) -> None:
        for wait in (0.0, 0.01, 0.3):
            running = asyncio.create_task(self.found.run(ENDLESS))
            await asyncio.sleep(wait)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert not survivors()
        assert (await self.found.run(RIGHT)).ending == "passed"

    def test_it_outlives_an_event_loop(self) -> None:
        async def three() -> set[str]:
            return {result.ending for result in await asyncio.gather(*(self.found.run(RIGHT) for _ in range(3)))}

        assert asyncio.run(three()) == asyncio.run(three()) == {"passed"}

    async def test_it_runs_no_more_at_once_than_it_may(self) -> None:
        narrow = type(self.found)(parallel=1)
        sleeping = type(ENDLESS)("import time\ndef f(x):\n    time.sleep(0.4)\n    return 2\n", "f", RIGHT.test)
        began = time.monotonic()
        results = await asyncio.gather(narrow.run(sleeping), narrow.run(sleeping))
        assert [result.ending for result in results] == ["passed", "passed"]
        assert time.monotonic() - began > 0.8
        await narrow.close()


class TestFake(SandboxConformance):
    def make(self) -> Sandbox:
        return FakeSandbox(scripted())

    async def test_it_keeps_what_it_was_given(self) -> None:
        fake = FakeSandbox(scripted())
        await fake.run(RIGHT)
        assert fake.programs == [RIGHT]


class TestNone(SandboxConformance):
    def make(self) -> Sandbox:
        return NoSandbox("nothing isolates here; install something that does")


class TestChoice(SandboxConformance):
    def make(self) -> Sandbox:
        return FirstThatWorks([NoSandbox("nothing here"), FakeSandbox(scripted())])

    def test_it_says_what_was_passed_over(self) -> None:
        assert self.make().describe().detail == "executes nothing; passed over nothing: nothing here"

    async def test_where_none_works_each_speaks_once(self) -> None:
        none = FirstThatWorks([NoSandbox("first"), NoSandbox("first"), NoSandbox("last")])
        assert none.describe().detail == "first; or: last"
        with pytest.raises(SandboxError, match="first; or: last"):
            await none.run(RIGHT)


def test_the_one_that_is_found_tries_nothing_before_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    sandbox = find_sandbox(parallel=3)
    assert sandbox.describe().level == "none"
    assert "bubblewrap" in sandbox.describe().detail
    assert "docker" in sandbox.describe().detail


@pytest.mark.parametrize(("prefer", "other"), [("docker", "bubblewrap"), ("namespaces", "docker")])
def test_one_kind_may_be_asked_for(
    prefer: Literal["docker", "namespaces"], other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    assert other not in find_sandbox(prefer=prefer).describe().detail


def test_other_systems_are_told_of_docker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    described = find_sandbox().describe()
    assert described.level == "none"
    assert "Docker" in described.detail
