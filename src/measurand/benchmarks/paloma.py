"""Paloma: how well a model predicts text of 16 sources and hundreds of domains (Magnusson et al. 2023)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from measurand.asking.reading import WINDOW, reading
from measurand.core.benchmark import Aggregation, Benchmark, Card, Scoring, Task
from measurand.core.errors import DataError
from measurand.core.item import Document, Item, Row
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.source import Hub
from measurand.scoring.perplexity import MARKINGS
from measurand.stats.metrics import PERPLEXITIES


def to_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """One document an item, with its source and, within it, its domain."""
    items = []
    counts: Counter[str] = Counter()
    for number, row in enumerate(rows, 1):
        text, origin = row.get("text"), row.get("source")
        if not isinstance(text, str) or not isinstance(origin, str) or not origin:
            raise DataError(f"paloma: row {number} has no text or no source; give both columns")
        if not text:
            continue  # nothing to predict
        items.append(
            Item(
                id=f"paloma/{source}/{origin}/{counts[origin]}",
                input=Document(text),
                slices={"source": origin, "domain": f"{origin}/{row.get('subdomain') or origin}"},
                origin=Row(f"paloma/{source}/{origin}", counts[origin], made="real"),
            )
        )
        counts[origin] += 1
    return items


CARD = Card(
    title="Paloma",
    measures="how well a language model predicts English text and code of many domains: web, books, papers, forums, programs",
    blind_spots=(
        "The sources 4chan, Manosphere and Gab are full of hate; a low perplexity there is nothing to wish for.",
        "Training on these sources is common; the authors ask for decontaminated training data.",
        "Per token it compares only between models with one tokenizer; bits per byte compare between all.",
        "One number hides the domains: read the table.",
    ),
    style="quiz",
    canonical_source=(
        "allenai/paloma on the Hugging Face hub (gated) at 65cd6fc59dba021b21db414fa5e8d7765ffbe5e6, split test of all 16 "
        "sources, in files SOURCE/test/*.jsonl.gz with the columns text, id, added, source and, in some, subdomain: 546 "
        "domains by its card. The numbers of documents, and what the rows hold in `source`, are unchecked: the files "
        "need an account. Dated by arXiv:2312.10523"
    ),
    canonical_protocol=(
        "The paper gives perplexity per token over domains that are subsampled to one size, with a fixed vocabulary. Here "
        f"bits per byte come first, windows are disjoint and of {WINDOW:,} tokens, all documents are read, and the mean "
        "over sources stands beside the pooled number."
    ),
    licence="AI2 ImpACT, low risk",
    released="2023-12-16",
)

BENCHMARK = Benchmark(
    name="paloma",
    task=Task(
        sources={"test": Hub("allenai/paloma", "65cd6fc", ("*/test/*.jsonl.gz",), gated=True)},
        to_items=to_items,
        version=1,
    ),
    asking=reading(),
    scoring=Scoring(MARKINGS),
    aggregation=Aggregation(PERPLEXITIES, macro=("source",), groups=("source",)),
    card=CARD,
    gold_answer=lambda _: Answer(values=(0.0,), counts=(1,)),
)
