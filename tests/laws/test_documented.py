"""Every public name is documented, and every public annotation can be resolved."""

import ast

import pytest

from tests.laws.tree import Module, modules


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.name)
def test_every_public_name_is_documented(module: Module):
    bare = [] if ast.get_docstring(module.tree) else ["the module"]
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            if not ast.get_docstring(node):
                bare.append(node.name)
            if isinstance(node, ast.ClassDef):
                bare += [
                    f"{node.name}.{inner.name}"
                    for inner in node.body
                    if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)
                    and not inner.name.startswith("_")
                    and not ast.get_docstring(inner)
                    and not any(ast.unparse(mark).endswith(".setter") for mark in inner.decorator_list)
                ]
    assert not bare


def test_the_public_names_resolve():
    import measurand

    for name in measurand.__all__:
        assert getattr(measurand, name) is not None
