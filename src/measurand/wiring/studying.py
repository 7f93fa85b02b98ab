"""Studies: everybody is asked everything, and what came of it becomes findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from measurand.core.benchmark import Subset
from measurand.core.errors import InputError, MeasurandError, NotLicensedError, SandboxError, UnaskableError
from measurand.core.run import Plan
from measurand.core.subject import Facts, Price
from measurand.run.collecting import seldom
from measurand.run.session import Watch, carry_out
from measurand.study.load import load_study
from measurand.study.records import Candidate, PrivateSet, Study
from measurand.wiring import Evaluation, Options, SubjectOptions, begin_evaluation, open_benchmark, summarise
from measurand.wiring.opening import open_subject

if TYPE_CHECKING:
    from measurand.core.decision import Decision
    from measurand.core.findings import Empty, Findings
    from measurand.run.engine import Engine
    from measurand.study.evidence import Evidence, Result, Scenario


Made = dict[tuple[str, str], Evaluation]
"""What was carried out, by subject and scenario."""
Refused = dict[tuple[str, str], MeasurandError]
"""What could not be done as its protocol says."""
REFUSALS = (UnaskableError, NotLicensedError, SandboxError)
"""What leaves one cell empty and the rest of a study as it is."""


@dataclass(frozen=True, slots=True)
class Job:
    """One subject and one thing that it is asked."""

    candidate: Candidate
    scenario: str
    what: str | PrivateSet
    options: Options


@dataclass(frozen=True, slots=True)
class Studied:
    """A study that has been carried out, as far as it went: its findings, and each run in the order they were made."""

    findings: Findings
    evaluations: tuple[Evaluation, ...]

    @property
    def decision(self) -> Decision:
        """The answer, its causes, the rules, the threats, and what would change it."""
        return self.findings.decision

    def __str__(self) -> str:
        return self.decision.answer

    def _repr_html_(self) -> str:
        from measurand.report.study.page import findings_page

        return findings_page(self.findings)


async def run_study(
    study: Study, options: Options, watch: Watch | None = None, tell: Callable[[Evaluation], None] | None = None
) -> Studied:
    """Ask every subject everything, one run after another, and come to findings.

    Starting again resumes. A subject that cannot be asked as a protocol says leaves an empty cell with the reason.
    `tell` is called after each run; after one that stopped early no other is begun.
    """
    from measurand.study.deciding import findings

    jobs = list(study_jobs(study, options))
    evidence = _checked(study, jobs)
    made: Made = {}
    refused: Refused = {}
    with seldom():
        for job in jobs:
            key = job.candidate.label, job.scenario
            try:
                engine = begin_evaluation(job.what, job.candidate.spec, job.options)
                ended = await carry_out(engine, watch)
            except REFUSALS as error:
                refused[key] = error
                continue
            store = engine.ports.store
            made[key] = Evaluation(summarise(store, engine.run), ended, store)
            if tell is not None:
                tell(made[key])
            if not ended.complete:
                break
        return Studied(findings(_with_results(evidence, jobs, made, refused)), tuple(made.values()))


async def study_findings(study: Study, options: Options) -> Findings:
    """The findings of what is stored, without asking anybody. What is not stored is an empty cell."""
    from measurand.study.deciding import findings

    jobs = list(study_jobs(study, options))
    evidence = _checked(study, jobs)
    made: Made = {}
    refused: Refused = {}
    for job in jobs:
        key = job.candidate.label, job.scenario
        try:
            engine = begin_evaluation(job.what, job.candidate.spec, job.options)
        except REFUSALS as error:
            refused[key] = error
            continue
        found = _stored(engine)
        await engine.ports.sandbox.close()
        if found is not None:
            made[key] = found
    return findings(_with_results(evidence, jobs, made, refused))


def plan_study(study: Study, options: Options) -> Iterator[tuple[Job, Plan | MeasurandError]]:
    """What each run would ask, cost and be able to detect. Rules that nothing could decide are refused first."""
    from measurand.run.plan import make_plan

    jobs = list(study_jobs(study, options))
    _checked(study, jobs)
    for job in jobs:
        try:
            yield job, make_plan(begin_evaluation(job.what, job.candidate.spec, job.options))
        except REFUSALS as error:
            yield job, error


def decide(study: Study | str | Path, options: Options | None = None) -> Studied:
    """Carry out a study, from its record or its file, and return what it came to. Raises MeasurandError."""
    from measurand.wiring import run_sync

    record = study if isinstance(study, Study) else load_study(Path(study))
    return run_sync(lambda: run_study(record, options or Options()))


def study_jobs(study: Study, options: Options) -> Iterator[Job]:
    """Every subject with everything that it is asked; options from the command line come before the study's."""
    limits = msgspec.structs.replace(
        options.limits,
        max_cost=options.limits.max_cost or study.max_cost,
        max_tokens=options.limits.max_tokens or study.max_tokens,
        max_seconds=options.limits.max_seconds or study.max_seconds,
    )
    for candidate in study.candidates:
        own = replace(options, limits=limits, subject=_subject_options(candidate, options))
        for public in study.benchmarks:
            subset = Subset(public.subset_size, public.seed) if public.subset_size else None
            shape = replace(
                own,
                subset=options.subset or subset,
                samples=options.samples or public.samples,
                max_output=options.max_output or public.max_tokens,
            )
            yield Job(candidate, public.name, public.name, shape)
        for private in study.sets:
            yield Job(candidate, open_benchmark(private).name, private, own)


def scenarios(jobs: Sequence[Job]) -> tuple[Scenario, ...]:
    """What the subjects are asked, each once, as benchmarks with their cards."""
    from measurand.study.evidence import Scenario

    found: dict[str, Scenario] = {}
    for job in jobs:
        if job.candidate == jobs[0].candidate:
            if job.scenario in found:
                raise InputError(f"the study asks '{job.scenario}' twice; give the sets names of their own")
            benchmark = open_benchmark(job.what)
            private = isinstance(job.what, PrivateSet)
            canonical, departs = departure(job.what, job.options)
            found[job.scenario] = Scenario(
                name=benchmark.name,
                card=benchmark.card,
                private=private,
                metrics=tuple(dict.fromkeys(marking.metric for marking in benchmark.scoring.markings)),
                canonical=canonical,
                departs=departs,
                tuned=isinstance(job.what, PrivateSet) and job.what.tuned,
            )
    return tuple(found.values())


def _checked(study: Study, jobs: Sequence[Job]) -> Evidence:
    """The evidence without results: its rules are known to be decidable, and its subjects to be there."""
    from measurand.study.evidence import Evidence
    from measurand.study.judging import check_rules
    from measurand.study.leaderboards import read_published
    from measurand.study.signals import read_log, signals

    evidence = Evidence(
        study=study,
        candidates=study.candidates,
        scenarios=scenarios(jobs),
        results=(),
        signals=tuple(signal for log in study.logs for signal in signals(read_log(log))),
        published=read_published(Path(study.published)) if study.published else (),
        made=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    check_rules(evidence)
    evidence.scenario()
    for job in {job.candidate.label: job for job in jobs}.values():
        try:
            open_subject(job.candidate.spec, job.options.subject)
        except InputError as error:
            raise InputError(f"subject '{job.candidate.label}': {error}") from error
    return evidence


def departure(what: str | PrivateSet, options: Options) -> tuple[str, str]:
    """The canonical protocol of a public benchmark, and how this asking departs from it; nothing where it does not."""
    if isinstance(what, PrivateSet):
        return "", ""
    base, _, variant = what.partition(":")
    departs = [f"by the variant {variant}"] if variant else []
    departs += [f"on a subset of {options.subset.size} items"] if options.subset else []
    departs += [f"with replies of at most {options.max_output} tokens"] if options.max_output else []
    departs += [f"{options.samples} times for each item"] if options.samples else []
    return (base, ", ".join(departs)) if departs else ("", "")


def _subject_options(candidate: Candidate, options: Options) -> SubjectOptions:
    given = options.subject
    facts = given.facts
    if facts is None and (candidate.price or candidate.cutoff or candidate.licence):
        facts = Facts(
            dated=datetime.now(UTC).date().isoformat(),
            weights=candidate.weights,
            cutoff=candidate.cutoff,
            price=Price(*candidate.price) if candidate.price else None,
            licence=candidate.licence,
        )
    return msgspec.structs.replace(
        given,
        base_url=given.base_url or candidate.base_url,
        key_env=given.key_env or candidate.key_env,
        api_version=given.api_version or candidate.api_version,
        facts=facts,
        passes=given.passes if given.passes != "single pass" else candidate.passes,
    )


def _with_results(evidence: Evidence, jobs: Sequence[Job], made: Made, refused: Refused) -> Evidence:
    return replace(evidence, results=tuple(_result(job, made, refused) for job in jobs), looks=_looks(made))


def _result(job: Job, made: Made, refused: Refused) -> Result:
    from measurand.run.tables import tables
    from measurand.study.evidence import Result

    key = job.candidate.label, job.scenario
    if key in refused:
        return Result(*key, empty=_why_empty(job, refused[key]), why=str(refused[key]))
    if key not in made:
        return Result(*key, empty="not_run", why="it was not asked")
    done = made[key]
    return Result(*key, tables=tables(done.store, done.run), summary=done.summary)


def _why_empty(job: Job, error: MeasurandError) -> Empty:
    if isinstance(error, NotLicensedError):
        return "not_licensed"
    if isinstance(error, SandboxError):
        return "refused"
    needs = open_benchmark(job.what).asking.needs
    return "no_loglikelihood" if "loglikelihood" in needs else "not_applicable"


def _stored(engine: Engine) -> Evaluation | None:
    """A run as the store holds it; None where nothing of it was ever done."""
    from measurand.run.engine import Ended

    store = engine.ports.store
    known = next((run for run in store.runs() if run.id == engine.run.id), None)
    return None if known is None else Evaluation(summarise(store, known), Ended(complete=True), store)


def _looks(made: Made) -> dict[str, tuple[int, ...]]:
    """The items of each run of a scenario that the store holds, for the subject that was looked at most often."""
    looks: dict[str, tuple[int, ...]] = {}
    for (_, scenario), done in made.items():
        alike = [
            run for run in done.store.runs() if run.benchmark == scenario and run.subject_id == done.run.subject_id
        ]
        looks[scenario] = max(looks.get(scenario, ()), tuple(sorted(run.n_items for run in alike)), key=len)
    return looks
