"""HumanEval+: our prompts beside those of lm-eval and inspect_evals, which are HumanEval's but for a few mended ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.humaneval_plus import BENCHMARK, VARIANTS
from measurand.core.benchmark import Benchmark
from measurand.core.fidelity import Rendering, Side
from measurand.data.stored import rows_of
from measurand.fidelity.humaneval import OWN_WORDS

_DATA = "humaneval/HumanEvalPlus.jsonl.gz"
_COLUMNS = ("task_id", "prompt", "entry_point", "canonical_solution")


def of(benchmark: Benchmark) -> Callable[[Path], Side]:
    """Twenty problems; the tests are not shown, so the peers are given none."""

    def sides(folder: Path) -> Side:
        rows = rows_of(folder / _DATA)[:20]
        theirs = [{**{name: row[name] for name in _COLUMNS}, "test": ""} for row in rows]
        return Side({"test": theirs}, render_rows(benchmark, {"test": rows}))

    return sides


PROMPTS = (
    Rendering("humaneval_plus", "humaneval/humaneval_plus.yaml", of(BENCHMARK), (_DATA,)),
    Rendering(
        "humaneval_plus:chat",
        "humaneval/humaneval",
        of(VARIANTS["chat"]),
        (_DATA,),
        peer="inspect-evals",
        framed=OWN_WORDS,
    ),
)
