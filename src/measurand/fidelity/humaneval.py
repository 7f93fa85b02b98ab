"""HumanEval: stored programs of GPT-4, and the example of the official harness, run again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.humaneval import BENCHMARK, VARIANTS, to_items
from measurand.core.benchmark import Benchmark
from measurand.core.fidelity import Figure, Rendering, Rescoring, Side, Stored
from measurand.core.outcome import Answer
from measurand.core.trial import Measured
from measurand.data.stored import rows_of
from measurand.stats.passk import mean_pass_at_k

PASSED = Measured((1.0,))


def simple_gpt4(stored: Stored) -> Iterator[Figure]:
    """Read as replies: one program repeats the function after an import, which a raw completion is cut off from."""
    items = {item.id: item for item in to_items("test", rows_of(stored.folder / "humaneval/HumanEval.jsonl.gz"))}
    rows = rows_of(stored.folder / "humaneval/simple_gpt4_humaneval.jsonl")
    answers = [(items[row["task_id"]], Answer(row["solution"])) for row in rows]
    passed = [marks["pass_at_1"] == PASSED for marks in stored.mark(VARIANTS["chat"].scoring, answers)]
    flags = [row["is_solved"] for row in rows]
    yield Figure(f"GPT-4, solved of {len(rows)}", sum(flags), sum(passed))
    yield Figure("GPT-4, flags that agree", len(rows), sum(a == b for a, b in zip(passed, flags, strict=True)))


def example(stored: Stored) -> Iterator[Figure]:
    """Six samples of one problem; the harness's page states the pass@1."""
    (item,) = to_items("test", rows_of(stored.folder / "humaneval/example_problem.jsonl"))
    samples = rows_of(stored.folder / "humaneval/example_samples.jsonl")
    marks = stored.mark(BENCHMARK.scoring, [(item, Answer(sample["completion"])) for sample in samples])
    right = sum(one["pass_at_1"] == PASSED for one in marks)
    yield Figure("example samples, pass@1", 0.4999999999999999, mean_pass_at_k([(len(samples), right)], 1), 1e-15)


RESCORINGS = (
    Rescoring(
        "humaneval",
        "noahshinn/reflexion@218cf0e, simple GPT-4",
        ("humaneval/HumanEval.jsonl.gz", "humaneval/simple_gpt4_humaneval.jsonl"),
        simple_gpt4,
        runs_code=True,
    ),
    Rescoring(
        "humaneval",
        "openai/human-eval@6d43fb9, example",
        ("humaneval/example_problem.jsonl", "humaneval/example_samples.jsonl"),
        example,
        runs_code=True,
    ),
)


_DATA = "humaneval/HumanEval.jsonl.gz"


def of(benchmark: Benchmark) -> Callable[[Path], Side]:
    """Twenty prompts, which are the whole question."""

    def sides(folder: Path) -> Side:
        rows = rows_of(folder / _DATA)[:20]
        return Side({"test": rows}, render_rows(benchmark, {"test": rows}))

    return sides


OWN_WORDS = (
    "inspect_evals asks for the code alone, in words of its own; we for one fenced block, and the code is in one"
)

PROMPTS = (
    Rendering("humaneval", "humaneval/humaneval.yaml", of(BENCHMARK), (_DATA,)),
    Rendering(
        "humaneval:chat",
        "humaneval/humaneval",
        of(VARIANTS["chat"]),
        (_DATA,),
        peer="inspect-evals",
        framed=OWN_WORDS,
    ),
)
