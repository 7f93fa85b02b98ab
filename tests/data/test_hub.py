"""The hub, by its own client against a server on loopback; then without the server."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.data.hub_server import COMMIT, Hub

READ = """
import json, sys
from measurand.core.errors import DataError
from measurand.core.source import Hub
from measurand.data import open_data
data = open_data({}, offline=sys.argv[1] == "offline")
for repo, revision, files, gated in json.loads(sys.argv[2]):
    try:
        rows = data.rows("b:test", Hub(repo, revision, tuple(files), gated))
        print(json.dumps({"rows": rows.rows, "sha256": rows.sha256, "stands_in": rows.stands_in}))
    except DataError as error:
        print(json.dumps({"error": str(error)}))
"""
Read = Callable[..., list[dict[str, Any]]]
PARQUET = ("who/what", COMMIT, ["all/test-*.parquet"], False)
JSONL = ("who/what", COMMIT, ["main/test.jsonl"], False)
CSV = ("who/what", COMMIT, ["csv/*.csv"], False)


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    root = tmp_path / "hub"
    folder = root / "who" / "what"
    for inner in ("all", "main", "csv"):
        (folder / inner).mkdir(parents=True)
    for shard in (1, 0):
        table = pa.table({"q": [f"{shard}a", f"{shard}b"], "choices": [["x", "y"], ["z"]]})
        pq.write_table(table, folder / "all" / f"test-0000{shard}-of-00002.parquet")
    (folder / "main" / "test.jsonl").write_text('{"q": 1}\n', encoding="utf-8")
    for name in ("law", "art"):
        (folder / "csv" / f"{name}.csv").write_text(f"q,a\n{name},1\n", encoding="utf-8")
    server = Hub(root)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def read(hub: Hub, tmp_path: Path) -> Read:
    def run(*sources: Any, offline: bool = False, **environment: str) -> list[dict[str, Any]]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
        kept |= {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_XET": "1"} | environment
        asked = [sys.executable, "-W", "error", "-c", READ, "offline" if offline else "online", json.dumps(sources)]
        done = subprocess.run(asked, env=kept, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        assert "%|" not in done.stderr  # nothing draws bars but the command line
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run


def test_files_of_the_hub_are_read_then_found_in_the_cache(hub: Hub, read: Read) -> None:
    first = read(PARQUET, JSONL, CSV)
    assert [row["q"] for row in first[0]["rows"]] == ["0a", "0b", "1a", "1b"]
    assert first[0]["rows"][0]["choices"] == ["x", "y"]
    assert first[1]["rows"] == [{"q": 1}]
    assert [row["__file__"] for row in first[2]["rows"]] == ["art", "law"]
    assert {one["stands_in"] for one in first} == {""}
    asked = hub.requests
    assert asked > 0
    assert read(PARQUET, JSONL, CSV) == first
    assert hub.requests == asked  # a commit does not change, so nobody is asked again
    assert read(PARQUET, JSONL, CSV, HF_HUB_OFFLINE="1") == first


def test_offline_a_part_of_a_data_set_is_not_taken_for_the_whole(read: Read, tmp_path: Path) -> None:
    read(PARQUET)
    shard = next((tmp_path / "home").rglob("test-00001-of-00002.parquet"))
    shard.unlink()
    for answer in (*read(PARQUET, CSV, offline=True), *read(PARQUET, HF_HUB_OFFLINE="1")):
        assert "who/what is not whole in the local cache and reading is offline" in answer["error"]


def test_faults_of_the_hub_are_sentences(hub: Hub, read: Read) -> None:
    hub.gated["who/what"] = "let-in"
    missing = ("who/none", COMMIT, ["x.jsonl"], False)
    (answer, none) = read(JSONL, missing)
    assert answer["error"].startswith("who/what is gated: ask for access")
    assert none["error"].startswith("there is no data set who/none, or it is private")
    (answer,) = read(JSONL, HF_TOKEN="wrong-secret")
    assert answer["error"].startswith("who/what is gated")
    assert "wrong-secret" not in answer["error"]
    (answer, revision, file) = read(
        JSONL,
        ("who/what", "f" * 40, ["x.jsonl"], False),
        ("who/what", COMMIT, ["no-*.jsonl"], False),
        HF_TOKEN="let-in",
    )
    assert answer["rows"] == [{"q": 1}]
    assert revision["error"].startswith(f"who/what has no commit {'f' * 40}")
    assert file["error"].startswith("who/what@01234567 has no file no-*.jsonl")


def test_only_the_environments_token_is_sent(hub: Hub, read: Read, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "token").write_text("stored-by-login", encoding="utf-8")
    read(JSONL)
    assert hub.tokens == {""}
    read(CSV, HF_TOKEN="given")
    assert hub.tokens == {"", "Bearer given"}


@pytest.mark.slow
def test_without_a_network_the_error_says_so(read: Read) -> None:
    # The hub's client tries five times over half a minute before it gives up.
    (answer,) = read(JSONL, HF_ENDPOINT="http://127.0.0.1:9")
    assert answer["error"].startswith("who/what could not be fetched (ConnectError); mend the network")
