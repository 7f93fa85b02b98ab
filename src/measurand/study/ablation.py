"""One training variable changed, one run of each: what differs, domain by domain, and how little one seed shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from measurand.core.claim import AboutMethod
from measurand.core.decision import Decision, Threat
from measurand.core.findings import Contrast, Findings
from measurand.core.identity import short
from measurand.study.comparing import winner_of
from measurand.study.deciding import summaries
from measurand.study.evidence import Evidence
from measurand.study.words import counted, difference, listed


def ablation(evidence: Evidence, claim: AboutMethod, found: Sequence[Contrast]) -> Findings:
    """The page of two runs that differ in one training variable, from their contrasts: pooled first, then by slice.

    The p-values of the slices are adjusted for their number. `claim` says what varies and what is held equal; where it
    leaves a variable of training open, the contrasts were refused, and the answer gives the reason.
    """
    return Findings(
        name="ablation",
        subjects=evidence.subjects,
        decision=Decision(
            question=f"What does {claim.varies} change, with {listed(claim.held_equal) or 'nothing'} held equal?",
            claim=claim,
            rules=(),
            evidence=tuple(
                f"run {tables.run.id}, protocol {short(tables.run.protocol)}: {subject} on {scenario.name}"
                for scenario, subject, tables in evidence.all_measured()
            ),
            threats=tuple(_threats(evidence, claim)),
            would_change=("More seeds of each: with these two runs, a seed could do what is said here.",),
            answer=_answer(found[0], found[1:]),
            causes=tuple(_causes(found)),
        ),
        summaries=tuple(summaries(evidence)),
        contrasts=tuple(found),
        made=evidence.made,
    )


def _answer(whole: Contrast, rest: Sequence[Contrast]) -> str:
    made = whole.comparison
    if made is None:
        return f"{whole.a} and {whole.b} may not be compared: {whole.refused}."
    winner = winner_of(whole)
    differs = f"{winner} is better" if winner else "The two cannot be told apart"
    said = f"{differs} on {whole.scenario} as a whole: {whole.metric}, {whole.a} - {whole.b}, {difference(made)}."
    slices = [one for one in rest if one.view.startswith("slice:") and one.comparison is not None]
    if not slices:
        return said
    parts = []
    for name in (whole.a, whole.b):
        won = [one.value for one in slices if winner_of(one) == name]
        if won:
            parts.append(f"{name} is better on {listed(won)}")
    open_ones = [one.value for one in slices if not winner_of(one)]
    if open_ones:
        parts.append(f"{listed(open_ones)} cannot be told apart")
    return f"{said} By slice, adjusted for {counted(len(slices), 'slice')}: {'; '.join(parts)}."


def _causes(found: Sequence[Contrast]) -> Iterator[str]:
    """Each slice that differs, the largest difference first."""
    apart = [one for one in found if one.value and winner_of(one) and one.comparison is not None]
    for one in sorted(apart, key=_size, reverse=True):
        if one.comparison is not None:
            where = f"{one.view.removeprefix('slice:')} {one.value}"
            yield f"On {where}, {winner_of(one)} is better: {one.a} - {one.b}, {difference(one.comparison)}."


def _size(one: Contrast) -> float:
    return 0.0 if one.comparison is None else abs(one.comparison.difference.value or 0.0)


def _threats(evidence: Evidence, claim: AboutMethod) -> Iterator[Threat]:
    """What one run of each cannot show, and what nobody checked."""
    yield Threat(
        "one_seed",
        f"one run of each was compared, so what differs may be the seed as well as {claim.varies}",
        "train both again with other seeds, and compare them as [[arms]] of a study with an about_method claim",
    )
    if claim.held_equal:
        yield Threat(
            "held_equal_as_declared",
            f"{listed(claim.held_equal)} are equal because the comparison was told so; the weights do not say",
            "keep the configurations of both runs beside the page",
        )
    hashes = {getattr(tables.run.subject, "revision", "") or subject for _, subject, tables in evidence.all_measured()}
    if len(hashes) < len(evidence.subjects):
        yield Threat("same_weights", "both runs are of the same weights", "name the runs of the two mixtures")
