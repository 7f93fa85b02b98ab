"""What error bars cost: a million trials here, and the bootstrap of lm-eval beside ours in the same run.

`python -m perf.stats [--rounds 3] [--draws 2000] [--peers .venv-peers/bin/python]`. The peer draws `--draws` times
with as many processes as it starts by itself, and its time for 100,000 draws is that many times longer; we draw
100,000 times in one process. Both work on the same 14,042 items, as many as MMLU has.
"""

import argparse
import json
import os
import resource
import statistics
import sys
import time

import numpy as np

from perf.measure import ROOT, cost_of, environment

ITEMS, DRAWS = 14_042, 100_000
PEER = """
import json, sys, time
import numpy as np
from lm_eval.api import metrics
rng = np.random.default_rng(1)
n, draws = int(sys.argv[1]), int(sys.argv[2])
gold = rng.integers(0, 2, n)
said = np.where(rng.uniform(size=n) < 0.8, gold, 1 - gold)
pairs = list(zip(gold.tolist(), said.tolist()))
values = rng.normal(size=n).tolist()
found = {}
for name, function, scores in (
    ("F1", metrics.f1_score, pairs), ("MCC", metrics.matthews_corrcoef, pairs), ("mean", metrics.nanmean, values)
):
    began = time.perf_counter()
    error = metrics.bootstrap_stderr(function, scores, iters=draws)
    found[name] = {"seconds": time.perf_counter() - began, "error": float(error)}
print(json.dumps(found))
"""


def tables():
    """The same draws as the peer makes, as rows of our metrics."""
    rng = np.random.default_rng(1)
    gold = rng.integers(0, 2, ITEMS)
    said = np.where(rng.uniform(size=ITEMS) < 0.8, gold, 1 - gold)
    cells = np.column_stack((gold & said, (1 - gold) & said, gold & (1 - said), (1 - gold) & (1 - said))).astype(float)
    return cells, rng.normal(size=(ITEMS, 1))


def ours():
    """Seconds for 100,000 draws of each, and the error they give; the last may use nothing of how a mean is made."""
    from measurand.stats.bootstrap import bootstrap
    from measurand.stats.metrics import MCC, MEAN, MICRO_F1

    cells, values = tables()

    def unknown(rows, weights):
        return (weights @ rows[:, 0]) / weights.sum(axis=-1)

    found = {}
    for name, over, rows in (
        ("F1", MICRO_F1.over, cells[:, :3]),
        ("MCC", MCC.over, cells),
        ("mean", MEAN.over, values),
        ("any function", unknown, values),
    ):
        began = time.perf_counter()
        drawn = bootstrap(over, rows, draws=DRAWS)
        seconds = (time.perf_counter() - began) * DRAWS / len(drawn)
        found[name] = {"seconds": seconds, "error": float(np.std(drawn, ddof=1)), "draws": len(drawn)}
    return found


def million():
    """Estimates, 20 fields of slices and 10,000 draws for a million trials of one binary and one real-valued score."""
    from measurand.stats.bootstrap import bootstrap
    from measurand.stats.estimate import pooled
    from measurand.stats.metrics import ACCURACY, MEAN
    from measurand.stats.missing import by_item

    n, rng = 1_000_000, np.random.default_rng(1)
    rows = {ACCURACY: rng.integers(0, 2, (n, 1)).astype(float), MEAN: rng.normal(size=(n, 1))}
    fields = rng.integers(0, 5, (20, n)).astype(np.int8)
    began, numbers = time.perf_counter(), 0
    for metric, values in rows.items():
        table = by_item(metric, values, np.arange(n), n)
        pooled(table)
        numbers += 1
        for codes in fields:
            for code in range(5):
                pooled(table.only(codes == code))
                numbers += 1
        assert len(bootstrap(metric.over, values, draws=10_000)) == 10_000
    seconds = time.perf_counter() - began
    print(
        json.dumps(
            {
                "seconds": seconds,
                "numbers": numbers,
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
        )
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--draws", type=int, default=2_000)
    parser.add_argument("--peers", default=str(ROOT / ".venv-peers/bin/python"))
    chosen = parser.parse_args()
    done = cost_of([sys.executable, "-c", "from perf.stats import million; million()"])
    print(
        f"1,000,000 trials, two scores: {done.said['numbers']} numbers and 2 x 10,000 draws in "
        f"{done.said['seconds']:.1f} s, {done.peak_mb:,.0f} MB at most (must be under 10 s and 1,024 MB)"
    )
    here, there = [], []
    for _ in range(chosen.rounds):
        there.append(cost_of([chosen.peers, "-c", PEER, str(ITEMS), str(chosen.draws)], env=dict(os.environ)).said)
        here.append(
            cost_of(
                [sys.executable, "-c", "import json; from perf.stats import ours; print(json.dumps(ours()))"],
                env=environment(),
            ).said
        )
    print(
        f"{DRAWS:,} draws over {ITEMS:,} items, medians of {chosen.rounds} rounds in turn; "
        f"lm-eval counted from {chosen.draws:,} draws"
    )
    for name, wanted in (("F1", 1_000), ("MCC", 1_000), ("mean", 5), ("any function", 5)):
        beside = name if name in there[0] else "mean"
        theirs = statistics.median(one[beside]["seconds"] for one in there) * DRAWS / chosen.draws
        mine = statistics.median(one[name]["seconds"] for one in here)
        errors = f"errors {here[0][name]['error']:.5f} and {there[0][beside]['error']:.5f}"
        print(
            f"{name:13} measurand {mine:8.3f} s   lm-eval {theirs:9.1f} s   {theirs / mine:9,.0f} times "
            f"(must be {wanted:,})   {errors}"
        )


if __name__ == "__main__":
    main()
