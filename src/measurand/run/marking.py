"""From an answer to readings and scores. Pure but for the sandbox, which is handed in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from measurand.core.benchmark import Benchmark, Marking, ProgramScorer, Reader, Scorer, Scoring
from measurand.core.call import Ran
from measurand.core.errors import SandboxError
from measurand.core.item import Item
from measurand.core.outcome import Outcome, Refused, Truncated, answer_of
from measurand.core.program import Program, Result
from measurand.core.trial import Finding, Measured, Missing, Reading, Score

Execute = Callable[[Program], Awaitable[Result]]


@dataclass(slots=True)
class Marks:
    """What marking one trial gave. `ran` are the programs that the scorers ran."""

    readings: list[Reading] = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)
    ran: list[Ran] = field(default_factory=list)


def needs_sandbox(benchmark: Benchmark) -> bool:
    """Whether scoring runs programs."""
    return runs_programs(benchmark.scoring)


def runs_programs(scoring: Scoring) -> bool:
    """Whether one of the scorers runs programs."""
    return any(isinstance(marking.scorer, ProgramScorer) for marking in scoring.markings)


async def mark(scoring: Scoring, trial: str, item: Item, outcome: Outcome, execute: Execute) -> Marks:
    """Read and score one trial under every marking. An outcome that may not be scored gives nothing."""
    marks = Marks()
    answer = answer_of(outcome)
    if answer is None or not _scorable(scoring, outcome):
        return marks
    findings: dict[str, Finding] = {}
    values: dict[tuple[str, str], Measured | Missing] = {}  # one program serves every metric that counts its verdict
    for marking in scoring.markings:
        reader, scorer = _named(marking.reader), _named(marking.scorer)
        if reader not in findings:
            findings[reader] = finding = marking.reader.read(item, answer)
            marks.readings.append(Reading(trial, reader, finding))
        if (reader, scorer) not in values:
            values[reader, scorer] = await _score(marking, item, findings[reader], execute, marks)
        marks.scores.append(Score((trial,), marking.metric, values[reader, scorer], scorer))
    return marks


def _named(instrument: Reader | Scorer | ProgramScorer) -> str:
    return f"{instrument.name}@{instrument.version}"


def _scorable(scoring: Scoring, outcome: Outcome) -> bool:
    if isinstance(outcome, Truncated):
        return scoring.score_truncated
    if isinstance(outcome, Refused):
        return scoring.score_refused
    return True


async def _score(marking: Marking, item: Item, finding: Finding, execute: Execute, marks: Marks) -> Measured | Missing:
    scorer = marking.scorer
    if not isinstance(scorer, ProgramScorer):
        return scorer.score(item, finding)
    program = scorer.program(item, finding)
    if isinstance(program, Measured | Missing):
        return program
    try:
        result = await execute(program)
    except SandboxError as error:
        return Missing("no_sandbox", str(error))
    marks.ran.append(Ran(program, result))
    return scorer.verdict(item, result)
