"""The reference page names what exists, and of theory and measures exactly what their tables of contents list."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from recombine import measures, theory

PAGE = (Path(__file__).parents[2] / "docs" / "reference.md").read_text(encoding="utf-8")
NAMED = re.findall(r"^\.\. auto(?:function|class|exception|module):: (\S+)$", PAGE, re.MULTILINE)


def tables() -> dict[str, set[str]]:
    """Return room -> names in its summary table on the page."""
    found = re.findall(
        r"^\.\. currentmodule:: (\S+)\n\.\. autosummary::\n(?:   :.*\n)+\n((?:   \w+\n)+)", PAGE, re.MULTILINE
    )
    return {room: set(names.split()) for room, names in found}


def rooms(house: ModuleType) -> list[ModuleType]:
    """Return the rooms of a house, and the rooms in those."""
    inside = [getattr(house, name) for name in dir(house) if isinstance(getattr(house, name), ModuleType)]
    return [room for one in inside for room in (one, *rooms(one))]


ROOMS = [*rooms(theory), *rooms(measures)]


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


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__)
def test_a_table_on_the_page_is_the_rooms_table_of_contents(room: ModuleType) -> None:
    entries = {name for name in dir(room) if not isinstance(getattr(room, name), ModuleType)}
    assert tables()[room.__name__] == entries
    assert (room.__doc__ or "").split("\n")[0] in PAGE


def test_every_table_on_the_page_is_of_a_room() -> None:
    assert set(tables()) == {room.__name__ for room in ROOMS}
    assert {"recombine.theory.kernels.solvers", "recombine.measures.outputs"} < set(tables())
