"""The same exemplars in several orders."""

from dataclasses import replace

import pytest

from measurand.asking.rendering import render
from measurand.asking.shot_orders import ORDER, in_orders
from measurand.benchmarks.mmlu import BENCHMARK, VARIANTS
from measurand.core.benchmark import Prompting
from measurand.core.errors import InputError
from measurand.core.item import Perturbed
from measurand.core.request import Loglikelihood
from tests.benchmarks.quiz_rows import MMLU

DEV = [row | {"question": f"dev {row['question']}"} for row in MMLU]


def contexts(orders: int, seed: int = 0) -> list[list[str]]:
    """The prompts of each item, one for each order."""
    benchmark = in_orders(BENCHMARK, orders, seed)
    pools = {"dev": benchmark.task.to_items("dev", DEV)}
    found: dict[str, list[str]] = {}
    for item in benchmark.task.to_items("test", MMLU):
        (request,) = render(benchmark.asking, item, pools)
        assert isinstance(request, Loglikelihood)
        found.setdefault(item.cluster, []).append(request.context)
    return list(found.values())


def test_each_order_holds_the_same_exemplars_and_the_first_is_the_rules() -> None:
    pools = {"dev": BENCHMARK.task.to_items("dev", DEV)}
    plain = [render(BENCHMARK.asking, item, pools)[0] for item in BENCHMARK.task.to_items("test", MMLU)]
    asked = contexts(4)
    assert [orders[0] for orders in asked] == [one.context for one in plain if isinstance(one, Loglikelihood)]
    for orders in asked:
        assert len(set(orders)) == 4
        assert len({tuple(sorted(text.split("\n\n"))) for text in orders}) == 1


def test_an_order_is_the_same_permutation_for_every_item_and_follows_from_the_seed() -> None:
    def places(text: str) -> tuple[str, ...]:
        return tuple(part.split(" of ")[0] for part in text.split("\n\n")[1:-1])

    for at in range(3):
        assert len({places(orders[at]) for orders in contexts(3)}) == 1
    assert contexts(3) == contexts(3)
    assert contexts(3, seed=1) != contexts(3)
    assert [orders[:2] for orders in contexts(3)] == contexts(2)


def test_copies_are_one_cluster_and_a_slice_of_their_own() -> None:
    benchmark = in_orders(BENCHMARK, 3)
    items = benchmark.task.to_items("test", MMLU)
    assert len(items) == len({item.id for item in items}) == 3 * len(MMLU)
    assert len({item.cluster for item in items}) == len(MMLU)
    assert {item.slices[ORDER] for item in items} == {"0", "1", "2"}
    assert all(isinstance(item.origin, Perturbed) for item in items)
    assert len(benchmark.task.to_items("dev", DEV)) == len(DEV)
    assert ORDER in benchmark.aggregation.macro
    assert benchmark.task.perturbation == "3 orders of exemplars, seed 0"
    assert benchmark.asking.name != BENCHMARK.asking.name


def test_what_has_no_orders_is_refused() -> None:
    asking = BENCHMARK.asking
    assert isinstance(asking, Prompting)
    assert asking.shots is not None
    single = replace(BENCHMARK, asking=replace(asking, shots=replace(asking.shots, k=1)))
    for benchmark, orders in ((VARIANTS["cot"], 3), (single, 3), (BENCHMARK, 1)):
        with pytest.raises(InputError, match="cannot be asked in"):
            in_orders(benchmark, orders)
