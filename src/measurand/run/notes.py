"""What a reader must know besides the numbers, one sentence each."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterable, Iterator

from measurand.asking.shot_orders import ORDER
from measurand.core.estimate import Tally
from measurand.core.protocol import Protocol
from measurand.core.run import Run
from measurand.core.subject import passes_of, subject_name
from measurand.core.summary import View
from measurand.run.isolation import is_unconfined
from measurand.stats.metrics import PASS_AT
from measurand.stats.sanity import implausible

_PASSES = {"majority": "the vote of several", "search": "the best of several", "every": "all of several"}
FEW_SAMPLES = 20
"""With fewer samples of a problem, its estimate of pass@k takes few values."""


def notes(run: Run, protocol: Protocol, tally: Tally, views: tuple[View, ...], gaps: Iterable[str]) -> Iterator[str]:
    """The notes of a summary; `gaps` are those that only the one who computed it can know."""
    yield from _unfinished(protocol, tally)
    yield from gaps
    for view in views:
        if view.view.startswith("macro:") and view.estimate.value is None:
            over, fault = view.view.removeprefix("macro:"), view.estimate.method.removeprefix("none: ")
            yield f"The macro {view.estimate.metric} over {over} has no number: {fault}."
    yield from _sensitivity(protocol, views)
    yield from _orders(protocol, views)
    yield from _pass_at(run, protocol, views)
    whole = {view.estimate.metric: view.estimate.value for view in views if view.view == "pooled"}
    yield from (f"{fault[0].upper()}{fault[1:]}." for fault in implausible(whole))
    stand_ins = sorted(name for name, source in protocol.task.sources.items() if source.stands_in)
    if stand_ins:
        yield f"Local copies stood in for the declared data: {', '.join(stand_ins)}; their hashes are in the protocol."
    yield from run.conditions.subject
    if passes_of(run.subject) != "single pass":
        rests = _PASSES[passes_of(run.subject)]
        yield (
            f"Each answer of {subject_name(run.subject)} rests on {rests}, as was declared: its numbers never share a "
            "rank with those of a single pass."
        )
    if is_unconfined(run):
        yield (
            f"Programs were run without isolation ({run.conditions.isolation}), as was accepted on the command line: "
            "they could have read, changed and sent anything that this user can, their own verdicts included."
        )
    if len(run.conditions.served_as) > 1:
        yield f"The endpoint answered under several names: {', '.join(run.conditions.served_as)}."


def _unfinished(protocol: Protocol, tally: Tally) -> Iterator[str]:
    scoring = protocol.scoring
    kinds = (
        ("truncated", tally.truncated, scoring.score_truncated),
        ("refused", tally.refused, scoring.score_refused),
    )
    for name, count, scored in kinds:
        if count:
            what = f"{name} answer is" if count == 1 else f"{name} answers are"
            fate = "scored" if scored else "not scored and counted as missing"
            yield f"{count:,} {what} {fate}, as the protocol says."


def _sensitivity(protocol: Protocol, views: tuple[View, ...]) -> Iterator[str]:
    """What another reader of the same answers, or other labels, would have made of the headline."""
    whole = {view.estimate.metric: view.estimate for view in views if view.view == "pooled"}
    first, *others = protocol.scoring.markings
    rule = protocol.aggregation.metrics
    for other in others:
        alike = _bare(other.scorer) == _bare(first.scorer) and rule.get(other.metric) == rule.get(first.metric)
        a, b = whole.get(first.metric), whole.get(other.metric)
        if (other.reader == first.reader) == (other.scorer == first.scorer):
            continue  # neither changed, or both, which says nothing of either
        if alike and a and b and a.value is not None and b.value is not None:
            share = not b.unit
            number = f"{100 * b.value:.1f} %" if share else f"{b.value:.4g} {b.unit}"
            change = f"{100 * (b.value - a.value):+.1f} points" if share else f"{b.value - a.value:+.4g}"
            told = "Read" if other.reader != first.reader else "Scored"
            by, instead = (other.reader, first.reader) if told == "Read" else (other.scorer, first.scorer)
            yield f"{told} by {by} instead of {instead}, the same answers give {number} ({change})."


def _bare(scorer: str) -> str:
    """The scorer without whose labels it takes: choice[corrected]@1, choice[original]@1 and choice@1 are alike."""
    return re.sub(r"\[[^\[\]]*\]", "", scorer)


def _orders(protocol: Protocol, views: tuple[View, ...]) -> Iterator[str]:
    """How far the headline moves with the order of the exemplars alone."""
    headline = protocol.scoring.markings[0].metric
    found = [view.estimate for view in views if view.view == f"slice:{ORDER}" and view.estimate.metric == headline]
    values = [one.value for one in found if one.value is not None]
    if len(values) > 1 and not found[0].unit:
        mean, error = statistics.fmean(values), statistics.stdev(values) / math.sqrt(len(values))
        yield (
            f"Over {len(values)} orders of the exemplars, {headline} is {100 * mean:.1f} % on average, with a standard "
            f"error of {100 * error:.2f} points over orders ({100 * min(values):.1f} to {100 * max(values):.1f} %)."
        )


def _pass_at(run: Run, protocol: Protocol, views: tuple[View, ...]) -> Iterator[str]:
    """What threatens pass@k: too few samples for k above 1, and problems that all are solved."""
    rule = protocol.aggregation.metrics
    for view in views:
        named = PASS_AT.fullmatch(rule.get(view.estimate.metric, "").partition("@")[0])
        if named is None or view.view != "pooled":
            continue
        k = int(named[1])
        if k > 1 and run.samples < FEW_SAMPLES:
            yield (
                f"pass@{k} is estimated from {run.samples} samples of each problem: with fewer than {FEW_SAMPLES} "
                "it is unbiased but coarse, so small differences in it mean little."
            )
        if view.estimate.value == 1.0:
            yield (
                f"pass@{k} is saturated: every problem has fewer than {k} wrong samples of {run.samples}, "
                "so it cannot tell this subject from a better one."
            )
