"""The identity of somebody's Python function: a hash of its source and of the code and constants it uses."""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

UNVERSIONED = "unversioned"
"""The version of a function without source: a change of it cannot be seen."""

_PLAIN = (str, bytes, int, float, complex, type(None))


def fingerprint(function: Callable[..., Any]) -> str:
    """`sha256:` and the hash, or `unversioned` where the function itself has no source.

    Hashed are its source, the functions and classes of the same module that it names, and the plain constants
    (prompts, settings) that it names, closes over, or is bound to. What other modules do is not seen.
    """
    texts: list[str] = []
    try:
        known = _walk(function, texts, {})
    except RecursionError:  # data that holds itself
        known = False
    if not known:
        return UNVERSIONED
    return "sha256:" + hashlib.sha256("\x00".join(texts).encode("utf-8", "backslashreplace")).hexdigest()


def _walk(thing: Any, texts: list[str], seen: dict[int, Any]) -> bool:
    """Note the source of a callable and then all that it leans on; False where it has no source.

    `seen` holds what was walked by its id, and so keeps it alive: no other object can get the same id.
    """
    if id(thing) in seen:
        return True
    seen[id(thing)] = thing
    if isinstance(thing, functools.partial):
        texts.append(f"partial {_constant(thing.args)} {_constant(thing.keywords)}")
        return _walk(thing.func, texts, seen)
    if isinstance(thing, MethodType):
        owner = thing.__self__
        return _walk(thing.__func__, texts, seen) and (isinstance(owner, type) or _walk(owner, texts, seen))
    inner = inspect.unwrap(thing) if callable(thing) else thing
    coded = inner if isinstance(inner, FunctionType | type) else type(inner)
    try:
        texts.append(inspect.getsource(coded))
    except (OSError, TypeError):
        return False
    if coded is not inner:
        texts.append(_constant(getattr(inner, "__dict__", {})))
    for name, value in _named(coded):
        if isinstance(value, FunctionType | type) and value.__module__ == coded.__module__:
            _walk(value, texts, seen)
        elif constant := _constant(value):
            texts.append(f"{name}={constant}")
    return True


def _named(coded: FunctionType | type) -> Iterator[tuple[str, Any]]:
    """What a function's or a class's code leans on by name, in a fixed order: bases, globals, what it closes over."""
    if isinstance(coded, type):
        yield from ((base.__name__, base) for base in coded.__bases__)
    functions = [coded] if isinstance(coded, FunctionType) else vars(coded).values()
    for function in functions:
        if not isinstance(function, FunctionType):
            continue
        for name in sorted(_names(function.__code__)):
            if name in function.__globals__:
                yield name, function.__globals__[name]
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            try:
                yield name, cell.cell_contents
            except ValueError:  # a cell that is not filled yet
                continue


def _names(code: CodeType) -> set[str]:
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*(_names(constant) for constant in inner))


def _constant(value: Any) -> str:
    """How a plain value is written; empty for what is not plain, whose writing may differ from day to day."""
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{','.join(_constant(inner) for inner in value)}]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{_constant(key)}:{_constant(inner)}" for key, inner in value.items()) + "}"
    return ""
