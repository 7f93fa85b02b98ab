"""The bank's story, end to end: A leads a public quiz, B answers the bank's customers, and the page says so.

Everything runs through the command line, as `make decision` does: simulated replies are made by the script with its
seed, HumanEval's programs run in the sandbox, and the decision is read from the page and from its JSON.
"""

import json
import re
import runpy
import shutil
from pathlib import Path

import pytest

from measurand.cli.main import main
from measurand.sandboxes import find_sandbox
from tests.needs import lacking

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "loan_support"


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """The example in a folder of its own, carried out: the folder, the findings, and the page as text."""
    place = tmp_path_factory.mktemp("bank")
    for name in ("decision.toml", "items.jsonl", "simulate.py"):
        shutil.copy(FOLDER / name, place / name)
    runpy.run_path(str(place / "simulate.py"))["write"](place / "simulated")
    store = str(place / "m.db")
    code = main(["run", str(place / "decision.toml"), "--store", store, "--report", str(place / "d.html"), "--quiet"])
    assert code == 0
    json_file = place / "d.json"
    assert main(["report", str(place / "decision.toml"), "--store", store, "-o", str(json_file)]) == 0
    text = re.sub(r"<[^>]+>", " ", (place / "d.html").read_text(encoding="utf-8"))
    return place, json.loads(json_file.read_text()), " ".join(text.split())


@pytest.fixture(scope="module")
def decision(story):
    return story[1]["decision"]


def isolated() -> bool:
    return find_sandbox().describe().level != "none"


def test_the_answer_is_b_although_a_leads_the_quiz(decision):
    if not isolated():
        lacking("without isolation HumanEval's programs are not run, so nobody leads the quiz")
    assert decision["chosen"] == "SIMULATED B"
    assert decision["answer"].startswith(
        "SIMULATED B, although SIMULATED A leads the quiz humaneval:chat. SIMULATED B passes all 7 rules; SIMULATED A fails"
    )


@pytest.mark.parametrize(
    "cause",
    [
        r"On loan-support \(240 items\), SIMULATED B against SIMULATED A: \+[\d.]+ points \([\d.]+ to [\d.]+, paired, p",
        r"On loan-support, kind emi \(48 items\), SIMULATED B against SIMULATED A: \+[\d.]+ points \([\d.]+ to",
        r"On loan-support, kind benign \(32 items\), SIMULATED B against SIMULATED A: \+[\d.]+ points \([\d.]+ to",
        r"On loan-support, variety hinglish-latin \(60 items\), SIMULATED B against SIMULATED A: \+[\d.]+ points",
        r"On loan-support, variety hinglish-devanagari \(60 items\), SIMULATED B against SIMULATED A: \+[\d.]+ points",
    ],
)
def test_every_cause_has_its_paired_interval(decision, cause):
    assert any(re.search(cause, one) for one in decision["causes"])


def test_what_speaks_against_it_is_told(decision):
    if isolated():
        (against,) = [one for one in decision["causes"] if one.startswith("Against it:")]
        assert re.search(r"On humaneval:chat \(164 items\), SIMULATED A against SIMULATED B: \+[\d.]+ points", against)
        assert any(
            "if humaneval:chat were what the subject is for, SIMULATED A would lead" in one
            for one in decision["would_change"]
        )


def test_the_threats_name_what_is_not_known(decision):
    names = {one["name"] for one in decision["threats"]}
    assert {"simulated_replies", "worst_slice_far_below", "synthetic_items", "known_errata"} <= names
    assert {"public_before_cutoff", "protocol_differs_from_published"} <= names
    assert "quiz_only" not in names
    assert "no_hard_slice" not in names, "the file has fraud, ambiguous and typo-laden items"


def test_everything_says_simulated(story):
    place, findings, page = story
    assert findings["simulated"] == ["SIMULATED A", "SIMULATED B"]
    assert page.count("SIMULATED") > 20
    for path in (place / "simulated").glob("*.jsonl"):
        assert all(json.loads(line)["notes"] == "SIMULATED" for line in path.read_text(encoding="utf-8").splitlines())


def test_the_page_opens_with_the_answer(story, decision):
    page = story[2]
    assert decision["answer"].split(";")[0] in page
    assert page.index("SIMULATED B passes all 7 rules") < page.index("Threat")


def test_the_replies_are_the_same_every_time(story, tmp_path):
    place = story[0]
    runpy.run_path(str(place / "simulate.py"))["write"](tmp_path)
    for path in tmp_path.glob("*.jsonl"):
        assert path.read_bytes() == (place / "simulated" / path.name).read_bytes()
