"""`python -m tests.cases FILE [--json OUT]`: run a file of cases and print, for each theme, passed and total."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.cases.running import run_file


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cases")
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", type=Path, help="also write the outcome as JSON")
    given = parser.parse_args()
    themes = run_file(given.file)
    for name, theme in themes.items():
        chosen = f", chosen otherwise: {', '.join(theme.chosen)}" if theme.chosen else ""
        failing = f", failing: {', '.join(theme.failed)}" if theme.failed else ""
        print(f"{name:20} {len(theme.passed)}/{theme.total}{failing}{chosen}")
    passed, total = (sum(counts) for counts in zip(*((len(t.passed), t.total) for t in themes.values()), strict=True))
    print(f"{'all':20} {passed}/{total}")
    if given.json:
        given.json.write_text(json.dumps({name: vars(theme) for name, theme in themes.items()}, indent=1))
    return 0 if passed == total else 1


if __name__ == "__main__":
    sys.exit(main())
