"""Reading answers, and scoring what was read. Each reader and scorer is a named, versioned instrument."""

from measurand.scoring.choosing import CHOICE_SCORE, choice_scorer
from measurand.scoring.drop import DROP
from measurand.scoring.functions import from_function
from measurand.scoring.jsons import JSON_EQUAL, JSON_VALUE, json_schema
from measurand.scoring.letters import ARGMAX, CHOICE, CHOICE_STRICT, CHOICES, choice
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

__all__ = [
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
    "MARKED_NUMBER",
    "NUMBER",
    "NUMERIC",
    "RUBRIC",
    "SQUAD_EXACT",
    "SQUAD_F1",
    "TOKEN_F1",
    "WHOLE_TEXT",
    "FinalText",
    "apply_stops",
    "captured",
    "choice",
    "choice_scorer",
    "exact",
    "final_text",
    "from_function",
    "json_schema",
    "marked_number",
    "numeric",
    "regex",
]
