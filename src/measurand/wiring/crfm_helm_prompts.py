"""Render prompts by HELM's own scenarios and adapters. Run by the interpreter that has crfm-helm, never imported.

Reads a list of objects {task, shots, splits} from standard input, and writes a list of texts for each: of each
instance, in order, the prompt. A task is written as a run entry, without a model: `gpqa:subset=gpqa_diamond`. A
scenario that fetches files finds each split under its name; one that asks the hub finds its rows by split.
"""

from __future__ import annotations

import csv
import dataclasses
import json
import os
import random
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

Rows = list[dict[str, Any]]

GIVEN: dict[str, Rows] = {}
"""The rows of the task that is rendered, by split or by file."""

WIDE = SimpleNamespace(
    fits_within_context_window=lambda *_, **__: True,
    truncate_from_right=lambda text, *_, **__: text,
)
"""A window that everything fits into, so that no tokenizer is asked for."""


def main() -> None:
    """Render what is asked for."""
    out, sys.stdout = sys.stdout, sys.stderr  # scenarios print as they like
    random.shuffle = lambda *_: None  # scenarios that shuffle options are given them in our order
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        _stand_in()
        json.dump([_named(number, asked) for number, asked in enumerate(json.load(sys.stdin))], out)


def _named(number: int, asked: dict[str, Any]) -> list[str]:
    """The texts of one task. Ends with a line that names the task where it fails."""
    try:
        return _texts(number, **asked)
    except Exception as error:  # noqa: BLE001  whatever the peer raises is told to the user
        sys.exit(f"{asked['task']}: {error!r}")


def _texts(number: int, task: str, shots: int, splits: dict[str, Rows]) -> list[str]:
    from helm.benchmark.adaptation.adapters.adapter_factory import AdapterFactory
    from helm.benchmark.run_spec import get_run_spec_function
    from helm.benchmark.window_services.window_service_factory import WindowServiceFactory
    from helm.common.object_spec import create_object, parse_object_spec

    GIVEN.clear()
    GIVEN.update(splits)
    WindowServiceFactory.get_window_service = staticmethod(lambda *_, **__: WIDE)
    entry = parse_object_spec(task)
    run = get_run_spec_function(entry.class_name)(**entry.args)
    spec = dataclasses.replace(run.adapter_spec, max_train_instances=shots)
    folder = Path(str(number))
    folder.mkdir()
    scenario = create_object(run.scenario_spec)
    adapter = AdapterFactory.get_adapter(spec, None)
    states = adapter.adapt(scenario.get_instances(str(folder)), parallelism=1)
    return [state.request.prompt for state in states]


def _stand_in() -> None:
    """Hand over the rows wherever a scenario would fetch them: from the hub, or as files."""
    import datasets
    import helm.common.general

    def load(*_: Any, split: str = "", **__: Any) -> Any:
        made = {name: datasets.Dataset.from_list(rows) for name, rows in GIVEN.items() if not split or name == split}
        return made[split] if split else datasets.DatasetDict(made)

    def download(source_url: str, target_path: str, unpack: bool = False, **_: Any) -> None:  # noqa: ARG001, FBT001, FBT002
        target = Path(target_path)
        for name, rows in GIVEN.items():
            _write(target / name if unpack else target, rows)

    datasets.load_dataset = load
    helm.common.general.ensure_file_downloaded = download


def _write(path: Path, rows: Rows) -> None:
    """Rows as lines of JSON, or of CSV without a head."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        if path.suffix == ".csv":
            csv.writer(file).writerows(row.values() for row in rows)
        else:
            file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
