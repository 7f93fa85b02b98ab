"""What a study has in hand: who was asked what, and what came of each. Everything else in study/ reads this."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from measurand.core.benchmark import NESTED
from measurand.core.claim import AboutModel, AboutSystem, Claim
from measurand.core.errors import InputError
from measurand.core.subject import System
from measurand.run.tables import Codes, Tables
from measurand.stats.missing import ByItem

if TYPE_CHECKING:
    from measurand.core.benchmark import Card
    from measurand.core.findings import Empty
    from measurand.core.summary import Summary
    from measurand.study.leaderboards import Published
    from measurand.study.records import Candidate, Study
    from measurand.study.signals import Signal

HEADLINE_NAMES = {"accuracy", "score", "headline"}
"""Names under which a rule may speak of a scenario's first metric, where no metric has that name."""
LOWER_IS_BETTER = {"bits_per_byte", "bits_per_unit", "perplexity", "word_error_rate", "attack_success_rate"}
NO_CODES: tuple[Codes, list[str]] = (np.zeros(0, dtype=np.int64), [])
"""The codes of a field that nobody has."""
SHORT, LONG = 120, 600
"""Characters of a short and of a long question."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Something that subjects are asked: a public benchmark or a private set.

    `canonical` names the benchmark's canonical protocol where another one is asked, and `departs` says how. `tuned`
    says that its items were looked at while prompts were tuned. `metrics` names its metrics, the headline first.
    """

    name: str
    card: Card
    private: bool
    metrics: tuple[str, ...]
    canonical: str = ""
    departs: str = ""
    tuned: bool = False

    @property
    def quiz(self) -> bool:
        """Whether it asks for one known answer instead of what users ask."""
        return self.card.style == "quiz"


@dataclass(frozen=True, slots=True)
class Result:
    """What came of asking one subject one scenario: tables and a summary, or why there are none."""

    subject: str
    scenario: str
    tables: Tables | None = None
    summary: Summary | None = None
    empty: Empty = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A study and its results.

    `signals` are production numbers of a subject by cohort, `published` numbers from leaderboards. `looks` gives the
    items of each run by which a scenario was looked at; `calibrated` names the judges that were held against people.
    """

    study: Study
    candidates: tuple[Candidate, ...]
    scenarios: tuple[Scenario, ...]
    results: tuple[Result, ...]
    signals: tuple[Signal, ...] = ()
    published: tuple[Published, ...] = ()
    calibrated: frozenset[str] = frozenset()
    looks: dict[str, tuple[int, ...]] = field(default_factory=dict)
    made: str = ""

    @property
    def subjects(self) -> tuple[str, ...]:
        """The names of the subjects, in the order of the study."""
        return tuple(one.label for one in self.candidates)

    @property
    def claim(self) -> Claim:
        """What the answer is about: as the study says, or about systems where one of the subjects is one."""
        if self.study.claim is not None:
            return self.study.claim
        asked = [tables.run.subject for _, _, tables in self.all_measured()]
        return AboutSystem() if any(isinstance(one, System) for one in asked) else AboutModel()

    def candidate(self, subject: str) -> Candidate:
        """The candidate of that name."""
        return next(one for one in self.candidates if one.label == subject)

    def scenario(self, name: str = "") -> Scenario:
        """The scenario of a name; without one, the scenario that decides. Raises InputError for an unknown name."""
        if not name:
            return deciding(self.scenarios, self.study.decide_on)
        return named(self.scenarios, name)

    def result(self, subject: str, scenario: str) -> Result:
        """What came of one subject on one scenario."""
        for one in self.results:
            if (one.subject, one.scenario) == (subject, scenario):
                return one
        return Result(subject, scenario, empty="not_run", why="it was not asked")

    def measured(self, scenario: str) -> dict[str, Tables]:
        """The tables of every subject that was measured on a scenario."""
        found = {name: self.result(name, scenario).tables for name in self.subjects}
        return {name: tables for name, tables in found.items() if tables is not None}

    def all_measured(self) -> Iterator[tuple[Scenario, str, Tables]]:
        """Every scenario and subject with tables."""
        for scenario in self.scenarios:
            for subject, tables in self.measured(scenario.name).items():
                yield scenario, subject, tables


def named(scenarios: Sequence[Scenario], name: str) -> Scenario:
    """The scenario of a name; hyphens and underscores are one. Raises InputError with the nearest name."""
    for one in scenarios:
        if one.name == name or _loose(one.name) == _loose(name):
            return one
    known = [one.name for one in scenarios]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"the study asks {', '.join(known)}"
    raise InputError(f"the study has no scenario '{name}'; {hint}")


def deciding(scenarios: Sequence[Scenario], decide_on: str) -> Scenario:
    """The scenario that decides: the one named, or the first that asks what users ask, or the first."""
    if decide_on:
        return named(scenarios, decide_on)
    return next((one for one in scenarios if not one.quiz), scenarios[0])


def metric_named(tables: Tables, name: str) -> str:
    """The metric that a rule means. Raises InputError where a run has none of that name."""
    if name in tables.metrics:
        return name
    if name in HEADLINE_NAMES:
        return tables.headline
    raise InputError(f"{tables.run.benchmark} has no metric '{name}'; it has {', '.join(tables.metrics)}")


def higher_is_better(metric: str) -> bool:
    """Whether more of a metric is better."""
    return metric.partition("@")[0] not in LOWER_IS_BETTER


def field_codes(tables: Tables, name: str) -> tuple[Codes, list[str]] | None:
    """Each item's value in a field; `length` is made from the question, `a*b` crosses two. None where it has none."""
    if "*" in name:
        first, _, rest = name.partition("*")
        a, b = field_codes(tables, first), field_codes(tables, rest)
        if a is None or b is None:
            return None
        pairs = a[0] * len(b[1]) + b[0]
        used, codes = np.unique(pairs, return_inverse=True)
        labels = [f"{a[1][pair // len(b[1])]} * {b[1][pair % len(b[1])]}" for pair in used.tolist()]
        return codes.astype(np.int64), labels
    if name == "length" and name not in tables.fields:
        bands = [f"short (under {SHORT} characters)", "medium", f"long (over {LONG} characters)"]
        codes = (tables.lengths >= SHORT).astype(np.int64) + (tables.lengths > LONG)
        used, dense = np.unique(codes, return_inverse=True)
        return dense.astype(np.int64), [bands[code] for code in used.tolist()]
    return tables.fields.get(name)


def levels_of(tables: Tables, path: str) -> list[Codes]:
    """Each item's values in the fields of a macro number (`subject`, or `category>subject`), outermost first.

    Empty where a field is lacking.
    """
    found = [field_codes(tables, name) for name in path.split(NESTED)]
    return [one[0] for one in found if one is not None] if None not in found else []


def parts(tables: Tables, metric: str, field_name: str) -> list[tuple[str, ByItem]]:
    """The rows of a metric for each value of a field, in the order of their names; empty where it has none."""
    found = field_codes(tables, field_name)
    if found is None:
        return []
    codes, labels = found
    table = tables.metrics[metric]
    cut = [(label, table.only(codes == code)) for code, label in enumerate(labels)]
    return sorted((pair for pair in cut if pair[1].planned.any()), key=lambda pair: pair[0])


def _loose(name: str) -> str:
    return name.replace("-", "_").lower()
