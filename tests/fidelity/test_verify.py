"""`measurand verify`: what counts as equal, what a folder lacks, and that a changed output is found out."""

import json
from pathlib import Path

import pytest

from measurand.cli.main import main
from measurand.core.fidelity import Check, Figure
from measurand.report.fidelity import fidelity_page
from measurand.study.verify import rescoring_names, rescorings, verify
from measurand.wiring.verifying import stored_outputs
from tests.artifacts import artifact


@pytest.mark.parametrize(
    ("figure", "verdict"),
    [
        (Figure("w", 286, 286), "equal"),
        (Figure("w", 286, 285), "differs"),
        (Figure("w", 70.25, 70.2496, 0.005), "equal"),
        (Figure("w", 70.25, 70.2296, 0.005), "differs"),
        (Figure("w", None, 3), "unpublished"),
        (Figure("w", 318, 324, cause="they share globals", known=324), "explained"),
        (Figure("w", 318, 323, cause="they share globals", known=324), "differs"),
        (Figure("w", 318, 324, cause="they share globals"), "differs"),
        (Figure("w", "A", "A"), "equal"),
        (Figure("w", 1, True), "equal"),
        (Figure("w", 3, None), "differs"),
    ],
)
def test_a_cause_explains_one_figure_and_no_other(figure: Figure, verdict: str) -> None:
    assert figure.verdict == verdict


def verified(name: str, *, run_code: bool) -> list[Check]:
    """What differs. Part of the outputs is kept back, so a rescoring may lack its files, but not all of a name may."""
    chosen = rescorings([name])
    artifact(chosen[0].files[0].split("/")[0])
    checks = list(verify(stored_outputs(artifact("README.md").parent), chosen, run_code=run_code))
    assert any(check.verdict != "not here" for check in checks)
    return [check for check in checks if check.verdict == "differs"]


@pytest.mark.parametrize("name", [name for name in rescoring_names() if rescorings([name])])
def test_every_published_figure_is_met_or_explained(name: str) -> None:
    assert verified(name, run_code=False) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({one.benchmark for one in rescorings() if one.runs_code}))
def test_every_published_figure_of_code_is_met_or_explained(name: str) -> None:
    assert verified(name, run_code=True) == []


SOLUTION = {"is_correct": True, "solution": "2 + 2 = 4\nA: 4"}
NAMES = ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One row in OpenAI's form: far from the 1,319 that were published."""
    (tmp_path / "gsm8k").mkdir()
    row = {"question": "2 + 2?", "ground_truth": "So 4.\nA: 4"} | dict.fromkeys(NAMES, SOLUTION)
    (tmp_path / "gsm8k" / "example_model_solutions.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    return tmp_path


def test_what_is_not_there_is_not_equal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(folder), "--json"]) == 1
    checks = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    first = {check["benchmark"]: check for check in checks}
    assert {name: check["verdict"] for name, check in first.items() if name != "gsm8k"} == {
        one.benchmark: "not here" for one in rescorings() if one.benchmark != "gsm8k"
    }
    assert "the folder lacks humaneval/" in first["humaneval"]["note"]
    figures = [(check["published"], check["ours"]) for check in checks if check["verdict"] == "differs"]
    assert figures == [(286, 1), (515, 1), (458, 1), (742, 1)]


def test_the_table_and_the_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = folder / "page.md"
    assert main(["verify", str(folder), "--only", "gsm8k", "--markdown", str(page)]) == 1
    shown = capsys.readouterr().out
    assert "4 differs, 4 equal" in shown
    written = page.read_text(encoding="utf-8")
    assert "## gsm8k" in written
    assert "| 6B after finetuning, right of 1 | openai/grade-school-math@3101c7d" in written
    assert written.count("| differs |") == 4
    assert main(["verify", str(folder), "--only", "gsm8k", "--markdown", str(folder / "no" / "page.md")]) == 2
    assert "the page cannot be written" in capsys.readouterr().err


def test_programs_are_run_only_where_that_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mbpp").mkdir()
    (tmp_path / "mbpp" / "simple_gpt4_mbpp_py.jsonl").write_text("{}\n", encoding="utf-8")
    assert main(["verify", str(tmp_path), "--only", "mbpp"]) == 0
    assert "not run: it runs programs: --run-code" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "says"),
    [("{", "is not valid JSON"), ("\xff\xfe", "is not valid JSON")],
)
def test_outputs_that_cannot_be_read_are_a_sentence(
    folder: Path, text: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "gsm8k" / "example_model_solutions.jsonl").write_text(text, encoding="utf-8")
    assert main(["verify", str(folder), "--only", "gsm8k"]) == 2
    assert says in capsys.readouterr().err


def test_folders_and_names_that_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, says in (
        ([str(tmp_path)], "holds none of the stored outputs that can be verified"),
        ([str(tmp_path / "no")], "is no folder"),
        ([str(tmp_path), "--only", "gsm8"], "did you mean 'gsm8k'?"),
        ([str(tmp_path), "--only", "gpqa"], "of what was named only prompts can be compared"),
    ):
        assert main(["verify", *arguments]) == 2
        assert says in capsys.readouterr().err


def test_a_bar_in_a_figure_does_not_break_the_page() -> None:
    assert "a \\| b" in fidelity_page([Check("b", "a | b", "s", 1, 1, "equal")])
