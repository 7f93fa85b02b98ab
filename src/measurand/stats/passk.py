"""pass@k and pass^k: the chance that at least one of k samples, or that every one of them, is right.

pass@k asks what a subject reaches when somebody picks the right sample; pass^k asks what a user gets who relies on
it k times. Neither is what one pass gives, except at k = 1, where both are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from measurand.core.errors import InputError


def pass_at_k(n: int, c: int, k: int) -> float:
    """The unbiased estimate of pass@k from `n` samples of which `c` are correct.

    1 - C(n-c, k) / C(n, k): Chen et al. 2021, "Evaluating large language models trained on code", equation 1.
    Whole numbers are divided once, so the result is correctly rounded for any n. Raises InputError where k exceeds n
    (k samples cannot be drawn from fewer), or where the counts are impossible.
    """
    return float(pass_at_k_each(n, np.array([c]), k)[0])


def pass_at_k_each(n: int, correct: NDArray[np.generic], k: int) -> NDArray[np.float64]:
    """pass@k for many problems with `n` samples each; `correct` holds their counts of correct samples."""
    return _of_draws(n, correct, k, "pass@", lambda drawn, c: drawn - math.comb(n - c, k))


def mean_pass_at_k(problems: Sequence[tuple[int, int]], k: int) -> float:
    """The mean of pass@k over problems given as (n, c): never of pooled counts. Raises InputError as pass_at_k."""
    return _mean(pass_at_k, problems, k)


def pass_hat_k(n: int, c: int, k: int) -> float:
    """The unbiased estimate of pass^k: the chance that all of k samples are right, from `c` right of `n`.

    C(c, k) / C(n, k): Yao et al. 2024, "tau-bench: a benchmark for tool-agent-user interaction in real-world
    domains", section 4. Exact and refused as pass_at_k.
    """
    return float(pass_hat_k_each(n, np.array([c]), k)[0])


def pass_hat_k_each(n: int, correct: NDArray[np.generic], k: int) -> NDArray[np.float64]:
    """pass^k for many problems with `n` samples each; `correct` holds their counts of correct samples."""
    return _of_draws(n, correct, k, "pass^", lambda _, c: math.comb(c, k))


def mean_pass_hat_k(problems: Sequence[tuple[int, int]], k: int) -> float:
    """The mean of pass^k over problems given as (n, c). Raises InputError as pass_at_k."""
    return _mean(pass_hat_k, problems, k)


def saturates_at(n: int, c: int) -> int | None:
    """The smallest k at which pass@k of a problem is 1 because fewer than k of its samples are wrong: n - c + 1.

    From there on the number cannot move, whether another subject, or a corrected test, finds more samples right or
    fewer. None where no sample is right: then no k makes it 1.
    """
    return n - c + 1 if c else None


def saturated_share(problems: Sequence[tuple[int, int]], k: int) -> float:
    """The share of problems, given as (n, c), whose pass@k is 1 by counting alone; at 1.0 this k tells nothing."""
    if not problems:
        raise InputError("the saturated share of no problems is not a number")
    ends = [saturates_at(n, c) for n, c in problems]
    return float(np.mean([end is not None and end <= k for end in ends]))


def checked_k(name: str, n: int, k: int) -> None:
    """Raise InputError where k of n samples cannot be drawn; `name` is the rule's, as `pass@`."""
    if k < 1:
        raise InputError(f"{name}k needs k of at least 1, not {k}")
    if k > n:
        raise InputError(f"k greater than n: {name}{k} cannot be estimated from {n} samples; draw at least {k}")


def _of_draws(
    n: int, correct: NDArray[np.generic], k: int, name: str, held: Callable[[int, int], int]
) -> NDArray[np.float64]:
    """The share of the C(n, k) draws that count; `held` tells how many for a number of correct samples."""
    checked_k(name, n, k)
    counts = np.asarray(correct, dtype=np.int64)
    if counts.size and (counts.min() < 0 or counts.max() > n):
        raise InputError(f"a count of correct samples lies outside 0 to {n}")
    drawn = math.comb(n, k)
    distinct, place = np.unique(counts, return_inverse=True)
    values = np.array([held(drawn, c) / drawn for c in distinct.tolist()], dtype=np.float64)
    return values[place]


def _mean(of_one: Callable[[int, int, int], float], problems: Sequence[tuple[int, int]], k: int) -> float:
    if not problems:
        raise InputError("a mean over no problems is not a number")
    return float(np.mean([of_one(n, c, k) for n, c in problems]))
