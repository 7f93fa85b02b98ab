import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["run.summary", "report.page", "report.terminal", "report.export", "stats.power"])
def test_an_ordinary_run_or_report_never_imports_scipy(module):
    """scipy.special alone costs 0.7 s; openpyxl and pyarrow are extras."""
    code = (
        "import sys, numpy as np\n"
        f"import measurand.{module}\n"
        "from measurand.stats.estimate import estimate\n"
        "from measurand.stats.metrics import ACCURACY, MICRO_F1\n"
        "estimate(np.array([1.0, 0.0, 1.0]), ACCURACY)\n"
        "estimate(np.ones((40, 3)), MICRO_F1)\n"
        "print(*sorted({'scipy', 'openpyxl', 'pyarrow', 'pandas'} & sys.modules.keys()))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.strip() == ""
