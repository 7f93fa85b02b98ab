"""Batches are cut from the plan, sorted by what they share, and committed together."""

from measurand.core.call import Reply, Usage
from measurand.core.errors import CallFailedError
from measurand.core.message import Text
from measurand.core.ports import Abilities, BatchProvider
from measurand.run.limits import RunLimits
from measurand.run.session import carry_out
from measurand.run.summary import summarise
from measurand.store import open_store
from tests.run.world import Scripted, engine, right


class Batched(Scripted):
    """Answers four at a time; the shared work is the second number's parity."""

    size = 4

    def __init__(self, fails: str = "") -> None:
        super().__init__(right)
        self.batches: list[list[str]] = []
        self.fails = fails

    def describe(self):
        return Abilities(("chat",), local=True)

    def affinity(self, request):
        return str(int(request.messages[-1].text.split()[0]) % 2)

    async def replies(self, requests):
        texts = [request.messages[-1].text for request in requests]
        self.batches.append(texts)
        return [
            CallFailedError("no")
            if text.startswith(self.fails or "-")
            else Reply((Text(right(text)),), usage=Usage(1, 1))
            for text in texts
        ]


async def test_batches_are_cut_from_the_plan_by_affinity():
    subject = Batched()
    assert isinstance(subject, BatchProvider)
    made = engine(subject, n=10)
    await carry_out(made)
    assert [len(batch) for batch in subject.batches] == [4, 4, 2]
    parities = [{int(text.split()[0]) % 2 for text in batch} for batch in subject.batches]
    assert parities == [{0}, {0, 1}, {1}]
    assert summarise(made.ports.store, made.run).tally.answered == 10
    assert not subject.asked  # never one at a time


async def test_a_failure_inside_a_batch_is_its_own_and_is_asked_again():
    store = open_store(":memory:")
    limits = RunLimits(concurrency=4, max_tries=1)
    first = Batched(fails="5 ")
    await carry_out(engine(first, n=10, store=store, limits=limits))
    second = Batched()
    made = engine(second, n=10, store=store, limits=limits)
    await carry_out(made)
    assert second.batches == [["5 + 6"]]
    assert summarise(store, made.run).tally.answered == 10
