"""Render prompts by inspect_evals' own tasks and solvers. Run by the interpreter that has it, never imported.

Reads a list of objects {task, shots, splits} from standard input, and writes a list of texts for each: of each sample,
in order, the messages that the model is sent, with an image as its data URL. A task is written as for `inspect eval`,
after the folder that holds it: `mmlu/mmlu_0_shot -T cot=true`. Shots are one of its options, so the number is not read.
"""

from __future__ import annotations

import csv
import importlib
import json
import os
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]

GIVEN: dict[str, Rows] = {}
"""The rows of the task that is rendered, by split."""


def main() -> None:
    """Render what is asked for."""
    out, sys.stdout = sys.stdout, sys.stderr  # tasks print as they like
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"XDG_CACHE_HOME": folder, "INSPECT_LOG_DIR": folder, "INSPECT_DISPLAY": "none"}
        os.chdir(folder)
        _stand_in()
        json.dump([_named(asked) for asked in json.load(sys.stdin)], out)


def _named(asked: dict[str, Any]) -> list[str]:
    """The texts of one task. Ends with a line that names the task where it fails."""
    try:
        return _texts(asked["task"], asked["splits"])
    except Exception as error:  # noqa: BLE001  whatever the peer raises is told to the user
        sys.exit(f"{asked['task']}: {error!r}")


def _texts(task: str, splits: dict[str, Rows]) -> list[str]:
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelOutput, get_model

    GIVEN.clear()
    GIVEN.update(splits)
    place, *options = shlex.split(task)
    folder, name = place.split("/")
    values = dict(option.split("=", 1) for option in options if option != "-T")
    made = getattr(importlib.import_module(f"inspect_evals.{folder}.{folder}"), name)(
        **{option: _value(value) for option, value in values.items()}
    )
    made.sandbox, made.epochs, made.epochs_reducer = None, 1, None  # nothing is run, nor scored
    texts: list[str] = []

    def reply(messages: list[Any], *_: Any) -> Any:
        texts.append("\n\n".join(map(_text, messages)))
        return ModelOutput.from_content("mockllm/model", "")

    async def count(_: str) -> int:
        return 0  # the table of a tokenizer is fetched otherwise

    model = get_model("mockllm/model", custom_outputs=reply, memoize=False)
    model.api.count_text_tokens = count
    (log,) = evaluate(made, model=model, max_samples=1, score=False, log_samples=False)
    if log.status != "success":
        raise RuntimeError(log.error.message if log.error else log.status)
    return texts


def _value(text: str) -> Any:
    """An option's value: JSON where it is that."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _text(message: Any) -> str:
    if isinstance(message.content, str):
        return message.content
    return "".join(part.text if part.type == "text" else part.image for part in message.content)


def _stand_in() -> None:
    """Hand over the rows wherever a task would fetch them: from the hub, by a builder of its own, or as a CSV file."""
    import datasets
    import huggingface_hub
    import inspect_ai.util

    def load(*_: Any, split: str, **__: Any) -> datasets.Dataset:
        return datasets.Dataset.from_list(GIVEN[split])

    def download(_: str, __: str, path: Path) -> None:
        (rows,) = GIVEN.values()
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)

    def nothing(*_: Any, **__: Any) -> None:
        """Prepare nothing."""

    datasets.load_dataset = load
    datasets.DatasetBuilder.download_and_prepare = nothing
    datasets.DatasetBuilder.as_dataset = lambda _, split, **__: load(split=split)
    huggingface_hub.snapshot_download = nothing  # type: ignore[assignment]
    inspect_ai.util.download = download


if __name__ == "__main__":
    main()
