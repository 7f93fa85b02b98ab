"""`compare`, `gate`, `leaderboard`, `signals` and studies, as a person meets them."""

import json
import os
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from measurand.cli.main import main
from measurand.core.errors import NotLicensedError, SandboxError, UnaskableError
from measurand.wiring import studying
from tests.cli.test_cli import ids, place  # noqa: F401 - a fixture

pytest_plugins = ["pytester"]
QUESTIONS = [f"{i} + {i}" for i in range(60)]


def replies(path: Path, right: range | list[int], usage: int = 10) -> None:
    lines = [
        {"prompt": q, "reply": str(2 * i) if i in right else "7777", "usage": {"input": usage, "output": 1}}
        for i, q in enumerate(QUESTIONS)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
def bank(place):  # noqa: F811
    """A file of sums in two kinds, and three recorded subjects: good, poor, and as good as the good one."""
    rows = ["question,answer,kind"] + [f"{q},{2 * i},{'low' if i < 30 else 'high'}" for i, q in enumerate(QUESTIONS)]
    (place / "items.csv").write_text("\n".join(rows) + "\n")
    replies(place / "good.jsonl", range(58))
    replies(place / "poor.jsonl", range(25))
    replies(place / "same.jsonl", [*range(1, 58), 59])
    return place


STUDY = """
name = "sums"
question = "Which may add, and how cheap is it?"
rules = [
  "accuracy on items >= 0.80",
  "worst slice of kind on items >= 0.60",
  {more}
]

[claim]
type = "about_system"

[[subjects]]
spec = "replay:good.jsonl"
name = "GOOD"
price = [1.0, 2.0]

[[subjects]]
spec = "replay:poor.jsonl"
name = "POOR"

[[sets]]
file = "items.csv"
question = "question"
answer = "answer"
slices = ["kind"]
"""


def run_all(_where: Path, *names: str) -> dict[str, str]:
    found = {}
    for name in names:
        args = ["run", "items.csv", "--question", "question", "--answer", "answer", "--slices", "kind", "--quiet"]
        assert main([*args, "--subject", f"replay:{name}.jsonl"]) == 0
        found[name] = ids()[0]
    return found


def test_a_study_ends_in_a_decision(bank, capsys):
    (bank / "study.toml").write_text(STUDY.format(more=""))
    assert main(["plan", "study.toml"]) == 0
    plan = capsys.readouterr().out
    assert "120 requests to ask" in plan
    assert "accuracy on items >= 0.80" in plan
    assert "detectable" in plan
    assert main(["run", "study.toml", "--quiet", "--report", "page.html"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "GOOD. GOOD passes all 2 rules; POOR fails 'accuracy on items >= 0.80' and 1 more rule." in shown
    page = (bank / "page.html").read_text()
    assert "GOOD passes all 2 rules" in page
    assert main(["report", "study.toml"]) == 0
    again = " ".join(capsys.readouterr().out.split())
    assert "GOOD. GOOD passes all 2 rules" in again
    assert main(["report", "study.toml", "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)
    assert findings["decision"]["chosen"] == "GOOD"
    assert {cell["metric"] for cell in findings["coverage"]} == {"score", "latency p95", "cost per 1,000"}
    assert main(["report", "study.toml", "-o", "page.md"]) == 0
    assert "GOOD" in (bank / "page.md").read_text()


def test_a_study_is_reported_before_anything_ran(bank, capsys):
    (bank / "study.toml").write_text(STUDY.format(more=""))
    run_all(bank, "same")
    capsys.readouterr()
    assert main(["report", "study.toml"]) == 0
    assert "nobody is measured on items" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ('"accuracy on itms >= 0.8"', "did you mean 'items'?"),
        ('"accuracy of items is fine"', "did you mean a rule like"),
        ('"accuracy on items >= 80"', "write 0.8 or 80 %"),
        ('"not worse than the present model by more than 2 points"', "needs present ="),
        ('"not worse than GOD by more than 2 points"', "the subjects are GOOD, POOR"),
    ],
)
def test_a_rule_that_cannot_be_used_costs_nothing(bank, capsys, more, complaint):
    (bank / "study.toml").write_text(STUDY.format(more=more))
    for command in ("plan", "run"):
        assert main([command, "study.toml"]) == 2
        assert complaint in capsys.readouterr().err
    assert not Path(os.environ["MEASURAND_STORE"]).exists() or ids() == []


def test_a_plan_names_who_cannot_be_asked_and_the_canonical_protocol(bank, capsys):
    subjects = '["anthropic:a", "google:b", "replay:good.jsonl"]'
    text = f'name = "x"\nquestion = "Which?"\nsubjects = {subjects}\n[[benchmarks]]\nname = "humaneval:samples"\n'
    (bank / "study.toml").write_text(text)
    assert main(["plan", "study.toml"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "a cannot be asked: humaneval:samples asks by complete" in shown
    assert 'add [[benchmarks]] name = "humaneval"' in shown
    (bank / "study.toml").write_text(text.replace('"google:b"', '"nobody:b"'))
    assert main(["plan", "study.toml"]) == 2
    assert "subject 'b': there is no kind of subject 'nobody'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (NotLicensedError("it is gated"), "not_licensed"),
        (SandboxError("nothing isolates"), "refused"),
        (UnaskableError("no chat"), "not_applicable"),
    ],
)
def test_what_cannot_be_done_leaves_one_cell_empty(bank, capsys, monkeypatch, error, kind):
    real = studying.begin_evaluation

    def begin(what, subject, options):
        if what == "humaneval:chat":
            raise error
        return real(what, subject, options)

    monkeypatch.setattr(studying, "begin_evaluation", begin)
    (bank / "study.toml").write_text(STUDY.format(more="") + '\n[[benchmarks]]\nname = "humaneval:chat"\n')
    assert main(["plan", "study.toml"]) == 0
    assert f"GOOD cannot be asked: {error}" in " ".join(capsys.readouterr().out.split())
    assert main(["run", "study.toml", "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)
    cells = {(one["subject"], one["scenario"], one["metric"]): one for one in findings["coverage"]}
    empty = cells["GOOD", "humaneval:chat", "pass_at_1"]
    assert (empty["empty"], empty["why"]) == (kind, str(error))
    assert findings["decision"]["chosen"] == "GOOD"


def test_outside_numbers_stand_beside_a_studys_own(bank, capsys):
    (bank / "log.jsonl").write_text(
        "".join(json.dumps({"subject": "GOOD", "action": "accepted"}) + "\n" for _ in range(9))
    )
    (bank / "boards.csv").write_text("board,model,score,n\nsomewhere,GOOD,0.9,100\n")
    text = STUDY.format(more="").replace("[claim]", 'x_published\n\n[[logs]]\nfile = "log.jsonl"\n\n[claim]')
    (bank / "study.toml").write_text(text.replace("x_published", 'published = "boards.csv"'))
    assert main(["run", "study.toml", "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)
    cells = {(one["subject"], one["scenario"], one["metric"]): one for one in findings["coverage"]}
    assert cells["GOOD", "production", "acceptance"]["estimate"]["value"] == 1.0
    assert cells["GOOD", "somewhere", "published"]["estimate"]["value"] == 0.9
    assert "imported_without_protocol" in {one["name"] for one in findings["decision"]["threats"]}


def test_two_runs_are_compared_in_pairs(bank, capsys):
    run = run_all(bank, "good", "poor", "same")
    capsys.readouterr()
    assert main(["compare", run["good"], run["poor"]]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "good is better than poor on items" in shown
    assert "good - poor: +55.0 points (" in shown
    assert "60 items in both" in shown
    assert "kind: high" in shown
    assert main(["compare", run["good"], run["same"]]) == 0
    assert "cannot be told apart" in " ".join(capsys.readouterr().out.split())
    assert main(["compare", run["good"], run["good"]]) == 2
    assert "is named twice" in capsys.readouterr().err
    assert main(["compare", run["good"], run["poor"], "--json"]) == 0
    assert next(json.loads(line)["a"] for line in capsys.readouterr().out.splitlines()) == "good"


def test_another_protocol_is_refused_until_it_is_accepted(bank, capsys):
    run = run_all(bank, "good")
    args = ["run", "items.csv", "--question", "question", "--answer", "answer", "--slices", "kind", "--quiet"]
    assert main([*args, "--subject", "replay:poor.jsonl", "--max-output", "99"]) == 0
    other = ids()[0]
    capsys.readouterr()
    assert main(["compare", run["good"], other]) == 3
    shown = capsys.readouterr().out
    assert "the budgets are unequal" in shown
    assert "asking.decode.max_tokens: 512 against 99" in shown
    assert main(["compare", run["good"], other, "--accept", "asking.decode.max_tokens"]) == 0
    shown = capsys.readouterr().out
    assert "asking.decode.max_tokens: 512 against 99 (accepted)" in shown
    assert "good is better than poor" in shown


def test_the_gate_passes_fails_and_cannot_say(bank, capsys):
    run = run_all(bank, "good", "poor", "same")
    assert main(["gate", run["good"], "--write", "base.json"]) == 0
    assert (bank / "base.json").stat().st_size < 10_000
    codes = {name: main(["gate", run[name], "--baseline", "base.json"]) for name in run}
    assert codes == {"good": 0, "poor": 1, "same": 3}
    shown = capsys.readouterr().out
    assert "no item of 60 has another score" in " ".join(shown.split())
    assert "margin 2 points, at most 2.5 % of changes within it fail" in " ".join(shown.split())
    assert main(["gate", run["same"], "--baseline", "base.json", "--margin", "12"]) == 0
    assert main(["gate", run["good"], "--rule", "accuracy >= 0.80"]) == 0
    assert main(["gate", run["good"], "--rule", "accuracy >= 0.95"]) == 3
    assert main(["gate", run["good"], "--rule", "worst slice of kind >= 0.99"]) == 3
    assert main(["gate", run["poor"], "--rule", "accuracy >= 0.80"]) == 1


def test_the_gate_needs_no_store_of_the_baseline(bank, capsys, monkeypatch):
    run = run_all(bank, "good")
    assert main(["gate", run["good"], "--write", "base.json"]) == 0
    monkeypatch.setenv("MEASURAND_STORE", str(bank / "fresh.db"))
    run_all(bank, "poor")
    assert main(["gate", "--baseline", "base.json"]) == 1


def test_the_gate_writes_for_the_tools_around_it(bank, capsys):
    run = run_all(bank, "good", "poor")
    main(["gate", run["good"], "--write", "base.json"])
    args = ["--baseline", "base.json", "--rule", "accuracy >= 0.40", "--junit", "j.xml", "--markdown", "m.md", "--json"]
    capsys.readouterr()
    assert main(["gate", run["poor"], *args]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert (shown["verdict"], shown["benchmark"]) == ("fail", "items")
    suite = ET.parse(bank / "j.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    (failure,) = suite.iter("failure")
    assert "worse on" in failure.get("message")
    text = (bank / "m.md").read_text()
    assert "### The gate fails: poor on items" in text
    assert "❌ fail" in text


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        ((), "a gate needs a baseline"),
        (("--baseline", "none.json"), "cannot be read"),
        (("--baseline", "items.csv"), "is no baseline"),
        (("--rule", "accuracy over 3"), "cannot be read; "),
        (("--rule", "better than other"), "compares two subjects"),
        (("--rule", "accuracy >= 80"), "write 0.8 or 80 %"),
        (("--baseline", "base.json", "--margin", "-1"), "a margin and a flake budget are shares"),
        (("--baseline", "base.json", "--false-alarm", "70"), "not between 0 and 0.5"),
    ],
)
def test_bad_input_of_a_gate_is_2_and_a_sentence(bank, capsys, args, complaint):
    run = run_all(bank, "good")
    main(["gate", run["good"], "--write", "base.json"])
    assert main(["gate", run["good"], *args]) == 2
    assert complaint in capsys.readouterr().err


def test_a_decision_is_signed_superseded_and_listed(bank, capsys):
    (bank / "study.toml").write_text(STUDY.format(more=""))
    main(["run", "study.toml", "--quiet"])
    assert main(["decisions"]) == 0
    assert "nothing is signed yet" in " ".join(capsys.readouterr().out.split())
    assert main(["decisions", "sign", "study.toml"]) == 2
    assert "signed by somebody" in capsys.readouterr().err
    assert main(["decisions", "sign", "study.toml", "--by", "A. Person", "--date", "2026-01-31"]) == 0
    assert "signed by A. Person on 2026-01-31" in " ".join(capsys.readouterr().out.split())
    assert main(["decisions", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["signature"]["decision"]
    assert main(["decisions", "sign", "study.toml", "--by", "A. Person", "--supersedes", first]) == 2
    assert "cannot supersede itself" in capsys.readouterr().err
    (bank / "study.toml").write_text(STUDY.format(more='"missing on items <= 5 %",'))
    assert main(["decisions", "sign", "study.toml", "--by", "B. Person", "--supersedes", first[:6]]) == 0
    capsys.readouterr()
    assert main(["decisions"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "superseded by" in shown
    assert shown.count("in force") == 1
    assert main(["decisions", "show", first[:8]]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "GOOD passes all 2 rules" in shown
    assert "it is superseded by" in shown
    assert main(["decisions", "show", "zz"]) == 2


def test_what_was_not_measured_is_not_signed(bank, capsys):
    (bank / "study.toml").write_text(STUDY.format(more=""))
    assert main(["decisions", "sign", "study.toml", "--by", "A. Person"]) == 2
    assert "nothing was measured" in capsys.readouterr().err


def test_a_board_and_a_log(bank, capsys):
    (bank / "b.csv").write_text("board,model,score,n\none,x,0.9,100\none,y,0.89,100\n")
    assert main(["leaderboard", "b.csv"]) == 0
    assert "cannot be told apart" in " ".join(capsys.readouterr().out.split())
    (bank / "log.jsonl").write_text(
        "".join(json.dumps({"user": f"u{i}", "action": "accepted"}) + "\n" for i in range(9))
    )
    assert main(["signals", "log.jsonl"]) == 0
    assert "acceptance" in capsys.readouterr().out
    assert main(["signals", "none.jsonl"]) == 2
    assert main(["leaderboard", "log.jsonl"]) == 2


def test_the_api_in_a_few_lines(bank):
    import measurand
    from measurand.wiring import Options

    spec = measurand.PrivateSet(file="items.csv", question="question", answer="answer", slices=("kind",))
    good, poor = (measurand.evaluate(spec, f"replay:{name}.jsonl") for name in ("good", "poor"))
    made = measurand.compare(good, poor)
    assert str(made).startswith("good against poor on items: +55.0 points (")
    assert made._repr_html_()
    assert measurand.compare(good.run.id, poor.run.id[:8]).whole == made.whole
    gate = measurand.gate(good, measurand.GateOptions(rules=("accuracy >= 0.80",)))
    assert gate.verdict == "pass"
    (bank / "study.toml").write_text(STUDY.format(more=""))
    done = measurand.decide("study.toml", Options())
    assert str(done).startswith("GOOD. GOOD passes")
    assert done.decision.chosen == "GOOD"
    assert "GOOD" in done._repr_html_()


PLUGIN_TEST = """
import measurand

SPEC = measurand.PrivateSet(file={items!r}, question="question", answer="answer")

def test_good(measurand_gate):
    made = measurand_gate(measurand.evaluate(SPEC, {good!r}), rules=["accuracy >= 0.80"], margin=3)
    assert made.verdict == "pass"

def test_poor(measurand_gate):
    measurand_gate(measurand.evaluate(SPEC, {poor!r}), rules=["accuracy >= 0.80"])

def test_unsure(measurand_gate):
    measurand_gate(measurand.evaluate(SPEC, {good!r}), rules=["accuracy >= 0.95"])
"""


def test_the_pytest_plugin_has_the_same_rules(bank, pytester):
    paths = {"items": str(bank / "items.csv")} | {name: f"replay:{bank / name}.jsonl" for name in ("good", "poor")}
    pytester.makepyfile(PLUGIN_TEST.format(**paths))
    args = (
        "-p",
        "measurand.cli.pytest_plugin",
        "-p",
        "no:cacheprovider",
        "-o",
        "asyncio_default_fixture_loop_scope=function",
    )
    result = pytester.runpytest_subprocess(*args)
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["*The gate fails: poor on items*"])
    pytester.runpytest_subprocess(*args, "--measurand-undecided=skip").assert_outcomes(passed=1, failed=1, skipped=1)
