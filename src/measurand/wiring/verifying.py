"""Verify: stored outputs scored again, with a sandbox for the programs among them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from measurand.core.fidelity import Check, Stored
from measurand.core.outcome import Answered
from measurand.run.marking import mark, runs_programs
from measurand.study.verify import rescorings, verify
from measurand.wiring import run_sync
from measurand.wiring.opening import no_sandbox, open_sandbox

if TYPE_CHECKING:
    from measurand.core.benchmark import Scoring
    from measurand.core.item import Item
    from measurand.core.outcome import Answer
    from measurand.core.trial import Measured, Missing

Marked = Mapping[str, "Measured | Missing"]


def verify_folder(folder: str, only: Sequence[str] = (), *, run_code: bool = False) -> Iterator[Check]:
    """The lines of all rescorings whose outputs are in the folder, or of those named. Raises InputError."""
    return verify(stored_outputs(Path(folder).expanduser()), rescorings(only), run_code=run_code)


def stored_outputs(folder: Path) -> Stored:
    """A folder of stored outputs, marked by the same code as a run's."""
    return Stored(folder, lambda scoring, answers: run_sync(lambda: _mark(scoring, answers)))


async def _mark(scoring: Scoring, answers: Sequence[tuple[Item, Answer]]) -> list[Marked]:
    sandbox = open_sandbox() if runs_programs(scoring) else no_sandbox()

    async def one(item: Item, answer: Answer) -> Marked:
        marks = await mark(scoring, item.id, item, Answered(answer), sandbox.run)
        return {score.metric: score.value for score in marks.scores}

    try:
        return await asyncio.gather(*(one(item, answer) for item, answer in answers))
    finally:
        await sandbox.close()
