"""Arrows: imports point down, theories and papers keep to themselves, nothing goes in circles."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import measures

SOURCE = Path(__file__).parents[2] / "src" / "recombine"

#: From the ground up. A module may import from its own layer and from any layer before it.
LAYERS = {
    "ground": [
        "_lazy",
        "_version",
        "cells",
        "checks",
        "data",
        "design",
        "errors",
        "formats",
        "interrupts",
        "output_files",
        "progress",
        "registry",
        "sample_checks",
        "sheets",
        "table_spec",
        "tables",
        "verdicts",
        "writing",
    ],
    "science": ["theory", "measures"],
    "jobs": ["jobs"],
    "words": ["words"],
    "outputs": ["report", "explore", "cli", "__main__"],
    "lab": ["lab"],
}
HEIGHT = {package: height for height, packages in enumerate(LAYERS.values()) for package in packages}
NAME = {package: layer for layer, packages in LAYERS.items() for package in packages}

#: The root package hands out names of every layer, so only outputs and the lab may import from it.
ROOT = "__init__"
HEIGHT[ROOT], NAME[ROOT] = HEIGHT["cli"], "outputs"

#: The only theories that build on others, and those they may build on.
BUILDS_ON = {
    "sufficiency": {"compositions", "supports", "identification"},
    "structures": {"components", "identification"},
}

MODULES = sorted(SOURCE.rglob("*.py"))


def dotted(path: Path) -> str:
    parts = ("recombine", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {dotted(path): path for path in MODULES}


def top_level(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@cache
def imports_of(text: str, package: tuple[str, ...], *, at_once: bool = False) -> frozenset[str]:
    """Names that a module's text imports when it runs (with ``at_once`` only those outside functions), with dots.

    Imports under ``if TYPE_CHECKING`` never run, so they bind nothing.
    """
    names: set[str] = set()
    waiting: list[ast.AST] = [measures.parsed(text)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            waiting += node.orelse
            continue
        if at_once and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (start, node.module) if part)
            names |= {f"{module}.{alias.name}" for alias in node.names}
        waiting += ast.iter_child_nodes(node)
    return frozenset(names)


def package_of(path: Path) -> tuple[str, ...]:
    return ("recombine", *path.relative_to(SOURCE).parts[:-1])


def imported_packages(text: str, package: tuple[str, ...]) -> set[str]:
    """Top-level packages and modules that a module's text imports; other names come from the root."""
    parts = [name.split(".") for name in imports_of(text, package)]
    inside = [name for name in parts if name[0] == "recombine"]
    return {name[1] if len(name) > 1 and (name[1] in HEIGHT or len(name) > 2) else ROOT for name in inside}


def arrows_up(path: Path, text: str) -> list[str]:
    package = top_level(path)
    wrong = []
    for target in sorted(imported_packages(text, package_of(path))):
        if target not in HEIGHT:
            wrong.append(f"{path.name} imports recombine.{target}, which is in no layer")
        elif HEIGHT[target] > HEIGHT[package]:
            wrong.append(f"{path.name} ({NAME[package]}) imports {target} ({NAME[target]})")
    return wrong


@pytest.mark.parametrize("folder", sorted({path.parent for path in MODULES}), ids=lambda path: path.name)
def test_imports_point_down(folder: Path) -> None:
    for path in folder.glob("*.py"):
        assert top_level(path) in HEIGHT, f"{top_level(path)} is in no layer; add it to LAYERS and to CONTRIBUTING.md"
        assert arrows_up(path, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("place", "text", "wrong"),
    [
        ("design/design.py", "import recombine.theory.identification", True),
        ("design/design.py", "from recombine import theory", True),
        ("design/design.py", "from recombine.theory import identification", True),
        ("design/design.py", "def f():\n    from recombine.jobs.audit.audit import audit", True),
        ("theory/kernels/leak.py", "from ...jobs import audit", True),
        ("theory/kernels/leak.py", "from ... import report", True),
        ("theory/kernels/leak.py", "import recombine", True),
        ("jobs/audit/audit.py", "from recombine import Design", True),
        (
            "cli/audit.py",
            "import recombine as rc\nfrom recombine import Design\nfrom recombine.report import page",
            False,
        ),
        ("theory/kernels/leak.py", "from recombine.nowhere import thing", True),
        ("theory/kernels/leak.py", "from .overlap import OverlapKernel\nfrom ...cells import as_cells", False),
        ("jobs/audit/audit.py", "from recombine.theory.kernels import leak", False),
        ("jobs/audit/audit.py", "from recombine.lab.runs import store", True),
        ("lab/runs/sweep.py", "from recombine.jobs.audit import Audit\nfrom recombine.lab.nets import Ensemble", False),
        ("theory/kernels/leak.py", "if TYPE_CHECKING:\n    from recombine.jobs.audit import Audit", False),
    ],
)
def test_the_check_finds_arrows_up(place: str, text: str, wrong: bool) -> None:
    assert bool(arrows_up(SOURCE / place, text)) is wrong


@cache
def arrows(*, at_once: bool = False) -> dict[str, set[str]]:
    """Module -> modules of this package that it imports."""
    found = {}
    for name, path in FILES.items():
        taken = imports_of(path.read_text(encoding="utf-8"), package_of(path), at_once=at_once)
        found[name] = {next((part for part in (one, one.rpartition(".")[0]) if part in FILES), "") for one in taken}
        found[name] -= {"", name}
    return found


def circles(graph: dict[str, set[str]]) -> list[str]:
    """Modules from which arrows lead back to themselves."""

    def reach(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = list(graph[start])
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                waiting += graph.get(node, ())
        return seen

    return [name for name in graph if name in reach(name)]


@pytest.mark.slow
def test_nothing_goes_in_circles() -> None:
    inner = {name: {one for one in targets if one != "recombine"} for name, targets in arrows().items()}
    assert circles(inner) == []


def test_the_check_finds_circles() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == ["a", "b", "c"]


#: Top-level packages that name each other's types or functions.
PACKAGES_IN_CIRCLES: set[str] = set()


@pytest.mark.slow
def test_imports_for_types_point_down_too() -> None:
    def height(name: str) -> int:
        return HEIGHT[name.split(".")[1]] if "." in name else HEIGHT[ROOT]

    wrong = [
        f"{name} -> {target}"
        for name in FILES
        if name != "recombine"
        for target in measures.imports(name, types=True)
        if height(target) > height(name)
    ]
    assert wrong == []


def test_with_imports_for_types_no_files_go_in_circles() -> None:
    files = {name for name in FILES if not is_package(name)}
    graph = {name: set(measures.imports(name, types=True) & files) for name in files}
    assert circles(graph) == []


def test_with_imports_for_types_few_packages_go_in_circles() -> None:
    graph: dict[str, set[str]] = {}
    for name in FILES:
        if name != "recombine":
            targets = {target.split(".")[1] for target in measures.imports(name, types=True) - {"recombine"}}
            graph.setdefault(name.split(".")[1], set()).update(targets - {name.split(".")[1]})
    assert set(circles(graph)) <= PACKAGES_IN_CIRCLES


def packages_below(parent: str, name: str, targets: set[str]) -> tuple[str, set[str]]:
    """The package below ``parent`` in which a module stands, and the others that it imports from."""
    start = f"recombine.{parent}."
    own = name.removeprefix(start).partition(".")[0]
    others = {one.removeprefix(start).partition(".")[0] for one in targets if one.startswith(start)}
    return own, {one for one in others if one != own and f"{start}{one}" in FILES and is_package(f"{start}{one}")}


def is_package(name: str) -> bool:
    return FILES[name].name == "__init__.py"


@pytest.mark.parametrize("parent", ["theory", "lab.papers"])
def test_theories_and_papers_keep_to_themselves(parent: str) -> None:
    for name, targets in arrows().items():
        if name.startswith(f"recombine.{parent}."):
            own, others = packages_below(parent, name, targets)
            assert others <= BUILDS_ON.get(own, set()), f"{name} imports from {sorted(others)}"


#: From the bottom of the laboratory up.
LAB = ["inspection", "tasks", "worlds", "nets", "runs", "papers", "report", "cli"]


def test_imports_inside_the_lab_point_down() -> None:
    for name, targets in arrows().items():
        own = name.removeprefix("recombine.lab.").partition(".")[0]
        if name.startswith("recombine.lab."):
            inside = {target.split(".")[2] for target in targets if target.startswith("recombine.lab.")}
            assert {package for package in inside if LAB.index(package) > LAB.index(own)} == set(), name


def test_readings_know_no_verdicts() -> None:
    """Readings turn rows into numbers; claims judge."""
    for name, targets in arrows().items():
        if ".readings" in name:
            assert "recombine.lab.papers.standing" not in targets, name


def test_contributing_draws_the_same_layers() -> None:
    text = (SOURCE.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    diagram = {line.split()[0]: line for line in text.split("```")[1].splitlines() if line.strip()}
    assert list(diagram) == list(LAYERS)[::-1]
    for package in HEIGHT:
        if not package.startswith("_"):
            assert package in diagram[NAME[package]].replace(",", " ").split(), f"{package} is missing from the diagram"
