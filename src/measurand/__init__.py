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
    from measurand.study.gating import GateOptions
    from measurand.study.load import load_study
    from measurand.study.records import Candidate, PrivateSet, PublicBenchmark, Study
    from measurand.wiring import Evaluation, evaluate, evaluate_async
    from measurand.wiring.comparing import compare
    from measurand.wiring.gating import gate
    from measurand.wiring.studying import decide

__version__ = "0.1.0"

_HOMES = {
    "Aggregation": "core.benchmark",
    "Benchmark": "core.benchmark",
    "Candidate": "study.records",
    "Card": "core.benchmark",
    "Evaluation": "wiring",
    "GateOptions": "study.gating",
    "Marking": "core.benchmark",
    "MeasurandError": "core.errors",
    "Metric": "core.benchmark",
    "PrivateSet": "study.records",
    "Prompting": "core.benchmark",
    "PublicBenchmark": "study.records",
    "Reader": "core.benchmark",
    "Scaffold": "core.benchmark",
    "Scorer": "core.benchmark",
    "Scoring": "core.benchmark",
    "Study": "study.records",
    "Task": "core.benchmark",
    "compare": "wiring.comparing",
    "decide": "wiring.studying",
    "evaluate": "wiring",
    "evaluate_async": "wiring",
    "gate": "wiring.gating",
    "load_benchmark": "study.content",
    "load_study": "study.load",
}

__all__ = [
    "Aggregation",
    "Benchmark",
    "Candidate",
    "Card",
    "Evaluation",
    "GateOptions",
    "Marking",
    "MeasurandError",
    "Metric",
    "PrivateSet",
    "Prompting",
    "PublicBenchmark",
    "Reader",
    "Scaffold",
    "Scorer",
    "Scoring",
    "Study",
    "Task",
    "__version__",
    "compare",
    "decide",
    "evaluate",
    "evaluate_async",
    "gate",
    "load_benchmark",
    "load_study",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"measurand.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'measurand' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
