"""How a function test and a script end: the right class for each cause, and harness faults apart."""

import msgspec
import pytest

from measurand.core.errors import SandboxError
from measurand.core.identity import canonical
from measurand.core.program import Ending, FunctionTest, Limits, Script
from measurand.sandboxes.bubblewrap import Bubblewrap
from measurand.sandboxes.jailer import Jailer

LIMITS = Limits(cpu_seconds=1, wall_seconds=5)
SUM = "def check(candidate):\n    assert candidate([1, 2]) == 3\n    assert candidate([]) == 0\n"
RIGHT = "def total(xs):\n    return sum(xs)\n"

CANDIDATES: dict[str, tuple[str, Ending, str]] = {
    "right": (RIGHT, "passed", ""),
    "wrong": ("def total(xs): return 3", "wrong_answer", ""),
    "prints": ("def total(xs):\n    print('x\\x1b[31m', xs)\n    return sum(xs)", "passed", ""),
    "syntax": ("def total(xs: return 3", "exception", "SyntaxError"),
    "null byte": ("def total(xs):\0 return 3", "exception", "SyntaxError|ValueError"),
    "not defined": ("def totals(xs): return 3", "exception", "NameError: the program does not define total"),
    "not callable": ("total = 3", "exception", "TypeError"),
    "raises": ("def total(xs): return 1 / 0", "exception", "ZeroDivisionError: division by zero"),
    "raises at import": ("raise KeyError('x')", "exception", "KeyError"),
    "own exception": ("class Own(ValueError): pass\ndef total(xs): raise Own('x')", "exception", "ValueError: x"),
    "assertion of its own": ("def total(xs): assert False, 'mine'", "exception", "AssertionError: mine"),
    "endless": ("def total(xs):\n    while True: pass", "timeout", "processor time"),
    "memory": ("def total(xs): return 'a' * 10**10", "memory", ""),
    "recursion": ("def total(xs): return total(xs)", "exception", "RecursionError"),
    "segfault": ("import ctypes\ndef total(xs): return ctypes.string_at(0)", "killed", "SIGSEGV"),
    "aborts": ("import os\ndef total(xs): os.abort()", "killed", "SIGABRT|SIGSEGV"),
    "exits": ("import os\ndef total(xs): os._exit(3)", "exception", "code 3"),
    "flood": ("def total(xs):\n    while True: print('x' * 10_000)", "output_limit", ""),
    "none": ("def total(xs): pass", "wrong_answer", ""),
    "unusable": ("def total(xs): return None if xs else 0", "wrong_answer", ""),
    "too large": ("def total(xs): return 'a' * 10**8", "wrong_answer", "larger"),
    "future": ("from __future__ import annotations\ndef total(xs: Undefined): return sum(xs)", "passed", ""),
    "dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: 'int'\ndef total(xs): return P(sum(xs)).x",
        "passed",
        "",
    ),
    "main guard": ("if __name__ == '__main__': raise SystemExit\n" + RIGHT, "passed", ""),
    "surrogate": ("def total(xs): return '\ud800'", "exception", ""),
}


@pytest.mark.parametrize("name", CANDIDATES)
async def test_each_cause_has_its_ending(sandbox: Jailer, name: str) -> None:
    source, ending, detail = CANDIDATES[name]
    result = await sandbox.run(FunctionTest(source, "total", SUM, limits=LIMITS))
    assert result.ending == ending, result
    assert any(word in result.detail for word in detail.split("|")), result
    assert len(result.stdout) <= LIMITS.output_bytes
    canonical(result)


TESTS = {
    "syntax": "def check(candidate:",
    "no check": "def chek(candidate): pass",
    "fails to load": "import nonesuch\n" + SUM,
    "at fault before any answer": "def check(candidate):\n    undefined\n    candidate([])",
    "arguments that cannot cross": "def check(candidate):\n    candidate('a' * 10**8)",
    "exits": "import sys\ndef check(candidate):\n    sys.exit(0)",
    "endless before it is loaded": "while True: pass",
}


@pytest.mark.parametrize("name", TESTS)
async def test_a_broken_test_is_no_fault_of_the_candidate(sandbox: Jailer, name: str) -> None:
    result = await sandbox.run(FunctionTest(RIGHT, "total", TESTS[name], limits=LIMITS))
    assert result.ending == "no_verdict", result
    assert result.detail


@pytest.mark.parametrize(
    ("candidate", "test", "ending"),
    [
        ("def total(n): raise ValueError(n)", "try:\n        candidate(1)\n    except ValueError: return\n    assert False", "passed"),
        ("def total(n): raise KeyError(n)", "try:\n        candidate(1)\n    except ValueError: return\n    assert False", "exception"),
        ("import sys\ndef total(n): sys.exit()", "try:\n        candidate(1)\n    except BaseException: return", "exception"),
        ("def total(n): return n", "assert candidate(n=10**5000) == 10**5000", "passed"),
        ("def total(n): return [n, (n,), {n}, {'k': 1.5}, b'x', None, True, 1j]", "assert candidate(2) == [2, (2,), {2}, {'k': 1.5}, b'x', None, True, 1j]", "passed"),
        ("from collections import Counter\ndef total(s): return Counter(s)", "assert candidate('aab') == {'a': 2, 'b': 1}", "passed"),
        ("def total(n): return float('nan')", "assert candidate(0) != candidate(0)", "passed"),
        ("def total(n): return '\\ud800'", "assert candidate(0) == '\\ud800'", "passed"),
        ("def total(n): return (i for i in [1])", "assert list(candidate(0)) == [1]", "wrong_answer"),
        ("def total(xs): xs.append(1)", "xs = []\n    candidate(xs)\n    assert xs == [1]", "wrong_answer"),
        ("def total(n): return helper(n)", "assert candidate(1) == helper(1)", "exception"),
        ("def helper(n): return 0\ndef total(n): return n + 1", "assert total(1) == helper(1) == 2", "passed"),
        ("def total(n): return n", "while candidate(1): pass", "timeout"),
        ("l = [0]\nfor _ in range(90): l = [l]\ndef total(n): return l", "candidate(0) == candidate(0)", "passed"),
        ("l = []\nl.append(l)\ndef total(n): return l", "assert candidate(0)", "wrong_answer"),
        ("import random\ndef total(n): return random.random()", "assert candidate(0) == 0.8444218515250481", "passed"),
        ("def total(n): return list({'a', 'b', 'c', 'd', 'e'})", "import pathlib\n    assert candidate(0) == list({'a', 'b', 'c', 'd', 'e'})", "passed"),
    ],
)  # fmt: skip
async def test_what_crosses(sandbox: Jailer, candidate: str, test: str, ending: Ending) -> None:
    program = FunctionTest(
        candidate, "total", f"def check(candidate):\n    {test}\n", "def helper(n):\n    return n + 1\n", LIMITS
    )
    result = await sandbox.run(program)
    assert result.ending == ending, result


async def test_processor_time_is_told(sandbox: Jailer) -> None:
    busy = "import time\ndef total(xs):\n    while time.process_time() < 0.3: pass\n    return sum(xs)"
    result = await sandbox.run(FunctionTest(busy, "total", SUM))
    assert result.ending == "passed"
    assert 0.25 < result.cpu_seconds < 1
    assert result.wall_seconds > result.cpu_seconds


SCRIPTS: dict[str, tuple[Script, Ending, int | None, str, str]] = {
    "prints": (Script("print('a')"), "finished", 0, "a\n", ""),
    "reads": (Script("print(input() + input())", stdin="x\ny\n"), "finished", 0, "xy\n", ""),
    "has no input": (Script("input()"), "finished", 1, "", "EOFError"),
    "exits": (Script("raise SystemExit(7)"), "finished", 7, "", ""),
    "exits like a signal": (Script("raise SystemExit(139)"), "finished", 139, "", ""),
    "fails": (Script("1 / 0"), "finished", 1, "", "ZeroDivisionError"),
    "is main": (Script("print(__name__)"), "finished", 0, "__main__\n", ""),
    "is killed": (Script("import ctypes; ctypes.string_at(0)"), "killed", None, "", ""),
    "sleeps": (Script("import time; time.sleep(60)", limits=Limits(wall_seconds=1)), "timeout", None, "", ""),
    "floods": (Script("while True: print('y' * 100)", limits=LIMITS), "output_limit", None, "y", ""),
}


@pytest.mark.parametrize("name", SCRIPTS)
async def test_scripts(sandbox: Jailer, name: str) -> None:
    script, ending, code, stdout, stderr = SCRIPTS[name]
    result = await sandbox.run(script)
    assert (result.ending, result.exit_code) == (ending, code), result
    assert result.stdout.startswith(stdout)
    assert stderr in result.stderr


async def test_a_program_that_cannot_be_handed_over_is_refused(sandbox: Jailer) -> None:
    with pytest.raises(SandboxError, match="larger"):
        await sandbox.run(Script("#" * 2 * 10**7))


async def test_a_jail_that_cannot_begin_is_no_fault_of_the_program(sandbox: Jailer) -> None:
    if not isinstance(sandbox, Bubblewrap):
        pytest.skip("the server forks no second process, which could be refused")
    starved = msgspec.structs.replace(LIMITS, processes=1)
    with pytest.raises(SandboxError, match="could not be built"):
        await sandbox.run(FunctionTest(RIGHT, "total", SUM, limits=starved))
