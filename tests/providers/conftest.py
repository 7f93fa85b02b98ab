"""No proxy, certificate or key of the machine reaches these tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from measurand.providers import secrets
from tests.providers.wires import WIRES, Wire

_OUTSIDE = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in _OUTSIDE:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name in (*secrets.BOUND, secrets.FREE_KEY):
        monkeypatch.delenv(name, raising=False)
    yield
    secrets._spellings.clear()


@pytest.fixture(params=WIRES, ids=lambda wire: wire.name)
def wire(request: pytest.FixtureRequest) -> Wire:
    found: Wire = request.param
    return found
