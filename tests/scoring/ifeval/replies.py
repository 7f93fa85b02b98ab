"""Stored replies to the prompts of IFEval, read where they lie."""

from __future__ import annotations

import gzip
import json
from functools import lru_cache
from typing import Any

from tests.artifacts import artifact


def read(name: str) -> list[dict[str, Any]]:
    data = artifact(name).read_bytes()
    return [json.loads(line) for line in (gzip.decompress(data) if name.endswith(".gz") else data).splitlines()]


@lru_cache(maxsize=1)
def texts() -> list[str]:
    """Replies of GPT-4 and of ten smaller models, in many languages and layouts."""
    found = [row["response"] for row in read("ifeval/input_response_data_gpt4_20231107_145030.jsonl")]
    for path in sorted(artifact("ifeval/m-ifeval-en").glob("*.jsonl.gz")):
        found += [row["response"] for row in read(f"ifeval/m-ifeval-en/{path.name}")]
    return found
