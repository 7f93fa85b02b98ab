"""Imports go down only; adapters are named in wiring alone; content is imported by nobody."""

import pytest

from tests.laws.tree import Module, imported, modules

LAYER = {
    "core": 0,
    "asking": 1,
    "scoring": 1,
    "stats": 1,
    "data": 1,
    "store": 1,
    "providers": 1,
    "sandboxes": 1,
    "run": 2,
    "study": 4,
    "report": 4,
    "wiring": 5,
    "cli": 6,
}
ADAPTERS = {"store", "providers", "sandboxes", "data"}
FACES = {"core", "asking", "scoring", "stats", "data"}
CONTENT = {"benchmarks", "fidelity"}
ROOMS = set(LAYER) | CONTENT


def rooms_of(module: Module) -> set[str]:
    return {name.split(".")[0] for name in imported(module) if name.split(".")[0] in ROOMS}


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.name)
def test_imports_go_down(module: Module):
    if module.room in {"measurand"} | CONTENT:
        return
    for room in rooms_of(module) - {module.room}:
        assert room not in CONTENT, f"{module.name} imports content"
        assert LAYER[room] < LAYER[module.room], f"{module.name} (layer {LAYER[module.room]}) imports {room}"


@pytest.mark.parametrize("module", [m for m in modules() if m.room in CONTENT], ids=lambda m: m.name)
def test_content_imports_published_faces(module: Module):
    own = CONTENT if module.room == "fidelity" else {module.room}  # what is verified is the benchmarks' scoring
    assert rooms_of(module) - own <= FACES


def test_adapters_are_named_by_wiring_alone():
    elsewhere = [module for module in modules() if module.room not in ADAPTERS | CONTENT | {"wiring"}]
    users = {module.name for module in elsewhere if rooms_of(module) & ADAPTERS}
    assert users <= {"study.private_set"}, users


def test_every_room_has_a_layer():
    assert {module.room for module in modules()} - {"measurand"} - CONTENT <= set(LAYER)


def test_the_law_can_fail():
    core = next(module for module in modules() if module.name == "run.engine")
    assert "core" in rooms_of(core)
