from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import InputError
from measurand.stats.estimate import estimate
from measurand.stats.metrics import any_of, best_of, majority_at
from measurand.stats.passk import pass_at_k
from measurand.stats.voting import EXACT, NO_ANSWER, best_at_k, majority_at_k

samples = st.lists(st.integers(-1, 3), min_size=1, max_size=8).flatmap(
    lambda codes: st.tuples(st.just(codes), st.integers(1, len(codes)))
)


def by_hand(codes, correct, k):
    """The vote of every subset, one by one."""
    worth = []
    for draw in combinations(range(len(codes)), k):
        votes = Counter(codes[i] for i in draw if codes[i] != NO_ANSWER)
        most = max(votes.values(), default=0)
        leaders = [code for code, count in votes.items() if count == most]
        means = [np.mean([c for c, code in zip(correct, codes, strict=True) if code == leader]) for leader in leaders]
        worth.append(np.mean(means) if means else 0.0)
    return np.mean(worth)


@given(samples, st.integers(0, 3))
def test_a_majority_is_the_mean_over_all_subsets(case, right):
    codes, k = case
    correct = [float(code == right) for code in codes]
    assert majority_at_k(codes, correct, k) == pytest.approx(by_hand(codes, correct, k), abs=1e-12)


def test_a_majority_of_one_is_one_pass():
    codes, correct = [1, 2, 2, 3, NO_ANSWER], [1, 0, 0, 0, 0]
    assert majority_at_k(codes, correct, 1) == pytest.approx(0.2)
    assert majority_at_k(codes, correct, 5) == 0.0


def test_ties_are_shared_and_no_answer_does_not_vote():
    assert majority_at_k([7, 7, 9, 9], [1, 1, 0, 0], 4) == 0.5
    assert majority_at_k([NO_ANSWER, NO_ANSWER, 4], [0, 0, 1], 3) == 1.0
    assert majority_at_k([NO_ANSWER, NO_ANSWER], [0, 0], 2) == 0.0


def test_many_samples_are_drawn_and_agree_with_the_exact_count():
    rng = np.random.default_rng(1)
    codes = rng.choice(4, size=256, p=(0.4, 0.35, 0.2, 0.05)).astype(float)
    correct = (codes == 0).astype(float)
    k = EXACT // 256
    exact, drawn = majority_at_k(codes, correct, k), majority_at_k(codes, correct, k + 1)
    assert drawn == pytest.approx(exact, abs=0.02)
    assert drawn == majority_at_k(codes, correct, k + 1)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=7).flatmap(
        lambda rows: st.tuples(st.just(rows), st.integers(1, len(rows)))
    )
)
def test_best_of_is_the_mean_over_all_subsets(case):
    rows, k = case
    scores, rewards = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    worth = []
    for draw in combinations(range(len(rows)), k):
        top = max(rewards[i] for i in draw)
        worth.append(np.mean([scores[i] for i in draw if rewards[i] == top]))
    assert best_at_k(scores, rewards, k) == pytest.approx(np.mean(worth))


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_any_of_right_or_wrong_is_pass_at_k(case):
    n, c, k = case
    rows = np.r_[np.ones(c), np.zeros(n - c)][:, None]
    assert any_of(k).within(rows)[0] == pytest.approx(pass_at_k(n, c, k))


def test_a_perfect_reward_reaches_the_oracle_and_a_blind_one_the_single_pass():
    rng = np.random.default_rng(2)
    right = rng.integers(0, 2, (50, 6)).astype(float)
    oracle = any_of(4).within(right[..., None])[:, 0]
    assert best_at_k(right, right, 4) == pytest.approx(oracle)
    assert best_at_k(right, np.zeros_like(right), 4) == pytest.approx(right.mean(axis=1))


@pytest.mark.parametrize("metric", [majority_at(3), best_of(3)])
def test_they_are_estimated_over_items_and_a_missing_sample_leaves_no_number(metric):
    rng = np.random.default_rng(3)
    rows = np.column_stack((rng.integers(0, 2, 200), rng.integers(0, 5, 200))).astype(float)
    items = np.repeat(np.arange(50), 4)
    made = estimate(rows, metric, items=items)
    assert made.n_items == 50
    assert made.low < made.value < made.high
    rows[:2] = np.nan
    assert estimate(rows, metric, items=items).n_items == 49


def test_more_than_there_are_is_refused():
    with pytest.raises(InputError, match="k greater than n: maj@4"):
        majority_at_k([1, 2], [0, 1], 4)
    with pytest.raises(InputError, match="at least 1"):
        best_at_k(np.ones(3), np.ones(3), 0)
