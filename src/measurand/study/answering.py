"""The sentence that a decision page opens with: who, and why, or why nobody yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from measurand.core.claim import AboutMethod
from measurand.core.decision import Rule
from measurand.core.findings import Contrast
from measurand.study.comparing import seen_from, winner_of
from measurand.study.evidence import Evidence
from measurand.study.words import counted, difference, listed, number


def answer(evidence: Evidence, rules: Sequence[Rule], found: Sequence[Contrast]) -> tuple[str, str]:
    """The chosen subject, empty where there is none, and the answer in one or two sentences."""
    if isinstance(evidence.claim, AboutMethod):
        return _of_method(evidence, found)
    decides = evidence.scenario().name
    there = list(evidence.measured(decides))
    if not there:
        why = next((one.why for one in evidence.results if one.scenario == decides and one.why), "nothing was asked")
        return "", f"Nothing can be said yet: nobody is measured on {decides} ({why})."
    if len(evidence.subjects) == 1:
        return _of_one(evidence, rules, there[0])
    if rules:
        return _by_rules(evidence, rules, found)
    return _by_comparison(evidence, found, there, "")


def standing(rules: Iterable[Rule], subject: str) -> str:
    """How a subject stands by its rules: `fail` where one fails, `pass` where all pass, else `undecided`."""
    verdicts = [rule.verdict for rule in rules if rule.subject == subject]
    if "fail" in verdicts:
        return "fail"
    return "pass" if verdicts and set(verdicts) == {"pass"} else "undecided"


def _of_one(evidence: Evidence, rules: Sequence[Rule], subject: str) -> tuple[str, str]:
    summary = evidence.result(subject, evidence.scenario().name).summary
    if not rules:
        reached = number(summary.views[0].estimate) if summary and summary.views else "no number"
        where = evidence.scenario().name
        return "", f"{subject} reaches {reached} on {where}; no rule says whether that is enough."
    stands = standing(rules, subject)
    if stands == "pass":
        return subject, f"Yes: {subject} passes {_all(rules, subject)}."
    if stands == "fail":
        return "", f"No: {_failing(rules, subject)}."
    return "", f"Not yet: {_open(rules, subject)}."


def _by_rules(evidence: Evidence, rules: Sequence[Rule], found: Sequence[Contrast]) -> tuple[str, str]:
    stands = {name: standing(rules, name) for name in evidence.subjects}
    passing = [name for name, how in stands.items() if how == "pass"]
    waiting = [name for name, how in stands.items() if how == "undecided"]
    if len(passing) == 1:
        (name,) = passing
        others = [_failing(rules, one) for one, how in stands.items() if how == "fail"]
        others += [_open(rules, one) for one in waiting]
        why = "; ".join([f"{name} passes {_all(rules, name)}", *others])
        return name, f"{name}{_although(evidence, found, name)}. {why}."
    if passing:
        return _by_comparison(evidence, found, passing, f"{listed(passing)} pass all rules. ")
    if waiting:
        return "", f"Not yet: {'; '.join(_open(rules, name) for name in waiting)}."
    return "", f"None of them: {'; '.join(_failing(rules, name) for name in stands)}."


def _by_comparison(
    evidence: Evidence, found: Sequence[Contrast], among: Sequence[str], opening: str
) -> tuple[str, str]:
    """Who is shown to be better than all others where it is decided."""
    decides = evidence.scenario().name
    own = [one for one in found if one.scenario == decides and one.view == "pooled" and {one.a, one.b} <= set(among)]
    refused = next((one for one in own if one.refused), None)
    if refused is not None:
        return "", f"No ranking: {refused.a} and {refused.b} may not be compared on {decides}: {refused.refused}."
    beaten = {one.b if winner == one.a else one.a for one in own if (winner := winner_of(one))}
    best = [name for name in among if name not in beaten]
    if len(best) != 1:
        return "", f"{opening or 'Cannot say: '}{listed(best or list(among))} cannot be told apart on {decides}."
    (name,) = best
    against = [one for one in own if name in (one.a, one.b)]
    shown = "; ".join(
        f"{difference(seen_from(one, name))} against {one.b if one.a == name else one.a}" for one in against
    )
    return name, f"{name}{_although(evidence, found, name)}. {opening}{name} is ahead on {decides}: {shown}."


def _although(evidence: Evidence, found: Sequence[Contrast], name: str) -> str:
    """Whoever is shown to be better on a quiz, told beside the answer."""
    quizzes = {one.name for one in evidence.scenarios if one.quiz and one.name != evidence.scenario().name}
    lost = [
        (winner, one.scenario)
        for one in found
        if one.view == "pooled" and one.scenario in quizzes and name in (one.a, one.b)
        if (winner := winner_of(one)) not in {"", name}
    ]
    return f", although {listed([f'{who} leads the quiz {where}' for who, where in lost])}" if lost else ""


def _of_method(evidence: Evidence, found: Sequence[Contrast]) -> tuple[str, str]:
    arms = {arm.name for arm in evidence.study.arms}
    decides = evidence.scenario().name
    own = [one for one in found if one.scenario == decides and one.a in arms and one.b in arms]
    if not own:
        return "", f"Nothing can be said yet: no arm is measured on {decides}."
    parts = []
    for one in own:
        if one.comparison is None:
            parts.append(f"{one.a} against {one.b} is refused: {one.refused}")
        else:
            shown = "an effect" if winner_of(one) else "no effect that is more than noise"
            parts.append(f"{one.a} against {one.b} shows {shown} on {decides}: {difference(one.comparison)}")
    winners = {winner_of(one) for one in own} - {""}
    chosen = winners.pop() if len(winners) == 1 else ""
    text = "; ".join(parts)
    return chosen, f"{text[0].upper()}{text[1:]}."


def _all(rules: Sequence[Rule], subject: str) -> str:
    n = sum(rule.subject == subject for rule in rules)
    return "the rule" if n == 1 else f"all {n} rules"


def _failing(rules: Sequence[Rule], subject: str) -> str:
    failed = [rule for rule in rules if rule.subject == subject and rule.verdict == "fail"]
    more = f" and {counted(len(failed) - 1, 'more rule')}" if len(failed) > 1 else ""
    return f"{subject} fails '{failed[0].text}'{more}"


def _open(rules: Sequence[Rule], subject: str) -> str:
    waiting = [rule for rule in rules if rule.subject == subject and rule.verdict == "undecided"]
    needs = f", {counted(waiting[0].needs, 'further item')} would decide" if waiting and waiting[0].needs else ""
    more = f" and {counted(len(waiting) - 1, 'more rule')}" if len(waiting) > 1 else ""
    return f"{subject} leaves '{waiting[0].text}'{more} undecided{needs}" if waiting else f"{subject} is not judged"
