"""HumanEval: completing a Python function from its signature and docstring (Chen et al. 2021)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from measurand.asking import fill
from measurand.core.benchmark import Aggregation, Benchmark, Card, Marking, ProgramScorer, Prompting, Scoring, Task
from measurand.core.errors import DataError
from measurand.core.item import Item, Question, Row
from measurand.core.message import user
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.request import Complete, Decode, Generate
from measurand.core.source import Package
from measurand.scoring.code import CODE, CODE_COMPLETION, CODEX_STOPS, FUNCTION_TEST
from measurand.scoring.errata import FLAWED, corrected
from measurand.stats.metrics import PASS_AT_1, PASS_AT_10, PASS_AT_100

COMPLETION = "{{prompt}}"

CHAT = """\
Write the body of this Python function so that it does what its docstring says. Reply with one fenced block of Python that holds the complete function, together with any imports and helper functions it needs. Do not add tests or examples.

```python
{{prompt}}
```"""


def to_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """Rows of task_id, prompt, entry_point and test, in the official order."""
    items = []
    for number, row in enumerate(rows):
        gold = {name: row.get(name) for name in ("prompt", "entry_point", "test")}
        task_id = row.get("task_id")
        if not isinstance(task_id, str) or not all(isinstance(part, str) for part in gold.values()):
            message = (
                f"humaneval: row {number + 1} of {source} lacks a text in `task_id`, `prompt`, `entry_point` or `test`; "
                "give the official columns"
            )
            raise DataError(message)
        items.append(
            Item(
                id=task_id,
                input=Question(str(gold["prompt"])),
                gold=gold | {"canonical_solution": row.get("canonical_solution")},
                language="en",
                origin=Row(f"humaneval/{source}", number, made="synthetic"),
            )
        )
    return items


def by_completion(item: Item, _: Sequence[Item]) -> tuple[Complete, ...]:
    """The prompt as raw text, stopped where the function ends."""
    return (Complete(fill(COMPLETION, {"prompt": _prompt(item)}), Decode(max_tokens=1024, stop=CODEX_STOPS)),)


def by_sampling(temperature: float) -> Callable[[Item, Sequence[Item]], tuple[Complete, ...]]:
    """The same raw text, decoded at random as in the paper (section 3.2: nucleus sampling, top_p 0.95)."""
    decode = Decode(temperature=temperature, top_p=0.95, max_tokens=1024, stop=CODEX_STOPS)
    return lambda item, _: (Complete(fill(COMPLETION, {"prompt": _prompt(item)}), decode),)


def by_chat(item: Item, _: Sequence[Item]) -> tuple[Generate, ...]:
    """One user turn that shows the prompt and asks for the whole function."""
    return (Generate((user(fill(CHAT, {"prompt": _prompt(item).rstrip()})),), decode=Decode(max_tokens=4096)),)


def _prompt(item: Item) -> str:
    assert isinstance(item.input, Question)  # noqa: S101  to_items makes nothing else
    return item.input.text


CARD = Card(
    title="HumanEval",
    measures="writing one short Python function, with the standard library alone, from a signature and an English docstring",
    blind_spots=(
        "Saturated: frontier models pass nine in ten, so differences at the top are noise or memory.",
        "Problems, solutions and tests have been public since July 2021, and many training sets hold copies of them.",
        "The tests are few; HumanEval+, with many more for the same problems, lowers scores by five to ten points.",
        "Functions of a few lines, written for the set: nothing about large programs, other libraries or unclear wishes.",
        (
            "The official harness runs the test in the process of the candidate, which can then forge the verdict. Here they "
            "run apart and only plain values cross, so an object that equals everything does not pass, nor does a generator "
            "or an instance of a subclass that equals the expected value; what a function does to its arguments is not seen."
        ),
    ),
    style="quiz",
    canonical_source="openai/human-eval, data/HumanEval.jsonl.gz, 164 problems; dated by arXiv:2107.03374",
    canonical_protocol=(
        "Raw prompt, stopped at a new top-level class, def, #, if or print; pass@k by the unbiased estimator. The paper draws "
        "200 samples, at temperature 0.2 for pass@1 and 0.8 for pass@100, as :samples_cool and :samples do; one greedy sample "
        "is usual today. The official limit is 3 s on the clock; here it is 3 s of processor time and 9 s on the clock. A "
        "completion is run as written: a lost first indent is not mended."
    ),
    licence="MIT",
    released="2021-07-07",
    chance=0.0,
    saturated_at=0.9,
    errata=(
        "The docstrings of HumanEval/47 and HumanEval/116 have examples that their tests refute; :errata leaves both out.",
        "Some docstrings say less than their tests demand, so a score of 1 is no mark of understanding.",
    ),
)

ERRATA = {"HumanEval/47": FLAWED, "HumanEval/116": FLAWED}
"""Of all examples in docstrings that state a value, those of these two disagree with the canonical solution."""

BENCHMARK = Benchmark(
    name="humaneval",
    task=Task(
        sources={"test": Package("human_eval", "data/HumanEval.jsonl.gz", "human-eval>=1.0.3")},
        to_items=to_items,
        version=1,
    ),
    asking=Prompting(
        name="raw completion",
        version=1,
        requests=by_completion,
        needs=frozenset({"complete"}),
        text=COMPLETION,
    ),
    scoring=Scoring(
        markings=(Marking("pass_at_1", CODE_COMPLETION, FUNCTION_TEST),),
        score_truncated=True,  # a base model runs on past the function; what came first counts
        score_refused=True,
    ),
    aggregation=Aggregation(metrics={"pass_at_1": PASS_AT_1}),
    card=CARD,
    gold_answer=lambda item: Answer(str(item.gold["canonical_solution"])),
)

COUNTED = {"pass_at_1": PASS_AT_1, "pass_at_10": PASS_AT_10, "pass_at_100": PASS_AT_100}


def sampled(name: str, temperature: float, scorer: ProgramScorer = FUNCTION_TEST) -> Benchmark:
    """200 samples of each problem; one verdict on each serves every k."""
    return replace(
        BENCHMARK,
        name=f"humaneval:{name}",
        asking=Prompting(
            name=f"raw completion, 200 samples at temperature {temperature}",
            version=1,
            requests=by_sampling(temperature),
            needs=frozenset({"complete"}),
            text=COMPLETION,
            samples=200,
        ),
        scoring=replace(
            BENCHMARK.scoring, markings=tuple(Marking(metric, CODE_COMPLETION, scorer) for metric in COUNTED)
        ),
        aggregation=Aggregation(metrics=COUNTED),
    )


VARIANTS: dict[str, Benchmark] = {
    "samples": sampled("samples", 0.8),  # the paper's best temperature for pass@100
    "samples_cool": sampled("samples_cool", 0.2),  # and for pass@1
    "samples_errata": sampled("samples_errata", 0.8, corrected(ERRATA)),
    "errata": replace(
        BENCHMARK,
        name="humaneval:errata",
        scoring=replace(BENCHMARK.scoring, markings=(Marking("pass_at_1", CODE_COMPLETION, corrected(ERRATA)),)),
    ),
    "chat": replace(
        BENCHMARK,
        name="humaneval:chat",
        asking=Prompting(
            name="zero-shot chat",
            version=1,
            requests=by_chat,
            needs=frozenset({"chat"}),
            text=CHAT,
        ),
        scoring=Scoring(
            markings=(Marking("pass_at_1", CODE, FUNCTION_TEST),),
            score_truncated=False,  # the program may be the part that was cut off
            score_refused=True,
        ),
        gold_answer=lambda item: Answer(f"```python\n{item.gold['prompt']}{item.gold['canonical_solution']}```"),
    ),
}
