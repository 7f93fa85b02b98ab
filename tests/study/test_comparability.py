"""What may be compared, what is refused and why, and how a refusal is lifted by name."""

import msgspec
import numpy as np
import pytest

from measurand.core.claim import AboutMethod, AboutModel, AboutSystem
from measurand.core.subject import Model, System
from measurand.study.aligning import align
from measurand.study.comparability import comparability
from measurand.study.comparing import contrast, contrasts, rankings, seen_from, winner_of
from measurand.study.deciding import findings
from measurand.study.evidence import Evidence
from measurand.study.threats import threats
from tests.study.world import evidence, many, result, shares, table

METHOD = AboutMethod("data", ("base", "compute", "hyperparameters"), "plain", 2)


def asked(tables, **changes):
    """The same tables under an asking with these fields changed."""
    protocol = msgspec.structs.replace(
        tables.protocol, asking=msgspec.structs.replace(tables.protocol.asking, **changes)
    )
    from dataclasses import replace

    return replace(tables, protocol=protocol)


def decoded(tables, **changes):
    return asked(tables, decode=msgspec.structs.replace(tables.protocol.asking.decode, **changes))


def test_equal_protocols_are_comparable():
    may = comparability(table([1.0, 0.0]), table([0.0, 1.0]), AboutModel())
    assert (may.refused, may.differs) == ("", ())


def test_another_wording_is_refused_by_name_and_accepted_by_name():
    one = table([1.0, 0.0])
    other = asked(one, text="Answer now: {question}")
    refused = comparability(one, other, AboutModel())
    assert "asking.text" in refused.refused
    assert "accept asking.text by name" in refused.refused
    for name in ("asking.text", "asking"):
        taken = comparability(one, other, AboutModel(), [name])
        assert (taken.refused, taken.accepted) == ("", ("asking.text",))
        assert taken.differs == refused.differs, "what was accepted is still printed"
    assert comparability(one, other, AboutModel(), ["asking.tex"]).refused, "half a name is no name"


def test_a_hash_that_follows_from_a_difference_is_not_told_again():
    one = table([1.0])
    other = asked(one, text="x", prompt_sha256="ff" * 32)
    assert [line.split(":")[0] for line in comparability(one, other, AboutModel()).differs] == ["asking.text"]
    only_hash = asked(one, prompt_sha256="ff" * 32)
    assert [line.split(":")[0] for line in comparability(one, only_hash, AboutModel()).differs] == [
        "asking.prompt_sha256"
    ]


def test_a_system_may_ask_as_it_likes_but_not_spend_more():
    one = table([1.0, 0.0])
    other = asked(one, text="our own prompt")
    assert comparability(one, other, AboutModel()).refused
    assert not comparability(one, other, AboutSystem()).refused
    for more, what in (
        (decoded(one, max_tokens=9000), "tokens of a reply"),
        (asked(one, steps=30), "steps"),
        (asked(one, samples=8), "samples"),
    ):
        refused = comparability(one, more, AboutSystem()).refused
        assert "budgets are unequal" in refused
        assert what in refused


def test_a_scaffold_beside_a_bare_model_is_refused_with_the_reason():
    from dataclasses import replace

    bare = table([1.0, 0.0])
    product = replace(bare, run=msgspec.structs.replace(bare.run, subject=System("agent", "1")))
    refused = comparability(bare, product, AboutModel()).refused
    assert "gain would be credited to the weights" in refused
    assert not comparability(bare, product, AboutSystem()).refused
    assert not comparability(bare, product, AboutModel(), ["subject.kind"]).refused
    agent = asked(bare, name="agent", steps=20)
    assert comparability(bare, agent, AboutModel()).refused


@pytest.mark.parametrize("missing", ["base", "compute", "hyperparameters"])
def test_a_method_claim_declares_every_other_variable(missing):
    held = tuple(one for one in METHOD.held_equal if one != missing)
    one = table([1.0, 0.0])
    assert not comparability(one, one, METHOD).refused
    refused = comparability(one, one, AboutMethod("data", held, "plain", 2)).refused
    assert f"{missing} is not" in refused


def test_a_search_never_shares_a_rank_with_a_single_pass():
    one = table(shares((6, 10)), samples=5)
    search = table(shares((6, 10)), samples=5, metrics={"accuracy": "any_of_5@1"})
    may = comparability(one, search, AboutModel(), ["aggregation", "asking", "scoring", "task"])
    assert "never share a rank" in may.refused


def test_items_are_found_by_id_and_content_never_by_position():
    from dataclasses import replace

    one = table(many(30, 0.5))
    order = np.random.default_rng(1).permutation(30)
    names, contents = ([getattr(one, field)[at] for at in order] for field in ("names", "contents"))
    from measurand.study.aligning import rows_at

    other = replace(
        one, names=tuple(names), contents=tuple(contents), metrics={"accuracy": rows_at(one.metrics["accuracy"], order)}
    )
    a, b = align(one, other).pair("accuracy")
    assert np.array_equal(a.rows, b.rows)
    changed = replace(one, contents=(b"other", *one.contents[1:]), names=one.names)
    both = align(one, changed)
    assert (both.n, both.changed, both.only_a, both.only_b) == (29, 1, 1, 1)


def test_contrasts_are_paired_adjusted_and_seen_from_either_side():
    kinds = {"kind": ["a"] * 100 + ["b"] * 100}
    made = evidence(
        [
            result("x", "s", shares((95, 100), (80, 100)), slices=kinds),
            result("y", "s", shares((60, 100), (79, 100)), slices=kinds),
            result("z", "s", shares((60, 100), (81, 100)), slices=kinds),
        ],
        slices=("kind",),
    )
    found = contrasts(made)
    pooled = {(one.a, one.b): one for one in found if one.view == "pooled"}
    assert set(pooled) == {("x", "y"), ("x", "z"), ("y", "z")}
    first = pooled["x", "y"].comparison
    assert first.paired
    assert first.adjusted_p > first.p, "three comparisons, not one"
    assert winner_of(pooled["x", "y"]) == "x"
    assert winner_of(pooled["y", "z"]) == ""
    turned = seen_from(pooled["x", "y"], "y").difference
    assert (turned.value, turned.low, turned.high) == (
        -first.difference.value,
        -first.difference.high,
        -first.difference.low,
    )
    slices = {(one.a, one.b, one.value) for one in found if one.view == "slice:kind"}
    assert ("x", "y", "a") in slices
    (ranked,) = rankings(made, found)
    assert ranked.groups == (("x",), ("z", "y")), "who cannot be told apart shares a group"


def test_nested_macro_numbers_are_compared_in_pairs_and_may_turn_the_order():
    """x leads by items and by subjects; sea is a category of its own, which counts as much as both others together."""
    slices = {
        "subject": ["law"] * 100 + ["art"] * 80 + ["sea"] * 40,
        "category": ["near"] * 180 + ["far"] * 40,
    }
    declared = {"slices": slices, "macro": ("category>subject", "category>none")}
    one = result("x", "s", shares((80, 100), (60, 80), (4, 40)), **declared)
    other = result("y", "s", shares((60, 100), (40, 80), (16, 40)), **declared)
    made = evidence([one, other])
    found = contrasts(made)
    assert [one.view for one in found if one.view.startswith("macro")] == ["macro:category>subject"]
    pooled, nested = found[0].comparison, found[1].comparison
    assert pooled.difference.value == pytest.approx((20 + 20 - 12) / 220)
    assert nested.difference.value == pytest.approx(((0.2 + 0.25) / 2 - 0.3) / 2)
    assert nested.paired
    assert nested.difference.method == "paired, Student's t, stratified"
    numbers = [next(v for v in r.summary.views if v.view == "macro:category>subject").estimate for r in (one, other)]
    assert nested.difference.value == pytest.approx(numbers[0].value - numbers[1].value)
    flips = [threat.evidence for threat in threats(made, found) if threat.name == "ranking_flips"]
    assert any("by the unweighted mean over category, then over subject (" in one for one in flips)
    lacking = contrast(made, made.scenarios[0], "x", "y", macro="category>none")
    assert lacking.refused == "the items do not say what they are by category>none"


def test_slices_of_the_same_items_are_adjusted_for_once():
    kinds = ["a"] * 100 + ["b"] * 100
    one = {"kind": kinds, "variety": [kind.upper() for kind in kinds], "all": ["x"] * 200}
    rows = [("x", shares((95, 100), (80, 100))), ("y", shares((70, 100), (79, 100)))]
    twice = contrasts(evidence([result(who, "s", values, slices=one) for who, values in rows]))
    once = contrasts(evidence([result(who, "s", values, slices={"kind": kinds}) for who, values in rows]))
    assert [c.comparison.adjusted_p for c in twice if c.view.startswith("slice")] == [
        c.comparison.adjusted_p for c in once if c.view.startswith("slice")
    ]


def test_a_scenario_with_two_protocols_has_no_rank():
    made = evidence([result("x", "s", many(40, 0.9)), result("y", "s", many(40, 0.1), score_refused=True)])
    found = contrasts(made)
    (ranked,) = rankings(made, found)
    assert ranked.groups == ()
    assert "scoring.score_refused" in ranked.refused
    accepted = evidence(
        [result("x", "s", many(40, 0.9)), result("y", "s", many(40, 0.1), score_refused=True)],
        accept_difference=("scoring.score_refused",),
    )
    found = contrasts(accepted)
    assert found[0].comparison.differs[0].startswith("scoring.score_refused")
    assert rankings(accepted, found)[0].groups == (("x",), ("y",))


def test_nothing_shared_is_told():
    from dataclasses import replace

    one, two = result("x", "s", many(20, 0.5)), result("y", "s", many(20, 0.5))
    apart = replace(two, tables=replace(two.tables, names=tuple(f"other{at}" for at in range(20))))
    made: Evidence = evidence([one, apart])
    assert "no item is the same in both" in contrasts(made)[0].refused


def test_the_claim_follows_the_subjects_unless_the_study_states_it():
    model = result("x", "s", many(20, 0.5), subject=Model("openai", "x"))
    product = result("y", "s", many(20, 0.5), subject=System("y"))
    assert evidence([model]).claim == AboutModel()
    assert evidence([model, product]).claim == AboutSystem()
    assert evidence([model, product], claim=AboutModel()).claim == AboutModel()


@pytest.mark.parametrize("kind", [Model("openai", "x"), System("x", "1")])
def test_a_subject_that_searches_never_shares_a_rank_with_a_single_pass(kind):
    """The metric is the same, one attempt each, and the claim is about systems: only the subject says that it searches."""
    from dataclasses import replace

    one = replace(table(many(40, 0.5)), run=msgspec.structs.replace(table(many(40, 0.5)).run, subject=kind))
    search = replace(one, run=msgspec.structs.replace(one.run, subject=msgspec.structs.replace(kind, passes="search")))
    for claim in (AboutModel(), AboutSystem()):
        may = comparability(one, search, claim, ["aggregation", "asking", "scoring", "task", "subject", "subject.kind"])
        assert may.refused == (
            "an answer of one is a single pass and an answer of the other a search: they never share a rank"
        )
        assert not comparability(search, search, AboutSystem()).refused


def test_a_study_ranks_no_search_with_single_passes_and_chooses_neither():
    results = [
        result("a", "s", many(60, 0.9), subject=System("a", "1")),
        result("b", "s", many(60, 0.5, 1), subject=System("b", "1")),
        result("c", "s", many(60, 1.0), subject=System("c", "1", passes="search")),
    ]
    made = evidence(results, claim=AboutSystem())
    found = contrasts(made)
    refused = {frozenset((one.a, one.b)) for one in found if one.view == "pooled" and one.refused}
    assert refused == {frozenset("ac"), frozenset("bc")}
    (ranked,) = rankings(made, found)
    assert ranked.groups == ()
    assert "never share a rank" in ranked.refused
    told = findings(made)
    assert told.decision.chosen == ""
    assert "never share a rank" in told.decision.answer
    assert all(one.dominated_by == () for one in told.tradeoffs), "a search is not held against single passes"
