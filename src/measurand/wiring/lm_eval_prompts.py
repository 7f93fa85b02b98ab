"""Render prompts by lm-evaluation-harness's own task classes. Run by the interpreter that has it, never imported.

Reads a list of objects {task, shots, splits} from standard input, and writes a list of texts for each: of each document
of the task, in order, its context, and each continuation on a line of its own that begins with an arrow. Where the rows
of a split `exemplars` are given, they stand for the exemplars that a task's own code holds.
"""

from __future__ import annotations

import json
import logging
import random
import sys
from pathlib import Path
from typing import Any

ARROW = "\n→"


def main() -> None:
    """Render what is asked for."""
    logging.disable(logging.CRITICAL)
    out, sys.stdout = sys.stdout, sys.stderr  # tasks print as they like
    json.dump([_named(asked) for asked in json.load(sys.stdin)], out)


def _named(asked: dict[str, Any]) -> list[str]:
    """The texts of one task. Ends with a line that names the task where it fails."""
    try:
        return _texts(**asked)
    except Exception as error:  # noqa: BLE001  whatever the peer raises is told to the user
        sys.exit(f"{asked['task']}: {error!r}")


def _texts(task: str, shots: int, splits: dict[str, list[dict[str, Any]]]) -> list[str]:
    import evaluate
    import lm_eval
    from lm_eval.api import task as api
    from lm_eval.tasks._yaml_loader import load_yaml

    evaluate.load = _nothing  # a metric that is fetched when a task is read, and not used here
    # Tasks that shuffle options are given them in our order.
    random.shuffle = random.Random.shuffle = _nothing  # type: ignore[method-assign]

    def download(self: Any, *_: Any, **__: Any) -> None:
        self.dataset = _rows(splits)

    api.ConfigurableTask.download = download
    config = load_yaml(Path(lm_eval.__file__).parent / "tasks" / task)
    for group in ("group", "group_alias"):
        config.pop(group, None)
    if "exemplars" in splits:
        config["fewshot_config"]["samples"] = [{**row, "is_fewshot": True} for row in splits.pop("exemplars")]
    made = api.ConfigurableTask(config=config)
    made.set_config("num_fewshot", shots)
    made.set_fewshot_seed(0)
    made.build_all_requests(rank=0, world_size=1)
    texts: dict[int, str] = {}
    for one in made.instances:
        context, *more = one.args
        texts.setdefault(one.doc_id, context)
        if more and isinstance(more[0], str):
            texts[one.doc_id] += ARROW + more[0]
    return [texts[place] for place in sorted(texts)]


def _nothing(*_: Any, **__: Any) -> Any:
    """Load nothing, shuffle nothing: what is computed with it fails, and nothing is."""
    from types import SimpleNamespace

    return SimpleNamespace(compute=lambda **_: {})


def _rows(splits: dict[str, list[dict[str, Any]]]) -> Any:
    import datasets

    return datasets.DatasetDict({name: datasets.Dataset.from_list(rows) for name, rows in splits.items()})


if __name__ == "__main__":
    main()
