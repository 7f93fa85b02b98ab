"""Find benchmarks by file name. There is no registry: a benchmark is a file in `benchmarks/`, or a path."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import pkgutil
from pathlib import Path
from types import ModuleType

from measurand.core.benchmark import Benchmark
from measurand.core.errors import InputError

FOLDER = "measurand.benchmarks"


def benchmark_names() -> list[str]:
    """The names of the benchmark files, without loading them."""
    package = importlib.import_module(FOLDER)
    return sorted(module.name for module in pkgutil.iter_modules(package.__path__))


def load_benchmark(name: str) -> Benchmark:
    """Load `name`, `name:variant`, or `path/to/file.py[:variant]`. Raises InputError with the nearest name."""
    base, _, variant = name.partition(":")
    module = _module(base)
    if not variant:
        return _benchmark(module, base)
    variants: dict[str, Benchmark] = getattr(module, "VARIANTS", {})
    if variant not in variants:
        known = ", ".join(f"{base}:{one}" for one in variants) or "none"
        raise InputError(f"{base} has no variant '{variant}'; its variants are: {known}")
    return variants[variant]


def family(name: str) -> list[Benchmark]:
    """A benchmark and all its variants."""
    base = name.partition(":")[0]
    module = _module(base)
    return [_benchmark(module, base), *getattr(module, "VARIANTS", {}).values()]


def _benchmark(module: ModuleType, base: str) -> Benchmark:
    benchmark = getattr(module, "BENCHMARK", None)
    if not isinstance(benchmark, Benchmark):
        raise InputError(f"{base} defines no BENCHMARK of type measurand.Benchmark")
    return benchmark


def _module(base: str) -> ModuleType:
    if base.endswith(".py"):
        return _module_at(Path(base))
    names = benchmark_names()
    if base not in names:
        near = difflib.get_close_matches(base, names, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(names)}"
        raise InputError(f"there is no benchmark '{base}'; {hint}")
    return importlib.import_module(f"{FOLDER}.{base}")


def _module_at(path: Path) -> ModuleType:
    """Load a user's own benchmark file. It is the user's code, trusted as the command that names it."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise InputError(f"{path} is no Python file that can be read")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InputError(f"{path} cannot be loaded: {type(error).__name__}: {error}") from error
    return module
