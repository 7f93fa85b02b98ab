"""All kinds of constraints by their identifiers, and the one way to check a text against one."""

from __future__ import annotations

from measurand.core.errors import InputError
from measurand.scoring.ifbench import layout as ifbench_layout
from measurand.scoring.ifbench import sentences as ifbench_sentences
from measurand.scoring.ifbench import words as ifbench_words
from measurand.scoring.ifeval import (
    combination,
    content,
    ends,
    keywords,
    language,
    layout,
    length,
    letter_case,
    punctuation,
)
from measurand.scoring.ifeval.given import Check, Given

KINDS: dict[str, Check] = {
    kind: check
    for family in (keywords, language, length, content, layout, combination, ends, letter_case, punctuation)
    for kind, check in family.CHECKS.items()
}
"""The 25 kinds of the data set."""

KNOWN: dict[str, Check] = KINDS | ifbench_sentences.CHECKS | ifbench_words.CHECKS | ifbench_layout.CHECKS
"""These and kinds of IFBench, for sets that ask for them."""


def follows(kind: str, text: str, given: Given) -> bool:
    """Whether the text follows the constraint. A blank text follows none.

    A parameter that is null is not given: the data set on the hub names every parameter in every row.

    Raises:
        InputError: the kind is not known, or its parameters are missing or wrong.
    """
    if kind not in KNOWN:
        raise InputError(f"unknown_instruction: there is no constraint {kind!r}; known are {', '.join(sorted(KNOWN))}")
    return bool(text.strip()) and KNOWN[kind](text, {name: value for name, value in given.items() if value is not None})
