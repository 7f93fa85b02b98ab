"""`measurand verify --prompts`: equal, explained or apart, with fake texts; and against the peers where they are."""

import json
import os
import pkgutil
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import pytest

import measurand.benchmarks
from measurand.cli.main import main
from measurand.core.benchmark import Benchmark, Prompting
from measurand.core.fidelity import Cause, Check, Peer, Rendering, Side, Unmatched
from measurand.core.message import Image, Message, Text, user
from measurand.core.request import Complete, Embed, Generate, Loglikelihood
from measurand.report.fidelity import fidelity_page
from measurand.study.verify import renderings
from measurand.study.verify_prompts import text_of, verify_prompts
from measurand.wiring import verifying
from tests.artifacts import artifact

PEER = Path(os.environ.get("MEASURAND_PEER", Path(__file__).resolve().parents[2] / ".venv-peers" / "bin" / "python"))
TWO = Side({}, [Complete("about  x: one"), Complete("about  x: two")])
SPACES = Cause("two spaces", lambda text: text.replace("  ", " "))
UNUSED = Cause("never", lambda text: text.replace("zzz", ""))
VERSIONS: dict[Peer, str] = {"lm-eval": "1"}


def one_check(
    theirs: Sequence[str], *causes: Cause, files: tuple[str, ...] = (), peer: Peer = "lm-eval", framed: str = ""
) -> Check:
    rendering = Rendering("b", "t.yaml", lambda _: TWO, files, causes=causes, peer=peer, framed=framed)
    (check,) = verify_prompts(Path(), [rendering], lambda asked: [theirs] * len(asked), VERSIONS)
    return check


def test_prompts_are_equal_explained_by_what_was_needed_or_apart() -> None:
    same = one_check(["about  x: one", "about  x: two"], SPACES)
    assert (same.verdict, same.published, same.ours, same.note) == ("equal", 2, 2, "")
    known = one_check(["about x: one", "about x: two"], SPACES, UNUSED)
    assert (known.verdict, known.ours, known.note) == ("explained", 0, "two spaces")
    apart = one_check(["about x: one", "about x: three"], SPACES)
    assert apart.verdict == "differs"
    assert "prompt 2, character 10: ours has 'about x: two', theirs 'about x: three'" in apart.note
    assert one_check(["about x: one", "about x: two"]).verdict == "differs"
    assert one_check([], files=("no-such-file",)).verdict == "not here"
    elsewhere = one_check([], peer="crfm-helm")
    assert (elsewhere.verdict, elsewhere.note) == ("not here", "crfm-helm is not installed")


def test_words_around_the_question_are_set_aside_only_where_that_is_said_and_the_rest_must_be_equal() -> None:
    theirs = ["Now x: one, please", "Now x: two, please"]
    assert one_check(theirs).verdict == "differs"
    framed = one_check(theirs, framed="other words")
    assert framed.verdict == "explained"
    assert framed.note == "other words (10 characters around each of ours and 15 of theirs are set aside)"
    assert one_check(["Now x: one, please", "Now x: tow, please"], framed="other words").verdict == "differs"
    assert one_check(["the same", "the same"], framed="other words").verdict == "differs"
    assert one_check(["about  x: one", "about  x: two"], framed="other words").verdict == "equal"


def test_what_no_peer_has_is_a_line_of_the_page() -> None:
    (check,) = verify_prompts(Path(), [Unmatched("b", "nobody asks it")], lambda _: [], VERSIONS)
    assert (check.verdict, check.note) == ("no peer", "nobody asks it")
    assert "## b\n" in fidelity_page([check], prompts=True)
    assert "no peer: nobody asks it" in fidelity_page([check], prompts=True)


def test_a_request_is_one_text() -> None:
    assert text_of(Loglikelihood("c", (" A", " B"))) == "c\n→ A\n→ B"
    assert text_of(Generate((user("a"), user("b")))) == "a\n\nb"
    assert text_of(Embed(("a", "b"))) == "a\nb"
    seen = Message("user", (Text("what?"), Image("image/png", "AAAA")))
    assert text_of(Generate((user("a"), seen))) == "a\n\nwhat?data:image/png;base64,AAAA"


def test_an_interpreter_without_the_peer_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(tmp_path), "--prompts", "--peer", str(tmp_path / "python")]) == 2
    assert "cannot be run" in capsys.readouterr().err
    assert main(["verify", str(tmp_path / "no"), "--prompts"]) == 2
    assert "is no folder" in capsys.readouterr().err
    bare = subprocess.run([sys.executable, "-c", "import lm_eval"], capture_output=True, check=False)
    if bare.returncode:
        assert main(["verify", str(tmp_path), "--prompts"]) == 2
        assert "has no lm-eval" in capsys.readouterr().err


def every_benchmark() -> dict[str, Benchmark]:
    found: dict[str, Benchmark] = {}
    for one in pkgutil.iter_modules(measurand.benchmarks.__path__):
        module = import_module(f"measurand.benchmarks.{one.name}")
        found |= {each.name: each for each in (module.BENCHMARK, *getattr(module, "VARIANTS", {}).values())}
    return found


def wording(benchmark: Benchmark) -> tuple[str, str]:
    assert isinstance(benchmark.asking, Prompting)
    return benchmark.name.partition(":")[0], benchmark.asking.text


def test_every_wording_of_every_benchmark_has_a_peer_or_is_said_to_have_none() -> None:
    benchmarks = every_benchmark()
    named = {one.benchmark for one in renderings()}
    assert named <= set(benchmarks)
    covered = {wording(benchmarks[name]) for name in named}
    assert {name for name, benchmark in benchmarks.items() if wording(benchmark) not in covered} == set()


def test_every_rendering_asks_twenty_items() -> None:
    folder = artifact("README.md").parent
    for one in renderings():
        if isinstance(one, Rendering):
            for file in one.files:
                artifact(file)
            assert len(one.sides(folder).requests) == 20, one.task


@pytest.mark.parametrize("peer", ["lm-eval", "inspect-evals", "crfm-helm"])
def test_a_peer_that_fails_is_a_sentence(
    peer: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of an interpreter that is said to have it, and has not."""
    monkeypatch.setattr(verifying, "_versions", lambda _: {peer: "0"})
    assert main(["verify", str(tmp_path), "--prompts", "--only", "gpqa"]) == 2
    said = capsys.readouterr().err
    assert f"{peer} cannot render the prompts: " in said
    assert "Traceback" not in said


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_our_prompts_are_those_of_the_peers_or_it_is_known_why_not(capsys: pytest.CaptureFixture[str]) -> None:
    if not PEER.exists():
        pytest.skip(f"no peers at {PEER}: make .venv-peers/installed")
    assert main(["verify", str(artifact("README.md").parent), "--prompts", "--peer", str(PEER), "--json"]) == 0
    checks = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    absent = sorted({check["source"] for check in checks if check["verdict"] == "not here"})
    compared = [check for check in checks if check["verdict"] not in {"no peer", "not here"}]
    assert {check["verdict"] for check in compared} == {"equal", "explained"}
    assert {check["published"] for check in compared} == {20}
    if absent:
        pytest.skip(f"{', '.join(absent)} not installed at {PEER}: make .venv-peers/installed")
