"""What in the curves asks for a person: rules over the records, each with its evidence.

Every test is held to one level: the stated chance of a false alert, shared by the planned checkpoints and the curves
(Bonferroni: it holds whatever the dependence of looks and curves). It is a chance for each of the two causes of noise
on its own. Sampling of items is seen by the paired comparison; the ups and downs of training by the series of the
checkpoints, since no pairing on items sees them. An alert needs both. For what drifts, a series that wanders without
aim is what nothing is wrong with: noise around a level, whatever depends on what, wanders less.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec

from measurand.core.curves import Alert, AlertKind, Loss, Point, Unmeasured
from measurand.core.estimate import Comparison
from measurand.stats.series import clearest, drift, jump, trend
from measurand.study.curves import Series, Taken, chance
from measurand.study.evidence import higher_is_better
from measurand.study.suite import Suite
from measurand.study.words import chances, counted, difference, gap, listed

EARLIER = 8
"""Earlier steps from which the usual size of a step is known."""
LATEST = 20
"""Steps before a point that count for it: what was usual long ago is not usual now."""
SPANS = (1, 2, 4)
"""Windows, as multiples of the suite's, over which validation may drift: noise hides a slow rise from short ones."""
LARGE = 0.10
"""The rise, as a share of the number, that counts as a spike while the usual size of a step is not known yet."""
NO_NUMBER = "no finite log-probability"
"""How providers say that a model gave NaN or an infinity."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The suite's settings as the rules use them. `level` is that of each single test."""

    window: int
    level: float
    least_gain: float


def level_of(suite: Suite, curves: int) -> float:
    """The level of each test: the stated chance, shared by the planned checkpoints and the curves."""
    return suite.false_alarm / (suite.checkpoints * max(1, curves))


def alerts(taken: Sequence[Taken], series: Sequence[Series], losses: Sequence[Loss], rules: Rules) -> tuple[Alert, ...]:
    """Every alert, the latest checkpoint first. One that goes on from checkpoint to checkpoint is told once."""
    found = [*non_finite(taken, losses)]
    for one in series:
        if one.curve.role == "perplexity":
            places = range(1, len(one.curve.points))
            found += _first_of_each(spike(one, at, rules) for at in places)
            found += _first_of_each(divergence(one, at, losses, rules) for at in places)
    places = range(1, len(taken))
    found += _first_of_each(left_behind(series, at, rules) for at in places)
    return tuple(sorted(_together(found), key=lambda alert: -alert.place))


def notes(taken: Sequence[Taken], series: Sequence[Series], losses: Sequence[Loss], suite: Suite) -> Iterator[str]:
    """What the rules could not see, and why."""
    if len(taken) > suite.checkpoints:
        yield (
            f"{len(taken)} checkpoints were looked at and the suite plans {suite.checkpoints}: false alerts are more "
            "frequent than stated; raise `checkpoints`"
        )
    if len(taken) < suite.window:
        yield f"Divergence, and canary tasks left behind, show over {suite.window} checkpoints; there are {len(taken)}."
    if not losses:
        yield "No training loss is given, so divergence of training and validation cannot be found: --log FILE."
    elif any(one.checkpoint.step is None for one in taken):
        yield "Checkpoints without a step in their name have no place in the training log."
    elif len(taken) >= suite.window:
        level, logged = level_of(suite, len(series)), len(_logged(losses, taken[-suite.window :]))
        if logged < suite.window or clearest(logged) > level:
            yield (
                f"The training log has {counted(logged, 'value')} over the latest {suite.window} checkpoints, too few "
                f"for a trend at the level of each test ({level:.2g}): divergence cannot be found there."
            )
    if not any(one.curve.role == "canary" for one in series):
        yield "The suite has no canary task, so nothing but perplexity is watched."
    if not any(one.curve.role == "perplexity" for one in series):
        yield "The suite has no perplexity, so spikes and divergence cannot be found."


def unmeasured(taken: Sequence[Taken]) -> Iterator[Unmeasured]:
    """The checkpoints with trials that came to nothing."""
    for one in taken:
        for scenario, tables in one.tables.items():
            lost = tables.tally.planned - tables.tally.answered - tables.tally.truncated - tables.tally.refused
            if lost:
                why = next(iter(tables.tally.reasons), "unknown")
                text = f"{scenario}: {lost:,} of {counted(tables.tally.planned, 'trial')} have no answer ({why})"
                yield Unmeasured(one.checkpoint.name, text)


def non_finite(taken: Sequence[Taken], losses: Sequence[Loss]) -> Iterator[Alert]:
    """Numbers that are none: log-probabilities that are NaN or infinite, and training losses."""
    for place, one in enumerate(taken):
        for scenario, tables in one.tables.items():
            lost = sum(n for reason, n in tables.tally.reasons.items() if NO_NUMBER in reason)
            if lost:
                said = f"{lost:,} of {counted(tables.tally.planned, 'trial')} of {scenario}: {NO_NUMBER}"
                text = f"{one.checkpoint.name} gives no finite numbers on {scenario}"
                yield _alert("non_finite", one, place, text, (f"{said}.",), (scenario,))
    broken = [loss.step for loss in losses if loss.value is None]
    if broken and taken:
        after = [
            p for p, one in enumerate(taken) if one.checkpoint.step is not None and one.checkpoint.step >= broken[0]
        ]
        place = after[0] if after else len(taken) - 1
        count = counted(len(broken), "value")
        evidence = (f"{count} of {len(losses):,} in the training log, the first at step {broken[0]:,}.",)
        text = f"The training loss is no finite number from step {broken[0]:,} on"
        yield _alert("non_finite", taken[place], place, text, evidence, ())


def spike(one: Series, at: int, rules: Rules) -> Alert | None:
    """The perplexity rose from the checkpoint before by more than items and training make it rise."""
    points = one.curve.points
    step, now = points[at].from_previous, points[at].estimate.value
    rise = None if step is None else step.difference.value
    if step is None or rise is None or rise <= 0 or now is None:
        return None
    p = chance(step)
    if p > rules.level or rise <= (step.detectable or 0.0):
        return None
    seen = _steps(points[:at])[-LATEST:]
    evidence = [
        f"{one.curve.metric} changed by {difference(step)}; the smallest change that is found is {_size(step)}."
    ]
    if len(seen) >= EARLIER:
        found = jump(seen, rise)
        if found.p > rules.level:
            return None
        evidence.append(
            f"Against the {len(seen)} steps before it, that is {found.z:.1f} robust standard deviations "
            f"({chances(found.p)}; the level of each test is {rules.level:.2g})."
        )
    elif rise < LARGE * (now - rise):
        return None
    else:
        evidence.append(f"That is {rise / (now - rise):.0%} of the number; the usual size of a step is not known yet.")
    return _at(one, at, "spike", f"{one.curve.name}: {one.curve.metric} jumps at {points[at].checkpoint}", evidence)


def divergence(one: Series, at: int, losses: Sequence[Loss], rules: Rules) -> Alert | None:
    """The validation loss rises while the training loss falls: the run learns its texts by heart.

    Over the window, or a multiple of it, which share the level.
    """
    level = rules.level / len(SPANS)
    spans = (replace(rules, window=rules.window * span, level=level) for span in SPANS)
    found = (_parting(one, at, losses, span) for span in spans)
    return next((alert for alert in found if alert is not None), None)


def _parting(one: Series, at: int, losses: Sequence[Loss], rules: Rules) -> Alert | None:
    first = at - rules.window + 1
    points = one.curve.points[max(first, 0) : at + 1]
    values = [point.estimate.value for point in points if point.estimate.value is not None]
    if first < 0 or len(values) < rules.window:
        return None
    up = drift(values, rises=True)
    logged = _logged(losses, points)
    if up > rules.level or len(logged) < rules.window:
        return None
    down = trend(logged, rises=False)
    rise = one.between(at, first)
    if down > rules.level or rise is None or chance(rise) > rules.level or (rise.difference.value or 0.0) <= 0:
        return None
    ends = len(logged) // 4 or 1
    start_loss, end_loss, count = _mean(logged[:ends]), _mean(logged[-ends:]), counted(len(logged), "logged value")
    over = f"from {points[0].checkpoint} to {points[-1].checkpoint}"
    text = f"{one.curve.name}: validation rises while training falls, {over}"
    evidence = (
        f"{one.curve.metric} changed by {difference(rise)}, over {rules.window} checkpoints (drift, {chances(up)}).",
        f"Training loss fell from about {start_loss:.4g} to about {end_loss:.4g}, {count} (trend, {chances(down)}).",
    )
    return _at(one, at, "divergence", text, evidence)


def _logged(losses: Sequence[Loss], points: Sequence[Point] | Sequence[Taken]) -> list[float]:
    """The finite training losses from the first to the last of some checkpoints; none where one has no step."""
    steps = [one.step if isinstance(one, Point) else one.checkpoint.step for one in (points[0], points[-1])]
    start, end = steps
    if start is None or end is None:
        return []
    return [loss.value for loss in losses if start <= loss.step <= end and loss.value is not None]


def left_behind(series: Sequence[Series], place: int, rules: Rules) -> Alert | None:
    """Over the window a perplexity improves, and a canary falls, or none of them gains what would be worth having."""
    improved = [
        (one, made)
        for one in series
        if one.curve.role == "perplexity" and not one.curve.value
        for made in [_over_window(one, place, rules.window, 0.95)]
        if made is not None and _falls(one, made, place, rules)
    ]
    if not improved:
        return None
    canaries = [
        (one, made)
        for one in series
        if one.curve.role == "canary"
        for made in [_over_window(one, place, rules.window, 1 - 2 * rules.level)]
        if made is not None and not _is_full(one, place, rules)
    ]
    fell = [pair for pair in canaries if _fell(*pair, rules)]
    stand = [pair for pair in canaries if _stands(pair[1], rules)]
    if not fell and (not canaries or len(stand) < len(canaries)):
        return None
    told = fell or stand
    names = [one.curve.name for one, _ in told]
    point = next(one for one in improved[0][0].curve.points if one.place == place)
    what = "fall" if fell else "do not"
    evidence = [f"{one.curve.name}: {one.curve.metric} changed by {difference(made)}." for one, made in improved]
    evidence += [f"{one.curve.name}: {one.curve.metric} changed by {difference(made)}." for one, made in told]
    if not fell:
        evidence.append(f"A gain of {gap(rules.least_gain)} on them is out of reach of what was measured.")
    text = f"perplexity improves while canary tasks {what}: {listed(names)}"
    return Alert("canaries", point.checkpoint, place, point.step, text, tuple(evidence), tuple(names))


def _over_window(one: Series, place: int, window: int, level: float) -> Comparison | None:
    """The difference over the window that ends at a checkpoint; None where the curve has no number at both ends."""
    at = {point.place: number for number, point in enumerate(one.curve.points) if point.estimate.value is not None}
    first = place - window + 1
    return one.between(at[place], at[first], level) if place in at and first in at else None


def _falls(one: Series, made: Comparison, place: int, rules: Rules) -> bool:
    """Whether a perplexity improved by more than items and training make it: it is lower, and fell steadily."""
    within = [p.estimate.value for p in one.curve.points if place - rules.window < p.place <= place]
    values = [value for value in within if value is not None]
    lower = chance(made) <= rules.level and (made.difference.value or 0.0) < 0
    return lower and len(values) >= rules.window and drift(values, rises=False) <= rules.level


def _fell(one: Series, made: Comparison, rules: Rules) -> bool:
    value = made.difference.value or 0.0
    return chance(made) <= rules.level and (value < 0) == higher_is_better(one.curve.metric) and value != 0


def _stands(made: Comparison, rules: Rules) -> bool:
    """Whether a gain worth having is shown to be out of reach. Only of shares is it known what that is."""
    high = made.difference.high
    return not made.difference.unit and high is not None and high < rules.least_gain


def _is_full(one: Series, place: int, rules: Rules) -> bool:
    """Whether a canary had no room to improve from the beginning of the window."""
    start = next((p.estimate for p in one.curve.points if p.place == place - rules.window + 1), None)
    full = start is not None and not start.unit and start.value is not None and start.value > 1 - rules.least_gain
    now = next((p.estimate.value for p in one.curve.points if p.place == place), None)
    return full and now is not None and now > 1 - rules.least_gain


def _steps(points: Sequence[Point]) -> list[float]:
    """The differences from checkpoint to checkpoint."""
    made = [point.from_previous.difference.value for point in points if point.from_previous is not None]
    return [value for value in made if value is not None and math.isfinite(value)]


def _together(found: Sequence[Alert]) -> Iterator[Alert]:
    """Alerts of one kind at one checkpoint as one: that of the first curve, which names the others."""
    groups: dict[tuple[AlertKind, int], list[Alert]] = {}
    for alert in found:
        groups.setdefault((alert.kind, alert.place), []).append(alert)
    for first, *others in groups.values():
        names = tuple(dict.fromkeys(name for alert in others for name in alert.curves if name not in first.curves))
        if names:
            evidence = (*first.evidence, f"The same holds of {listed(names)}.")
            yield msgspec.structs.replace(first, evidence=evidence, curves=first.curves + names)
        else:
            yield first


def _first_of_each(found: Iterator[Alert | None]) -> Iterator[Alert]:
    """Each alert that the checkpoint before did not raise already."""
    before = False
    for alert in found:
        if alert is not None and not before:
            yield alert
        before = alert is not None


def _at(one: Series, at: int, kind: AlertKind, text: str, evidence: Sequence[str]) -> Alert:
    point = one.curve.points[at]
    return Alert(kind, point.checkpoint, point.place, point.step, text, tuple(evidence), (one.curve.name,))


def _alert(
    kind: AlertKind, one: Taken, place: int, text: str, evidence: tuple[str, ...], curves: tuple[str, ...]
) -> Alert:
    return Alert(kind, one.checkpoint.name, place, one.checkpoint.step, text, evidence, curves)


def _size(made: Comparison) -> str:
    return "unknown" if made.detectable is None else gap(made.detectable, made.difference.unit)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
