"""What the laws look at: every source file, parsed once."""

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "measurand"


@dataclass(frozen=True)
class Module:
    path: Path
    name: str  # dotted, without the leading "measurand."
    source: str
    tree: ast.Module

    @property
    def room(self) -> str:
        return self.name.split(".")[0]


@cache
def modules() -> tuple[Module, ...]:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = list(path.relative_to(PACKAGE).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        source = path.read_text(encoding="utf-8")
        found.append(Module(path, ".".join(parts) or "measurand", source, ast.parse(source)))
    return tuple(found)


def imported(module: Module) -> set[str]:
    """The dotted names of our own modules that a module imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return {name.removeprefix("measurand.") for name in names if name.split(".")[0] == "measurand"}
