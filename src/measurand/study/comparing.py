"""Every pair of subjects on every scenario: a paired difference, or the reason why there is none; then tie groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import msgspec
import numpy as np

from measurand.core.errors import InputError
from measurand.core.estimate import Comparison
from measurand.core.findings import Contrast, Ranking
from measurand.run.tables import Tables
from measurand.stats.compare import better, compare
from measurand.stats.multiplicity import adjusted, tie_groups
from measurand.study import rules as forms
from measurand.study.aligning import Aligned, align
from measurand.study.comparability import Comparability, comparability
from measurand.study.evidence import NO_CODES, Evidence, Scenario, field_codes, higher_is_better, levels_of

MOST_PAIRS = 15
"""Pairs that are compared slice by slice: those of six subjects."""
FEWEST = 10
"""Shared items below which a slice is not compared: whatever came out would be luck."""


def contrasts(evidence: Evidence) -> tuple[Contrast, ...]:
    """All comparisons of a study: pooled, macro, and by slice on the scenario that decides.

    The p-values of one scenario's pooled comparisons are adjusted for their number (Holm), and so are those of all
    slices of one pair.
    """
    found: list[Contrast] = []
    for scenario in evidence.scenarios:
        measured = sorted(evidence.measured(scenario.name), key=lambda name: name == evidence.study.present)
        pairs = list(combinations(measured, 2))
        pooled = [contrast(evidence, scenario, *pair) for pair in pairs]
        found += adjust(pooled)
        for pair in pairs:
            found += [contrast(evidence, scenario, *pair, macro=name) for name in macros(evidence, scenario)]
        if len(pairs) <= MOST_PAIRS:
            for pair in pairs:
                found += by_slice(evidence, scenario, *pair)
    return tuple(found)


def contrast(evidence: Evidence, scenario: Scenario, a: str, b: str, macro: str = "") -> Contrast:
    """Two subjects on one scenario by its headline metric, pooled or as a macro number over fields."""
    ours, theirs = evidence.result(a, scenario.name).tables, evidence.result(b, scenario.name).tables
    view = f"macro:{macro}" if macro else "pooled"
    if ours is None or theirs is None:
        return Contrast(scenario.name, "", a, b, view, refused="one of the two is not measured")
    made = pair_up(ours, theirs, evidence, (a, b), macro)
    margin = None if macro else margin_to(evidence, scenario, b)
    return msgspec.structs.replace(made, scenario=scenario.name, margin=margin)


def pair_up(ours: Tables, theirs: Tables, evidence: Evidence, names: tuple[str, str], macro: str = "") -> Contrast:
    """Compare two runs by the first one's headline metric, as far as that is allowed."""
    may = comparability(ours, theirs, evidence.claim, evidence.study.accept_difference)
    return paired(ours, theirs, may, names, macro)


def paired(ours: Tables, theirs: Tables, may: Comparability, names: tuple[str, str], macro: str = "") -> Contrast:
    """The comparison itself. What differs is written into it, whether or not it was accepted."""
    metric, view = ours.headline, f"macro:{macro}" if macro else "pooled"
    made = Contrast(ours.run.benchmark, metric, *names, view)
    if may.refused:
        return msgspec.structs.replace(made, refused=may.refused)
    both = align(ours, theirs)
    if not both.n:
        return msgspec.structs.replace(made, refused=_nothing_shared(both))
    levels = [codes[both.at_a] for codes in levels_of(ours, macro)] if macro else []
    if macro and not levels:
        return msgspec.structs.replace(made, refused=f"the items do not say what they are by {macro}")
    a, b = both.pair(metric)
    comparison = compare(a, b, names=names, levels=levels)
    differs = (*may.differs, *may.conditions, *_items(both))
    return msgspec.structs.replace(made, comparison=msgspec.structs.replace(comparison, differs=differs))


def by_slice(evidence: Evidence, scenario: Scenario, a: str, b: str) -> list[Contrast]:
    """Two subjects on every slice of a scenario, adjusted for their number.

    Slices of the same items under two names are one, as a language that is also a variety; all items are no slice.
    """
    ours, theirs = evidence.result(a, scenario.name).tables, evidence.result(b, scenario.name).tables
    if ours is None or theirs is None:
        return []
    if comparability(ours, theirs, evidence.claim, evidence.study.accept_difference).refused:
        return []
    both = align(ours, theirs)
    found = []
    known = {np.ones(len(ours.names), dtype=np.bool_).tobytes()}
    for name in slice_fields(evidence, scenario, ours):
        codes, labels = field_codes(ours, name) or NO_CODES
        for code, label in sorted(enumerate(labels), key=lambda pair: pair[1]):
            mask = np.asarray(codes == code)
            one, other = both.pair(ours.headline, mask)
            if len(one.rows) >= FEWEST and mask.tobytes() not in known:
                known.add(mask.tobytes())
                made = compare(one, other, names=(a, b))
                found.append(Contrast(scenario.name, ours.headline, a, b, f"slice:{name}", label, made))
    return adjust(found)


def adjust(found: Sequence[Contrast]) -> list[Contrast]:
    """The contrasts with p-values adjusted for their number by Holm's method; one alone stays as it is."""
    ps = [one.comparison.p for one in found if one.comparison is not None and one.comparison.p is not None]
    if len(ps) < 2:  # noqa: PLR2004 - one comparison is not many
        return list(found)
    fitting = iter(adjusted(ps))
    return [
        one
        if one.comparison is None or one.comparison.p is None
        else msgspec.structs.replace(
            one, comparison=msgspec.structs.replace(one.comparison, adjusted_p=float(next(fitting)))
        )
        for one in found
    ]


def rankings(evidence: Evidence, found: Iterable[Contrast]) -> tuple[Ranking, ...]:
    """The subjects of each scenario in tie groups; refused where two may not be compared. One alone has no rank."""
    if len(evidence.subjects) == 1:
        return ()
    pooled = [one for one in found if one.view == "pooled"]
    return tuple(_rankings(evidence, pooled))


def _rankings(evidence: Evidence, pooled: Sequence[Contrast]) -> Iterator[Ranking]:
    for scenario in evidence.scenarios:
        measured = evidence.measured(scenario.name)
        own = [one for one in pooled if one.scenario == scenario.name]
        metric = next(
            (tables.headline for tables in measured.values()), scenario.metrics[0] if scenario.metrics else ""
        )
        refused = next((one for one in own if one.refused), None)
        if not measured:
            yield Ranking(scenario.name, metric, refused="nobody is measured")
        elif refused is not None:
            yield Ranking(scenario.name, metric, refused=f"{refused.a} and {refused.b}: {refused.refused}")
        elif len(measured) == 1:
            yield Ranking(scenario.name, metric, (tuple(measured),))
        else:
            yield Ranking(scenario.name, metric, _groups(evidence, scenario, own))


def _groups(evidence: Evidence, scenario: Scenario, own: Sequence[Contrast]) -> tuple[tuple[str, ...], ...]:
    up = higher_is_better(own[0].metric)
    values = {}
    for name in evidence.measured(scenario.name):
        summary = evidence.result(name, scenario.name).summary
        value = summary.views[0].estimate.value if summary and summary.views else None
        if value is not None:
            values[name] = value
    order = sorted(values, key=lambda name: -values[name] if up else values[name])
    apart = {frozenset((one.a, one.b)) for one in own if winner_of(one)}
    return tie_groups(order, lambda a, b: frozenset((a, b)) in apart)


def winner_of(one: Contrast) -> str:
    """Who of the two is shown to be better; empty where nobody is."""
    return "" if one.comparison is None else better(one.comparison, higher_is_better=higher_is_better(one.metric))


def seen_from(one: Contrast, who: str) -> Comparison:
    """The comparison of a contrast as a difference of `who` to the other."""
    made = one.comparison
    if made is None:
        raise InputError(f"{one.a} and {one.b} were not compared: {one.refused}")
    if who == one.a:
        return made
    d = made.difference
    value, low, high = (None if end is None else -end for end in (d.value, d.high, d.low))
    bounds = None if d.bounds is None else (-d.bounds[1], -d.bounds[0])
    flipped = msgspec.structs.replace(d, value=value, low=low, high=high, bounds=bounds)
    return msgspec.structs.replace(made, a=made.b, b=made.a, difference=flipped)


def slice_fields(evidence: Evidence, scenario: Scenario, tables: Tables) -> tuple[str, ...]:
    """The slices to look at: those of the items, the protocol's groups, and those that the study names."""
    own = [name for name in tables.fields if name != "scoring"] if scenario.private else []
    fields = dict.fromkeys([*tables.protocol.aggregation.groups, *own, *evidence.study.slices])
    return tuple(name for name in fields if field_codes(tables, name) is not None)


def macros(evidence: Evidence, scenario: Scenario) -> tuple[str, ...]:
    """The fields, or paths of fields, over whose values a macro number is due."""
    tables = next(iter(evidence.measured(scenario.name).values()), None)
    paths = () if tables is None else tables.protocol.aggregation.macro
    return tuple(path for path in paths if tables is not None and levels_of(tables, path))


def margin_to(evidence: Evidence, scenario: Scenario, other: str) -> float | None:
    """How far a rule of the study lets a subject fall below `other`; None where none is about that."""
    for rule in map(forms.parse, evidence.study.rules):
        here = isinstance(rule, forms.NotWorse) and evidence.scenario(rule.scenario).name == scenario.name
        if isinstance(rule, forms.NotWorse) and here and (rule.than or evidence.study.present) == other:
            return rule.margin
    return None


def _items(both: Aligned) -> Iterator[str]:
    """What the two runs do not share."""
    if both.only_a or both.only_b:
        yield f"items: {both.n:,} in common, {both.only_a:,} only in the first, {both.only_b:,} only in the second"
    if both.changed:
        yield f"items: {both.changed:,} have the same id in both and other content, so they are not paired"


def _nothing_shared(both: Aligned) -> str:
    if both.changed:
        return f"no item is the same in both: {both.changed:,} share an id and differ in content"
    return "no item is the same in both, so nothing can be paired; run both on the same items"
