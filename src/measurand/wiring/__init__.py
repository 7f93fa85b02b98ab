"""Evaluate: the door that the command line, notebooks and tests come through."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

import measurand
from measurand.asking.shot_orders import in_orders
from measurand.core.benchmark import Benchmark, Subset
from measurand.core.errors import UnaskableError
from measurand.core.run import Plan, Run
from measurand.core.summary import Summary
from measurand.run.collecting import seldom
from measurand.run.engine import Ended, Engine, Ports
from measurand.run.limits import RunLimits
from measurand.run.marking import needs_sandbox
from measurand.run.session import Occasion, Watch, begin, carry_out, with_max_output, with_samples
from measurand.study.content import family, load_benchmark
from measurand.study.records import PrivateSet
from measurand.wiring.opening import SubjectOptions, no_sandbox, open_data, open_sandbox, open_store, open_subject

if TYPE_CHECKING:
    from measurand.core.ports import Provider, Store
    from measurand.core.run import Slot
    from measurand.core.trial import Trial
    from measurand.run.check import Checked
    from measurand.run.prepare import Prepared

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Options:
    """Everything about an evaluation that is not the benchmark or the subject.

    `data` maps a benchmark (or `benchmark:source`) to a local copy of its data set. `store` is a path, a URL,
    `:memory:`, or empty for MEASURAND_STORE and then the default. `offline` replays only. `subset`, `samples`,
    `max_output` (tokens of a reply) and `shot_orders` (in how many orders of its exemplars each item is asked) make
    another protocol. `no_isolation` is the sentence that accepts, for this run,
    that programs are executed although nothing isolates them.
    """

    subset: Subset | None = None
    samples: int | None = None
    max_output: int | None = None
    shot_orders: int | None = None
    data: Mapping[str, str] = field(default_factory=dict)
    occasion: str = ""
    store: str = ""
    limits: RunLimits = field(default_factory=RunLimits)
    subject: SubjectOptions = field(default_factory=SubjectOptions)
    offline: bool = False
    no_isolation: str = ""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One run that has been carried out: its numbers, and how the session ended."""

    summary: Summary
    ended: Ended
    store: Store

    @property
    def run(self) -> Run:
        """The run; `run.id` names it on the command line."""
        return self.summary.run

    def trials(self) -> Iterator[tuple[Slot, Trial]]:
        """The trials, in the order of the plan, read from the store."""
        return self.store.trials(self.run.id)

    def _repr_html_(self) -> str:
        from measurand.report.page import fragment

        return fragment(self.summary)


def evaluate(
    benchmark: str | Benchmark | PrivateSet,
    subject: str | Provider | Callable[..., object],
    *,
    subset: int | None = None,
    options: Options | None = None,
) -> Evaluation:
    """Evaluate a subject on a benchmark, and return what came of it. Works inside a running event loop too.

    `benchmark` is a name (`gsm8k:chat`), a Benchmark, or a PrivateSet; `subject` a specification
    (`openai:gpt-4o-mini`, `llamacpp:smollm2-135m`), a Provider, or a Python function from text to text.
    `subset` takes a seeded sample of that many items. Starting the same evaluation again resumes it.
    Raises MeasurandError with one sentence.
    """
    chosen = options or Options()
    if subset is not None:
        chosen = replace(chosen, subset=Subset(subset))
    return run_sync(lambda: evaluate_async(benchmark, subject, chosen))


async def evaluate_async(
    benchmark: str | Benchmark | PrivateSet,
    subject: str | Provider | Callable[..., object],
    options: Options | None = None,
    watch: Watch | None = None,
) -> Evaluation:
    """`evaluate` for programs that are asynchronous themselves. `watch` follows the run while it goes on."""
    with seldom():
        engine = begin_evaluation(benchmark, subject, options or Options())
        ended = await carry_out(engine, watch)
        return Evaluation(summarise(engine.ports.store, engine.run), ended, engine.ports.store)


def plan_evaluation(
    benchmark: str | Benchmark | PrivateSet, subject: str | Provider | Callable[..., object], options: Options
) -> Plan:
    """What an evaluation would ask, cost and be able to detect. Asks the subject nothing."""
    from measurand.run.plan import make_plan

    return make_plan(begin_evaluation(benchmark, subject, options))


def begin_evaluation(
    benchmark: str | Benchmark | PrivateSet, subject: str | Provider | Callable[..., object], options: Options
) -> Engine:
    """Everything that comes before the first request."""
    resolved = shaped(open_benchmark(benchmark), options)
    provider = open_subject(subject, options.subject)
    sandbox = open_sandbox(options.no_isolation) if needs_sandbox(resolved) else no_sandbox()
    ports = Ports({"target": provider}, sandbox, open_store(options.store))
    occasion = Occasion(
        name=options.occasion,
        facts=options.subject.facts,
        allowed_endpoints=options.subject.allowed_endpoints,
        passes=options.subject.passes,
        version=measurand.__version__,
        offline=options.offline,
    )
    try:
        return begin(resolved, open_data(options.data), ports, options.limits, occasion)
    except UnaskableError as error:
        fitting = [one.name for one in _family(benchmark) if one.asking.needs <= set(provider.describe().can)]
        if not fitting:
            raise
        raise UnaskableError(f"{error}; the protocol that fits is {' or '.join(fitting)}") from error


async def check_benchmark(benchmark: str | Benchmark | PrivateSet, data: Mapping[str, str]) -> tuple[Prepared, Checked]:
    """Prepare a benchmark and score what is known about some of its items. Asks nobody."""
    from measurand.run.check import check
    from measurand.run.prepare import prepare

    resolved = open_benchmark(benchmark)
    sandbox = open_sandbox() if needs_sandbox(resolved) else no_sandbox()
    try:
        prepared = prepare(resolved, open_data(data))
        return prepared, await check(prepared, sandbox)
    finally:
        await sandbox.close()


async def rescore_run(store: Store, run: Run, benchmark: Benchmark | None = None) -> Summary:
    """Read and score the stored answers of a run again, with the benchmark as it is now, or another."""
    from measurand.run.rescore import rescore

    benchmark = benchmark or benchmark_of(run)
    sandbox = open_sandbox() if needs_sandbox(benchmark) else no_sandbox()
    try:
        return summarise(store, await rescore(store, run, benchmark, sandbox))
    finally:
        await sandbox.close()


def benchmark_of(run: Run) -> Benchmark:
    """The benchmark that a stored run was made with, as it is now."""
    if run.recipe:
        return open_benchmark(msgspec.convert(run.recipe, PrivateSet))
    return load_benchmark(run.benchmark)


def _family(benchmark: str | Benchmark | PrivateSet) -> list[Benchmark]:
    """The other protocols of a benchmark that was given by name."""
    return family(benchmark) if isinstance(benchmark, str) else []


def shaped(benchmark: Benchmark, options: Options) -> Benchmark:
    """The benchmark with the subset, samples, reply length and orders asked for; each makes another protocol."""
    if options.subset is not None:
        benchmark = replace(benchmark, task=replace(benchmark.task, subset=options.subset))
    if options.samples is not None:
        benchmark = with_samples(benchmark, options.samples)
    if options.max_output is not None:
        benchmark = with_max_output(benchmark, options.max_output)
    if options.shot_orders is not None:
        benchmark = in_orders(benchmark, options.shot_orders)
    return benchmark


def open_benchmark(benchmark: str | Benchmark | PrivateSet) -> Benchmark:
    """A benchmark from its name, its file, or a private set."""
    if isinstance(benchmark, Benchmark):
        return benchmark
    if isinstance(benchmark, PrivateSet):
        from measurand.study.private_set import private_benchmark

        return private_benchmark(benchmark)
    return load_benchmark(benchmark)


def summarise(store: Store, run: Run) -> Summary:
    """The numbers of a run, from the store alone."""
    from measurand.run.summary import summarise as compute

    return compute(store, run)


def run_sync(start: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end; inside a running event loop (a notebook) in a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(start())
    box: list[T] = []
    errors: list[BaseException] = []

    def body() -> None:
        try:
            box.append(asyncio.run(start()))
        except BaseException as error:  # noqa: BLE001 - carried over to the calling thread and raised there
            errors.append(error)

    thread = threading.Thread(target=body, name="measurand")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return box[0]


__all__ = [
    "Evaluation",
    "Options",
    "SubjectOptions",
    "begin_evaluation",
    "benchmark_of",
    "check_benchmark",
    "evaluate",
    "evaluate_async",
    "open_store",
    "plan_evaluation",
    "rescore_run",
    "run_sync",
    "summarise",
]
