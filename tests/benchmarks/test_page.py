"""The page of benchmarks holds what the cards say."""

from measurand.study.content import benchmark_names
from tests.benchmarks.page import BEGIN, END, PAGE, table


def test_the_table_is_that_of_the_cards() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.partition(BEGIN)[2].partition(END)[0] == table(), "python -m tests.benchmarks.page"


def test_every_benchmark_has_a_row() -> None:
    assert all(f"| `{name}` |" in table() for name in benchmark_names())
