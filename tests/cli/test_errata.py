"""`measurand score --errata`: stored answers by corrected golds, and what moves."""

from pathlib import Path

import pytest

from measurand.cli.main import main
from measurand.store import open_store

ROOT = Path(__file__).resolve().parents[2]
SUBJECT = "callable:tests.cli.systems:adds"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """Ten sums, of which the subject gets eight right; two golds are wrong."""
    rows = ["question,answer,id"] + [f"{i} + {i},{2 * i},s{i}" for i in range(10)]
    (tmp_path / "sums.csv").write_text("\n".join(rows) + "\n")
    monkeypatch.setenv("MEASURAND_STORE", str(tmp_path / "m.db"))
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT))
    asked = ["run", "sums.csv", "--question", "question", "--answer", "answer", "--id", "id", "--subject", SUBJECT]
    assert main(asked) == 0
    capsys.readouterr()
    store = open_store(str(tmp_path / "m.db"), read_only=True)
    try:
        return store.runs()[0].id
    finally:
        store.close()


def test_corrected_golds_score_stored_answers_again_and_say_what_moves(
    run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "errata.csv").write_text('id,corrected\ns1,3\ns2,\ns3,"[""6"", ""7""]"\n')
    assert main(["score", run, "--errata", "errata.csv"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "80.0" in shown
    assert "by old labels" in shown
    assert "Scored by exact(" in shown
    assert "the same answers give 80.0 %" in shown
    store = open_store(str(tmp_path / "m.db"), read_only=True)
    try:
        assert len(store.runs()) == 2  # the first scoring is still there
    finally:
        store.close()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("id,corrected\ns77,3\n", "has no item s77"),
        ("id,right\ns1,3\n", "row 1 is no erratum"),
        ("id,corrected\ns1,3\ns1,4\n", "row 2 is no erratum"),
    ],
)
def test_errata_that_fit_nothing_are_refused(
    run: str, tmp_path: Path, text: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "errata.csv").write_text(text)
    assert main(["score", run, "--errata", "errata.csv"]) == 2
    assert says in capsys.readouterr().err
