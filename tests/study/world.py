"""Studies made up for tests: evidence over tables in memory, with the scores, slices and cards that a test wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from measurand.core.benchmark import Card
from measurand.core.item import Item, Question, Row
from measurand.core.subject import Model, System
from measurand.run.summary import summarise
from measurand.run.tables import Tables, tables
from measurand.study.evidence import Evidence, Result, Scenario
from measurand.study.records import Candidate, Study
from tests.report.runs import Stored, plain

ASK = Card("Loans", "loans", ("all else",), "ask", "here", "as declared", "private")
QUIZ = Card("Quiz", "facts", ("all else",), "quiz", "there", "five shots", "MIT", released="2021-07-07")


def shares(*parts: tuple[int, int]) -> list[float]:
    """Scores of groups given as (right, all), one after another."""
    return [float(at < right) for right, n in parts for at in range(n)]


def stored(
    values: Sequence[float | None],
    *,
    slices: Mapping[str, Sequence[str]] | None = None,
    made: str = "real",
    subject: Any = None,
    texts: Sequence[str] | None = None,
    **choices: Any,
):
    """A run with these scores; `slices` gives each item's value in each field."""
    store, run = plain(values, **choices)
    fields = slices or {}
    store.item_list = [
        Item(
            f"q{at}",
            Question(texts[at] if texts else f"How much is {at}?"),
            str(at),
            {name: labels[at] for name, labels in fields.items() if name != "language"},
            language=fields["language"][at] if "language" in fields else "",
            origin=Row("test", at, made),  # type: ignore[arg-type]
        )
        for at in range(run.n_items)
    ]
    if subject is not None:
        run = msgspec.structs.replace(run, subject=subject)
    return store, run


def table(values: Sequence[float | None], **choices: Any) -> Tables:
    """The tables of such a run."""
    return tables(*stored(values, **choices))


def result(who: str, scenario: str, values: Sequence[float | None], **choices: Any) -> Result:
    """What came of asking `who` a scenario, with these scores."""
    store, run = stored(values, name=scenario, **({"subject": Model("openai", who, revision="1")} | choices))
    return Result(who, scenario, tables(store, run), summarise(store, run))


def evidence(
    results: Sequence[Result],
    *,
    cards: Mapping[str, Card] | None = None,
    scenarios: Sequence[Scenario] | None = None,
    candidates: Sequence[Candidate] = (),
    **study: Any,
) -> Evidence:
    """Evidence of these results; the scenarios are private unless their card is a quiz's."""
    names = tuple(dict.fromkeys(one.subject for one in results))
    asked = tuple(dict.fromkeys(one.scenario for one in results))
    cards = cards or {}
    made = tuple(candidates) or tuple(Candidate(spec=f"openai:{name}", name=name) for name in names)
    known = tuple(scenarios or ()) or tuple(
        Scenario(name, cards.get(name, ASK), cards.get(name, ASK).style == "ask", ("accuracy",)) for name in asked
    )
    record = Study(name="study", **({"question": "Which is better?"} | study), subjects=made)
    return Evidence(record, made, known, tuple(results))


def system(name: str, version: str = "1") -> System:
    return System(name, version)


def many(n: int, rate: float, seed: int = 0) -> list[float]:
    """Scores of n items with exactly this share right, in an order drawn by the seed."""
    values = np.zeros(n)
    values[: round(n * rate)] = 1.0
    return list(np.random.default_rng(seed).permutation(values))


__all__ = ["ASK", "QUIZ", "Stored", "evidence", "many", "result", "shares", "stored", "system", "table"]
