"""What a training run came to, checkpoint by checkpoint: curves, and the alerts that rules found in them."""

from __future__ import annotations

from typing import Literal

from measurand.core.estimate import Comparison, Estimate
from measurand.core.record import Record

Role = Literal["perplexity", "canary"]
"""What a curve is for: how well texts are predicted, or whether a small task is still done."""

AlertKind = Literal["spike", "divergence", "canaries", "non_finite"]


class Checkpoint(Record, frozen=True):
    """The weights of one moment of a training run.

    `step` is the number in the name, None where there is none. `sha256` is the hash of the weights as their provider
    states it; empty where it states none.
    """

    name: str
    step: int | None = None
    sha256: str = ""


class Point(Record, frozen=True):
    """One checkpoint on a curve. `place` counts the checkpoints from 0.

    `from_previous` and `from_best` compare it, in pairs, with the checkpoint before it and with the best one before it.
    """

    checkpoint: str
    place: int
    step: int | None
    estimate: Estimate
    run: str
    from_previous: Comparison | None = None
    from_best: Comparison | None = None


class Curve(Record, frozen=True):
    """One metric over the checkpoints: of a whole scenario, or of one `value` of the slice that `view` names.

    `detectable` is the smallest true change between the last two checkpoints that is found four times in five.
    """

    scenario: str
    metric: str
    role: Role
    points: tuple[Point, ...]
    view: str = "pooled"
    value: str = ""
    protocol: str = ""
    detectable: float | None = None

    @property
    def name(self) -> str:
        """What people call it: the scenario, and the slice where it is one."""
        return f"{self.scenario}, {self.view.removeprefix('slice:')} {self.value}" if self.value else self.scenario


class Loss(Record, frozen=True):
    """A training loss as logged, in the log's own unit. `value` is None where what was logged is no finite number."""

    step: int
    value: float | None


class Alert(Record, frozen=True):
    """Something in the curves that asks for a person: what, where, and the numbers that say so.

    `evidence` are sentences, each with its statistic. `curves` names the curves that it rests on.
    """

    kind: AlertKind
    checkpoint: str
    place: int
    step: int | None
    text: str
    evidence: tuple[str, ...]
    curves: tuple[str, ...] = ()


class Unmeasured(Record, frozen=True):
    """A checkpoint that has no number, or not all of its numbers, and why."""

    checkpoint: str
    why: str


class Curves(Record, frozen=True):
    """A watched training run, ready to be shown.

    `false_alarm` is the highest chance that a rule raises any alert in a run of `planned` checkpoints in which nothing
    is wrong; each test is held to the share `level` of it. `notes` say what the rules could not see. `made` is an ISO
    date and time.
    """

    suite: str
    checkpoints: tuple[Checkpoint, ...]
    curves: tuple[Curve, ...]
    alerts: tuple[Alert, ...]
    losses: tuple[Loss, ...] = ()
    unmeasured: tuple[Unmeasured, ...] = ()
    waiting: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    false_alarm: float = 0.05
    planned: int = 100
    level: float = 0.0005
    made: str = ""
