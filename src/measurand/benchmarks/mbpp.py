"""MBPP: mostly basic Python problems, a sentence and three tests each (Austin et al. 2021)."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from measurand.asking import fill
from measurand.core.benchmark import Aggregation, Benchmark, Card, Marking, Prompting, Scoring, Shots, Task
from measurand.core.errors import DataError
from measurand.core.item import Item, Question, Row
from measurand.core.message import user
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.request import Complete, Decode, Generate
from measurand.core.source import Hub
from measurand.scoring.code import CODE, FUNCTION_TEST, completion_until
from measurand.stats.metrics import PASS_AT_1

# Word for word the prompt of the paper's repository; {{text}} and {{tests}} are the item's own.
TASK_TEXT = "You are an expert Python programmer, and here is your task: {{text}} Your code should pass these tests:\n\n{{tests}}\n[BEGIN]\n"
EXEMPLAR = TASK_TEXT + "{{code}}\n[DONE]\n\n"

CHAT = """\
Write a Python function for this task:

{{text}}

It will be called as in these tests, which it must pass:

```python
{{tests}}
```

Reply with one fenced block of Python that holds the function and the imports and helpers it needs. Do not repeat the tests."""

STOP = ("[DONE]",)
EXEMPLARS = range(2, 5)
"""The three that the paper shows before every problem."""
TESTED = range(11, 511)
"""The test split; the rest were shown, trained on or tuned on in the paper."""

CALL = """\
_tests = {tests!r}


def check(candidate):
    for test in _tests:
        exec(test, globals())
"""


def to_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """The rows of the test split, or of the three exemplars where the source is `prompt`, whatever else is there."""
    wanted = EXEMPLARS if source == "prompt" else TESTED
    return [item for item in all_items(source, rows) if item.id.rpartition("/")[2] in set(map(str, wanted))]


def all_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """All rows: full (`text`, `test_setup_code`) or sanitised (`prompt`, `test_imports`)."""
    items = []
    for number, row in enumerate(rows):
        where = f"mbpp: row {number + 1} of {source}"
        text, code, tests = row.get("text", row.get("prompt")), row.get("code"), _texts(row.get("test_list"))
        if not isinstance(text, str) or not isinstance(code, str) or not tests or row.get("task_id") is None:
            message = f"{where} lacks `task_id`, `text` (or `prompt`), `code` or `test_list`; give the official columns"
            raise DataError(message)
        code = code.replace("\r\n", "\n")
        setup = [*_texts(row.get("test_imports")), *_texts([row.get("test_setup_code") or ""])]
        gold = {
            "prompt": "",
            "entry_point": entry_point_of(code, tests, where),
            "test": CALL.format(tests=[line.replace("\r\n", "\n") for line in (*setup, *tests)]),
            "canonical_solution": code,
            "shown": "\n".join(tests),
        }
        items.append(
            Item(
                id=f"mbpp/{row['task_id']}",
                input=Question(text),
                gold=gold,
                language="en",
                origin=Row(f"mbpp/{source}", number, made="synthetic"),
            )
        )
    return items


def _texts(value: Json) -> list[str]:
    return [text for text in value if isinstance(text, str) and text] if isinstance(value, list) else []


def entry_point_of(code: str, tests: Sequence[str], where: str) -> str:
    """The function of the reference that the first test calls. Raises DataError where there is none."""
    calls = [node.func for node in ast.walk(_parsed(tests[0])) if isinstance(node, ast.Call)]
    defined = {name for node in _parsed(code).body for name in _names(node)}
    for call in calls:
        if isinstance(call, ast.Name) and call.id in defined:
            return call.id
    raise DataError(f"{where} has no test that calls a function of its `code`; mend the row")


def _parsed(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _names(node: ast.stmt) -> list[str]:
    """What a statement at the top of a program defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def by_completion(item: Item, exemplars: Sequence[Item]) -> tuple[Complete, ...]:
    """Three solved problems and this one, as raw text; the program ends at [DONE]."""
    shown = "".join(fill(EXEMPLAR, _parts(one)) for one in exemplars)
    return (Complete(shown + fill(TASK_TEXT, _parts(item)), Decode(max_tokens=1024, stop=STOP)),)


def by_chat(item: Item, _: Sequence[Item]) -> tuple[Generate, ...]:
    """One user turn with the tests, no examples."""
    return (Generate((user(fill(CHAT, _parts(item))),), decode=Decode(max_tokens=4096)),)


def _parts(item: Item) -> dict[str, str]:
    assert isinstance(item.input, Question)  # noqa: S101  to_items makes nothing else
    gold = item.gold if isinstance(item.gold, dict) else {}
    return {"text": item.input.text, "tests": str(gold["shown"]), "code": str(gold["canonical_solution"])}


CARD = Card(
    title="MBPP",
    measures="writing one short Python function from a sentence in English and three tests that are shown",
    blind_spots=(
        "Saturated: frontier models pass nine in ten.",
        "The sentence is often vague; the three tests, which the prompt shows, say what is meant and are all the tests.",
        "Public since August 2021 and in many training sets; the dataset's own train split resembles its test split.",
        (
            "Candidate and test run apart and only plain values cross: a test that builds objects of the candidate's own "
            "class cannot be run, and what a function does to its arguments is not seen."
        ),
    ),
    style="quiz",
    canonical_source="google-research-datasets/mbpp, full: ids 11 to 510 are the test split (500); dated by arXiv:2108.07732",
    canonical_protocol=(
        "Raw text with problems 2, 3 and 4 as solved examples, each between [BEGIN] and [DONE]. The paper draws 80 samples at "
        "temperature 0.5; one greedy sample, as here, is usual today. Limit: 3 s of processor time and 9 s on the clock. "
        "Carriage returns in the data's programs are dropped."
    ),
    licence="CC-BY-4.0",
    released="2021-08-16",
    chance=0.0,
    saturated_at=0.9,
    errata=(
        "The sanitised set of 427 mends or drops problems whose sentence and tests disagree.",
        "mbpp/367 builds trees of a class that only its reference defines, so its test cannot run here: it is left unscored.",
        "The challenge tests, which a few problems have, are not used.",
    ),
)

HUB = "google-research-datasets/mbpp"
REVISION = "4bb6404fdc6cacfda99d4ac4205087b89d32030c"

BENCHMARK = Benchmark(
    name="mbpp",
    task=Task(
        sources={
            "test": Hub(HUB, REVISION, ("full/test-*.parquet",)),
            "prompt": Hub(HUB, REVISION, ("full/prompt-*.parquet",)),
        },
        to_items=to_items,
        version=1,
    ),
    asking=Prompting(
        name="raw completion, 3 fixed shots",
        version=1,
        requests=by_completion,
        needs=frozenset({"complete"}),
        text=EXEMPLAR,
        shots=Shots(k=3, pool="prompt"),
    ),
    scoring=Scoring(
        markings=(Marking("pass_at_1", completion_until("code_completion(done)", STOP), FUNCTION_TEST),),
        score_truncated=True,  # a base model runs on past the function; what came first counts
        score_refused=True,
    ),
    aggregation=Aggregation(metrics={"pass_at_1": PASS_AT_1}),
    card=CARD,
    gold_answer=lambda item: Answer(str(item.gold["canonical_solution"])),
)

CHATTING = replace(
    BENCHMARK,
    asking=Prompting(name="zero-shot chat", version=1, requests=by_chat, needs=frozenset({"chat"}), text=CHAT),
    scoring=Scoring(
        markings=(Marking("pass_at_1", CODE, FUNCTION_TEST),),
        score_truncated=False,  # the program may be the part that was cut off
        score_refused=True,
    ),
    gold_answer=lambda item: Answer(f"```python\n{item.gold['canonical_solution']}\n```"),
)

VARIANTS: dict[str, Benchmark] = {
    "chat": replace(
        CHATTING,
        name="mbpp:chat",
        task=replace(BENCHMARK.task, sources={"test": BENCHMARK.task.sources["test"]}),
    ),
    "sanitised": replace(
        BENCHMARK,
        name="mbpp:sanitised",
        task=replace(
            BENCHMARK.task,
            sources={
                "test": Hub(HUB, REVISION, ("sanitized/test-*.parquet",)),
                "prompt": Hub(HUB, REVISION, ("sanitized/prompt-*.parquet",)),
            },
        ),
    ),
    "sanitised_chat": replace(
        CHATTING,
        name="mbpp:sanitised_chat",
        task=replace(
            BENCHMARK.task,
            sources={"test": Hub(HUB, REVISION, ("sanitized/*.parquet",))},
            to_items=all_items,  # no examples are shown, so all 427 may be asked
        ),
    ),
}
