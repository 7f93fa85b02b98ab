"""Threats that lie in the numbers: noise, gaps, slices, samples and looks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from measurand.core.benchmark import mean_over
from measurand.core.decision import Threat
from measurand.run.notes import FEW_SAMPLES
from measurand.run.tables import Tables
from measurand.stats.flips import flips
from measurand.stats.metrics import PASS_AT
from measurand.stats.nested import over_nested
from measurand.study.comparing import macros, slice_fields, winner_of
from measurand.study.evidence import Scenario, higher_is_better, levels_of, parts
from measurand.study.guarding import LEVEL, guarded, naive_rate
from measurand.study.rules import Threshold, parse
from measurand.study.threats.seen import Seen
from measurand.study.words import amount, counted, difference, gap, listed

MOST_MISSING = 0.05
MOST_TRUNCATED = 0.01
FEW_ITEMS = 100
FAR_BELOW = 0.10
"""A slice is far below the mean from ten points on."""
MOST_SATURATED = 0.5
POOLED = "the number over all items"


def within_noise(seen: Seen) -> Iterator[Threat]:
    """Two subjects that this evidence cannot tell apart."""
    for one in seen.contrasts:
        made = one.comparison
        if one.view != "pooled" or made is None or winner_of(one):
            continue
        smallest = f"; the smallest that would be found is {gap(made.detectable)}" if made.detectable else ""
        yield Threat(
            "difference_within_noise",
            f"{one.a} and {one.b} differ by {difference(made)} on {one.scenario}{smallest}",
            "ask more items, or take them as equal here and decide on something else",
            one.scenario,
        )


def ranking_flips(seen: Seen) -> Iterator[Threat]:
    """An order that turns when the same scores are combined otherwise."""
    evidence = seen.evidence
    for scenario in seen.asked:
        measured = evidence.measured(scenario.name)
        numbers = {name: _aggregations(seen, scenario, tables) for name, tables in measured.items()}
        first = next(iter(measured.values()))
        up, unit = higher_is_better(first.headline), first.metrics[first.headline].metric.unit
        for flip in flips(numbers, higher_is_better=up, unit=unit):
            if flip.by == POOLED:
                yield Threat(
                    "ranking_flips",
                    str(flip),
                    "say which weighs the items as your users do, before you look at the numbers",
                    scenario.name,
                )


def _aggregations(seen: Seen, scenario: Scenario, tables: Tables) -> dict[str, float | None]:
    table = tables.metrics[tables.headline]
    found: dict[str, float | None] = {}
    summary = next(one.summary for one in seen.evidence.results if one.tables is tables)
    if summary is not None and summary.views:
        found[POOLED] = summary.views[0].estimate.value
    for path in dict.fromkeys((*slice_fields(seen.evidence, scenario, tables), *macros(seen.evidence, scenario))):
        levels = levels_of(tables, path)
        if any(codes.max(initial=0) > 0 for codes in levels):
            found[f"the {mean_over(path)}"] = over_nested(table, levels).value
    return found


def missing_share(seen: Seen) -> Iterator[Threat]:
    """Numbers from which too many trials are missing."""
    for scenario, subject, tables in seen.evidence.all_measured():
        table = tables.metrics[tables.headline]
        gone, planned = int(table.missing.sum()), int(table.missing.sum() + table.measured.sum())
        if planned and gone > MOST_MISSING * planned:
            yield Threat(
                "missing_trials",
                f"{gone:,} of {planned:,} trials of {subject} on {scenario.name} have no score",
                _remedy(tables),
                scenario.name,
            )


def _remedy(tables: Tables) -> str:
    """What most of the missing trials call for."""
    tally = tables.tally
    remedies = {
        "run the same command again: only these are asked": tally.failed + tally.not_run,
        "allow longer replies; that is another protocol": tally.truncated,
        "say that a filter or the subject itself refused them, and read the bounds": tally.blocked + tally.refused,
        "look at why they could not be scored, with `measurand show`": 1,
    }
    return max(remedies, key=lambda remedy: remedies[remedy])


def truncated(seen: Seen) -> Iterator[Threat]:
    """Replies that were cut off: the number is then about the limit."""
    for scenario, subject, tables in seen.evidence.all_measured():
        cut, planned = tables.tally.truncated, tables.tally.planned
        if cut > MOST_TRUNCATED * planned:
            yield Threat(
                "truncated_replies",
                f"{cut:,} of {planned:,} replies of {subject} on {scenario.name} were cut off",
                "allow longer replies (another protocol), above all for models that think first",
                scenario.name,
            )


def worst_slice(seen: Seen) -> Iterator[Threat]:
    """A slice far below the whole, beyond what looking at many slices explains."""
    for scenario, subject, tables in seen.evidence.all_measured():
        whole = guarded(tables.metrics[tables.headline])
        if whole.value is None or whole.unit or not higher_is_better(tables.headline):
            continue
        fields = slice_fields(seen.evidence, scenario, tables)
        cut = [
            (f"{field} {label}", table) for field in fields for label, table in parts(tables, tables.headline, field)
        ]
        strict = 1 - (1 - LEVEL) / max(1, len(cut))
        low = [(name, made) for name, table in cut if (made := guarded(table, strict)).value is not None]
        far = [
            (name, made)
            for name, made in low
            if made.high is not None and made.high < whole.value and (made.value or 0.0) < whole.value - FAR_BELOW
        ]
        if far:
            name, made = min(far, key=lambda pair: pair[1].value or 0.0)
            yield Threat(
                "worst_slice_far_below",
                f"{subject} reaches {amount(made.value)} on {name} ({made.n_items} items) and {amount(whole.value)} on "
                f"all of {scenario.name}; {counted(len(cut), 'slice')} looked at",
                "decide on the worst slice as well as on the mean, or keep these users from the subject",
                scenario.name,
            )


def few_items(seen: Seen) -> Iterator[Threat]:
    """A metric of so few items that its interval says little."""
    for scenario, tables in seen.one_run_each():
        counts = {name: int(table.planned.sum()) for name, table in tables.metrics.items()}
        few = [name for name, n in counts.items() if n < FEW_ITEMS]
        if few:
            least = min(counts[name] for name in few)
            yield Threat(
                "few_items",
                f"{listed(few)} of {scenario.name} {'rests' if len(few) == 1 else 'rest'} on {counted(least, 'item')}, "
                f"fewer than {FEW_ITEMS}",
                "add items of the same kind before small differences are read",
                scenario.name,
            )


def judge_not_calibrated(seen: Seen) -> Iterator[Threat]:
    """Scores of a judge that nobody held against people."""
    for scenario, tables in seen.one_run_each():
        for marking in tables.protocol.scoring.markings:
            judged = marking.scorer.startswith(("judge", "rubric"))
            if judged and marking.scorer not in seen.evidence.calibrated:
                yield Threat(
                    "judge_not_calibrated",
                    f"{scenario.name} is scored by {marking.scorer}, whose agreement with people is not known here",
                    "have people score a sample of the same replies, and correct the number by the judge's error",
                    scenario.name,
                )


def pass_at_k_of_few(seen: Seen) -> Iterator[Threat]:
    """pass@k from so few samples that it is coarse."""
    for scenario, tables in seen.one_run_each():
        for name, k in _passes(tables):
            if k > 1 and tables.run.samples < FEW_SAMPLES:
                yield Threat(
                    "pass_at_k_of_few_samples",
                    f"{name} on {scenario.name} is estimated from {tables.run.samples} samples of each problem",
                    f"draw at least {FEW_SAMPLES} samples, better 2k",
                    scenario.name,
                )


def saturated_k(seen: Seen) -> Iterator[Threat]:
    """pass@k with a k at which most problems cannot fail any more."""
    for scenario, subject, tables in seen.evidence.all_measured():
        for name, k in _passes(tables):
            rows = tables.metrics[name].rows[:, 0]
            done = rows[~np.isnan(rows)]
            share = float((done == 1).mean()) if len(done) else 0.0
            if k > 1 and share > MOST_SATURATED:
                yield Threat(
                    "saturated_k",
                    f"{name} of {subject} on {scenario.name}: {amount(share)} of problems have fewer than {k} wrong "
                    f"samples of {tables.run.samples}, so they cannot count against it",
                    "compare at a smaller k",
                    scenario.name,
                )


def _passes(tables: Tables) -> Iterator[tuple[str, int]]:
    for name, rule in tables.protocol.aggregation.metrics.items():
        found = PASS_AT.fullmatch(rule.partition("@")[0])
        if found is not None and name in tables.metrics:
            yield name, int(found[1])


def looks(seen: Seen) -> Iterator[Threat]:
    """A rule that was looked at before the plan was done, each look with its own chance to err."""
    study = seen.evidence.study
    for scenario, sizes in seen.evidence.looks.items():
        if len(sizes) > 1 and study.rules and not study.sequential:
            yield Threat(
                "looks_not_accounted_for",
                f"{scenario} was looked at {len(sizes)} times, with {listed([f'{n:,}' for n in sizes])} items"
                f"{_naive(seen, scenario, sizes)}",
                "decide once on the planned items, or set sequential = true, which keeps the error over all looks",
                scenario,
            )


def _naive(seen: Seen, scenario: str, sizes: tuple[int, ...]) -> str:
    """The inflated rate of the first rule that is about this scenario as a whole."""
    rules = [form for form in map(parse, seen.evidence.study.rules) if isinstance(form, Threshold) and not form.field]
    about = [form for form in rules if seen.evidence.scenario(form.scenario).name == scenario]
    told = naive_rate(sizes, about[0].bound) if about else ""
    return f"; {told} of cases, not 2.5 %" if told else ""
