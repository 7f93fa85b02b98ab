"""Run cases and compare: only the fields that `expected` names, floats to a tolerance, errors by what they contain."""

from __future__ import annotations

import json
import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cases.adapter import THEMES

TOLERANCE = 1e-3
CHOICES = Path(__file__).parent / "choices.toml"


@dataclass
class Theme:
    """How the cases of a theme went. `chosen` are disputed cases in which we decided otherwise."""

    passed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    chosen: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        return len(self.passed) + len(self.failed)


def run_file(path: Path) -> dict[str, Theme]:
    """Run every case of the themes that there are; a theme without an adapter is not listed."""
    chosen = set(tomllib.loads(CHOICES.read_text(encoding="utf-8")))
    themes: dict[str, Theme] = defaultdict(Theme)
    for line in path.read_text(encoding="utf-8").split("\n"):
        if not line.strip():
            continue
        case = json.loads(line)
        if case["theme"] not in THEMES:
            continue
        theme = themes[case["theme"]]
        if passes(case):
            theme.passed.append(case["id"])
        else:
            disputed = "[disputed" in case["why"] and case["id"] in chosen
            (theme.chosen if disputed else theme.failed).append(case["id"])
    return dict(sorted(themes.items()))


def passes(case: dict[str, Any]) -> bool:
    """Whether the product says what the case expects."""
    try:
        said = THEMES[case["theme"]](case["input"])
    except Exception:  # noqa: BLE001 - a crash is a failed case, whatever it is
        return False
    return same(
        case["expected"],
        said,
        case["expected"].get("tol", TOLERANCE) if isinstance(case["expected"], dict) else TOLERANCE,
    )


def same(expected: Any, said: Any, tolerance: float) -> bool:
    """Compare as the cases' README says."""
    if isinstance(expected, dict):
        return isinstance(said, dict) and all(
            name in said and _field(name, value, said[name], tolerance)
            for name, value in expected.items()
            if name != "tol"
        )
    if isinstance(expected, list):
        return (
            isinstance(said, list | tuple)
            and len(said) == len(expected)
            and all(same(one, other, tolerance) for one, other in zip(expected, said, strict=True))
        )
    if isinstance(expected, bool) is not isinstance(said, bool):
        return False
    if isinstance(expected, int | float) and isinstance(said, int | float):
        return abs(expected - said) <= tolerance
    return bool(expected == said)


def _field(name: str, expected: Any, said: Any, tolerance: float) -> bool:
    """An expected error is a phrase that our sentence must contain."""
    if name == "error" and isinstance(expected, str) and isinstance(said, str):
        return expected in said
    return same(expected, said, tolerance)
