"""The engine: what is planned and not yet stored is asked, read, scored and stored. Starting again is resuming."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from msgspec.structs import replace

from measurand.core.benchmark import Prompting
from measurand.core.errors import RunStoppedError
from measurand.core.identity import canonical
from measurand.core.outcome import outcome_name
from measurand.core.ports import BatchProvider, CallMade, Provider
from measurand.core.request import Draw, draw_key
from measurand.core.run import Run, Slot, trial_name
from measurand.core.trial import Trial
from measurand.run.attempt import TARGET, Role, TrialDoors, World, attempt
from measurand.run.doors.budget import Budget
from measurand.run.doors.circuit import Circuit
from measurand.run.doors.journal import Journal
from measurand.run.doors.limiter import Limiter
from measurand.run.doors.port import Direct, Gather, Single
from measurand.run.doors.retry import Retry
from measurand.run.limits import RunLimits
from measurand.run.marking import mark, needs_sandbox
from measurand.run.meter import Clock, Meter, cost_of

if TYPE_CHECKING:
    from measurand.core.ports import Sandbox, Store
    from measurand.core.program import Program, Result
    from measurand.run.prepare import Prepared

Todo = tuple[Slot, tuple[bytes, ...]]
"""A slot and the keys of its requests (none where a scaffold decides)."""
DIGEST = 16
"""Bytes of a request's digest."""
AHEAD = 256
"""Slots whose replies are looked up in the journal together."""
UNFINISHED = frozenset({"failed", "not_run"})
"""Outcomes that a later session tries again."""
SANDBOX_WORKERS = 4
"""Trials beyond the request limit that may be in the sandbox while others are asked."""


@dataclass(frozen=True, slots=True)
class Ports:
    """The outside of a run: who plays each role, where programs run, and where everything is kept."""

    providers: Mapping[str, Provider]
    sandbox: Sandbox
    store: Store


@dataclass(slots=True)
class Ended:
    """How a session ended. `unclean` counts requests that earlier sessions may have paid for in vain."""

    complete: bool
    reason: str = ""
    unclean: int = 0
    in_flight: int = 0


@dataclass(slots=True)
class Engine:
    """One session of one run."""

    prepared: Prepared
    run: Run
    ports: Ports
    limits: RunLimits
    meter: Meter = field(default_factory=Meter)
    offline: bool = False
    _run_id: str = field(init=False)
    _clock: Clock = field(default_factory=Clock)
    _stop: str = ""
    _abandoned: int = 0
    _target: Journal = field(init=False)
    _gathers: list[Gather] = field(default_factory=list)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._run_id = self.run.id  # hashed once, not once for each trial

    async def execute(self) -> Ended:
        """Do what is left of the plan. Every acknowledged reply is stored whatever happens."""
        store, run = self.ports.store, self.run
        store.open_run(run, self.prepared.protocol, self.prepared.items)
        session = store.begin_session(run.id, self._workers())
        self.meter.planned = run.n_planned
        self.meter.price = run.facts.price if run.facts else None
        try:
            await self._work()
        finally:
            self.abort()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await store.flush()
            self._note_who_served()
            store.end_session(session.id, self._abandoned)
        return Ended(not self._stop, self._stop, session.unclean, self._abandoned)

    def _note_who_served(self) -> None:
        """Add the names under which the endpoint answered to the run's conditions."""
        conditions = self.run.conditions
        names = tuple(sorted(self.meter.served.union(conditions.served_as) - {""}))
        if names != conditions.served_as:
            self.run = replace(self.run, conditions=replace(conditions, served_as=names))
            self.ports.store.open_run(self.run, self.prepared.protocol, ())

    def stop(self, reason: str) -> None:
        """Ask for no more; what is in flight may finish within the grace period."""
        if not self._stop:
            self._stop = self.meter.stopping = reason
            loop = asyncio.get_running_loop()
            loop.call_later(self.limits.grace, self.abort)

    def abort(self) -> None:
        """Give up what is in flight too, and remember how much that was."""
        self._abandoned += len(self.meter.in_flight)
        for task in self._tasks:
            task.cancel()

    async def _work(self) -> None:
        world = self._world()
        asking = self.prepared.benchmark.asking
        if not isinstance(asking, Prompting) and asking.prepare is not None:
            await asking.prepare(TrialDoors(world, "", 0, None))
        slots = self._looked_up()
        workers = self._workers()
        for gather in self._gathers:
            gather.enter(workers)
        self._tasks = [asyncio.create_task(self._worker(slots, world)) for _ in range(workers)]
        finished = await asyncio.gather(*self._tasks, return_exceptions=True)
        for error in finished:
            if isinstance(error, Exception):
                raise error

    def _workers(self) -> int:
        """Trials at a time. With a batch provider exactly one batch of them, so that batches are cut by the plan."""
        provider = self.ports.providers[TARGET]
        if isinstance(provider, BatchProvider):
            return min(provider.size, max(self.run.n_planned, 1))
        extra = SANDBOX_WORKERS if needs_sandbox(self.prepared.benchmark) else 0
        return min(self.limits.concurrency + extra, max(self.run.n_planned, 1))

    def _world(self) -> World:
        roles = {role: self._role(role, provider) for role, provider in self.ports.providers.items()}
        return World(roles, self.ports.sandbox, self.ports.store, self.run.occasion)

    def _role(self, role: str, provider: Provider) -> Role:
        """Stack the doors that lead to one provider, from the inside out."""
        limits, meter = self.limits, self.meter
        port: Single | Direct | Gather
        abilities = provider.describe()
        most = min(limits.concurrency, abilities.concurrency or limits.concurrency)
        if isinstance(provider, BatchProvider):
            port = Gather(provider, limits.call_seconds)
            self._gathers.append(port)
            most = max(most, provider.size)
        else:
            port = Direct(provider) if abilities.bounded else Single(provider, limits.call_seconds)
        limiter = Limiter(most, port, meter)
        journal = Journal(
            self.ports.store,
            Budget(limits, Circuit(Retry(limits, limiter, meter)), meter),
            meter,
            offline=self.offline,
        )
        if role == TARGET:
            self._target = journal
        subject_id = self.run.subject_id if role == TARGET else canonical(provider.subject).decode()
        return Role(subject_id, role, journal)

    def todo(self) -> Iterator[Todo]:
        """What is planned and not stored, with the keys of its requests."""
        done = bytearray(self.run.n_planned)
        for slot, outcome in self.ports.store.done(self.run.id):
            if outcome not in UNFINISHED:
                done[slot.item_no * self.run.samples + slot.sample_no] = 1
        self.meter.done_before = sum(done)
        for item_no, sample_no in self._order():
            if not done[item_no * self.run.samples + sample_no]:
                yield Slot(item_no, sample_no), self._keys(item_no, sample_no)

    def _looked_up(self) -> Iterator[Todo]:
        """The same, with the journal asked for a stretch of keys at a time."""
        todo = self.todo()
        while stretch := list(islice(todo, AHEAD)):
            self._target.look_ahead([key for _, keys in stretch for key in keys])
            yield from stretch

    def _order(self) -> Iterator[tuple[int, int]]:
        """Item by item; where a batch provider answers, by affinity, so that shared work lies together."""
        numbers: Sequence[int] = range(len(self.prepared.items))
        provider = self.ports.providers[TARGET]
        if isinstance(provider, BatchProvider) and self.prepared.digests:
            items, requests = self.prepared.items, self.prepared.requests
            numbers = sorted(numbers, key=lambda no: provider.affinity(requests(items[no])[0]))
        return ((item_no, sample_no) for item_no in numbers for sample_no in range(self.run.samples))

    def _keys(self, item_no: int, sample_no: int) -> tuple[bytes, ...]:
        if not self.prepared.digests:
            return ()
        item = self.prepared.items[item_no].id if self.prepared.sampled else ""
        of_item = self.prepared.digests[item_no]
        nth: dict[bytes, int] = {}
        keys = []
        for start in range(0, len(of_item), DIGEST):
            request = of_item[start : start + DIGEST]
            n = nth[request] = nth.get(request, -1) + 1
            keys.append(draw_key(self.run.subject_id, request, Draw(sample_no, n, self.run.occasion, item)))
        return tuple(keys)

    async def _worker(self, slots: Iterator[Todo], world: World) -> None:
        try:
            for slot, keys in slots:
                if self._stop:
                    return
                await self._trial(slot, keys, world)
        except RunStoppedError as error:
            self.stop(str(error))
        finally:
            for gather in self._gathers:
                gather.leave()

    async def _trial(self, slot: Slot, keys: tuple[bytes, ...], world: World) -> None:
        prepared = self.prepared
        benchmark = prepared.benchmark
        item = prepared.items[slot.item_no]
        asking = benchmark.asking
        steps = None if isinstance(asking, Prompting) else asking.steps
        doors = TrialDoors(world, item.id, slot.sample_no, steps)
        began = time.monotonic()
        outcome = await attempt(asking, item, prepared.requests(item), keys, doors)
        trial = Trial(
            run=self._run_id,
            item=item.id,
            sample_no=slot.sample_no,
            outcome=outcome,
            member=slot.member,
            cost=self._cost(doors),
            started=self._clock.at(began),
            seconds=round(time.monotonic() - began, 6),
        )
        name = trial_name(self._run_id, slot)
        marks = await mark(benchmark.scoring, name, item, outcome, self._run_program)
        calls = [*doors.calls, *(CallMade("scorer", ran=ran) for ran in marks.ran)]
        self.ports.store.finish(slot, trial, calls, [*marks.readings, *marks.scores])
        self.meter.done += 1
        self.meter.outcomes[outcome_name(outcome)] += 1

    async def _run_program(self, program: Program) -> Result:
        self.meter.scoring += 1
        try:
            return await self.ports.sandbox.run(program)
        finally:
            self.meter.scoring -= 1

    def _cost(self, doors: TrialDoors) -> float | None:
        if self.meter.price is None:
            return None
        return sum(cost_of(reply.usage, self.meter.price) or 0.0 for reply in doors.cost_usages)
