"""Diagonal networks: the two arrays are the four weights, columns do not meet, training ends where theory says."""

from __future__ import annotations

import re
import runpy
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from recombine.errors import InputError, SolverError
from recombine.lab.nets.by_hand.diagonal import Schedule, multi_task, reduce_weights, single_task
from recombine.lab.nets.by_hand.diagonal_training import train_diagonal
from recombine.lab.worlds.teachers import linear_teachers, sphere_inputs
from recombine.theory.diagonal.flow import Weights, gradient_descent, gradient_flow
from recombine.theory.diagonal.generalization import predict
from recombine.theory.diagonal.penalties import pretrained_weights

BENCHMARK = runpy.run_path(str(Path(__file__).parents[4] / "benchmarks" / "diagonal.py"), run_name="benchmark")
SMALL = {"dimension": 60, "active": 6}


def autograd(X: np.ndarray, y: np.ndarray, parts: list[np.ndarray], rate: float, steps: int) -> np.ndarray:
    """Plain gradient descent on the four weights of one network, by torch."""
    wp, wm, vp, vm = leaves = [torch.tensor(part, requires_grad=True) for part in parts]
    inputs, targets = torch.tensor(X), torch.tensor(y)
    for _ in range(steps):
        loss = (inputs @ (wp * vp - wm * vm) - targets).square().mean()
        slopes = torch.autograd.grad(loss, leaves)
        with torch.no_grad():
            for leaf, slope in zip(leaves, slopes, strict=True):
                leaf -= rate * slope
    return (wp * vp - wm * vm).detach().numpy()


def test_two_arrays_take_the_steps_of_four_weights() -> None:
    rng = np.random.default_rng(0)
    X, truth = rng.standard_normal((5, 8)), rng.standard_normal(8)
    parts = list(rng.standard_normal((4, 8)) / 2)
    columns = single_task(X, truth[:, None], tuple(part[:, None] for part in reduce_weights(*parts)))
    for _ in range(40):
        columns.step(torch.tensor([0.01], dtype=torch.float64))
    assert columns.beta[:, 0].numpy() == pytest.approx(autograd(X, X @ truth, parts, 0.01, 40), abs=1e-12)


def test_multi_task_steps_are_gradient_descent_on_all_samples() -> None:
    rng = np.random.default_rng(0)
    X, X1, truth, known = rng.standard_normal((3, 6)), rng.standard_normal((9, 6)), *rng.standard_normal((2, 6))
    columns = multi_task(X, truth[:, None], X1, known, alpha=0.3)
    for _ in range(30):
        columns.step(torch.tensor([0.05], dtype=torch.float64))
    # The oracle descends on half the sum of squares, this on the mean over twelve samples.
    end = gradient_descent([(X, X @ truth), (X1, X1 @ known)], Weights.alike(6, 0.3, outputs=2), 0.05 * 2 / 12, 30)
    assert columns.beta[:, 0].numpy() == pytest.approx(end.beta[:, 0], abs=1e-12)
    assert columns.other[:, 0].numpy() == pytest.approx(end.beta[:, 1], abs=1e-12)
    total = np.sum((X @ (end.beta[:, 0] - truth)) ** 2) + np.sum((X1 @ (end.beta[:, 1] - known)) ** 2)
    assert float(columns.loss()[0]) == pytest.approx(total / 12)


@pytest.fixture(scope="module")
def world() -> tuple[np.ndarray, list]:
    return sphere_inputs(0, "main inputs", 16, 60), [linear_teachers(0, main=6, shared=s, **SMALL) for s in (6, 3, 0)]


def starts(pair: object, gamma: float = 0.2) -> tuple[np.ndarray, np.ndarray]:
    plus, minus = (part[:, None] for part in pretrained_weights(pair.auxiliary, 0.2))  # type: ignore[attr-defined]
    return reduce_weights(plus, minus, gamma, gamma)


def test_slow_training_ends_where_theory_says(world: tuple[np.ndarray, list]) -> None:
    X, pairs = world
    teachers = np.stack([pair.main for pair in pairs], axis=1)
    found = train_diagonal(single_task(X, teachers, starts(pairs[0])), Schedule(rate=0.05, stop=1e-14))
    assert found.stopped.all()
    for place, pair in enumerate(pairs):
        theory = predict(X, pair.main, auxiliary=pair.auxiliary, alpha=0.2, gamma=0.2)
        assert found.beta[:, place] == pytest.approx(theory.beta, abs=5e-3)
        assert found.test[place] == pytest.approx(theory.test_loss, rel=0.02, abs=1e-4)


def test_smaller_steps_come_closer_in_proportion(world: tuple[np.ndarray, list]) -> None:
    X, pairs = world
    theory = predict(X, pairs[1].main, auxiliary=pairs[1].auxiliary, alpha=0.2, gamma=0.2).beta
    miss = [
        np.abs(
            train_diagonal(single_task(X, pairs[1].main[:, None], starts(pairs[1])), Schedule(rate, stop=1e-14)).beta[
                :, 0
            ]
            - theory
        )
        for rate in (0.1, 0.05)
    ]
    assert miss[0].max() / miss[1].max() == pytest.approx(2, rel=0.2)


def test_columns_do_not_meet_whoever_else_stops_or_diverges(world: tuple[np.ndarray, list]) -> None:
    X, pairs = world
    teachers = np.stack([pairs[0].main, 50 * pairs[1].main, pairs[2].main], axis=1)
    schedule = Schedule(rate=0.1, steps=3000)
    together = train_diagonal(single_task(X, teachers, starts(pairs[0])), schedule)
    assert together.rate[1] < 0.1 == together.rate[0]
    for place in range(3):
        alone = train_diagonal(single_task(X, teachers[:, [place]], starts(pairs[0])), schedule)
        assert alone.beta[:, 0] == pytest.approx(together.beta[:, place], abs=1e-9)
        assert alone.steps[0] == together.steps[place]
        assert alone.best[0] == pytest.approx(together.best[place])


def test_the_best_loss_on_the_way_can_be_lower_than_the_last() -> None:
    pair = linear_teachers(0, main=40, shared=0)
    plus, minus = (part[:, None] for part in pretrained_weights(pair.auxiliary, 1e-3))
    columns = single_task(
        sphere_inputs(0, "main inputs", 16, 1000), pair.main[:, None], reduce_weights(plus, minus, 1e-3, 1e-3)
    )
    found = train_diagonal(columns, Schedule(steps=2000, stop=1e-6))
    assert found.best[0] < 0.7 * found.test[0]


@pytest.mark.slow
def test_multi_task_training_follows_its_flow() -> None:
    pair = linear_teachers(0, dimension=12, active=3, main=3, shared=3)
    X, X1 = sphere_inputs(0, "main inputs", 4, 12), sphere_inputs(0, "auxiliary inputs", 24, 12)
    found = train_diagonal(
        multi_task(X, pair.main[:, None], X1, pair.auxiliary, alpha=0.2), Schedule(0.1, 20_000, 1e-13)
    )
    flow = gradient_flow(
        [(X, X @ pair.main), (X1, X1 @ pair.auxiliary)], Weights.alike(12, 0.2, outputs=2), tolerance=1e-9
    )
    assert found.stopped.all()
    assert found.beta[:, 0] == pytest.approx(flow.beta[:, 0], abs=2e-2)


def test_short_floats_agree_until_their_floor(world: tuple[np.ndarray, list]) -> None:
    X, pairs = world
    teachers = np.stack([pair.main for pair in pairs], axis=1)
    found = [
        train_diagonal(single_task(X, teachers, starts(pairs[0]), dtype=dtype), Schedule(steps=2000, stop=1e-9))
        for dtype in ("float32", "float64")
    ]
    assert found[0].beta == pytest.approx(found[1].beta, abs=1e-4)


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match="a column per network"):
        single_task(np.eye(3), np.ones(3), (1.0, 1.0))
    with pytest.raises(InputError, match="dtype 'half'"):
        single_task(np.eye(3), np.ones((3, 1)), (1.0, 1.0), dtype="half")
    for bad in ({"rate": 0.0}, {"rate": np.inf}, {"steps": 2.5}, {"steps": 0}, {"stop": np.nan}):
        with pytest.raises(InputError, match="cannot be followed"):
            Schedule(**bad)


START = (np.ones((3, 1)), np.ones((3, 1)))


@pytest.mark.parametrize(
    ("inputs", "teachers", "start", "message"),
    [
        (np.full((2, 3), np.nan), np.ones((3, 2)), START, "inputs hold a number that is not finite"),
        (np.eye(3), np.full((3, 2), np.inf), START, "teachers hold a number that is not finite"),
        (np.eye(3), np.ones((3, 2)), (np.full((3, 1), 1e300),) * 2, "up hold a number that is not finite in float32"),
        ([["a", "b", "c"]], np.ones((3, 2)), START, "inputs are not real numbers"),
        (np.eye(3)[:0], np.ones((3, 2)), START, "at least one"),
        (np.eye(3), np.ones((3, 2)), (np.ones((4, 1)),) * 2, r"start has shape \(4, 1\); give \(3, 2\)"),
        (np.eye(3), np.ones((3, 2)), (np.ones((3, 3)),) * 2, r"start has shape \(3, 3\)"),
        (np.eye(3), np.ones((3, 3)), (np.ones(3),) * 2, r"start has shape \(3,\)"),
    ],
)
def test_networks_that_cannot_be_made_are_named(inputs: object, teachers: object, start: tuple, message: str) -> None:
    with pytest.raises(InputError, match=message):
        single_task(inputs, teachers, start, dtype="float32")


@pytest.mark.parametrize(
    ("others", "known", "alpha", "message"),
    [
        (np.eye(3), np.ones(2), 0.1, r"auxiliary \(2,\); give \(n1, 3\) and \(3,\)"),
        (np.eye(3), np.ones((3, 1)), 0.1, r"auxiliary \(3, 1\)"),
        (np.eye(4), np.ones(3), 0.1, r"others are \(4, 4\)"),
        (np.eye(3), [1, np.nan, 1], 0.1, "auxiliary hold a number that is not finite"),
        (np.eye(3), np.ones(3), 0.0, "alpha is 0"),
        (np.eye(3), np.ones(3), np.nan, "alpha is nan"),
    ],
)
def test_auxiliary_tasks_that_do_not_fit_are_named(others: object, known: object, alpha: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        multi_task(np.eye(3), np.ones((3, 1)), others, known, alpha=alpha)


def test_networks_that_diverge_at_every_rate_end_in_an_error() -> None:
    up = np.array([[1.0, 0.0]] * 3)  # weights of 0 never move
    columns = single_task(np.eye(3), np.array([[1.0, 50.0]] * 3), (up, up))
    with pytest.raises(SolverError, match=r"1 of 2 networks still have a loss above 100 at a rate of 1e-0[89]"):
        train_diagonal(columns, Schedule(steps=500))


def test_steps_are_counted_in_whole_looks() -> None:
    columns = single_task(np.eye(3), np.ones((3, 1)), START)
    assert train_diagonal(columns, Schedule(rate=1e-6, steps=70)).steps.tolist() == [100]


def test_training_cut_short_is_scaled_up_to_all_its_steps(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def cut(*_: object) -> SimpleNamespace:
        time.sleep(0.1)
        return SimpleNamespace(steps=[5000], stopped=[False], loss=[1e-6], test=[1e-4])

    monkeypatch.setitem(BENCHMARK["main"].__globals__, "train_diagonal", cut)
    BENCHMARK["theory_beside_training"](5000)
    text = capsys.readouterr().out
    assert "time scaled up to the 62,800" in text
    theory, training = (float(number) for number in re.findall(r"^(?:theory|gradient descent) +([\d.]+)", text, re.M))
    assert training >= 0.1 * 62_800 / 5000
    ratio = float(re.search(r"theory is ([\d,]+) times", text)[1].replace(",", ""))
    assert ratio == pytest.approx(training / theory, rel=0.1)


def test_the_study_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(BENCHMARK["main"].__globals__, "ProcessPoolExecutor", ThreadPoolExecutor)
    monkeypatch.setitem(BENCHMARK["main"].__globals__, "_part", lambda _: (67, 30))
    BENCHMARK["study"](1)
    said = capsys.readouterr()
    assert said.err.splitlines()[-1] == "72 of 72 parts of the study"
    assert "4,824 predictions (2,160 cone programs)" in said.out
