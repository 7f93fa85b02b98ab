"""The harness beside a peer: the same questions, the same mock, in turn (A B A B), CPU seconds for 1,000 samples.

`make peers` installs the peers into an environment of their own and runs this. Figures of one run compare only
with each other; a shared machine moves them by a factor of two.
"""

import argparse
import statistics
import tempfile
from pathlib import Path

from perf.harness import CONCURRENCY, once
from perf.measure import Cost, cost_of, environment, mock

INSPECT = """
import sys
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import exact
from inspect_ai.solver import generate

url, n, logs = sys.argv[1], int(sys.argv[2]), sys.argv[3]
samples = [Sample(input=f"What is {i} plus {i + 1}?", target="42") for i in range(n)]
task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=exact())
logs = eval(
    task, model="openai-api/mock/mock", model_base_url=url, log_dir=logs, display="none", max_connections=64,
    max_samples=64, log_realtime=False,
)
assert logs[0].status == "success", logs[0].error
"""


def inspect(python: str, url: str, n: int) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        extra = {"MOCK_API_KEY": "none", "MOCK_BASE_URL": url}
        command = [python, "-c", INSPECT, url, str(n), folder]
        return cost_of(command, env=environment() | extra)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", required=True, help="the Python of the peers' environment")
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    peers = str(Path(given.peers).absolute())
    with mock() as url:
        inspect(peers, url, 2)
        rounds = [
            (once("ours", url, given.n).cpu, inspect(peers, url, given.n).cpu, once("bare", url, given.n).cpu)
            for _ in range(given.rounds)
        ]
        start = once("ours", url, 1).cpu, inspect(peers, url, 1).cpu
    ours, theirs, bare = (statistics.median(column) for column in zip(*rounds, strict=True))
    per = 1000 / given.n
    print(f"{given.n} samples, 0 ms, concurrency {CONCURRENCY}: CPU seconds for 1,000 samples, start-up in brackets")
    print(f"bare aiohttp  {bare * per:7.2f}")
    print(f"measurand     {ours * per:7.2f} [{start[0]:.2f}]")
    print(f"inspect-ai    {theirs * per:7.2f} [{start[1]:.2f}]")
    beyond_start = (theirs - start[1]) / (ours - start[0])
    print(f"inspect-ai costs {theirs / ours:.0f} times as much; without start-up {beyond_start:.0f}")
