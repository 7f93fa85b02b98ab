"""A subject that is declared to search: another subject, a note beside its numbers, and no rank with single passes."""

import json
from pathlib import Path

import pytest

from measurand.cli.main import main
from tests.cli.test_cli import RUN, ids, place

__all__ = ["place"]

STUDY = """
name = "sums"
question = "Which adds better?"
subjects = ["replay:one.jsonl", {spec = "replay:best.jsonl", name = "search", passes = "search"}]
[claim]
type = "about_system"
[[sets]]
name = "sums"
file = "sums.csv"
question = "question"
answer = "answer"
"""


def test_a_declared_search_is_another_subject_and_is_compared_with_none_of_its_single_passes(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*RUN, "--quiet"]) == 0
    capsys.readouterr()
    assert main([*RUN, "--passes", "search", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["run"]["subject"]["passes"] == "search"
    assert any("rests on the best of several, as was declared" in note for note in summary["notes"])
    assert len(ids()) == 2
    assert main(["compare", *ids(), "--accept", "asking"]) != 0
    shown = capsys.readouterr()
    assert "never share a rank" in " ".join((shown.out + shown.err).split())


def test_a_study_ranks_no_declared_search_with_a_single_pass(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, add in (("one.jsonl", 1), ("best.jsonl", 0)):
        replies = [{"prompt": f"{i} + {i}", "reply": str(2 * i + add)} for i in range(10)]
        (place / name).write_text("".join(json.dumps(one) + "\n" for one in replies), encoding="utf-8")
    (place / "sums.toml").write_text(STUDY, encoding="utf-8")
    main(["run", "sums.toml", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert [one.get("groups", []) for one in found["rankings"]] == [[]]
    assert "never share a rank" in found["rankings"][0]["refused"]
    assert found["decision"].get("chosen", "") == ""
