"""What will run and what it is expected to take, before anything is paid for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from measurand.core.benchmark import Prompting
from measurand.core.call import Usage
from measurand.core.run import Plan, Run
from measurand.run.engine import DIGEST, Engine
from measurand.run.meter import cost_of
from measurand.stats.power import detectable_paired, detectable_unpaired

if TYPE_CHECKING:
    from measurand.core.ports import Store
    from measurand.run.prepare import Prepared

AT_A_TIME = 500
"""Keys looked up together."""


def make_plan(engine: Engine) -> Plan:
    """Count what is left of a run and estimate its tokens and money. Asks no subject."""
    prepared, run, store = engine.prepared, engine.run, engine.ports.store
    left = list(engine.todo())
    n_requests = sum(len(keys) for _, keys in left)
    replayable = _replayable(store, [key for _, keys in left for key in keys])
    planned = sum(map(len, prepared.digests)) // DIGEST * run.samples
    share = run.samples * (n_requests - replayable) / max(planned, 1)
    input_tokens = round(prepared.input_tokens * share)
    output_tokens = round(prepared.output_tokens * share)
    price = run.facts.price if run.facts else None
    return Plan(
        run=run,
        n_trials=run.n_planned,
        n_done=run.n_planned - len(left),
        n_requests=n_requests,
        n_replayable=replayable,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cost=cost_of(Usage(input=input_tokens, output=output_tokens), price),
        detectable_unpaired=detectable_unpaired(run.n_items),
        detectable_paired=detectable_paired(run.n_items),
        notes=tuple(_notes(prepared, run)),
    )


def _replayable(store: Store, keys: list[bytes]) -> int:
    return sum(len(store.recall(keys[start : start + AT_A_TIME])) for start in range(0, len(keys), AT_A_TIME))


def _notes(prepared: Prepared, run: Run) -> Iterator[str]:
    if not isinstance(prepared.benchmark.asking, Prompting):
        yield "a scaffold decides as it goes how often it asks; requests, tokens and cost are not known beforehand"
    if run.facts is None or run.facts.price is None:
        yield "no price is known for this subject, so its cost is not estimated; give one with --price IN,OUT"
    for name in prepared.stand_ins:
        yield f"a local copy stands in for the source '{name}'; its hash is part of the protocol"
