"""A study as one HTML page: the answer, the rules, the evidence, the threats, every run, every protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from measurand.core.benchmark import Card
from measurand.core.findings import Findings
from measurand.report.html import macro, render, with_examples
from measurand.report.sections import Choice, Section, section
from measurand.report.study import evidence
from measurand.report.study.drawn import NEEDS, available, inline
from measurand.report.study.glossary import WORDS
from measurand.report.study.plots import MOST_PLOTS, plots
from measurand.report.study.wording import (
    by_subject,
    chosen_first,
    first_sentence,
    opening,
    plain_name,
    simulated,
    tie_groups,
    unknown,
)
from measurand.report.wording import about, who

MOST_TEXT = 2_700_000
"""Bytes of a page: sections of runs are left out, and counted, before it grows beyond 3 MB."""
MOST_EXAMPLE_TEXT = 600_000


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawn plot with its caption."""

    title: str
    protocol: str
    svg: Markup


@dataclass(frozen=True, slots=True)
class Measured:
    """A protocol that numbers of this page were measured under."""

    hash: str
    benchmark: str
    choices: list[Choice]


def findings_page(findings: Findings, cards: Mapping[str, Card] | None = None) -> str:
    """One self-contained HTML page about a study. `cards` are the cards of the benchmarks by name.

    Plots are drawn where the extra `plots` is installed; without it the tables draw small whiskers, and the page says
    which extra is missing. The page stays under 3 MB: what does not fit is left out, counted, and in the JSON.
    """
    cards = cards or {}
    values = _values(findings, cards)
    sections = _sections(findings, cards)
    values["protocols"] = _protocols(sections)
    bare = render("study/page.html.j2", **values, articles=[], left_out=0)
    room = MOST_TEXT - len(bare.encode())
    articles: list[tuple[str, Markup]] = []
    for number, laid_out in enumerate(sections, 1):
        article = macro("run.html.j2", "run_article")(replace(laid_out, choices=[]), number)
        room -= len(article.encode())
        if room < 0:
            break
        articles.append((laid_out.name, article))
    return render("study/page.html.j2", **values, articles=articles, left_out=len(sections) - len(articles))


def _values(findings: Findings, cards: Mapping[str, Card]) -> dict[str, object]:
    """Everything the template needs but the runs."""
    decision = findings.decision
    lead, rest = first_sentence(opening(findings))
    figures = _figures(findings) if available() else {}
    return {
        "title": f"{decision.question} {lead}",
        "f": findings,
        "d": decision,
        "lead": lead,
        "rest": rest,
        "simulated": simulated(findings),
        "about": about(decision.claim),
        "verdicts": list(by_subject(findings)),
        "unknown": list(unknown(findings)),
        "rules": evidence.rules(findings),
        "undecided": any(rule.verdict == "undecided" for rule in decision.rules),
        "estimates": evidence.estimates(findings, cards),
        "contrasts": evidence.contrasts(findings),
        "rankings": [(one, tie_groups(one)) for one in findings.rankings],
        "heat_maps": evidence.heat_maps(findings),
        "matrices": evidence.matrices(findings),
        "tradeoffs": evidence.tradeoffs(findings),
        "curves": evidence.curves(findings),
        "figures": figures,
        "drawn": bool(figures),
        "needs_plots": NEEDS,
        "words": WORDS,
        "plain_name": plain_name,
    }


def _figures(findings: Findings) -> dict[str, list[Figure]]:
    """The plots by kind; slices are shown as tables that are heat maps themselves."""
    drawn: dict[str, list[Figure]] = {}
    for plot in plots(findings):
        ours = drawn.setdefault(plot.kind, [])
        if plot.kind != "slices" and len(ours) < MOST_PLOTS:
            ours.append(Figure(plot.title, plot.protocol, inline(plot)))
    return drawn


def _sections(findings: Findings, cards: Mapping[str, Card]) -> list[Section]:
    """The runs, those of the chosen subject first."""
    order = chosen_first(findings, dict.fromkeys(who(summary) for summary in findings.summaries))
    summaries = sorted(findings.summaries, key=lambda summary: order.index(who(summary)))
    sections = [section(summary, cards.get(summary.run.benchmark), 3) for summary in summaries]
    return with_examples(sections, summaries, MOST_EXAMPLE_TEXT) if sections else []


def _protocols(sections: Sequence[Section]) -> list[Measured]:
    """Each protocol once, in the order of the runs."""
    found: dict[str, Measured] = {}
    for one in sections:
        found.setdefault(one.protocol, Measured(one.protocol, one.benchmark, one.choices))
    return list(found.values())
