"""The progress line says what a person wants to know."""

from types import SimpleNamespace

import pytest

from measurand.cli.progress import describe, duration
from measurand.core.subject import Price
from measurand.run.meter import Meter
from tests.clock import stopped


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    return stopped(monkeypatch, "measurand.run.meter")


def line(**changes):
    meter = Meter(planned=100, **changes)
    return describe(SimpleNamespace(meter=meter, run=SimpleNamespace(benchmark="sums")))


def test_it_names_rate_cost_and_time_left(clock):
    said = line(done=20, started=clock.now - 10, price=Price(1, 2), cost=0.25, input_tokens=1000, output_tokens=234)
    assert "sums  20/100" in said
    assert "2.0/s" in said
    assert "1,234 tokens" in said
    assert "$0.2500" in said
    assert "40 s left" in said


def test_it_names_errors_by_kind_and_the_last_one():
    meter_errors = Meter().errors
    meter_errors.update({"network": 3, "reply": 1})
    said = line(errors=meter_errors, last_error="the host cannot be reached")
    assert "3 x network" in said
    assert "last error: the host cannot be reached" in said


def test_it_names_what_it_waits_for_and_since_when(clock):
    assert "waiting" not in line()
    said = line(in_flight={1: (clock.now - 42, "target")})
    assert "waiting for a reply from target, since 42 s" in said
    said = line(pauses={"the rate limit": (clock.now - 3, clock.now + 20)})
    assert "waiting for the rate limit: 20 s to go, since 3 s" in said
    assert "2 programs in the sandbox" in line(scoring=2)


def test_durations_as_people_say_them():
    assert duration(59.4) == "59 s"
    assert duration(61) == "1 min 01 s"
    assert duration(7_200) == "2 h 00 min"
