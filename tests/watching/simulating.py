"""Measured checkpoints made of numbers alone: tables in memory, without a store, a model or a file."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from measurand.core.benchmark import Metric
from measurand.core.curves import Checkpoint, Curves, Loss
from measurand.core.estimate import Tally
from measurand.core.run import Run
from measurand.core.subject import Model
from measurand.run.tables import Tables
from measurand.stats.metrics import ACCURACY, BITS_PER_BYTE
from measurand.stats.missing import by_item
from measurand.study.curves import Taken
from measurand.study.records import PublicBenchmark
from measurand.study.suite import Suite
from measurand.study.watching import watched
from tests.laws.examples import AGGREGATION, PROTOCOL

FALLING = [3.0 - 0.9 * float(1 - np.exp(-at / 6)) for at in range(40)]
"""Bits per byte as a healthy run has them."""
BYTES = 400.0


def train_log(checkpoints: int, slope: float = -0.02, seed: int = 0) -> list[Loss]:
    """Ten logged losses for each checkpoint, which change by `slope` from one checkpoint to the next."""
    rng = np.random.default_rng(seed)
    return [Loss(at * 10, float(3 + slope * at / 10 + rng.normal(0, 0.03))) for at in range(1, checkpoints * 10 + 1)]


def taken(
    bits: Sequence[float],
    right: Sequence[float] = (),
    *,
    texts: int = 40,
    sums: int = 200,
    seed: int = 0,
    groups: tuple[str, ...] = ("domain",),
) -> list[Taken]:
    """Checkpoint `at`, of step 100 (at + 1), with `bits[at]` bits per byte on texts of two domains, which vary among
    themselves, and about the share `right[at]` of the sums: those are hard to different degrees.
    """
    rng = np.random.default_rng(seed)
    hard = rng.normal(0, 0.2, texts)
    ranks = rng.permutation(sums) / sums
    found = []
    for at, level in enumerate(bits):
        each = level + hard + rng.normal(0, 0.02, texts)
        rows = np.stack((-each * BYTES * np.log(2), np.full(texts, BYTES)), axis=1)
        made = {"texts": table("texts", at, BITS_PER_BYTE, rows, groups)}
        if right:
            done = (ranks + rng.normal(0, 0.02, sums) < right[at]).astype(float)[:, None]
            made["sums"] = table("sums", at, ACCURACY, done)
        step = 100 * (at + 1)
        found.append(Taken(Checkpoint(f"checkpoint-{step}", step, f"{at}"), made))
    return found


def table(name: str, at: int, metric: Metric, rows: np.ndarray, groups: tuple[str, ...] = ()) -> Tables:
    """A run of one trial an item. Items stand in two domains by turns."""
    n = len(rows)
    protocol = msgspec.structs.replace(
        PROTOCOL, benchmark=name, aggregation=msgspec.structs.replace(AGGREGATION, groups=groups, level=0.95)
    )
    return Tables(
        run=Run(name, protocol.id, Model("fake", f"checkpoint-{at}"), f"{name} {at}", n, 1),
        protocol=protocol,
        tally=Tally(n, answered=n),
        metrics={metric.name: by_item(metric, rows, np.arange(n), n)},
        fields={"domain": (np.arange(n) % 2, ["web", "code"])},
        names=tuple(map(str, range(n))),
        contents=tuple(str(place).encode() for place in range(n)),
        lengths=np.full(n, 100),
        seconds=np.zeros(n),
        costs=np.zeros(n),
        made={},
    )


def curves(
    bits: Sequence[float], right: Sequence[float] = (), losses: Sequence[Loss] = (), seed: int = 0, **choices: object
) -> Curves:
    """What a watch of such a run shows."""
    sizes = {name: choices.pop(name) for name in ("texts", "sums", "groups") if name in choices}
    plan = {"checkpoints": 40, "benchmarks": (PublicBenchmark(name="texts"),)} | choices
    return watched(taken(bits, right, seed=seed, **sizes), Suite(name="nightly", **plan), losses)  # type: ignore[arg-type]
