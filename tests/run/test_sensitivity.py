"""Runs whose notes say what moves: the order of the exemplars, another reader, other labels."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from measurand.asking.shot_orders import in_orders
from measurand.benchmarks.mmlu import BENCHMARK, VARIANTS
from measurand.core.benchmark import Benchmark
from measurand.core.call import Reply
from measurand.core.message import Text
from measurand.core.ports import Abilities, Rows
from measurand.core.request import Generate, Loglikelihood, Request
from measurand.core.source import Source
from measurand.core.subject import Model
from measurand.core.summary import Summary
from measurand.run.engine import Ports
from measurand.run.limits import RunLimits
from measurand.run.session import Occasion, begin, carry_out
from measurand.run.summary import summarise
from measurand.sandboxes.refuse import NoSandbox
from measurand.store import open_store
from tests.benchmarks.quiz_rows import MMLU, REDUX


class Parts:
    """The Data port over rows by source."""

    def __init__(self, parts: Mapping[str, Sequence[dict[str, Any]]]) -> None:
        self.parts = parts

    def rows(self, name: str, source: Source) -> Rows:
        return Rows(list(self.parts[name.rpartition(":")[2]]), "0" * 64)


class Whimsical:
    """Prefers a letter by the whole of the context, so the order of the exemplars decides; always writes B."""

    subject = Model("fake", "whimsical")

    def describe(self) -> Abilities:
        return Abilities(("chat", "loglikelihood"), loglikelihood="any", local=True)

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def reply(self, request: Request) -> Reply:
        if isinstance(request, Generate):
            return Reply((Text("It follows that the answer is (B).\nAnswer: B"),))
        assert isinstance(request, Loglikelihood)
        lots = [hashlib.sha256(f"{request.context}{one}".encode()).digest() for one in request.continuations]
        return Reply(values=tuple(-1.0 - (lot != max(lots)) for lot in lots))


async def ran(benchmark: Benchmark, **parts: Sequence[dict[str, Any]]) -> Summary:
    store = open_store(":memory:")
    engine = begin(
        benchmark, Parts(parts), Ports({"target": Whimsical()}, NoSandbox("none"), store), RunLimits(), Occasion()
    )
    await carry_out(engine)
    return summarise(store, engine.run)


async def test_the_number_is_the_mean_over_orders_and_its_error_over_them_is_said() -> None:
    dev = [row | {"question": f"dev {row['question']}"} for row in MMLU]
    summary = await ran(in_orders(BENCHMARK, 5), test=MMLU, dev=dev)
    by_order = [view.estimate.value for view in summary.views if view.view == "slice:exemplar order"]
    (macro,) = [view.estimate for view in summary.views if view.view == "macro:exemplar order"]
    assert len(by_order) == 5
    values = [value for value in by_order if value is not None]
    assert macro.value is not None
    assert abs(macro.value - sum(values) / 5) < 1e-12
    assert macro.n_clusters == len(MMLU)
    (note,) = [note for note in summary.notes if note.startswith("Over 5 orders")]
    assert f"accuracy is {100 * macro.value:.1f} % on average, with a standard error of" in note
    assert f"({100 * min(values):.1f} to {100 * max(values):.1f} %)" in note


async def test_one_order_has_no_note_of_orders() -> None:
    dev = [row | {"question": f"dev {row['question']}"} for row in MMLU]
    summary = await ran(BENCHMARK, test=MMLU, dev=dev)
    assert not [note for note in summary.notes if "orders" in note]


async def test_what_other_labels_would_have_made_of_it_is_said() -> None:
    rows = [row | {"__folder__": subject} for subject, rows in REDUX.items() for row in rows]
    summary = await ran(VARIANTS["redux_cot"], test=rows)
    (note,) = [note for note in summary.notes if note.startswith("Scored by")]
    assert note == (
        "Scored by choice[original]@1 instead of choice[corrected]@1, the same answers give 100.0 % (+66.7 points)."
    )


async def test_what_another_reader_would_have_made_of_it_is_said() -> None:
    summary = await ran(VARIANTS["cot"], test=MMLU)
    assert [note.partition(",")[0] for note in summary.notes if note.startswith("Read by")] == [
        "Read by choice_strict@1 instead of choice@2",
        "Read by simple_evals_letter@1 instead of choice@2",
    ]
