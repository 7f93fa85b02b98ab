"""The page of what `measurand verify` found: whose figures we reach from their own outputs, and where not and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from measurand.core.fidelity import Check
from measurand.core.record import Json

HEAD = """\
# Fidelity: other people's figures from their own outputs

This page is written by a command; do not edit it:

    measurand verify FOLDER --run-code --markdown docs/fidelity.md

FOLDER holds outputs that others stored and published. Each is read and scored again by the readers and scorers that a
run uses, and the figure is compared with the one its publisher gives. `equal` is exact, up to the digits that were
published. `explained` differs, for a cause that is known and stated. `unpublished` is a figure of ours, shown beside a
published one, where the publisher's own rule is odd. `not here` and `not run` prove nothing.
"""

PROMPTS_HEAD = """\
# Fidelity: our prompts beside those of peers

This page is written by a command; do not edit it:

    make .venv-peers/installed
    measurand verify FOLDER --prompts --peer .venv-peers/bin/python --markdown docs/prompts.md

FOLDER holds stored outputs of others, whose questions are asked; where it holds none of a benchmark, rows of our own
making in the schema of its data set are. The interpreter after --peer has lm-evaluation-harness, inspect_evals and HELM
installed, from the package registry; tasks of what it lacks are `not here`.

Each line is a task of one of them. Its own code renders twenty prompts, and the continuations where there are any;
ours are made from the same rows, and compared byte for byte. `explained` lines differ by the causes that are named, and
by nothing else: with these undone, all twenty are equal. Where a peer asks in words of its own, what all its twenty
prompts begin and end with is set aside, and what all of ours do: what is compared then is the question and its options.
Options that a peer shuffles are given to it in our order, and exemplars that no file holds are of our own making. `no
peer`: none of the three has such a task.
"""

HEADS = {False: "published | ours", True: "prompts | equal"}


def shown(value: Json) -> str:
    """A figure as a person reads it."""
    if value is None:
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def counted(checks: Sequence[Check]) -> str:
    """How many figures came to what, as one line."""
    counts = Counter(check.verdict for check in checks)
    return ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items())


def fidelity_page(checks: Sequence[Check], *, prompts: bool = False) -> str:
    """All checks as Markdown, a table for each benchmark; with `prompts`, they are of prompts and not of figures."""
    return (
        "\n".join([PROMPTS_HEAD if prompts else HEAD, f"In all: {counted(checks)}.", *_tables(checks, HEADS[prompts])])
        + "\n"
    )


def _tables(checks: Sequence[Check], head: str) -> Iterator[str]:
    for benchmark in dict.fromkeys(check.benchmark for check in checks):
        yield f"\n## {benchmark}\n\n| what | source | {head} | |\n|---|---|---:|---:|---|"
        for check in checks:
            if check.benchmark == benchmark:
                verdict = f"{check.verdict}: {check.note}" if check.note else check.verdict
                cells = (check.what, check.source, shown(check.published), shown(check.ours), verdict)
                yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
