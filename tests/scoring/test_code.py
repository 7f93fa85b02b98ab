"""Finding the program in a reply, and turning how it ended into a score."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurand.core.benchmark import Reader
from measurand.core.errors import DataError
from measurand.core.identity import canonical
from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.program import Ending, FunctionTest, Limits, Result
from measurand.core.trial import Absent, Found, Measured, Missing
from measurand.scoring.code import (
    CODE,
    CODE_COMPLETION,
    CODEX_STOPS,
    FUNCTION_TEST,
    LIMITS,
    completion_until,
    preamble_of,
    problem_of,
)
from tests.growth import assert_grows_gently

PROMPT = '''\
from typing import List

def double(x: int) -> int:
    return 2 * x


def total(xs: List[int]) -> int:
    """Return the sum of xs."""
'''
TEST = "def check(candidate):\n    assert candidate([1, 2, 3]) == 6\n"
ITEM = Item("t/1", Question(PROMPT), gold={"prompt": PROMPT, "entry_point": "total", "test": TEST})
LOOP = "t = 0\nfor x in xs:\n    t += x\nreturn t"
BODY = "\n".join("    " + line for line in LOOP.split("\n"))
WHOLE = f"def total(xs: List[int]) -> int:\n{BODY}\n"


def runs(source: str) -> Any:
    space: dict[str, Any] = {"__name__": "candidate"}
    exec(compile(source, "candidate", "exec", dont_inherit=True), space)
    return space["total"]([1, 2, 3])


REPLIES = {
    "whole": WHOLE,
    "whole with the prompt": PROMPT + BODY,
    "body": BODY,
    "body after a blank line": "\n\n" + BODY + "\n\n",
    "body, first indent lost": BODY.lstrip(),
    "body, first indent lost, short": "return sum(xs)",
    "body, first indent lost before a block": "for x in xs:\n        if x > 2:\n            return 6\n    return 0",
    "body without any indent": LOOP,
    "body that runs on": BODY + "\n\n\ndef other(a, b):\n    return a +",
    "body that prints after": BODY + "\n\nprint(total([1, 2",
    "fence": f"```python\n{WHOLE}```",
    "fence, py": f"Here:\n\n```py\n{WHOLE}```\nDone.",
    "fence, Python": f"```Python\n{WHOLE}```",
    "fence, attributes": f"```{{.python .numberLines}}\n{WHOLE}```",
    "fence, no language": f"```\n{WHOLE}```",
    "fence, other language": f"```cython\n{WHOLE}```",
    "fence of tildes": f"~~~python\n{WHOLE}~~~",
    "fence of four": '````python\ndef total(xs):\n    """\n    ```\n    total([1])\n    ```\n    """\n    return sum(xs)\n````',
    "fence never closed": f"```python\n{WHOLE}",
    "fence with carriage returns": f"```python\r\n{WHOLE}```\r\n".replace("\n", "\r\n").replace("\r\r", "\r"),
    "fence in a list": "1. So:\n   ```python\n" + "\n".join("   " + line for line in WHOLE.split("\n")) + "\n   ```\n2. Done",
    "fence in the docstring": 'Sure.\n```python\ndef total(xs):\n  """\n  ```\n  x\n  ```\n  """\n  return sum(xs)\n```\nBye.',
    "fenced body": f"```python\n{BODY}\n```",
    "fenced body without indent": f"```python\n{LOOP}\n```",
    "fenced body, first indent lost": f"```python\n{BODY.lstrip()}\n```",
    "example first": f"```python\nprint(total([1]))\n```\nand\n```python\n{WHOLE}```",
    "shell first": f"```bash\npip install total\n```\n```python\n{WHOLE}```",
    "tests after": f"```python\n{WHOLE}```\nTests:\n```python\nimport pytest\nassert total([1]) == 1\n```",
    "corrected": f"```python\ndef total(xs):\n    return 0\n```\nWait, that is wrong:\n```python\n{WHOLE}```",
    "last is broken": f"```python\n{WHOLE}```\nor\n```python\ndef total(xs):\n    return sum(xs\n```",
    "helper in a fence before": "First:\n```python\ndef add(a, b):\n    return a + b\n```\nThen:\n```python\ndef total(xs):\n    t = 0\n    for x in xs:\n        t = add(t, x)\n    return t\n```",
    "helper in a fence after": "```python\ndef total(xs):\n    return add(xs)\n```\nwhere\n```python\nZERO = 0\ndef add(xs):\n    return sum(xs, ZERO)\n```",
    "helper inside": "```python\ndef add(xs):\n    return sum(xs)\n\ndef total(xs):\n    return add(xs)\n```",
    "helper of the prompt": "```python\ndef total(xs):\n    return sum(map(double, xs)) // 2\n```",
    "imports of its own": "```python\nimport functools, operator\n\ndef total(xs):\n    return functools.reduce(operator.add, xs, 0)\n```",
    "future": "```python\nfrom __future__ import annotations\nimport math\n\ndef total(xs: Undefined):\n    return sum(xs)\n```",
    "lambda": "```python\ntotal = lambda xs: sum(xs)\n```",
    "annotated": "```python\nfrom typing import Callable\ntotal: Callable = sum\n```",
    "prose around": f"Sure, here is the function you asked for:\n\n{WHOLE}\nThis adds up the numbers one by one. It's fast!",
    "prose and import": f"Of course!\n\nimport math\nfrom functools import reduce\n\n{WHOLE}\n\nLet me know (if you need more.",
    "prose with a colon": f"Solution:\n{WHOLE}\nExplanation: we add them.\nNote: it's O(n).",
    "main guard": f"```python\n{WHOLE}\nif __name__ == '__main__':\n    raise SystemExit\n```",
}  # fmt: skip


@pytest.mark.parametrize("name", REPLIES)
def test_the_program_is_found(name: str) -> None:
    finding = CODE.read(ITEM, Answer(REPLIES[name]))
    assert isinstance(finding, Found)
    assert runs(finding.value) == 6, finding.value
    assert finding.span is not None
    start, end = finding.span
    assert 0 <= start < end <= len(REPLIES[name])


@pytest.mark.parametrize("text", ["", "  \n", "I cannot help with that.", "The answer is, of course, 6!", "(" * 1000])
def test_where_there_is_no_program_none_is_found(text: str) -> None:
    finding = CODE.read(ITEM, Answer(text))
    assert isinstance(finding, Absent)
    assert FUNCTION_TEST.program(ITEM, finding) == Measured((0.0,))


@pytest.mark.parametrize(
    "text", ["```python\ndef total(xs):\n    return sum(xs\n```", "```python\ndef totals(xs):\n    return 1\n```"]
)
def test_a_wrong_program_is_found_as_it_is(text: str) -> None:
    finding = CODE.read(ITEM, Answer(text))
    assert isinstance(finding, Found)
    assert "return" in finding.value


def test_a_completion_is_the_prompt_and_what_follows_up_to_the_first_stop() -> None:
    for stop in CODEX_STOPS:
        finding = CODE_COMPLETION.read(ITEM, Answer(f"{BODY}\n{stop} rest\nclass X: pass"))
        assert finding == Found(PROMPT + BODY + "\n", (0, len(BODY) + 1))


def test_a_completion_is_not_mended() -> None:
    finding = CODE_COMPLETION.read(ITEM, Answer(BODY.lstrip()))
    assert isinstance(finding, Found)
    assert finding.value == PROMPT + BODY.lstrip()
    with pytest.raises(IndentationError):
        runs(finding.value)


def test_an_empty_completion_is_none() -> None:
    assert isinstance(CODE_COMPLETION.read(ITEM, Answer("\n\n")), Absent)
    assert isinstance(CODE_COMPLETION.read(ITEM, Answer("\nclass X: pass")), Absent)


def test_the_test_gets_what_the_prompt_gives() -> None:
    program = FUNCTION_TEST.program(ITEM, Found("x = 1"))
    assert isinstance(program, FunctionTest)
    assert program.preamble == preamble_of(problem_of(ITEM)) == PROMPT[: PROMPT.index("def total")]
    assert (program.candidate, program.entry_point, program.test) == ("x = 1", "total", TEST)
    assert program.limits == LIMITS


@pytest.mark.parametrize(
    ("ending", "value"),
    [
        ("passed", Measured((1.0,))),
        ("wrong_answer", Measured((0.0,))),
        ("exception", Measured((0.0,))),
        ("timeout", Measured((0.0,))),
        ("memory", Measured((0.0,))),
        ("output_limit", Measured((0.0,))),
        ("killed", Measured((0.0,))),
        ("no_verdict", Missing("scorer_failed", "item t/1: why")),
        ("finished", Missing("scorer_failed", "item t/1: why")),
    ],
)
def test_each_ending_has_its_score(ending: Ending, value: Measured | Missing) -> None:
    assert FUNCTION_TEST.verdict(ITEM, Result(ending, detail="why")) == value


@pytest.mark.parametrize(
    "gold", [None, "x", {}, {"prompt": "", "entry_point": "f"}, {"prompt": 1, "entry_point": "f", "test": ""}]
)
def test_in_another_gold_nothing_is_found_and_nothing_is_scored(gold: Any) -> None:
    other = Item("x", Question(""), gold=gold)
    for reader in (CODE, CODE_COMPLETION):
        finding = reader.read(other, Answer(WHOLE))
        assert isinstance(finding, Absent)
        with pytest.raises(DataError, match="item x: its gold must hold"):
            FUNCTION_TEST.program(other, finding)


def test_a_slow_problem_has_more_time() -> None:
    gold = {"prompt": PROMPT, "entry_point": "total", "test": TEST}
    for seconds, limits in ((None, LIMITS), (12, Limits(12.0, 36.0, output_bytes=1 << 20, processes=16))):
        program = FUNCTION_TEST.program(Item("x", Question(""), gold | {"cpu_seconds": seconds}), Found("x = 1"))
        assert isinstance(program, FunctionTest)
        assert program.limits == limits


def test_a_completion_may_end_elsewhere() -> None:
    reader = completion_until("code_completion(done)", ["[DONE]"])
    finding = reader.read(ITEM, Answer(f"{BODY}\n\nclass X: pass\n[DONE]\nmore"))
    assert finding == Found(f"{PROMPT}{BODY}\n\nclass X: pass\n", (0, len(BODY) + 16))
    assert reader.name != CODE_COMPLETION.name


JUNK = [
    "`", "```\n", "```python\n", "```python\n(\n", "```python\n'''\n", "~~~\n```\n", "    ```\n", "a", "a ", "\n", " ", "\t", "(", "[", "-", "not ",
    "lambda:", "1+", "a.", "x[0]", "if 1:\n ", "elif x:\n  y\n", "'", '"""', "\\\n", "#", "# ```\n", "def total(xs):\n", "total =",
    "total = 1\n", "def total(", "import ", "import x\n", "from a import b\n", "class ", "@", "\x00", "\ud800", "字", "\u2028", "a=", "total: ",
    "x y\n", "def total(xs):\n    return 1\nx y\n", "```python\ndef total(xs):\n    x y\n```\n", "from __future__ import annotations\n",
]  # fmt: skip


@pytest.mark.parametrize("junk", JUNK, ids=ascii)
@pytest.mark.parametrize("head", ["", "def total(xs):\n    return 1\n"], ids=["", "headed"])
def test_long_junk_is_read_in_time(head: str, junk: str) -> None:
    text = (head + junk * 100_000)[:100_000]
    for reader in (CODE, CODE_COMPLETION):

        def read(size: int, reader: Reader = reader) -> None:
            finding = reader.read(ITEM, Answer(text[:size]))
            if isinstance(finding, Found):
                canonical(finding)

        assert_grows_gently(read, len(text), reader.name)


PIECES = st.sampled_from([*JUNK, WHOLE, BODY, LOOP, PROMPT, "prose. ", "```", "~~~~", "````python\n", "\r\n", "    "])


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=8).map("".join)))
def test_no_text_makes_a_reader_raise(text: str) -> None:
    for reader in (CODE, CODE_COMPLETION):
        finding = reader.read(ITEM, Answer(text))
        if isinstance(finding, Found):
            canonical(finding)
            assert finding.span is not None
            start, end = finding.span
            assert 0 <= start <= end <= len(text)
