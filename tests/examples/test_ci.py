"""The example workflow: every command in it can be typed, and what it writes is what it reads."""

import re
import shlex
from pathlib import Path

from measurand.cli.arguments import MODULES, build_parser

WORKFLOW = Path(__file__).resolve().parents[2] / "examples" / "ci" / "evaluate.yml"


def steps() -> list[str]:
    """The folded commands of the workflow, each as one line."""
    found = re.findall(r"run: >\n((?: {10,}.*\n)+)", WORKFLOW.read_text(encoding="utf-8"))
    return [" ".join(body.split()) for body in found]


def test_its_commands_can_be_typed() -> None:
    given = [build_parser().parse_args(shlex.split(step)[1:]) for step in steps() if step.startswith("measurand ")]
    assert [one.command for one in given] == ["run", "gate"]
    assert {one.command for one in given} <= set(MODULES)
    assert given[1].baseline == "evaluation/baseline.json"
    assert given[1].junit in WORKFLOW.read_text(encoding="utf-8").split("upload-artifact")[1]
