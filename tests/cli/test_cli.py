"""The command line as a person meets it: what each command prints, and one sentence with a mend for each mistake."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from measurand.cli.main import main
from tests.run.endpoint import endpoint

ROOT = Path(__file__).resolve().parents[2]
SUBJECT = "callable:tests.cli.systems:adds"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = ["question,answer,kind"] + [f"{i} + {i},{2 * i},{'low' if i < 5 else 'high'}" for i in range(10)]
    (tmp_path / "sums.csv").write_text("\n".join(rows) + "\n")
    monkeypatch.setenv("MEASURAND_STORE", str(tmp_path / "m.db"))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT))
    return tmp_path


RUN = ("run", "sums.csv", "--question", "question", "--answer", "answer", "--slices", "kind", "--subject", SUBJECT)


def ids() -> list[str]:
    from measurand.store import open_store

    store = open_store(os.environ["MEASURAND_STORE"], read_only=True)
    try:
        return [run.id for run in store.runs()]
    finally:
        store.close()


def test_a_run_shows_its_number_with_its_error_and_protocol(place, capsys):
    assert main(RUN) == 0
    shown = capsys.readouterr()
    assert "80.0\u00a0%" in shown.out
    assert "10 of 10 items" in " ".join(shown.out.split())
    assert "10 trials planned = 10 answered" in shown.out
    assert "run " in shown.err
    assert main(RUN) == 0
    assert "10 replies from the store" not in capsys.readouterr().err  # the trials are there, so nothing is replayed


def test_quiet_and_json_print_the_result_alone(place, capsys):
    assert main([*RUN, "--json"]) == 0
    shown = capsys.readouterr()
    summary = json.loads(shown.out)
    assert summary["tally"]["answered"] == 10
    assert shown.err == ""
    assert main([*RUN, "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_plan_asks_nothing_and_writes_nothing(place, capsys):
    assert main(["plan", *RUN[1:], "--price", "1,2"]) == 0
    shown = capsys.readouterr().out
    assert "10 (10 items, 1 answer each), 0 done" in shown
    assert "$0.00" in shown
    assert "too few items" in shown
    assert ids() == []


def test_ls_show_score_report_and_export(place, capsys):
    main(RUN)
    (run,) = ids()
    capsys.readouterr()

    assert main(["ls"]) == 0
    assert "10/10" in capsys.readouterr().out
    assert main(["ls", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["benchmark"] == "sums"
    assert main(["ls", "benchmarks"]) == 0
    assert "gsm8k:chat" in capsys.readouterr().out

    assert main(["show", run[:6], "3"]) == 0
    shown = capsys.readouterr().out
    assert "2 + 2" in shown
    assert "read by" in shown
    assert main(["show", run, "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["calls"][0]["role"] == "target"

    assert main(["score", run]) == 0
    assert "80.0\u00a0%" in capsys.readouterr().out
    assert ids() == [run]

    assert main(["report"]) == 0
    assert "80.0\u00a0%" in capsys.readouterr().out
    for name in ("page.html", "page.md", "page.json"):
        assert main(["report", run, "-o", name]) == 0
        assert "80.0" in (place / name).read_text() or name == "page.json"
    for name in ("t.csv", "t.jsonl", "t.xlsx", "t.parquet"):
        assert main(["export", run, "-o", name]) == 0
        assert (place / name).stat().st_size > 100
    assert len((place / "t.jsonl").read_text().splitlines()) == 10


def test_check_of_a_file_of_ones_own(place, capsys):
    (place / "capitals.py").write_text(CAPITALS)
    assert main(["check", "capitals.py"]) == 0
    shown = capsys.readouterr().out
    assert "What is the capital of France?" in shown
    assert "the gold earns everything, the others nothing" in shown


CAPITALS = """
from measurand import Aggregation, Benchmark, Card, Marking, Prompting, Scoring, Task
from measurand.core.item import Item, Question
from measurand.core.message import user
from measurand.core.request import Generate
from measurand.core.source import File
from measurand.scoring import EXACT, WHOLE_TEXT
from measurand.stats.metrics import ACCURACY
from pathlib import Path

Path("capitals.jsonl").write_text('{"c": "France", "a": "Paris"}\\n{"c": "India", "a": "New Delhi"}\\n')
BENCHMARK = Benchmark(
    "capitals",
    Task({"test": File("capitals.jsonl")}, lambda name, rows: [
        Item(row["c"], Question(f"What is the capital of {row['c']}?"), row["a"]) for row in rows], 1),
    Prompting("plain", 1, lambda item, shots: (Generate((user(item.input.text),)),), frozenset({"chat"}), "{{q}}"),
    Scoring((Marking("accuracy", WHOLE_TEXT, EXACT),)),
    Aggregation({"accuracy": ACCURACY}),
    Card("Capitals", "capitals", ("all else",), "quiz", "here", "here", "none"),
)
"""


def test_doctor_and_completion(place, capsys):
    assert main(["doctor"]) == 0
    assert "isolation of programs" in capsys.readouterr().out
    assert main(["completion", "bash"]) == 0
    assert "measurand" in capsys.readouterr().out


STUDY = """
name = "s"
question = "which?"
subjects = ["callable:tests.cli.systems:adds"]
[[sets]]
file = "sums.csv"
question = "question"
answer = "answer"
{more}
"""


def test_a_study_runs_all_it_names(place, capsys):
    (place / "study.toml").write_text(STUDY.format(more='slices = ["kind"]'))
    assert main(["run", "study.toml", "--report", "page.html"]) == 0
    assert "80.0\u00a0%" in capsys.readouterr().out
    assert (place / "page.html").exists()


MISTAKES = {
    "unknown benchmark": (("run", "gsm8", "--subject", SUBJECT), "did you mean 'gsm8k'?"),
    "unknown variant": (("run", "gsm8k:cot", "--subject", SUBJECT), "gsm8k:chat"),
    "no subject": (("run", "gsm8k"), "--subject SPEC"),
    "unknown kind": (
        ("run", "sums.csv", "--question", "question", "--answer", "answer", "--subject", "opnai:x"),
        "openai",
    ),
    "no name": (
        ("run", "sums.csv", "--question", "question", "--answer", "answer", "--subject", "openai"),
        "KIND:NAME",
    ),
    "no question": (("run", "sums.csv", "--subject", SUBJECT), "--question COLUMN"),
    "unknown column": (
        ("run", "sums.csv", "--question", "qestion", "--answer", "answer", "--subject", SUBJECT),
        "has no column 'qestion'",
    ),
    "unknown scoring": ((*RUN, "--scoring", "fuzzy"), "there is no scoring 'fuzzy'"),
    "no file": (("run", "none.csv", "--question", "q", "--answer", "a", "--subject", SUBJECT), "none.csv"),
    "no study": (("run", "none.toml"), "none.toml"),
    "bad data flag": ((*RUN, "--data", "sums"), "NAME=PATH"),
    "bad price": ((*RUN, "--price", "cheap"), "IN,OUT"),
    "zero subset": ((*RUN, "--subset", "0"), "at least 1"),
    "large subset": ((*RUN, "--subset", "99"), "10"),
    "zero concurrency": ((*RUN, "--concurrency", "0"), "at least 1"),
    "unknown run": (("show", "ffff", "1"), "measurand"),
    "wrong report": (("report", "-o", "page.pdf"), "measurand"),
    "no module": (
        ("run", "sums.csv", "--question", "question", "--answer", "answer", "--subject", "callable:nowhere:f"),
        "nowhere",
    ),
    "postgres": ((*RUN, "--store", "postgresql://u:secret@h/db"), "postgresql"),
    "store is a directory": ((*RUN, "--store", "."), "folder"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_sentence_and_exit_2(mistake, place, capsys):
    arguments, hint = MISTAKES[mistake]
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.err.startswith("measurand: ")
    assert hint in said.err
    assert "Traceback" not in said.err
    assert len(said.err.strip().splitlines()) == 1
    assert "secret" not in said.err


@pytest.mark.parametrize(
    ("more", "hint"),
    [
        ("anwser = 'x'", "did you mean 'answer'?"),
        ("samples = 'three'", "samples"),
        ("slices = 3", "slices"),
    ],
)
def test_a_wrong_key_of_a_study_is_named(more, hint, place, capsys):
    (place / "study.toml").write_text(STUDY.format(more=more))
    assert main(["run", "study.toml"]) == 2
    assert hint in capsys.readouterr().err


def test_an_unknown_flag_exits_with_2(place, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["run", "gsm8k", "--sbuset", "3"])
    assert caught.value.code == 2
    assert "--sbuset" in capsys.readouterr().err


def test_a_system_that_breaks_stops_the_run_with_the_reason(place, capsys):
    arguments = [part if part != SUBJECT else "callable:tests.cli.systems:breaks" for part in RUN]
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert "the backend is down" in said.err
    assert re.search(r"(?<!\d)0\.0 %", said.out) is None, "a number that nobody measured"


def test_ctrl_c_leaves_a_clean_store_and_says_how_to_go_on(place):
    children = []

    def interrupt_and_answer(prompt):
        if len(served.received) == 2 and len(children) == 1:
            children.pop().send_signal(signal.SIGINT)
        return "1"

    with endpoint(interrupt_and_answer) as served:
        command = [
            *(sys.executable, "-m", "measurand.cli.main", *RUN[:-2], "--subject", "openai_compatible:m"),
            *("--base-url", served.url, "--concurrency", "1"),
        ]
        environment = os.environ | {"MEASURAND_API_KEY": "sk-planted-key-123456", "PYTHONPATH": str(ROOT)}
        child = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        children.append(child)
        out, err = child.communicate(timeout=300)
        assert child.returncode == 3
        assert "go on with" in err
        assert "not run" in out
        asked_before = set(served.received)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0
        assert all(count == 1 for count in served.received.values())
        assert len(served.received) == 10 > len(asked_before)
    for path in place.iterdir():
        if path.is_file():
            assert b"sk-planted-key-123456" not in path.read_bytes(), path
    assert "sk-planted" not in out + err + done.stdout + done.stderr


def test_a_broken_pipe_is_no_error(place):
    main(RUN)
    command = f"{sys.executable} -m measurand.cli.main report | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0
    assert done.stderr == ""
