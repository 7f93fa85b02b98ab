"""HumanEval+: HumanEval's problems with some eighty times as many tests (Liu et al. 2023)."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from measurand.benchmarks.humaneval import BENCHMARK as HUMANEVAL
from measurand.benchmarks.humaneval import CARD as HUMANEVAL_CARD
from measurand.benchmarks.humaneval import VARIANTS as HUMANEVAL_VARIANTS
from measurand.core.benchmark import Benchmark, Task
from measurand.core.errors import DataError
from measurand.core.item import Item, Question, Row
from measurand.core.record import Json
from measurand.core.source import Hub
from measurand.scoring.differential import differential_test

ORACLES = {
    # Any root will do: the polynomial must be within the tolerance of zero there.
    "HumanEval/32": """\
def agrees(got, expected, arguments):
    return abs(sum(factor * got**power for power, factor in enumerate(arguments[0]))) <= 1e-4
""",
}
"""Tests of their own, for problems with more than one right answer."""

CPU_SECONDS = {
    "HumanEval/15": 20.0,
    "HumanEval/36": 8.0,
    "HumanEval/59": 10.0,
    "HumanEval/83": 8.0,
    "HumanEval/94": 8.0,
    "HumanEval/100": 8.0,
    "HumanEval/130": 20.0,
    "HumanEval/139": 20.0,
}
"""Limits where the usual is less than four times what the reference takes on all inputs (EvalPlus's factor)."""


def to_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """Rows of the release (inputs as JSON) or of the hub (inputs as Python in `test`), in the official order."""
    items = []
    for number, row in enumerate(rows):
        where = f"humaneval_plus: row {number + 1} of {source}"
        task_id, prompt, name, body = (
            row.get(column) for column in ("task_id", "prompt", "entry_point", "canonical_solution")
        )
        if not (
            isinstance(task_id, str) and isinstance(prompt, str) and isinstance(name, str) and isinstance(body, str)
        ):
            message = (
                f"{where} lacks a text in `task_id`, `prompt`, `entry_point` or `canonical_solution`; "
                "give the official columns"
            )
            raise DataError(message)
        inputs, atol = inputs_of(row, where)
        gold = {
            "prompt": prompt,
            "entry_point": name,
            "test": differential_test(prompt + body, name, inputs, atol, ORACLES.get(task_id, "")),
            "canonical_solution": body,
            "cpu_seconds": CPU_SECONDS.get(task_id),
        }
        origin = Row(f"humaneval_plus/{source}", number, made="synthetic")
        items.append(Item(id=task_id, input=Question(prompt), gold=gold, language="en", origin=origin))
    return items


def inputs_of(row: Mapping[str, Json], where: str) -> tuple[str, float]:
    """All inputs as a Python literal, and the tolerance. Raises DataError where the row holds neither form."""
    base, plus, atol = (row.get(name) for name in ("base_input", "plus_input", "atol"))
    if isinstance(base, list) and isinstance(plus, list) and isinstance(atol, int | float):
        return repr([*base, *plus]), float(atol)
    test = row.get("test")
    literal = _assigned(test, "inputs") if isinstance(test, str) else None
    if not isinstance(test, str) or literal is None:
        message = f"{where} has neither `base_input`, `plus_input` and `atol` nor a `test` that lists its inputs"
        raise DataError(message)
    stated = _TOLERANCE.search(test)
    return literal, float(stated[1]) if stated else 0.0


_TOLERANCE = re.compile(r"assertion\(candidate\(\*inp\), [^\n]{1,40}, ([0-9.e-]{1,10})\)")


def _assigned(source: str, name: str) -> str | None:
    """The source of what is assigned to a name, anywhere in a program."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id == name for to in node.targets):
            return ast.unparse(node.value)
    return None


CARD = msgspec.structs.replace(
    HUMANEVAL_CARD,
    title="HumanEval+",
    blind_spots=(
        "The problems are those of HumanEval, as public and as much trained on; only the tests are new.",
        "Near saturation: frontier models pass eight to nine in ten.",
        (
            "An answer is compared with that of a reference solution, so a fault of the reference fails right programs. "
            "Arguments and answers cross by value: what a function does to its arguments is not seen."
        ),
    ),
    canonical_source="evalplus/humanevalplus, 164 problems (release v0.1.10 of HumanEvalPlus.jsonl.gz, which may stand in); dated by arXiv:2305.01210",
    canonical_protocol=(
        "As HumanEval, greedy. Right is what equals the reference's answer on all inputs, old and new; floats within 1e-6, "
        "or as the problem states. EvalPlus gives each input its own limit, at least 1 s on the clock and four times the "
        "reference's; here a problem has 3 s of processor time in all, and more where the reference is slow."
    ),
    licence="Apache-2.0",
    released="2023-05-02",
    saturated_at=None,
    errata=(
        "HumanEval/32 accepts any root that leaves at most 1e-4; the test in the hub's copy is broken and not used.",
        "The docstrings of HumanEval/47 and HumanEval/116 have examples that the reference refutes; :errata leaves both out.",
    ),
)

TASK = Task(
    sources={
        "test": Hub("evalplus/humanevalplus", "d32357cf319e50e9c8d8dab5ea876c72b0fd321b", ("data/test-*.parquet",))
    },
    to_items=to_items,
    version=1,
)

BENCHMARK = replace(HUMANEVAL, name="humaneval_plus", task=TASK, card=CARD)

VARIANTS: dict[str, Benchmark] = {
    name: replace(variant, name=f"humaneval_plus:{name}", task=TASK, card=CARD)
    for name, variant in HUMANEVAL_VARIANTS.items()
}
