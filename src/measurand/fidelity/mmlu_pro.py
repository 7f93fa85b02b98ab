"""MMLU-Pro: replies of two models, read by the official rule and by ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.mmlu_pro import BENCHMARK, VARIANTS, to_items
from measurand.core.benchmark import Reader
from measurand.core.fidelity import Cause, Figure, Rendering, Rescoring, Side, Stored
from measurand.core.item import Item
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.trial import Absent, Finding, Found, Measured
from measurand.data.stored import rows_of
from measurand.fidelity.mmlu import CAPITALS, COMMAS
from measurand.scoring.choosing import CHOICE_SCORE
from measurand.scoring.letters import CHOICE
from measurand.scoring.official import MMLU_PRO_FIRST_STEP, MMLU_PRO_THREE_STEPS

ASKED = 12_032
"""Test questions; the file of gemini-1.5-pro-002 holds replies to all but twelve."""

GEMINI = "mmlu_pro/model_outputs_gemini-1.5-pro-002_5shots.zip"
LLAMA = "mmlu_pro/model_outputs_Meta-Llama-3-70B_5shots.zip"


def _read(stored: Stored, name: str) -> tuple[list[dict[str, Json]], list[Item]]:
    rows = rows_of(stored.folder / name)
    return rows, to_items("test", rows)


def _findings(reader: Reader, rows: Sequence[dict[str, Json]], items: Sequence[Item]) -> list[Finding]:
    texts = [str(row.get("model_outputs", row.get("generated_text"))) for row in rows]
    return [reader.read(item, Answer(text)) for item, text in zip(items, texts, strict=True)]


def _agreeing(findings: Sequence[Finding], rows: Sequence[dict[str, Json]]) -> int:
    letters = [finding.value if isinstance(finding, Found) else None for finding in findings]
    return sum(letter == row["pred"] for letter, row in zip(letters, rows, strict=True))


def _right(findings: Sequence[Finding], items: Sequence[Item]) -> int:
    scores = [CHOICE_SCORE.score(item, finding) for item, finding in zip(items, findings, strict=True)]
    return sum(score == Measured((1.0,)) for score in scores)


def _absent(findings: Sequence[Finding]) -> int:
    return sum(isinstance(finding, Absent) for finding in findings)


def gemini(stored: Stored) -> Iterator[Figure]:
    """The three official steps."""
    rows, items = _read(stored, GEMINI)
    found = _findings(MMLU_PRO_THREE_STEPS, rows, items)
    right, missing = _right(found, items), ASKED - len(rows)
    yield Figure("gemini-1.5-pro-002, letters that agree", len(rows), _agreeing(found, rows))
    yield Figure(f"gemini-1.5-pro-002, right of {len(rows):,}", 8444, right)
    yield Figure("gemini-1.5-pro-002, without a letter", 8, _absent(found))
    yield Figure(f"gemini-1.5-pro-002, in a hundred of {len(rows):,}", 70.25, 100 * right / len(rows), 0.005)
    yield Figure(f"the same over all {ASKED:,}, none of the {missing} missing right", 70.18, 100 * right / ASKED, 0.005)
    most = 100 * (right + missing) / ASKED
    yield Figure(f"the same over all {ASKED:,}, all of the {missing} missing right", 70.28, most, 0.005)
    lenient = _right(_findings(CHOICE, rows, items), items)
    yield Figure("gemini-1.5-pro-002, right by our own lenient reader", None, lenient)


def llama(stored: Stored) -> Iterator[Figure]:
    """The stored letters are those of the first step alone."""
    rows, items = _read(stored, LLAMA)
    first = _findings(MMLU_PRO_FIRST_STEP, rows, items)
    yield Figure("Meta-Llama-3-70B by the first step, letters that agree", len(rows), _agreeing(first, rows))
    yield Figure("Meta-Llama-3-70B by the first step, share right", 0.5201, _right(first, items) / len(rows), 0.00005)
    yield Figure("Meta-Llama-3-70B by the first step, without a letter", 814, _absent(first))
    three = _right(_findings(MMLU_PRO_THREE_STEPS, rows, items), items) / len(rows)
    yield Figure("Meta-Llama-3-70B by the three steps, share right", 0.5238, three, 0.00005)


_SOURCE = "TIGER-AI-Lab/MMLU-Pro@f418b11, eval_results"
RESCORINGS = (
    Rescoring("mmlu_pro", _SOURCE, (GEMINI,), gemini),
    Rescoring("mmlu_pro", _SOURCE, (LLAMA,), llama),
)

CAUSES = (
    Cause(
        "three empty lines follow the official instruction; in lm-eval none",
        lambda text: text.replace("letter choice.\n\n\n\n", "letter choice.\n", 1),
    ),
    Cause(
        "lm-eval strips white space around the options, the official code does not",
        lambda text: "\n".join(
            f"{line[:3]}{line[3:].strip()}" if line[1:3] == ". " else line for line in text.split("\n")
        ),
    ),
)


def chain_of_thought(folder: Path) -> Side:
    """Twenty questions of biology after five of our own making, since the exemplars are not among the outputs."""
    rows = [row for row in rows_of(folder / LLAMA) if row["category"] == "biology"][:20]
    exemplars = [
        {
            "question_id": number,
            "question": f"Which of these is {number} and {number}?",
            "options": [str(2 * number + step) for step in range(4 + number)],
            "answer": "A",
            "answer_index": 0,
            "cot_content": f"A: Let's think step by step. {number} + {number} = {2 * number}. The answer is (A).",
            "category": "biology",
            "src": "made",
        }
        for number in range(1, 6)
    ]
    kept = [{name: row[name] for name in exemplars[0]} for row in rows]
    splits = {"test": kept, "validation": exemplars}
    return Side(splits, render_rows(BENCHMARK, splits))


def chat(folder: Path) -> Side:
    """The same twenty questions without exemplars."""
    rows = chain_of_thought(folder).splits["test"]
    return Side({"test": rows}, render_rows(VARIANTS["chat"], {"test": rows}))


HEADED = Cause(
    "inspect_evals heads the question with Question: and the options with Options:; simple-evals and we do not",
    lambda text: text.replace("\n\n", "\n\nQuestion:\n", 1).replace("\n\nA) ", "\nOptions:\nA) "),
)

PROMPTS = (
    Rendering("mmlu_pro", "mmlu_pro/mmlu_pro_biology.yaml", chain_of_thought, (LLAMA,), shots=5, causes=CAUSES),
    Rendering(
        "mmlu_pro:chat",
        "mmlu_pro/mmlu_pro -T shuffle=false",
        chat,
        (LLAMA,),
        causes=(COMMAS, CAPITALS, HEADED),
        peer="inspect-evals",
    ),
)
