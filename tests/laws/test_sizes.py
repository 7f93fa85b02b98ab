"""A file fits in a head, a function on a screen, a signature in a line. Content is exempt; the engine never."""

import ast

import pytest

from tests.laws.tree import Module, modules

FILE, FUNCTION, PARAMETERS, DOOR, ENGINE = 400, 80, 8, 80, 300
HOUSE = [module for module in modules() if module.room not in {"benchmarks", "fidelity"}]


@pytest.mark.parametrize("module", HOUSE, ids=lambda module: module.name)
def test_sizes(module: Module):
    lines = module.source.count("\n")
    assert lines <= FILE, f"{lines} lines"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= FUNCTION, f"{node.name} has {length} lines"
            width = len(node.args.posonlyargs) + len(node.args.args) + len(node.args.kwonlyargs)
            assert width <= PARAMETERS, f"{node.name} has {width} parameters"


def test_the_engine_is_small():
    engine = next(module for module in modules() if module.name == "run.engine")
    assert engine.source.count("\n") <= ENGINE


@pytest.mark.parametrize("module", [m for m in modules() if m.name.startswith("run.doors.")], ids=lambda m: m.name)
def test_doors_are_small(module: Module):
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= DOOR, f"{node.name} has {length} lines"
