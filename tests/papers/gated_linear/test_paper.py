"""gated-linear: its theory run anew, every claim judged on the stored rows, and every check able to turn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.papers import Standing, find
from recombine.papers.gated_linear.experiments.theory import ARCHITECTURES, direct_cost, limits
from recombine.papers.gated_linear.readings.small_problems import ends
from recombine.papers.reproduce import Reproduction, from_results, reproduce
from recombine.papers.results import Evidence, Provenance, as_table, matching
from recombine.report.papers.figure import PaperFigure
from recombine.runs.executors import make_executor
from recombine.runs.experiment import Unit
from recombine.runs.store import Store
from recombine.tables.table import Table
from recombine.theory.gated import features as gated_features
from recombine.theory.gated.conic import least_effective_squares
from recombine.theory.gated.flow import LARGEST_MARGIN
from recombine.theory.gated.margin import largest_margin
from recombine.worlds.gated_problems import gated_problem

PAPER = find("gated-linear")
RESULTS = Path(__file__).parents[3] / "results"
FAST = ["3", "4", "5a", "5b", "8a"]
NUMBERS = [claim.number for claim in PAPER.claims]
Bend = Callable[[Any], Any]


@pytest.fixture(scope="module")
def stored() -> Reproduction:
    return from_results(PAPER, RESULTS, scale="quick")


@pytest.fixture(scope="module")
def full() -> Reproduction:
    return from_results(PAPER, RESULTS, scale="full")


#: What is published about MNIST is not refuted by digits; of the flows on G1 three in ten are still above 12.
ELSEWHERE = {"18": Standing.NOT_RUN, "8b": Standing.FAILS}


@pytest.mark.parametrize("number", NUMBERS)
def test_claims_stand_where_they_should(stored: Reproduction, number: str) -> None:
    outcome = stored.outcomes[f"gated-linear/{number}"]
    assert outcome.verdict is ELSEWHERE.get(number, Standing.HOLDS), outcome


#: Claim -> column to bend and how: a change of what was measured must change the verdict.
BENT: dict[str, tuple[str, Bend]] = {
    "1": ("ratio", lambda values: values + 0.01),
    "2": ("drift", lambda values: values + 1e-4),
    "3": ("conic", lambda values: values + 1e-4),
    "4": ("norm", lambda values: values[::-1].copy()),
    "5a": ("closed form", lambda values: values * (1 + 1e-9)),
    "5b": ("conic", lambda values: values + 1e-4),
    "6": ("cosine", lambda values: values - 1e-3),
    "7": ("direct", lambda values: values + 1e-4),
    "8a": ("least unit", lambda values: values + 0.1),
    "8b": ("ratio", lambda values: values + 0.5),
    "8c": ("problem", lambda values: np.where(values == "toy", "G1", "toy")),
    "9a": ("inconsistency", lambda values: values + 0.2),
    # The fourth of six rows of a network after its own is the norm of zeta.
    "9b": ("inconsistency", lambda values: values + 0.05 * (np.arange(len(values)) % 6 == 5)),
    "10": ("inconsistency", lambda values: values[::-1].copy()),
    "11a": ("reloaded", lambda values: values / 3),
    "11b": ("reloaded", lambda values: values / 4),
    "12": ("thresholds", lambda values: np.where(values == "median", "random", "median")),
    "13a": ("error", lambda values: np.linspace(0.1, 0.4, len(values))),
    "13b": ("layers", lambda values: 3 - values),
    "14": ("inconsistency", lambda values: values[::-1].copy()),
    "15": ("error", lambda values: np.minimum(values, 0.06)),
    # Every third of six rows of a network is the published grouping.
    "16": ("error", lambda values: values + 0.05 * (np.arange(len(values)) % 6 == 2)),
    "17": ("error", lambda values: np.minimum(values, 0.1)),
    "18": ("images", lambda values: np.full(len(values), "mnist")),
}


@pytest.mark.parametrize("number", NUMBERS)
def test_every_check_can_turn(stored: Reproduction, number: str) -> None:
    claim = PAPER.claim(number)
    table = stored.results[claim.experiment].table
    column, bend = BENT[number]
    columns = {name: table[name] for name in table.columns}
    bent = Table(columns | {column: bend(np.array(columns[column]))})
    assert claim.read(bent).verdict is not claim.read(table).verdict


@pytest.mark.parametrize("number", NUMBERS)
def test_nothing_measured_is_never_agreement(stored: Reproduction, number: str) -> None:
    claim = PAPER.claim(number)
    table = stored.results[claim.experiment].table
    columns = {name: table[name] for name in table.columns}
    assert claim.read(table.where(np.zeros(len(table), dtype=bool))).verdict is Standing.NOT_RUN
    measured = [name for name in columns if columns[name].dtype.kind == "f" and name not in ("scale", "momentum")]
    lost = Table(columns | {name: np.full(len(table), np.nan) for name in measured})
    assert claim.read(lost).verdict in (Standing.NOT_RUN, Standing.FAILS)


@pytest.mark.parametrize(
    ("number", "column", "place"),
    [
        ("3", "value", 0),
        ("3", "value", 9),
        ("5b", "conic", 2),
        ("5b", "conic", 8),
        ("2", "drift", 8),
        ("7", "formula", 4),
    ],
)
def test_one_number_that_is_lost_is_not_passed_over(stored: Reproduction, number: str, column: str, place: int) -> None:
    claim = PAPER.claim(number)
    table = stored.results[claim.experiment].table
    values = np.array(table[column])
    values[place] = np.nan
    bent = Table({name: table[name] for name in table.columns} | {column: values})
    assert claim.read(bent).verdict is not Standing.HOLDS


def test_every_flow_counts_once_and_problems_are_compared_on_equal_terms(stored: Reproduction) -> None:
    flows = stored.results["flow"].table
    last = ends(flows)
    assert len(last) == 23
    assert "23 flows" in judged("2", flows).detail
    own = matching(last, sharing=False)
    toy, switched = (matching(own, problem=name) for name in ("toy", "G1"))
    assert all(np.array_equal(np.sort(toy[key]), np.sort(switched[key])) for key in ("scale", "seed"))
    assert own["margin"] == pytest.approx(LARGEST_MARGIN, rel=1e-3)
    # Without the slow flows of one problem nothing is compared.
    for name in ("toy", "G1"):
        dropped = (flows["problem"] == name) & (flows["seed"] == 4) & (flows["scale"] == 0.1)
        assert judged("8c", flows.where(~dropped)).verdict is Standing.NOT_RUN
        short = (flows["problem"] == name) & (flows["tau"] > 75)
        assert judged("8c", flows.where(~short)).verdict is Standing.NOT_RUN


def test_flows_on_the_toy_are_far_from_the_limit_only_while_a_support_vector_waits(stored: Reproduction) -> None:
    last = matching(ends(stored.results["flow"].table), problem="toy", sharing=False)
    far = last["ratio"] / last["optimum"] - 1 > 1e-4
    assert 0 < far.sum() < len(far)
    assert ((last["waiting"] > 0) == far).all()


def test_the_toy_does_not_tell_norms_of_two_layers_apart_and_the_other_problem_does() -> None:
    apart = {}
    for name in ("toy", "G1"):
        given = gated_problem(name)
        found = [largest_margin(given.X, given.y, given.ids, contexts=2, norm=norm) for norm in ("group", "zeta")]
        one, other = (best.decision(given.X, given.ids) for best in found)
        apart[name] = float(np.abs(one - other).max())
    assert apart["toy"] < 1e-8
    assert apart["G1"] > 0.1


def test_a_wrong_kernel_of_the_effective_norm_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = gated_features._effective
    monkeypatch.setattr(gated_features, "_effective", lambda units, contexts: right(units, contexts) * [1, *[3] * 4])
    rows = as_table(limits(Unit("limits", 1, {"problem": "toy"})))
    assert judged("5b", rows).verdict is Standing.FAILS


def test_a_search_that_ends_at_zero_is_no_cost() -> None:
    # From this start all factors of the chain shrink to zero, which represents nothing.
    assert np.isnan(direct_cost(ARCHITECTURES["chain of three"], 5))


def test_least_effective_squares_asks_for_few_joint_contexts() -> None:
    with pytest.raises(InputError, match="too many"):
        least_effective_squares(np.ones((1, 1)), [1], np.zeros((1, 13), dtype=int), contexts=2)


def test_theory_run_anew_gives_the_stored_rows(stored: Reproduction, tmp_path: Path) -> None:
    again = reproduce(PAPER, store=Store(tmp_path), executor=make_executor("inline"), only=FAST)
    assert not again.failed
    for name, evidence in again.results.items():
        before = stored.results[name].table
        for column in before.columns:
            if before[column].dtype.kind == "f":
                assert evidence.table[column] == pytest.approx(before[column], rel=1e-6, abs=1e-8), (name, column)


@pytest.mark.parametrize("name", ["gated readout", "chain of three", "convolution"])
def test_formulas_are_the_least_cost_of_parameters(name: str) -> None:
    found = min(direct_cost(ARCHITECTURES[name], seed) for seed in (0, 1))
    assert found == pytest.approx(ARCHITECTURES[name].cost, abs=1e-5)


def test_images_give_the_same_rows_on_every_run_and_compare_with_the_network() -> None:
    pytest.importorskip("torch")
    from recombine.papers.gated_linear.experiments.images import gated

    setting = {"images": "digits", "sizes": [60, 100], "validation": 200, "layers": 2, "units": 6, "bits": 1}
    unit = Unit("two-layer", 1, setting | {"thresholds": "median", "momenta": [0.0, 0.9], "steps": 60, "seeds": [4]})
    rows, again = as_table(gated(unit)), as_table(gated(unit))
    assert all(np.array_equal(rows[name], again[name]) for name in rows.columns)
    own = matching(rows, classifier="network")
    assert (own["inconsistency"] == 0).all()
    assert (own["reloaded"] > 0).all()
    # The limit does not depend on how the network was trained.
    group = matching(rows, classifier="group", samples=60)
    assert len(set(group["error"].tolist())) == 1
    apart, bound = rows["inconsistency"], rows["error"] + rows["network error"]
    assert (apart <= bound + 1e-12).all()


def judged(number: str, table: Table) -> Any:
    return PAPER.claim(number).read(table)


def on_mnist(stored: Reproduction, name: str) -> Table:
    """Rows as if the images had been MNIST, so that numbers count."""
    table = stored.results[name].table
    columns = {column: table[column] for column in table.columns}
    return Table(columns | {"images": np.full(len(table), "mnist")})


def test_on_mnist_numbers_count_and_not_only_the_direction(stored: Reproduction) -> None:
    # Errors of digits are half of MNIST's, so claims on its numbers must not pass with them.
    for number, name in (("12", "two-layer"), ("13b", "two-layer"), ("15", "relu"), ("13a", "shallow")):
        assert judged(number, stored.results[name].table).verdict is Standing.HOLDS
        assert judged(number, on_mnist(stored, name)).verdict is Standing.FAILS


def test_what_was_not_run_is_not_judged(stored: Reproduction) -> None:
    two = stored.results["two-layer"].table
    for number in ("9a", "9b", "10", "11a", "12", "16", "17", "18"):
        assert judged(number, matching(two, layers=1)).verdict is Standing.NOT_RUN
    assert judged("13b", matching(two, layers=2)).verdict is Standing.NOT_RUN
    shallow = stored.results["shallow"].table
    assert judged("13a", matching(shallow, bits=2)).verdict is Standing.NOT_RUN
    assert judged("11b", matching(shallow, bits=2)).verdict is Standing.NOT_RUN
    relu = stored.results["relu"].table
    assert judged("15", matching(relu, units=20)).verdict is Standing.NOT_RUN


def test_gates_are_compared_with_the_networks_they_are_from(full: Reproduction) -> None:
    relu = full.results["relu"].table
    outcome = judged("15", relu)
    assert outcome.value == "24.4% against 10.0% of the same networks"
    assert "26.1% against 11.4% with 500 samples (6 networks)" in outcome.detail
    # Networks that are not separable by their gates have no part in it.
    gates = matching(relu, classifier="gates only", momentum=0.9)
    apart = gates.where(np.isfinite(gates["error"]))
    keys = set(zip(*(apart[name].tolist() for name in ("units", "samples", "seed")), strict=True))
    rows = zip(*(relu[name].tolist() for name in ("units", "samples", "seed")), strict=True)
    others = np.array([row not in keys for row in rows])
    columns = {name: relu[name] for name in relu.columns}
    worse = {name: columns[name] + 0.1 * others for name in ("error", "network error")}
    assert judged("15", Table(columns | worse)).value == outcome.value


def test_details_say_what_is_left_out_and_what_a_mean_hides(full: Reproduction) -> None:
    details = {number: full.outcomes[f"gated-linear/{number}"].detail for number in ("8c", "9b", "12", "13a", "14")}
    assert "from 100 on margin^-0.02 to -0.33 against -0.28 to -1.02" in details["8c"]
    assert "1000" in PAPER.claim("8c").statement + PAPER.claim("8c").tolerance
    assert "12 of the networks do not separate their training samples" in details["9b"]
    assert "1 a unit +1.22 ± 0.23" in details["12"]
    assert "2 a unit +0.18 ± 0.32" in details["12"]
    assert "at 500 samples -0.56 ± 0.48" in details["12"]
    assert "36.3% with 1000, 31.6% with 2000" in details["13a"]
    assert "24 of 27 networks with 20 to 100 units; left out are 3" in details["14"]


def test_lines_of_the_relu_figure_are_of_the_same_networks(full: Reproduction) -> None:
    plot = next(plot for plot in PAPER.figures if plot.name == "relu")
    table = PaperFigure(plot, full.results).table
    assert set(table["n"].tolist()) == {3}
    assert set(table["units"].tolist()) == {20, 50, 100, 500, 1000}


@pytest.mark.parametrize("name", ["units", "bits"])
def test_panels_hold_all_their_lines_and_labels(full: Reproduction, name: str) -> None:
    plot = next(plot for plot in PAPER.figures if plot.name == name)
    canvas = PaperFigure(plot, full.results)._draw()
    canvas.canvas.draw()
    for axes in canvas.axes:
        drawn = [line.get_ydata() for line in axes.lines if len(line.get_xdata()) > 1]
        assert max(np.max(values) for values in drawn) <= axes.get_ylim()[1]
        # A browser draws the text of an SVG with a font of its own, a quarter wider than this one.
        assert 1.25 * axes.get_xaxis().label.get_window_extent().width <= axes.get_window_extent().width


def test_figures_are_drawn_with_their_tables(stored: Reproduction) -> None:
    assert {plot.name for plot in PAPER.figures} == {"toy", "flow", "units", "bits", "scatter", "relu"}
    for plot in PAPER.figures:
        figure = PaperFigure(plot, stored.results)
        text = figure.svg()
        assert text.startswith("<svg")
        assert "mathdefault" not in text
        assert len(figure.table) > 0
        assert figure.alternative.endswith(".")
        assert "quick" in figure.caption


def test_every_figure_belongs_to_claims_that_exist() -> None:
    ids = {claim.id for claim in PAPER.claims}
    assert all(set(plot.claims) <= ids for plot in PAPER.figures)
    assert all(plot.experiments[0] in PAPER.by_name for plot in PAPER.figures)


def test_evidence_of_part_of_a_grid_says_so(stored: Reproduction) -> None:
    evidence = stored.results["two-layer"]
    story = {field: getattr(evidence.provenance, field) for field in Provenance.__struct_fields__}
    part = Evidence(evidence.table, Provenance(**story | {"planned": 99}))
    assert "of 99 units" in PAPER.claim("9a").judge({"two-layer": part}).scale
