"""Write the table of docs/benchmarks.md from the cards: `python -m tests.benchmarks.page`."""

from pathlib import Path

from measurand.core.benchmark import Benchmark
from measurand.study.content import benchmark_names, family

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- the table begins -->\n", "<!-- the table ends -->\n"
MOST_VARIANTS = 12


def variants_of(every: list[Benchmark]) -> str:
    names = [f"`:{benchmark.name.partition(':')[2]}`" for benchmark in every[1:]]
    if len(names) > MOST_VARIANTS:
        return f"{', '.join(names[:3])} … ({len(names)}; `measurand ls benchmarks` names them)"
    return ", ".join(names) or "—"


def access_of(every: list[Benchmark]) -> str:
    gated = {getattr(source, "gated", False) for benchmark in every for source in benchmark.task.sources.values()}
    kinds = {type(source).__name__ for benchmark in every for source in benchmark.task.sources.values()}
    if True in gated:
        return "gated: HF_TOKEN"
    where = {"Hub": "hub", "Package": "package", "File": "your own copy"}
    return ", ".join(where[kind] for kind in sorted(kinds, reverse=True))


def row_of(name: str) -> str:
    every = family(name)
    card = every[0].card
    cells = (f"`{name}`", variants_of(every), card.measures, card.blind_spots[0], access_of(every), card.licence)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def table() -> str:
    head = "| name | variants | what it measures | first blind spot | data | licence |\n|---|---|---|---|---|---|\n"
    return head + "".join(map(row_of, benchmark_names()))


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    PAGE.write_text(before + BEGIN + table() + END + rest.partition(END)[2], encoding="utf-8")
