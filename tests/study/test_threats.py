"""Every threat, both ways: found where it is, silent where it is not."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from measurand.core.protocol import MarkingPart
from measurand.core.subject import Model
from measurand.stats.metrics import pass_at
from measurand.stats.missing import by_item
from measurand.study.comparing import contrasts
from measurand.study.evidence import Scenario
from measurand.study.judging import judge
from measurand.study.leaderboards import Published
from measurand.study.records import Candidate
from measurand.study.threats import RULES, threats
from tests.study.world import ASK, QUIZ, evidence, many, result, shares

HARD = ["edge"] * 60 + ["plain"] * 60


def good(who="m", scenario="loans", rate=0.85, **choices):
    """A result that nothing speaks against: 120 real items with a hard slice."""
    choices.setdefault("slices", {"level": HARD})
    return result(who, scenario, many(120, rate), **choices)


def found(made):
    return {one.name: one for one in threats(made, contrasts(made))}


def scenario(name="loans", card=ASK, **more):
    return Scenario(name, card, card.style == "ask", ("accuracy",), **more)


def candidate(name="m", **more):
    return Candidate(spec=f"openai:{name}", name=name, **({"cutoff": "2020-01"} | more))


def quiz(**changes):
    return msgspec.structs.replace(QUIZ, **changes)


def shots(one, k):
    protocol = one.tables.protocol
    asking = msgspec.structs.replace(protocol.asking, shots={"k": k})
    return replace(one, tables=replace(one.tables, protocol=msgspec.structs.replace(protocol, asking=asking)))


def two(a_rate, b_rate, **choices):
    return [good("a", rate=a_rate, **choices), result("b", "loans", many(120, b_rate, seed=9), slices={"level": HARD})]


UNEVEN = {"level": ["edge"] * 100 + ["plain"] * 20}
FLIP_A = result("a", "loans", shares((100, 100), (2, 20)), slices=UNEVEN)
FLIP_B = result("b", "loans", shares((85, 100), (15, 20)), slices=UNEVEN)

CASES = {
    "simulated_replies": (
        evidence([good()], candidates=[candidate(simulated=True)]),
        evidence([good()], candidates=[candidate()]),
    ),
    "quiz_only": (
        evidence([good()], cards={"loans": QUIZ}, question="Which may answer our customers?"),
        evidence([good(), good(scenario="quiz")], cards={"quiz": QUIZ}, question="Which may answer our customers?"),
    ),
    "difference_within_noise": (evidence(two(0.85, 0.84)), evidence(two(0.95, 0.40))),
    "ranking_flips": (evidence([FLIP_A, FLIP_B]), evidence(two(0.95, 0.40))),
    "missing_trials": (
        evidence([result("m", "loans", [*many(110, 0.9), *([None] * 10)], slices={"level": HARD})]),
        evidence([result("m", "loans", [*many(115, 0.9), *([None] * 5)], slices={"level": HARD})]),
    ),
    "worst_slice_far_below": (
        evidence([result("m", "loans", shares((20, 60), (60, 60)), slices={"level": HARD})]),
        evidence([good()]),
    ),
    "few_items": (evidence([result("m", "loans", many(99, 0.9), slices={"level": HARD[:99]})]), evidence([good()])),
    "public_before_cutoff": (
        evidence([good()], cards={"loans": QUIZ}, candidates=[candidate(cutoff="2024-01")]),
        evidence([good()], cards={"loans": QUIZ}, candidates=[candidate(cutoff="2021-01")]),
    ),
    "saturated_benchmark": (
        evidence([good(rate=0.95)], cards={"loans": quiz(saturated_at=0.9)}),
        evidence([good(rate=0.85)], cards={"loans": quiz(saturated_at=0.9)}),
    ),
    "protocol_differs_from_published": (
        evidence([good()], scenarios=[scenario(canonical="base", departs="by the variant chat")]),
        evidence([good()]),
    ),
    "known_errata": (
        evidence([good()], cards={"loans": quiz(errata=("Item 7 is wrong.", "Item 9 too."))}),
        evidence([good()], cards={"loans": quiz()}),
    ),
    "synthetic_items": (evidence([good(made="synthetic")]), evidence([good(made="real")])),
    "no_hard_slice": (evidence([good(slices={"kind": ["plain"] * 120})]), evidence([good()])),
    "not_held_out": (evidence([good()], scenarios=[scenario(tuned=True)]), evidence([good()])),
    "few_exemplar_orders": (evidence([shots(good(), 5)]), evidence([shots(good(), 0)])),
    "imported_without_protocol": (
        replace(evidence([good()]), published=(Published("board", "m", 0.7),)),
        replace(evidence([good()]), published=(Published("board", "m", 0.7, protocol="five shots"),)),
    ),
    "judge_not_calibrated": (
        evidence([good(markings=(MarkingPart("accuracy", "text@1", "judge:helpful@1"),))]),
        replace(
            evidence([good(markings=(MarkingPart("accuracy", "text@1", "judge:helpful@1"),))]),
            calibrated=frozenset({"judge:helpful@1"}),
        ),
    ),
    "safety_without_refusal": (
        evidence([good(slices={"kind": ["fraud"] * 60 + ["emi"] * 60})]),
        evidence([good(slices={"kind": ["fraud"] * 60 + ["benign"] * 60})]),
    ),
    "looks_not_accounted_for": (
        replace(evidence([good()], rules=("accuracy on loans >= 0.5",)), looks={"loans": (50, 80, 120)}),
        replace(evidence([good()], rules=("accuracy on loans >= 0.5",)), looks={"loans": (120,)}),
    ),
    "version_unstated": (
        evidence([good(subject=Model("openai", "m"))]),
        evidence([good(subject=Model("openai", "m", revision="2025-01-01"))]),
    ),
    "several_changes_at_once": (
        evidence(
            [good(), good("old")], candidates=[candidate(changed=("prompt", "model")), candidate("old")], present="old"
        ),
        evidence([good(), good("old")], candidates=[candidate(changed=("prompt",)), candidate("old")], present="old"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_threat_is_found_where_it_is_and_only_there(name):
    there, not_there = CASES[name]
    threat = found(there)[name]
    assert threat.evidence
    assert threat.remedy
    assert name not in found(not_there)


@pytest.mark.parametrize(
    ("question", "dimension"),
    [
        ("Which is fast enough?", "latency"),
        ("Which is cheap?", "cost"),
        ("Which is safe?", "safety"),
        ("Which is robust to typos?", "robustness"),
        ("Which answers in Hindi?", "Hindi"),
        ("Which answers in Tamil and Hindi?", "Tamil"),
        ("Which keeps personal data private?", "privacy"),
    ],
)
def test_a_dimension_that_the_question_names_must_be_measured(question, dimension):
    bare = result("m", "loans", many(120, 0.9), slices={"level": HARD})
    tables = replace(bare.tables, seconds=bare.tables.seconds * float("nan"), costs=bare.tables.costs * float("nan"))
    named = [
        one
        for one in threats(evidence([replace(bare, tables=tables)], question=question), ())
        if one.name == "unmeasured_dimension"
    ]
    assert dimension in {one.about for one in named}
    languages = ["hi"] * 60 + ["ta"] * 60
    slices = {"kind": ["fraud"] * 40 + ["typo-laden"] * 40 + ["personal data"] * 40, "language": languages}
    rich = result("m", "loans", many(120, 0.9), slices=slices)
    assert "unmeasured_dimension" not in found(evidence([rich], question=question))


def test_a_flip_names_both_aggregations_as_the_tables_do():
    said = found(evidence([FLIP_A, FLIP_B]))["ranking_flips"].evidence
    assert " by the number over all items (" in said
    assert " by the unweighted mean over " in said
    assert "macro:" not in said


def test_truncated_replies_are_a_threat_to_the_number():
    whole = good()
    cut = replace(
        whole,
        tables=replace(whole.tables, tally=msgspec.structs.replace(whole.tables.tally, answered=110, truncated=10)),
    )
    assert "10 of 120 replies" in found(evidence([cut]))["truncated_replies"].evidence
    assert "truncated_replies" not in found(evidence([whole]))


@pytest.mark.parametrize(
    ("samples", "right", "few", "saturated"), [(12, 6, True, True), (20, 6, False, False), (20, 12, False, True)]
)
def test_pass_at_k_needs_samples_and_a_k_that_still_tells(samples, right, few, saturated):
    base = good()
    rows = np.array([float(at < right) for _ in range(120) for at in range(samples)])[:, None]
    table = by_item(pass_at(10), rows, np.repeat(np.arange(120), samples), 120)
    protocol = base.tables.protocol
    protocol = msgspec.structs.replace(
        protocol, aggregation=msgspec.structs.replace(protocol.aggregation, metrics={"pass_at_10": "pass_at_10@1"})
    )
    run = msgspec.structs.replace(base.tables.run, samples=samples)
    made = evidence(
        [replace(base, tables=replace(base.tables, metrics={"pass_at_10": table}, protocol=protocol, run=run))]
    )
    names = found(made)
    assert ("pass_at_k_of_few_samples" in names) == few
    assert ("saturated_k" in names) == saturated


def test_the_delta_to_the_canonical_protocol_is_explained():
    base = result("m", "base", many(120, 0.8))
    chat = result("m", "chat", many(120, 0.9), score_refused=True)
    card = quiz()
    made = evidence(
        [base, chat],
        scenarios=[scenario("base", card), scenario("chat", card, canonical="base", departs="by the variant chat")],
    )
    told = found(made)["protocol_differs_from_published"].evidence
    assert "m is 10.0 points higher than under it, differing in" in told
    assert "scoring.score_refused" in told


def test_the_naive_rules_inflated_rate_stands_beside_the_looks():
    made = replace(evidence([good()], rules=("accuracy on loans >= 0.8",)), looks={"loans": tuple(range(20, 220, 20))})
    told = found(made)["looks_not_accounted_for"].evidence
    rate = float(told.rpartition("threshold in ")[2].partition(" %")[0])
    assert 5 < rate < 15, "ten looks of a rule that errs once in forty at one"
    kept = replace(made, study=msgspec.structs.replace(made.study, sequential=True))
    assert "looks_not_accounted_for" not in found(kept)
    (rule,) = judge(kept)
    assert f"asked at each of 10 looks, an ordinary rule passes a subject at the threshold in {rate} %" in rule.because


def test_nothing_speaks_against_a_clean_study():
    assert found(evidence([shots(good(), 0)], candidates=[candidate()])) == {}


def test_every_rule_can_find_something():
    covered = set(CASES) | {"unmeasured_dimension", "truncated_replies", "pass_at_k_of_few_samples", "saturated_k"}
    assert len(RULES) == len(covered)
