"""A structure that a test registers is read, chosen and told of in every output: one more structure is one file."""

from __future__ import annotations

import json
import re
import runpy
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import recombine as rc
from recombine.cells.arrays import FloatArray
from recombine.explore.answers import TableAnswers
from recombine.report import result_text
from recombine.report.audit import audit_json, page
from recombine.theory.components import HeldOutComponents, OutcomeScale
from recombine.theory.structures import STRUCTURES, Structure, StructureData, StructureFit, TermsFit, fit_terms
from recombine.words.structure import choice_statement

BUILD = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "build_vocabulary.py"))
CELLS = np.indices((6, 5, 4)).reshape(3, -1).T
SEEN = np.random.default_rng(0).random(len(CELLS)) < 0.7
ROOTS = CELLS @ [0.3, -0.4, 0.5] + 0.1
VALUES = (ROOTS + 0.01 * np.random.default_rng(1).normal(size=len(CELLS))) ** 3


@dataclass(frozen=True, eq=False)
class CubeRootFit(StructureFit):
    """Sums of cube roots."""

    roots: TermsFit

    def predict(self, cells: npt.ArrayLike) -> FloatArray:
        """Return cubes."""
        return np.asarray(self.roots.predict(cells) ** 3)


@dataclass(frozen=True)
class CubeRootScale(OutcomeScale):
    """Cube roots of outcomes."""

    def fits(self, y: FloatArray) -> bool:
        """Every number has a cube root."""
        return True

    def forward(self, y: FloatArray) -> FloatArray:
        """Return cube roots."""
        return np.cbrt(y)

    def slope(self, y: FloatArray) -> FloatArray:
        """Return the derivative."""
        return np.asarray(1 / (3 * np.cbrt(y) ** 2))

    def back(self, values: FloatArray) -> FloatArray:
        """Return cubes."""
        return np.asarray(values**3)


class CubeRoot(Structure):
    """Effects add on the cube root: what components say there decides whether it holds, and no fit to some cells."""

    name = "cube-root"
    assumption = "effects add on the outcome's cube root"
    complexity = 35
    help = "Every level has an effect on the cube root."

    def __init__(self) -> None:
        self.fitted: list[int] = []

    def reading(self, components: HeldOutComponents) -> FloatArray | None:
        """Return what components of cube roots say."""
        return components.values(1, CubeRootScale("cube root"))

    def fit(self, data: StructureData) -> CubeRootFit:
        """Fit cube roots."""
        self.fitted.append(len(data.cells))
        return CubeRootFit(fit_terms(data.cells, np.cbrt(data.y), symmetric=data.symmetric))


@pytest.fixture(autouse=True)
def structure() -> Iterator[CubeRoot]:
    cube_root = CubeRoot()
    with STRUCTURES.registered(cube_root):
        yield cube_root


@pytest.fixture(scope="module")
def design() -> rc.Design:
    return rc.Design.from_cells(CELLS[SEEN], VALUES[SEEN], sizes=(6, 5, 4), names=["dose", "site", "line"])


def told(text: str) -> str:
    """A text without line breaks, frames and marks of HTML."""
    return " ".join(re.sub(r"&#39;|&#x27;|’", "'", re.sub(r"[│|]", " ", text)).split())


@pytest.mark.slow
def test_it_is_read_and_chosen_where_it_holds_and_predicts_unseen_cells(design: rc.Design, structure: CubeRoot) -> None:
    audit = rc.audit(design)
    assert audit.choice.structure is structure
    assert structure.fitted == [SEEN.sum()]  # once and to all seen cells: those held out are read
    assert np.abs(audit.values.certified_of(CELLS[~SEEN]) - ROOTS[~SEEN] ** 3).max() < 0.05 * np.abs(VALUES).max()
    assert "cube-root" in choice_statement(audit.choice)


@pytest.mark.slow
def test_every_output_of_an_audit_says_what_it_assumes(design: rc.Design, structure: Structure) -> None:
    audit = rc.audit(design, structure="cube-root")
    assert structure.assumption in told(result_text(audit))
    assert structure.assumption in told(page(audit))
    assert structure.assumption in told(audit._repr_html_())
    record = json.loads(audit_json(audit))["structure"]
    assert (record["name"], record["assumes"]) == ("cube-root", structure.assumption)
    assert TableAnswers(audit).record["assumption"] == structure.assumption
    assert structure.assumption in told(audit.explain(CELLS[~SEEN][0].tolist()))


def test_a_comparison_says_what_is_assumed_now(design: rc.Design, structure: Structure) -> None:
    comparison = rc.compare(rc.audit(design, structure="add"), rc.audit(design, structure="cube-root"))
    assert structure.assumption in told(comparison.markdown)


@pytest.mark.parametrize("command", ["audit", "score", "split", "explore"])
def test_the_help_of_commands_names_it(command: str, structure: Structure, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    # Options are made when a command is imported: it is imported again, and forgotten afterwards.
    kept = {name: module for name, module in sys.modules.items() if name.startswith("recombine.cli")}
    try:
        for name in kept:
            del sys.modules[name]
        from recombine.cli.program import app

        monkeypatch.setenv("COLUMNS", "200")
        shown = CliRunner().invoke(app, [command, "--help"])
        assert shown.exit_code == 0, shown.output
        assert f"cube-root ({structure.assumption})" in told(shown.output)
    finally:
        for name in [name for name in sys.modules if name.startswith("recombine.cli")]:
            del sys.modules[name]
        sys.modules.update(kept)


def test_estimators_take_it_by_name() -> None:
    model = rc.CompositionalRegressor(structure="cube-root").fit(CELLS[SEEN], VALUES[SEEN])
    value, low, high = model.predict(CELLS[~SEEN], return_range=True)
    assert np.abs(value - ROOTS[~SEEN] ** 3).max() < 0.05 * np.abs(VALUES).max()
    assert np.mean((low <= VALUES[~SEEN]) & (VALUES[~SEEN] <= high)) > 0.7


def test_the_documentation_lists_it(structure: Structure) -> None:
    page_of_structures = BUILD["structures_page"]()
    assert (
        f"| [`cube-root`](structures/cube-root.md) | {structure.assumption} | single levels | yes | {structure.help} |"
        in page_of_structures
    )
    assert structure.help in " ".join(BUILD["entry_pages"]()["docs/structures/cube-root.md"]().split())
    assert page_of_structures != (BUILD["ROOT"] / "docs" / "structures.md").read_text(encoding="utf-8")
