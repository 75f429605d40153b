"""gated-linear: its theory run anew, against other routes, and images that give the same rows on every run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.lab.papers import Standing, find
from recombine.lab.papers.gated_linear.experiments import gains
from recombine.lab.papers.gated_linear.experiments.gains import unbalanced
from recombine.lab.papers.gated_linear.experiments.theory import ARCHITECTURES, direct_cost, small_limits
from recombine.lab.papers.reproduce import Order, from_results, reproduce
from recombine.lab.runs.executors import make_executor
from recombine.lab.runs.experiment import Unit
from recombine.lab.runs.store import Store
from recombine.lab.worlds.gated_problems import gated_problem
from recombine.tables.table import Table
from recombine.theory.gated import features as gated_features
from recombine.theory.gated.conic import least_effective_squares
from recombine.theory.gated.margin import largest_margin

PAPER = find("gated-linear")
RESULTS = Path(__file__).parents[4] / "results"
FAST = ["3", "5b", "8a"]


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
    rows = Table.from_rows(small_limits(Unit("limits", 1, {"problem": "toy"})))
    assert PAPER.claim("5b").read(rows).verdict is Standing.FAILS


def test_a_search_that_ends_at_zero_is_no_cost() -> None:
    # From this start all factors of the chain shrink to zero, which represents nothing.
    assert np.isnan(direct_cost(ARCHITECTURES["chain of three"], 5))


def test_least_effective_squares_asks_for_few_joint_contexts() -> None:
    with pytest.raises(InputError, match="too many"):
        least_effective_squares(np.ones((1, 1)), [1], np.zeros((1, 13), dtype=int), contexts=2)


def test_theory_run_anew_gives_the_stored_rows(tmp_path: Path) -> None:
    stored = from_results(PAPER, RESULTS, scale="quick")
    again = reproduce(Order(PAPER, only=FAST), Store(tmp_path), make_executor("inline"))
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
    from recombine.lab.papers.gated_linear.experiments.images import gated_networks

    setting = {"images": "digits", "sizes": [60, 100], "validation": 200, "layers": 2, "units": 6, "bits": 1}
    unit = Unit("two-layer", 1, setting | {"thresholds": "median", "momenta": [0.0, 0.9], "steps": 60, "seeds": [4]})
    rows, again = Table.from_rows(gated_networks(unit)), Table.from_rows(gated_networks(unit))
    assert all(np.array_equal(rows[name], again[name]) for name in rows.columns)
    own = rows.only(classifier="network")
    assert (own["inconsistency"] == 0).all()
    assert (own["reloaded"] > 0).all()
    # The limit does not depend on how the network was trained.
    group = rows.only(classifier="group", samples=60)
    assert len(set(group["error"].tolist())) == 1
    apart, bound = rows["inconsistency"], rows["error"] + rows["network error"]
    assert (apart <= bound + 1e-12).all()


def test_seeds_of_the_authors_give_their_hyperplanes_and_leave_the_generator_alone() -> None:
    torch = pytest.importorskip("torch")
    from recombine.lab.papers.gated_linear.experiments.authors import authors_contexts

    X = torch.linspace(-1, 1, 40).reshape(10, 4)
    torch.manual_seed(7)
    before = torch.get_rng_state()
    ids = authors_contexts(X, 3, 2, "random", seed=2)
    assert torch.equal(torch.get_rng_state(), before)
    # As the released class draws them: first weights of a layer, hyperplanes over them, then thresholds.
    torch.manual_seed(2)
    layer = torch.nn.Linear(4, 6, bias=False)
    torch.nn.init.normal_(layer.weight, std=36.0)
    limits = torch.nn.init.normal_(torch.zeros(3, 2), std=9.0)
    with torch.no_grad():
        bits = (layer(X).reshape(10, 3, 2) > limits).numpy()
    assert np.array_equal(ids, 2 * bits[:, :, 0] + bits[:, :, 1])


def test_networks_can_be_trained_on_the_authors_images() -> None:
    pytest.importorskip("torch")
    from recombine.lab.papers.gated_linear.experiments.authors import authors_split
    from recombine.lab.papers.gated_linear.experiments.images import problem_of
    from recombine.lab.worlds.images.sources import load_images

    setting = {"images": "digits", "sizes": [60], "validation": 100, "split": "authors"}
    halves, images = problem_of(setting), load_images("digits")
    train, validation = authors_split(len(images), 60, 100)
    rows = np.concatenate([train, validation])
    assert np.array_equal(halves.y, np.where(images.labels[rows] < 5, 1.0, -1.0))
    assert halves.validation.tolist() == list(range(60, 160))


@pytest.mark.parametrize(
    ("experiment", "function", "chosen"),
    [
        ("balance", gains.gains_by_balance, {"units": 10, "quantile": 0.85}),
        ("teachers", gains.gains_by_teacher, {"deciding": 5}),
    ],
)
def test_gains_run_anew_are_the_stored_ones(experiment: str, function: Callable[[Unit], Any], chosen: Any) -> None:
    planned = PAPER.by_name[experiment].settings("full")
    setting = next(unit for unit in planned if all(unit[name] == value for name, value in chosen.items()))
    again = Table.from_rows(function(Unit(experiment, 1, {**setting, "seeds": [3]})))
    stored = from_results(PAPER, RESULTS, scale="full").results[experiment].table.only(seed=3, **chosen)
    assert again["classifier"].tolist() == stored["classifier"].tolist()
    assert again["error"] == pytest.approx(stored["error"], abs=1e-9)


@pytest.mark.slow
def test_fewer_units_have_weights_where_fewer_decide() -> None:
    setting = {"units": 10, "inputs": 4, "sizes": [400], "validation": 500, "seeds": [0, 1, 2]}
    rows = {
        deciding: Table.from_rows(gains.gains_by_teacher(Unit("teachers", 1, {**setting, "deciding": deciding})))
        for deciding in (1, 10)
    }
    spread = {deciding: table.only(classifier="group")["spread"] for deciding, table in rows.items()}
    assert (spread[1] < spread[10]).all()
    # Norms of one group are not spread over units at all.
    assert rows[1].only(classifier="zeta")["spread"] == pytest.approx(1)
    group, plain = (rows[1].only(classifier=name)["error"] for name in ("group", "zeta"))
    assert (group < plain).all()


def test_gates_are_shut_as_often_as_asked() -> None:
    X = np.random.default_rng(0).normal(size=(200, 5))
    for quantile in (0.5, 0.8, 0.95):
        assert unbalanced(7, X, quantile, seed=1).ids(X).mean(axis=0) == pytest.approx(1 - quantile, abs=0.006)
