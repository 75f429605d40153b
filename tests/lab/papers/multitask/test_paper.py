"""Multi-task learning and pretraining: theory at quick scale, judged; every check turns when its rows do."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("clarabel")

from recombine.lab.papers import Standing, find
from recombine.lab.papers.multitask.experiments.theory import nested, nested_starts, overlap
from recombine.lab.papers.reproduce import Order, Reproduction, reproduce
from recombine.lab.papers.results import Evidence, Provenance
from recombine.lab.report.figure import PaperFigure
from recombine.lab.runs.executors import make_executor
from recombine.lab.runs.experiment import Unit
from recombine.lab.runs.store import Store
from recombine.measures.activations.dimensionality import ensd
from recombine.tables.table import Table
from recombine.theory.diagonal.penalties import hyperbolic_entropy

PAPER = find("multitask")
THEORY = ["2", "3a", "3b", "3c", "4a", "4b", "5b", "6", "7a", "7b", "8a", "8b"]
GRIDS = ["9a", "11", "12a", "12b", "22"]


def evidence(name: str, rows: list[dict[str, Any]]) -> Evidence:
    return Evidence(Table.from_rows(rows), Provenance(name, "quick", "", "", "cpu", 0.0, [], {}))


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    """Small experiments as they are, grids at one number of samples."""
    store = Store(tmp_path_factory.mktemp("store"))
    state = reproduce(Order(PAPER, only=THEORY), store, make_executor("inline"))
    about = {"n": 64, "mtl": False, "seeds": [0, 1, 2]}
    state.results["overlap"] = evidence("overlap", overlap(Unit("test", 1, {**about, "overlaps": [40, 0]})))
    scalings = [1.0, 0.1, 0.01]
    rows = nested(Unit("test", 1, {**about, "seeds": list(range(6)), "active": [5, 40], "scalings": scalings}))
    state.results["nested"] = evidence("nested", rows)
    return Reproduction(PAPER, PAPER.chosen([*THEORY, *GRIDS]), state.results)


@pytest.mark.parametrize("number", [*THEORY, *GRIDS])
def test_claims_stand_where_they_should(state: Reproduction, number: str) -> None:
    outcome = state.outcomes[f"multitask/{number}"]
    expected = Standing.CONTRADICTS if number == "3b" else Standing.HOLDS
    assert outcome.verdict is expected, f"{outcome.value}: {outcome.detail}"


#: Claim -> column to bend and by how much: a small change of what was measured must change the verdict.
BENT: dict[str, tuple[str, Any]] = {
    "2": ("difference", lambda values: values + 1e-7),
    "3a": ("difference", lambda values: values + 1e-7),
    "3b": ("symmetric difference", lambda values: 0 * values),
    "3c": ("difference", lambda values: values + 1e-7),
    "4a": ("drift", lambda values: values + 1e-8),
    "4b": ("drift", lambda values: values**1.2),
    "5b": ("order", lambda values: values - 2e-3),
    "6": ("order", lambda values: values + 1e-3),
    "7a": ("from probe", lambda values: values + 1e-4),
    "7b": ("over l1", lambda values: values + 1e-3),
    "8a": ("group norm", lambda values: values + 1e-4),
    "8b": ("group norm", lambda values: values + 0.01),
    "9a": ("loss", lambda values: values / 2),
    "11": ("relative loss", lambda values: np.sqrt(values)),
    "12a": ("relative loss", lambda values: np.sqrt(values)),
    "12b": ("relative loss", lambda values: 0 * values + 0.5),
    "22": ("loss", lambda values: values**0.1),
}


@pytest.mark.parametrize("number", [*THEORY, *GRIDS])
def test_every_check_can_fail(state: Reproduction, number: str) -> None:
    claim = PAPER.claim(number)
    table = state.results[claim.reads].table
    column, bend = BENT[number]
    columns = {name: table[name] for name in table.columns}
    columns[column] = bend(np.array(columns[column]))
    assert claim.read(Table(columns)).verdict is not claim.read(table).verdict


def test_every_claim_has_an_experiment_and_every_experiment_a_claim() -> None:
    assert {claim.reads for claim in PAPER.claims} == set(PAPER.by_name)
    assert {claim.number.rstrip("abcdefg") for claim in PAPER.claims} == {str(number) for number in range(2, 45)}


@pytest.mark.slow
def test_figures_are_drawn_with_their_tables(state: Reproduction) -> None:
    drawn = [PaperFigure(plot, state.results) for plot in PAPER.figures if plot.drawable(state.results)]
    assert {figure.name for figure in drawn} == {"penalties", "samples", "nested", "group-norm"}
    for figure in drawn:
        text = figure.svg()
        assert "mathdefault" not in text
        assert len(figure.table) > 0
        assert figure.alternative.endswith(".")


@pytest.mark.slow
def test_a_result_is_the_same_on_every_run(state: Reproduction, tmp_path: Path) -> None:
    again = reproduce(Order(PAPER, only=["4b"]), Store(tmp_path), make_executor("inline"))
    first, second = state.results["descent"].table, again.results["descent"].table
    assert all(np.array_equal(first[column], second[column]) for column in first.columns)


def test_plain_finetuning_is_part_of_both_grids(state: Reproduction) -> None:
    """Scaling 1 with 40 known features is overlap 40, up to the size of the main coefficients."""
    starts = {(method, scaling): start for method, scaling, start in nested_starts([1.0], mtl=False)}
    assert starts["pt+ft", 1.0] == {"alpha": 1e-3, "scaling": 1.0, "gamma": 1e-3}
    first = state.results["overlap"].table.only(overlap=40, method="pt+ft", form="exact", seed=1)["loss"][0]
    second = state.results["nested"].table.only(active=40, place="inside", method="pt+ft", scaling=1.0, seed=1)
    assert second["relative loss"][0] < first < 100 * second["relative loss"][0]


def test_full_grids_are_the_published_ones() -> None:
    """576 + 144 runs of overlap, 1440 + 360 of sparse overlap and 2880 of scaling, those they share counted once."""
    overlaps, nest = (PAPER.by_name[name].settings("full") for name in ("overlap", "nested"))
    runs = sum(len(s["overlaps"]) * 6 for s in overlaps)
    again = sum(len(s["active"]) * 2 * (2 * len(s["scalings"]) + 3) for s in nest)
    assert runs == 6 * 6 * 4 * 6
    assert again == 6 * 6 * 5 * 2 * 11


class TestFormulas:
    """What the paper's figures rest on, checked by other routes."""

    def test_the_penalty_is_quadratic_near_zero_and_logarithmic_far_away(self) -> None:
        near, far = (float(2 * hyperbolic_entropy(z / 2)) for z in (1e-3, 1e6))
        assert near / (1e-6 / 4) == pytest.approx(1, abs=1e-6)
        assert far / (1e6 * np.log(1e6)) == pytest.approx(1, abs=0.1)

    @pytest.mark.parametrize(
        "penalty", ["MTL", "PT+FT, k = B", "PT+FT, k = B/2", "ReLU, cosine 1", "ReLU, cosine 0.9", "ReLU, cosine 0"]
    )
    def test_order_and_feature_dependence_add_to_one(self, state: Reproduction, penalty: str) -> None:
        """The conservation law, by differences; it holds of whatever is homogeneous in both coefficients."""
        rows = state.results["penalties"].table.only(penalty=penalty)
        assert len(rows) == 61
        assert np.abs(rows["order"] + rows["dependence"] - 1).max() < 1e-5

    @pytest.mark.parametrize("seed", range(3))
    def test_shared_dimensions_are_what_their_definition_says(self, seed: int) -> None:
        draw = np.random.default_rng(seed)
        first, second = draw.standard_normal((2, 40, 30))
        second = second + first
        turn = np.linalg.qr(draw.standard_normal((30, 30)))[0]
        one, two = first.T @ first, second.T @ second
        traces = np.trace(one) * np.trace(two) * np.trace(one @ two)
        shared = partial(ensd, centred=False)
        value = traces / (np.trace(one @ one) * np.trace(two @ two))
        for same in (
            shared(first, second),
            shared(second, first),
            shared(3 * first, second / 7),
            shared(first @ turn, second @ turn),
        ):
            assert same == pytest.approx(value, rel=1e-9)
        ratio = np.trace(one) ** 2 / np.trace(one @ one)
        assert shared(first, first) == pytest.approx(ratio, rel=1e-9)
        assert abs(shared(first @ turn, second) / value - 1) > 1e-3


def test_the_checklist_names_every_claim_that_is_about_the_paper() -> None:
    """A claim of the paper's that no panel names would judge nothing that the page counts."""
    named = {number for panel in PAPER.checklist for number in panel.claims}
    assert named <= {claim.number for claim in PAPER.claims}
    assert {claim.number for claim in PAPER.claims if claim.says == "paper"} <= named
    assert all(panel.claims or panel.missing for panel in PAPER.checklist), "what is not judged says why"
