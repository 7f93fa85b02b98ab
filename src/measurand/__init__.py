"""Measurand: evaluate language models, and decide on what was measured.

The public names are resolved when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from measurand.core.benchmark import (
        Aggregation,
        Benchmark,
        Card,
        Marking,
        Metric,
        Prompting,
        Reader,
        Scaffold,
        Scorer,
        Scoring,
        Task,
    )
    from measurand.core.errors import MeasurandError
    from measurand.study.content import load_benchmark
    from measurand.study.records import PrivateSet
    from measurand.wiring import Evaluation, evaluate, evaluate_async

__version__ = "0.1.0"

_HOMES = {
    "Aggregation": "core.benchmark",
    "Benchmark": "core.benchmark",
    "Card": "core.benchmark",
    "Evaluation": "wiring",
    "Marking": "core.benchmark",
    "MeasurandError": "core.errors",
    "Metric": "core.benchmark",
    "PrivateSet": "study.records",
    "Prompting": "core.benchmark",
    "Reader": "core.benchmark",
    "Scaffold": "core.benchmark",
    "Scorer": "core.benchmark",
    "Scoring": "core.benchmark",
    "Task": "core.benchmark",
    "evaluate": "wiring",
    "evaluate_async": "wiring",
    "load_benchmark": "study.content",
}

__all__ = [
    "Aggregation",
    "Benchmark",
    "Card",
    "Evaluation",
    "Marking",
    "MeasurandError",
    "Metric",
    "PrivateSet",
    "Prompting",
    "Reader",
    "Scaffold",
    "Scorer",
    "Scoring",
    "Task",
    "__version__",
    "evaluate",
    "evaluate_async",
    "load_benchmark",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"measurand.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'measurand' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
