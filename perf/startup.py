"""How long a person waits: for the help text, and for a run of one item over HTTP.

`python -m perf.startup` prints CPU and wall seconds, medians of several starts with the bytecode cached.
"""

import statistics
import sys
import tempfile
from pathlib import Path

from perf.measure import Cost, cost_of, mock

STARTS = 7
COMMAND = str(Path(sys.executable).with_name("measurand"))


def median_of(command: list[str], starts: int = STARTS) -> Cost:
    cost_of(command)  # the first start writes the bytecode
    costs = [cost_of(command) for _ in range(starts)]
    return Cost(statistics.median(cost.cpu for cost in costs), statistics.median(cost.wall for cost in costs), 0.0, {})


def one_item(url: str, folder: Path) -> list[str]:
    items = folder / "one.jsonl"
    items.write_text('{"q": "What is 40 plus 2?", "a": "42"}\n')
    store = folder / "m.db"
    return [
        *(COMMAND, "run", str(items), "--question", "q", "--answer", "a", "--quiet", "--occasion", "measured"),
        *("--subject", "openai_compatible:mock", "--base-url", url, "--store", str(store)),
    ]


if __name__ == "__main__":
    bare = median_of([sys.executable, "-c", "pass"])
    shown = median_of([COMMAND, "--help"])
    print(f"python -c pass           {bare.cpu:.2f} CPU s, {bare.wall:.2f} s")
    print(f"measurand --help         {shown.cpu:.2f} CPU s, {shown.wall:.2f} s (must be at most 0.25 CPU s)")
    with mock() as url, tempfile.TemporaryDirectory() as folder:
        costs = []
        for number in range(STARTS + 1):
            fresh = Path(folder) / str(number)
            fresh.mkdir()
            costs.append(cost_of(one_item(url, fresh)))
    cpu, wall = (statistics.median(getattr(cost, name) for cost in costs[1:]) for name in ("cpu", "wall"))
    print(f"a run of one item        {cpu:.2f} CPU s, {wall:.2f} s (must be at most 1.2 s)")
