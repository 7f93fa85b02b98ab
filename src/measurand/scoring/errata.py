"""Known faults of tests and labels as data, so that stored answers can be scored with and without them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import msgspec

from measurand.core.benchmark import Benchmark, Marking, ProgramScorer, Scorer
from measurand.core.errors import InputError
from measurand.core.identity import canonical_json, digest
from measurand.core.item import Item
from measurand.core.program import FunctionTest, Program
from measurand.core.record import Json
from measurand.core.trial import Finding, Measured, Missing
from measurand.scoring.code import FUNCTION_TEST

FLAWED = ""
"""Stands for a test that cannot be mended: its item is left out of the number."""


def corrected(errata: Mapping[str, str]) -> ProgramScorer:
    """FUNCTION_TEST with other tests for some items, by id; a FLAWED one has no score and is not missed.

    The name holds a digest of the errata, so that other errata make another protocol.
    """

    def program(item: Item, finding: Finding) -> Program | Measured | Missing:
        """What to run: the test as it stands, the corrected one, or nothing."""
        test = errata.get(item.id)
        if test == FLAWED:
            return Missing("not_applicable", f"item {item.id}: its test is known to be flawed")
        run = FUNCTION_TEST.program(item, finding)
        return msgspec.structs.replace(run, test=test) if test and isinstance(run, FunctionTest) else run

    return ProgramScorer(
        f"function_test(errata {_digest(errata)})", FUNCTION_TEST.version, program, FUNCTION_TEST.verdict
    )


def graded_by(label: str, scorer: Scorer) -> Scorer:
    """`scorer` with the gold that an item holds under `label` (`original`, `corrected`), where it holds several.

    A list of golds is met by any of them. None says that no answer is right: the item has no score and is not missed.
    """

    def score(item: Item, finding: Finding) -> Measured | Missing:
        golds = item.gold.get(label) if isinstance(item.gold, dict) else item.gold
        if golds is None:
            return Missing("not_applicable", f"item {item.id}: under its {label} label no answer is right")
        return _by_any(golds, item, finding, scorer)

    return Scorer(f"{scorer.name}[{label}]", scorer.version, score)


def relabelled(errata: Mapping[str, Json], scorer: Scorer) -> Scorer:
    """`scorer` with other golds for some items, by id; a list is met by any of its golds, and None leaves an item out.

    The name holds a digest of the errata, so that other errata make another protocol.
    """

    def score(item: Item, finding: Finding) -> Measured | Missing:
        if item.id not in errata:
            return scorer.score(item, finding)
        if errata[item.id] is None:
            return Missing("not_applicable", f"item {item.id}: no answer to it is right")
        return _by_any(errata[item.id], item, finding, scorer)

    return Scorer(f"{scorer.name}[errata {_digest(errata)}]", scorer.version, score)


def with_errata(benchmark: Benchmark, errata: Mapping[str, Json]) -> Benchmark:
    """The benchmark scored with corrected golds, and beside each number what the old golds make of the same answers.

    Raises InputError for a benchmark that is scored by programs, whose golds are tests.
    """
    markings: list[Marking] = []
    for marking in benchmark.scoring.markings:
        if isinstance(marking.scorer, ProgramScorer):
            message = (
                f"{benchmark.name} is scored by running tests; corrected tests are a variant of its file, not golds"
            )
            raise InputError(message)
        markings.append(replace(marking, scorer=relabelled(errata, marking.scorer)))
    markings += [replace(marking, metric=f"{marking.metric} by old labels") for marking in benchmark.scoring.markings]
    old = {f"{name} by old labels": metric for name, metric in benchmark.aggregation.metrics.items()}
    return replace(
        benchmark,
        scoring=replace(benchmark.scoring, markings=tuple(markings)),
        aggregation=replace(benchmark.aggregation, metrics={**benchmark.aggregation.metrics, **old}),
    )


def _by_any(golds: Json, item: Item, finding: Finding, scorer: Scorer) -> Measured | Missing:
    each = golds if isinstance(golds, list | tuple) else [golds]
    values = [scorer.score(msgspec.structs.replace(item, gold=gold), finding) for gold in each]
    measured = [value for value in values if isinstance(value, Measured)]
    return max(measured, key=lambda value: value.row) if len(measured) == len(values) else values[0]


def _digest(errata: Mapping[str, Json]) -> str:
    return digest(canonical_json(dict(sorted(errata.items())))).hex()[:8]
