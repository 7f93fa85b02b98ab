"""Findings for the terminal: the answer first, then rules, tie groups, differences and threats. 80 columns do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from measurand.core.findings import Findings
from measurand.report.rendered import as_plain, as_text
from measurand.report.study.plots import by_scenario, contrasts_by_scenario
from measurand.report.study.wording import (
    SIGNS,
    by_subject,
    chosen_first,
    contrasted,
    needs,
    opening,
    plain_name,
    simulated,
    tie_groups,
    unknown,
)
from measurand.report.wording import bounds, headline, interval, number, protocol_id, who

PLAIN_WIDTH = 80
MOST_CONTRASTS = 20
"""Differences shown; the page and the JSON have all."""
_COLOURS = {"pass": "green", "fail": "red", "undecided": "yellow"}


def terminal(findings: Findings) -> RenderableType:
    """Something that `rich` prints. Text from outside is never read as markup and hides nothing."""
    return Group(*_blocks(findings))


def plain(findings: Findings, width: int = PLAIN_WIDTH) -> str:
    """The same as plain text, for files, pipes and tests."""
    return as_plain(terminal(findings), width)


def _blocks(findings: Findings) -> Iterator[RenderableType]:
    decision = findings.decision
    yield as_text(decision.question, "dim")
    yield as_text(opening(findings), "bold")
    if findings.simulated:
        yield as_text(f"SIMULATED. {simulated(findings)}", "red")
    yield from (_item(cause) for cause in decision.causes)
    yield from _part("How sure", [_item(f"{name}: {said}") for name, said in by_subject(findings)])
    yield from _part("Not known", [_item(f"{count}{of}") for _, count, of in unknown(findings)])
    yield from _part("Rules", list(_rules(findings)))
    yield from _part("Numbers", list(_numbers(findings)))
    yield from _part("Who can be told apart", list(_rankings(findings)))
    yield from _part("Differences", list(_contrasts(findings)))
    yield from _part("Threats", list(_threats(findings)))
    yield from _part("What would change the answer", [_item(change) for change in decision.would_change])


def _part(title: str, blocks: Sequence[RenderableType]) -> Iterator[RenderableType]:
    """A heading and what stands under it; nothing where there is nothing."""
    if blocks:
        yield Text()
        yield Text(title, "bold underline")
        yield from blocks


def _rules(findings: Findings) -> Iterator[RenderableType]:
    by_text: dict[str, list[RenderableType]] = {}
    for subject in chosen_first(findings, dict.fromkeys(rule.subject for rule in findings.decision.rules)):
        for rule in findings.decision.rules:
            if rule.subject != subject:
                continue
            line = Text(f"{SIGNS[rule.verdict]} {rule.verdict:<9}  ", _COLOURS[rule.verdict])
            line.append_text(as_text(f"{subject + ': ' if subject else ''}{rule.because}", ""))
            if rule.verdict == "undecided":
                line.append(f" ({needs(rule)})", "dim")
            by_text.setdefault(rule.text, []).append(Padding(line, (0, 0, 0, 2)))
    for text, lines in by_text.items():
        yield as_text(text)
        yield from lines


def _numbers(findings: Findings) -> Iterator[RenderableType]:
    for (scenario, metric), summaries in by_scenario(findings).items():
        table = _table(scenario, metric, "interval", "items", "protocol")
        table.columns[1].justify = table.columns[2].justify = table.columns[3].justify = "right"
        for summary in summaries:
            one = headline(summary)
            if one is None:
                continue
            could = f", could be {bounds(one)}" if one.n_missing else ""
            cells = (number(one), interval(one) or "none", f"{one.n_items:,}", protocol_id(summary))
            table.add_row(as_text(who(summary)), *cells)
            if could:
                table.add_row(Text(f"  {one.n_missing:,} missing{could}", "dim"))
        yield table


def _rankings(findings: Findings) -> Iterator[RenderableType]:
    for ranking in findings.rankings:
        groups = "; ".join(f"{place}. {group}" for place, group in enumerate(tie_groups(ranking), 1))
        yield _item(f"{ranking.scenario}, {ranking.metric}: {groups or 'no rank: ' + ranking.refused}")


def _contrasts(findings: Findings) -> Iterator[RenderableType]:
    shown = 0
    for (scenario, metric), contrasts in contrasts_by_scenario(findings).items():
        whole = [one for one in contrasts if not one.view.startswith("slice:")][: MOST_CONTRASTS - shown]
        shown += len(whole)
        if not whole:
            continue
        yield as_text(f"{scenario}, {metric}")
        yield from (Padding(_item(contrasted(one)), (0, 0, 0, 2)) for one in whole)
    if shown < len(findings.contrasts):
        yield Text(f"{len(findings.contrasts) - shown:,} more, most of them of slices, are on the page.", "dim")


def _threats(findings: Findings) -> Iterator[RenderableType]:
    for place, threat in enumerate(findings.decision.threats, 1):
        about = f" ({threat.about})" if threat.about else ""
        yield as_text(f"{place}. {plain_name(threat.name)}{about}: {threat.evidence}")
        yield Padding(as_text(f"→ {threat.remedy}", "dim"), (0, 0, 0, 3))


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in names:
        table.add_column(as_text(name), overflow="fold")
    return table


def _item(text: str) -> RenderableType:
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_row("•", as_text(text))
    return grid
