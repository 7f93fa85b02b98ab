"""pass@k: the chance that at least one of k samples solves the problem."""

from __future__ import annotations

import math
from collections.abc import Sequence

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
    if k < 1:
        raise InputError(f"pass@k needs k of at least 1, not {k}")
    if k > n:
        raise InputError(f"k greater than n: pass@{k} cannot be estimated from {n} samples; draw at least {k}")
    counts = np.asarray(correct, dtype=np.int64)
    if counts.size and (counts.min() < 0 or counts.max() > n):
        raise InputError(f"a count of correct samples lies outside 0 to {n}")
    drawn = math.comb(n, k)
    distinct, place = np.unique(counts, return_inverse=True)
    values = np.array([(drawn - math.comb(n - c, k)) / drawn for c in distinct.tolist()], dtype=np.float64)
    return values[place]


def mean_pass_at_k(problems: Sequence[tuple[int, int]], k: int) -> float:
    """The mean of pass@k over problems given as (n, c): never of pooled counts. Raises InputError as pass_at_k."""
    if not problems:
        raise InputError("pass@k of no problems is not a number")
    return float(np.mean([pass_at_k(n, c, k) for n, c in problems]))
