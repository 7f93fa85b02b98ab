"""Every example of these pages is run, and prints what the page says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ("worked-examples.md", "calibration.md", "statistics.md")
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n^```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)


def examples(page: str) -> list[tuple[str, str]]:
    return [(code, printed or "") for code, printed in BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))]


def printed_by(codes: list[str]) -> list[str]:
    """What each block prints, run one after the other as a reader would."""
    names: dict = {}
    found = []
    for code in codes:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, "example", "exec"), names)
        found.append(out.getvalue())
    return found


@pytest.mark.parametrize("page", PAGES)
def test_the_page_prints_what_it_says(page: str) -> None:
    codes, expected = zip(*examples(page), strict=True)
    assert printed_by(list(codes)) == list(expected)


def test_the_figures_that_must_hold_are_on_the_page() -> None:
    text = "".join(printed for _, printed in examples("worked-examples.md"))
    for figure in (
        "micro 0.6571, macro 0.5333", "58.0 against 57.1", "63.3 against 36.2", "'0.4000', '0.9762', '1.0000'",
        "pass@1 0.6000, pass@5 0.9964, pass@15 1.0000", "pass@1 0.4500, pass@5 0.9702, pass@15 1.0000",
        "66 184756 True", "z = 0.90", "9.3 points", "24.4 points", "29 against 15: p = 0.0488 a difference",
        "30 against 16: p = 0.0541 cannot say", "'0.50'", "5-0: p = 0.0625; 6-0: p = 0.0312",
    ):  # fmt: skip
        assert figure in text, figure


def test_the_comparison_can_fail() -> None:
    assert printed_by(["x = 1", "print(x + 1)"]) == ["", "2\n"]
    assert len(examples("worked-examples.md")) > 10
