"""Read and score stored answers again. Needs no subject and no data set: the store holds answers and items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from measurand.core.benchmark import Benchmark
from measurand.core.ports import CallMade, Sandbox, Store
from measurand.core.run import Run, trial_name
from measurand.run.isolation import demand_isolation, with_isolation
from measurand.run.marking import mark, runs_programs
from measurand.run.prepare import aggregation_part, check_samples, scoring_part

if TYPE_CHECKING:
    from measurand.core.item import Item


async def rescore(store: Store, run: Run, benchmark: Benchmark, sandbox: Sandbox) -> Run:
    """Mark every stored answer of `run` with the scoring of `benchmark`.

    Where that scoring differs from the stored one, the marks belong to another protocol and so to another run,
    which is returned; the old one keeps its scores. Otherwise the marks of `run` are replaced.
    Raises SandboxError where programs cannot be run, InputError where its metrics need more samples; then nothing is
    changed.
    """
    check_samples(benchmark, run.samples)
    protocol = msgspec.structs.replace(
        store.protocol(run.id), scoring=scoring_part(benchmark.scoring), aggregation=aggregation_part(benchmark)
    )
    marked = msgspec.structs.replace(run, protocol=protocol.id)
    if runs_programs(benchmark.scoring):
        demand_isolation(sandbox)
        marked = with_isolation(marked, sandbox, store)
    items: list[Item] = list(store.items(run.id))
    store.open_run(marked, protocol, items)
    for slot, trial in store.trials(run.id):
        item = items[slot.item_no]
        name = trial_name(marked.id, slot)
        marks = await mark(benchmark.scoring, name, item, trial.outcome, sandbox.run)
        calls = [
            CallMade(call.role, bytes.fromhex(call.key)) for call in store.calls(run.id, slot) if call.role != "scorer"
        ]
        calls += [CallMade("scorer", ran=ran) for ran in marks.ran]
        store.finish(slot, msgspec.structs.replace(trial, run=marked.id), calls, [*marks.readings, *marks.scores])
    await store.flush()
    return marked
