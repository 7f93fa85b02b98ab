"""A benchmark's own sources, read from a hub on loopback that holds files in the layout of the real one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from measurand.core.benchmark import Benchmark
from measurand.core.source import Hub as HubSource
from tests.data.hub_server import COMMIT, Hub

READ = """
import json, sys
from measurand.core.source import Hub
from measurand.data import open_data
repo, files, gated = json.loads(sys.argv[1])
print(json.dumps(open_data({}).rows("b:test", Hub(repo, sys.argv[2], tuple(files), gated)).rows))
"""


def rows_from_hub(benchmark: Benchmark, folder: Path, files: Mapping[str, bytes], source: str = "test") -> list[Any]:
    """The rows that a source of the benchmark finds, where its repository holds these files and others do not matter.

    A child reads them, since the hub's client takes its address when it is imported.
    """
    declared = benchmark.task.sources[source]
    assert isinstance(declared, HubSource)
    assert len(declared.revision) == 40
    for name, data in files.items():
        path = folder / "hub" / declared.repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    server = Hub(folder / "hub")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
    kept |= {"HF_ENDPOINT": server.url, "HF_HOME": str(folder / "home"), "HF_HUB_DISABLE_XET": "1"}
    asked = [sys.executable, "-c", READ, json.dumps([declared.repo, declared.files, declared.gated]), COMMIT]
    try:
        done = subprocess.run(asked, env=kept, capture_output=True, text=True, timeout=300, check=False)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert done.returncode == 0, done.stderr
    rows: list[Any] = json.loads(done.stdout)
    return rows
