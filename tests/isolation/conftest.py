"""Every test of programs runs in each sandbox that works here."""

from tests.sandboxes.conftest import sandbox, survivors

__all__ = ["sandbox", "survivors"]
