"""MBPP+: 378 checked problems of MBPP with some thirty-five times as many tests (Liu et al. 2023)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from measurand.asking import fill
from measurand.benchmarks.humaneval_plus import inputs_of
from measurand.benchmarks.mbpp import CARD as MBPP_CARD
from measurand.benchmarks.mbpp import entry_point_of
from measurand.core.benchmark import Aggregation, Benchmark, Marking, Prompting, Scoring, Task
from measurand.core.errors import DataError
from measurand.core.item import Item, Question, Row
from measurand.core.message import user
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.request import Complete, Decode, Generate
from measurand.core.source import Hub
from measurand.scoring.code import CODE, FUNCTION_TEST, completion_until
from measurand.scoring.differential import differential_test
from measurand.stats.metrics import PASS_AT_1

STOPS = ("\n```", "\nif __name__", "\ndef main(", "\nprint(", '\n"""', "\nassert")
"""Where EvalPlus ends a completion."""

CHAT = """\
Write a Python function that does what this docstring asks for and passes its test.

```python
{{prompt}}
```

Reply with one fenced block of Python that holds the function and the imports and helpers it needs. Do not repeat the test."""

Typed = Callable[[Any], object]


def deep(value: object) -> object:
    """Tuples all the way down."""
    return tuple(map(deep, value)) if isinstance(value, list) else value


def listed(value: list[Json]) -> list[object]:
    """A list of tuples."""
    return [tuple(one) if isinstance(one, list) else one for one in value]


def nested(value: list[Json]) -> tuple[object, ...]:
    """A tuple of tuples."""
    return tuple(listed(value))


# The release's JSON has lists where arguments are tuples: which, by problem and by argument (None: every one).
TYPES: tuple[tuple[frozenset[int], int | None, Typed], ...] = (
    (frozenset({2, 116, 132, 143, 222, 261, 273, 394, 399, 421, 424, 429, 470, 560, 579, 596, 616, 630, 726, 740, 744, 809}), None, tuple),
    (frozenset({63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780}), None, listed),
    (frozenset({75, 413, 444, 753}), 0, listed),
    (frozenset({106, 750}), 1, tuple),
    (frozenset({250, 307, 405, 446, 617, 720, 763, 808}), 0, tuple),
    (frozenset({259, 278, 401, 445}), None, nested),
    (frozenset({580, 615, 791}), None, deep),
)  # fmt: skip

SPECIAL: dict[int, Callable[[list[Any]], list[object]]] = {
    115: lambda given: [[set(one) if one else {} for one in given[0]]],
    124: lambda given: [float(given[0]), complex(given[1])],
    252: lambda given: [complex(given[0])],
    404: lambda given: [float(one) if isinstance(one, str) else one for one in given],
    722: lambda given: [{key: tuple(value) for key, value in given[0].items()}, *given[1:]],
}
"""Arguments that are sets, complex numbers, infinities, or tuples inside a dict."""

SAME_SET = """\
def agrees(got, expected, arguments):
    return set(got) == set(expected)
"""

FOUND_OR_NOT = """\
def agrees(got, expected, arguments):
    return (got if isinstance(got, bool) else got is not None) == (expected is not None)
"""

# The answers that EvalPlus accepts besides the reference's, by function.
ORACLES = {
    **dict.fromkeys(("similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly"), SAME_SET),
    **dict.fromkeys(("larg_nnum", "find_dissimilar", "Diff"), SAME_SET),
    **dict.fromkeys(("check_str", "text_match_three", "text_starta_endb"), FOUND_OR_NOT),
    "surface_Area": """\
def agrees(got, expected, arguments):
    edge, height = arguments
    slant = ((edge / 2) ** 2 + height**2) ** 0.5
    return usual(got, expected, arguments) or abs(got - round(edge**2 + 2 * edge * slant)) <= 1e-4
""",
    "digit_distance_nums": """\
def agrees(got, expected, arguments):
    one, two = map(str, arguments)
    digits = zip(one.zfill(len(two)), two.zfill(len(one)))
    return usual(got, expected, arguments) or got == sum(abs(int(a) - int(b)) for a, b in digits)
""",
}

CPU_SECONDS = {
    "Mbpp/84": 8.0,
    "Mbpp/123": 16.0,
    "Mbpp/271": 20.0,
    "Mbpp/300": 8.0,
    "Mbpp/389": 8.0,
    "Mbpp/392": 24.0,
    "Mbpp/583": 6.0,
    "Mbpp/589": 6.0,
    "Mbpp/592": 14.0,
    "Mbpp/599": 90.0,
    "Mbpp/603": 17.0,
    "Mbpp/630": 20.0,
}
"""As for HumanEval+: problems whose reference takes long on all inputs."""

FEWER = {"Mbpp/255": "[given for given in {} if given[1] < 70]"}
"""The answers to five inputs of this one have from six to 128 million parts, too many to hand over."""


def to_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """Rows of the release or of the hub, in the official order."""
    items = []
    for number, row in enumerate(rows):
        where = f"mbpp_plus: row {number + 1} of {source}"
        task_id = f"Mbpp/{str(row.get('task_id')).rpartition('/')[2]}"
        prompt, name, code = _released(row) if "base_input" in row else _of_the_hub(row, where)
        if not (isinstance(prompt, str) and isinstance(name, str) and isinstance(code, str) and "task_id" in row):
            message = (
                f"{where} lacks a text in `prompt`, `entry_point`, `canonical_solution` or `code`, or its `task_id`"
            )
            raise DataError(message)
        inputs, atol = inputs_of(_typed(row) if "base_input" in row else row, where)
        inputs = FEWER.get(task_id, "{}").format(inputs)
        gold = {
            "prompt": prompt,
            "entry_point": name,
            "test": differential_test(code, name, inputs, atol, ORACLES.get(name, "")),
            "canonical_solution": code,
            "cpu_seconds": CPU_SECONDS.get(task_id),
        }
        origin = Row(f"mbpp_plus/{source}", number, made="synthetic")
        items.append(Item(id=task_id, input=Question(prompt), gold=gold, language="en", origin=origin))
    return items


def _released(row: Mapping[str, Json]) -> tuple[Json, Json, Json]:
    return row.get("prompt"), row.get("entry_point"), row.get("canonical_solution")


def _of_the_hub(row: Mapping[str, Json], where: str) -> tuple[Json, Json, Json]:
    """The same three; the hub's rows have the sentence and the tests apart, and do not name the function."""
    text, code, tests = row.get("prompt"), row.get("code"), row.get("test_list")
    shown = [test for test in tests if isinstance(test, str)] if isinstance(tests, list) else []
    if not isinstance(text, str) or not isinstance(code, str) or not shown:
        return None, None, None
    return f'"""\n{text}\n{shown[0]}\n"""\n', entry_point_of(code, shown, where), code


def _typed(row: Mapping[str, Json]) -> dict[str, Any]:
    """The row with inputs of the types that the problem means."""
    number = int(str(row.get("task_id")).rpartition("/")[2])
    typed: dict[str, Any] = dict(row)
    for column in ("base_input", "plus_input"):
        given = row.get(column)
        typed[column] = [_retyped(number, arguments) for arguments in given] if isinstance(given, list) else []
    return typed


def _retyped(number: int, arguments: Any) -> list[object]:
    if number in SPECIAL:
        return SPECIAL[number](arguments)
    for numbers, place, typed in TYPES:
        if number in numbers:
            return [typed(one) if place in (None, at) else one for at, one in enumerate(arguments)]
    return list(arguments)


def by_completion(item: Item, _: Sequence[Item]) -> tuple[Complete, ...]:
    """The docstring as raw text, stopped where EvalPlus stops."""
    return (Complete(_prompt(item), Decode(max_tokens=1024, stop=STOPS)),)


def by_chat(item: Item, _: Sequence[Item]) -> tuple[Generate, ...]:
    """One user turn with the docstring."""
    return (Generate((user(fill(CHAT, {"prompt": _prompt(item).rstrip()})),), decode=Decode(max_tokens=4096)),)


def _prompt(item: Item) -> str:
    assert isinstance(item.input, Question)  # noqa: S101  to_items makes nothing else
    return item.input.text


CARD = msgspec.structs.replace(
    MBPP_CARD,
    title="MBPP+",
    measures="writing one short Python function from a sentence in English and one test that is shown",
    blind_spots=(
        "The problems are those of MBPP, public since 2021; only the tests are new.",
        "Sentences leave much open that the reference decides: the reference's choice is what is measured.",
        (
            "An answer is compared with that of a reference solution, so a fault of the reference fails right programs. "
            "Arguments and answers cross by value: what a function does to its arguments is not seen."
        ),
    ),
    canonical_source="evalplus/mbppplus, 378 problems (release v0.2.0 of MbppPlus.jsonl.gz, which may stand in); dated by EvalPlus v0.2.0, the release that first held it",
    canonical_protocol=(
        "Raw docstring with the sentence and one test, greedy, stopped where EvalPlus stops. Right is what equals the "
        "reference's answer on all inputs; floats within 1e-6, or as the problem states; some functions have tests of their "
        "own, as in EvalPlus. A problem has 3 s of processor time in all, and more where the reference is slow."
    ),
    licence="Apache-2.0",
    released="2023-11-24",
    saturated_at=None,
    errata=(
        "Version 0.2.0 dropped 21 broken problems of 399, which raises scores by about four points over 0.1.0.",
        "Five inputs of Mbpp/255 are left out, since their answers have millions of parts.",
        "Seven functions are compared as sets, so order and repetition are not tested there.",
    ),
)

BENCHMARK = Benchmark(
    name="mbpp_plus",
    task=Task(
        sources={
            "test": Hub(
                "evalplus/mbppplus",
                "b2d74c91837c3f2a20c1299ae98133cbe7cfa077",
                ("data/test-*.parquet",),
                nonfinite=True,  # the release's Mbpp/404 asks for the lesser of infinities
            )
        },
        to_items=to_items,
        version=1,
    ),
    asking=Prompting(
        name="raw completion", version=1, requests=by_completion, needs=frozenset({"complete"}), text="{{prompt}}"
    ),
    scoring=Scoring(
        markings=(Marking("pass_at_1", completion_until("code_completion(evalplus)", STOPS), FUNCTION_TEST),),
        score_truncated=True,  # a base model runs on past the function; what came first counts
        score_refused=True,
    ),
    aggregation=Aggregation(metrics={"pass_at_1": PASS_AT_1}),
    card=CARD,
    gold_answer=lambda item: Answer(str(item.gold["canonical_solution"])),
)

VARIANTS: dict[str, Benchmark] = {
    "chat": replace(
        BENCHMARK,
        name="mbpp_plus:chat",
        asking=Prompting(name="zero-shot chat", version=1, requests=by_chat, needs=frozenset({"chat"}), text=CHAT),
        scoring=Scoring(
            markings=(Marking("pass_at_1", CODE, FUNCTION_TEST),),
            score_truncated=False,  # the program may be the part that was cut off
            score_refused=True,
        ),
        gold_answer=lambda item: Answer(f"```python\n{item.gold['canonical_solution']}\n```"),
    ),
}
