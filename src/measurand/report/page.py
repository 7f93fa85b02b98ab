"""The report as one HTML page that works from a disk, and as a fragment for notebooks.

Whatever a model, a data set or an endpoint wrote is text here: Jinja2 escapes every value, `visible` shows what hides
(control characters, direction overrides), and the page's own policy allows one style sheet by its hash, no script
and no request.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources

import jinja2
from markupsafe import Markup

from measurand.core.benchmark import Card
from measurand.core.errors import InputError
from measurand.core.summary import Summary
from measurand.report.drawing import scale_of
from measurand.report.sections import Lines, Section, drawn_on, interval_name, line, section
from measurand.report.wording import clipped, headline, visible, who

MOST_EXAMPLE_TEXT = 1_500_000
"""Characters of examples on a page, as escaped; more are left out and counted, so that the page stays under 3 MB."""


def page(summaries: Sequence[Summary], cards: Mapping[str, Card] | None = None) -> str:
    """One self-contained HTML page about one or several runs.

    `cards` are the cards of the benchmarks by name. Raises InputError for no summaries.
    """
    if not summaries:
        raise InputError("a page needs at least one run; name one that `measurand runs` lists")
    rank = 1 if len(summaries) == 1 else 2
    sections = [section(summary, (cards or {}).get(summary.run.benchmark), rank) for summary in summaries]
    style = resources.files("measurand.report").joinpath("page.css").read_text("utf-8")
    return _template("page.html.j2").render(
        title=sections[0].name if rank == 1 else _title(summaries),
        sections=_with_examples(sections, summaries),
        overview=_overview(summaries),
        style=Markup(style),  # noqa: S704 -- the project's own file
        style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
    )


def fragment(summary: Summary) -> str:
    """A small HTML table for a notebook: the claim, the numbers, the tally."""
    return _template("fragment.html.j2").render(s=section(summary, None, 1))


def _title(summaries: Sequence[Summary]) -> str:
    benchmarks = dict.fromkeys(summary.run.benchmark for summary in summaries)
    return f"{len(summaries)} runs of {', '.join(benchmarks)}"


def _overview(summaries: Sequence[Summary]) -> Lines:
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
    missing = any(estimate.n_missing for estimate in estimates)
    return Lines("run", "", interval_name(estimates), drawn_on(list(scales.values())), missing, rows)


def _with_examples(sections: Sequence[Section], summaries: Sequence[Summary]) -> list[Section]:
    """Give each section its examples, sharing what the page has room for."""
    room = MOST_EXAMPLE_TEXT // len(sections)
    filled = []
    for laid_out, summary in zip(sections, summaries, strict=True):
        used, kept = 0, []
        for example in summary.examples:
            texts = (example.asked, example.answer, example.reading, example.gold)
            used += sum(len(str(Markup.escape(visible(text))).encode()) for text in texts)
            if used > room:
                break
            kept.append(example)
        filled.append(replace(laid_out, examples=kept, left_out=len(summary.examples) - len(kept)))
    return filled


@functools.cache
def _template(name: str) -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("measurand", "report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def _finalize(value: object) -> object:
    """Every value on its way into the page: text from outside is made visible before it is escaped."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
