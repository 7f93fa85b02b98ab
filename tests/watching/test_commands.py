"""`measurand watch` as a person and as CI meet it, and its page."""

import asyncio
import json
import re
import signal

import pytest

from measurand.cli import watch
from measurand.cli.main import main
from measurand.core.curves import Curves
from measurand.core.errors import InputError
from measurand.report.curves import page as page_module
from measurand.report.curves.page import curves_page
from measurand.report.curves.terminal import plain
from measurand.wiring import watching
from tests.clock import stopped
from tests.watching.simulating import FALLING, curves, train_log
from tests.watching.training import Run, checkpoint, suite_files


@pytest.fixture
def training(tmp_path, monkeypatch):
    """A folder, its suite, and a run whose weights are opened without PyTorch."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("measurand.cli.watch.SETTLE", 0.01)
    suite_files(tmp_path, texts=30, sums=40)
    run = Run([2.0, 1.9, 1.8])
    (tmp_path / "run").mkdir()

    def opened(spec, _options):
        path = tmp_path / "run" / spec.rpartition("/")[2]
        if not (path / "config.json").read_text().startswith("{}"):
            raise InputError(f"transformers cannot run {path.name}: bad config")
        (found,) = [one for one in watching.find(tmp_path / "run") if one.path == path]
        return run.open(found)

    monkeypatch.setattr(watching, "open_subject", opened)
    return tmp_path, run


WATCH = ["watch", "run", "--suite", "suite.toml", "--store", "s.db"]


def test_once_looks_once_and_says_how_it_stands(training, capsys):
    place, run = training
    assert main([*WATCH, "--once", "--quiet"]) == 3, "without a checkpoint nothing can be said"
    assert "No checkpoint is measured yet." in capsys.readouterr().out
    run.write(place / "run", 2)
    for name in ("checkpoint-100", "checkpoint-200"):
        (place / "run" / name / "DONE").unlink()
    assert main([*WATCH, "--once", "--report", "curves.html"]) == 0
    shown = capsys.readouterr().out
    assert "No alert in 2 checkpoints of nightly." in shown
    assert "sums (canary task)" in shown
    assert "checkpoint-200" in (place / "curves.html").read_text()
    run.write(place / "run")
    assert main([*WATCH, "--once", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in found["checkpoints"]] == ["checkpoint-100", "checkpoint-200", "checkpoint-300"]
    assert run.asked == 3 * 70


def test_an_alert_fails_the_build_and_one_that_was_looked_into_does_not(training, capsys):
    place, run = training
    run.bits = [2.0, 2.9, 1.9]
    run.write(place / "run")
    assert main([*WATCH, "--once", "--quiet"]) == 1
    assert "! Spike, checkpoint-200" in capsys.readouterr().out
    assert main([*WATCH, "--once", "--quiet", "--since", "300"]) == 0


def test_a_checkpoint_that_fails_to_load_is_said_and_the_others_are_shown(training, capsys):
    place, run = training
    run.write(place / "run")
    (place / "run" / "checkpoint-200" / "config.json").write_text("no")
    assert main([*WATCH, "--once", "--quiet"]) == 3
    shown = capsys.readouterr().out
    assert "not measured: checkpoint-200: transformers cannot run checkpoint-200: bad config" in shown
    assert "checkpoint-300" in shown


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (["--every", "0"], "seconds, more than 0"),
        (["--log", "none.jsonl"], "check the path of the training log"),
        (["--log", "t.csv", "--log-columns", "step"], "write two names, STEP,LOSS"),
    ],
)
def test_bad_input_is_one_sentence(training, capsys, more, complaint):
    assert main([*WATCH, "--once", *more]) == 2
    assert complaint in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_bad_input(training, capsys):
    assert main(["watch", "nowhere", "--suite", "suite.toml", "--store", "s.db", "--once"]) == 2
    assert "give the folder of the checkpoints" in capsys.readouterr().err


def test_the_wait_has_an_owner_and_an_end(training, capsys, monkeypatch):
    place, run = training
    run.write(place / "run", 1)
    clock = stopped(monkeypatch, "measurand.cli.watch")

    async def nobody_interrupts(seconds):
        await clock.sleep(seconds)
        return False

    monkeypatch.setattr("measurand.cli.watch._interrupted", nobody_interrupts)
    assert main([*WATCH, "--every", "60", "--patience", "150"]) == 0
    assert clock.slept == [60, 60, 30]
    said = " ".join(capsys.readouterr().err.split())
    assert "waiting for the trainer to finish the next checkpoint in run: next look in" in said
    assert "if none comes; Ctrl-C ends it now" in said
    assert "the same command goes on" in said


def test_control_c_leaves_cleanly(training, capsys, monkeypatch):
    place, run = training
    run.write(place / "run", 1)
    wait = watch._interrupted

    async def interrupted(seconds):
        asyncio.get_running_loop().call_soon(signal.raise_signal, signal.SIGINT)
        return await wait(seconds)

    monkeypatch.setattr(watch, "_interrupted", interrupted)
    assert main([*WATCH, "--every", "3000"]) == 0
    assert "the same command goes on" in " ".join(capsys.readouterr().err.split())


HOSTILE = 'checkpoint-<script>alert(1)</script>&"\u202e100'


def test_a_hostile_name_of_a_folder_is_text_on_the_page(training, capsys):
    place, _ = training
    checkpoint(place / "run", HOSTILE.replace("/", "_"), b"x")
    assert main([*WATCH, "--once", "--report", "c.html"]) == 0
    text = (place / "c.html").read_text()
    assert "<script" not in text
    assert "\u202e" not in text
    assert "&lt;script&gt;alert(1)&lt;_script&gt;" in text
    assert "\u202e" not in capsys.readouterr().out


def broken() -> Curves:
    bits = FALLING[:14]
    bits[11] += 0.8
    return curves(bits, [0.5] * 14, train_log(14))


def test_the_page_opens_with_the_alerts_and_loads_nothing():
    text = curves_page(broken())
    assert text.index('id="alerts"') < text.index('id="curves"') < text.index('id="numbers"')
    assert "1 alert in 14 checkpoints of nightly. The latest: texts: bits_per_byte jumps at checkpoint-1200." in text
    assert "default-src &#39;none&#39;" in text or "default-src 'none'" in text
    assert not re.search(r'(src|href)="(?!#)', text)
    assert text.count("<figure>") == 5
    assert "at most 5 % in 40 checkpoints" in text.replace("\u00a0", " ")
    assert len(text) < 1_000_000


def test_without_the_extra_the_tables_draw(monkeypatch):
    monkeypatch.setattr(page_module, "available", lambda: False)
    text = curves_page(broken())
    assert "pip install" in text
    assert "<figure>" not in text
    assert 'class="whisker"' in text


def test_the_terminal_tells_the_alert_first():
    lines = plain(broken()).splitlines()
    assert lines[0].startswith("1 alert in 14 checkpoints of nightly.")
    assert lines[1].startswith("! Spike, checkpoint-1200")
    assert max(map(len, lines)) <= 100
