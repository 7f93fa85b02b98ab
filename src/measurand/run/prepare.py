"""Resolve a benchmark to data: read its sources, make its items, render its requests, fix its protocol."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from measurand.asking.rendering import render
from measurand.asking.subset import take_subset
from measurand.core.benchmark import Asking, Benchmark, Prompting, Scoring
from measurand.core.errors import DataError, UnaskableError
from measurand.core.identity import canonical, digest
from measurand.core.item import Item
from measurand.core.ports import Abilities, Data
from measurand.core.protocol import (
    AggregationPart,
    AskingPart,
    MarkingPart,
    Protocol,
    ScoringPart,
    SourceUsed,
    TaskPart,
)
from measurand.core.request import Complete, Decode, Generate, Request, samples
from measurand.core.source import Source
from measurand.scoring.reasoning import DEFAULT_TAGS

CHARACTERS_PER_TOKEN = 4
"""A rule of thumb for text; plans say that token counts are estimates."""
EXPECTED_OUTPUT = 256
"""Output tokens assumed for a reply that may be longer."""


@dataclass(slots=True)
class Prepared:
    """A benchmark ready to be asked.

    `digests` holds, for each item of a Prompting, the 16-byte digests of its requests one after another: what
    keys are made of, and little enough for many items. `sampled` says whether any of them decodes at random.
    `stand_ins` names the sources for which a local copy was read.
    """

    benchmark: Benchmark
    protocol: Protocol
    items: Sequence[Item]
    pools: Mapping[str, Sequence[Item]]
    digests: list[bytes]
    sampled: bool
    stand_ins: tuple[str, ...]
    input_tokens: int
    output_tokens: int

    def requests(self, item: Item) -> tuple[Request, ...]:
        """The requests of one item, with its exemplars."""
        return render(self.benchmark.asking, item, self.pools)


def prepare(benchmark: Benchmark, data: Data) -> Prepared:
    """Read, check and render everything; touches no subject. Raises DataError and InputError."""
    check_samples(benchmark, benchmark.asking.samples)
    task = benchmark.task
    used: dict[str, SourceUsed] = {}
    pools: dict[str, Sequence[Item]] = {}
    for name, source in task.sources.items():
        rows = data.rows(f"{benchmark.name}:{name}", source)
        used[name] = SourceUsed(_declared(source), rows.sha256, bool(rows.stands_in))
        pools[name] = _checked(benchmark.name, task.to_items(name, rows.rows))
        del rows
    items = pools[task.split]
    if task.subset is not None:
        items = take_subset(items, task.subset)
    rendering = _render_all(benchmark.asking, items, pools)
    protocol = Protocol(
        benchmark=benchmark.name,
        task=_task_part(benchmark, used, items),
        asking=_asking_part(benchmark.asking, rendering),
        scoring=scoring_part(benchmark.scoring),
        aggregation=aggregation_part(benchmark),
    )
    return Prepared(
        benchmark=benchmark,
        protocol=protocol,
        items=items,
        pools={name: pool for name, pool in pools.items() if name != task.split or _is_pool(benchmark, name)},
        digests=rendering.digests,
        sampled=rendering.sampled,
        stand_ins=tuple(sorted(name for name, source in used.items() if source.stands_in)),
        input_tokens=rendering.input_tokens,
        output_tokens=rendering.output_tokens,
    )


def check_samples(benchmark: Benchmark, samples: int) -> None:
    """Try every metric on as many samples of an item: pass@k of fewer than k raises InputError before it is paid."""
    import numpy as np

    for metric in benchmark.aggregation.metrics.values():
        metric.within(np.zeros((samples, len(metric.columns))))


def check_askable(benchmark: Benchmark, abilities: Abilities, who: str) -> None:
    """Raise UnaskableError where the subject cannot be asked as the protocol says (law 1)."""
    lacking = sorted(benchmark.asking.needs - set(abilities.can))
    if lacking:
        needs, can = ", ".join(lacking), ", ".join(sorted(abilities.can)) or "nothing"
        message = f"{benchmark.name} asks by {needs}, and {who} offers only {can}"
        raise UnaskableError(message)


@dataclass(slots=True)
class _Rendering:
    digests: list[bytes]
    decode: Decode | None = None
    sampled: bool = False
    prompts: str = ""
    exemplars: str = ""
    input_tokens: int = 0
    output_tokens: int = 0


def _render_all(asking: Asking, items: Sequence[Item], pools: Mapping[str, Sequence[Item]]) -> _Rendering:
    rendering = _Rendering(digests=[])
    if not isinstance(asking, Prompting):
        return rendering
    prompts = hashlib.sha256()
    for item in items:
        of_item = b""
        for request in render(asking, item, pools):
            text = canonical(request)
            of_item += digest(text)
            rendering.sampled = rendering.sampled or samples(request)
            rendering.input_tokens += len(text) // CHARACTERS_PER_TOKEN
            if isinstance(request, Generate | Complete):
                rendering.decode = rendering.decode or request.decode
                rendering.output_tokens += min(request.decode.max_tokens or EXPECTED_OUTPUT, EXPECTED_OUTPUT)
        prompts.update(of_item)
        rendering.digests.append(of_item)
    rendering.prompts = prompts.hexdigest()
    if asking.shots is not None:
        pool = hashlib.sha256()
        for item in pools[asking.shots.pool]:
            pool.update(canonical(item))
        rendering.exemplars = pool.hexdigest()
    return rendering


def _checked(benchmark: str, items: Sequence[Item]) -> Sequence[Item]:
    if not items:
        raise DataError(f"{benchmark}: no samples: the source holds no rows that make an item")
    seen: set[str] = set()
    for item in items:
        if item.id in seen:
            raise DataError(f"{benchmark}: duplicate id {item.id}; every item needs an id of its own")
        seen.add(item.id)
    return items


def _is_pool(benchmark: Benchmark, name: str) -> bool:
    asking = benchmark.asking
    return isinstance(asking, Prompting) and asking.shots is not None and asking.shots.pool == name


def _declared(source: Source) -> dict[str, object]:
    declared: dict[str, object] = msgspec.to_builtins(source)
    declared.pop("path", None)  # where a file lies on somebody's disk changes nothing; its bytes are hashed
    return declared


def _task_part(benchmark: Benchmark, used: dict[str, SourceUsed], items: Sequence[Item]) -> TaskPart:
    content = hashlib.sha256()
    for item in items:
        content.update(canonical(item))
    task = benchmark.task
    return TaskPart(
        name=benchmark.name.partition(":")[0],
        version=task.version,
        sources=used,
        split=task.split,
        n_items=len(items),
        items_sha256=content.hexdigest(),
        subset=task.subset,
        perturbation=task.perturbation,
    )


def _asking_part(asking: Asking, rendering: _Rendering) -> AskingPart:
    shots = None
    if isinstance(asking, Prompting) and asking.shots is not None:
        rule = asking.shots
        shots = {"k": rule.k, "pool": rule.pool, "rule": rule.rule, "same": rule.same, "seed": rule.seed}
    return AskingPart(
        name=asking.name,
        version=asking.version,
        text=asking.text,
        needs=tuple(sorted(asking.needs)),
        samples=asking.samples,
        shots=shots,
        exemplars_sha256=rendering.exemplars,
        decode=rendering.decode,
        prompt_sha256=rendering.prompts,
        steps=None if isinstance(asking, Prompting) else asking.steps,
    )


def scoring_part(scoring: Scoring) -> ScoringPart:
    """The scoring of a benchmark, resolved to data."""
    return ScoringPart(
        markings=tuple(
            MarkingPart(
                metric=marking.metric,
                reader=f"{marking.reader.name}@{marking.reader.version}",
                scorer=f"{marking.scorer.name}@{marking.scorer.version}",
            )
            for marking in scoring.markings
        ),
        score_truncated=scoring.score_truncated,
        score_refused=scoring.score_refused,
        reasoning_tags=tuple(DEFAULT_TAGS),
    )


def aggregation_part(benchmark: Benchmark) -> AggregationPart:
    """The aggregation of a benchmark, resolved to data."""
    rule = benchmark.aggregation
    return AggregationPart(
        metrics={name: f"{metric.name}@{metric.version}" for name, metric in rule.metrics.items()},
        macro=rule.macro,
        groups=rule.groups,
        level=rule.level,
    )
