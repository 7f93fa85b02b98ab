"""What every sandbox owes those who use it, whatever isolates it."""

import asyncio
from collections.abc import Callable

import msgspec
import pytest

from measurand.core.errors import SandboxError
from measurand.core.ports import Isolation, Sandbox
from measurand.core.program import Ending, FunctionTest, Limits, Program, Result, Script

SCRIPT = Script("print('out')")
RIGHT = FunctionTest("def f(x):\n    return x + 1\n", "f", "def check(candidate):\n    assert candidate(1) == 2\n")
WRONG = FunctionTest("def f(x):\n    return x\n", "f", RIGHT.test)
ENDLESS = FunctionTest("def f(x):\n    while True: pass\n", "f", RIGHT.test, limits=Limits(cpu_seconds=30))
ENDINGS: dict[Program, Ending] = {SCRIPT: "finished", RIGHT: "passed", WRONG: "wrong_answer"}


class SandboxConformance:
    """Subclass it and give `make`."""

    def make(self) -> Sandbox:
        raise AssertionError("give a sandbox")

    def test_it_describes_itself_twice_alike(self) -> None:
        sandbox = self.make()
        first = sandbox.describe()
        assert isinstance(first, Isolation)
        assert sandbox.describe() == first
        assert first.level != "none" or first.detail

    async def test_it_says_how_programs_end_or_refuses_all(self) -> None:
        sandbox = self.make()
        for program, ending in ENDINGS.items():
            if refuses(sandbox):
                with pytest.raises(SandboxError, match=r"."):
                    await sandbox.run(program)
                continue
            result = await sandbox.run(program)
            assert result.ending == ending
            assert msgspec.convert(msgspec.to_builtins(result), Result) == result
        await sandbox.close()

    async def test_many_at_once_do_not_mix(self) -> None:
        sandbox = self.make()
        if refuses(sandbox):
            return
        programs: list[Program] = [RIGHT, WRONG, SCRIPT, WRONG, RIGHT]
        results = await asyncio.gather(*map(sandbox.run, programs))
        assert [result.ending for result in results] == [ENDINGS[program] for program in programs]

    async def test_it_may_be_closed_twice(self) -> None:
        sandbox = self.make()
        await sandbox.close()
        await sandbox.close()


def refuses(sandbox: Sandbox) -> bool:
    found = sandbox.describe()
    return found.level == "none" and not found.accepted


def scripted() -> Callable[[Program], Result]:
    return lambda program: Result(ENDINGS[program])
