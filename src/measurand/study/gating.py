"""The gate of a pipeline: may this change go in? It passes, fails, or says that it cannot say.

Against a baseline it asks for non-inferiority: the change passes where the whole interval of its paired difference lies
above the margin below zero, and fails where all of it lies below. So a change that is no worse than the margin fails
with at most `false_alarm`. Where no item has another score than before, nothing has changed, and it passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from measurand.core.claim import AboutSystem
from measurand.core.decision import Gate, Rule
from measurand.core.errors import InputError
from measurand.run.tables import Tables
from measurand.stats.compare import compare
from measurand.stats.missing import ByItem
from measurand.study import rules as forms
from measurand.study.aligning import align
from measurand.study.baseline import MARK, Baseline, as_tables
from measurand.study.comparability import comparability
from measurand.study.evidence import Evidence, higher_is_better
from measurand.study.judging import at_worst, check_bound, held_against, judge_one
from measurand.study.words import amount, counted, difference, gap, listed


@dataclass(frozen=True, slots=True)
class GateOptions:
    """What a gate asks for.

    `margin` is the loss that is borne, as a share (0.02 for two points). `false_alarm` is the highest chance that a
    change within the margin fails. `flakes` is the share of items that may lack a score or differ between their
    own samples. `rules` are as in a study; `accept` names differences of protocol that are accepted.
    """

    margin: float = 0.02
    false_alarm: float = 0.025
    flakes: float = 0.02
    rules: tuple[str, ...] = ()
    accept: tuple[str, ...] = ()


def gate(evidence: Evidence, baseline: Baseline | None, options: GateOptions) -> Gate:
    """Check one run, the only one in the evidence. Raises InputError for options or rules that cannot be used."""
    _check(options, baseline)
    subject, scenario = evidence.subjects[0], evidence.scenarios[0].name
    tables = evidence.result(subject, scenario).tables
    if tables is None:
        raise InputError(f"{subject} is not measured on {scenario}")
    checks = [_flakes(tables, options)]
    if baseline is not None:
        checks.append(_not_worse(tables, baseline, options))
    checks += _rules(evidence, subject, options.rules)
    return Gate(
        benchmark=scenario,
        subject=subject,
        run=tables.run.id,
        protocol=tables.run.protocol,
        checks=tuple(msgspec.structs.replace(check, subject=subject) for check in checks),
        baseline=baseline.run.id if baseline else "",
        margin=options.margin if baseline else None,
        false_alarm=options.false_alarm,
    )


def _check(options: GateOptions, baseline: Baseline | None) -> None:
    if not 0 < options.false_alarm < 0.5:  # noqa: PLR2004 - more often wrong than right
        raise InputError(f"a false-alarm rate of {options.false_alarm} is not between 0 and 0.5")
    if not 0 <= options.margin < 1 or not 0 <= options.flakes <= 1:
        raise InputError("a margin and a flake budget are shares: 2 points are 0.02")
    if baseline is None and not options.rules:
        raise InputError("a gate needs a baseline (--baseline FILE) or a rule (--rule 'accuracy >= 0.80')")


def _flakes(tables: Tables, options: GateOptions) -> Rule:
    """Items of which this run says nothing firm: without a score, or right in one sample and wrong in another."""
    table = tables.metrics[tables.headline]
    planned = int(table.planned.sum())
    unscored = int((table.planned & (table.missing > 0)).sum())
    torn = _torn(table)
    share = (unscored + torn) / planned if planned else 1.0
    said = f"{counted(unscored, 'item')} lacking a score and {torn} that differ between samples, of {planned:,} "
    said += f"({amount(share)}); at most {amount(options.flakes)} wanted"
    return Rule("flake budget", "pass" if share <= options.flakes else "undecided", said)


def _torn(table: ByItem) -> int:
    """Items with several samples, all scored, whose mean is neither end of the range."""
    metric = table.metric
    if len(metric.columns) > 1 or metric.low is None or metric.high is None or metric.kind != "single pass":
        return 0
    rows = table.rows[:, 0]
    several = (table.measured > 1) & (table.missing == 0)
    return int((several & (rows > metric.low) & (rows < metric.high)).sum())


def _not_worse(tables: Tables, baseline: Baseline, options: GateOptions) -> Rule:
    text = f"not worse than the baseline by more than {gap(options.margin)}"
    before = as_tables(baseline)
    may = comparability(tables, before, AboutSystem(), options.accept)
    if may.refused:
        return Rule(text, "undecided", f"not comparable with the baseline: {may.refused}")
    now = replace(tables, contents=tuple(content[:MARK] for content in tables.contents))
    both = align(now, before)
    if not both.n:
        return Rule(text, "undecided", "no item is the same as in the baseline; write the baseline anew")
    a, b = both.pair(baseline.metric)
    made = compare(a, b, names=("now", "baseline"), level=1 - 2 * options.false_alarm)
    changed = _changed(both.only_a, both.changed)
    if np.array_equal(a.rows, b.rows) and not a.missing.any():
        same = f"no item of {both.n:,} has another score than in the baseline{changed}"
        return Rule(text, "pass", same, estimate=made.difference)
    moved = at_worst(made.difference)
    up = higher_is_better(baseline.metric)
    judged = held_against(moved, ">=" if up else "<=", -options.margin if up else options.margin)
    lost = _items(a, b, [now.names[at] for at in both.at_a], up=up)
    return msgspec.structs.replace(judged, text=text, because=f"{difference(made)}{lost}{changed}")


def _items(a: ByItem, b: ByItem, names: Sequence[str], *, up: bool) -> str:
    """Which items got worse, by name: where a person looks first."""
    d = a.rows[:, 0] - b.rows[:, 0]
    worse = [names[at] for at in np.flatnonzero(d < 0 if up else d > 0).tolist()]
    return f"; worse on {listed(worse, 5)}" if worse else "; worse on no item"


def _changed(added: int, changed: int) -> str:
    parts = [f"{counted(changed, 'item')} changed"] if changed else []
    parts += [f"{counted(added - changed, 'item')} new"] if added > changed else []
    return f"; {' and '.join(parts)} since, and not compared" if parts else ""


def _rules(evidence: Evidence, subject: str, texts: Sequence[str]) -> Iterator[Rule]:
    for text in texts:
        rule = forms.parse(text)
        check_bound(text, rule)
        if isinstance(rule, forms.NotWorse | forms.Better):
            raise InputError(
                f"the rule '{text}' compares two subjects: give the other one as --baseline and a --margin"
            )
        yield msgspec.structs.replace(judge_one(evidence, rule, subject), text=text)
