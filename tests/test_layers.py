"""The house rules that a machine can check: arrows point down, rooms are known, files stay readable."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "recombine"

#: From the ground up. A module may import from its own layer and from any layer before it.
LAYERS = {
    "ground": [
        "_version",
        "arrays",
        "columns",
        "conjunctions",
        "data",
        "design",
        "errors",
        "factors",
        "frames",
        "grouping",
        "tables",
        "tasks",
        "text_files",
        "verdicts",
    ],
    "science": ["theory", "measures", "worlds"],
    "engine": ["nets", "runs"],
    "jobs": ["audit", "papers"],
    "faces": ["report", "explore", "papers_cli", "probe_cli", "inspect_cli", "cli", "__main__"],
}
HEIGHT = {room: height for height, rooms in enumerate(LAYERS.values()) for room in rooms}
NAME = {room: layer for layer, rooms in LAYERS.items() for room in rooms}

#: The door of the house hands out names of every layer, so only a face may come in through it.
DOOR = "__init__"
HEIGHT[DOOR], NAME[DOOR] = HEIGHT["cli"], "faces"

MODULES = sorted(SOURCE.rglob("*.py"))

BANNED_NAMES = ("util", "helper", "misc", "common", "manager")
LONGEST_FILE = 400


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(text: str, package: tuple[str, ...]) -> set[str]:
    """Rooms of recombine that a module's text imports when it runs, anywhere in it.

    Imports under ``if TYPE_CHECKING`` never run, so they bind nothing.
    """
    tree = ast.parse(text)
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for statement in node.body
        for inner in ast.walk(statement)
    }
    names: list[str] = []
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (start, node.module) if part)
            names += [f"{module}.{alias.name}" if alias.name in HEIGHT else module for alias in node.names]
    parts = [name.split(".") for name in names]
    return {(name[1] if len(name) > 1 else DOOR) for name in parts if name[0] == "recombine"}


def arrows_up(path: Path, text: str) -> list[str]:
    room = room_of(path)
    package = ("recombine", *path.relative_to(SOURCE).parts[:-1])
    wrong = []
    for target in sorted(imported_rooms(text, package)):
        if target not in HEIGHT:
            wrong.append(f"{path.name} imports recombine.{target}, which is in no layer")
        elif HEIGHT[target] > HEIGHT[room]:
            wrong.append(f"{path.name} ({NAME[room]}) imports {target} ({NAME[target]})")
    return wrong


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_down(path: Path) -> None:
    assert room_of(path) in HEIGHT, f"{room_of(path)} is in no layer; add it to LAYERS and to CONTRIBUTING.md"
    assert arrows_up(path, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("place", "text", "wrong"),
    [
        ("design.py", "import recombine.theory.identify", True),
        ("design.py", "from recombine import theory", True),
        ("design.py", "from recombine.theory import identify", True),
        ("design.py", "def f():\n    from recombine.audit.audit import audit", True),
        ("theory/leak.py", "from ..audit import audit", True),
        ("theory/leak.py", "from .. import report", True),
        ("theory/leak.py", "import recombine", True),
        ("audit/audit.py", "from recombine import Design", True),
        ("cli.py", "import recombine as rc\nfrom recombine import Design\nfrom recombine.report import page", False),
        ("theory/leak.py", "from recombine.nowhere import thing", True),
        ("theory/leak.py", "from .overlap import OverlapKernel\nfrom ..arrays import as_cells\nimport numpy", False),
        ("audit/audit.py", "from recombine.theory.identify import identify\nfrom recombine.runs import store", False),
        ("theory/leak.py", "if TYPE_CHECKING:\n    from recombine.audit.audit import Audit", False),
    ],
)
def test_the_check_finds_arrows_up(place: str, text: str, wrong: bool) -> None:
    assert bool(arrows_up(SOURCE / place, text)) is wrong


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_are_short_and_say_what_they_hold(path: Path) -> None:
    assert not any(word in path.stem for word in BANNED_NAMES), "name the file after its subject"
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE, "one subject a file"


def test_contributing_draws_the_same_house() -> None:
    text = (SOURCE.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    diagram = {line.split()[0]: line for line in text.split("```")[1].splitlines() if line.strip()}
    assert list(diagram) == list(LAYERS)[::-1]
    for room in HEIGHT:
        if not room.startswith("_"):
            assert room in diagram[NAME[room]].replace(",", " ").split(), f"{room} is missing from the diagram"
