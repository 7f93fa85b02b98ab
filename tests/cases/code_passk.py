"""Theme code-passk: pass@k from counts, and whether a reply holds a program that passes its test."""

from __future__ import annotations

import asyncio
from typing import Any

from measurand.core.errors import InputError
from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.program import Result
from measurand.core.trial import Measured, Missing
from measurand.sandboxes import find_sandbox
from measurand.scoring.code import CODE, CODE_COMPLETION, FUNCTION_TEST
from measurand.stats.passk import mean_pass_at_k


def code_passk(case: dict[str, Any]) -> dict[str, Any]:
    return pass_at_k(case) if case["task"] == "pass_at_k" else code_eval(case)


def pass_at_k(case: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"value": mean_pass_at_k([(each["n"], each["c"]) for each in case["problems"]], case["k"])}
    except InputError as error:
        return {"value": None, "error": "_".join(str(error).partition(":")[0].split())}


def code_eval(case: dict[str, Any]) -> dict[str, Any]:
    gold = {name: case[name] for name in ("prompt", "entry_point", "test")}
    item = Item("case", Question(case["prompt"]), gold=gold)
    reader = CODE_COMPLETION if case.get("mode") == "completion" else CODE
    program = FUNCTION_TEST.program(item, reader.read(item, Answer(case["response"] or "")))
    if isinstance(program, Measured | Missing):
        return outcome(program, "no_code")
    result: Result = asyncio.run(find_sandbox().run(program))
    return outcome(FUNCTION_TEST.verdict(item, result), result.ending)


def outcome(value: Measured | Missing, status: str) -> dict[str, Any]:
    passed = value.row == (1.0,) if isinstance(value, Measured) else None
    return {"passed": passed, "status": status}
