import math
from itertools import combinations
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from measurand.core.errors import InputError
from measurand.stats.multiplicity import adjusted, false_discovery, tie_groups

ps = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@given(ps)
def test_they_are_statsmodels(values):
    with patch("gc.collect"):  # which theirs calls each time
        theirs = [multipletests(values, method=method)[1] for method in ("holm", "fdr_bh")]
    assert adjusted(values) == pytest.approx(theirs[0], abs=1e-10)
    assert false_discovery(values) == pytest.approx(theirs[1], abs=1e-10)


@given(ps)
def test_adjusting_never_helps_and_keeps_the_order(values):
    p = np.array(values)
    for made in (adjusted(p), false_discovery(p)):
        assert (made >= p - 1e-15).all()
        assert (np.diff(made[np.argsort(p)]) >= -1e-15).all()
    assert (adjusted(p) >= false_discovery(p) - 1e-12).all()


def test_holm_keeps_the_chance_of_one_false_claim():
    rng = np.random.default_rng(1)
    claims = [(adjusted(rng.uniform(size=20)) < 0.05).any() for _ in range(3_000)]
    naive = [(rng.uniform(size=20) < 0.05).any() for _ in range(3_000)]
    assert np.mean(claims) < 0.06
    assert np.mean(naive) > 0.55


def test_false_discoveries_stay_a_small_share():
    rng, shares = np.random.default_rng(2), []
    for _ in range(2_000):
        p = np.r_[rng.uniform(size=15), rng.uniform(size=5) * 0.002]
        found = false_discovery(p) < 0.05
        shares.append(found[:15].sum() / max(1, found.sum()))
    assert np.mean(shares) < 0.05


@pytest.mark.parametrize("wrong", [[0.5, 1.2], [-0.1], [math.nan]])
def test_what_is_no_p_value_is_refused(wrong):
    with pytest.raises(InputError, match="between 0 and 1"):
        adjusted(wrong)


def differing(*pairs):
    known = {frozenset(pair) for pair in pairs}
    return lambda a, b: frozenset((a, b)) in known


def test_the_middle_may_be_tied_with_both_ends():
    assert tie_groups("ABC", differing("AC")) == (("A", "B"), ("B", "C"))
    assert tie_groups("ABC", differing()) == (("A", "B", "C"),)
    assert tie_groups("ABC", differing("AB", "AC", "BC")) == (("A",), ("B",), ("C",))
    assert tie_groups((), differing()) == ()


def test_a_tie_across_the_order_is_kept():
    """C was measured on few items: it can be told apart from neither, though A and B can from each other."""
    assert tie_groups("ABC", differing("AB")) == (("A", "C"), ("B", "C"))


@given(
    st.integers(1, 8).flatmap(
        lambda k: st.tuples(st.just(k), st.sets(st.sampled_from(list(combinations(range(8), 2)))))
    )
)
def test_names_share_a_group_exactly_where_they_are_not_apart(case):
    k, chosen = case
    order = [str(n) for n in range(k)]
    apart = differing(*((str(a), str(b)) for a, b in chosen if b < k))
    groups = tie_groups(order, apart)
    for a, b in combinations(order, 2):
        assert any({a, b} <= set(group) for group in groups) == (not apart(a, b))
    assert {name for group in groups for name in group} == set(order)
    assert not any(set(one) < set(other) for one in groups for other in groups)
