"""A folder watched: what is finished is evaluated once, what is not is left alone, what is broken costs a sentence."""

import asyncio
import math
from pathlib import Path

import pytest

from measurand.core.errors import DataError, InputError
from measurand.study.suite import load_suite
from measurand.wiring import Options
from measurand.wiring.watching import Log, Watcher
from tests.watching.training import Checkpointed, Run, checkpoint, suite_files


def watcher(place: Path, run: Run, **more) -> Watcher:
    suite = load_suite(suite_files(place / "suite"))
    folder = place / "run"
    folder.mkdir(exist_ok=True)
    return Watcher(folder, suite, Options(store=str(place / "store.db")), opener=run.open, **more)


def look(one: Watcher) -> int:
    return asyncio.run(one.look())


def test_each_checkpoint_is_evaluated_once_and_becomes_a_point(tmp_path):
    run = Run([2.0, 1.8, 1.7])
    one = watcher(tmp_path, run)
    run.write(one.folder, 2)
    assert look(one) == 2
    run.write(one.folder)
    assert look(one) == 1
    assert look(one) == 0
    assert run.opened == ["checkpoint-100", "checkpoint-200", "checkpoint-300"]
    assert run.asked == 3 * (60 + 120)
    assert [(subject.starts, subject.closes) for subject in run.subjects] == [(1, 1)] * 3, "weights are loaded once"
    curves = one.curves()
    names = [curve.name for curve in curves.curves]
    assert names == ["texts", "texts, domain code", "texts, domain web", "sums"]
    whole = curves.curves[0]
    assert [point.step for point in whole.points] == [100, 200, 300]
    values = [point.estimate.value for point in whole.points]
    assert values == pytest.approx([2.0, 1.8, 1.7], abs=0.01)
    step = whole.points[1].from_previous
    assert step.difference.value == pytest.approx(values[1] - values[0])
    assert step.p < 0.01
    assert whole.points[0].from_previous is None
    assert not curves.alerts


def test_a_watch_that_was_killed_goes_on_where_it_was(tmp_path):
    run = Run([2.0, 1.8, 1.7])
    first = watcher(tmp_path, run)
    run.write(first.folder, 2)
    look(first)
    paid = run.asked
    again = watcher(tmp_path, run)
    run.write(again.folder)
    assert look(again) == 3
    assert run.asked == paid + 180
    unbroken = Run([2.0, 1.8, 1.7])
    (tmp_path / "other").mkdir()
    whole = watcher(tmp_path / "other", unbroken)
    unbroken.write(whole.folder)
    look(whole)
    one, other = ([[p.estimate for p in c.points] for c in w.curves().curves] for w in (again, whole))
    assert one == other


def test_a_checkpoint_that_is_killed_in_the_middle_is_finished_later(tmp_path):
    run = Run([2.0])
    one = watcher(tmp_path, run)
    run.write(one.folder)
    plain = run.open

    def dies(candidate):
        made = plain(candidate)
        whole = made._answer

        def answer(request):
            if made.asked > 90:
                raise KeyboardInterrupt
            return whole(request)

        made._script = answer
        return made

    one.opener = dies
    with pytest.raises(KeyboardInterrupt):
        look(one)
    paid = run.asked
    again = watcher(tmp_path, run)
    assert look(again) == 1
    assert run.asked - paid <= 180 - 60
    assert len(again.curves().curves[0].points) == 1


@pytest.mark.parametrize("how", ["cut", "shard", "nothing", "changing"])
def test_a_checkpoint_that_is_being_written_waits_for_the_next_look(tmp_path, how):
    run = Run([2.0])
    one = watcher(tmp_path, run)
    path = checkpoint(one.folder, "checkpoint-100", b"x" * 100, done=how != "changing")
    weights = path / "model.safetensors"
    whole = weights.read_bytes()
    if how == "cut":
        weights.write_bytes(whole[:-20])
    if how == "nothing":
        weights.unlink()
    if how == "shard":
        (path / "model.safetensors.index.json").write_text('{"weight_map": {"a": "model-2.safetensors"}}')
    if how == "changing":
        assert look(one) == 0
        (path / "optimizer.pt").write_bytes(b"more")
    assert look(one) == 0
    assert one.waiting
    assert not run.opened
    weights.write_bytes(whole)
    (path / "model-2.safetensors").write_bytes(whole)
    look(one)
    assert look(one) + len(run.opened) >= 1
    assert not one.waiting
    assert run.opened == ["checkpoint-100"]


def test_what_cannot_be_loaded_costs_one_sentence(tmp_path):
    run = Run([2.0, 1.9, 1.8])
    one = watcher(tmp_path, run)
    run.write(one.folder)
    plain = run.open

    def opener(candidate):
        if candidate.step == 200:
            raise InputError(f"transformers cannot run {candidate.name}: bad header")
        return plain(candidate)

    one.opener = opener
    assert look(one) == 3
    assert look(one) == 0, "it is not tried again while its files stay as they are"
    curves = one.curves()
    assert [(u.checkpoint, u.why) for u in curves.unmeasured] == [
        ("checkpoint-200", "transformers cannot run checkpoint-200: bad header")
    ]
    assert [p.step for p in curves.curves[0].points] == [100, 300]
    one.opener = plain
    (one.folder / "checkpoint-200" / "model.safetensors").write_bytes(b"\x08" + b"\0" * 7 + b"{}      mended")
    assert look(one) == 1
    assert [p.step for p in one.curves().curves[0].points] == [100, 200, 300]


def test_a_renamed_checkpoint_is_not_paid_for_again(tmp_path):
    run = Run([2.0])
    one = watcher(tmp_path, run)
    run.write(one.folder)
    look(one)
    paid = run.asked
    (one.folder / "checkpoint-100").rename(one.folder / "step_100")
    again = watcher(tmp_path, run)
    assert look(again) == 1
    assert run.asked == paid
    assert again.curves().curves[0].points[0].checkpoint == "step_100"


def test_a_copy_of_a_checkpoint_is_no_second_point(tmp_path):
    run = Run([2.0, 1.8])
    one = watcher(tmp_path, run)
    run.write(one.folder)
    checkpoint(one.folder, "final", b"weights 1")
    look(one)
    curves = one.curves()
    assert len(curves.curves[0].points) == 2
    assert curves.unmeasured[0].why == "holds the weights of checkpoint-200, which is on the curve"


def test_weights_that_give_no_number_are_an_alert(tmp_path):
    run = Run([2.0, math.nan, 1.9])
    one = watcher(tmp_path, run)
    run.write(one.folder)
    look(one)
    (alert,) = one.curves().alerts
    assert (alert.kind, alert.checkpoint) == ("non_finite", "checkpoint-200")
    paid = run.asked
    again = watcher(tmp_path, run)
    look(again)
    assert run.asked == paid, "a model that gives no number will not give one later"


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ('windo = 8\nname = "n"', "did you mean 'window'?"),
        ('name = "n"\n[[sets]]\nfil = "a.csv"', "in [[sets]]; did you mean 'file'?"),
        ('name = "n"\n[[benchmarks]]\nname = "m"\nsubset = 3', "in [[benchmarks]]; did you mean 'subset_size'?"),
        ('name = "n"', "the suite asks nothing"),
        ('name = "n"\nfalse_alarm = 2.0\n[[benchmarks]]\nname = "m"', "a chance between 0 and 1"),
        ('name = "n"\nwindow = 2\n[[benchmarks]]\nname = "m"', "window is 2"),
        ("name = ", "not valid TOML"),
    ],
)
def test_a_wrong_suite_is_refused_with_the_right_key(tmp_path, wrong, complaint):
    (tmp_path / "suite.toml").write_text(wrong)
    with pytest.raises(InputError) as error:
        load_suite(tmp_path / "suite.toml")
    assert complaint in str(error.value)


def test_a_suite_that_nobody_could_be_asked_is_refused_before_a_model_is_loaded(tmp_path):
    run = Run([2.0])
    one = watcher(tmp_path, run)
    one.check()
    (tmp_path / "suite" / "sums.csv").unlink()
    with pytest.raises((InputError, DataError)):
        one.check()
    assert not run.opened


def test_checkpoints_stand_in_the_order_of_their_steps(tmp_path):
    run = Run([2.0] * 12)
    one = watcher(tmp_path, run)
    for name in ("checkpoint-1000", "checkpoint-200", "step_900"):
        checkpoint(one.folder, name, name.encode())
    checkpoint(one.folder, "last", b"last")
    (one.folder / "tmp-checkpoint-5").mkdir()
    (one.folder / "notes").mkdir()
    (one.folder / "notes.txt").write_text("none")
    look(one)
    assert [c.name for c in one.curves().checkpoints] == ["checkpoint-200", "step_900", "checkpoint-1000", "last"]


def test_losses_come_from_the_log(tmp_path):
    run = Run([2.0])
    log = tmp_path / "train.jsonl"
    log.write_text('{"iter": 1, "train": 3.5}\n{"eval": 1}\n{"iter": 2, "train": NaN}\n{"iter": 3, "tra')
    one = watcher(tmp_path, run, log=Log(log, "iter", "train"))
    run.write(one.folder)
    look(one)
    curves = one.curves()
    assert [(loss.step, loss.value) for loss in curves.losses] == [(1, 3.5), (2, None)]
    (alert,) = curves.alerts
    assert alert.kind == "non_finite"
    assert "the first at step 2" in alert.evidence[0]


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("a.jsonl", '{"step": 1, "los": 2}\n', "no line has both 'step' and 'loss'; its columns are step, los"),
        ("a.jsonl", "hello\n", "line 1: no JSON"),
        ("a.jsonl", "[1]\n", "line 1: no object"),
        ("a.csv", "step,loss\n1,high\n", "line 2: loss is 'high', which is no number"),
        ("a.csv", "step,loss\nNaN,1\n", "which is no step"),
    ],
)
def test_a_log_that_is_none_is_refused_with_its_line(tmp_path, name, text, complaint):
    from measurand.study.training_log import read_losses

    (tmp_path / name).write_text(text)
    with pytest.raises(DataError) as error:
        read_losses(tmp_path / name)
    assert complaint in str(error.value)


def test_subjects_of_one_kind_are_told_apart_by_their_weights():
    one, other = (Checkpointed("a", sha, lambda _: 1.0, 1.0).subject for sha in ("x", "y"))
    assert one != other
