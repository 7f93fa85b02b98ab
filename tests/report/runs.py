"""Runs made up for tests: a store in memory that offers what a summary reads, and a run with everything in it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from measurand.core.call import Asked, Call, Reply
from measurand.core.item import Item, Question, Row
from measurand.core.message import Text, user
from measurand.core.outcome import Answer, Answered, Blocked, Failed, Outcome, Refused, Truncated
from measurand.core.protocol import (
    AggregationPart,
    AskingPart,
    MarkingPart,
    Protocol,
    ScoringPart,
    SourceUsed,
    TaskPart,
)
from measurand.core.request import Decode, Generate
from measurand.core.run import Conditions, Run, Slot
from measurand.core.subject import Model
from measurand.core.summary import Spent
from measurand.core.trial import Absent, Found, Measured, Missing, Reading, Score, Trial


@dataclass
class Stored:
    """The part of the store port that a summary reads, over plain lists in the order of the plan."""

    record: Protocol
    item_list: Sequence[Item]
    trial_list: Sequence[tuple[Slot, Trial]]
    score_list: Sequence[tuple[Slot, Score]]
    reading_list: Sequence[tuple[Slot, Reading]] = ()
    asked: dict[tuple[int, int], str] = field(default_factory=dict)
    took: Spent = field(default_factory=Spent)

    def spent(self, run: str) -> Spent:
        return self.took

    def protocol(self, run: str) -> Protocol:
        return self.record

    def items(self, run: str) -> Iterator[Item]:
        return iter(self.item_list)

    def trials(self, run: str) -> Iterator[tuple[Slot, Trial]]:
        return iter(self.trial_list)

    def scores(self, run: str) -> Iterator[tuple[Slot, Score]]:
        return iter(self.score_list)

    def readings(self, run: str, slot: Slot | None = None) -> Iterator[tuple[Slot, Reading]]:
        return (pair for pair in self.reading_list if slot is None or pair[0] == slot)

    def calls(self, run: str, slot: Slot) -> list[Call]:
        text = self.asked.get((slot.item_no, slot.sample_no))
        if text is None:
            return []
        return [Call("t", 0, "target", "s", "k", Asked(Generate((user(text),)), Reply((Text("…"),))))]


def protocol(  # noqa: PLR0913 -- every choice that some test varies
    *,
    n_items: int = 3,
    samples: int = 1,
    markings: Sequence[MarkingPart] = (MarkingPart("accuracy", "number@1", "numeric@1"),),
    metrics: dict[str, str] | None = None,
    macro: tuple[str, ...] = (),
    groups: tuple[str, ...] = (),
    score_truncated: bool = False,
    score_refused: bool = False,
    name: str = "gsm8k",
) -> Protocol:
    """A protocol with these choices and ordinary others."""
    return Protocol(
        name,
        TaskPart(
            name,
            1,
            {"test": SourceUsed({"type": "hub", "repo": "openai/gsm8k"}, "ab" * 32)},
            "test",
            n_items,
            "cd" * 32,
        ),
        AskingPart(
            "eight_shot", 2, "Q: {question}\nA:", ("chat",), samples, {"k": 8}, decode=Decode(0.0, max_tokens=512)
        ),
        ScoringPart(tuple(markings), score_truncated, score_refused),
        AggregationPart(metrics or {marking.metric: "accuracy@1" for marking in markings}, macro, groups, 0.95),
    )


def run_of(record: Protocol, name: str = "SmolLM2-135M") -> Run:
    """A run of the protocol by a model."""
    return Run(
        record.benchmark,
        record.id,
        Model("llamacpp", name, quantisation="Q8_0"),
        "ef" * 32,
        record.task.n_items,
        record.asking.samples,
        conditions=Conditions(
            "0.1.0", "3.11.7", "Linux x86-64", "namespaces", served_as=("smollm2-135m-instruct-q8_0",)
        ),
    )


def plain(values: Sequence[float | None], *, samples: int = 1, **choices: object) -> tuple[Stored, Run]:
    """A run whose trials have these scores under one metric; None is a failed trial."""
    record = protocol(n_items=len(values) // samples, samples=samples, **choices)  # type: ignore[arg-type]
    run = run_of(record)
    slots = [Slot(place // samples, place % samples) for place in range(len(values))]
    trials, scores = [], []
    for slot, value in zip(slots, values, strict=True):
        broken = value is None
        outcome = Failed("network", "connection reset", 5) if broken else Answered(Answer(f"It is {value}."))
        trials.append((slot, Trial(run.id, f"q{slot.item_no}", slot.sample_no, outcome, seconds=0.5, cost=0.001)))
        if value is not None:
            scores.append((slot, Score((f"t{slot}",), "accuracy", Measured((value,)), "numeric@1")))
    items = [Item(f"q{number}", Question(f"How much is {number}?"), str(number)) for number in range(run.n_items)]
    return Stored(record, items, trials, scores), run


SUBJECTS = {"algebra": 120, "geometry": 60, "probability": 45, "counting": 12, "number theory": 80}


def rich(seed: int = 7, name: str = "SmolLM2-135M", skill: float = 0.55, poison: str = "") -> tuple[Stored, Run]:
    """A run with slices, two readers, missing trials of every kind, and `poison` in every text a model wrote."""
    draw = random.Random(seed)
    n_items = sum(SUBJECTS.values())
    markings = (
        MarkingPart("accuracy", "number_strict@2", "numeric@1"),
        MarkingPart("accuracy_flexible", "number_flexible@1", "numeric@1"),
    )
    record = protocol(n_items=n_items, markings=markings, macro=("subject",), groups=("subject",))
    run = run_of(record, name)
    items, trials, scores, readings, asked = [], [], [], [], {}
    kinds = [subject for subject, count in SUBJECTS.items() for _ in range(count)]
    for number, subject in enumerate(kinds):
        slot, real = Slot(number, 0), number % 3
        question = f"A farmer has {number + 2} hens and sells {number % 7} of them a day. How many are left after a day?{poison}"
        items.append(
            Item(
                f"{subject}-{number:03d}",
                Question(question),
                str(number + 2 - number % 7),
                {"subject": subject + poison, "length": "long" if number % 4 else "short"},
                origin=Row("test", number, ("real", "synthetic", "unstated")[real]),
            )
        )
        asked[number, 0] = f"Answer with one number.\n\nQ: {question}\nA:"
        chance, text = draw.random(), f"He sells {number % 7}, so {number} are left.{poison}"
        outcome: Outcome = Answered(Answer(text))
        if chance > 0.985:
            outcome = Failed("provider", f"HTTP 503 after 5 tries{poison}", 5)
        elif chance > 0.975:
            outcome = Blocked("content filter" + poison)
        elif chance > 0.95:
            outcome = Truncated("tokens", Answer(text[:20]))
        elif chance > 0.94:
            outcome = Refused(Answer("I cannot help with hens."))
        trials.append((slot, Trial(run.id, items[-1].id, 0, outcome, cost=0.0001, seconds=1.5)))
        if not isinstance(outcome, Answered):
            continue
        right, strict = draw.random() < skill, draw.random() < 0.9
        for marking, sees in zip(markings, (strict, True), strict=True):
            finding = Found(str(number) + poison) if sees else Absent("no number after ####" + poison)
            readings.append((slot, Reading("t", marking.reader, finding)))
            value = Measured((float(right and sees),)) if number % 97 else Missing("scorer_failed", "timed out")
            scores.append((slot, Score(("t",), marking.metric, value, marking.scorer)))
    took = Spent(412, 96, "2026-01-04T09:12:00Z", 181_200, 40_377)
    return Stored(record, items, trials, scores, readings, asked, took), run
