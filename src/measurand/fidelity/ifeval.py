"""IFEval: GPT-4's published figures, and the verdicts that M-IFEval stored for smaller models, each difference by its cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.ifeval import BENCHMARK, RANDOM_LETTER, VARIANTS, to_items
from measurand.core.fidelity import Cause, Figure, Rendering, Rescoring, Side, Stored
from measurand.core.item import Item
from measurand.core.outcome import Answer
from measurand.core.trial import Measured, Missing
from measurand.data.stored import rows_of
from measurand.scoring.ifeval.detecting import language_of
from measurand.scoring.ifeval.scorers import constraints_of, loosened, verdicts

_PROMPTS = "ifeval/input_data.jsonl"
_GPT4 = "ifeval/input_response_data_gpt4_20231107_145030.jsonl"
_OTHERS = "ifeval/m-ifeval-en"
_PUBLISHED = {"prompt_strict": 416, "instruction_strict": 697, "prompt_loose": 429, "instruction_loose": 712}
_OURS = {"prompt_strict": 417, "instruction_strict": 698, "prompt_loose": 431, "instruction_loose": 714}
_RANDOM = "random letter"
_OTHER_ITEM = "another item"
_UNSEEDED = "language at random"
_COPY = 2785
"""The item of which M-IFEval holds another version, which asks for 1 placeholder and not for 3."""


def _items(stored: Stored) -> dict[int, Item]:
    rows = rows_of(stored.folder / _PROMPTS)
    return {row["key"]: item for row, item in zip(rows, to_items("test", rows), strict=True)}


def gpt4(stored: Stored) -> Iterator[Figure]:
    """The four totals, and those of the 539 prompts that the reference does not check at random."""
    rows = rows_of(stored.folder / _PROMPTS)
    replies = {row["prompt"]: Answer(row["response"]) for row in rows_of(stored.folder / _GPT4)}
    pairs = [(item, replies[row["prompt"]]) for item, row in zip(to_items("test", rows), rows, strict=True)]
    marks = stored.mark(BENCHMARK.scoring, pairs)
    settled = [mark for row, mark in zip(rows, marks, strict=True) if row["key"] not in RANDOM_LETTER]
    cause = "items 1122 and 1129 ask for # and !; the reference counts a letter drawn at random, we count the sign"
    for metric, published in _PUBLISHED.items():
        what = metric.replace("_", "s followed, ")
        yield Figure(f"GPT-4, {what}", published, _followed(marks, metric), cause=cause, known=_OURS[metric])
        yield Figure(f"GPT-4, {what}, without these two items", None, _followed(settled, metric))


def _followed(marks: Sequence[Mapping[str, Measured | Missing]], metric: str) -> int:
    values = [mark[metric] for mark in marks]
    return int(sum(value.row[0] for value in values if isinstance(value, Measured)))


def others(stored: Stored) -> Iterator[Figure]:
    """Every verdict of every model against the stored one; a difference counts as explained only where its cause is seen."""
    items = _items(stored)
    for path in sorted((stored.folder / _OTHERS).glob("*.jsonl.gz")):
        model = path.name.removesuffix(".jsonl.gz").replace("__", "/")
        causes = Counter(_causes(path, items))
        same, unknown = causes.pop("same"), causes.pop("unknown", 0)
        apart = ", ".join(f"{count} by {cause}" for cause, count in sorted(causes.items()))
        total = same + unknown + sum(causes.values())
        what = f"{model}, verdicts that agree" + (f" or are apart for a known cause ({apart})" if apart else "")
        yield Figure(what, total, total - unknown)


def _causes(path: Path, items: dict[int, Item]) -> Iterator[str]:
    """For each stored verdict: same, or why it is another."""
    for row in rows_of(path):
        constraints = constraints_of(items[row["key"]].gold)
        for mode in ("strict", "loose"):
            ours = verdicts(row["response"], constraints, mode)
            for (kind, _), one, other in zip(constraints, ours, row[mode], strict=True):
                yield "same" if one == other else _cause(row["key"], kind, row["response"])


def _cause(key: int, kind: str, text: str) -> str:
    if key in RANDOM_LETTER and kind == "keywords:letter_frequency":
        return _RANDOM
    if key == _COPY and kind == "detectable_content:number_placeholders":
        return _OTHER_ITEM
    detected = kind in {"language:response_language", "change_case:english_capital", "change_case:english_lowercase"}
    return _UNSEEDED if detected and any(_depends_on_the_seed(form) for form in loosened(text)) else "unknown"


def _depends_on_the_seed(text: str) -> bool:
    return len({language_of(text, seed) for seed in range(40)}) > 1


RESCORINGS = (
    Rescoring("ifeval", "google-research@7afefd4, GPT-4 of 2023-11-07 (Zhou et al. 2023)", (_PROMPTS, _GPT4), gpt4),
    Rescoring("ifeval", "shisa-ai/M-IFEval@06f08ff, English evaluations", (_PROMPTS, _OTHERS), others),
)


def raw(folder: Path) -> Side:
    """Twenty prompts as raw text."""
    rows = rows_of(folder / _PROMPTS)[:20]
    texts = [
        {"key": row["key"], "prompt": row["prompt"]} for row in rows
    ]  # parameters differ by row, and are not shown
    return Side({"train": texts}, render_rows(VARIANTS["raw"], {"test": rows}))


def chat(folder: Path) -> Side:
    """The same twenty as user turns; HELM keeps parameters beside them that are not shown."""
    texts = [{**row, "instruction_id_list": [], "kwargs": []} for row in raw(folder).splits["train"]]
    return Side({"train": texts}, render_rows(BENCHMARK, {"test": rows_of(folder / _PROMPTS)[:20]}))


CAUSES = (
    Cause("HELM strips white space around a prompt", str.strip),
    Cause("HELM ends every prompt with a line break", lambda text: f"{text}\n"),
)

PROMPTS = (
    Rendering("ifeval", "ifeval", chat, (_PROMPTS,), causes=CAUSES, peer="crfm-helm"),
    Rendering("ifeval:raw", "ifeval/ifeval.yaml", raw, (_PROMPTS,)),
)
