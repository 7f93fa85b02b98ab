"""From evidence to an answer, its causes, and what would change it."""

from dataclasses import replace

import numpy as np
import pytest

from measurand.core.claim import AboutMethod
from measurand.core.errors import InputError
from measurand.core.identity import canonical
from measurand.core.subject import subject_name
from measurand.stats.metrics import BITS_PER_BYTE, MEAN, MICRO_F1, TOKEN_PERPLEXITY
from measurand.study.coverage import coverage
from measurand.study.deciding import findings
from measurand.study.evidence import Result
from measurand.study.methods import effects, seeded_difference
from measurand.study.records import Arm
from tests.study.world import QUIZ, evidence, many, result, shares

KINDS = {"kind": ["emi"] * 60 + ["benign"] * 60 + ["policy"] * 60}
RULES = ("accuracy on loans >= 0.80", "worst slice of kind on loans >= 0.70")


def bank(b_quiz=0.6, rules=RULES, **study):
    return evidence(
        [
            result("A", "quiz", many(150, 0.9)),
            result("B", "quiz", many(150, b_quiz, seed=4)),
            result("A", "loans", shares((20, 60), (24, 60), (58, 60)), slices=KINDS),
            result("B", "loans", shares((58, 60), (57, 60), (57, 60)), slices=KINDS),
        ],
        cards={"quiz": QUIZ},
        rules=rules,
        **study,
    )


def answer(made):
    return findings(made).decision.answer


def test_the_private_set_decides_although_the_quiz_says_otherwise():
    decision = findings(bank()).decision
    assert decision.chosen == "B"
    assert decision.answer.startswith("B, although A leads the quiz quiz. B passes all 2 rules; A fails")
    causes = " ".join(decision.causes)
    assert "On loans, kind emi (60 items), B against A: +63.3 points (" in causes
    assert "On loans, kind benign" in causes
    assert "kind policy" not in causes, "there is no difference on it"
    assert "Against it: On quiz (150 items), A against B: +30.0 points" in causes
    assert all("paired" in cause for cause in decision.causes)
    assert any("if quiz were what the subject is for, A would lead" in one for one in decision.would_change)
    assert any("narrowest pass is" in one for one in decision.would_change)


def test_a_lead_within_noise_is_not_told_as_a_lead():
    decision = findings(bank(b_quiz=0.88)).decision
    assert decision.answer.startswith("B. B passes")
    assert not any("Against it" in cause for cause in decision.causes)
    assert any(one.name == "difference_within_noise" and one.about == "quiz" for one in decision.threats)


def test_without_rules_the_paired_difference_decides():
    decision = findings(bank(rules=())).decision
    assert decision.chosen == "B"
    assert "although A leads the quiz quiz. B is ahead on loans: +38.9 points (" in decision.answer


def test_equals_are_not_ranked():
    made = evidence([result("x", "loans", many(100, 0.8)), result("y", "loans", many(100, 0.8, seed=2))])
    decision = findings(made).decision
    assert decision.chosen == ""
    assert decision.answer == "Cannot say: x and y cannot be told apart on loans."
    assert decision.causes == ()
    both = evidence(
        [result("x", "loans", many(400, 0.9)), result("y", "loans", many(400, 0.9, seed=2))],
        rules=("accuracy on loans >= 0.8",),
    )
    assert answer(both) == "x and y pass all rules. x and y cannot be told apart on loans."


@pytest.mark.parametrize(
    ("rate", "n", "opening"),
    [(0.95, 200, "Yes: m passes the rule."), (0.5, 200, "No: m fails"), (0.83, 100, "Not yet: m leaves")],
)
def test_one_subject_gets_yes_no_or_not_yet(rate, n, opening):
    made = evidence([result("m", "loans", many(n, rate))], rules=("accuracy on loans >= 0.80",))
    decision = findings(made).decision
    assert decision.answer.startswith(opening)
    assert (decision.chosen == "m") == opening.startswith("Yes")
    if opening.startswith("Not yet"):
        assert "further items would decide" in decision.answer
        assert "further items would decide 'accuracy on loans >= 0.80' for m." in decision.would_change[0]


def test_one_subject_has_no_rank_and_what_is_missing_is_told():
    made = findings(evidence([result("m", "loans", [*many(80, 0.9), *([None] * 20)])]))
    assert made.rankings == ()
    assert made.decision.answer.startswith("m reaches 90.0 % (")
    assert "; 20 missing, could be 72.0 to 92.0)" in made.decision.answer


def test_nobody_who_fails_is_chosen():
    made = evidence(
        [result("x", "loans", many(100, 0.3)), result("y", "loans", many(100, 0.2))],
        rules=("accuracy on loans >= 0.8",),
    )
    decision = findings(made).decision
    assert (decision.chosen, decision.answer[:13]) == ("", "None of them:")


def test_two_protocols_end_in_no_ranking():
    made = evidence([result("x", "loans", many(40, 0.9)), result("y", "loans", many(40, 0.1), score_refused=True)])
    assert answer(made).startswith("No ranking: x and y may not be compared on loans: the protocols differ in scoring")


def test_nothing_measured_is_said():
    empty = Result("m", "loans", empty="no_loglikelihood", why="it asks by loglikelihood")
    other = result("n", "quiz", many(20, 0.5))
    made = evidence([empty, other], decide_on="loans")
    assert answer(made) == "Nothing can be said yet: nobody is measured on loans (it asks by loglikelihood)."


def test_the_coverage_matrix_has_a_number_or_a_reason_in_every_cell():
    made = evidence(
        [
            result("x", "loans", many(100, 0.9)),
            Result("y", "loans", empty="no_loglikelihood", why="the endpoint gives no log-probabilities"),
            result("x", "quiz", [None] * 30),
            result("y", "quiz", [1.0, 0.0, 1.0]),
        ]
    )
    cells = coverage(made)
    by = {(one.subject, one.scenario, one.metric): one for one in cells}
    assert len(by) == len(cells) == 2 * 2 * 3
    assert all((one.estimate is None) == bool(one.empty) and (one.estimate is not None or one.why) for one in cells)
    assert by["x", "loans", "accuracy"].share == 1.0
    assert by["x", "loans", "latency p95"].estimate.unit == "s"
    assert by["x", "loans", "cost per 1,000"].estimate.unit == "USD"
    assert by["y", "loans", "accuracy"].empty == "no_loglikelihood"
    assert by["x", "quiz", "accuracy"].empty == "failed"
    assert "connection reset" in by["x", "quiz", "accuracy"].why
    assert by["y", "quiz", "accuracy"].empty == "too_few"


def test_findings_are_records_and_the_same_every_time():
    first, second = findings(bank()), findings(bank())
    assert canonical(first) == canonical(second)
    assert {subject_name(one.run.subject) for one in first.summaries} == set(first.subjects)
    views = {(view.view, view.value) for one in first.summaries for view in one.views}
    assert ("slice:kind", "emi") in views


def test_crossed_slices_that_the_study_names_are_shown():
    slices = KINDS | {"language": ["en", "hi"] * 90}
    made = evidence([result("m", "loans", many(180, 0.8), slices=slices)], slices=("language*kind", "length"))
    (summary,) = findings(made).summaries
    values = {view.value: view.estimate.n_items for view in summary.views if view.view == "slice:language*kind"}
    assert values == {f"{language} * {kind}": 30 for language in ("en", "hi") for kind in ("emi", "benign", "policy")}
    assert any(view.view == "slice:length" for view in summary.views)


METHOD = AboutMethod("data", ("base", "compute", "hyperparameters"), "plain", 3)


def arms(gain, n=300, held=METHOD.held_equal, seeds=3):
    rng = np.random.default_rng(8)
    hard = rng.random(n)
    results = [
        result(
            f"{arm}{seed}", "test", (rng.random(n) < (0.3 + 0.5 * hard + gain * (arm == "new"))).astype(float).tolist()
        )
        for arm in ("plain", "new")
        for seed in range(seeds)
    ]
    made = [Arm(name=arm, subjects=tuple(f"{arm}{seed}" for seed in range(seeds))) for arm in ("plain", "new")]
    claim = AboutMethod("data", held, "plain", 3)
    return evidence(results, claim=claim, arms=tuple(made))


def test_a_method_study_reports_the_effect_over_seeds():
    decision = findings(arms(0.2)).decision
    assert decision.chosen == "new"
    assert decision.answer.startswith("New against plain shows an effect on test: +")
    assert findings(arms(0.0)).decision.answer.startswith("New against plain shows no effect that is more than noise")
    made = findings(arms(0.2))
    assert [(one.a, one.b) for one in made.contrasts] == [("new", "plain")], "seeds are not set against each other"
    assert made.rankings == ()


def test_a_method_study_with_too_few_seeds_or_open_variables_is_refused():
    assert "needs 3 seeds of each arm, and 2 and 2 are measured" in answer(arms(0.2, seeds=2))
    assert "compute and hyperparameters are not declared equal" in answer(arms(0.2, held=("base",)))
    with pytest.raises(InputError, match="is no arm"):
        findings(evidence([result("m", "test", many(20, 0.5))], claim=METHOD))


def perplexities(shifts, n, rng):
    """Log-probabilities and bytes, [seeds, texts, 2]: texts of uneven length and difficulty, seeds that are shifted."""
    length = rng.lognormal(5, 0.7, n)
    hard = rng.normal(0.7, 0.2, n)
    nats = hard + np.asarray(shifts)[:, None] + rng.normal(0, 0.05, (len(shifts), n))
    return np.stack((-nats * length, np.broadcast_to(length, nats.shape)), axis=-1)


def test_a_method_study_of_bits_per_byte_reports_the_effect_in_bits():
    """The first column is a sum of log-probabilities; its mean would be another number."""
    made = arms(0.2)
    rows = perplexities([0.1, 0.12, 0.11, 0.0, 0.01, -0.01], 300, np.random.default_rng(3))
    for one, row in zip(made.results, rows, strict=True):
        table = one.tables.metrics["accuracy"]
        one.tables.metrics["accuracy"] = replace(table, metric=BITS_PER_BYTE, rows=row)
    (contrast,) = effects(made)
    found = contrast.comparison.difference
    by_hand = [-row[:, 0].sum() / row[:, 1].sum() / np.log(2) for row in rows]
    assert found.value == pytest.approx(np.mean(by_hand[3:]) - np.mean(by_hand[:3]))
    assert found.low < found.value < found.high < 0
    assert (found.unit, found.method) == (
        "bits/byte",
        "paired by item, 3 and 3 seeds, Student's t, bootstrap of items",
    )


def test_a_method_study_of_numbers_that_are_not_of_one_scale_is_refused():
    made = arms(0.2)
    for seed, one in enumerate(made.results):
        table = one.tables.metrics["accuracy"]
        rows = np.stack((np.full(300, -1.0), np.full(300, 1.0 + seed)), axis=-1)
        one.tables.metrics["accuracy"] = replace(table, metric=TOKEN_PERPLEXITY, rows=rows)
    (contrast,) = effects(made)
    assert contrast.comparison is None
    assert contrast.refused == "the seeds split the texts into different tokens; compare bits per byte"


def test_the_interval_over_seeds_covers_and_a_pooled_one_would_not():
    rng = np.random.default_rng(1)
    covered = narrow = 0
    for _ in range(300):
        effects = rng.normal(0, 0.05, (2, 4))
        a, b = (np.clip(rng.normal(0.5, 0.2, 200) + e[:, None] + rng.normal(0, 0.05, (4, 200)), 0, 1) for e in effects)
        made = seeded_difference(a[..., None], b[..., None], MEAN, ("a", "b")).difference
        covered += made.low <= 0 <= made.high
        d = a.mean(axis=0) - b.mean(axis=0)
        narrow += abs(d.mean()) <= 1.96 * d.std(ddof=1) / np.sqrt(200)
    assert covered / 300 >= 0.93
    assert narrow < covered, "items alone forget that seeds differ"


@pytest.mark.parametrize("n", [30, 200])
def test_the_interval_of_a_ratio_over_seeds_covers(n):
    """No effect on average; each seed has its own shift, and the texts are drawn anew each time."""
    rng = np.random.default_rng(4)
    covered = 0
    for _ in range(150):
        rows = perplexities(rng.normal(0, 0.02, 8), n, rng)
        made = seeded_difference(rows[:4], rows[4:], BITS_PER_BYTE, ("a", "b")).difference
        covered += made.low <= 0 <= made.high
    assert covered / 150 >= 0.92


def test_an_f1_of_few_labels_over_seeds_covers():
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(150):
        true = rng.random(120) < 0.3
        said = np.array([np.where(rng.random(120) < 0.2 + skill, ~true, true) for skill in rng.normal(0, 0.02, 6)])
        rows = np.stack((said & true, said & ~true, ~said & true), axis=-1).astype(float)
        made = seeded_difference(rows[:3], rows[3:], MICRO_F1, ("a", "b")).difference
        covered += made.low <= 0 <= made.high
    assert covered / 150 >= 0.92


def test_who_is_dominated_is_tested_and_quality_stands_beside_cost():
    rng = np.random.default_rng(2)
    cheap, dear = result("cheap", "loans", many(200, 0.9)), result("dear", "loans", many(200, 0.6, seed=5))
    costs = {"cheap": rng.normal(0.001, 0.0001, 200), "dear": rng.normal(0.004, 0.0001, 200)}
    waits = {"cheap": rng.gamma(4, 0.2, 200), "dear": rng.gamma(4, 0.6, 200)}
    made = [
        replace(one, tables=replace(one.tables, costs=costs[one.subject], seconds=waits[one.subject]))
        for one in (cheap, dear)
    ]
    by = {one.subject: one for one in findings(evidence(made)).tradeoffs}
    assert (by["dear"].dominated_by, by["cheap"].dominated_by) == (("cheap",), ())
    assert by["cheap"].cost.unit == "USD"
    assert by["cheap"].latency.unit == "s"
    assert by["cheap"].quality.value == 0.9
    near = [
        made[0],
        replace(made[1], tables=replace(made[1].tables, costs=costs["cheap"], seconds=waits["cheap"] * 0.5)),
    ]
    assert not any(one.dominated_by for one in findings(evidence(near)).tradeoffs), "worse, and faster"


def test_stated_confidence_is_held_against_what_was_right():
    from dataclasses import replace

    from measurand.stats.metrics import find
    from measurand.stats.missing import by_item

    rng = np.random.default_rng(3)
    right = (rng.random(400) < 0.6).astype(float)
    rows = np.column_stack((np.full(400, 0.95), right))
    base = result("m", "loans", right.tolist())
    table = by_item(find("rms_calibration_error@1"), rows, np.arange(400), 400)
    one = replace(base, tables=replace(base.tables, metrics={**base.tables.metrics, "rms": table}))
    (made,) = findings(evidence([one])).calibration
    ece = next(error for error in made.errors if error.metric == "ece")
    assert ece.value == pytest.approx(0.95 - right.mean(), abs=1e-9)
    assert findings(evidence([base])).calibration == ()
