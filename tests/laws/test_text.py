"""No print outside the command line, no unfinished marks, and run/ knows no provider, benchmark or practice."""

import ast
import re

import pytest

from tests.laws.tree import PACKAGE, Module, modules

MARKS = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|raise NotImplementedError")
NAMES = re.compile(
    r"openai|anthropic|google|gemini|llama|mmlu|gsm8k|humaneval|arena|red.?team|elo\b|judge_|annotat(or|ion)_",
    re.IGNORECASE,
)


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.name)
def test_nothing_prints_outside_the_command_line(module: Module):
    if module.room == "cli":
        return
    calls = [
        node.lineno
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert not calls, f"print in lines {calls}"


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.name)
def test_nothing_is_left_unfinished(module: Module):
    assert not MARKS.findall(module.source)


@pytest.mark.parametrize("module", [m for m in modules() if m.room == "run"], ids=lambda module: module.name)
def test_run_names_no_one(module: Module):
    assert not NAMES.findall(module.source)


def test_no_path_of_a_machine():
    for path in PACKAGE.rglob("*"):
        if path.suffix in {".py", ".j2", ".css"}:
            assert not re.search(r"(?<![\w.])/(work|root|farm)/", path.read_text(encoding="utf-8")), path
