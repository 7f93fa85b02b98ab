"""Light at the door: help and the package import nothing heavy."""

import subprocess
import sys

import pytest

HEAVY = (
    "aiohttp",
    "sqlalchemy",
    "numpy",
    "scipy",
    "rich",
    "jinja2",
    "pyarrow",
    "openpyxl",
    "huggingface_hub",
    "torch",
    "asyncio",
)


def loaded(code: str) -> set[str]:
    script = f"import sys\ntry:\n    {code}\nexcept SystemExit:\n    pass\nprint(' '.join(sorted(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300)
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "code",
    [
        "import measurand",
        "from measurand.cli.main import main; main(['--help'])",
        "from measurand.cli.main import main; main(['run', '--help'])",
        "from measurand.cli.main import main; main(['--version'])",
    ],
)
def test_the_door_is_light(code: str):
    assert not loaded(code) & set(HEAVY)


def test_the_law_can_fail():
    assert "numpy" in loaded("import measurand.stats.metrics")


def test_an_ordinary_run_loads_no_heavy_extra():
    present = loaded("import measurand.wiring")
    assert not present & {
        "scipy",
        "pyarrow",
        "openpyxl",
        "huggingface_hub",
        "torch",
        "jinja2",
        "rich",
        "aiohttp",
        "numpy",
        "sqlalchemy",
    }
