"""The gate as a pytest fixture: the same rules as `measurand gate`, in a test.

    def test_the_assistant_is_as_good_as_before(measurand_gate):
        measurand_gate(evaluate(my_set, my_system), baseline="baseline.json", margin=2, rules=["accuracy >= 0.80"])

A fail fails the test. "Cannot say" fails it too, unless `--measurand-undecided=skip` makes it a skip.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from measurand.core.decision import Gate
    from measurand.study.gating import GateOptions

UNDECIDED = "--measurand-undecided"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what the fixture can be told on the command line."""
    group = parser.getgroup("measurand")
    group.addoption(UNDECIDED, choices=("fail", "skip"), default="fail", help="a gate that cannot say: fail or skip")
    group.addoption("--measurand-store", default="", metavar="PATH", help="the store in which runs are looked up by id")


@pytest.fixture
def measurand_gate(request: pytest.FixtureRequest) -> Callable[..., Gate]:
    """A function that gates an evaluation, or a run in the store by the beginning of its id.

    It takes `baseline` (a file), `rules`, `margin` in points, `flakes` and `false_alarm` in percent, and
    returns the Gate where it passes.
    """

    def check(
        what: object,
        *,
        baseline: str | None = None,
        rules: Sequence[str] = (),
        margin: float = 2.0,
        flakes: float = 2.0,
        false_alarm: float = 2.5,
    ) -> Gate:
        from measurand.report.gate import markdown
        from measurand.study.gating import GateOptions

        options = GateOptions(margin / 100, false_alarm / 100, flakes / 100, tuple(rules))
        made = _gate(what, baseline, options, request.config.getoption("--measurand-store"))
        if made.verdict == "undecided" and request.config.getoption(UNDECIDED) == "skip":
            pytest.skip(markdown(made))
        if made.verdict != "pass":
            pytest.fail(markdown(made), pytrace=False)
        return made

    return check


def _gate(what: object, baseline: str | None, options: GateOptions, location: str) -> Gate:
    from measurand.wiring import Evaluation, open_store
    from measurand.wiring.comparing import named_run
    from measurand.wiring.gating import gate, gate_stored

    if isinstance(what, Evaluation):
        return gate(what, options, baseline)
    store = open_store(location, read_only=True)
    try:
        return gate_stored(store, named_run(store, str(what)), options, baseline)
    finally:
        store.close()
