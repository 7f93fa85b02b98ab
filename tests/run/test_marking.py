"""Reading and scoring, and doing both again without a model."""

from dataclasses import replace

import pytest

from measurand.core.benchmark import Marking, ProgramScorer, Reader, Scorer, Scoring
from measurand.core.errors import SandboxError
from measurand.core.item import Item, Question
from measurand.core.outcome import Answer, Answered, Blocked, Failed, NotRun, Refused, Truncated
from measurand.core.program import Result, Script
from measurand.core.trial import Absent, Found, Measured, Missing
from measurand.run.marking import mark
from measurand.run.rescore import rescore
from measurand.run.session import carry_out
from measurand.run.summary import summarise
from measurand.sandboxes.fake import FakeSandbox
from measurand.sandboxes.refuse import NoSandbox
from measurand.store import open_store
from tests.run.world import BENCHMARK, SCORING, Scripted, engine, right

ITEM = Item("1", Question("1 + 1"), "2")


async def nothing(program):
    raise AssertionError("no program was to be run")


async def test_one_reader_reads_once_for_many_scorers():
    reads = []

    def read(item, answer):
        reads.append(answer.text)
        return Found(answer.text)

    reader = Reader("r", 1, read)
    scoring = Scoring(
        (
            Marking("a", reader, Scorer("x", 1, lambda item, finding: Measured((1.0,)))),
            Marking("b", reader, Scorer("y", 2, lambda item, finding: Missing("not_applicable"))),
        )
    )
    marks = await mark(scoring, "t", ITEM, Answered(Answer("2")), nothing)
    assert reads == ["2"]
    assert [(score.metric, score.by) for score in marks.scores] == [("a", "x@1"), ("b", "y@2")]
    assert marks.scores[1].value == Missing("not_applicable")


@pytest.mark.parametrize(
    "outcome", [Truncated("tokens", Answer("2")), Refused(Answer("2")), Blocked("x"), Failed("a", "b"), NotRun("c")]
)
async def test_what_may_not_be_scored_is_not(outcome):
    marks = await mark(SCORING, "t", ITEM, outcome, nothing)
    assert not marks.scores
    assert not marks.readings


async def test_an_absent_reading_is_a_wrong_answer_not_a_missing_one():
    marks = await mark(SCORING, "t", ITEM, Answered(Answer("")), nothing)
    assert isinstance(marks.readings[0].finding, Absent)
    assert marks.scores[0].value == Measured((0.0,))


def by_program() -> Scoring:
    def program(item, finding):
        return Script(finding.value)

    def verdict(item, result):
        return Measured((float(result.stdout == item.gold),))

    reader = Reader("r", 1, lambda item, answer: Found(answer.text))
    return Scoring((Marking("accuracy", reader, ProgramScorer("p", 1, program, verdict)),))


async def test_programs_are_run_and_remembered():
    sandbox = FakeSandbox(lambda program: Result("finished", 0, "2"))
    marks = await mark(by_program(), "t", ITEM, Answered(Answer("print(2)")), sandbox.run)
    assert marks.scores[0].value == Measured((1.0,))
    assert marks.ran[0].program == Script("print(2)")


async def test_one_program_is_run_once_for_many_metrics():
    (marking,) = by_program().markings
    ran = []
    sandbox = FakeSandbox(lambda program: ran.append(program) or Result("finished", 0, "2"))
    scoring = Scoring((marking, replace(marking, metric="other")))
    marks = await mark(scoring, "t", ITEM, Answered(Answer("print(2)")), sandbox.run)
    assert [(score.metric, score.value) for score in marks.scores] == [
        ("accuracy", Measured((1.0,))),
        ("other", Measured((1.0,))),
    ]
    assert len(ran) == len(marks.ran) == 1


async def test_no_isolation_is_a_missing_score_never_a_zero():
    marks = await mark(by_program(), "t", ITEM, Answered(Answer("print(2)")), NoSandbox("no bwrap").run)
    assert marks.scores[0].value == Missing("no_sandbox", "no bwrap")
    with pytest.raises(SandboxError):
        await NoSandbox("no bwrap").run(Script(""))


async def test_scoring_again_needs_no_subject():
    store = open_store(":memory:")
    made = engine(Scripted(right), store=store)
    await carry_out(made)
    again = await rescore(store, made.run, BENCHMARK, NoSandbox("none"))
    assert again.id == made.run.id
    assert summarise(store, again).views[0].estimate.value == 1.0

    zero = Scoring((replace(SCORING.markings[0], scorer=Scorer("zero", 1, lambda item, finding: Measured((0.0,)))),))
    other = await rescore(store, made.run, replace(BENCHMARK, scoring=zero), NoSandbox("none"))
    assert other.id != made.run.id
    assert summarise(store, other).views[0].estimate.value == 0.0
    assert summarise(store, made.run).views[0].estimate.value == 1.0
    assert store.protocol(other.id).asking == store.protocol(made.run.id).asking
