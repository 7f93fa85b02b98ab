"""Each rule of a study, for each subject: pass, fail or undecided, and how many further items would decide it.

A rule passes where its whole interval does, and fails where none of it does; otherwise nobody can say yet. Missing
trials count against a pass and for a fail: a rule passes only if it would also do so had all of them gone worst. All
rules must pass, so none of them is adjusted for the others (the intersection-union test: Berger 1982); the slices of
one rule are, where one of them is to show a fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import msgspec

from measurand.core.decision import Rule
from measurand.core.errors import InputError
from measurand.core.estimate import Estimate
from measurand.run.tables import Tables
from measurand.stats.compare import compare, compare_unpaired
from measurand.stats.deciding import Verdict, further_items, further_items_of_rate
from measurand.stats.missing import ByItem
from measurand.stats.quantiles import items_for_upper_end
from measurand.study import rules as forms
from measurand.study.aligning import align
from measurand.study.comparability import comparability
from measurand.study.evidence import HEADLINE_NAMES, Evidence, metric_named, parts
from measurand.study.guarding import EXACT, LEVEL, guarded, guarded_always, naive_rate
from measurand.study.measures import cost, latency
from measurand.study.words import amount, counted, difference, gap, listed, number, span

Guard = Callable[[ByItem, float], Estimate]
"""How a number gets the interval that a verdict rests on."""
MOST_ITEMS = 1_000_000
"""A rule that needs more items than this is not decided by more items."""


def judge(evidence: Evidence) -> tuple[Rule, ...]:
    """Every rule of the study for every subject, in the order of the study."""
    read = [(text, forms.parse(text)) for text in evidence.study.rules]
    return tuple(
        msgspec.structs.replace(judge_one(evidence, rule, subject), text=text, subject=subject)
        for text, rule in read
        for subject in evidence.subjects
        if not _of_itself(evidence, rule, subject)
    )


def judge_one(evidence: Evidence, rule: forms.RuleForm, subject: str) -> Rule:
    """One rule for one subject; text and subject are left to the caller."""
    scenario = evidence.scenario(rule.scenario)
    result = evidence.result(subject, scenario.name)
    if result.tables is None:
        return Rule("", "undecided", f"{scenario.name}: {result.why or 'not measured'}")
    guard = guarded_always if evidence.study.sequential else guarded
    match rule:
        case forms.Threshold():
            judged = _threshold(rule, result.tables, guard)
            naive = naive_rate(evidence.looks.get(scenario.name, ()), rule.bound) if evidence.study.sequential else ""
            return msgspec.structs.replace(judged, because=f"{judged.because}; {naive}") if naive else judged
        case forms.WorstSlice():
            return _worst_slice(rule, result.tables, guard)
        case forms.NoneBehind():
            return _none_behind(rule, result.tables)
        case forms.NotWorse() | forms.Better():
            return _beside(evidence, rule, subject, scenario.name)
        case forms.Quantity():
            return _quantity(evidence, rule, subject, scenario.name)


def narrowest_pass(rules: Sequence[Rule], subject: str) -> Rule | None:
    """The rule about a share that a subject passes by the least; None where it passes none."""
    passed = [rule for rule in rules if (rule.subject, rule.verdict) == (subject, "pass")]
    by = {rule.text: slack for rule in passed if (slack := _slack(rule)) is not None}
    return min((rule for rule in passed if rule.text in by), key=lambda rule: by[rule.text], default=None)


def _slack(rule: Rule) -> float | None:
    """How far the near end of a passing interval lies inside its bound."""
    form, made = forms.parse(rule.text), rule.estimate
    if made is None or made.unit or made.low is None or not isinstance(form, forms.Threshold | forms.WorstSlice):
        return None
    return made.low - form.bound if form.sense.startswith(">") else form.bound - (made.high or 0.0)


def needed(made: Estimate, bound: float) -> int | None:
    """The further items that would decide four times in five, if they went as these did; None where none would."""
    if made.value is None or made.low is None or made.high is None:
        return None
    if made.method.startswith(EXACT):
        more = further_items_of_rate(round(made.value * made.n_items), made.n_items, bound, level=made.level)
    else:
        more = further_items(made, bound)
    return more if more is not None and 0 < more <= MOST_ITEMS else None


def held_against(made: Estimate, sense: forms.Sense, bound: float) -> Rule:
    """A number against a bound: its whole interval must agree."""
    up = sense.startswith(">")
    said = f"{number(made)}, {'at least' if up else 'at most'} {amount(bound, made.unit)} wanted"
    low, high = made.low, made.high
    good, bad = (low, high) if up else (high, low)
    within: Callable[[float], bool] = {
        ">=": lambda end: end >= bound,
        ">": lambda end: end > bound,
        "<=": lambda end: end <= bound,
        "<": lambda end: end < bound,
    }[sense]
    if made.value is None:
        return Rule("", "undecided", said, estimate=made)
    if good is not None and within(good):
        return Rule("", "pass", said, estimate=made)
    if bad is not None and not within(bad):
        return Rule("", "fail", said, estimate=made)
    return Rule("", "undecided", said, estimate=made, needs=needed(made, bound))


def _threshold(rule: forms.Threshold, tables: Tables, guard: Guard) -> Rule:
    metric = metric_named(tables, rule.metric)
    table = tables.metrics[metric]
    if rule.field:
        cut = dict(parts(tables, metric, rule.field))
        if rule.value not in cut:
            known = f"; it has {listed(list(cut))}" if cut else ""
            return Rule("", "undecided", f"no item has {rule.field} {rule.value}{known}")
        table = cut[rule.value]
    return held_against(guard(table, LEVEL), rule.sense, rule.bound)


def _worst_slice(rule: forms.WorstSlice, tables: Tables, guard: Guard) -> Rule:
    cut = parts(tables, tables.headline, rule.field)
    if not cut:
        return Rule("", "undecided", f"no item names a {rule.field}")
    each = [(label, held_against(guard(table, LEVEL), rule.sense, rule.bound)) for label, table in cut]
    strict = 1 - (1 - LEVEL) / len(cut)  # one slice that fails must do so among as many as were looked at
    failed = [
        (label, made)
        for label, table in cut
        if (made := held_against(guard(table, strict), rule.sense, rule.bound)).verdict == "fail"
    ]
    worst = _worst_of(failed or each, rule.sense)
    verdict: Verdict = "fail" if failed else "pass" if all(one.verdict == "pass" for _, one in each) else "undecided"
    open_ones = [one.needs for _, one in each if one.verdict != "pass"]
    needs = None
    if verdict == "undecided" and open_ones and None not in open_ones:
        needs = max(need for need in open_ones if need is not None) * len(cut)
    said = f"the worst of {counted(len(cut), 'value')} is {worst[0]}: {worst[1].because}"
    return Rule("", verdict, said, estimate=worst[1].estimate, needs=needs)


def _worst_of(each: Sequence[tuple[str, Rule]], sense: forms.Sense) -> tuple[str, Rule]:
    def badness(pair: tuple[str, Rule]) -> float:
        value = pair[1].estimate.value if pair[1].estimate else None
        if value is None:
            return -math.inf
        return value if sense.startswith(">") else -value

    return min(each, key=badness)


def _none_behind(rule: forms.NoneBehind, tables: Tables) -> Rule:
    cut = dict(parts(tables, tables.headline, rule.field))
    if rule.reference not in cut or len(cut) < 2:  # noqa: PLR2004 - nothing to stand behind
        return Rule("", "undecided", f"no item has {rule.field} {rule.reference}, or no other value")
    base = guarded(cut[rule.reference])
    others = {label: guarded(table) for label, table in cut.items() if label != rule.reference}
    behind = {label: _behind(made, base) for label, made in others.items()}
    label = max(behind, key=lambda name: -math.inf if (value := behind[name].value) is None else value)
    made = held_against(behind[label], "<=", rule.margin)
    verdicts = {held_against(one, "<=", rule.margin).verdict for one in behind.values()}
    verdict: Verdict = "fail" if made.verdict == "fail" else "pass" if verdicts == {"pass"} else "undecided"
    value = behind[label].value
    lag = "no number" if value is None else f"{gap(value)} {'behind' if value >= 0 else 'ahead of'}"
    said = f"{label} is {lag} {rule.reference} ({span(behind[label])}), at most {gap(rule.margin)} wanted"
    return msgspec.structs.replace(made, verdict=verdict, because=said)


def _behind(made: Estimate, base: Estimate) -> Estimate:
    """How far one slice lies behind another: two samples of items, so their intervals are taken together (MOVER)."""
    return compare_unpaired(base, made).difference


def _beside(evidence: Evidence, rule: forms.NotWorse | forms.Better, subject: str, scenario: str) -> Rule:
    other = rule.than or evidence.study.present
    theirs = evidence.result(other, scenario).tables
    ours = evidence.result(subject, scenario).tables
    if theirs is None or ours is None:
        return Rule("", "undecided", f"{other} is not measured on {scenario}")
    may = comparability(ours, theirs, evidence.claim, evidence.study.accept_difference)
    if may.refused:
        return Rule("", "undecided", f"not comparable with {other}: {may.refused}")
    a, b = align(ours, theirs).pair(ours.headline)
    made = compare(a, b, names=(subject, other))
    bound = -rule.margin if isinstance(rule, forms.NotWorse) else rule.margin
    sense: forms.Sense = ">=" if isinstance(rule, forms.NotWorse) else ">"
    judged = held_against(at_worst(made.difference), sense, bound)
    lost = isinstance(rule, forms.NotWorse)
    wanted = f"at most {gap(rule.margin)} may be lost" if lost else f"more than {gap(rule.margin)} must be gained"
    return msgspec.structs.replace(judged, because=f"{difference(made)} against {other}; {wanted}")


def at_worst(made: Estimate) -> Estimate:
    """A difference whose interval is moved by what the missing trials could have been."""
    if made.bounds is None or made.value is None or made.low is None or made.high is None:
        return made
    low, high = made.low - (made.value - made.bounds[0]), made.high + (made.bounds[1] - made.value)
    return msgspec.structs.replace(made, low=min(made.low, low), high=max(made.high, high))


def _quantity(evidence: Evidence, rule: forms.Quantity, subject: str, scenario: str) -> Rule:
    result = evidence.result(subject, scenario)
    if rule.what == "missing":
        return _missing(rule, result.tables)
    made, why = (latency if rule.what == "latency" else cost)(evidence, subject, scenario, rule.statistic)
    if made is None:
        return Rule("", "undecided", why)
    judged = held_against(made, rule.sense, rule.bound)
    if judged.verdict == "undecided" and made.high is None and rule.statistic.startswith("p"):
        q = int(rule.statistic[1:]) / 100
        return msgspec.structs.replace(judged, needs=max(1, items_for_upper_end(q) - made.n_trials))
    return judged


def _missing(rule: forms.Quantity, tables: Tables | None) -> Rule:
    if tables is None:
        return Rule("", "undecided", "not measured")
    table = tables.metrics[tables.headline]
    gone, planned = int(table.missing.sum()), int(table.missing.sum() + table.measured.sum())
    share = gone / planned if planned else 0.0
    made = Estimate("missing", share, share, share, LEVEL, "counted", len(table.rows), planned)
    verdict = held_against(made, rule.sense, rule.bound).verdict
    said = f"{gone:,} of {counted(planned, 'trial')} without a score, at most {amount(rule.bound)} wanted"
    return Rule("", verdict, said, estimate=made)


def _of_itself(evidence: Evidence, rule: forms.RuleForm, subject: str) -> bool:
    """Whether a rule would compare a subject with itself."""
    return isinstance(rule, forms.NotWorse | forms.Better) and subject == (rule.than or evidence.study.present)


def check_rules(evidence: Evidence) -> None:
    """Refuse, before anything is paid for, rules that no result could decide. Raises InputError."""
    for text in evidence.study.rules:
        rule = forms.parse(text)
        scenario = evidence.scenario(rule.scenario)
        if isinstance(rule, forms.Threshold):
            _check_metric(text, rule.metric, scenario.metrics)
        check_bound(text, rule)
        if isinstance(rule, forms.NotWorse | forms.Better):
            other = rule.than or evidence.study.present
            if not other:
                raise InputError(f"the rule '{text}' needs present = \"NAME\" in the study: the subject in use today")
            if other not in evidence.subjects:
                known = ", ".join(evidence.subjects)
                raise InputError(f"the rule '{text}' names '{other}', which is no subject; the subjects are {known}")


def check_bound(text: str, rule: forms.RuleForm) -> None:
    """Refuse a share above one: 80 is meant as 80 %. Raises InputError."""
    if isinstance(rule, forms.Threshold | forms.WorstSlice) and rule.bound > 1 and "bits" not in text:
        raise InputError(f"the rule '{text}' asks for a share above 1; write {rule.bound / 100:g} or {rule.bound:g} %")


def _check_metric(text: str, metric: str, known: Sequence[str]) -> None:
    if known and metric not in known and metric not in HEADLINE_NAMES:
        raise InputError(f"the rule '{text}' names the metric '{metric}'; the scenario has {', '.join(known)}")
