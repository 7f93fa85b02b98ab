"""What several samples of one item come to: a majority vote, or the best by a score.

Each is the exact mean over all subsets of k of the item's n samples, so it does not depend on the order in which
they came, as one vote over the first k would.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from measurand.stats.passk import checked_k

Array = NDArray[np.float64]

NO_ANSWER = -1.0
"""The code of a sample in which no answer was read: it has no vote."""
EXACT = 1 << 14
"""Samples times k up to which all subsets are counted; beyond, DRAWS of them are drawn with a fixed seed."""
DRAWS = 10_000


def majority_at_k(answers: Sequence[float] | Array, correct: Sequence[float] | Array, k: int) -> float:
    """The chance that the commonest answer among k of the samples is right; tied answers share it equally.

    `answers` [n] are codes (equal codes are equal answers, `NO_ANSWER` does not vote) and `correct` [n] the scores of
    the same samples. k samples without any answer score 0. Wang et al. 2022, "Self-consistency improves chain of
    thought reasoning in language models", section 2, as a mean over all subsets of k instead of one draw. Raises
    InputError where k exceeds n.
    """
    codes, scores = np.asarray(answers, dtype=np.float64), np.asarray(correct, dtype=np.float64)
    checked_k("maj@", len(codes), k)
    voting = codes != NO_ANSWER
    if not voting.any():
        return 0.0
    _, place, counts = np.unique(codes[voting], return_inverse=True, return_counts=True)
    worth = np.bincount(place, scores[voting]) / counts
    silent = int((~voting).sum())
    wins = _wins(tuple(counts.tolist()), silent, k)
    return float(wins @ worth)


def best_at_k(scores: Array, rewards: Array, k: int) -> Array:
    """The mean score of the sample with the highest reward among k of the samples; equal rewards share equally.

    `scores` and `rewards` are [..., n]; the result is [...]. A sample of rank r (from the lowest) is the best of
    C(r - 1, k - 1) of the C(n, k) subsets. Raises InputError where k exceeds n.
    """
    n = scores.shape[-1]
    checked_k("best-of-", n, k)
    chance = np.array([math.comb(rank, k - 1) / math.comb(n, k) for rank in range(n)], dtype=np.float64)
    order = np.argsort(rewards, axis=-1, kind="stable")
    ranked, reward = np.take_along_axis(scores, order, -1), np.take_along_axis(rewards, order, -1)
    flat = [_level(s, r) for s, r in zip(ranked.reshape(-1, n), reward.reshape(-1, n), strict=True)]
    return np.asarray(np.array(flat).reshape(scores.shape) @ chance)


def _level(scores: Array, rewards: Array) -> Array:
    """Scores in the order of their rewards, with the mean of equal rewards in each of their places."""
    _, place, counts = np.unique(rewards, return_inverse=True, return_counts=True)
    return np.asarray((np.bincount(place, scores) / counts)[place])


@lru_cache(maxsize=1 << 14)
def _wins(counts: tuple[int, ...], silent: int, k: int) -> Array:
    """The chance of each answer to win among k of the samples; ties are shared, `silent` samples do not vote."""
    n = sum(counts) + silent
    if k == n:
        leads = np.array(counts) == max(counts)
        return np.asarray(leads / leads.sum())
    if n * k > EXACT:
        drawn = np.random.default_rng(0).multivariate_hypergeometric([*counts, silent], k, size=DRAWS)[:, :-1]
        leads = (drawn == drawn.max(axis=1, keepdims=True)) & (drawn > 0)
        return np.asarray((leads / np.maximum(leads.sum(axis=1, keepdims=True), 1)).mean(axis=0))
    chances = {count: _win(count, _without(counts, count), silent, k) for count in set(counts)}
    return np.array([chances[count] for count in counts])


def _without(counts: tuple[int, ...], count: int) -> tuple[int, ...]:
    place = counts.index(count)
    return counts[:place] + counts[place + 1 :]


def _win(count: int, others: tuple[int, ...], silent: int, k: int) -> float:
    """The chance that an answer given `count` times wins: a sum over how often it is drawn, and who ties with it."""
    total = 0.0
    for drawn in range(1, min(count, k) + 1):
        left = k - drawn
        # ways[t, m]: in how many ways m of the others' samples are drawn, t of them answers that tie, none ahead.
        ways = np.zeros((left // drawn + 1, left + 1))
        ways[0] = [math.comb(silent, m) for m in range(left + 1)]
        for other in others:
            grown = np.zeros_like(ways)
            for m in range(min(drawn - 1, other, left) + 1):
                grown[:, m:] += math.comb(other, m) * ways[:, : left + 1 - m]
            if drawn <= min(other, left):
                grown[1:, drawn:] += math.comb(other, drawn) * ways[:-1, : left + 1 - drawn]
            ways = grown
        shares = ways[:, left] @ (1 / np.arange(1, len(ways) + 1))
        total += math.comb(count, drawn) * float(shares)
    return total / math.comb(sum(others) + count + silent, k)
