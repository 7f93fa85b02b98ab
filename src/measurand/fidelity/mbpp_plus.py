"""MBPP+: our prompts beside lm-eval's, on problems of our own in the form of the hub."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.mbpp_plus import BENCHMARK, VARIANTS
from measurand.core.benchmark import Benchmark
from measurand.core.fidelity import Cause, Rendering, Side
from measurand.core.record import Json

ROWS: list[dict[str, Json]] = [
    {
        "task_id": number,
        "prompt": f"{number} is to be added to a number by a function.",
        "code": f"def add_{number}(x):\n  return x + {number}",
        "test_list": [f"assert add_{number}({given}) == {given + number}" for given in range(3)],
        "test": f"inputs = [[0], [1], [2]]\nresults = [{number}, {number + 1}, {number + 2}]\n",
        "test_imports": [],
        "source_file": "none",
    }
    for number in range(11, 31)
]

SAID = Cause(
    "lm-eval says in words that the test must be met; in EvalPlus' docstring, which is ours, it follows the task",
    lambda text: re.sub(r"(?<=\.)\n(?=assert )", " Your code should satisfy the following assertion:\n", text, count=1),
)


def of(benchmark: Benchmark) -> Callable[[Path], Side]:
    """The same rows on both sides."""
    return lambda _: Side({"test": ROWS}, render_rows(benchmark, {"test": ROWS}))


TASK = "mbpp/mbpp_plus_instruct.yaml"

PROMPTS = (
    Rendering(
        "mbpp_plus",
        TASK,
        of(BENCHMARK),
        causes=(SAID,),
        framed="lm-eval asks in chat and begins the reply; we give EvalPlus' docstring as it is, for completion",
    ),
    Rendering(
        "mbpp_plus:chat",
        TASK,
        of(VARIANTS["chat"]),
        causes=(SAID,),
        framed="lm-eval has no instruction but begins the reply; we ask for one fenced block, around EvalPlus' docstring",
    ),
)
