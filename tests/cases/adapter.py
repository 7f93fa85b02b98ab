"""One function for each theme: it turns a case's input into calls of the public API. It knows no case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.cases.aggregation import aggregation
from tests.cases.api_failures import api_failures
from tests.cases.arc_grid import arc_grid
from tests.cases.assertion_thresholds import assertion_thresholds
from tests.cases.caching_resume import caching_resume
from tests.cases.calibration import calibration
from tests.cases.code_passk import code_passk
from tests.cases.data_files import data_files
from tests.cases.dataset_errata import dataset_errata
from tests.cases.em_f1 import em_f1
from tests.cases.fewshot import fewshot
from tests.cases.ifeval import ifeval
from tests.cases.letter_extraction import letter_extraction
from tests.cases.loglik import loglik
from tests.cases.math_equivalence import math_equivalence
from tests.cases.numeric_extraction import numeric_extraction
from tests.cases.reasoning_output import reasoning_output
from tests.cases.submissions_flags import submissions_flags

THEMES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "aggregation": aggregation,
    "api-failures": api_failures,
    "arc-grid": arc_grid,
    "assertion-thresholds": assertion_thresholds,
    "caching-resume": caching_resume,
    "calibration": calibration,
    "code-passk": code_passk,
    "data-files": data_files,
    "dataset-errata": dataset_errata,
    "em-f1": em_f1,
    "fewshot": fewshot,
    "ifeval": ifeval,
    "letter-extraction": letter_extraction,
    "math-equivalence": math_equivalence,
    "loglik": loglik,
    "numeric-extraction": numeric_extraction,
    "reasoning-output": reasoning_output,
    "submissions-flags": submissions_flags,
}
