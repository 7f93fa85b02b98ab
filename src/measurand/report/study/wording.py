"""Findings in words: the same on the page, in the terminal and in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from measurand.core.benchmark import mean_over
from measurand.core.decision import Rule
from measurand.core.estimate import Comparison, Estimate
from measurand.core.findings import Cell, Contrast, Findings, Ranking
from measurand.report.wording import NBSP, interval, number

MINUS = "\u2212"
SIGNS = {"pass": "✓", "fail": "✗", "undecided": "?"}
EMPTY = {
    "": "no number",
    "not_run": "not run",
    "not_applicable": "not applicable",
    "failed": "failed",
    "too_few": "too few",
    "not_licensed": "not licensed",
    "no_loglikelihood": "no log-probabilities",
    "needs_judge": "needs a judge",
    "refused": "cannot be asked so",
}


def opening(findings: Findings) -> str:
    """The sentence that answers the question; it says so where there is none."""
    return findings.decision.answer or "There is no answer yet: the rules do not single out a subject."


def first_sentence(text: str) -> tuple[str, str]:
    """A text parted after its first sentence, so that a page can open with that."""
    first, stop, rest = text.partition(". ")
    return first + stop.strip(), rest


def simulated(findings: Findings) -> str:
    """The warning that replies are made up; empty where none are."""
    if not findings.simulated:
        return ""
    names = " and ".join(findings.simulated)
    return f"The replies of {names} were made up for a demonstration. Nothing here is about a real product."


def verdicts(rules: Sequence[Rule]) -> str:
    """How many rules came out how: `3 pass, 1 fails, 1 is undecided`."""
    count: Counter[str] = Counter(rule.verdict for rule in rules)
    words = (
        ("pass", "passes", "pass"),
        ("fail", "fails", "fail"),
        ("undecided", "is undecided", "are undecided"),
    )
    said = [f"{count[key]} {one if count[key] == 1 else many}" for key, one, many in words if count[key]]
    return ", ".join(said) or "no rules"


def by_subject(findings: Findings) -> Iterator[tuple[str, str]]:
    """Each subject that rules are about, the chosen one first, and how its rules came out."""
    rules = findings.decision.rules
    for name in chosen_first(findings, dict.fromkeys(rule.subject for rule in rules)):
        yield name or "the study", verdicts([rule for rule in rules if rule.subject == name])


def chosen_first(findings: Findings, names: Sequence[str] | dict[str, None]) -> list[str]:
    """Names with the chosen one before the others, which keep their order."""
    return sorted(names, key=lambda name: name != findings.decision.chosen)


def unknown(findings: Findings) -> Iterator[tuple[str, str, str]]:
    """What is not known: the anchor of the page that has more on it, how many, and of what."""
    decision = findings.decision
    about = [rule for rule in decision.rules if rule.subject == decision.chosen] if decision.chosen else decision.rules
    undecided = dict.fromkeys(rule.text for rule in about if rule.verdict == "undecided")
    if undecided:
        whose = f" for {decision.chosen}" if decision.chosen else ""
        told = _count(len(undecided), "rule is undecided", "rules are undecided")
        yield "rules", told, f"{whose}: {'; '.join(undecided)}."
    empty = sum(cell.estimate is None for cell in findings.coverage)
    if empty:
        told = f"{empty:,} of {len(findings.coverage):,} cells"
        yield "coverage", told, " of the coverage matrix are empty, each with its reason."
    refused = sum(bool(contrast.refused) for contrast in findings.contrasts)
    if refused:
        yield (
            "differences",
            _count(refused, "comparison is refused", "comparisons are refused"),
            ": measured differently.",
        )
    if decision.threats:
        told = _count(len(decision.threats), "threat", "threats")
        yield "threats", told, " to what is said here: reasons why a number may not mean what it seems to."


def _count(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def needs(rule: Rule) -> str:
    """What would decide an undecided rule; empty for a decided one."""
    if rule.verdict != "undecided":
        return ""
    if rule.needs is None:
        return "more items cannot decide it"
    return f"{rule.needs:,} more {'item' if rule.needs == 1 else 'items'}"


def difference(estimate: Estimate) -> str:
    """A difference with its sign: shares in percentage points."""
    if estimate.value is None:
        return "no number"
    sign = "+" if estimate.value > 0 else MINUS if estimate.value < 0 else ""
    return f"{sign}{_size(abs(estimate.value), estimate.unit)}{NBSP}{_difference_unit(estimate.unit)}".rstrip(NBSP)


def difference_interval(estimate: Estimate) -> str:
    """The interval of a difference, with signs; empty without one."""
    if estimate.low is None or estimate.high is None:
        return ""
    low, high = (_signed(end, estimate.unit) for end in (estimate.low, estimate.high))
    return f"{low}{NBSP}to{NBSP}{high}"


def size(value: float | None, unit: str) -> str:
    """The size of a difference without a sign: a margin, a smallest detectable difference; empty for none."""
    return "" if value is None else f"{_size(value, unit)}{NBSP}{_difference_unit(unit)}".rstrip(NBSP)


def probability(comparison: Comparison) -> str:
    """The p of a comparison, adjusted for the number of comparisons where that was done; empty without one."""
    p = comparison.p if comparison.adjusted_p is None else comparison.adjusted_p
    if p is None:
        return ""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"  # noqa: PLR2004 -- as is the custom


def finding(contrast: Contrast) -> str:
    """What a contrast allows to be said of its first subject: higher, lower, or nothing."""
    comparison = contrast.comparison
    if comparison is None:
        return "must not be compared" if contrast.refused else "not compared"
    low, high, p = comparison.difference.low, comparison.difference.high, comparison.adjusted_p
    apart = low is not None and high is not None and (low > 0 or high < 0)
    if not apart:
        return "cannot be told apart"
    if p is not None and p > 1 - comparison.difference.level:
        return "cannot be told apart, as so many were compared"
    return "higher" if low is not None and low > 0 else "lower"


def contrasted(contrast: Contrast) -> str:
    """A contrast in one line: the pair, the difference with its interval and p, and what may be said."""
    where = "" if contrast.view == "pooled" else f", {over(contrast.view, contrast.value)}"
    said = f"{pair(contrast)}{where}: "
    if contrast.comparison is None:
        return f"{said}{finding(contrast)}{': ' + contrast.refused if contrast.refused else ''}"
    found = contrast.comparison.difference
    inner = difference_interval(found)
    p = probability(contrast.comparison)
    error = f" [{inner}]" if inner else ""
    chance = f", p {p}" if p.startswith("<") else f", p = {p}" if p else ""
    return f"{said}{difference(found)}{error}{chance}: {finding(contrast)}"


def pair(contrast: Contrast) -> str:
    """The two subjects, in the order of the subtraction."""
    return f"{contrast.a} {MINUS} {contrast.b}"


def over(view: str, value: str) -> str:
    """What a number is over: all items, a mean over the values of a slice, or one value of it."""
    kind, _, field = view.partition(":")
    if kind == "macro":
        return mean_over(field)
    return f"{field}: {value}" if kind == "slice" else "all items"


def plain_name(name: str) -> str:
    """The kind of a threat or a metric as words: `quiz_only` is `Quiz only`."""
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]


def tie_groups(ranking: Ranking) -> list[str]:
    """The groups of a ranking, best first: the members of a group cannot be told apart."""
    return [" = ".join(group) for group in ranking.groups]


def cell_text(cell: Cell) -> str:
    """What stands in a cell of the coverage matrix: the number, or why there is none."""
    return number(cell.estimate) if cell.estimate is not None else EMPTY[cell.empty]


def share(value: float) -> str:
    """The part of the plan that was measured."""
    return f"{100 * value:.0f}{NBSP}%"


def with_interval(estimate: Estimate | None) -> str:
    """A number with its interval in brackets."""
    if estimate is None:
        return "not measured"
    inner = interval(estimate)
    return f"{number(estimate)} [{inner}]" if inner else number(estimate)


def _signed(value: float, unit: str) -> str:
    return f"{'+' if value > 0 else MINUS if value < 0 else ''}{_size(abs(value), unit)}"


def _size(value: float, unit: str) -> str:
    return f"{value:,.3f}" if unit else f"{100 * value:.1f}"


def _difference_unit(unit: str) -> str:
    return {"": "points", "score": ""}.get(unit, unit)
