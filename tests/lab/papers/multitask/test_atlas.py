"""The atlas of scales: its problems and errors by other routes, and readings that can fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from multitask_rows import PAPER, bent, evidence, table_of, verdict

from recombine.lab.papers import Standing
from recombine.lab.papers.multitask.experiments import atlas
from recombine.lab.papers.multitask.experiments.atlas import BY_RULE, HELD_OUT, MADE_FOR, NOISE_SD, problems
from recombine.lab.papers.multitask.readings.atlas import constants, scales_by_task
from recombine.lab.report.figure import PaperFigure
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.bundled import bundled_inputs
from recombine.tables.table import Table
from recombine.theory.diagonal import predict

SETTING: dict[str, Any] = {"inputs": "breast cancer", "shares known": [0.25], "samples": [0.5], "seeds": [0]}


@pytest.fixture(scope="module")
def rows() -> Table:
    return Table.from_rows(atlas.atlas(Unit("test", 1, SETTING)))


def test_no_row_is_learned_from_and_tested_on_and_labels_have_their_noise() -> None:
    inputs = bundled_inputs("digits")
    for problem in problems({**SETTING, "inputs": "digits"}, seed=3):
        both = np.vstack([problem.X, problem.X_test])
        assert sorted(map(tuple, both)) == sorted(map(tuple, inputs))
        assert np.mean((inputs @ problem.auxiliary) ** 2) == pytest.approx(1)
        found = np.linalg.lstsq(problem.X_test, problem.y_test, rcond=None)[0]
        assert np.mean((inputs @ found) ** 2) == pytest.approx(1)
        assert 0.3 * NOISE_SD < np.std(problem.y - problem.X @ found) < 2 * NOISE_SD


def test_large_weights_from_scratch_end_at_the_least_squares_solution(rows: Table) -> None:
    for problem in problems(SETTING, seed=0):
        cells = rows.only(task=problem.task, readouts=atlas.ALONE)
        least = np.linalg.pinv(problem.X) @ problem.y
        largest = cells["error"][cells["log scale"] == atlas.LOG_READOUTS[-1]]
        assert largest == pytest.approx([problem.error(least)], rel=0.01)


def test_labels_of_another_size_are_read_off_shifted_scales(rows: Table) -> None:
    """Labels 100 times as large from a scale ten times as large end at 100 times the coefficients."""
    problem = next(iter(problems(SETTING, seed=0)))
    beta = predict(
        problem.X,
        targets=100 * problem.y,
        test=(problem.X_test, problem.y_test),
        auxiliary=problem.auxiliary,
        scaling=10.0,
        gamma=0.1,
    ).beta
    cells = rows.only(task=problem.task, readouts="0.01")
    assert cells["error"][cells["log scale"] == 0][0] == pytest.approx(problem.error(beta / 100), rel=1e-3)


@pytest.mark.slow
def test_trained_networks_end_where_theory_says() -> None:
    found = Table.from_rows(atlas.atlas_networks(Unit("test", 1, SETTING)))
    assert set(found["task"].tolist()) == set(MADE_FOR)
    assert found["trained"] == pytest.approx(found["theory"], rel=0.03)


def worse(wanted: str, task: str, factor: float) -> Callable[[Table], Any]:
    """Errors of one scale of the rule on one kind of task, times a factor."""

    def change(rows: Table) -> Any:
        there = (rows["readouts"] == BY_RULE) & (rows["wanted"] == wanted) & (rows["task"] == task)
        return np.where(there, factor * rows["error"], rows["error"])

    return change


def ruled(factor: float) -> Callable[[Table], Any]:
    return lambda rows: np.where(rows["readouts"] == BY_RULE, factor * rows["error"], rows["error"])


#: Claim -> a change that must turn it.
TURNED: dict[str, dict[str, Callable[[Table], Any]]] = {
    "33a": {"error": worse("nested", "few known", 10.0)},
    "33b": {"error": ruled(1.5)},
    "33c": {"error": ruled(1.5)},
    "33d": {"error": ruled(1.2)},
    "33e": {"left_out": lambda rows: -rows["error"]},
    "33f": {"known_in_use": lambda rows: 5 - 0.1 * rows["known in use"]},
    "34": {"trained": lambda rows: 1.02 * rows["trained"]},
}


@pytest.mark.parametrize("number", TURNED)
def test_claims_turn_with_their_rows(number: str) -> None:
    assert verdict(number, table_of(number)) is Standing.HOLDS
    assert verdict(number, bent(table_of(number), **TURNED[number])) is Standing.FAILS


def test_constants_are_chosen_apart_from_what_judges() -> None:
    rows = table_of("33b")
    held_out = np.isin(rows["inputs"], HELD_OUT)
    noise = np.random.default_rng(0).uniform(0.1, 10, len(rows))
    assert constants(rows) == constants(bent(rows, error=lambda rows: np.where(held_out, noise, rows["error"])))


def test_a_lead_is_that_over_the_next_best() -> None:
    rows = table_of("33a")
    flat = bent(rows, error=lambda rows: np.where(rows["readouts"] == BY_RULE, 1.0, rows["error"]))
    led = bent(flat, error=worse("ridge", "all features", 0.5))
    numbers = scales_by_task(led).numbers
    assert numbers["won by the scale made for them"] == len(HELD_OUT)
    assert numbers["least lead"] == pytest.approx(1)


def test_the_figure_counts_the_rows_that_their_own_scale_wins() -> None:
    plot = next(plot for plot in PAPER.figures if plot.name == "atlas")
    rows = bent(table_of("33a"), error=worse("lazy", "all known", 100.0))
    figure = PaperFigure(plot, {"atlas": evidence("atlas", "full", rows)})
    assert "in 6 of 8 rows" in figure.alternative
    assert len(figure.draw().axes) == len(HELD_OUT) + 1
