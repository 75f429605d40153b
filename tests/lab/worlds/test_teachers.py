"""Teachers of two tasks: what they share, how large they are, and that seeds fix them."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.lab.worlds.teachers import linear_teachers, relu_teachers, sphere_inputs


@pytest.mark.parametrize(("main", "shared"), [(40, 40), (40, 20), (5, 5), (5, 0)])
def test_linear_teachers_share_what_they_should(main: int, shared: int) -> None:
    pair = linear_teachers(3, main=main, shared=shared)
    assert np.count_nonzero(pair.main) == main
    common = (pair.main != 0) & (pair.auxiliary != 0)
    assert common.sum() == shared
    assert np.all(np.sign(pair.main[common]) == np.sign(pair.auxiliary[common]))
    assert pair.power == pytest.approx(1)
    assert np.sum(pair.auxiliary**2) == pytest.approx(1)


def test_the_auxiliary_teacher_does_not_depend_on_the_main_one() -> None:
    assert np.array_equal(linear_teachers(1, shared=0).auxiliary, linear_teachers(1, main=5, shared=5).auxiliary)
    assert not np.array_equal(linear_teachers(1).auxiliary, linear_teachers(2).auxiliary)


def test_inputs_have_unit_covariance_and_differ_between_purposes() -> None:
    main, test = (sphere_inputs(0, purpose, 20_000, 5) for purpose in ("main inputs", "test inputs"))
    assert np.abs(main.T @ main / len(main) - np.eye(5)).max() < 0.05
    assert not np.any(main == test)


def test_relu_teachers_have_unit_rows_and_the_wanted_cosines() -> None:
    first, second = relu_teachers(0, [1, 1, 0.9, 0.9, 0, 0])
    assert first.weights @ first.weights.T == pytest.approx(np.eye(6), abs=1e-12)
    assert second.weights @ second.weights.T == pytest.approx(np.eye(6), abs=1e-12)
    assert np.diag(first.weights @ second.weights.T) == pytest.approx([1, 1, 0.9, 0.9, 0, 0], abs=1e-12)
    assert np.sum(second.readouts**2) == pytest.approx(1)
    assert np.abs(relu_teachers(0, [1.0, 1.0], magnitude=0.5)[1].readouts) == pytest.approx([0.5, 0.5])


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match="do not fit into 50"):
        linear_teachers(0, dimension=50, active=40, main=40, shared=0)
    with pytest.raises(InputError, match=r"shared is 11, .* share at most 10"):
        linear_teachers(0, main=10, shared=11)
    with pytest.raises(InputError, match=r"shared is 6, .* share at most 5"):
        linear_teachers(0, active=5, shared=6)
    with pytest.raises(InputError, match="do not fit 6 units"):
        relu_teachers(0, [1.0] * 7)
    with pytest.raises(InputError, match="purpose 'train' is unknown"):
        sphere_inputs(0, "train", 1, 1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sphere_inputs(0, "main inputs", -1, 5), "samples is -1"),
        (lambda: sphere_inputs(0, "main inputs", 2.5, 5), "samples is 2.5"),
        (lambda: sphere_inputs(0, "main inputs", 2, 0), "dimension is 0"),
        (lambda: linear_teachers(0, shared=2.5), "shared is 2.5"),
        (lambda: linear_teachers(0, magnitude=np.nan), "magnitude is nan"),
        (lambda: relu_teachers(0, 0.9), "give a list"),
        (lambda: relu_teachers(0, [2.0]), "from -1 to 1"),
        (lambda: relu_teachers(0, [np.nan]), "correlations are not all finite"),
        (lambda: relu_teachers(0, ["a"]), "correlations are not real numbers"),
        (lambda: relu_teachers(0, [1.0], magnitude=np.inf), "magnitude is inf"),
        (lambda: relu_teachers(0, [1.0])[0](np.ones((2, 3))), "give (N, 15)"),
        (lambda: relu_teachers(0, [1.0])[0](np.full((2, 15), np.nan)), "inputs are not all finite"),
    ],
)
def test_numbers_that_are_none_are_named(call: Callable[[], object], words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        call()
