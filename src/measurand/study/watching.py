"""From the checkpoints that were measured so far to what a watch shows. Pure: the same input gives the same curves."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence

from measurand.core.curves import Curves, Loss, Unmeasured
from measurand.core.estimate import Comparison
from measurand.study.alerts import Rules, alerts, level_of, notes, unmeasured
from measurand.study.curves import Key, Taken, series_of
from measurand.study.suite import Suite


def watched(
    taken: Sequence[Taken],
    suite: Suite,
    losses: Sequence[Loss] = (),
    *,
    broken: Sequence[Unmeasured] = (),
    waiting: Sequence[str] = (),
    known: MutableMapping[Key, Comparison] | None = None,
) -> Curves:
    """The curves, their alerts, and what could not be measured.

    `taken` are the checkpoints in their order, `broken` those that could not be evaluated, `waiting` the names of those
    that are still being written. `known` keeps comparisons from one look to the next.
    """
    series = series_of(taken, {} if known is None else known)
    level = level_of(suite, len(series))
    rules = Rules(suite.window, level, suite.least_gain)
    return Curves(
        suite=suite.name,
        checkpoints=tuple(one.checkpoint for one in taken),
        curves=tuple(one.curve for one in series),
        alerts=alerts(taken, series, losses, rules),
        losses=tuple(losses),
        unmeasured=(*broken, *unmeasured(taken)),
        waiting=tuple(waiting),
        notes=tuple(notes(taken, series, losses, suite)),
        false_alarm=suite.false_alarm,
        planned=suite.checkpoints,
        level=level,
    )
