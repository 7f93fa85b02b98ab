"""Every reader and scorer that is a constant; tests pin the digest of what each gives on the labelled corpus.

What sympy and math-verify say of mathematics is not pinned: it moves with the libraries, and has tests of its own.
"""

from __future__ import annotations

from measurand.core.benchmark import Reader, Scorer
from measurand.scoring.answer_lines import (
    ANSWER_AND_CONFIDENCE,
    ANSWER_LINE,
    ANSWER_LINE_STRICT,
    CONFIDENT_EXACT,
)
from measurand.scoring.choosing import CHOICE_SCORE
from measurand.scoring.code import CODE, CODE_COMPLETION
from measurand.scoring.drop import DROP
from measurand.scoring.grids import ATTEMPTED_GRIDS, OUTPUTS, TASK_MEAN, WHOLE_TASK
from measurand.scoring.ifeval.scorers import (
    INSTRUCTION_LOOSE,
    INSTRUCTION_STRICT,
    PROMPT_LOOSE,
    PROMPT_STRICT,
)
from measurand.scoring.jsons import JSON_EQUAL, JSON_VALUE
from measurand.scoring.lawbench import LAWBENCH_ANSWERED, LAWBENCH_SCORE
from measurand.scoring.letters import ARGMAX, CHOICE, CHOICE_STRICT, CHOICES
from measurand.scoring.likelihoods import LOG_PROBABILITIES, TRUE_MASS
from measurand.scoring.maths.reading import BOXED, MATHS_ANSWER, MINERVA_ANSWER
from measurand.scoring.maths.scorers import HENDRYCKS_EQUAL, MATHS_EQUAL, MATHS_VOTE
from measurand.scoring.numbers import (
    GSM8K_COT_STRICT,
    GSM8K_STRICT,
    LAST_NUMBER,
    LM_EVAL_FLEXIBLE,
    MARKED_NUMBER,
    NUMBER,
    NUMERIC,
)
from measurand.scoring.official import MMLU_PRO_FIRST_STEP, MMLU_PRO_THREE_STEPS, SIMPLE_EVALS_LETTER
from measurand.scoring.options import (
    ACCURACY_OVER_ORDERS,
    ARGMAX_BYTES,
    ARGMAX_CHARACTERS,
    ARGMAX_PMI,
    ARGMAX_TOKENS,
    BY_ORDER,
    CONFIDENCE,
    OPTION_SHARES,
    SAME_IN_ALL_ORDERS,
)
from measurand.scoring.perplexity import BY_BYTES, BY_TOKENS, BY_WORDS, TEXT_LOG_PROBABILITY
from measurand.scoring.rubric import RUBRIC
from measurand.scoring.submissions import FLAG
from measurand.scoring.texts import (
    BEFORE_NEXT_QUESTION,
    CONTAINS,
    ENTIRE_TEXT,
    EXACT,
    EXACT_STRICT,
    FIRST_LINE,
    SQUAD_EXACT,
    SQUAD_F1,
    TOKEN_F1,
    WHOLE_TEXT,
)

READERS: tuple[Reader, ...] = (
    NUMBER, LAST_NUMBER, MARKED_NUMBER, GSM8K_STRICT, GSM8K_COT_STRICT, LM_EVAL_FLEXIBLE,
    CHOICE, CHOICES, CHOICE_STRICT, ARGMAX, WHOLE_TEXT, FIRST_LINE, BEFORE_NEXT_QUESTION, JSON_VALUE,
    CODE, CODE_COMPLETION, MMLU_PRO_FIRST_STEP, MMLU_PRO_THREE_STEPS, SIMPLE_EVALS_LETTER,
    ANSWER_LINE, ANSWER_LINE_STRICT, ANSWER_AND_CONFIDENCE, LOG_PROBABILITIES,
    ENTIRE_TEXT, ATTEMPTED_GRIDS, BOXED, MINERVA_ANSWER, MATHS_ANSWER,
    ARGMAX_BYTES, ARGMAX_CHARACTERS, ARGMAX_TOKENS, ARGMAX_PMI, OPTION_SHARES, BY_ORDER, TEXT_LOG_PROBABILITY,
)  # fmt: skip

SCORERS: tuple[Scorer, ...] = (
    NUMERIC, CHOICE_SCORE, EXACT, EXACT_STRICT, CONTAINS, TOKEN_F1, SQUAD_EXACT, SQUAD_F1, DROP, JSON_EQUAL, RUBRIC,
    CONFIDENT_EXACT, TRUE_MASS,
    PROMPT_STRICT, PROMPT_LOOSE, INSTRUCTION_STRICT, INSTRUCTION_LOOSE, WHOLE_TASK, TASK_MEAN, OUTPUTS,
    MATHS_EQUAL, HENDRYCKS_EQUAL, MATHS_VOTE, LAWBENCH_SCORE, LAWBENCH_ANSWERED,
    CONFIDENCE, ACCURACY_OVER_ORDERS, SAME_IN_ALL_ORDERS, BY_BYTES, BY_WORDS, BY_TOKENS,
    FLAG,
)  # fmt: skip
