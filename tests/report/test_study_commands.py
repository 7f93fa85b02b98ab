"""`measurand report STUDY.toml` writes pages, plots and model cards; what cannot be is said in a sentence."""

import json

import pytest

from measurand.cli import study
from measurand.cli.main import main
from tests.report.studies import SUBJECTS, findings

SMALL = findings(SUBJECTS[:2], {(one, "quiz"): 0.6 for one in SUBJECTS[:2]})


@pytest.fixture
def report(monkeypatch, capsys):
    """Report a study whose findings are made up, and give what was printed."""

    async def found(*_):
        return SMALL

    monkeypatch.setattr(study, "study_findings", found)
    monkeypatch.setattr(study, "load_study", lambda path: None)

    def run(*arguments):
        code = main(["report", "study.toml", *map(str, arguments)])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_the_ending_chooses_the_form(report, tmp_path):
    for name, opening in (("page.html", "<!doctype html>"), ("page.md", "# Which assistant"), ("page.json", "{")):
        assert report("-o", tmp_path / name) == (0, "", "")
        assert (tmp_path / name).read_text("utf-8").startswith(opening)
    assert json.loads((tmp_path / "page.json").read_text("utf-8"))["name"] == "loan assistant"
    assert report("-o", tmp_path / "page.pdf")[0] == 2


def test_it_prints_the_answer(report):
    code, out, _ = report()
    assert code == 0
    assert "Ship assistant-b" in out


def test_plots_go_to_a_folder(report, tmp_path):
    code, out, err = report("--plots", tmp_path / "plots")
    assert (code, out) == (0, "")
    assert f"{len(list((tmp_path / 'plots').iterdir()))} files in" in err


def test_a_model_card_is_printed_or_written(report, tmp_path):
    code, out, _ = report("--model-card", "assistant-a")
    assert code == 0
    assert out.startswith("## Evaluation")
    assert report("--model-card", "assistant-a", "-o", tmp_path / "card.md")[1] == ""
    assert (tmp_path / "card.md").read_text("utf-8") == out
    assert report("--model-card", "nobody")[0] == 2


@pytest.mark.parametrize("flag", ["--plots", "--model-card"])
def test_a_run_alone_has_neither(capsys, flag):
    assert main(["report", "abc", flag, "x"]) == 2
    assert "name the study's file" in capsys.readouterr().err
