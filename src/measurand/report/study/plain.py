"""Findings as Markdown, for a pull request, a wiki or a mail. The JSON form is the record itself, canonically."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from measurand.core.findings import Findings
from measurand.report.plain import safe, table
from measurand.report.study.plots import by_scenario, contrasts_by_scenario
from measurand.report.study.wording import (
    SIGNS,
    by_subject,
    cell_text,
    chosen_first,
    contrasted,
    needs,
    opening,
    plain_name,
    share,
    simulated,
    tie_groups,
    unknown,
    with_interval,
)
from measurand.report.wording import about, bounds, headline, interval, number, protocol_id, who


def findings_markdown(findings: Findings) -> str:
    """The page in short: answer, rules, numbers, tie groups, differences, coverage, threats. No markup from outside."""
    return "\n".join(_lines(findings)) + "\n"


def _lines(findings: Findings) -> Iterator[str]:
    decision = findings.decision
    yield f"# {safe(decision.question)}"
    yield ""
    yield f"**{safe(opening(findings))}**"
    if findings.simulated:
        yield from ("", f"> **SIMULATED.** {safe(simulated(findings))}")
    yield from _list("", decision.causes)
    yield from ("", safe(about(decision.claim)))
    yield from _list("How sure", [f"{name}: {said}" for name, said in by_subject(findings)])
    yield from _list("What is not known", [f"{count}{of}" for _, count, of in unknown(findings)])
    yield from _rules(findings)
    yield from _numbers(findings)
    ranks = [
        f"{one.scenario}, {one.metric}: "
        + (
            "; ".join(f"{place}. {group}" for place, group in enumerate(tie_groups(one), 1))
            or f"no rank: {one.refused}"
        )
        for one in findings.rankings
    ]
    yield from _list("Who can be told apart", ranks)
    for (scenario, metric), contrasts in contrasts_by_scenario(findings).items():
        whole = [contrasted(one) for one in contrasts if not one.view.startswith("slice:")]
        more = (
            [f"{len(contrasts) - len(whole):,} more, of slices, are on the page"] if len(whole) < len(contrasts) else []
        )
        yield from _list(f"Differences in {metric} on {scenario}", [*whole, *more])
    yield from _coverage(findings)
    threats = [
        f"{plain_name(one.name)}{f' ({one.about})' if one.about else ''}: {one.evidence} To remove it: {one.remedy}"
        for one in decision.threats
    ]
    yield from _list("Threats", threats)
    yield from _list("What would change the answer", decision.would_change)


def _list(title: str, items: Sequence[str]) -> Iterator[str]:
    """A heading and a list; nothing where there is nothing."""
    if not items:
        return
    if title:
        yield from ("", f"## {safe(title)}")
    yield ""
    yield from (f"- {safe(item)}" for item in items)


def _rules(findings: Findings) -> Iterator[str]:
    rules = findings.decision.rules
    if not rules:
        return
    order = chosen_first(findings, dict.fromkeys(rule.subject for rule in rules))
    yield from ("", "## Rules", "")
    texts = dict.fromkeys(rule.text for rule in rules)
    rows = [
        (text, rule.subject, f"{SIGNS[rule.verdict]} {rule.verdict}", rule.because, needs(rule))
        for text in texts
        for rule in sorted((one for one in rules if one.text == text), key=lambda one: order.index(one.subject))
    ]
    yield from table(("rule", "subject", "verdict", "because", "to decide it"), rows)


def _numbers(findings: Findings) -> Iterator[str]:
    rows = []
    for (scenario, metric), summaries in by_scenario(findings).items():
        for summary in summaries:
            one = headline(summary)
            if one is not None:
                count, missing = f"{one.n_items:,}", f"{one.n_missing:,}"
                numbers = (number(one), interval(one) or "none", count, missing, bounds(one))
                rows.append((scenario, who(summary), metric, *numbers, protocol_id(summary)))
    if rows:
        yield from ("", "## Numbers", "")
        names = ("scenario", "subject", "metric", "value", "interval", "items", "missing", "bounds", "protocol")
        yield from table(names, rows)


def _coverage(findings: Findings) -> Iterator[str]:
    if not findings.coverage:
        return
    yield from ("", "## Coverage", "")
    rows = [
        (
            cell.subject,
            cell.scenario,
            cell.metric,
            with_interval(cell.estimate)
            if cell.estimate
            else f"{cell_text(cell)}{': ' + cell.why if cell.why else ''}",
            share(cell.share) if cell.estimate else "",
        )
        for cell in findings.coverage
    ]
    yield from table(("subject", "scenario", "metric", "number, or why there is none", "measured"), rows)
