"""A paragraph for a model card: the numbers, the protocols that they hold under, and what they may be tainted by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from measurand.core.benchmark import Card
from measurand.core.errors import InputError
from measurand.core.findings import Findings
from measurand.core.summary import Summary
from measurand.report.plain import safe, table
from measurand.report.wording import bounds, headline, interval, number, protocol_id, who


def model_card(findings: Findings, subject: str, cards: Mapping[str, Card] | None = None) -> str:
    """Markdown about one subject of a study, to be put into its model card.

    `cards` are the cards of the benchmarks by name. Raises InputError for a subject without a run in the study.
    """
    summaries = [summary for summary in findings.summaries if who(summary) == subject]
    if not summaries:
        known = ", ".join(dict.fromkeys(who(summary) for summary in findings.summaries)) or "none"
        raise InputError(f"the study has no run of '{subject}'; its subjects are {known}")
    return "\n".join(_lines(findings, subject, summaries, cards or {})) + "\n"


def _lines(findings: Findings, subject: str, summaries: Sequence[Summary], cards: Mapping[str, Card]) -> Iterator[str]:
    yield "## Evaluation"
    yield ""
    if subject in findings.simulated:
        yield from ("**SIMULATED: these replies were made up for a demonstration.**", "")
    day = f" on {findings.made[:10]}" if findings.made else ""
    yield f"{safe(subject)} was measured with Measurand{day} in the study “{safe(findings.name)}”."
    yield ""
    yield from _numbers(summaries)
    yield ""
    yield (
        "Each number holds for its protocol alone: which items were asked, how, and how answers were scored. "
        "Numbers whose hashes differ were not measured in the same way, and must not be compared."
    )
    yield from ("", "**Contamination.** No test for contamination was made.", "")
    yield from (f"- {safe(_exposure(summary, cards.get(summary.run.benchmark)))}" for summary in summaries)
    known = [
        one for one in findings.decision.threats if one.about in {subject, "", *(s.run.benchmark for s in summaries)}
    ]
    spots = [spot for summary in summaries if (card := cards.get(summary.run.benchmark)) for spot in card.blind_spots]
    if known or spots:
        yield from ("", "**Known limits.**", "")
    yield from (f"- {safe(one.evidence)}" for one in known)
    yield from (f"- {safe(spot)}" for spot in dict.fromkeys(spots))


def _numbers(summaries: Sequence[Summary]) -> Iterator[str]:
    rows = []
    for summary in summaries:
        one = headline(summary)
        if one is not None:
            counts = (f"{one.n_items:,}", f"{one.n_missing:,}", bounds(one))
            numbers = (one.metric, number(one), interval(one) or "none", *counts)
            rows.append((summary.run.benchmark, *numbers, protocol_id(summary)))
    names = ("benchmark", "metric", "value", "interval", "items", "missing", "bounds", "protocol")
    return table(names, rows)


def _exposure(summary: Summary, card: Card | None) -> str:
    """What is known of whether the subject could have been trained on the items. ISO dates sort as text."""
    cutoff = summary.run.facts.cutoff if summary.run.facts else ""
    released = card.released if card else ""
    name = summary.run.benchmark
    if not released:
        return f"{name}: no day of release is stated, so it is not known whether the subject was trained on it."
    trained = f"the subject's training is stated to end {cutoff}" if cutoff else "the subject's cut-off is not stated"
    if cutoff and released[: len(cutoff)] > cutoff:  # a cut-off may be a month or a year
        return f"{name}: released {released}, and {trained}; it can hold the items only by another way."
    return f"{name}: released {released}, and {trained}; the subject may have been trained on it."
