"""Known faults of tests and labels as data, so that stored answers can be scored with and without them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from measurand.core.benchmark import ProgramScorer, Scorer
from measurand.core.identity import canonical_json, digest
from measurand.core.item import Item
from measurand.core.program import FunctionTest, Program
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

    named = digest(canonical_json(dict(sorted(errata.items())))).hex()[:8]
    return ProgramScorer(f"function_test(errata {named})", FUNCTION_TEST.version, program, FUNCTION_TEST.verdict)


def graded_by(label: str, scorer: Scorer) -> Scorer:
    """`scorer` with the gold that an item holds under `label` (`original`, `corrected`), where it holds several.

    A list of golds is met by any of them. None says that no answer is right: the item has no score and is not missed.
    """

    def score(item: Item, finding: Finding) -> Measured | Missing:
        golds = item.gold.get(label) if isinstance(item.gold, dict) else item.gold
        if golds is None:
            return Missing("not_applicable", f"item {item.id}: under its {label} label no answer is right")
        each = golds if isinstance(golds, list | tuple) else [golds]
        values = [scorer.score(msgspec.structs.replace(item, gold=gold), finding) for gold in each]
        measured = [value for value in values if isinstance(value, Measured)]
        return max(measured, key=lambda value: value.row) if len(measured) == len(values) else values[0]

    return Scorer(f"{scorer.name}[{label}]", scorer.version, score)
