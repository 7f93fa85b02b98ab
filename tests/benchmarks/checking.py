"""`measurand check` on rows of a benchmark's real schema: the gold earns everything, nothing and nonsense earn nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from measurand.core.benchmark import Benchmark
from measurand.core.program import Program, Result
from measurand.run.check import Checked, check
from measurand.run.prepare import prepare
from measurand.sandboxes.fake import FakeSandbox
from tests.run.world import Listed


def _refuse(program: Program) -> Result:
    raise AssertionError(f"no program was to be run: {program}")


def checked(benchmark: Benchmark, rows: Sequence[dict[str, Any]]) -> Checked:
    """What `check` finds in these rows."""
    return asyncio.run(check(prepare(benchmark, Listed(list(rows))), FakeSandbox(_refuse)))


def assert_check_passes(benchmark: Benchmark, rows: Sequence[dict[str, Any]]) -> None:
    found = checked(benchmark, rows)
    assert found.answers
    assert [answers for answers in found.answers if not answers.good] == []
