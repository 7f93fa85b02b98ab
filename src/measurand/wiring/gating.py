"""The gate over a stored run or an evaluation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from measurand.core.decision import Gate
from measurand.core.subject import subject_name
from measurand.study.records import Candidate, Study
from measurand.wiring import Evaluation, summarise
from measurand.wiring.comparing import scenario_of

if TYPE_CHECKING:
    from measurand.core.ports import Store
    from measurand.core.run import Run
    from measurand.study.evidence import Evidence
    from measurand.study.gating import GateOptions


def gate(evaluation: Evaluation, options: GateOptions | None = None, baseline: str | Path | None = None) -> Gate:
    """Check an evaluation against a baseline file, or by rules, or both. Raises InputError for what cannot be used."""
    return gate_stored(evaluation.store, evaluation.run, options, baseline)


def gate_stored(store: Store, run: Run, options: GateOptions | None = None, baseline: str | Path | None = None) -> Gate:
    """`gate` for a run in a store that is open already."""
    from measurand.study import gating
    from measurand.study.baseline import read_baseline

    before = read_baseline(Path(baseline)) if baseline is not None else None
    return gating.gate(_evidence(store, run), before, options or gating.GateOptions())


def save_baseline(store: Store, run: Run, path: str | Path) -> int:
    """Write the baseline that a run is, and return its bytes. Raises InputError where it is too large."""
    from measurand.run.tables import tables
    from measurand.study.baseline import baseline_of, write_baseline

    return write_baseline(baseline_of(tables(store, run)), Path(path))


def _evidence(store: Store, run: Run) -> Evidence:
    """A study of one run."""
    from measurand.run.tables import tables
    from measurand.study.evidence import Evidence, Result

    name = subject_name(run.subject)
    candidate = Candidate(spec=name, name=name)
    scenario = scenario_of(run)
    result = Result(name, run.benchmark, tables(store, run), summarise(store, run))
    return Evidence(Study(name="gate", question="", subjects=(candidate,)), (candidate,), (scenario,), (result,))
