"""One run from beginning to end: check, plan, execute, summarise. Knows ports only."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from measurand.core.benchmark import Benchmark, Prompting
from measurand.core.claim import AboutModel, AboutSystem
from measurand.core.errors import InputError
from measurand.core.identity import identity
from measurand.core.item import Item
from measurand.core.request import Complete, Generate, Request
from measurand.core.run import Conditions, Run
from measurand.core.subject import Facts, Model, Passes, Subject, System, subject_name
from measurand.run.engine import Ended, Engine, Ports
from measurand.run.isolation import demand_isolation, with_isolation
from measurand.run.limits import RunLimits
from measurand.run.marking import needs_sandbox
from measurand.run.prepare import Prepared, check_askable, prepare

if TYPE_CHECKING:
    from measurand.core.ports import Data

Watch = Callable[[Engine], AbstractAsyncContextManager[None]]
"""Something that follows a run while it goes on: a progress line, a signal handler."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """What may differ between two runs of one benchmark by one provider without being protocol.

    `passes` is declared of the provider's subject, and so makes it another subject.
    """

    name: str = ""
    facts: Facts | None = None
    allowed_endpoints: tuple[str, ...] = ()
    passes: Passes = "single pass"
    version: str = ""
    offline: bool = False


def begin(benchmark: Benchmark, data: Data, ports: Ports, limits: RunLimits, occasion: Occasion) -> Engine:
    """Prepare a run and refuse it where it cannot be done as its protocol says. Asks nothing yet."""
    provider = ports.providers["target"]
    abilities = provider.describe()
    who = subject_name(provider.subject)
    if not occasion.offline:
        check_askable(benchmark, abilities, who)
    if benchmark.task.local_only and not abilities.local and who not in occasion.allowed_endpoints:
        message = (
            f"{benchmark.name} is marked local-only and {who} is not on this machine; "
            f"use a local subject, or name it with --allow-endpoint {who}"
        )
        raise InputError(message)
    prepared = prepare(benchmark, data)
    return Engine(prepared, _run(prepared, ports, occasion), ports, limits, offline=occasion.offline)


async def carry_out(engine: Engine, watch: Watch | None = None) -> Ended:
    """Start the subjects, do what is left, stop the subjects. Raises SandboxError where programs cannot be run."""
    started = []
    try:
        if needs_sandbox(engine.prepared.benchmark):
            demand_isolation(engine.ports.sandbox)
        for provider in engine.ports.providers.values():
            started.append(provider)
            await provider.start()
        async with watch(engine) if watch is not None else nullcontext():
            return await engine.execute()
    finally:
        for provider in started:
            await provider.close()
        await engine.ports.sandbox.close()


def with_samples(benchmark: Benchmark, samples: int) -> Benchmark:
    """The same benchmark with another number of samples for each item: another protocol."""
    return replace(benchmark, asking=replace(benchmark.asking, samples=samples))


def with_max_output(benchmark: Benchmark, max_output: int) -> Benchmark:
    """The same benchmark with at most this many tokens for each reply: another protocol."""
    asking = benchmark.asking
    if not isinstance(asking, Prompting):
        raise InputError(f"{benchmark.name} asks through a scaffold, which decides by itself how long replies may be")
    ask = asking.requests

    def requests(item: Item, shots: Sequence[Item]) -> tuple[Request, ...]:
        return tuple(_capped(request, max_output) for request in ask(item, shots))

    return replace(benchmark, asking=replace(asking, requests=requests))


def _capped(request: Request, max_output: int) -> Request:
    if not isinstance(request, Generate | Complete):
        return request
    decode = msgspec.structs.replace(request.decode, max_tokens=max_output)
    return msgspec.structs.replace(request, decode=decode)


def _run(prepared: Prepared, ports: Ports, occasion: Occasion) -> Run:
    subject = _declared(ports.providers["target"].subject, occasion.passes)
    run = Run(
        benchmark=prepared.benchmark.name,
        protocol=prepared.protocol.id,
        subject=subject,
        subject_id=identity(subject),
        n_items=len(prepared.items),
        samples=prepared.benchmark.asking.samples,
        occasion=occasion.name,
        claim=AboutModel() if isinstance(subject, Model) else AboutSystem(),
        facts=occasion.facts,
        conditions=Conditions(
            measurand=occasion.version,
            python=platform.python_version(),
            platform=f"{platform.system()} {platform.machine()}",
            data_stand_ins=prepared.stand_ins,
            allowed_endpoints=occasion.allowed_endpoints,
            subject=_said_of_itself(prepared, ports),
        ),
        recipe=dict(prepared.benchmark.recipe),
    )
    return with_isolation(run, ports.sandbox, ports.store) if needs_sandbox(prepared.benchmark) else run


def _declared(subject: Subject, passes: Passes) -> Subject:
    return msgspec.structs.replace(subject, passes=passes) if isinstance(subject, Model | System) else subject


def _said_of_itself(prepared: Prepared, ports: Ports) -> tuple[str, ...]:
    """What the subject says of how it computes, as far as it is asked in that way."""
    conditions = ports.providers["target"].describe().conditions
    return tuple(
        dict.fromkeys(conditions[need] for need in sorted(prepared.benchmark.asking.needs) if need in conditions)
    )
