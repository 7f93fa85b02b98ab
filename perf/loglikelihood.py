"""Options by log-probability beside lm-eval's `hf`: the same weights, prompts and questions, block by block in turn.

`python -m perf.loglikelihood --peers .venv-peers/bin/python --data FOLDER` asks MMLU questions with five exemplars; the
folder holds `test` and `dev` of MMLU. Each side is a process of its own that computes on one thread while the other
waits. Printed are the agreement of the choices, the largest difference of a log-probability, CPU and wall seconds for
a question, and the ratio of each block. Without --peers only our side is measured, as for all 14,042 questions.
"""

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from perf.measure import environment

SUBJECTS = ("abstract_algebra", "college_chemistry", "computer_security", "medical_genetics", "us_foreign_policy")
"""Five subjects of 100 questions each."""
BLOCK = 50

OURS = """
import json, sys, time
from measurand.core.request import Loglikelihood
from measurand.providers.transformers_files import TransformersOptions, converted, locate
from measurand.providers.transformers_model import load
from measurand.wiring.opening import open_seam

weights = locate(sys.argv[1])
loaded = load(weights, open_seam(), TransformersOptions(threads=1))
print(json.dumps({"ready": str(converted(weights) if weights.is_gguf else weights.path)}), flush=True)
for line in sys.stdin:
    asked = [Loglikelihood(context, tuple(options)) for context, options in json.loads(line)]
    cpu, wall = time.process_time(), time.monotonic()
    replies = loaded.replies(asked)
    spent = time.process_time() - cpu, time.monotonic() - wall
    said = {"values": [reply.values for reply in replies], "spent": spent, "peak": loaded.passes.peak}
    print(json.dumps(said), flush=True)
"""

THEIRS = """
import json, sys, time
import torch
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM

torch.set_num_threads(1)
model = HFLM(pretrained=sys.argv[1], dtype="float32", device="cpu", batch_size=int(sys.argv[2]))
print(json.dumps({"ready": sys.argv[1]}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    pairs = [(context, option) for context, options in asked for option in options]
    requests = [Instance("loglikelihood", {}, pair, number) for number, pair in enumerate(pairs)]
    cpu, wall = time.process_time(), time.monotonic()
    found = iter(model.loglikelihood(requests, disable_tqdm=True))
    values = [[next(found)[0] for _ in options] for _, options in asked]
    print(json.dumps({"values": values, "spent": (time.process_time() - cpu, time.monotonic() - wall)}), flush=True)
"""


class Side:
    """A process that measures a block when it is told to, and waits otherwise."""

    def __init__(self, python: str, code: str, *arguments: str) -> None:
        one = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
        self.child = subprocess.Popen(
            [python, "-c", code, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment() | one,
        )
        self.spent: list[tuple[float, float]] = []
        self.said = self._hear()

    def ask(self, block: list[Any]) -> list[list[float]]:
        """The log-probabilities of a block's options."""
        assert self.child.stdin is not None
        self.child.stdin.write(json.dumps(block) + "\n")
        self.child.stdin.flush()
        self.said = self._hear()
        self.spent.append(tuple(self.said["spent"]))
        values: list[list[float]] = self.said["values"]
        return values

    def close(self) -> None:
        """End the process."""
        assert self.child.stdin is not None
        self.child.stdin.close()
        self.child.wait(60)

    def _hear(self) -> dict[str, Any]:
        assert self.child.stdout is not None
        for line in self.child.stdout:
            if line.startswith("{"):
                said: dict[str, Any] = json.loads(line)
                return said
        raise RuntimeError("the process ended without an answer")


def questions(folder: Path, subjects: tuple[str, ...], each: int) -> Iterator[Any]:
    """The official prompts of the first questions of each subject, as (context, options)."""
    from measurand.benchmarks.mmlu import BENCHMARK
    from measurand.core.request import Loglikelihood
    from measurand.data import open_data
    from measurand.run.prepare import prepare

    prepared = prepare(BENCHMARK, open_data({f"mmlu:{part}": str(folder / part) for part in ("test", "dev")}))
    print(f"protocol {prepared.protocol.id[:12]}", flush=True)
    left = dict.fromkeys(subjects or sorted({item.slices["subject"] for item in prepared.items}), each)
    chosen = []
    for item in prepared.items:
        if left.get(item.slices["subject"], 0) > 0:
            left[item.slices["subject"]] -= 1
            chosen.append(item)
    for item in sorted(chosen, key=lambda item: item.slices["subject"]):
        (request,) = prepared.requests(item)
        assert isinstance(request, Loglikelihood)
        yield request.context, request.continuations, "ABCD".index(str(item.gold))


def best(values: list[float]) -> int:
    return max(range(len(values)), key=values.__getitem__)


def per_question(side: Side, n: int) -> str:
    cpu, wall = (sum(column) / n for column in zip(*side.spent, strict=True))
    return f"{cpu:.3f} CPU s, {wall:.3f} s a question"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", default="", help="the Python of the peers' environment")
    parser.add_argument("--data", required=True, type=Path, help="a folder with `test` and `dev` of MMLU")
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--each", type=int, default=100, help="questions of each subject")
    parser.add_argument("--all", action="store_true", help="all subjects instead of five")
    parser.add_argument("--peer-batch", type=int, default=1)
    given = parser.parse_args()
    asked = list(questions(given.data, () if given.all else SUBJECTS, given.each))
    ours = Side(sys.executable, OURS, given.model)
    theirs = (
        Side(str(Path(given.peers).absolute()), THEIRS, ours.said["ready"], str(given.peer_batch))
        if given.peers
        else None
    )
    right = alike = done = 0
    apart = 0.0
    for start in range(0, len(asked), BLOCK):
        part = asked[start : start + BLOCK]
        block = [entry[:2] for entry in part]
        found = ours.ask(block)
        done += len(part)
        right += sum(best(values) == entry[2] for values, entry in zip(found, part, strict=True))
        if theirs is not None:
            other = theirs.ask(block)
            alike += sum(best(a) == best(b) for a, b in zip(found, other, strict=True))
            apart = max(
                apart, *(abs(x - y) for a, b in zip(found, other, strict=True) for x, y in zip(a, b, strict=True))
            )
            cpu, wall = (b / a for a, b in zip(ours.spent[-1], theirs.spent[-1], strict=True))
            print(
                f"{done}: {alike} alike, {apart:.2e} nats apart, {cpu:.2f} times the CPU, {wall:.2f} the time",
                flush=True,
            )
    print(
        f"{done} questions, {100 * right / done:.2f} % right, keys and values {ours.said['peak'] / 1e6:.0f} MB at most"
    )
    print(f"measurand  {per_question(ours, done)}")
    if theirs is not None:
        print(f"lm-eval    {per_question(theirs, done)}")
        ratios = [[b[at] / a[at] for a, b in zip(ours.spent, theirs.spent, strict=True)] for at in (0, 1)]
        cpu, wall = (sum(b[at] for b in theirs.spent) / sum(a[at] for a in ours.spent) for at in (0, 1))
        print(f"same choice {alike} of {done}, log-probabilities at most {apart:.2e} nats apart")
        print(f"lm-eval takes {cpu:.2f} times the CPU (blocks {min(ratios[0]):.2f} to {max(ratios[0]):.2f}, ", end="")
        print(f"median {statistics.median(ratios[0]):.2f}) and {wall:.2f} times the time")
        theirs.close()
    ours.close()
