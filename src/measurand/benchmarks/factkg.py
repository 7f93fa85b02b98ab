"""FactKG: claims that a knowledge graph bears out or refutes (Kim et al. 2023), asked without the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from measurand.asking import fill
from measurand.core.benchmark import Aggregation, Benchmark, Card, Marking, Prompting, Scoring, Task
from measurand.core.errors import DataError
from measurand.core.item import Item, Question, Row
from measurand.core.message import user
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.request import Decode, Generate
from measurand.core.source import File
from measurand.scoring.answer_lines import ANSWER_LINE_STRICT
from measurand.scoring.choosing import choice_scorer
from measurand.scoring.letters import choice
from measurand.stats.metrics import ACCURACY

ASKED = """\
Is this claim true or false? Think it through briefly if that helps, then end with one line that holds only "Answer: True" or "Answer: False".

{{claim}}"""

VERDICTS = ("True", "False")
REASONING = {
    "num1": "one_hop",
    "multi claim": "conjunction",
    "existence": "existence",
    "multi hop": "multi_hop",
    "negation": "negation",
}
"""The kinds of reasoning by the names of the data set. A claim may be of several, so their slices overlap."""


def to_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """Rows of the official pickle: the claim as `__key__`, `Label` (a list of one boolean) and `types`."""
    items = []
    for number, row in enumerate(rows):
        claim, label, types = row.get("__key__"), row.get("Label"), row.get("types")
        label = label[0] if isinstance(label, list) and len(label) == 1 else label
        if not isinstance(claim, str) or not isinstance(label, bool) or not isinstance(types, list):
            message = (
                f"factkg: row {number + 1} of {source} lacks its claim, a boolean in `Label` or the list `types`; "
                "give the official factkg_test.pickle"
            )
            raise DataError(message)
        items.append(
            Item(
                id=f"factkg/{source}/{number}",
                input=Question(claim),
                gold=str(label),
                slices={
                    "label": str(label).lower(),
                    "style": "written" if "written" in types else "colloquial",
                    **{name: "yes" if kind in types else "no" for kind, name in REASONING.items()},
                },
                language="en",
                origin=Row(f"factkg/{source}", number, made="synthetic"),
            )
        )
    return items


def by_chat(item: Item, _: Sequence[Item]) -> tuple[Generate, ...]:
    """One user turn with the claim alone."""
    assert isinstance(item.input, Question)  # noqa: S101  to_items makes nothing else
    return (Generate((user(fill(ASKED, {"claim": item.input.text})),), decode=Decode(max_tokens=1024)),)


CARD = Card(
    title="FactKG (claim only)",
    measures="telling true claims about the world, as DBpedia of 2015 has them, from false ones by memory alone, in English",
    blind_spots=(
        "What is true is what DBpedia held in 2015; some of it was wrong then and some has changed.",
        "Claims are made from the graph by rule or model, and many false ones can be told by their wording.",
        "Without evidence it measures memory, not verification; numbers with evidence from the graph are another task.",
        "A claim may need several kinds of reasoning, so the slices overlap and do not add up.",
    ),
    style="quiz",
    canonical_source=(
        "the authors' shared folder, linked from jiho283/FactKG on GitHub; no hub holds it: save factkg_test.pickle (9,041 "
        "claims) and pass --data factkg=factkg_test.pickle. The pickle is read as plain values, and never run. "
        "Dated by arXiv:2305.06590"
    ),
    canonical_protocol=(
        "The claim alone, zero-shot, a last line that says True or False; a reply that says neither is wrong, and the report "
        "counts them. The paper fine-tunes classifiers and gives some of them evidence from the graph; prompted models in "
        "later papers get twelve exemplars. There is no variant with evidence: factkg_test.pickle holds none, the authors' "
        "evidence is what their trained retriever finds in a copy of DBpedia 2015, and in the other splits it is names of "
        "relations, which say something only together with that graph."
    ),
    licence="CC-BY-NC-SA-4.0",
    released="2023-05-11",
    chance=0.5,
    errata=(
        "Corrections after the paper moved its own baselines, so its table and the present data do not fit together.",
    ),
)

_SCORE = choice_scorer(VERDICTS)

BENCHMARK = Benchmark(
    name="factkg",
    task=Task(sources={"test": File("factkg_test.pickle")}, to_items=to_items, version=1),
    asking=Prompting(
        name="zero-shot chat, claim only",
        version=1,
        requests=by_chat,
        needs=frozenset({"chat"}),
        text=ASKED,
    ),
    scoring=Scoring(
        markings=(
            Marking("accuracy", choice(VERDICTS), _SCORE),
            Marking("strict", ANSWER_LINE_STRICT, _SCORE),
        ),
        score_truncated=False,  # the verdict comes last, so a reply cut short has not given it
        score_refused=True,
    ),
    aggregation=Aggregation(
        metrics={"accuracy": ACCURACY, "strict": ACCURACY}, groups=("label", "style", *REASONING.values())
    ),
    card=CARD,
    gold_answer=lambda item: Answer(f"Answer: {item.gold}"),
)

VARIANTS: dict[str, Benchmark] = {}
