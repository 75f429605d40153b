"""Packages: small, each with a table of contents; names mean one thing; nothing private is taken from another file."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import pytest

import measures
import recombine
from recombine._lazy import LazyPackage

SOURCE = Path(recombine.__file__).parent
TESTS = Path(__file__).parents[1]
MODULES = sorted(SOURCE.rglob("*.py"))
PACKAGES = sorted(path.parent for path in SOURCE.rglob("__init__.py"))

MOST_MODULES = 12
BANNED_NAMES = ("util", "helper", "misc", "common", "manager")
#: Verbs that may be defined in several modules.
SHARED_VERBS = {"fit", "of", "train"}


def place(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def tree(path: Path) -> ast.Module:
    return measures.parsed(path.read_text(encoding="utf-8"))


#: One file per entry, command or kind of sentence: as many as there are.
ONE_FILE_EACH = ("cli", "words", "jobs/findings", "jobs/score/causes", "theory/structures/kinds")


@pytest.mark.parametrize("package", [path for path in PACKAGES if place(path) not in ONE_FILE_EACH], ids=place)
def test_a_package_holds_at_most_twelve_modules(package: Path) -> None:
    modules = [path.stem for path in package.glob("*.py") if not path.stem.startswith("_")]
    if (package / "registry.py").exists() and package != SOURCE:
        return  # a registry has a file for each of its entries
    assert len(modules) <= MOST_MODULES, f"{place(package)} holds {len(modules)} modules; split it by subject"


@pytest.mark.parametrize("package", PACKAGES, ids=place)
def test_a_prefix_shared_by_files_is_a_package_that_was_not_built(package: Path) -> None:
    prefixes = defaultdict(list)
    for path in package.glob("*_*.py"):
        if not path.stem.startswith("_"):
            prefixes[path.stem.partition("_")[0]].append(path.stem)
    assert [names for names in prefixes.values() if len(names) > 1] == []


@pytest.mark.parametrize("package", PACKAGES, ids=place)
def test_files_say_what_they_hold(package: Path) -> None:
    for path in package.glob("*.py"):
        assert not any(word in path.stem for word in BANNED_NAMES), f"{place(path)}: name the file after its subject"


def test_a_name_means_one_thing_everywhere() -> None:
    places = defaultdict(list)
    for path in MODULES:
        for node in tree(path).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(place(path))
    twice = {name: found for name, found in places.items() if len(found) > 1 and name not in SHARED_VERBS}
    assert twice == {}


@pytest.mark.parametrize("package", PACKAGES, ids=place)
def test_nothing_private_is_taken_from_another_file(package: Path) -> None:
    taken = [
        f"{place(path)}: {node.module}.{alias.name}"
        for path in package.glob("*.py")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("recombine")
        for alias in node.names
        if alias.name.startswith("_") and not alias.name.startswith("__")
    ]
    assert taken == []


def public_packages() -> list[str]:
    """Packages that users import: all but the papers' own parts, found by their paper."""
    dotted = [".".join(("recombine", *package.relative_to(SOURCE).parts)) for package in PACKAGES]
    return [name for name in dotted if not name.startswith("recombine.lab.papers.")]


@pytest.mark.parametrize("name", public_packages())
def test_a_package_lists_what_it_offers_and_hands_it_out(name: str) -> None:
    package = import_module(name)
    assert isinstance(package, LazyPackage)
    assert package.__doc__
    assert dir(package) == sorted(package.__all__)
    assert dir(package) or name in ("recombine.report", "recombine.lab.cli")
    for entry in dir(package):
        try:
            assert getattr(package, entry).__doc__, f"{name}.{entry} has no docstring"
        except ModuleNotFoundError as error:
            if error.name not in ("torch", "triton", "clarabel"):
                raise


def test_looking_computes_nothing_and_loads_nothing_heavy() -> None:
    heavy = ["numpy", "torch", "sklearn", "scipy.optimize", "matplotlib", "duckdb", "rich", "typer", "pandas"]
    code = f"""
import sys
import recombine, recombine.theory.kernels, recombine.measures.outputs
import recombine.lab.nets.ensemble, recombine.lab.papers
[dir(package) for package in (recombine, recombine.theory, recombine.theory.kernels)]
[dir(package) for package in (recombine.measures, recombine.lab.nets)]
papers = recombine.lab.papers.available()
[(paper.title, paper.citation, repr(paper)) for paper in papers.values()]
from recombine.lab.papers.record import load_record
from recombine.lab.report.terminal import paper_lines
found = [name for name in {heavy} if name in sys.modules]
found += [name for name in sys.modules if ".experiments" in name or ".readings" in name]
print(found)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "[]"


def test_a_public_name_wins_over_a_file_of_the_same_name() -> None:
    kernels = import_module("recombine.theory.kernels.solvers")
    module = import_module("recombine.theory.kernels.solvers.solve")
    assert kernels.solve is module.solve
    with pytest.raises(AttributeError, match=r"module 'recombine.theory' has no attribute 'kernel'"):
        _ = recombine.theory.kernel  # type: ignore[attr-defined]


def test_tests_mirror_the_packages() -> None:
    """Every folder of tests is a package or belongs to a file; `architecture` and `fuzz` are about all of them.

    Tests of other packages that need the laboratory lie below tests/lab, in the folders they would have without it.
    """
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")} - {Path()}
    packages = {package.relative_to(SOURCE) for package in PACKAGES}
    packages |= {Path("lab") / package for package in packages} | {Path("architecture"), Path("fuzz"), Path("lab/fuzz")}
    strange = folders - packages
    assert {folder for folder in strange if not (SOURCE / folder).with_suffix(".py").exists()} == set()


def test_docs_and_examples_import_packages() -> None:
    """Users import packages, never files, so that a file may be renamed on any day."""
    files = {".".join(("recombine", *path.relative_to(SOURCE).with_suffix("").parts)) for path in MODULES}
    pages = [TESTS.parent / "README.md", *(TESTS.parent / "docs").rglob("*.md")]
    taken = {
        (page.name, module)
        for page in pages
        for module in re.findall(
            r"^(?:>>> )?from (recombine[\w.]*) import", page.read_text(encoding="utf-8"), re.MULTILINE
        )
        if module in files
    }
    assert taken == set()
