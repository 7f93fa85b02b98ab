"""Theme letter-extraction: which option does a reply choose?"""

from __future__ import annotations

from typing import Any

from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.trial import Found
from measurand.scoring import choice


def letter_extraction(case: dict[str, Any]) -> dict[str, Any]:
    labels = [str(label) for label in case["options"]]
    texts = tuple(case.get("option_texts") or ("",) * len(labels))
    aliases: dict[str, str] = {}
    for label, spellings in case.get("label_aliases", {}).items():
        aliases.update(dict.fromkeys([spellings] if isinstance(spellings, str) else spellings, label))
    aliases.update(zip(case.get("row_labels", ()), labels, strict=False))
    reader = choice(labels, aliases, multiple=bool(case.get("multiple")))
    finding = reader.read(Item("case", Question("", texts)), Answer(case["response"]))
    return {"answer": finding.value if isinstance(finding, Found) else None}
