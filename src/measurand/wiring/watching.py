"""A training run watched: each finished checkpoint is evaluated once, and all together become curves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from measurand.core.benchmark import Subset
from measurand.core.curves import Checkpoint, Curves, Loss, Unmeasured
from measurand.core.errors import InputError, ReportError, RunStoppedError, UnaskableError
from measurand.core.estimate import Comparison
from measurand.core.ports import Provider
from measurand.core.subject import Model, Subject, System
from measurand.run.collecting import seldom
from measurand.run.session import Watch, carry_out
from measurand.study.alerts import NO_NUMBER
from measurand.study.checkpoints import Candidate, Stamp, find, settled
from measurand.study.curves import Key, Taken
from measurand.study.records import PrivateSet
from measurand.study.suite import Suite
from measurand.study.training_log import read_losses
from measurand.study.watching import watched
from measurand.wiring import Options, begin_evaluation, open_benchmark, shaped
from measurand.wiring.keeping import kept
from measurand.wiring.opening import open_data, open_subject

if TYPE_CHECKING:
    from measurand.core.ports import Store
    from measurand.core.run import Run
    from measurand.run.engine import Engine
    from measurand.run.tables import Tables

Opener = Callable[[Candidate], "str | Provider"]
"""Who answers for a checkpoint: a specification, or a provider."""


@dataclass(frozen=True, slots=True)
class Log:
    """A training log: where it is, and the names of its two columns."""

    path: Path
    step: str = "step"
    loss: str = "loss"


@dataclass(frozen=True, slots=True)
class _Done:
    """A checkpoint that needs no more work as long as its files stay as they are: measured, or why not."""

    candidate: Candidate
    taken: Taken | None = None
    broken: Unmeasured | None = None


@dataclass(slots=True)
class Watcher:
    """Looks at a folder again and again. Everything it learns is in the store; a new watcher goes on from there.

    `stopped` is set once the user interrupts an evaluation. `waiting` names the checkpoints that are being written.
    """

    folder: Path
    suite: Suite
    options: Options
    log: Log | None = None
    opener: Opener | None = None
    stopped: bool = False
    waiting: tuple[str, ...] = ()
    _done: dict[Path, _Done] = field(default_factory=dict)
    _stamps: dict[Path, Stamp] = field(default_factory=dict)
    _known: dict[Key, Comparison] = field(default_factory=dict)

    def check(self) -> None:
        """Refuse a suite that no checkpoint could be asked, before any is loaded. Raises InputError, DataError."""
        from measurand.run.prepare import prepare

        names = [open_benchmark(what).name for what, _ in self._asked()]
        twice = next((name for name in names if names.count(name) > 1), "")
        if twice:
            raise InputError(f"the suite asks '{twice}' twice; give the sets names of their own")
        for what, options in self._asked():
            prepare(shaped(open_benchmark(what), options), open_data(options.data))
        if self.log is not None:
            self._losses()

    async def look(self, watch: Watch | None = None) -> int:
        """Evaluate every checkpoint that is finished and new, and return how many were."""
        found = find(self.folder)
        ready = [one for one in found if settled(one, self._stamps)]
        self._stamps = {one.path: one.stamp for one in found}
        self.waiting = tuple(_why_waiting(one) for one in found if one not in ready and not self._is_done(one))
        count = 0
        with seldom():
            for one in ready:
                if self._is_done(one):
                    continue
                done = await self._measure(one, watch)
                if self.stopped:
                    break
                self._done[one.path] = done
                count += 1
        return count

    def curves(self) -> Curves:
        """What is known so far. The training log is read anew."""
        done = sorted(self._done.values(), key=lambda one: one.candidate.order)
        made = watched(
            [one.taken for one in done if one.taken is not None],
            self.suite,
            self._losses(),
            broken=[one.broken for one in done if one.broken is not None],
            waiting=self.waiting,
            known=self._known,
        )
        return msgspec.structs.replace(made, made=datetime.now(UTC).isoformat(timespec="seconds"))

    def _is_done(self, one: Candidate) -> bool:
        done = self._done.get(one.path)
        return done is not None and done.candidate.stamp == one.stamp

    def _losses(self) -> tuple[Loss, ...]:
        return () if self.log is None else read_losses(self.log.path, self.log.step, self.log.loss)

    async def _measure(self, one: Candidate, watch: Watch | None) -> _Done:
        """Ask one checkpoint everything. What cannot be loaded or asked costs one sentence, never the watch."""
        tables: dict[str, Tables] = {}
        checkpoint = Checkpoint(one.name, one.step)
        try:
            given = self.opener(one) if self.opener else f"{self.suite.provider}:{one.path}"
            provider = open_subject(given, self.options.subject)
            subject = provider.subject
            checkpoint = Checkpoint(one.name, one.step, subject.revision if isinstance(subject, Model) else "")
            twin = self._same_weights(checkpoint, one)
            if twin:
                return _Done(one, broken=Unmeasured(one.name, f"holds the weights of {twin}, which is on the curve"))
            running = kept(provider)
            try:
                for what, options in self._asked():
                    name, made = await self._ask(what, running, options, watch)
                    tables[name] = made
                    if self.stopped:
                        break
            finally:
                await running.end()
        except (InputError, UnaskableError, ReportError, RunStoppedError) as error:
            broken = Unmeasured(one.name, str(error))
            return _Done(one, Taken(checkpoint, tables) if tables else None, broken)
        return _Done(one, Taken(checkpoint, tables))

    async def _ask(
        self, what: str | PrivateSet, provider: Provider, options: Options, watch: Watch | None
    ) -> tuple[str, Tables]:
        from measurand.run.tables import tables

        engine = begin_evaluation(what, provider, options)
        store = engine.ports.store
        try:
            run = _evaluated(engine)
            if run is None:
                run = engine.run
                ended = await carry_out(engine, watch)
                self.stopped = ended.reason == "interrupted"
            else:
                await engine.ports.sandbox.close()
            return run.benchmark, tables(store, run)
        finally:
            store.close()

    def _same_weights(self, checkpoint: Checkpoint, one: Candidate) -> str:
        """The checkpoint of another name that holds the same weights; empty where none does."""
        others = [done.taken.checkpoint for path, done in self._done.items() if done.taken and path != one.path]
        same = [other.name for other in others if checkpoint.sha256 and other.sha256 == checkpoint.sha256]
        return same[0] if same else ""

    def _asked(self) -> Iterator[tuple[str | PrivateSet, Options]]:
        """Everything that each checkpoint is asked."""
        for public in self.suite.benchmarks:
            yield (
                public.name,
                replace(
                    self.options,
                    subset=Subset(public.subset_size, public.seed) if public.subset_size else None,
                    samples=public.samples,
                    max_output=public.max_tokens,
                ),
            )
        for private in self.suite.sets:
            yield private, self.options


def _evaluated(engine: Engine) -> Run | None:
    """The whole run in the store in which these weights were asked just this, under whatever name; None without one.

    A checkpoint that is renamed or moved is thus not paid for again. Trials that failed are tried again.
    """
    from measurand.run.tables import tables

    store, run = engine.ports.store, engine.run
    for other in store.runs():
        alike = (other.benchmark, other.protocol, other.occasion) == (run.benchmark, run.protocol, run.occasion)
        if alike and _nameless(other.subject) == _nameless(run.subject) and _is_whole(store, other, tables):
            return other
    return None


def _is_whole(store: Store, run: Run, read: Callable[[Store, Run], Tables]) -> bool:
    """Whether nothing is left to ask: all was answered, or the model gave no number, and is not asked the rest."""
    tally = read(store, run).tally
    without = sum(count for reason, count in tally.reasons.items() if NO_NUMBER in reason)
    return tally.failed <= without and (without > 0 or tally.not_run == 0)


def _nameless(subject: Subject) -> Subject:
    """A model without its name, where its weights are known by their hash; anything else as it is."""
    known = isinstance(subject, Model) and subject.revision
    return msgspec.structs.replace(subject, name="") if known and isinstance(subject, Model | System) else subject


def _why_waiting(one: Candidate) -> str:
    return f"{one.name} ({one.unfinished or 'seen to change, or seen once only'})"
