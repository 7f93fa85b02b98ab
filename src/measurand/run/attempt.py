"""One trial: its doors, and how its replies become an outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from measurand.core.benchmark import Asking, Prompting
from measurand.core.call import Ran, Reply
from measurand.core.errors import CallBlockedError, CallFailedError, RunStoppedError, SandboxError
from measurand.core.identity import canonical, digest
from measurand.core.item import Item
from measurand.core.outcome import Answer, Answered, Blocked, Failed, Outcome, Refused, Truncated
from measurand.core.ports import CallMade
from measurand.core.request import Complete, Draw, Generate, Request, draw_key, samples
from measurand.run.doors import Ask
from measurand.scoring.reasoning import apply_stops, final_text

if TYPE_CHECKING:
    from measurand.core.ports import Sandbox, Store
    from measurand.core.program import Program, Result
    from measurand.run.doors import Door

TARGET = "target"
"""The role of the subject that is measured."""


class StepsSpentError(Exception):
    """The scaffold asked more often than its protocol allows."""


class Role:
    """Who plays a role: an identity and the stack of doors that leads there."""

    __slots__ = ("door", "subject_id", "who")

    def __init__(self, subject_id: str, who: str, door: Door) -> None:
        self.subject_id = subject_id
        self.who = who
        self.door = door


class World:
    """What the trials of one run share: the roles, the sandbox and the journal of programs."""

    __slots__ = ("occasion", "roles", "sandbox", "store")

    def __init__(self, roles: Mapping[str, Role], sandbox: Sandbox, store: Store, occasion: str) -> None:
        self.roles = roles
        self.sandbox = sandbox
        self.store = store
        self.occasion = occasion


class TrialDoors:
    """The doors of one trial: they number its draws, count its steps and remember its calls."""

    __slots__ = ("_item", "_nth", "_sample_no", "_steps", "_world", "calls", "cost_usages", "finish")

    def __init__(self, world: World, item: str, sample_no: int, steps: int | None) -> None:
        self._world = world
        self._item = item
        self._sample_no = sample_no
        self._steps = steps
        self._nth: Counter[tuple[str, bytes]] = Counter()
        self.calls: list[CallMade] = []
        self.cost_usages: list[Reply] = []
        self.finish = "stop"

    async def ask(self, role: str, request: Request) -> Reply:
        """Ask whoever plays the role. Raises CallError, RunStoppedError and StepsSpentError."""
        return await self.ask_keyed(role, request, None)

    async def ask_keyed(self, role: str, request: Request, key: bytes | None) -> Reply:
        """As `ask`, with the key where the plan has made it already."""
        if self._steps is not None and len(self.calls) >= self._steps:
            raise StepsSpentError
        player = self._world.roles[role]
        if key is None:
            key = self._key(player.subject_id, digest(canonical(request)), drawn=samples(request))
        reply = await player.door(Ask(key, request, role, player.subject_id, player.who, self._sample_no))
        self.calls.append(CallMade(role, key))
        if role == TARGET:
            self.finish = reply.finish
            self.cost_usages.append(reply)
        return reply

    async def execute(self, program: Program) -> Result:
        """Run a program in isolation; a replayed trial sees the recorded result."""
        key = self._key("sandbox", digest(canonical(program)), drawn=True)
        recorded = self._world.store.recall((key,)).get(key)
        if recorded is not None and not isinstance(recorded, Reply):
            self.calls.append(CallMade("sandbox", key))
            return recorded
        result = await self._world.sandbox.run(program)
        await self._world.store.record(key, "sandbox", Ran(program, result))
        self.calls.append(CallMade("sandbox", key))
        return result

    def _key(self, subject_id: str, what: bytes, *, drawn: bool) -> bytes:
        """The key of a request or program by its digest; the same again within the trial is the next draw."""
        nth = self._nth[subject_id, what]
        self._nth[subject_id, what] += 1
        return draw_key(subject_id, what, Draw(self._sample_no, nth, self._world.occasion, self._item if drawn else ""))


async def attempt(
    asking: Asking, item: Item, requests: Sequence[Request], keys: Sequence[bytes], doors: TrialDoors
) -> Outcome:
    """Carry out one trial. Every ending is an outcome, except that the run itself stops (RunStoppedError)."""
    try:
        if not isinstance(asking, Prompting):
            return Answered(await asking.attempt(item, doors))
        replies = [await doors.ask_keyed(TARGET, request, key) for request, key in zip(requests, keys, strict=True)]
        return outcome_of(replies, _answer(asking, item, requests, replies))
    except RunStoppedError:
        raise
    except Exception as error:  # noqa: BLE001 - a scaffold is other people's code; its fault is an outcome
        return _ending(error)


def _ending(error: Exception) -> Outcome:
    """The outcome of a trial that ended in an error."""
    match error:
        case StepsSpentError():
            return Truncated("steps")
        case CallFailedError(where="context"):
            return Truncated("context")
        case CallFailedError():
            return Failed(error.where, error.why, error.tries)
        case CallBlockedError():
            return Blocked(error.by)
        case SandboxError():
            return Failed("sandbox", str(error))
        case _:
            return Failed("scaffold", f"{type(error).__name__}: {error}")


def outcome_of(replies: Sequence[Reply], answer: Answer) -> Outcome:
    """The outcome of a prompting, from how its replies finished on the wire: the worst of them decides."""
    finishes = {reply.finish for reply in replies}
    if "content_filter" in finishes:
        return Blocked("the provider's content filter")
    if "refusal" in finishes:
        return Refused(answer)
    if "context" in finishes:
        return Truncated("context", answer)
    if "length" in finishes:
        return Truncated("tokens", answer)
    return Answered(answer)


def _answer(asking: Prompting, item: Item, requests: Sequence[Request], replies: Sequence[Reply]) -> Answer:
    """Join the replies; by default the last one's text, with reasoning removed once and for all."""
    if asking.answer is not None:
        return asking.answer(item, replies)
    last, request = replies[-1], requests[-1]
    final = final_text(last.text)
    text = final.text
    if isinstance(request, Generate | Complete) and request.decode.stop:
        text = apply_stops(text, request.decode.stop)
    return Answer(text, last.values, last.reasoning or final.reasoning, counts=last.counts)
