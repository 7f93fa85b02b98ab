"""Each reader is an instrument: its precision and recall on labelled replies are measured and bounded here."""

import pytest

from measurand.core.benchmark import Reader
from measurand.core.trial import Found
from measurand.scoring.catalogue import READERS
from measurand.scoring.numerals import parse
from tests.scoring.asking import answer, item, rows

# corpus, least precision, least recall, and how often it may find something where nothing is
BOUNDS = {
    "number": ("numbers", 0.99, 0.99, 0),
    "last_number": ("numbers", 0.92, 0.90, 0),
    "marked_number": ("numbers", 0.99, 0.50, 0),
    "gsm8k_strict": ("numbers", 0.5, 0.01, 0),
    "gsm8k_cot_strict": ("numbers", 0.7, 0.09, 1),
    "lm_eval_flexible": ("numbers", 0.5, 0.5, 6),
    "choice": ("letters", 0.98, 0.98, 0),
    "choice_strict": ("letters", 0.85, 0.10, 0),
    "choice(multiple)": ("several", 0.98, 0.98, 0),
    "json_value": ("json", 0.99, 0.99, 0),
    "whole_text": ("texts", 1.0, 1.0, 0),
    "first_line": ("texts", 1.0, 1.0, 0),
    "before_next_question": ("texts", 1.0, 1.0, 0),
    "code": ("code", 0.97, 0.99, 1),
    "code_completion": ("completions", 0.96, 0.96, 0),
    "argmax": ("argmax", 1.0, 1.0, 0),
    "entire_text": ("texts", 1.0, 1.0, 0),
    "attempted_grids": ("attempts", 1.0, 1.0, 0),
    "boxed": ("solutions", 1.0, 1.0, 0),
    "minerva_answer": ("solutions", 1.0, 1.0, 0),
    "maths_answer": ("solutions", 0.97, 0.97, 2),
    "log_probabilities": ("argmax", 1.0, 1.0, 0),
    "mmlu_pro_first_step": ("letters", 0.5, 0.05, 5),
    "mmlu_pro_three_steps": ("letters", 0.65, 0.65, 14),
    "simple_evals_letter": ("letters", 0.5, 0.05, 5),
    "answer_line": ("answers", 0.97, 0.97, 0),
    "answer_line_strict": ("answers", 0.97, 0.97, 2),
    "answer_and_confidence": ("answers", 0.7, 0.97, 5),
}

OF_NUMBERS = {
    "argmax_bytes",
    "argmax_characters",
    "argmax_tokens",
    "argmax_pmi",
    "argmax_by_order",
    "option_shares",
    "text_log_probability",
}
"""These compute with log-probabilities and read no words, so there is no error to measure: test_options, test_perplexity."""


def same(corpus, found, want, row):
    if corpus == "argmax" and found == row["values"]:
        return True  # the reader of all values reads them as they are
    if corpus == "answers" and isinstance(found, dict):
        return found["answer"] == row["answer_line_strict"]
    if corpus in ("code", "completions"):
        return called(found, row) == want
    if corpus != "numbers":
        return found == want
    language = row.get("language", "")
    one, two = parse(str(found), language), parse(want, language)
    return one is not None and two is not None and one.equals(two)


def called(source, row):
    """What the function of a program of ours returns; replies in the corpus that are wrong return something else."""
    space = {"__name__": "candidate"}
    try:
        exec(compile(source, "candidate", "exec", dont_inherit=True), space)
        return space[row["entry_point"]](*row["call"])
    except (NameError, SyntaxError, TypeError) as error:
        return error


@pytest.mark.parametrize(
    "reader", [one for one in READERS if one.name not in OF_NUMBERS], ids=lambda reader: reader.name
)
def test_precision_and_recall(reader: Reader, record_property):
    corpus, precision_at_least, recall_at_least, invented_at_most = BOUNDS[reader.name]
    right = wrong = silent = invented = labelled = nothing = 0
    for row in rows(corpus):
        want = row["want"] if "want" in row else row.get(reader.name, row.get("answer_line"))
        finding = reader.read(item(row), answer(row))
        labelled += want is not None
        nothing += want is None
        if not isinstance(finding, Found):
            silent += want is not None
        elif want is None:
            invented += 1
        elif same(corpus, finding.value, want, row):
            right += 1
        else:
            wrong += 1
    precision, recall = right / (right + wrong + invented), right / labelled
    print(
        f"{reader.name}@{reader.version}: precision {precision:.3f}, recall {recall:.3f}, n={labelled}+{nothing}"
    )  # the measurement is to be seen (pytest -s)
    record_property("precision", precision)
    record_property("recall", recall)
    assert labelled >= 25
    assert right + wrong + silent == labelled
    assert invented <= invented_at_most
    assert precision >= precision_at_least
    assert recall >= recall_at_least


def test_every_reader_has_bounds_and_a_name_of_its_own():
    assert {reader.name for reader in READERS} == {*BOUNDS, *OF_NUMBERS}
    assert len({reader.name for reader in READERS}) == len(READERS)
    assert all(reader.version >= 1 for reader in READERS)
