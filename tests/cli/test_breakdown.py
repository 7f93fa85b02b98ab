"""Which kinds of instruction fail: stored replies scored by kind, ranked, with their counts, in every form of report."""

import json
from pathlib import Path
from typing import Any

import pytest

from measurand.cli.main import main
from measurand.stats.intervals import wilson
from tests.cli.test_cli import ids, place

__all__ = ["place"]

COMMA, TITLE, WORDS = "punctuation:no_comma", "detectable_format:title", "length_constraints:number_words"
MANY = {"relation": "at least", "num_words": 3}


def item(key: int, kinds: list[str]) -> dict[str, Any]:
    given = [MANY if kind == WORDS else {} for kind in kinds]
    return {"key": key, "prompt": f"Prompt {key}.", "instruction_id_list": kinds, "kwargs": given}


@pytest.fixture
def stored(place: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Six prompts ask for no comma, five of them obeyed; five ask for a title twice and for words; none obeys in all."""
    items = [item(key, [COMMA]) for key in range(6)] + [item(key, [TITLE, WORDS, TITLE]) for key in range(6, 11)]
    replies = ["Rain."] * 5 + ["Rain, rain."] + ["three words here"] * 3 + ["<<T>> two", "<<T>> three words"]
    write(place / "data.jsonl", items)
    write(
        place / "said.jsonl",
        [{"prompt": one["prompt"], "reply": said} for one, said in zip(items, replies, strict=True)],
    )
    assert main(["run", "ifeval", "--subject", "replay:said.jsonl", "--data", "ifeval=data.jsonl", "--quiet"]) == 0
    capsys.readouterr()
    (run,) = ids()
    return run


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_kinds_are_ranked_by_failure_single_and_several_apart(stored: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", stored, "--by", "ifeval:kinds", "--json"]) == 0
    before, summary = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert "breakdown" not in before
    shown = [(part.get("value", ""), part["name"], part["failed"], part["of"]) for part in summary["breakdown"]]
    assert shown == [
        ("", "", 8.0, 21.0),
        ("", TITLE, 6.0, 10.0),
        ("", WORDS, 1.0, 5.0),
        ("", COMMA, 1.0, 6.0),
        ("several", "", 7.0, 15.0),
        ("several", TITLE, 6.0, 10.0),
        ("several", WORDS, 1.0, 5.0),
        ("single", "", 1.0, 6.0),
        ("single", COMMA, 1.0, 6.0),
    ]
    comma = next(part["estimate"] for part in summary["breakdown"] if part["name"] == COMMA)
    low, high = wilson(1 / 6, 6)
    assert (comma["value"], comma["low"], comma["high"]) == pytest.approx((1 / 6, low, high))
    assert comma["method"] == "Wilson"
    assert not [note for note in summary["notes"] if "not applicable" in note]


def test_the_tables_say_the_same_in_every_form(stored: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", stored, "--by", "ifeval:kinds", "--quiet", "--report", "kinds.html"]) == 0
    shown = capsys.readouterr().out.partition("said fails")[2].replace("\u00a0", " ")
    assert shown.startswith(" 38.1 % [")
    assert f"most often {TITLE}: 6 of 10" in " ".join(shown.split())
    titles = [shown.index(text) for text in ("All 11 items", "constraints: several, 5 items", "constraints: single, 6")]
    assert titles == sorted(titles)
    rows = [" ".join(line.split()) for line in shown.splitlines()]
    assert f"{COMMA} 1 6 16.7 % 3.0 to 56.4" in rows
    assert "reference" not in shown  # one of its values has no item: it tells nothing apart

    other = next(run for run in ids() if run != stored)
    assert main(["report", other, "-o", "kinds.md"]) == 0
    assert "| detectable\\_format\\:title | 6 | 10 | 60.0\u00a0% |" in (place / "kinds.md").read_text("utf-8")
    page = (place / "kinds.html").read_text("utf-8")
    assert all(text in page for text in ("constraints: single, 6 items", "6 of 10", "the worst first"))


def test_a_trial_shows_only_the_kinds_it_was_asked_for(stored: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", stored, "--by", "ifeval:kinds", "--quiet"]) == 0
    other = next(run for run in ids() if run != stored)
    capsys.readouterr()
    assert main(["show", other, "ifeval/0"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert COMMA in shown
    assert TITLE not in shown
