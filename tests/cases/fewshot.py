"""Theme fewshot: which exemplars an item gets."""

from __future__ import annotations

import re
from typing import Any

from measurand.asking import choose, same_question
from measurand.core.benchmark import Shots
from measurand.core.errors import InputError
from measurand.core.item import Item, Question

SEEDS = range(50)


def fewshot(case: dict[str, Any]) -> dict[str, Any]:
    if case["task"] == "fewshot_leak_check":
        return {"leak": same_question(_item(case["eval"]), _item(case["exemplar"]))}
    return _build(case)


def _build(case: dict[str, Any]) -> dict[str, Any]:
    documents = case.get("pool_docs", case.get("docs", []))
    pool = [_item(document) for document in documents]
    asked = _asked(case, pool)
    first = str(case.get("sampler", "")).startswith("first")
    # Where the case names no seed, what it says must hold for every seed.
    seeds = [case["seed"]] if "seed" in case else [0] if first else SEEDS
    rule: Any = "first" if first else "seeded"
    try:
        drawn = [
            (item, choose(Shots(case["num_fewshot"], "pool", rule, seed=seed), item, pool))
            for seed in seeds
            for item in asked
        ]
    except InputError as error:
        left = re.search(r"only (\d+) are left", str(error))
        return {"error": str(error), "error_or_reported_n": int(left[1]) if left else None}
    counts = {len(shots) for _, shots in drawn}
    chosen = [documents[pool.index(shot)]["id"] for shot in drawn[0][1]]
    sets = {tuple(sorted(documents[pool.index(shot)]["id"] for shot in shots)) for _, shots in drawn}
    return {
        "own_item_in_prompt": sum(same_question(item, shot) for item, shots in drawn for shot in shots),
        "exemplars_per_item": counts.pop() if len(counts) == 1 else sorted(counts),
        "exemplar_ids": chosen,
        "exemplar_ids_set": list(sets.pop()) if len(sets) == 1 else sorted(map(list, sets)),
        "error_or_reported_n": len(drawn[0][1]),
    }


def _asked(case: dict[str, Any], pool: list[Item]) -> list[Item]:
    if "eval_doc" in case:
        return [_item(case["eval_doc"])]
    if "eval_id" in case:
        wanted = str(case["eval_id"])
        return [next((item for item in pool if item.id == wanted), Item(wanted, Question("a question of its own")))]
    return pool


def _item(document: dict[str, Any]) -> Item:
    options = document.get("options", document.get("choices", ()))
    text = str(document.get("q", document.get("question", "")))
    return Item(str(document.get("id", "")), Question(text, tuple(map(str, options))), gold=document.get("a"))
