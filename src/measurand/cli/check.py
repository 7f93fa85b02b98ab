"""`check`: render three prompts of a benchmark, and score the gold, an empty and a wrong answer."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from measurand.cli.options import data_overrides
from measurand.core.benchmark import Metric
from measurand.core.identity import short
from measurand.core.request import Complete, Embed, Generate, Loglikelihood, Request, Rolling
from measurand.report.wording import visible
from measurand.run.check import Checked
from measurand.stats.power import detectable_paired
from measurand.wiring import check_benchmark, run_sync

GOOD, FAILED = 0, 1


def run(given: argparse.Namespace) -> int:
    """Print what was found; exit with 1 where a known answer is scored wrongly."""
    prepared, found = run_sync(lambda: check_benchmark(given.what, data_overrides(given.data)))
    console = Console(highlight=False)
    for item, requests in zip(found.items, found.requests, strict=True):
        for request in requests:
            console.print(Panel(Text(visible(_as_text(request))), title=f"item {item.id}", title_align="left"))
    metrics = prepared.benchmark.aggregation.metrics
    console.print(_answers(found, metrics))
    n = len(prepared.items)
    detectable = detectable_paired(n)
    console.print(
        f"{n:,} items, about {prepared.input_tokens:,} tokens in and at most {prepared.output_tokens:,} out for one "
        f"answer each; protocol {short(prepared.protocol.id)}"
    )
    if detectable is not None:
        console.print(f"two runs must differ by {detectable * 100:.1f} points for the difference to be found")
    unchecked = metrics.keys() - {answers.metric for answers in found.answers}
    if unchecked:
        console.print(f"not checked, as a judge or more items are needed for it: {', '.join(sorted(unchecked))}")
    shares = [answers for answers in found.answers if not metrics[answers.metric].unit]  # no perplexities, no errors
    good = all(answers.good for answers in shares)
    if shares:
        console.print("the gold earns everything, the others nothing" if good else "a known answer is scored wrongly")
    return GOOD if good else FAILED


def _answers(found: Checked, metrics: Mapping[str, Metric]) -> Table:
    """The known answers' scores. Nothing said has no perplexity, and only shares have answers that must score 0."""
    table = Table("metric", "gold answer", "empty answer", "wrong answer", box=None, header_style="bold")
    for answers in found.answers:
        without = "not applicable" if metrics[answers.metric].unit else "not measured"
        shown = [without if value is None else f"{value:.2f}" for value in (answers.gold, answers.empty, answers.wrong)]
        table.add_row(answers.metric, *shown)
    return table


def _as_text(request: Request) -> str:
    match request:
        case Generate():
            return "\n".join(f"[{message.role}] {message.text}" for message in request.messages)
        case Complete():
            return request.prompt
        case Loglikelihood():
            return f"{request.context}\n→ log-probability of {', '.join(map(repr, request.continuations))}"
        case Rolling():
            return f"{request.text}\n→ log-probability of the whole, in windows of {request.window:,} tokens"
        case Embed():
            return "\n".join(request.texts)
