"""WikiText-2: the text that is read, beside lm-eval's, on articles of our own with every mark that is undone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.wikitext import BENCHMARK, VARIANTS
from measurand.core.benchmark import Benchmark
from measurand.core.fidelity import Rendering, Side
from measurand.core.record import Json

PAGE = """\
 = Number {number} =\x20

 = = History = =\x20

 = = = Names = = =\x20

 Number {number} ( also N {number} ) is one of the gamblers ' numbers , well @-@ known ; it is {number} @.@ 5 less a half .\x20
 " Is it 1 @,@ 000 ? " he asked : no ! It 's [ much ] less , and { not } warm at {number} \N{DEGREE SIGN} C .\x20
 'Twas ' written ' in the <unk> of its \N{EN DASH} ' first ' \N{EN DASH} finder 's book .\x20
"""

ROWS: list[dict[str, Json]] = [{"page": PAGE.replace("{number}", str(number))} for number in range(20)]


def of(benchmark: Benchmark) -> Callable[[Path], Side]:
    """The same articles on both sides."""
    splits = dict.fromkeys(("train", "validation", "test"), ROWS)
    return lambda _: Side(splits, render_rows(benchmark, {"test": ROWS}))


PROMPTS = (
    Rendering("wikitext", "wikitext/wikitext.yaml", of(BENCHMARK)),
    Rendering("wikitext:strided", "wikitext/wikitext.yaml", of(VARIANTS["strided"])),
)
