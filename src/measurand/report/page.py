"""Runs as one HTML page that works from a disk, and one run as a fragment for notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from measurand.core.benchmark import Card
from measurand.core.errors import InputError
from measurand.core.summary import Summary
from measurand.report.drawing import scale_of
from measurand.report.html import render, with_examples
from measurand.report.sections import Lines, drawn_on, interval_name, line, section
from measurand.report.wording import clipped, headline, who

MOST_EXAMPLE_TEXT = 1_500_000
"""Bytes of examples on a page, as escaped; more are left out and counted, so that the page stays under 3 MB."""


def page(summaries: Sequence[Summary], cards: Mapping[str, Card] | None = None) -> str:
    """One self-contained HTML page about one or several runs.

    `cards` are the cards of the benchmarks by name. Raises InputError for no summaries.
    """
    if not summaries:
        raise InputError("a page needs at least one run; name one that `measurand ls` lists")
    rank = 1 if len(summaries) == 1 else 2
    sections = [section(summary, (cards or {}).get(summary.run.benchmark), rank) for summary in summaries]
    return render(
        "page.html.j2",
        title=sections[0].name if rank == 1 else _title(summaries),
        sections=with_examples(sections, summaries, MOST_EXAMPLE_TEXT),
        overview=overview(summaries),
    )


def fragment(summary: Summary) -> str:
    """A small HTML table for a notebook: the claim, the numbers, the tally."""
    return render("fragment.html.j2", s=section(summary, None, 1))


def overview(summaries: Sequence[Summary]) -> Lines:
    """The headline of every run, in the order given."""
    estimates = [estimate for estimate in map(headline, summaries) if estimate is not None]
    scales = {unit: scale_of([e for e in estimates if e.unit == unit]) for unit in {e.unit for e in estimates}}
    rows = []
    for summary in summaries:
        if summary.views:
            first = summary.views[0]
            row = line(summary, first, scales[first.estimate.unit])
            name = clipped(f"{who(summary)} on {summary.run.benchmark}")
            rows.append(replace(row, name=name, detail=first.estimate.metric))
    caption = (
        "All runs, in the order given. No order of merit is meant: "
        "only a comparison with its own interval says which is better."
    )
    missing = any(estimate.n_missing for estimate in estimates)
    return Lines("run", caption, interval_name(estimates), drawn_on(list(scales.values())), missing, rows)


def _title(summaries: Sequence[Summary]) -> str:
    benchmarks = dict.fromkeys(summary.run.benchmark for summary in summaries)
    return f"{len(summaries)} runs of {', '.join(benchmarks)}"
