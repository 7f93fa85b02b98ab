"""What every terminal rendering shares: text from outside that is only text, and the same rendering as plain text."""

from __future__ import annotations

import io

from rich.console import Console, RenderableType
from rich.text import Text

from measurand.report.wording import NBSP, visible


def as_text(value: str, style: str = "") -> Text:
    """Text that is never read as markup and hides nothing."""
    return Text(visible(value).replace(NBSP, " "), style)


def as_plain(what: RenderableType, width: int) -> str:
    """A rendering as plain text of so many columns, for files, pipes and tests."""
    target = io.StringIO()
    console = Console(file=target, width=width, color_system=None, force_terminal=False, legacy_windows=False)
    console.print(what)
    return "\n".join(line.rstrip() for line in target.getvalue().splitlines()) + "\n"
