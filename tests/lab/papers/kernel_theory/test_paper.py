"""The first paper: its kernel experiments at quick scale, judged; every check turns when its rows do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recombine.lab.papers import Standing, find
from recombine.lab.papers.kernel_theory.experiments.context import phase
from recombine.lab.papers.kernel_theory.experiments.kernels import DISPERSED_SALIENCE
from recombine.lab.papers.reproduce import Order, Reproduction, reproduce
from recombine.lab.papers.results import Evidence, Provenance
from recombine.lab.papers.seeds import over_seeds
from recombine.lab.report.figure import PaperFigure
from recombine.lab.runs.executors import make_executor
from recombine.lab.runs.experiment import Unit
from recombine.lab.runs.store import Store
from recombine.measures.outputs.contributions import kind_of
from recombine.tables.table import Table

PAPER = find("kernel-theory")
KERNEL = [
    *("1", "1b", "2b", "3", "4", "5", "6", "9a", "10", "11", "12"),
    *("17", "18", "22", "24", "42", "33", "37", "38"),
]


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    """All experiments that need no network, run once; the largest grid with a ninth of its places."""
    store = Store(tmp_path_factory.mktemp("store"))
    others = [number for number in KERNEL if PAPER.claim(number).reads != "phase"]
    results = reproduce(Order(PAPER, only=others), store, make_executor("inline")).results
    settings = [setting | {"steps": 50} for setting in PAPER.by_name["phase"].settings("quick")]
    rows = [row for setting in settings for row in phase(Unit("kernel-theory/phase", 1, setting))]
    about = Provenance("phase", "quick", "", "", "cpu", 0.0, [], {})
    return Reproduction(PAPER, PAPER.chosen(KERNEL), results | {"phase": Evidence(Table.from_rows(rows), about)})


@pytest.mark.parametrize("number", KERNEL)
def test_kernel_claims_stand_where_they_should(state: Reproduction, number: str) -> None:
    outcome = state.outcomes[f"kernel-theory/{number}"]
    assert outcome.verdict is Standing.HOLDS, outcome.detail
    assert outcome.scale == "quick"


#: Claim -> column to bend and by how much: a small change of what was measured must change the verdict.
BENT: dict[str, tuple[str, Any]] = {
    "1": ("interaction", lambda values: values + 1e-6),
    "1b": ("residual", lambda values: values + 1e-6),
    "2b": ("salience", lambda values: values + 0.01),
    "3": ("salience", lambda values: values[::-1].copy()),
    "4": ("slope", lambda values: values + 1e-6),
    "5": ("closed form", lambda values: values + 1e-4),
    "6": ("slope", lambda values: values + 1e-6 * np.arange(len(values))),
    "9a": ("largest", lambda values: values + 1e-6),
    "10": ("smallest margin", lambda values: values - 0.01),
    "11": ("accuracy", lambda values: 1 - values),
    "12": ("margin", lambda values: -values),
    "17": ("mean squared error", lambda values: values + 0.01),
    "18": ("best sign margin", lambda values: values + 0.1),
    "22": ("margin", lambda values: np.abs(values) + 1),
    "24": ("size", lambda values: values[::-1].copy()),
    "42": ("size", lambda values: values + 0.02),
    "33": ("class", lambda values: values[::-1].copy()),
    "37": ("margin", lambda values: values + 1e-6),
    "38": ("slope", lambda values: values + 1e-6),
}


@pytest.mark.parametrize("number", KERNEL)
def test_every_check_can_fail(state: Reproduction, number: str) -> None:
    claim = PAPER.claim(number)
    table = state.results[claim.reads].table
    column, bend = BENT[number]
    columns = {name: table[name] for name in table.columns}
    columns[column] = bend(np.array(columns[column]))
    before, after = claim.read(table), claim.read(Table(columns))
    assert after.verdict is not before.verdict


def test_a_control_that_stops_showing_a_difference_fails_the_additivity_claim(state: Reproduction) -> None:
    table = state.results["additivity"].table
    columns = {name: table[name] for name in table.columns}
    flat = Table({**columns, "interaction": np.zeros(len(table))})
    assert PAPER.claim("1").read(flat).verdict is Standing.FAILS


@pytest.mark.slow
def test_figures_of_kernels_are_drawn_with_their_tables(state: Reproduction) -> None:
    drawn = [PaperFigure(plot, state.results) for plot in PAPER.figures if plot.drawable(state.results)]
    assert {figure.name for figure in drawn} == {"salience", "leak", "phase", "dispersed", "kinds", "tasks", "exposure"}
    for figure in drawn:
        text = figure.svg()
        assert text.startswith("<svg")
        assert "mathdefault" not in text
        assert len(figure.table) > 0
        assert "small grid" in figure.caption
        assert figure.alternative.endswith(".")


@pytest.mark.slow
def test_a_kernel_result_is_the_same_on_every_run(state: Reproduction, tmp_path: Path) -> None:
    again = reproduce(Order(PAPER, only=["4", "2b"]), Store(tmp_path), make_executor("inline"))
    for name in ("leak", "sampled-salience"):
        first, second = state.results[name].table, again.results[name].table
        assert all(np.array_equal(first[column], second[column]) for column in first.columns)


def test_the_dispersed_curve_covers_the_published_points() -> None:
    settings = PAPER.by_name["dispersed"].settings("full")
    assert set(DISPERSED_SALIENCE) <= {setting["salience"] for setting in settings}


def test_kinds_of_conjunctions_follow_the_rule_of_the_context() -> None:
    assert [kind_of((0, place), context) for context in (0, 1) for place in (1, 2)] == [
        "right",
        "wrong",
        "wrong",
        "right",
    ]
    assert kind_of((0,), 1) == "context"
    assert kind_of((2,), 1) == "sensory"


def test_means_over_seeds_carry_two_standard_errors() -> None:
    rows = Table({"distance": [0] * 4, "slope": [0.1, 0.2, 0.3, 0.4]})
    line = over_seeds(rows, ("distance",), ("slope",))
    assert line["slope 2se"][0] == pytest.approx(2 * np.std([0.1, 0.2, 0.3, 0.4], ddof=1) / 2)
    assert line["n"].tolist() == [4]
