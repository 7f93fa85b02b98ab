"""From evidence to findings: the rules judged, the subjects compared, the doubts listed, and an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from measurand.core.claim import AboutMethod
from measurand.core.decision import Decision, Rule, Threat
from measurand.core.findings import Contrast, Findings
from measurand.core.identity import short
from measurand.core.subject import Model, Subject, System
from measurand.core.summary import Summary, View
from measurand.stats.estimate import pooled
from measurand.study.answering import answer
from measurand.study.comparing import contrasts, rankings, seen_from, slice_fields, winner_of
from measurand.study.coverage import coverage
from measurand.study.evidence import Evidence, Scenario, parts
from measurand.study.judging import judge, narrowest_pass
from measurand.study.methods import effects
from measurand.study.threats import threats
from measurand.study.trading import calibrations, tradeoffs
from measurand.study.words import counted, difference

MOST_CAUSES = 6
MOST_REMEDIES = 4


def findings(evidence: Evidence) -> Findings:
    """All that a study came to. Pure: the same evidence gives the same findings."""
    rules = judge(evidence)
    method = isinstance(evidence.claim, AboutMethod)
    found = effects(evidence) if method else contrasts(evidence)
    doubts = threats(evidence, found)
    return Findings(
        name=evidence.study.name,
        subjects=evidence.subjects,
        decision=decide(evidence, rules, found, doubts),
        summaries=tuple(summaries(evidence)),
        contrasts=found,
        rankings=() if method else rankings(evidence, found),
        coverage=coverage(evidence),
        tradeoffs=tradeoffs(evidence),
        calibration=calibrations(evidence),
        simulated=tuple(one.label for one in evidence.candidates if one.simulated),
        made=evidence.made,
    )


def decide(evidence: Evidence, rules: Sequence[Rule], found: Sequence[Contrast], doubts: Sequence[Threat]) -> Decision:
    """The answer to the study's question, with its reasons and what would change it."""
    chosen, said = answer(evidence, rules, found)
    return Decision(
        question=evidence.study.question,
        claim=evidence.claim,
        rules=tuple(rules),
        evidence=tuple(_sources(evidence)),
        threats=tuple(doubts),
        would_change=tuple(dict.fromkeys(_would_change(evidence, rules, found, doubts, chosen))),
        answer=said,
        chosen=chosen,
        causes=tuple(causes(evidence, found, chosen)),
    )


def causes(evidence: Evidence, found: Sequence[Contrast], chosen: str) -> Iterator[str]:
    """Why the chosen subject: each slice of the deciding scenario on which it is shown to be better, largest first.

    What speaks against it is told as well: every scenario or slice on which another subject is shown to be better.
    """
    if not chosen:
        return
    decides = evidence.scenario()
    own = [one for one in found if chosen in (one.a, one.b) and one.comparison is not None]
    whole = [one for one in own if one.view == "pooled" and one.scenario == decides.name]
    slices = [one for one in own if one.view.startswith("slice:") and one.scenario == decides.name]
    for_it = sorted((one for one in slices if winner_of(one) == chosen), key=lambda one: -abs(_gap(one)))
    against = [one for one in own if winner_of(one) not in {"", chosen} and one.view == "pooled"]
    against += [one for one in slices if winner_of(one) not in {"", chosen}]
    for one in [*whole, *for_it[:MOST_CAUSES]]:
        yield told(one, chosen)
    for one in against:
        if one not in whole:
            yield f"Against it: {told(one, winner_of(one))}"


def told(one: Contrast, who: str) -> str:
    """A contrast as a sentence about one of its two: on what, how far from the other, how sure."""
    other = one.b if who == one.a else one.a
    made = seen_from(one, who)
    items = counted(made.difference.n_items, "item")
    where = f"{one.scenario}, {one.view.removeprefix('slice:')} {one.value}" if one.value else one.scenario
    return f"On {where} ({items}), {who} against {other}: {difference(made)}."


def _gap(one: Contrast) -> float:
    value = one.comparison.difference.value if one.comparison else None
    return value or 0.0


def _would_change(
    evidence: Evidence, rules: Sequence[Rule], found: Sequence[Contrast], doubts: Sequence[Threat], chosen: str
) -> Iterator[str]:
    for rule in rules:
        if rule.verdict == "undecided" and rule.needs:
            yield f"{counted(rule.needs, 'further item')} would decide '{rule.text}' for {rule.subject}."
    narrowest = narrowest_pass(rules, chosen)
    if narrowest is not None:
        yield f"A fall of {chosen} below a rule; the narrowest pass is '{narrowest.text}': {narrowest.because}."
    decides = evidence.scenario().name
    for one in found:
        made = one.comparison
        if one.view == "pooled" and one.scenario == decides and made is not None and not winner_of(one):
            yield f"More items on {decides}: {one.a} and {one.b} cannot be told apart on these."
        elif one.view == "pooled" and one.scenario != decides and winner_of(one):
            yield f"Another question: if {one.scenario} were what the subject is for, {winner_of(one)} would lead."
    for doubt in doubts[:MOST_REMEDIES]:
        yield f"{doubt.remedy[0].upper()}{doubt.remedy[1:]} ({doubt.name.replace('_', ' ')})."


def _sources(evidence: Evidence) -> Iterator[str]:
    for scenario, subject, tables in evidence.all_measured():
        yield f"run {tables.run.id}, protocol {short(tables.run.protocol)}: {subject} on {scenario.name}"


def summaries(evidence: Evidence) -> Iterator[Summary]:
    """The summary of every run, under the study's names, with the slices that the study asks for."""
    for scenario in evidence.scenarios:
        for subject in evidence.subjects:
            result = evidence.result(subject, scenario.name)
            if result.summary is not None and result.tables is not None:
                extra = tuple(_extra_views(evidence, scenario, result.summary, subject))
                run = msgspec.structs.replace(result.summary.run, subject=_named(result.summary.run.subject, subject))
                yield msgspec.structs.replace(result.summary, run=run, views=(*result.summary.views, *extra))


def _named(subject: Subject, label: str) -> Subject:
    return msgspec.structs.replace(subject, name=label) if isinstance(subject, Model | System) else subject


def _extra_views(evidence: Evidence, scenario: Scenario, summary: Summary, subject: str) -> Iterator[View]:
    tables = evidence.result(subject, scenario.name).tables
    assert tables is not None  # noqa: S101 - asked only of what was measured
    there = {view.view for view in summary.views}
    for field in slice_fields(evidence, scenario, tables):
        if f"slice:{field}" not in there:
            for label, table in parts(tables, tables.headline, field):
                made = msgspec.structs.replace(
                    pooled(table, summary.protocol.aggregation.level), metric=tables.headline
                )
                yield View(f"slice:{field}", made, label)
