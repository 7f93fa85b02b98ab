"""Rows in the real schema of every quiz benchmark, of our own making, and their files in the layout of the hub."""

from __future__ import annotations

import csv
import json
import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Rows = list[dict[str, Any]]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

SUBJECTS = ("anatomy", "us_foreign_policy", "virology")

MMLU: Rows = [
    {
        "question": f"Which is {n} of {subject}?",
        "subject": subject,
        "choices": [f"{subject} {c}{n}" for c in "wxyz"],
        "answer": n % 4,
    }
    for subject in SUBJECTS
    for n in range(6)
]
REDUX_KINDS = [
    ("ok", None),
    ("wrong_groundtruth", "3"),
    ("multiple_correct_answers", "A and C"),
    ("no_correct_answer", None),
    ("bad_question_clarity", None),
    ("wrong_groundtruth", "unclear"),
]
REDUX: dict[str, Rows] = {
    subject: [
        {
            "question": f"Which is {n} of {subject}?",
            "choices": [f"{subject} {c}{n}" for c in "wxyz"],
            "answer": 1,
            "error_type": kind,
            "source": "a book",
            "correct_answer": corrected,
            "potential_reason": "a reason" if corrected else None,
        }
        for n, (kind, corrected) in enumerate(REDUX_KINDS)
    ]
    for subject in SUBJECTS
}


def mmlu_pro(split: str, count: int) -> Rows:
    return [
        {
            "question_id": 70 * (split == "test") + 10 * k + n,
            "question": f"How many of {n} in {category}, {split}?",
            "options": [f"{m} of {n}" for m in range(4 + n)] + ["N/A"] * (split == "test" and n == 1),
            "answer": "ABCDEFGHIJ"[n],
            "answer_index": n,
            "cot_content": f"A: Let's think step by step. It is {n}. The answer is ({'ABCDEFGHIJ'[n]})."
            * (split != "test"),
            "category": category,
            "src": "made",
        }
        for k, category in enumerate(("biology", "computer science"))
        for n in range(count)
    ]


def gpqa(count: int) -> Rows:
    return [
        {
            "Record ID": f"rec{n}",
            "Question": f"What is measured in case {n}?\n",
            "Correct Answer": f"right {n}\n",
            "Incorrect Answer 1": f"wrong {n}a",
            "Incorrect Answer 2": f"wrong {n}b",
            "Incorrect Answer 3": f"wrong {n}c",
            "Subdomain": "Genetics" if n % 2 else "Optics and Acoustics",
            "High-level domain": "Biology" if n % 2 else "Physics",
            "Canary String": "a canary of our own making",
        }
        for n in range(count)
    ]


GPQA = gpqa(5)
GPQA_EXEMPLARS: Rows = [
    {
        "question": f"Exemplar {n}?",
        "choices": {letter: f"{letter}{n}" for letter in "ABCD"},
        "explanation": f"Because of {n}.",
        "correct_answer": "ABCDA"[n],
    }
    for n in range(5)
]

HLE: Rows = [
    {
        "id": f"id{n}",
        "question": f"What does the {'image show' if n == 1 else 'text say'}, case {n}?",
        "image": f"data:image/png;base64,{PIXEL}" if n == 1 else "",
        "image_preview": None,
        "answer": f"answer {n}" if n else "B",
        "answer_type": "exactMatch" if n else "multipleChoice",
        "author_name": "nobody",
        "rationale": "because",
        "rationale_image": None,
        "raw_subject": "Logic",
        "category": "Math",
        "canary": "a canary of our own making",
    }
    for n in range(4)
]

TRUTHFUL_CHOICES: Rows = [
    {
        "question": f"What happens in case {n}?",
        "mc1_targets": {"choices": [f"True {n}.", f"False {n}.", "Untrue."], "labels": [1, 0, 0]},
        "mc2_targets": {"choices": [f"True {n}.", "So true.", f"False {n}."], "labels": [1, 1, 0]},
    }
    for n in range(3)
]
TRUTHFUL_PAIRS: Rows = [
    {"question": f"What happens in case {n}?", "mc0_targets": {f"True {n}": 1, f"False {n}": 0}} for n in range(6)
]
TRUTHFUL_WRITTEN: Rows = [
    {
        "type": "Adversarial",
        "category": "Misconceptions",
        "question": f"What happens in case {n}?",
        "best_answer": "Nothing",
        "correct_answers": ["Nothing", "Not much"],
        "incorrect_answers": ["Everything"],
        "source": "nowhere",
    }
    for n in range(3)
]

XNLI_LANGUAGES = ("ar", "bg", "de", "el", "en", "es", "fr", "hi", "ru", "sw", "th", "tr", "ur", "vi", "zh")
XNLI: Rows = [
    {
        "premise": {language: f"premise {n} {language}" for language in XNLI_LANGUAGES},
        "hypothesis": {
            "language": list(XNLI_LANGUAGES),
            "translation": [f"hypothesis {n} {language}" for language in XNLI_LANGUAGES],
        },
        "label": n,
    }
    for n in range(3)
]

MMMLU_LOCALES = [
    "AR-XY",
    "BN-BD",
    "DE-DE",
    "ES-LA",
    "FR-FR",
    "HI-IN",
    "ID-ID",
    "IT-IT",
    "JA-JP",
    "KO-KR",
    "PT-BR",
    "SW-KE",
    "YO-NG",
    "ZH-CN",
]


def mmmlu(locale: str) -> list[list[str]]:
    head = ["", "Question", "A", "B", "C", "D", "Answer", "Subject"]
    return [
        head,
        *([str(n), f"{locale}, {n}?", "NA", "null", f"c{n}", "d", "ABCD"[n], SUBJECTS[n % 3]] for n in range(4)),
    ]


LITE_LANGUAGES = ("ar", "bn", "de", "en", "es", "fr", "hi", "id", "it", "ja", "ko", "pt", "sw", "yo", "zh")


def global_mmlu(language: str) -> Rows:
    return [
        {
            "sample_id": f"{SUBJECTS[n % 3]}/test/{n}",
            "subject": SUBJECTS[n % 3],
            "subject_category": "Medical",
            "question": f"{language} {n}?",
            "option_a": "a",
            "option_b": "b",
            "option_c": "c",
            "option_d": "d",
            "answer": "ABCD"[n],
            "required_knowledge": "[]",
            "time_sensitive": "[]",
            "reference": "[]",
            "culture": "[]",
            "region": "[]",
            "country": "[]",
            "cultural_sensitivity_label": ("CS", "CA", "-", "CA")[n],
            "is_annotated": n != 2,
        }
        for n in range(4)
    ]


MEDQA: Rows = [
    {
        "question": f"A patient of {40 + n} years …?",
        "answer": "rest",
        "options": {"A": "rest", "B": "B", "C": "surgery", "D": f"drug {n}"},
        "meta_info": "step1" if n else "step2&3",
        "answer_idx": "ABCD"[n],
        "metamap_phrases": ["patient"],
    }
    for n in range(4)
]
MEDMCQA: Rows = [
    {
        "id": f"m{n}",
        "question": f"Which nerve, case {n}?",
        "opa": "first",
        "opb": "second",
        "opc": "NA",
        "opd": "None of these",
        "cop": n,
        "choice_type": "single",
        "exp": None,
        "subject_name": "Anatomy" if n else "Surgery",
        "topic_name": None,
    }
    for n in range(4)
]
PUBMEDQA: Rows = [
    {
        "pubid": 100 + n,
        "question": f"Does it help in case {n}?",
        "context": {
            "contexts": ["We tried.", f"It was case {n}."],
            "labels": ["METHODS", "RESULTS"],
            "meshes": ["Humans"],
        },
        "long_answer": "Perhaps.",
        "final_decision": ("yes", "no", "maybe")[n],
    }
    for n in range(3)
]
FACTKG: dict[str, dict[str, Any]] = {
    f"Somebody was born in case {n}.": {
        "Label": [n % 2 == 0],
        "Entity_set": ["Somebody"],
        "types": [["written", "coll:model"][n % 2], "substitution", ["num1", "negation", "multi hop"][n]],
    }
    for n in range(3)
}


def write_hub(root: Path) -> None:
    """Every data set as the hub has it: owner/name/path."""
    pro = root / "TIGER-Lab" / "MMLU-Pro" / "data"
    _parquet(pro / "test-00000-of-00001.parquet", mmlu_pro("test", 3))
    _parquet(pro / "validation-00000-of-00001.parquet", mmlu_pro("validation", 5))
    _parquet(root / "cais" / "mmlu" / "all" / "test-00000-of-00001.parquet", MMLU[::4])
    _parquet(
        root / "cais" / "mmlu" / "all" / "dev-00000-of-00001.parquet",
        [row | {"question": f"dev {row['question']}"} for row in MMLU],
    )
    for subject, rows in REDUX.items():
        _arrow(root / "edinburgh-dawg" / "mmlu-redux-2.0" / subject / "data-00000-of-00001.arrow", rows)
    for subset in ("main", "diamond", "extended"):
        _csv(
            root / "Idavidrein" / "gpqa" / f"gpqa_{subset}.csv",
            [list(GPQA[0]), *(list(row.values()) for row in gpqa(7))],
        )
    _parquet(root / "cais" / "hle" / "data" / "test-00000-of-00001.parquet", HLE)
    truthful = root / "truthfulqa" / "truthful_qa"
    _parquet(truthful / "multiple_choice" / "validation-00000-of-00001.parquet", TRUTHFUL_CHOICES)
    _parquet(truthful / "generation" / "validation-00000-of-00001.parquet", TRUTHFUL_WRITTEN)
    for split in ("test", "validation"):
        _parquet(root / "facebook" / "xnli" / "all_languages" / f"{split}-00000-of-00001.parquet", XNLI)
    for locale in MMMLU_LOCALES:
        _csv(root / "openai" / "MMMLU" / "test" / f"mmlu_{locale}.csv", mmmlu(locale))
    for language in ("am", "en", "sw"):
        _parquet(root / "CohereLabs" / "Global-MMLU" / language / "test-00000-of-00001.parquet", global_mmlu(language))
    for language in LITE_LANGUAGES:
        lite = root / "CohereLabs" / "Global-MMLU-Lite" / language / "test-00000-of-00001.parquet"
        _parquet(lite, global_mmlu(language))
    _parquet(root / "openlifescienceai" / "medmcqa" / "data" / "validation-00000-of-00001.parquet", MEDMCQA)
    _parquet(root / "qiaojin" / "PubMedQA" / "pqa_labeled" / "train-00000-of-00001.parquet", PUBMEDQA)
    medqa = root / "GBaker" / "MedQA-USMLE-4-options" / "phrases_no_exclude_test.jsonl"
    medqa.parent.mkdir(parents=True)
    medqa.write_text("".join(json.dumps(row) + "\n" for row in MEDQA), encoding="utf-8")


def write_files(root: Path) -> dict[str, str]:
    """What no hub holds, and what it stands in for."""
    (root / "factkg_test.pickle").write_bytes(pickle.dumps(FACTKG))
    (root / "mc_task.json").write_text(json.dumps(TRUTHFUL_PAIRS), encoding="utf-8")
    (root / "chain_of_thought_examples.json").write_text(json.dumps({"questions": GPQA_EXEMPLARS}), encoding="utf-8")
    return {
        "factkg": str(root / "factkg_test.pickle"),
        "truthfulqa:mc0": str(root / "mc_task.json"),
        "gpqa:exemplars": str(root / "chain_of_thought_examples.json"),
    }


def _parquet(path: Path, rows: Rows) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)


def _arrow(path: Path, rows: Rows) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist(rows)
    with pa.OSFile(str(path), "wb") as out, pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)


def _csv(path: Path, rows: list[list[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows(rows)
