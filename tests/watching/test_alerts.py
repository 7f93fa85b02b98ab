"""Alerts: what is wrong is found, what is not raises them no more often than stated."""

import math

import numpy as np
import pytest

from measurand.core.errors import InputError
from measurand.stats.series import clearest, drift, jump, trend
from measurand.study.alerts import SPANS
from measurand.study.curves import chance
from measurand.study.suite import Suite
from measurand.study.watching import watched
from tests.watching.simulating import FALLING, curves, taken, train_log


def kinds(found, kind):
    return [alert for alert in found.alerts if alert.kind == kind]


def test_a_healthy_run_raises_no_alert():
    found = curves(FALLING[:14], [0.3 + 0.03 * at for at in range(14)], train_log(14))
    assert not found.alerts
    assert not found.unmeasured
    assert not found.notes
    assert [curve.name for curve in found.curves] == ["texts", "texts, domain code", "texts, domain web", "sums"]
    assert found.level == pytest.approx(0.05 / 40 / 4)


def test_a_spike_is_found_where_it_is():
    bits = FALLING[:14]
    bits[11] += 0.8
    spikes = kinds(curves(bits), "spike")
    (whole,) = spikes
    assert whole.step == 1200
    assert whole.curves == ("texts", "texts, domain code", "texts, domain web")
    assert whole.evidence[-1] == "The same holds of texts, domain code and texts, domain web."
    assert "robust standard deviations" in whole.evidence[1]
    assert "the smallest change that is found is" in whole.evidence[0]


def test_a_spike_in_one_domain_alone_is_told_of_that_domain():
    bits = FALLING[:14]
    made = taken(bits)[:13]
    worse = made[12].tables["texts"]
    rows = worse.metrics["bits_per_byte"].rows
    rows[1::2, 0] *= 1.4
    rows[0::2, 0] /= 1.4
    spikes = kinds(watched(made, Suite(name="s", checkpoints=40), ()), "spike")
    assert [alert.curves for alert in spikes] == [("texts, domain code",)]


def test_a_large_spike_is_found_before_the_usual_step_is_known():
    found = curves([2.0, 1.9, 2.6])
    assert {(alert.kind, alert.step) for alert in found.alerts} == {("spike", 300)}
    assert "the usual size of a step is not known yet" in found.alerts[0].evidence[1]
    assert not curves([2.0, 1.9, 1.95]).alerts, "five per cent may be usual"


def test_a_rise_that_is_usual_for_this_run_is_no_spike_however_sure_it_is():
    rng = np.random.default_rng(3)
    found = curves([2.0 + float(step) for step in rng.normal(0, 0.05, 20)])
    sure = [chance(point.from_previous) for point in found.curves[0].points[1:]]
    assert max(p < found.level for p in sure), "the items tell these checkpoints apart"
    assert not found.alerts


def test_validation_that_rises_while_training_falls_is_found_once():
    bits = [2.0 - 0.1 * at for at in range(5)] + [1.6 + 0.03 * (at + 1) for at in range(9)]
    found = kinds(curves(bits, losses=train_log(14)), "divergence")
    assert [alert.step for alert in found if "texts" in alert.curves] == [1200], (
        "it is told once, not at every checkpoint that goes on so"
    )
    assert "Training loss fell from about" in found[0].evidence[1]
    assert "over 8 checkpoints (drift, p < 0.001)" in found[0].evidence[0]


@pytest.mark.parametrize("slope", [0.0, 0.02])
def test_where_training_does_not_fall_it_is_no_divergence(slope):
    bits = [1.6 + 0.03 * at for at in range(12)]
    assert not kinds(curves(bits, losses=train_log(12, slope)), "divergence")


def test_without_a_log_it_is_said_that_divergence_cannot_be_seen():
    found = curves([1.6 + 0.03 * at for at in range(12)])
    assert not kinds(found, "divergence")
    assert any("No training loss is given" in note for note in found.notes)


@pytest.mark.parametrize(
    ("right", "kind"),
    [([0.8] * 6 + [0.5] * 4, "fall"), ([0.5] * 10, "do not"), ([0.08 * at for at in range(10)], ""), ([0.99] * 10, "")],
)
def test_canaries_that_do_not_follow_are_named(right, kind):
    found = kinds(curves(FALLING[:10], right, sums=400, least_gain=0.10), "canaries")
    if not kind:
        assert not found
        return
    assert len(found) == 1
    assert f"canary tasks {kind}: sums" in found[0].text
    assert found[0].curves == ("sums",)


def test_canaries_of_a_run_whose_perplexity_does_not_improve_are_no_alert():
    assert not kinds(curves([2.0] * 10, [0.8] * 6 + [0.5] * 4, sums=400), "canaries")


def test_a_canary_that_is_too_small_to_say_so_stays_silent():
    assert not kinds(curves(FALLING[:10], [0.5] * 10, sums=12), "canaries")


def test_a_log_that_cannot_show_a_trend_and_too_many_looks_are_told():
    notes = curves(FALLING[:6], losses=train_log(6)[::10], window=5, checkpoints=4).notes
    assert any("has 4 values over the latest 5 checkpoints, too few for a trend" in note for note in notes)
    assert any("6 checkpoints were looked at and the suite plans 4" in note for note in notes)


def test_a_comparison_in_the_far_tail_has_a_finer_chance_than_permutations_give():
    step = curves([2.0, 1.0]).curves[0].points[1].from_previous
    assert step.p == pytest.approx(1 / 2001)
    assert chance(step) < 1e-10
    near = curves([2.0, 2.0]).curves[0].points[1].from_previous
    assert chance(near) == near.p > 0.01


def test_the_chance_of_a_jump_is_no_smaller_than_it_says():
    """Of normal steps, in windows as they are used, at levels down to one in five hundred."""
    rng = np.random.default_rng(1)
    for n in (8, 20):
        ps = np.array([jump(row[:-1].tolist(), float(row[-1])).p for row in rng.normal(size=(4000, n + 1))])
        for level in (0.05, 0.01, 0.002):
            assert np.mean(ps <= level) <= 1.2 * level + 3 * math.sqrt(level / 4000), (n, level)


def test_the_chance_of_a_trend_is_what_it_says():
    rng = np.random.default_rng(2)
    ps = np.array([trend(rng.normal(size=8).tolist(), rises=True) for _ in range(1500)])
    for level in (0.05, 0.01):
        assert np.mean(ps <= level) <= level + 3 * math.sqrt(level / 1500)
    assert trend(list(range(8)), rises=True) == pytest.approx(clearest(8))
    assert trend(list(range(8)), rises=False) == pytest.approx(1.0)
    assert trend([1.0] * 8, rises=True) == 1.0
    with pytest.raises(InputError):
        trend([1.0, 2.0], rises=True)


def test_an_earlier_jump_does_not_hide_the_next():
    steps = [-0.01, 0.01, -0.02, 0.0, 0.015, -0.005, 0.01, -0.012]
    assert jump([*steps, 0.8], 0.8).p < 0.002
    assert jump([0.0] * 8, 0.1).p == 0.0
    assert jump([0.0] * 8, 0.0).p == 1.0
    with pytest.raises(InputError):
        jump([0.0, 1.0], 2.0)


def wandering(kind: str, rng: np.random.Generator, n: int) -> np.ndarray:
    """A series in which nothing is wrong: noise around a level, a slow fall, an autoregression, or a random walk."""
    if kind == "walk":
        return np.cumsum(rng.normal(size=n))
    if kind == "heavy walk":
        return np.cumsum(rng.standard_t(3, size=n))
    rho = {"white": 0.0, "falling": 0.0, "half": 0.5, "most": 0.8}[kind]
    noise = rng.normal(size=n)
    noise[0] /= math.sqrt(1 - rho**2)
    for at in range(1, n):
        noise[at] += rho * noise[at - 1]
    return noise - (0.1 * np.arange(n) if kind == "falling" else 0)


def first_drift(values: np.ndarray, level: float, window: int = 8) -> int | None:
    """The first checkpoint at which divergence would be told of a series, as the rule looks at it."""
    for at in range(window - 1, len(values)):
        for span in SPANS:
            start = at - window * span + 1
            if start >= 0 and drift(values[start : at + 1].tolist(), rises=True) <= level / len(SPANS):
                return at
    return None


@pytest.mark.parametrize("kind", ["white", "falling", "half", "most", "walk", "heavy walk"])
def test_a_whole_series_that_wanders_rarely_seems_to_rise(kind):
    """Five per cent of the series at most, over all looks together."""
    rng, runs, looks = np.random.default_rng(7), 200, 24
    raised = sum(first_drift(wandering(kind, rng, looks), 0.05 / looks) is not None for _ in range(runs))
    assert raised / runs <= 0.05


@pytest.mark.parametrize(("kind", "noise", "delay"), [("white", 0.1, 8), ("white", 0.3, 12), ("walk", 0.3, 9)])
def test_a_rise_is_seen_with_the_delay_that_the_docs_state(kind, noise, delay):
    """From the tenth of 40 checkpoints on, validation rises by 1 for each; `noise` is the deviation of its wandering."""
    rng = np.random.default_rng(8)
    rise = np.maximum(0, np.arange(40) - 9)
    found = [first_drift(rise + noise * wandering(kind, rng, 40), 0.05 / 40) for _ in range(40)]
    assert None not in found
    assert np.median(found) - 9 <= delay


def test_the_chance_of_a_drift_is_what_it_says():
    """Of random walks; the rise of a series of noise is less likely still."""
    rng = np.random.default_rng(4)
    walks, noise = np.cumsum(rng.normal(size=(4000, 8)), axis=1), rng.normal(size=(4000, 8))
    ps, others = (np.array([drift(row.tolist(), rises=True) for row in rows]) for rows in (walks, noise))
    for level in (0.2, 0.05, 0.01):
        assert np.mean(ps <= level) == pytest.approx(level, abs=4 * math.sqrt(level / 4000))
        assert np.mean(others <= level) <= level / 2
    assert drift([1.0, 2.0, 3.0, 4.0], rises=True) == 0.0
    assert drift([1.0, 2.0, 3.0, 4.0], rises=False) == 1.0
    assert drift([1.0] * 4, rises=True) == 1.0
    assert drift([0.0, 1.0, 3.0], rises=True) == pytest.approx(math.atan2(1, 3) / math.pi, rel=1e-5), "a Cauchy's tail"
    with pytest.raises(InputError):
        drift([1.0, 2.0], rises=True)


@pytest.mark.slow
def test_a_loss_that_wanders_makes_few_alerts():
    """A random walk of validation, from checkpoint to checkpoint far beyond what items explain, while training falls."""
    runs, count = 40, {"spike": 0, "divergence": 0}
    for seed in range(runs):
        bits = 2.0 + np.cumsum(np.random.default_rng(2000 + seed).normal(0, 0.01, 16))
        found = curves(bits.tolist(), losses=train_log(16, seed=seed), seed=seed, checkpoints=16, groups=())
        for kind in {alert.kind for alert in found.alerts}:
            count[kind] += 1
    assert all(raised / runs <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs) for raised in count.values()), count


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 0.03])
def test_false_alerts_stay_below_the_stated_chance(noise):
    """Nothing is wrong but the ups and downs of training (`noise`) and of texts; each kind may come in 5 % of the runs."""
    runs, count = 40, {"spike": 0, "divergence": 0, "canaries": 0}
    for seed in range(runs):
        rng = np.random.default_rng(1000 + seed)
        bits = [2.0 + float(step) for step in rng.normal(0, noise, 16)]
        right = [0.5 + float(step) for step in rng.normal(0, 0.01, 16)]
        found = curves(bits, right, train_log(16, seed=seed), seed=seed, checkpoints=16, groups=())
        for kind in {alert.kind for alert in found.alerts}:
            count[kind] += 1
    bound = 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
    assert all(raised / runs <= bound for raised in count.values()), count
