"""`measurand check` on rows of the real schema, as a person sees it."""

from pathlib import Path

import pytest

from measurand.cli.main import main
from tests.benchmarks.quiz_rows import write_hub


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("local")
    write_hub(root)
    return root


@pytest.mark.parametrize(
    ("name", "folder", "says"),
    [
        ("mmlu_pro", "TIGER-Lab/MMLU-Pro", "the gold earns everything, the others nothing"),
        ("gpqa", "Idavidrein/gpqa", "the gold earns everything, the others nothing"),
        ("hle", "cais/hle", "not checked, as a judge or more items are needed for it: accuracy, calibration_error"),
        ("truthfulqa:generation", "truthfulqa/truthful_qa", "are needed for it: informative, truthful"),
    ],
)
def test_what_is_found_is_said(
    name: str, folder: str, says: str, hub: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", name, "--data", f"{name.partition(':')[0]}={hub / folder}"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert says in shown
    assert "scored wrongly" not in shown
