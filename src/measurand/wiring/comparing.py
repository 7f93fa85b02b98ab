"""Two stored runs side by side."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from measurand.core.claim import AboutMethod
from measurand.core.errors import InputError
from measurand.core.findings import Contrast
from measurand.core.identity import short
from measurand.core.subject import subject_name
from measurand.study.records import Candidate, Study
from measurand.wiring import Evaluation, benchmark_of, open_store, summarise

if TYPE_CHECKING:
    from measurand.core.claim import Claim
    from measurand.core.findings import Findings
    from measurand.core.ports import Store
    from measurand.core.run import Run
    from measurand.study.comparability import Comparability
    from measurand.study.evidence import Evidence, Scenario


@dataclass(frozen=True, slots=True)
class Compared:
    """Two runs, what differs between them, and the difference: pooled first, then macro, then by slice.

    Where the two may not be compared, `may.refused` says why, and the contrasts hold no comparison.
    """

    a: Run
    b: Run
    may: Comparability
    contrasts: tuple[Contrast, ...]
    evidence: Evidence = field(repr=False)

    @property
    def whole(self) -> Contrast:
        """The pooled contrast."""
        return self.contrasts[0]

    def findings(self) -> Findings:
        """Everything for a page. Of a method claim it is the page of an ablation: one run of each, slice by slice."""
        from measurand.study.ablation import ablation
        from measurand.study.deciding import findings

        claim = self.evidence.study.claim
        if isinstance(claim, AboutMethod):
            return ablation(self.evidence, claim, self.contrasts)
        return findings(self.evidence)

    def __str__(self) -> str:
        from measurand.study.comparing import seen_from
        from measurand.study.words import difference

        one = self.whole
        if one.comparison is None:
            return f"{one.a} and {one.b} on {one.scenario}: not compared, because {one.refused}."
        return f"{one.a} against {one.b} on {one.scenario}: {difference(seen_from(one, one.a))}."

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(str(self))}</p>"


def compare(
    a: Evaluation | str,
    b: Evaluation | str,
    *,
    accept: Sequence[str] = (),
    slices: Sequence[str] = (),
    store: str = "",
    claim: Claim | None = None,
) -> Compared:
    """Compare two runs in pairs, item by item: evaluations, or runs in the store by the beginning of their ids.

    `accept` names differences of protocol that are accepted (`asking.text`, or all of `asking`); `slices` adds fields
    to look at. `claim` is what the difference is meant to say: an AboutMethod names the one training variable that
    varies and what is held equal. Raises InputError for a run that is not there.
    """
    places = [(_store_of(one, store), one) for one in (a, b)]
    first, second = (
        (where, one.run if isinstance(one, Evaluation) else named_run(where, one)) for where, one in places
    )
    return compare_stored(first, second, accept=accept, slices=slices, claim=claim)


def compare_stored(
    a: tuple[Store, Run],
    b: tuple[Store, Run],
    *,
    accept: Sequence[str] = (),
    slices: Sequence[str] = (),
    claim: Claim | None = None,
) -> Compared:
    """`compare` for runs in stores that are open already."""
    from measurand.study.comparability import comparability
    from measurand.study.comparing import contrasts

    evidence = pair_evidence(a, b, accept, slices, claim)
    first, second = (evidence.result(name, evidence.scenarios[0].name).tables for name in evidence.subjects)
    assert first is not None  # noqa: S101 - pair_evidence reads both
    assert second is not None  # noqa: S101
    return Compared(a[1], b[1], comparability(first, second, evidence.claim, accept), contrasts(evidence), evidence)


def pair_evidence(
    a: tuple[Store, Run],
    b: tuple[Store, Run],
    accept: Sequence[str],
    slices: Sequence[str],
    claim: Claim | None = None,
) -> Evidence:
    """A study of two runs: two subjects, one scenario. Equal names are told apart by the runs' ids."""
    from measurand.run.tables import tables
    from measurand.study.evidence import Evidence, Result

    if a[1].id == b[1].id:
        raise InputError(f"run {a[1].id} is named twice; compare it with another one, as `measurand ls` lists them")
    names = [subject_name(run.subject) for _, run in (a, b)]
    if names[0] == names[1]:
        names = [
            f"{name} ({_mark(run, b[1] if run is a[1] else a[1])})"
            for name, (_, run) in zip(names, (a, b), strict=True)
        ]
    candidates = tuple(Candidate(spec=name, name=name) for name in names)
    scenario = scenario_of(a[1])
    results = tuple(
        Result(name, scenario.name, tables(store, run), summarise(store, run))
        for name, (store, run) in zip(names, (a, b), strict=True)
    )
    study = Study(
        name="comparison",
        question=f"Which is better on {scenario.name}: {names[0]} or {names[1]}?",
        subjects=candidates,
        claim=claim,
        accept_difference=tuple(accept),
        slices=tuple(slices),
    )
    return Evidence(study, candidates, (scenario,), results)


def scenario_of(run: Run) -> Scenario:
    """What a stored run asked; a blank card where its benchmark is defined nowhere any more."""
    from measurand.core.benchmark import Card
    from measurand.study.evidence import Scenario

    try:
        card = benchmark_of(run).card
    except InputError:  # a benchmark of somebody's notebook; its numbers are still true
        card = Card(run.benchmark, "what its items ask", (), "ask", "", "", "")
    return Scenario(run.benchmark, card, bool(run.recipe), ())


def named_run(store: Store, name: str) -> Run:
    """The run whose id begins with `name`; the latest where it is empty. Raises InputError where there is not one."""
    runs = store.runs()
    if not runs:
        raise InputError("the store holds no run yet; make one with `measurand run`")
    found = [run for run in runs if run.id.startswith(name)] if name else runs[:1]
    if len(found) == 1:
        return found[0]
    what = "is the beginning of several runs" if found else "is no run in the store"
    raise InputError(f"'{name}' {what}; `measurand ls` lists them")


def _store_of(one: Evaluation | str, location: str) -> Store:
    return one.store if isinstance(one, Evaluation) else open_store(location, read_only=True)


def _mark(run: Run, other: Run) -> str:
    """What tells a run from another of a subject with the same name: its benchmark, its occasion, or its id."""
    if run.benchmark != other.benchmark:
        return run.benchmark
    return run.occasion if run.occasion and run.occasion != other.occasion else short(run.id)
