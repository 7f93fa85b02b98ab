"""A user's own function as a scorer, identified by its source."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import math
from collections.abc import Callable
from typing import Any

from measurand.core.benchmark import Scorer
from measurand.core.errors import InputError
from measurand.core.item import Item
from measurand.core.trial import Finding, Found, Measured, Missing

Function = Callable[[str, Item], Any]

UNVERSIONED = 0
"""The version of a scorer whose identity is the hash of its source."""


def from_function(
    function: str | Function, *, columns: tuple[str, ...] = (), low: float | None = 0.0, high: float | None = 1.0
) -> Scorer:
    """A scorer that calls `function(text, item)`, a callable or "module:function".

    It returns a bool, a number from `low` to `high` (None: unbounded), or a dict with a number for each of
    `columns`, in whose order they make the row. An exception, NaN, infinity or a number out of range is
    missing for that item alone, with the reason. The scorer is named name@sha256:<12 hex digits of its
    source> and has version 0: it moves whenever the source does.

    Raises:
        InputError: the function cannot be found, or its source cannot be read.
    """
    call = _load(function) if isinstance(function, str) else function
    name = getattr(call, "__name__", type(call).__name__)

    def score(item: Item, finding: Finding) -> Measured | Missing:
        text = str(finding.value) if isinstance(finding, Found) else ""
        try:
            value = call(text, item)
            return _row(value, columns, low, high)
        except Exception as error:  # noqa: BLE001  # a user's function may raise anything, and only this item may suffer
            return Missing("scorer_failed", f"{name} raised {type(error).__name__}: {_sentence(error)}")

    return Scorer(f"{name}@sha256:{_digest(call, name)}", UNVERSIONED, score)


def _sentence(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or "no message"


def _row(value: Any, columns: tuple[str, ...], low: float | None, high: float | None) -> Measured | Missing:
    if isinstance(value, dict):
        if set(value) != set(columns):
            return Missing("scorer_failed", f"returned {sorted(map(str, value))} where columns are {list(columns)}")
        numbers = [value[column] for column in columns]
    else:
        numbers = [value]
    row = []
    for number in numbers:
        if not isinstance(number, int | float):
            return Missing("scorer_failed", f"returned {type(number).__name__}, not a bool or a number")
        if not math.isfinite(number):
            return Missing("scorer_failed", f"returned {number}, which is not a finite number")
        if (low is not None and number < low) or (high is not None and number > high):
            return Missing("scorer_failed", f"returned {number}, outside of {low} to {high}")
        row.append(float(number))
    return Measured(tuple(row))


def _load(path: str) -> Function:
    module_name, _, attribute = path.partition(":")
    if not module_name or not attribute:
        raise InputError(f"a scorer function is named module:function, not {path!r}")
    try:
        call = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"the scorer function {path} cannot be found: {_sentence(error)}") from error
    if not callable(call):
        raise InputError(f"{path} is not a function; name one that takes (text, item)")
    found: Function = call
    return found


def _digest(call: Function, name: str) -> str:
    source = call if inspect.isroutine(call) else type(call)
    try:
        text = inspect.getsource(source)
    except (OSError, TypeError) as error:
        raise InputError(f"the source of {name} cannot be read, so it has no identity; define it in a file") from error
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
