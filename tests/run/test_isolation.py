"""Isolation in the conditions of a run: every level that its sessions had, named where two runs differ in it."""

from dataclasses import replace

import msgspec
import pytest

from measurand.core.claim import AboutModel
from measurand.core.errors import SandboxError
from measurand.core.ports import Isolation
from measurand.core.program import Program, Result
from measurand.core.run import Run
from measurand.run.isolation import demand_isolation, is_unconfined, with_isolation
from measurand.run.notes import notes
from measurand.store import open_store
from measurand.study.comparability import comparability
from tests.laws.examples import PROTOCOL, RUN, TALLY
from tests.study.world import table

JAILS = Isolation("namespaces", "bubblewrap", "8 processes")
NOTHING = Isolation("none", "nothing", "bubblewrap is missing")
ACCEPTED = Isolation("none", "nothing, as accepted", "user 0", accepted=True)


class Described:
    """A sandbox that is only looked at."""

    def __init__(self, isolation: Isolation) -> None:
        self._isolation = isolation

    def describe(self) -> Isolation:
        return self._isolation

    async def run(self, program: Program) -> Result:
        raise AssertionError(program)

    async def close(self) -> None: ...


def test_only_isolation_or_its_acceptance_will_do() -> None:
    for isolation in (JAILS, ACCEPTED):
        demand_isolation(Described(isolation))
    with pytest.raises(SandboxError, match="bubblewrap is missing"):
        demand_isolation(Described(NOTHING))


def after(*sessions: Isolation) -> Run:
    """A run that was worked on under these, one after another."""
    store, run = open_store(":memory:"), RUN
    for isolation in sessions:
        run = with_isolation(RUN, Described(isolation), store)
        store.open_run(run, PROTOCOL, [])
    store.close()
    return run


def test_every_level_of_a_run_is_kept_whatever_came_later() -> None:
    assert after(JAILS).conditions.isolation == "namespaces by bubblewrap"
    assert after(JAILS, JAILS) == after(JAILS)
    assert after(ACCEPTED, JAILS).conditions.isolation == "none by nothing, as accepted, then namespaces by bubblewrap"
    assert after(ACCEPTED, JAILS, JAILS, ACCEPTED) == with_detail(after(ACCEPTED, JAILS), "user 0")
    assert after(JAILS).id == after(ACCEPTED, JAILS).id


def with_detail(run: Run, detail: str) -> Run:
    return msgspec.structs.replace(run, conditions=msgspec.structs.replace(run.conditions, isolation_detail=detail))


def test_a_report_of_it_says_so() -> None:
    for run, told in ((after(JAILS), False), (after(ACCEPTED), True), (after(ACCEPTED, JAILS), True)):
        assert is_unconfined(run) is told
        assert any("without isolation" in note for note in notes(run, PROTOCOL, TALLY, (), ())) is told


def test_a_comparison_names_the_difference() -> None:
    measured = table([1.0, 0.0])
    a, b = (
        replace(measured, run=msgspec.structs.replace(measured.run, conditions=after(isolation).conditions))
        for isolation in (JAILS, ACCEPTED)
    )
    told = comparability(a, b, AboutModel()).conditions
    assert told == ("isolation: namespaces by bubblewrap against none by nothing, as accepted",)
