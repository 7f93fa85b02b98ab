"""Numbers, claims and foreign text in words: the same in the terminal, on the page and in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from measurand.core.benchmark import mean_over
from measurand.core.claim import AboutMethod, AboutModel, AboutSystem, Claim
from measurand.core.estimate import Estimate, Tally
from measurand.core.identity import short
from measurand.core.outcome import OUTCOMES
from measurand.core.subject import subject_name
from measurand.core.summary import Summary, View

FEW = 30
"""A slice with fewer items than this is marked as too small to say anything."""
LONGEST_NAME = 80
NBSP = "\u00a0"
_LARGE = 1e5

# Control characters, direction overrides, invisible marks and tags, line separators, and halves of surrogate
# pairs. Joiners (U+200C, U+200D) and variation selectors stay: scripts and emoji need them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_PICTURES = 0x2400


def visible(text: str) -> str:
    """Text from outside with nothing hidden in it: what cannot be seen is shown by a symbol or its number."""
    return _UNSEEN.sub(_shown, text)


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:  # noqa: PLR2004 -- the C0 controls have pictures of their own
        return chr(_PICTURES + code)
    return "\u2421" if code == 0x7F else f"\u27e8U+{code:04X}\u27e9"  # noqa: PLR2004 -- DEL


def number(estimate: Estimate) -> str:
    """The number with its unit: a share as a percentage."""
    if estimate.value is None:
        return "no number"
    if not estimate.unit:
        return _figure(estimate, estimate.value) + NBSP + "%"
    unit = "" if estimate.unit == "score" else NBSP + estimate.unit
    return _figure(estimate, estimate.value) + unit


def interval(estimate: Estimate) -> str:
    """The interval in the unit of the number: `47.4 to 58.7`; empty without one."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"{_figure(estimate, estimate.low)}{NBSP}to{NBSP}{_figure(estimate, estimate.high)}"


def bounds(estimate: Estimate) -> str:
    """Where the number could lie, whatever the missing trials were; empty where none is missing."""
    if not estimate.n_missing:
        return ""
    if estimate.bounds is None:
        return "anywhere"
    low, high = estimate.bounds
    return f"{_figure(estimate, low)}{NBSP}to{NBSP}{_figure(estimate, high)}"


def _figure(estimate: Estimate, value: float) -> str:
    if not estimate.unit:
        return f"{100 * value:.1f}"
    return f"{value:.3g}" if abs(value) >= _LARGE else f"{value:,.3f}"


def level(estimate: Estimate) -> str:
    """The confidence level: `95 %`."""
    return f"{100 * estimate.level:g}{NBSP}%"


def headline(summary: Summary) -> Estimate | None:
    """The first number; of a breakdown the share that fails of all parts together."""
    if summary.breakdown:
        return summary.breakdown[0].estimate
    return summary.views[0].estimate if summary.views else None


def who(summary: Summary) -> str:
    """The subject's name."""
    return subject_name(summary.run.subject)


def protocol_id(summary: Summary) -> str:
    """The short hash that stands beside every number."""
    return short(summary.run.protocol)


def claim(summary: Summary) -> str:
    """The sentence that a report opens with: the claim, its number, its error, its protocol and its reach."""
    estimate, name, benchmark = headline(summary), who(summary), summary.run.benchmark
    under = f"under protocol {protocol_id(summary)}"
    planned = summary.run.n_items
    if estimate is None or estimate.value is None:
        why = f" ({estimate.method.removeprefix('none: ')})" if estimate else ""
        return f"Nothing can be said yet of {name} on {benchmark} {under}{why}: 0 of {planned:,} items are measured."
    if summary.breakdown:
        return _worst_part(summary)
    error = f" [{interval(estimate)}]" if estimate.low is not None else " (no interval)"
    sample = ", a seeded sample" if summary.protocol.task.subset else ""
    reach = f"measured {under} on {estimate.n_items:,} of {planned:,} items{sample}"
    if _counts_correct(summary, estimate):
        said = f"{name} answers {number(estimate)}{error} of the items of {benchmark} correctly"
    else:
        metric = "" if estimate.unit not in {"", "score"} else f" {_words(estimate.metric)}"  # the unit says it
        said = f"{name} reaches {number(estimate)}{error}{metric} on {benchmark}"
    return f"{said}, {reach}."


def _worst_part(summary: Summary) -> str:
    """What a breakdown comes to: the share that fails, and the part that fails most."""
    together, *parts = summary.breakdown
    estimate = together.estimate
    worst = f", most often {parts[0].name}: {parts[0].failed:,g} of {parts[0].of:,g}" if together.failed else ""
    share = f"{number(estimate)} [{interval(estimate)}]"
    return (
        f"{who(summary)} fails {share} of what {summary.run.benchmark} checks{worst}, measured under "
        f"protocol {protocol_id(summary)} on {estimate.n_items:,} of {summary.run.n_items:,} items."
    )


def _counts_correct(summary: Summary, estimate: Estimate) -> bool:
    rule = summary.protocol.aggregation.metrics.get(estimate.metric, "")
    return rule.partition("@")[0] in {"accuracy", "pass_at_1"}


def caveat(summary: Summary) -> str:
    """The sentence after the claim: what is missing, and where the number could lie; empty where nothing is."""
    estimate = headline(summary)
    if estimate is None or not estimate.n_missing:
        return ""
    trials = "trial is" if estimate.n_missing == 1 else "trials are"
    where = bounds(estimate)
    if where == "anywhere":
        return f"{estimate.n_missing:,} {trials} missing; what they would change is unknown."
    unit = NBSP + "%" if not estimate.unit else ""
    return f"{estimate.n_missing:,} {trials} missing; whatever they were, the number lies in {where}{unit}."


def about(said: Claim) -> str:
    """What kind of claim it is."""
    match said:
        case AboutModel():
            return "A claim about a model: the asking is fixed and the weights vary."
        case AboutSystem():
            return "A claim about a system: the task and its users are fixed; anything in the system may vary."
        case AboutMethod(varies=varies, baseline=baseline, seeds=seeds, held_equal=held):
            runs = "one seed" if seeds == 1 else f"{seeds} seeds"
            equal = f" Held equal, as declared: {', '.join(held)}." if held else ""
            return f"A claim about a method: everything is fixed but {varies}, against {baseline}, with {runs}.{equal}"


def view_name(view: View) -> str:
    """What a view is over: `all items`, `unweighted mean over subject`, or the slice's value."""
    kind, _, field = view.view.partition(":")
    if kind == "macro":
        return mean_over(field)
    return clipped(view.value) if kind == "slice" else "all items"


def clipped(name: str) -> str:
    """A name short enough for a table."""
    return name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "…"


def reader_of(summary: Summary, metric: str) -> str:
    """The reader behind a metric, empty where the protocol names none."""
    readers = [marking.reader for marking in summary.protocol.scoring.markings if marking.metric == metric]
    return readers[0] if readers else ""


def tally_parts(tally: Tally) -> Iterator[tuple[str, int]]:
    """The outcomes and their counts, in the order of the union."""
    for name in OUTCOMES:
        yield _words(name), int(getattr(tally, name))


def _words(name: str) -> str:
    return name.replace("_", " ")


def slices(summary: Summary) -> dict[str, dict[str, list[View]]]:
    """The views of each slice by field and value; the views of one value are in the order of the metrics.

    None for a breakdown, which tells of slices itself.
    """
    found: dict[str, dict[str, list[View]]] = {}
    for view in () if summary.breakdown else summary.views:
        kind, _, field = view.view.partition(":")
        if kind == "slice":
            found.setdefault(field, {}).setdefault(view.value, []).append(view)
    return found


def wholes(summary: Summary) -> list[View]:
    """The views over all items: pooled and macro."""
    return [view for view in summary.views if not view.view.startswith("slice:")]
