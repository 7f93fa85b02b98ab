"""Threats that lie in what was asked: the benchmarks, their items, and how they were put."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from measurand.core.claim import AboutModel
from measurand.core.decision import Threat
from measurand.stats.estimate import pooled
from measurand.study.comparability import comparability
from measurand.study.evidence import Scenario
from measurand.study.measures import cost, latency
from measurand.study.threats.seen import Seen
from measurand.study.words import amount, counted, gap, listed

DEPLOYMENT = re.compile(
    r"\b(deploy|ship|choose|use|launch|roll out|replace|switch|customers?|users?|production|answer)", re.IGNORECASE
)
HARD = re.compile(
    r"edge|adversar|hard|ood|out.of.distribution|typo|noisy|perturb|ambigu|fraud|attack|rare|unanswerable|trap"
)
HARM = re.compile(r"\b(harm|unsafe|safety|attack|jailbreak|fraud|toxic|abuse|red.?team)")
LANGUAGES = {
    "arabic": "ar",
    "bengali": "bn",
    "chinese": "zh",
    "french": "fr",
    "german": "de",
    "gujarati": "gu",
    "hindi": "hi",
    "hinglish": "hi-latn",
    "italian": "it",
    "japanese": "ja",
    "kannada": "kn",
    "korean": "ko",
    "malayalam": "ml",
    "marathi": "mr",
    "portuguese": "pt",
    "punjabi": "pa",
    "russian": "ru",
    "spanish": "es",
    "swahili": "sw",
    "tamil": "ta",
    "telugu": "te",
    "urdu": "ur",
}


def quiz_only(seen: Seen) -> Iterator[Threat]:
    """A decision about use that rests on quizzes alone."""
    study = seen.evidence.study
    decides = bool(study.rules) or DEPLOYMENT.search(study.question) is not None
    if seen.asked and decides and all(one.quiz for one in seen.asked):
        yield Threat(
            "quiz_only",
            f"the question is about use, and {listed([one.name for one in seen.asked])} ask for known answers only",
            "add a set of the questions that your users ask, scored as you would judge the reply",
        )


def unmeasured_dimension(seen: Seen) -> Iterator[Threat]:
    """Something that the question names and that nothing measures."""
    question = seen.evidence.study.question.lower()
    words = set(seen.words())
    for name, (pattern, measured) in DIMENSIONS.items():
        if re.search(pattern, question) and seen.asked and not measured(seen, words):
            yield Threat(
                "unmeasured_dimension",
                f"the question speaks of {name}, and nothing here measures it",
                f"add a scenario, a slice or a rule about {name}",
                name,
            )
    for name, tag in LANGUAGES.items():
        spoken = any(name in word or word == tag or word.startswith(f"{tag}-") for word in words)
        if re.search(rf"\b{name}\b", question) and seen.asked and not spoken:
            yield Threat(
                "unmeasured_dimension",
                f"the question speaks of {name.capitalize()}, and no item is in it",
                f"add items in {name.capitalize()}, with their language named",
                name.capitalize(),
            )


def _timed(seen: Seen, _: set[str]) -> bool:
    evidence = seen.evidence
    return any(latency(evidence, subject, one.name)[0] is not None for one, subject, _ in evidence.all_measured())


def _priced(seen: Seen, _: set[str]) -> bool:
    evidence = seen.evidence
    return any(cost(evidence, subject, one.name)[0] is not None for one, subject, _ in evidence.all_measured())


def _named(pattern: str) -> Callable[[Seen, set[str]], bool]:
    return lambda _, words: any(re.search(pattern, word) for word in words)


DIMENSIONS: Mapping[str, tuple[str, Callable[[Seen, set[str]], bool]]] = {
    "latency": (r"\b(latency|fast|quick|speed|slow|seconds)", _timed),
    "cost": (r"\b(cost|cheap|price|expensive|budget)", _priced),
    "safety": (r"\b(safe|safely|safety|harmful|harmless|abuse|fraud)", _named(HARM.pattern)),
    "robustness": (r"\b(robust|typos?|noisy|misspel)", _named(r"typo|noisy|perturb|robust|misspel")),
    "long inputs": (r"\blong (inputs?|documents?|contexts?|texts?)", _named(r"\blong\b|document|context")),
    "privacy": (r"\b(privacy|private data|personal data|pii)", _named(r"privacy|pii|personal")),
}
"""What a question may name: the words for it, and whether something measures it."""


def public_before_cutoff(seen: Seen) -> Iterator[Threat]:
    """Items that a subject may have been trained on."""
    evidence = seen.evidence
    for scenario in seen.asked:
        released = scenario.card.released
        cutoffs = {name: evidence.candidate(name).cutoff for name in evidence.measured(scenario.name)}
        exposed = {name: day for name, day in cutoffs.items() if not day or day >= released}
        if scenario.private or not released or not exposed:
            continue
        stated = [f"{name} was trained on data up to {day}" for name, day in exposed.items() if day]
        silent = [name for name, day in exposed.items() if not day]
        stated += [f"{listed(silent)} {'states' if len(silent) == 1 else 'state'} no cut-off"] if silent else []
        yield Threat(
            "public_before_cutoff",
            f"{scenario.name} has been public since {released}, and {listed(stated)}",
            "weigh a private set that was never published more, or a benchmark released after the cut-off",
            scenario.name,
        )


def saturated(seen: Seen) -> Iterator[Threat]:
    """A benchmark whose best numbers say no more."""
    for scenario in seen.asked:
        ceiling = scenario.card.saturated_at
        for subject in seen.evidence.measured(scenario.name):
            summary = seen.evidence.result(subject, scenario.name).summary
            made = summary.views[0].estimate if summary and summary.views else None
            if ceiling is None or made is None or made.value is None or made.value < ceiling:
                continue
            yield Threat(
                "saturated_benchmark",
                f"{subject} reaches {amount(made.value, made.unit)} on {scenario.name}, which says little from "
                f"{amount(ceiling, made.unit)} on",
                "use a harder benchmark of the same ability",
                scenario.name,
            )


def not_canonical(seen: Seen) -> Iterator[Threat]:
    """A protocol that is not the one under which a benchmark's numbers are published."""
    for scenario in seen.asked:
        if not scenario.canonical:
            continue
        deltas = list(_deltas(seen, scenario))
        beside = f"; {'; '.join(deltas)}" if deltas else ""
        yield Threat(
            "protocol_differs_from_published",
            f"{scenario.name} is asked {scenario.departs}, not by its canonical protocol {scenario.canonical}{beside}",
            "do not put this number beside published ones"
            + ("" if deltas else f"; run {scenario.canonical} beside it to see the delta"),
            scenario.name,
        )


def _deltas(seen: Seen, scenario: Scenario) -> Iterator[str]:
    """How far a subject's number moves from the canonical protocol to this one, and the fields that differ."""
    if scenario.canonical not in {one.name for one in seen.evidence.scenarios}:
        return
    canonical = seen.evidence.measured(scenario.canonical)
    for subject, tables in seen.evidence.measured(scenario.name).items():
        if subject in canonical:
            here, there = (pooled(one.metrics[one.headline]) for one in (tables, canonical[subject]))
            fields = [one.partition(":")[0] for one in comparability(tables, canonical[subject], AboutModel()).differs]
            if here.value is not None and there.value is not None and here.unit == there.unit:
                word = "higher" if here.value >= there.value else "lower"
                why = f", differing in {listed(fields)}" if fields else ""
                yield f"{subject} is {gap(here.value - there.value, here.unit)} {word} than under it{why}"


def known_errata(seen: Seen) -> Iterator[Threat]:
    """Faults of a benchmark that its card names."""
    for scenario in seen.asked:
        if scenario.card.errata:
            first = scenario.card.errata[0].rstrip(".")
            more = len(scenario.card.errata) - 1
            rest = f" (and {counted(more, 'more fault')})" if more else ""
            yield Threat(
                "known_errata",
                f"{scenario.name} has known faults: {first}{rest}",
                "run the variant without the faulty items where there is one, or read what rests on them",
                scenario.name,
            )


def synthetic_items(seen: Seen) -> Iterator[Threat]:
    """Items that somebody wrote, instead of met."""
    for scenario, tables in seen.one_run_each():
        written, n = tables.made.get("synthetic", 0), tables.run.n_items
        if scenario.private and written * 2 > n:
            yield Threat(
                "synthetic_items",
                f"{written:,} of {counted(n, 'item')} of {scenario.name} were written for the test",
                "add items that users really sent",
                scenario.name,
            )


def no_hard_slice(seen: Seen) -> Iterator[Threat]:
    """A deciding set without edge, adversarial or out-of-distribution items, as far as their names tell."""
    for scenario, tables in seen.one_run_each():
        labels = [label for _, values in tables.fields.values() for label in values]
        if scenario.private and not any(HARD.search(word.lower()) for word in [*tables.fields, *labels]):
            yield Threat(
                "no_hard_slice",
                f"no slice of {scenario.name} is named as edge, adversarial or out of distribution",
                "add such items and name them in a slice",
                scenario.name,
            )


def tuned_on_test(seen: Seen) -> Iterator[Threat]:
    """A set whose items were looked at while prompts were tuned."""
    for scenario in seen.asked:
        if scenario.tuned:
            yield Threat(
                "not_held_out",
                f"items of {scenario.name} were looked at while prompts were tuned, so its numbers are too good",
                "measure once on items that nobody has tuned on",
                scenario.name,
            )


def few_exemplar_orders(seen: Seen) -> Iterator[Threat]:
    """Few-shot numbers that rest on one choice and order of exemplars."""
    for scenario, tables in seen.one_run_each():
        shots = tables.protocol.asking.shots
        if shots and shots.get("k", 0) > 1:
            yield Threat(
                "few_exemplar_orders",
                f"{scenario.name} shows {shots['k']} exemplars in one order, and the order alone can move a number",
                "run it with a few seeds of exemplars, and report the spread",
                scenario.name,
            )


def imported_without_protocol(seen: Seen) -> Iterator[Threat]:
    """Numbers from elsewhere of which nobody here knows how they were made."""
    boards = [one.board for one in seen.evidence.published if not one.protocol]
    for board in dict.fromkeys(boards):
        yield Threat(
            "imported_without_protocol",
            f"{counted(boards.count(board), 'number')} of {board} came without a protocol",
            "ask its authors how they asked and scored, or run it here",
            board,
        )
