"""What the pages say can be typed, linked, compiled and read."""

import ast
import re
import shlex
from pathlib import Path

import pytest

from measurand.cli.arguments import MODULES, build_parser
from measurand.study.load import load_study
from measurand.study.private_scoring import private_markings
from measurand.study.records import PrivateSet

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "examples" / "loan_support" / "README.md"]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def blocks(page: Path, language: str) -> list[str]:
    return [body for kind, body in FENCE.findall(page.read_text(encoding="utf-8")) if kind == language]


def commands(page: Path) -> list[str]:
    lines = [line for block in blocks(page, "console") for line in block.splitlines()]
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


COMMANDS = sorted({line for page in PAGES for line in commands(page) if line.startswith("measurand ")})


def anchor(heading: str) -> str:
    """The anchor that a heading gets on code hosts: lower case, no punctuation, hyphens for spaces."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_can_be_typed(command: str) -> None:
    given = build_parser().parse_args(shlex.split(command)[1:])
    assert given.command in MODULES


def test_every_command_is_shown_somewhere() -> None:
    assert {shlex.split(command)[1] for command in COMMANDS} == set(MODULES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if target.startswith(("http:", "https:")):
            continue
        path, _, fragment = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), target
        if fragment:
            headings = re.findall(r"^#+ (.+)$", found.read_text(encoding="utf-8"), re.MULTILINE)
            assert fragment in {anchor(heading) for heading in headings}, target


def test_every_page_is_in_the_table_of_contents() -> None:
    contents = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    missing = [
        page.name for page in (ROOT / "docs").glob("*.md") if page.name not in contents and page.stem != "README"
    ]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_compiles_and_imports_what_is_there(page: Path) -> None:
    for block in blocks(page, "python"):
        tree = ast.parse(block)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("measurand"):
                module = __import__(node.module or "", fromlist=["_"])
                assert all(hasattr(module, alias.name) for alias in node.names), ast.unparse(node)


def test_the_study_of_the_page_is_a_study(tmp_path: Path) -> None:
    (block,) = blocks(ROOT / "docs" / "evaluate-your-own-data.md", "toml")
    path = tmp_path / "study.toml"
    path.write_text(block, encoding="utf-8")
    assert load_study(path).sets[0].scoring == "numeric"


def test_the_scorers_of_the_page_exist() -> None:
    text = (ROOT / "docs" / "evaluate-your-own-data.md").read_text(encoding="utf-8")
    table = text.partition("## The scorer")[2].partition("## The prompt")[0]
    named = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert len(named) >= 6
    for name in named:
        assert private_markings(PrivateSet(file="x.csv", question="q", answer="a", scoring=name))


def test_the_glossary_has_every_word_of_the_house() -> None:
    design = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    listed = design.partition("## 9. Words")[2].partition("\n\n")[2].replace("\n", " ")
    words = [re.sub(r"\(.*?\)", "", word).strip(" .") for word in re.split(r" · ", listed)]
    assert len(words) > 50
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    bold = " ".join(re.findall(r"\*\*(.+?)\*\*", glossary)).lower()
    missing = [word for word in words if word and word.lower() not in bold]
    assert missing == []
