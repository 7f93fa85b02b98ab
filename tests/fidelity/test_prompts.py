"""`measurand verify --prompts`: equal, explained or apart, with fake texts; and against lm-eval where it is installed."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from measurand.cli.main import main
from measurand.core.fidelity import Cause, Check, Rendering, Side
from measurand.core.message import user
from measurand.core.request import Complete, Embed, Generate, Loglikelihood
from measurand.study.verify import renderings
from measurand.study.verify_prompts import text_of, verify_prompts
from tests.artifacts import artifact

PEER = Path(os.environ.get("MEASURAND_PEER", Path(__file__).resolve().parents[2] / ".venv-peers" / "bin" / "python"))
TWO = Side({}, [Complete("about  x: one"), Complete("about  x: two")])
SPACES = Cause("two spaces", lambda text: text.replace("  ", " "))
UNUSED = Cause("never", lambda text: text.replace("zzz", ""))


def one_check(theirs: Sequence[str], *causes: Cause, files: tuple[str, ...] = ()) -> Check:
    rendering = Rendering("b", "t.yaml", lambda _: TWO, files, causes=causes)
    (check,) = verify_prompts(Path(), [rendering], lambda asked: [theirs] * len(asked), "peer 1")
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


def test_a_request_is_one_text() -> None:
    assert text_of(Loglikelihood("c", (" A", " B"))) == "c\n→ A\n→ B"
    assert text_of(Generate((user("a"), user("b")))) == "a\n\nb"
    assert text_of(Embed(("a", "b"))) == "a\nb"


def test_an_interpreter_without_the_peer_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(tmp_path), "--prompts", "--peer", str(tmp_path / "python")]) == 2
    assert "cannot be run" in capsys.readouterr().err
    assert main(["verify", str(tmp_path / "no"), "--prompts"]) == 2
    assert "is no folder" in capsys.readouterr().err
    bare = subprocess.run([sys.executable, "-c", "import lm_eval"], capture_output=True, check=False)
    if bare.returncode:
        assert main(["verify", str(tmp_path), "--prompts"]) == 2
        assert "has no lm-eval" in capsys.readouterr().err


def test_every_rendering_asks_twenty_items() -> None:
    folder = artifact("README.md").parent
    for one in renderings():
        for file in one.files:
            artifact(file)
        assert len(one.sides(folder).requests) == 20, one.task


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_our_prompts_are_those_of_lm_eval_or_it_is_known_why_not(capsys: pytest.CaptureFixture[str]) -> None:
    if not PEER.exists():
        pytest.skip(f"no peers at {PEER}: make .venv-peers/installed")
    assert main(["verify", str(artifact("README.md").parent), "--prompts", "--peer", str(PEER), "--json"]) == 0
    checks = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {check["verdict"] for check in checks} == {"equal", "explained"}
    assert {check["published"] for check in checks} == {20}
