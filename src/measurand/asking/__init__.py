"""Pure functions that write questions: templates, exemplars, subsets, conversations, and the checks of them."""

from measurand.asking.chat import LABELS, conversation, join_shots, labels, lay_out
from measurand.asking.exemplars import choose, same_question
from measurand.asking.lettered import by_letter
from measurand.asking.lint import ItemFault, StopFault, lint_items, lint_stop
from measurand.asking.rendering import render_rows
from measurand.asking.subset import take_subset
from measurand.asking.templates import fill, names

__all__ = [
    "LABELS",
    "ItemFault",
    "StopFault",
    "by_letter",
    "choose",
    "conversation",
    "fill",
    "join_shots",
    "labels",
    "lay_out",
    "lint_items",
    "lint_stop",
    "names",
    "render_rows",
    "same_question",
    "take_subset",
]
