"""The reference page names what exists, and of every room exactly what its table of contents lists."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
PAGE = (SOURCE.parent / "docs" / "reference.md").read_text(encoding="utf-8")
NAMED = re.findall(r"^   ~(recombine\.\S+)$", PAGE, re.MULTILINE)


def tables() -> dict[str, set[str]]:
    """Return room -> names in its summary table on the page."""
    found = re.findall(
        r"^\.\. currentmodule:: (\S+)\n\.\. autosummary::\n(?:   :.*\n)+\n((?:   \w+\n)+)", PAGE, re.MULTILINE
    )
    return {room: set(names.split()) for room, names in found}


def entries(room: str) -> set[str]:
    """Return what a room lists itself: not the rooms in it, and without importing any of it."""
    return {name for name in dir(import_module(room)) if not _inside(room, name)}


def rooms(house: str) -> list[str]:
    """Return a room, and the rooms in it."""
    inside = [f"{house}.{name}" for name in dir(import_module(house)) if _inside(house, name)]
    return [house, *(room for one in inside for room in rooms(one))]


def _inside(room: str, name: str) -> bool:
    return (SOURCE / room.replace(".", "/") / name / "__init__.py").exists()


LAB = ("lab.tasks", "lab.worlds", "lab.nets", "lab.runs")
HOUSES = ("design", "tables", "cells", "jobs", "explore", "theory", "measures", *LAB)
ROOMS = [room for house in HOUSES for room in rooms(f"recombine.{house}") if entries(room)] + ["recombine.lab.papers"]


@pytest.mark.parametrize("name", NAMED)
def test_what_is_named_exists(name: str) -> None:
    module, _, member = (name if name.startswith("recombine.") else f"recombine.{name}").rpartition(".")
    try:
        room = import_module(module)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        pytest.skip("needs torch")
    assert callable(getattr(room, member, None)) or import_module(f"{module}.{member}")


@pytest.mark.parametrize("room", ROOMS)
def test_a_table_on_the_page_is_the_rooms_table_of_contents(room: str) -> None:
    assert tables()[room] == entries(room)
    assert (import_module(room).__doc__ or "").split("\n")[0] in PAGE


def test_every_table_on_the_page_is_of_a_room() -> None:
    assert set(tables()) == set(ROOMS)
    assert {"recombine.theory.kernels.solvers", "recombine.measures.outputs", "recombine.lab.nets"} < set(tables())
