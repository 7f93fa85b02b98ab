"""Without isolation: the limits and the deadline hold still, and whoever did not accept it never gets it."""

import os
import time

import pytest

from measurand.core.errors import InputError
from measurand.core.ports import Sandbox
from measurand.core.program import FunctionTest, Limits, Script
from measurand.sandboxes import accept_none
from measurand.sandboxes.fake import FakeSandbox
from measurand.sandboxes.refuse import NoSandbox
from measurand.sandboxes.unconfined import SENTENCE, Unconfined
from measurand.sandboxes.usage import descendants
from tests.sandboxes.conformance import RIGHT, SandboxConformance, scripted

LIMITS = Limits(cpu_seconds=0.5, wall_seconds=2)


class TestUnconfined(SandboxConformance):
    def make(self) -> Sandbox:
        return accept_none(SENTENCE, NoSandbox("nothing here"))

    async def test_endless_programs_end(self) -> None:
        for source in ("while True: pass", "import time; time.sleep(60)"):
            began = time.monotonic()
            program = FunctionTest(f"def f(x):\n    {source}\n", "f", RIGHT.test, limits=LIMITS)
            assert (await self.make().run(program)).ending == "timeout"
            assert time.monotonic() - began < 20

    async def test_the_group_of_a_program_ends_with_it(self) -> None:
        forks = "import os, time\nif os.fork() == 0: time.sleep(60)\nprint('done')"
        before = set(descendants(os.getpid()))
        assert (await self.make().run(Script(forks))).stdout == "done\n"
        assert not set(descendants(os.getpid())) - before

    async def test_no_secret_of_the_environment_is_handed_over(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-never")
        result = await self.make().run(Script("import os; print(sorted(os.environ), os.getcwd()); open('x', 'w')"))
        assert "OPENAI_API_KEY" not in result.stdout
        assert not os.path.exists(result.stdout.split()[-1])  # noqa: ASYNC240, PTH110 - it is quick, and no path is kept

    async def test_memory_and_output_are_limited(self) -> None:
        endings = [
            (await self.make().run(FunctionTest(source, "f", RIGHT.test))).ending
            for source in ("def f(x): return len(bytearray(1 << 33))", "def f(x):\n    while True: print('x' * 9999)")
        ]
        assert endings == ["memory", "output_limit"]

    async def test_tricks_in_the_process_of_the_program_do_not_pass(self) -> None:
        for source in ("import os\ndef f(x): os._exit(0)", "class E(int):\n    __eq__ = bool\ndef f(x): return E(1)"):
            assert (await self.make().run(FunctionTest(source, "f", RIGHT.test))).ending != "passed"


def test_it_says_why_and_as_whom() -> None:
    described = Unconfined("no bubblewrap").describe()
    assert (described.level, described.accepted) == ("none", True)
    assert f"user {os.geteuid()}" in described.detail
    assert "no bubblewrap" in described.detail


async def test_where_there_is_isolation_it_is_used_all_the_same() -> None:
    fake = FakeSandbox(scripted())
    assert accept_none(SENTENCE, fake) is fake


@pytest.mark.parametrize("sentence", ["yes", SENTENCE.lower(), f" {SENTENCE}"])
async def test_any_other_sentence_is_refused(sentence: str) -> None:
    with pytest.raises(InputError, match="type exactly"):
        accept_none(sentence, NoSandbox("nothing"))


def test_other_systems_run_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(InputError, match="only on Linux"):
        accept_none(SENTENCE, NoSandbox("nothing"))
