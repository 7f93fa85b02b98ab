"""MBPP: stored programs of GPT-4, run again, and our prompts beside those of lm-eval and inspect_evals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.mbpp import BENCHMARK, EXEMPLARS, TESTED, VARIANTS
from measurand.core.fidelity import Cause, Figure, Rendering, Rescoring, Side, Stored
from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.trial import Measured
from measurand.data.stored import rows_of

CAUSE = (
    "the flags were made in one process whose globals every program shares; from the program on that defines a function "
    "named sum, none that calls the built-in sum is flagged right"
)


def simple_gpt4(stored: Stored) -> Iterator[Figure]:
    """Tasks of MultiPL-E, whose tests come with a main part of their own that is left out."""
    rows = rows_of(stored.folder / "mbpp/simple_gpt4_mbpp_py.jsonl")
    answers = []
    for row in rows:
        gold = {"prompt": "", "entry_point": row["entry_point"], "test": row["test"].partition("\ndef test_check")[0]}
        answers.append((Item(row["name"], Question(row["prompt"]), gold=gold), Answer(row["solution"])))
    passed = [marks["pass_at_1"] == Measured((1.0,)) for marks in stored.mark(VARIANTS["chat"].scoring, answers)]
    flags = [row["is_solved"] for row in rows]
    yield Figure(f"GPT-4, solved of {len(rows)}", sum(flags), sum(passed), cause=CAUSE, known=324)
    agree = sum(a == b for a, b in zip(passed, flags, strict=True))
    yield Figure("GPT-4, flags that agree", len(rows), agree, cause=CAUSE, known=391)


RESCORINGS = (
    Rescoring(
        "mbpp",
        "noahshinn/reflexion@218cf0e, simple GPT-4",
        ("mbpp/simple_gpt4_mbpp_py.jsonl",),
        simple_gpt4,
        runs_code=True,
    ),
)


def _row(number: int) -> dict[str, Json]:
    """A problem of our own making in the schema of the full set, whose programs have the line ends of the official file."""
    return {
        "task_id": number,
        "text": f"{number} is to be added to a number by a function.",
        "code": f"def add_{number}(x):\r\n  return x + {number} ",
        "test_list": [f"assert add_{number}({given}) == {given + number} " for given in range(3)],
        "test_setup_code": "",
        "challenge_test_list": [],
    }


def _sanitised(row: dict[str, Json]) -> dict[str, Json]:
    """The same problem in the schema of the sanitised set."""
    named = {name: row[name] for name in ("task_id", "code", "test_list")}
    return {**named, "prompt": row["text"], "source_file": "none", "test_imports": []}


ROWS, SHOTS = [_row(number) for number in TESTED[:20]], [_row(number) for number in EXEMPLARS]


def completion(_: Path) -> Side:
    """Three solved problems and each of twenty; lm-eval holds the exemplars in its code, so it is given ours."""
    return Side({"test": ROWS, "exemplars": SHOTS}, render_rows(BENCHMARK, {"test": ROWS, "prompt": SHOTS}))


def chat(_: Path) -> Side:
    """Twenty problems of the sanitised set."""
    rows = [_sanitised(row) for row in ROWS]
    return Side({"test": rows, "prompt": SHOTS}, render_rows(VARIANTS["sanitised_chat"], {"test": rows}))


UNIX = Cause(
    "lines of the official programs end with a carriage return and a line feed; lm-eval shows both, we the line feed",
    lambda text: re.sub(r"(?s)(?<=\[BEGIN\]\n).*?(?=\n\[DONE\])", lambda code: code[0].replace("\n", "\r\n"), text),
)
BETWEEN = Cause(
    "other words stand between the task and its tests",
    lambda text: text.replace(
        "\n\nIt will be called as in these tests, which it must pass:\n\n```", "\n```\n\n## Test Case:\n```"
    ),
)

PROMPTS = (
    Rendering("mbpp", "mbpp/mbpp.yaml", completion, shots=3, causes=(UNIX,)),
    Rendering(
        "mbpp:sanitised_chat",
        "mbpp/mbpp",
        chat,
        causes=(BETWEEN,),
        peer="inspect-evals",
        framed="inspect_evals has an instruction and three exemplars of its own before the task; we ask without exemplars",
    ),
)
