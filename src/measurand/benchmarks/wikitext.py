"""WikiText-2: perplexity on 62 articles of Wikipedia (Merity et al. 2016), read in windows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from measurand.asking.reading import WINDOW, reading
from measurand.core.benchmark import Aggregation, Benchmark, Card, Scoring, Task
from measurand.core.errors import DataError
from measurand.core.item import Document, Item, Row
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.source import Hub
from measurand.scoring.perplexity import MARKINGS
from measurand.stats.metrics import PERPLEXITIES

TITLE = re.compile(r"\s=\s[^=].*[^=]\s=\s*\Z|\s=\s[^=]\s=\s*\Z")
"""A line that begins an article: ` = Title = `. Sections have more marks."""

# Undoing WikiText's tokenisation, in this order: the rules of Megatron-LM and lm-evaluation-harness.
_BEFORE = (
    ("s '", "s'"),
    (" @-@ ", "-"),
    (" @,@ ", ","),
    (" @.@ ", "."),
    (" : ", ": "),
    (" ; ", "; "),
    (" . ", ". "),
    (" ! ", "! "),
    (" ? ", "? "),
    (" , ", ", "),
)
_PAIRS = (
    (re.compile(r"\(\s*([^\)]*?)\s*\)"), r"(\1)"),
    (re.compile(r"\[\s*([^\]]*?)\s*\]"), r"[\1]"),
    (re.compile(r"{\s*([^}]*?)\s*}"), r"{\1}"),
    (re.compile(r"\"\s*([^\"]*?)\s*\""), r'"\1"'),
    (re.compile(r"'\s*([^']*?)\s*'"), r"'\1'"),
)
_AFTER = (
    ("= = = =", "===="),
    ("= = =", "==="),
    ("= =", "=="),
    (" \N{DEGREE SIGN} ", "\N{DEGREE SIGN}"),
    (" \n", "\n"),
    ("\n ", "\n"),
    (" N ", " 1 "),
    (" 's", "'s"),
)


def detokenised(page: str) -> str:
    """An article as people write: WikiText puts spaces around punctuation and marks around hyphens."""
    for old, new in _BEFORE:
        page = page.replace(old, new)
    for pattern, new in _PAIRS:
        page = pattern.sub(new, page)
    for old, new in _AFTER:
        page = page.replace(old, new)
    return page


def pages(rows: Sequence[Mapping[str, Json]]) -> list[str]:
    """Whole articles: from rows with a `page` each, or from the lines of the original (`text`), cut at the titles."""
    if rows and "page" in rows[0]:
        return [str(row["page"]) for row in rows]
    made: list[list[str]] = []
    for number, row in enumerate(rows, 1):
        line = row.get("text")
        if not isinstance(line, str):
            raise DataError(f"wikitext: row {number} has neither a page nor a text; mend its columns")
        if TITLE.match(line) or not made:
            made.append([])
        made[-1].append(line)
    return [page for page in ("".join(lines) for lines in made) if page.strip()]


def to_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """One article an item. Words and bytes are counted in the original, as lm-evaluation-harness does."""
    return [
        Item(
            id=f"wikitext/{source}/{place}",
            input=Document(detokenised(page)),
            gold={"words": len(re.split(r"\s+", page)), "bytes": len(page.encode())},
            language="en",
            origin=Row(f"wikitext/{source}", place, made="real"),
        )
        for place, page in enumerate(pages(rows))
    ]


CARD = Card(
    title="WikiText-2",
    measures="how well a model predicts 62 good or featured articles of the English Wikipedia",
    blind_spots=(
        "Wikipedia is in nearly every training set, and these articles have been public since 2016.",
        "One register of one language: it says nothing of code, talk or other languages.",
        "A lower perplexity is no better answer: instruction tuning raises it while it makes models useful.",
        "Per token it compares only between models with one tokenizer; per word or byte it compares between all.",
    ),
    style="quiz",
    canonical_source=(
        "Salesforce/wikitext on the Hugging Face hub, wikitext-2-raw-v1, test, joined to its 62 articles, as many as "
        "EleutherAI/wikitext_document_level has, which lm-evaluation-harness reads (the paper says 60); the paper's "
        "245,569 words are tokens with an end mark for each line, and the words counted here are unchecked; dated by "
        "arXiv:1609.07843"
    ),
    canonical_protocol=(
        "lm-evaluation-harness reads the detokenised article and counts words and bytes in the original one, so its bits "
        "per byte are per byte of another text than is read; we do the same, so that numbers compare. Windows are "
        f"disjoint and of {WINDOW:,} tokens here, and of the model's full length there; wikitext:strided gives each "
        "token half a window of context at least. The window is part of the protocol."
    ),
    licence="CC-BY-SA-4.0",
    released="2016-09-26",
)

BENCHMARK = Benchmark(
    name="wikitext",
    task=Task(
        sources={
            "test": Hub(
                "Salesforce/wikitext",
                "b08601e04326c79dfdd32d625aee71d232d685c3",
                ("wikitext-2-raw-v1/test-*.parquet",),
            )
        },
        to_items=to_items,
        version=1,
    ),
    asking=reading(),
    scoring=Scoring(MARKINGS),
    aggregation=Aggregation(PERPLEXITIES),
    card=CARD,
    gold_answer=lambda _: Answer(values=(0.0,), counts=(1,)),
)

VARIANTS: dict[str, Benchmark] = {
    "strided": replace(BENCHMARK, name="wikitext:strided", asking=reading(WINDOW, WINDOW // 2)),
}
