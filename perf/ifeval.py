"""How long IFEval's checks take over 541 stored replies: ours and lm-evaluation-harness's, in turn, in one run.

`python -m perf.ifeval` prints CPU seconds of a pass, medians of several, models loaded before. The peer runs in
.venv-peers (`make .venv-peers/installed`); its sentence model is a copy of ours, for it downloads what it lacks.
Ends with 1 where ours is not at least five times as fast.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
ARTIFACTS = Path(os.environ.get("MEASURAND_ARTIFACTS", ROOT.parent / "shared" / "artifacts")) / "ifeval"
PEER = ROOT / ".venv-peers" / "bin" / "python"
PASSES, ROUNDS, WANTED = 3, 3, 5.0


def replies() -> list[tuple[dict[str, Any], str]]:
    """Each prompt's row with GPT-4's reply."""
    rows = [json.loads(line) for line in (ARTIFACTS / "input_data.jsonl").read_text().splitlines()]
    stored = next(ARTIFACTS.glob("input_response_data_gpt4_*.jsonl")).read_text().splitlines()
    texts = {one["prompt"]: one["response"] for one in map(json.loads, stored)}
    return [(row, texts[row["prompt"]]) for row in rows]


def of_peer() -> list[float]:
    """CPU seconds of each pass of lm-eval's checker; run by the peer's own interpreter."""
    from lm_eval.tasks.ifeval import utils

    pairs = replies()
    for row, text in pairs[:40]:
        utils.process_results(row, [text])  # the language profiles and the sentence model are loaded
    return [_pass(lambda: [utils.process_results(row, [text]) for row, text in pairs]) for _ in range(PASSES)]


def ours() -> list[float]:
    """CPU seconds of each pass of ours, nothing remembered from the one before."""
    from measurand.benchmarks.ifeval import BENCHMARK, to_items
    from measurand.core.benchmark import Scorer
    from measurand.core.outcome import Answer
    from measurand.scoring.ifeval import detecting, scorers, sentences

    pairs = replies()
    items = to_items("test", [row for row, _ in pairs])

    def score() -> None:
        for item, (_, text) in zip(items, pairs, strict=True):
            for marking in BENCHMARK.scoring.markings:
                assert isinstance(marking.scorer, Scorer)
                marking.scorer.score(item, marking.reader.read(item, Answer(text)))

    score()
    found = []
    for _ in range(PASSES):
        for remembered in (detecting.language_of, sentences.count_sentences, scorers.checked):
            remembered.cache_clear()
        found.append(_pass(score))
    return found


def _pass(work: Any) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def peer_child(folder: Path) -> list[float]:
    from measurand.scoring.ifeval.sentences import model_folder

    data = folder / "tokenizers" / "punkt_tab" / "english"
    if not data.exists():
        shutil.copytree(model_folder(), data)
    environment = os.environ | {"NLTK_DATA": str(folder), "HF_HUB_OFFLINE": "1"}
    asked = [str(PEER), "-m", "perf.ifeval", "--peer"]
    done = subprocess.run(asked, cwd=ROOT, env=environment, capture_output=True, text=True, check=True, timeout=600)
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> int:
    if not PEER.exists():
        print("there is no .venv-peers: make .venv-peers/installed", file=sys.stderr)
        return 2
    us, them = [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            us += ours()
            them += peer_child(Path(folder))
    fast, slow = statistics.median(us), statistics.median(them)
    print(
        f"ours                     {fast:.3f} CPU s for 541 replies, {len(us)} passes, {min(us):.3f} to {max(us):.3f}"
    )
    print(f"lm-evaluation-harness    {slow:.3f} CPU s, {len(them)} passes, {min(them):.3f} to {max(them):.3f}")
    print(f"times as fast            {slow / fast:.1f} (must be at least {WANTED:g})")
    return int(slow / fast < WANTED)


if __name__ == "__main__":
    if "--peer" in sys.argv:
        print(json.dumps(of_peer()))
    else:
        sys.exit(main())
