"""The gate: verdicts, the false alarms that it states, flakes, and a baseline that a repository bears."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from measurand.core.errors import InputError
from measurand.core.identity import canonical
from measurand.study.baseline import LARGEST, as_tables, baseline_of, read_baseline, write_baseline
from measurand.study.gating import GateOptions, gate
from tests.study.world import evidence, many, result, shares, table


def gated(now, before=None, **options):
    made = result("now", "x", now) if not hasattr(now, "tables") else now
    base = None if before is None else baseline_of(table(before, name="x"))
    return gate(evidence([made]), base, GateOptions(**options))


def verdicts(made):
    return [check.verdict for check in made.checks]


def test_an_unchanged_run_passes_however_few_its_items():
    assert gated(many(10, 0.7), many(10, 0.7)).verdict == "pass"


def test_worse_fails_better_passes_and_between_nobody_can_say():
    base = many(500, 0.8)
    assert gated(many(500, 0.6, seed=3), base).verdict == "fail"
    assert gated([1.0] * 500, base).verdict == "pass"
    shuffled = gated(many(500, 0.8, seed=3), base)
    assert verdicts(shuffled) == ["pass", "undecided"]
    assert shuffled.verdict == "undecided"


def test_what_got_worse_is_named():
    base = [1.0] * 100
    now = list(base)
    now[7] = now[42] = 0.0
    assert "worse on q7 and q42" in gated(now, base).checks[1].because


@pytest.mark.parametrize("false_alarm", [0.025, 0.1])
def test_a_change_that_is_no_worse_fails_no_more_often_than_stated(false_alarm):
    """At the very edge of the margin, where it is hardest: the true loss is the margin itself."""
    rng = np.random.default_rng(11)
    failed, times, n = 0, 250, 300
    for _ in range(times):
        base = (rng.random(n) < 0.8).astype(float)
        lost = (base == 1) & (rng.random(n) < 0.05 / 0.8 + 0.02)
        won = (base == 0) & (rng.random(n) < 0.02 * 0.8 / 0.2)
        now = np.where(lost, 0.0, np.where(won, 1.0, base))
        failed += gated(now.tolist(), base.tolist(), margin=0.05, false_alarm=false_alarm).checks[1].verdict == "fail"
    assert failed / times <= false_alarm + 2.5 * np.sqrt(false_alarm * (1 - false_alarm) / times)


def test_a_change_that_is_much_worse_rarely_passes():
    rng = np.random.default_rng(12)
    passed = 0
    for _ in range(100):
        base = (rng.random(300) < 0.8).astype(float)
        now = np.where(rng.random(300) < 0.12, 0.0, base)
        passed += gated(now.tolist(), base.tolist(), margin=0.05).verdict == "pass"
    assert passed <= 5


def test_missing_trials_keep_a_gate_from_passing():
    base = many(200, 0.9)
    now = list(base)
    now[:3] = [None] * 3
    assert verdicts(gated(now, base)) == ["pass", "undecided"], "within the flake budget, yet they could all be lost"
    assert verdicts(gated(now, base, margin=0.05)) == ["pass", "pass"]
    now[:20] = [None] * 20
    made = gated(now, base, margin=0.3)
    assert made.checks[0].verdict == "undecided"
    assert "20 items lacking a score" in made.checks[0].because
    assert gated(now, base, margin=0.3, flakes=0.2).checks[0].verdict == "pass"


def test_items_that_differ_between_their_samples_are_flakes():
    steady = result("now", "x", [1.0, 1.0] * 95 + [0.0, 0.0] * 5, samples=2)
    torn = result("now", "x", [1.0, 1.0] * 90 + [1.0, 0.0] * 10, samples=2)
    assert gated(steady, rules=("accuracy >= 0.5",)).checks[0].verdict == "pass"
    made = gated(torn, rules=("accuracy >= 0.5",))
    assert made.checks[0].verdict == "undecided"
    assert "10 that differ between samples" in made.checks[0].because


def test_another_protocol_cannot_say_until_it_is_accepted():
    base = baseline_of(table(many(50, 0.8), name="x", score_refused=True))
    now = evidence([result("now", "x", many(50, 0.8))])
    made = gate(now, base, GateOptions())
    assert made.verdict == "undecided"
    assert "scoring.score_refused" in made.checks[1].because
    assert gate(now, base, GateOptions(accept=("scoring.score_refused",))).verdict == "pass"


def test_items_that_changed_are_not_compared_and_told():
    base = baseline_of(table(many(50, 0.8), name="x"))
    base = msgspec.structs.replace(base, contents=("00" * 6, *base.contents[1:]))
    made = gate(evidence([result("now", "x", many(50, 0.8))]), base, GateOptions())
    assert "no item of 49 has another score than in the baseline; 1 item changed since" in made.checks[1].because


def test_rules_and_a_baseline_stand_side_by_side():
    made = gated(many(200, 0.9), many(200, 0.9), rules=("accuracy >= 0.8", "accuracy >= 0.95"))
    assert verdicts(made) == ["pass", "pass", "pass", "fail"]
    assert made.verdict == "fail"
    assert canonical(made)


def test_a_baseline_of_mmlu_size_is_under_a_megabyte_and_read_as_written(tmp_path):
    names = [f"high_school_european_history/{at}" for at in range(14_042)]
    base = baseline_of(table([*many(14_041, 0.6), None], name="mmlu"))
    base = msgspec.structs.replace(base, names=tuple(names[:14_041]))
    assert write_baseline(base, tmp_path / "b.json") < LARGEST
    again = read_baseline(tmp_path / "b.json")
    assert again == base
    assert again.unmeasured == 1
    made = as_tables(again).metrics["accuracy"]
    assert made.rows[:, 0].sum() == sum(base.rows)


def test_a_baseline_that_is_too_large_or_was_changed_is_refused(tmp_path):
    base = baseline_of(table(many(40, 0.6)))
    long = msgspec.structs.replace(base, names=tuple(f"{at}{'x' * 30_000}" for at in range(40)))
    with pytest.raises(InputError, match="gate on a seeded subset"):
        write_baseline(long, tmp_path / "b.json")
    for changed in (
        msgspec.structs.replace(base, rows=base.rows[1:]),
        msgspec.structs.replace(base, version=9),
        msgspec.structs.replace(base, run=msgspec.structs.replace(base.run, protocol="00" * 32)),
    ):
        write_baseline(changed, tmp_path / "b.json")
        with pytest.raises(InputError, match="write it anew"):
            read_baseline(tmp_path / "b.json")
    with pytest.raises(InputError, match="can be no baseline"):
        baseline_of(table([None, None]))


def test_no_path_of_this_machine_gets_into_a_baseline(tmp_path):
    made = table(shares((3, 5)))
    made = replace(made, run=msgspec.structs.replace(made.run, recipe={"file": str(tmp_path / "secret.jsonl")}))
    write_baseline(baseline_of(made), tmp_path / "b.json")
    assert "secret" not in (tmp_path / "b.json").read_text()


def test_a_metric_of_several_columns_survives_the_file(tmp_path):
    from measurand.stats.metrics import MICRO_F1
    from measurand.stats.missing import by_item

    base = table(many(20, 0.5))
    rows = np.random.default_rng(0).integers(0, 5, (20, 3)).astype(float)
    f1 = by_item(MICRO_F1, rows, np.arange(20), 20)
    rule = msgspec.structs.replace(base.protocol.aggregation, metrics={"accuracy": "micro_f1@1"})
    protocol = msgspec.structs.replace(base.protocol, aggregation=rule)
    run = msgspec.structs.replace(base.run, protocol=protocol.id)
    made = baseline_of(replace(base, metrics={"accuracy": f1}, protocol=protocol, run=run))
    write_baseline(made, tmp_path / "b.json")
    assert np.array_equal(as_tables(read_baseline(tmp_path / "b.json")).metrics["accuracy"].rows, rows)
