"""MATH: the paper's own pairs, its golds against themselves and without separators, and sampled replies of Qwen2.5-Math."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.math import BENCHMARK, VARIANTS, gold_of
from measurand.core.benchmark import Benchmark
from measurand.core.fidelity import Figure, Rendering, Rescoring, Side, Stored
from measurand.data.stored import document_of, rows_of
from measurand.scoring.maths.answers import answers_equal
from measurand.scoring.maths.strings import hendrycks_equal

_PAIRS = "math/hendrycks_equivalence_pairs.json"
_TEST = "math/math_test_5000.jsonl"
_500 = "math/math500_test.jsonl"
_QWEN = "math/qwen_math_cot_100x8.jsonl"
_SEPARATOR = re.compile(r"(?<=\d)(?:,\\!|\{,\}|,)\s*(?=\d{3}(?!\d))")


def pairs(stored: Stored) -> Iterator[Figure]:
    """The unit tests of the paper's checker."""
    each = document_of(stored.folder / _PAIRS)
    agreeing = sum(hendrycks_equal(one["a"], one["b"]) == one["equivalent"] for one in each)
    yield Figure("pairs on which the canonical strings agree", 16, agreeing)


def golds(stored: Stored) -> Iterator[Figure]:
    """Every gold equals itself, and itself written with or without thousands separators."""
    answers = [gold_of(row) for row in rows_of(stored.folder / _TEST)]
    yield Figure("golds that equal themselves", len(answers), sum(answers_equal(gold, gold) for gold in answers))
    plain = [(gold, _SEPARATOR.sub("", gold)) for gold in answers if _SEPARATOR.search(gold) and not _lists(gold)]
    same = sum(answers_equal(gold, other) and answers_equal(other, gold) for gold, other in plain)
    yield Figure("golds with thousands separators that equal themselves without", len(plain), same)
    yield Figure("the same by canonical strings", None, sum(hendrycks_equal(gold, other) for gold, other in plain))


def _lists(gold: str) -> bool:
    """Whether a comma divides parts and not thousands."""
    return "(" in gold or "[" in gold or ", " in gold.replace(",\\! ", ",")


def qwen(stored: Stored) -> Iterator[Figure]:
    """Eight sampled replies to each of 100 problems: the answers that were read, against the stored flags."""
    rows = rows_of(stored.folder / _QWEN)
    columns = sorted({"gt", "pred", "score"} & rows[0].keys())
    if columns != ["gt", "pred", "score"]:
        yield Figure("columns that are needed", ["gt", "pred", "score"], columns)
        return
    triples = [
        (str(row["gt"]), str(pred), bool(flag))
        for row in rows
        for pred, flag in zip(row["pred"], row["score"], strict=True)
    ]
    yield Figure("stored flags that are right", 728, sum(flag for *_, flag in triples))
    yield Figure("right by the house rule", 728, sum(answers_equal(gold, pred) for gold, pred, _ in triples))
    yield Figure("right by canonical strings", 708, sum(hendrycks_equal(pred, gold) for gold, pred, _ in triples))
    agreeing = sum(answers_equal(gold, pred) == flag for gold, pred, flag in triples)
    yield Figure("flags on which the house rule agrees", len(triples), agreeing)


RESCORINGS = (
    Rescoring("math", "hendrycks/math@985bdc1, modeling/math_equivalence_test.py", (_PAIRS,), pairs),
    Rescoring("math", "microsoft/ToRA@213c1c9, src/data/math (golds of the 5,000 test problems)", (_TEST,), golds),
    Rescoring("math", "QwenLM/Qwen2.5-Math@a45202b, eval_rm_maj_example", (_QWEN,), qwen),
)


def minerva(folder: Path) -> Side:
    """Twenty problems of algebra after the four exemplars of Minerva."""
    rows = [row for row in rows_of(folder / _TEST) if row["type"] == "Algebra"][:20]
    return Side({"test": rows, "train": rows}, render_rows(BENCHMARK, {"test": rows}))


def of(benchmark: Benchmark, data: str) -> Callable[[Path], Side]:
    """Twenty problems of any subject."""

    def sides(folder: Path) -> Side:
        rows = rows_of(folder / data)[:20]
        return Side({"test": rows}, render_rows(benchmark, {"test": rows}))

    return sides


PROMPTS = (
    Rendering("math", "minerva_math/minerva_math_algebra.yaml", minerva, (_TEST,), shots=4),
    Rendering(
        "math:500_minerva", "minerva_math/minerva_math500.yaml", of(VARIANTS["500_minerva"], _500), (_500,), shots=4
    ),
    Rendering(
        "math:chat",
        "math/math -T shuffle=false",
        of(VARIANTS["chat"], _TEST),
        (_TEST,),
        peer="inspect-evals",
        framed="inspect_evals asks for ANSWER: in words of its own, before and after the problem; we for a box, before it",
    ),
)
