"""A suite: what every checkpoint of a training run is asked, and how its curves are watched. One TOML file."""

from __future__ import annotations

from pathlib import Path

import msgspec

from measurand.core.errors import InputError
from measurand.core.record import Record
from measurand.study.records import PrivateSet, PublicBenchmark
from measurand.study.toml import beside, read

MOST_WINDOW = 20


class Suite(Record, frozen=True, kw_only=True):
    """The record that a suite file maps on, one to one.

    What is measured in bits per byte is a perplexity; everything else is a canary: a small task that must not be lost.
    `provider` runs the weights (transformers or llamacpp). `false_alarm` is the chance of any false alert of a rule in
    a run of `checkpoints` checkpoints. Trends are looked for over `window` checkpoints. A canary stands still where a
    gain of `least_gain`, a share (0.02 is two points), is shown to be out of reach.
    """

    name: str
    sets: tuple[PrivateSet, ...] = ()
    benchmarks: tuple[PublicBenchmark, ...] = ()
    provider: str = "transformers"
    false_alarm: float = 0.05
    checkpoints: int = 100
    window: int = 8
    least_gain: float = 0.02


def load_suite(path: Path) -> Suite:
    """Read a suite; the files it names are taken relative to it. Raises InputError, which suggests the right key."""
    suite = read(path, Suite, {"sets": PrivateSet, "benchmarks": PublicBenchmark})
    _check(path, suite)
    return msgspec.structs.replace(
        suite, sets=tuple(msgspec.structs.replace(one, file=beside(path, one.file)) for one in suite.sets)
    )


def _check(path: Path, suite: Suite) -> None:
    """What the types cannot say. Raises InputError."""
    if not suite.sets and not suite.benchmarks:
        raise InputError(f"{path}: the suite asks nothing; add [[sets]] or [[benchmarks]]")
    wrong = [
        (not 0 < suite.false_alarm < 1, "false_alarm", suite.false_alarm, "a chance between 0 and 1"),
        (suite.checkpoints < 1, "checkpoints", suite.checkpoints, "how many are expected, at least 1"),
        (not 3 <= suite.window <= MOST_WINDOW, "window", suite.window, f"3 to {MOST_WINDOW} checkpoints"),  # noqa: PLR2004
        (not 0 <= suite.least_gain < 1, "least_gain", suite.least_gain, "a share such as 0.02"),
    ]
    for is_wrong, name, value, want in wrong:
        if is_wrong:
            raise InputError(f"{path}: {name} is {value}; it is {want}")
