"""From items to requests, with their exemplars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from measurand.asking.exemplars import choose
from measurand.core.benchmark import Asking, Benchmark, Prompting
from measurand.core.item import Item
from measurand.core.record import Json
from measurand.core.request import Request


def render(asking: Asking, item: Item, pools: Mapping[str, Sequence[Item]]) -> tuple[Request, ...]:
    """The requests of one item. A Scaffold's are not known beforehand, so it has none."""
    if not isinstance(asking, Prompting):
        return ()
    shots = choose(asking.shots, item, pools[asking.shots.pool]) if asking.shots is not None else ()
    return asking.requests(item, shots)


def render_rows(benchmark: Benchmark, sources: Mapping[str, Sequence[Mapping[str, Json]]]) -> list[Request]:
    """All requests of the rows asked, in order, as a run of the benchmark would make them; rows are by source."""
    task = benchmark.task
    pools = {name: task.to_items(name, rows) for name, rows in sources.items()}
    return [request for item in pools[task.split] for request in render(benchmark.asking, item, pools)]
