"""The same exemplars in several orders: the number is their mean, and its error over orders is seen."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from measurand.asking.subset import take_subset
from measurand.core.benchmark import Benchmark, Prompting
from measurand.core.errors import InputError
from measurand.core.item import Item, Perturbed
from measurand.core.record import Json
from measurand.core.request import Request

ORDER = "exemplar order"
"""The slice that names an item's order. Order 0 is that of the rule."""


def in_orders(benchmark: Benchmark, orders: int, seed: int = 0) -> Benchmark:
    """The benchmark with every item asked in so many orders of its exemplars, each the same permutation for all items.

    The copies of an item are one cluster, so its error does not shrink by asking again. The protocol says how many
    orders and by which seed. A sample of the items is taken before they are copied. Raises InputError where there are
    fewer than two exemplars, and so but one order.
    """
    asking = benchmark.asking
    shots = asking.shots if isinstance(asking, Prompting) else None
    if not isinstance(asking, Prompting) or shots is None or shots.k < 2 or orders < 2:  # noqa: PLR2004  one has no order
        message = (
            f"{benchmark.name} cannot be asked in {orders} orders of exemplars: that takes two orders, and two or more "
            "exemplars that are chosen by rule"
        )
        raise InputError(message)
    task, aggregation = benchmark.task, benchmark.aggregation

    def to_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
        items = task.to_items(source, rows)
        if source != task.split:
            return list(items)
        taken = items if task.subset is None else take_subset(items, task.subset)
        return [_copy(item, order) for item in taken for order in range(orders)]

    def requests(item: Item, chosen: Sequence[Item]) -> tuple[Request, ...]:
        places = _permutation(len(chosen), int(item.slices[ORDER]), seed)
        return asking.requests(item, [chosen[place] for place in places])

    described = f"{orders} orders of exemplars, seed {seed}"
    if task.subset is not None:
        described += f", of a sample of {task.subset.size} items, seed {task.subset.seed}"
    return replace(
        benchmark,
        task=replace(task, to_items=to_items, subset=None, perturbation=described),
        asking=replace(asking, requests=requests, name=f"{asking.name}, in {orders} orders"),
        aggregation=replace(aggregation, macro=(*aggregation.macro, ORDER), groups=(*aggregation.groups, ORDER)),
    )


def _copy(item: Item, order: int) -> Item:
    return msgspec.structs.replace(
        item,
        id=f"{item.id}#{order}",
        slices={**item.slices, ORDER: str(order)},
        cluster=item.cluster or item.id,
        origin=Perturbed(item.id, f"{ORDER} {order}"),
    )


def _permutation(count: int, order: int, seed: int) -> list[int]:
    """Places in an order that depends on the seed and the number of the order alone; 0 is as they are."""
    if order == 0:
        return list(range(count))
    lots = [hashlib.sha256(f"{seed}\0{order}\0{place}".encode()).digest() for place in range(count)]
    return sorted(range(count), key=lots.__getitem__)
