"""Reading answers, and scoring what was read. Each reader and scorer is a named, versioned instrument."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from measurand.scoring.answer_lines import ANSWER_LINE, ANSWER_LINE_STRICT
    from measurand.scoring.choosing import CHOICE_SCORE, choice_scorer
    from measurand.scoring.drop import DROP
    from measurand.scoring.errata import graded_by, with_errata
    from measurand.scoring.functions import from_function
    from measurand.scoring.jsons import JSON_EQUAL, JSON_VALUE, json_schema
    from measurand.scoring.letters import ARGMAX, CHOICE, CHOICE_STRICT, CHOICES, choice
    from measurand.scoring.likelihoods import LOG_PROBABILITIES, TRUE_MASS
    from measurand.scoring.numbers import (
        GSM8K_COT_STRICT,
        GSM8K_STRICT,
        LAST_NUMBER,
        LM_EVAL_FLEXIBLE,
        MARKED_NUMBER,
        NUMBER,
        NUMERIC,
        marked_number,
        numeric,
    )
    from measurand.scoring.official import MMLU_PRO_FIRST_STEP, MMLU_PRO_THREE_STEPS, SIMPLE_EVALS_LETTER
    from measurand.scoring.patterns import captured, regex
    from measurand.scoring.reasoning import DEFAULT_TAGS, FinalText, apply_stops, final_text
    from measurand.scoring.rubric import RUBRIC
    from measurand.scoring.texts import (
        BEFORE_NEXT_QUESTION,
        CONTAINS,
        EXACT,
        EXACT_STRICT,
        FIRST_LINE,
        SQUAD_EXACT,
        SQUAD_F1,
        TOKEN_F1,
        WHOLE_TEXT,
        exact,
    )

_HOMES = {
    "ANSWER_LINE": "answer_lines",
    "ANSWER_LINE_STRICT": "answer_lines",
    "ARGMAX": "letters",
    "BEFORE_NEXT_QUESTION": "texts",
    "CHOICE": "letters",
    "CHOICES": "letters",
    "CHOICE_SCORE": "choosing",
    "CHOICE_STRICT": "letters",
    "CONTAINS": "texts",
    "DEFAULT_TAGS": "reasoning",
    "DROP": "drop",
    "EXACT": "texts",
    "EXACT_STRICT": "texts",
    "FIRST_LINE": "texts",
    "FinalText": "reasoning",
    "GSM8K_COT_STRICT": "numbers",
    "GSM8K_STRICT": "numbers",
    "JSON_EQUAL": "jsons",
    "JSON_VALUE": "jsons",
    "LAST_NUMBER": "numbers",
    "LM_EVAL_FLEXIBLE": "numbers",
    "LOG_PROBABILITIES": "likelihoods",
    "MARKED_NUMBER": "numbers",
    "MMLU_PRO_FIRST_STEP": "official",
    "MMLU_PRO_THREE_STEPS": "official",
    "NUMBER": "numbers",
    "NUMERIC": "numbers",
    "RUBRIC": "rubric",
    "SIMPLE_EVALS_LETTER": "official",
    "SQUAD_EXACT": "texts",
    "SQUAD_F1": "texts",
    "TOKEN_F1": "texts",
    "TRUE_MASS": "likelihoods",
    "WHOLE_TEXT": "texts",
    "apply_stops": "reasoning",
    "captured": "patterns",
    "choice": "letters",
    "choice_scorer": "choosing",
    "exact": "texts",
    "final_text": "reasoning",
    "from_function": "functions",
    "graded_by": "errata",
    "json_schema": "jsons",
    "marked_number": "numbers",
    "numeric": "numbers",
    "regex": "patterns",
    "with_errata": "errata",
}
"""Where each name lives; resolved when it is first used, since the readers compile hundreds of patterns."""

__all__ = [
    "ANSWER_LINE",
    "ANSWER_LINE_STRICT",
    "ARGMAX",
    "BEFORE_NEXT_QUESTION",
    "CHOICE",
    "CHOICES",
    "CHOICE_SCORE",
    "CHOICE_STRICT",
    "CONTAINS",
    "DEFAULT_TAGS",
    "DROP",
    "EXACT",
    "EXACT_STRICT",
    "FIRST_LINE",
    "GSM8K_COT_STRICT",
    "GSM8K_STRICT",
    "JSON_EQUAL",
    "JSON_VALUE",
    "LAST_NUMBER",
    "LM_EVAL_FLEXIBLE",
    "LOG_PROBABILITIES",
    "MARKED_NUMBER",
    "MMLU_PRO_FIRST_STEP",
    "MMLU_PRO_THREE_STEPS",
    "NUMBER",
    "NUMERIC",
    "RUBRIC",
    "SIMPLE_EVALS_LETTER",
    "SQUAD_EXACT",
    "SQUAD_F1",
    "TOKEN_F1",
    "TRUE_MASS",
    "WHOLE_TEXT",
    "FinalText",
    "apply_stops",
    "captured",
    "choice",
    "choice_scorer",
    "exact",
    "final_text",
    "from_function",
    "graded_by",
    "json_schema",
    "marked_number",
    "numeric",
    "regex",
    "with_errata",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"measurand.scoring.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'measurand.scoring' has no attribute '{name}'")
