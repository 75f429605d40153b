"""The reference pages name what exists, and of every package exactly what its table of contents lists."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
FILES = sorted((SOURCE.parent / "docs").glob("reference*.md"))
PAGE = "\n".join(page.read_text(encoding="utf-8") for page in FILES)
NAMED = re.findall(r"^   ~(recombine\.\S+)$", PAGE, re.MULTILINE)


def tables() -> dict[str, set[str]]:
    """Return package -> names in its summary table on the page."""
    found = re.findall(
        r"^\.\. currentmodule:: (\S+)\n\.\. autosummary::\n(?:   :.*\n)+\n((?:   \w+\n)+)", PAGE, re.MULTILINE
    )
    return {package: set(names.split()) for package, names in found}


def entries(package: str) -> set[str]:
    """Return what a package lists itself: not the packages in it, and without importing any of it."""
    return {name for name in dir(import_module(package)) if not _inside(package, name)}


def packages(parent: str) -> list[str]:
    """Return a package, and the packages in it."""
    inside = [f"{parent}.{name}" for name in dir(import_module(parent)) if _inside(parent, name)]
    return [parent, *(package for one in inside for package in packages(one))]


def _inside(package: str, name: str) -> bool:
    return (SOURCE / package.replace(".", "/") / name / "__init__.py").exists()


LAB = ("lab.inspection", "lab.tasks", "lab.worlds", "lab.nets", "lab.runs")
PARENTS = ("design", "tables", "sheets", "cells", "jobs", "explore", "theory", "measures", *LAB)
PACKAGES = [package for parent in PARENTS for package in packages(f"recombine.{parent}") if entries(package)] + [
    "recombine.lab.papers"
]


@pytest.mark.parametrize("name", NAMED)
def test_what_is_named_exists(name: str) -> None:
    module, _, member = (name if name.startswith("recombine.") else f"recombine.{name}").rpartition(".")
    try:
        package = import_module(module)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        pytest.skip("needs torch")
    assert callable(getattr(package, member, None)) or import_module(f"{module}.{member}")


@pytest.mark.parametrize("package", PACKAGES)
def test_a_table_on_the_page_is_the_packages_table_of_contents(package: str) -> None:
    assert tables()[package] == entries(package)
    assert (import_module(package).__doc__ or "").split("\n")[0] in PAGE


def test_the_product_has_a_page_of_its_own() -> None:
    product = (SOURCE.parent / "docs" / "reference.md").read_text(encoding="utf-8")
    packages = re.findall(r"^\.\. currentmodule:: (\S+)$", product, re.MULTILINE)
    assert not [name for name in packages if name.startswith(("recombine.lab", "recombine.measures"))]
    assert {"recombine.jobs.audit", "recombine.jobs.split"} <= set(packages)


def test_every_table_on_the_page_is_of_a_package() -> None:
    assert set(tables()) == set(PACKAGES)
    assert {"recombine.theory.kernels.solvers", "recombine.measures.outputs", "recombine.lab.nets"} < set(tables())
