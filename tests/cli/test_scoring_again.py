"""`score --by`, and what is said of pass@k: stored programs are run again, by another scoring and under another name."""

import json
from pathlib import Path

import pytest

from measurand.cli.main import main
from tests.cli.test_cli import ids, place

__all__ = ["place"]

SUBJECT = ("--subject", "callable:tests.cli.systems:writes_code")
FEW = """
from dataclasses import replace
from measurand.benchmarks.humaneval import VARIANTS
from measurand.core.benchmark import Aggregation

SAMPLED = VARIANTS["samples"]
COUNTED = {name: metric for name, metric in SAMPLED.aggregation.metrics.items() if name != "pass_at_100"}
BENCHMARK = replace(
    SAMPLED,
    name="few",
    scoring=replace(SAMPLED.scoring, markings=SAMPLED.scoring.markings[:2]),
    aggregation=Aggregation(metrics=COUNTED),
)
"""


@pytest.fixture
def stored(place: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """A run of four problems, one of which has a wrong docstring by the errata."""
    assert main(["run", "humaneval", "--subset", "4", "--seed", "3", *SUBJECT, "--quiet"]) == 0
    capsys.readouterr()
    (run,) = ids()
    return run


def test_by_another_scoring_both_are_shown_and_kept(stored: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", stored, "--by", "humaneval:errata", "--json"]) == 0
    before, after = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert before["run"]["protocol"] != after["run"]["protocol"]
    assert [one["tally"]["answered"] for one in (before, after)] == [4, 4]
    parts = [json.dumps(one["protocol"]["scoring"]) for one in (before, after)]
    assert parts[0] != parts[1]
    assert before["protocol"]["asking"] == after["protocol"]["asking"]
    assert len(ids()) == 2
    assert main(["score", stored, "--by", "humaneval:errata", "--quiet"]) == 0
    shown = capsys.readouterr().out
    assert all(one["run"]["protocol"][:8] in shown for one in (before, after))
    assert len(ids()) == 2


def test_by_the_scoring_it_has_nothing_changes(stored: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", stored, "--by", "humaneval", "--json"]) == 0
    before, after = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert before["run"]["protocol"] == after["run"]["protocol"]
    assert before["views"] == after["views"]
    assert ids() == [stored]


@pytest.mark.parametrize(
    ("by", "hint"), [("humaneval:erata", "errata"), ("humaneval:samples", "pass@10 cannot be estimated from 1 ")]
)
def test_what_cannot_score_it_is_refused(by: str, hint: str, stored: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", stored, "--by", by]) == 2
    said = capsys.readouterr().err
    assert said.startswith("measurand: ")
    assert hint in said
    assert said.count("\n") == 1
    assert ids() == [stored]


@pytest.mark.usefixtures("place")
def test_more_k_than_samples_is_refused_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WROTE_CODE", str(tmp_path / "asked"))
    assert main(["run", "humaneval:samples", "--samples", "99", "--subset", "2", *SUBJECT]) == 2
    assert "pass@100 cannot be estimated from 99 samples" in capsys.readouterr().err
    assert not (tmp_path / "asked").exists()


@pytest.mark.parametrize("samples", [12, 20])
def test_few_samples_are_a_threat_that_is_shown(samples: int, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "few.py").write_text(FEW)
    assert main(["run", "few.py", "--samples", str(samples), "--subset", "1", *SUBJECT]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert (f"pass@10 is estimated from {samples} samples of each problem: with fewer than 20" in shown) is (
        samples < 20
    )
