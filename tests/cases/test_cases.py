"""The public cases, where they are at hand; and that the comparison can fail."""

import os
from pathlib import Path

from tests.cases.adapter import THEMES
from tests.cases.running import run_file, same
from tests.needs import lacking

ROOT = Path(__file__).resolve().parents[2]


def cases_file() -> Path:
    path = Path(os.environ.get("MEASURAND_CASES", ROOT.parent / "shared" / "cases" / "cases-open.jsonl"))
    if not path.exists():
        lacking(f"no cases at {path}: set MEASURAND_CASES to a file of them")
    return path


def test_every_open_case_is_met():
    themes = run_file(cases_file())
    assert set(themes) == set(THEMES)
    assert {name: theme.failed for name, theme in themes.items() if theme.failed} == {}


def test_the_comparison_can_fail():
    assert same({"f1": 0.6667}, {"f1": 2 / 3, "more": 1}, 1e-3)
    assert not same({"f1": 0.66}, {"f1": 2 / 3}, 1e-3)
    assert not same({"answer": None}, {"answer": "A"}, 1e-3)
    assert not same({"score": 1}, {"score": True}, 1e-3)
    assert not same({"missing": 1}, {}, 1e-3)
    assert same({"error": "line 2"}, {"error": "file, line 2: not an object"}, 1e-3)
    assert not same([1, 2], [1], 1e-3)
