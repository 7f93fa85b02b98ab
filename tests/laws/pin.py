"""Write the pins again: `python -m tests.laws.pin`. Only for a new record; an old pin must never move."""

import json
from pathlib import Path

from measurand.core.identity import identity
from tests.laws.examples import EXAMPLES

if __name__ == "__main__":
    pins = {type(example).__name__: identity(example) for example in EXAMPLES}
    (Path(__file__).parent / "identity.json").write_text(json.dumps(pins, indent=1, sort_keys=True) + "\n")
