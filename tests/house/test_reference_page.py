"""The reference page names what exists, and all that the theory of diagonal and ReLU networks offers."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "reference.md").read_text(encoding="utf-8")
NAMED = re.findall(r"^\.\. auto(?:function|class|exception):: (\S+)$", PAGE, re.MULTILINE)
WHOLE = re.findall(r"^\.\. automodule:: (\S+)$", PAGE, re.MULTILINE)
OFFERED = [
    "recombine.theory.diagonal.generalization",
    "recombine.theory.diagonal.regimes",
    "recombine.theory.diagonal.group_interpolators",
    "recombine.theory.diagonal.interpolators",
    "recombine.theory.diagonal.relu_penalties",
    "recombine.theory.diagonal.stiff_flow",
    "recombine.worlds.teachers",
]


@pytest.mark.parametrize("name", NAMED)
def test_what_is_named_exists(name: str) -> None:
    module, _, member = (name if name.startswith("recombine.") else f"recombine.{name}").rpartition(".")
    try:
        room = import_module(module)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        pytest.skip("needs torch")
    assert callable(getattr(room, member))


@pytest.mark.parametrize("module", OFFERED)
def test_what_there_is_is_named(module: str) -> None:
    room = import_module(module)
    public = [
        name
        for name, thing in vars(room).items()
        if getattr(thing, "__module__", None) == module and not name.startswith("_") and inspect.getdoc(thing)
    ]
    assert public
    assert module in WHOLE or {f"{module}.{name}" for name in public} <= set(NAMED)
