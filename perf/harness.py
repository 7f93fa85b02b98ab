"""What the harness costs beside a bare aiohttp client that only sends the same requests.

`python -m perf.harness` runs both in turn (A B A B) against a loopback mock, and prints CPU, rates, memory and
bytes on disk, each as measured in this run.
"""

import argparse
import asyncio
import json
import resource
import statistics
import sys
import tempfile
from pathlib import Path

from perf.measure import Cost, cost_of, mock

CONCURRENCY = 64


def question(number: int) -> str:
    return f"What is {number} plus {number + 1}?"


async def bare(url: str, n: int) -> None:
    import aiohttp

    numbers = iter(range(n))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=CONCURRENCY)) as session:

        async def worker() -> None:
            for number in numbers:
                body = {"model": "mock", "messages": [{"role": "user", "content": question(number)}], "temperature": 0}
                async with session.post(f"{url}/chat/completions", json=body) as response:
                    await response.json()

        await asyncio.gather(*(worker() for _ in range(CONCURRENCY)))


def ours(url: str, n: int, samples: int, store: str) -> None:
    import measurand
    from measurand.run.limits import RunLimits
    from measurand.study.records import PrivateSet
    from measurand.wiring import Options, SubjectOptions

    items = Path(store).with_suffix(".jsonl")
    items.write_text("".join(f'{{"q": "{question(number)}", "a": "42"}}\n' for number in range(n)))
    options = Options(
        store=store,
        limits=RunLimits(concurrency=CONCURRENCY),
        subject=SubjectOptions(base_url=url),
    )
    private = PrivateSet(file=str(items), question="q", answer="a", samples=samples)
    evaluation = measurand.evaluate(private, "openai_compatible:mock", options=options)
    tally = evaluation.summary.tally
    assert tally.answered == n * samples, tally
    evaluation.store.close()


def child(given: argparse.Namespace) -> None:
    if given.child == "bare":
        asyncio.run(bare(given.url, given.n))
    elif given.child == "ours":
        ours(given.url, given.n, given.samples, given.store)
    print(json.dumps({"peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def run(who: str, url: str, n: int, samples: int = 1, store: str = ":memory:") -> Cost:
    command = [sys.executable, "-m", "perf.harness", "--child", who, "--url", url, "--n", str(n)]
    return cost_of([*command, "--samples", str(samples), "--store", store])


def once(who: str, url: str, n: int) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        return run(who, url, n, store=str(Path(folder) / "m.db"))


def compare(n: int, rounds: int) -> None:
    costs: dict[str, list[float]] = {"bare": [], "ours": []}
    bytes_each = 0.0
    with mock() as url:
        start = {who: once(who, url, 1).cpu for who in costs for _ in range(2)}  # the second finds the bytecode
        for round_no in range(rounds):
            for who, found in costs.items():
                with tempfile.TemporaryDirectory() as folder:
                    store = Path(folder) / "m.db"
                    cost = run(who, url, n, store=str(store))
                    found.append(cost.cpu)
                    print(
                        f"  round {round_no + 1} {who:>5}: {cost.cpu:6.2f} CPU s, {n / cost.wall:7.0f}/s, "
                        f"peak {cost.peak_mb:.0f} MB"
                    )
                    if who == "ours":
                        bytes_each = store.stat().st_size / n - unique_text(n)
    ratio = statistics.median(costs["ours"]) / statistics.median(costs["bare"])
    marginal = (statistics.median(costs["ours"]) - start["ours"]) / (statistics.median(costs["bare"]) - start["bare"])
    print(f"{n} items, 0 ms, concurrency {CONCURRENCY}, durable store and scoring on")
    print(f"CPU ratio ours/bare aiohttp: {ratio:.2f} (must be at most 3); without start-up {marginal:.2f}")
    print(f"CPU per 1,000 trials: ours {statistics.median(costs['ours']) / n * 1000:.2f} s")
    print(f"bytes a trial on disk beside unique text: {bytes_each:.0f} (must be at most 500)")


def unique_text(n: int) -> float:
    """Bytes of text that differ from item to item: the question, once; the reply is the same for all."""
    return statistics.mean(len(question(number)) for number in range(n))


def at_delay(n: int) -> None:
    with mock(0.05) as url, tempfile.TemporaryDirectory() as folder:
        cost = run("ours", url, n, store=str(Path(folder) / "m.db"))
        idle = run("ours", url, 1, store=str(Path(folder) / "idle.db"))
    rate = n / (cost.wall - idle.wall)
    print(f"at 50 ms: {rate:.0f} trials/s beyond start-up (ideal {CONCURRENCY / 0.05:.0f}; must be at least 1,000)")


def memory(items: int, samples: int) -> None:
    with mock() as url, tempfile.TemporaryDirectory() as folder:
        cost = run("ours", url, items, samples, store=str(Path(folder) / "m.db"))
    print(f"{items * samples} trials ({items} items x {samples}): peak {cost.peak_mb:.0f} MB (must be under 200)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--child", default="")
    parser.add_argument("--url", default="")
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--samples", type=int, default=1)
    parser.add_argument("--store", default=":memory:")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--short", action="store_true", help="the comparison only, in one round")
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments)
    else:
        compare(arguments.n, 1 if arguments.short else arguments.rounds)
        if not arguments.short:
            at_delay(arguments.n)
            memory(20_000, 10)
