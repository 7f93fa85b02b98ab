"""Write the pins again: `python -m tests.laws.pin`. An old pin moves only together with a version."""

import json
from pathlib import Path

from measurand.core.identity import identity
from tests.laws.examples import EXAMPLES
from tests.laws.test_versions import current

HERE = Path(__file__).parent


def write(name: str, pins: dict[str, str]) -> None:
    (HERE / name).write_text(json.dumps(pins, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    write("identity.json", {type(example).__name__: identity(example) for example in EXAMPLES})
    write("versions.json", current())
