"""Small cases of `recombine.checks`, each as a reader would try it."""

from __future__ import annotations

import re

import numpy as np
import pytest

from recombine.checks import check_bounds, known_or_refuse, real, reals, whole
from recombine.errors import InputError
from recombine.sample_checks import (
    broadcast,
    call,
    callable_or_refuse,
    generator,
    moderate,
    of_kind,
    reachable,
    samples,
    task_samples,
    wholes,
)


def test_whole_by_example() -> None:
    assert (whole(np.int64(3), "units")) == 3
    with pytest.raises(InputError, match=re.escape("dimensions is 1.5; give a whole number of at least 1")):
        whole(1.5, "dimensions")


def test_wholes_by_example() -> None:
    with pytest.raises(InputError, match=re.escape("seeds[1] is -1; give a whole number of at least 0")):
        wholes([0, -1], "seeds", at_least=0)


def test_real_by_example() -> None:
    with pytest.raises(InputError, match=re.escape("width is 'wide'; give a finite number above 0")):
        real("wide", "width", above=0)
    with pytest.raises(InputError, match=re.escape("width is -1; give a finite number of at least 0 and below 2")):
        real(-1, "width", at_least=0, below=2)


def test_check_bounds_by_example() -> None:
    with pytest.raises(InputError, match=re.escape("prices[1] is -2; give numbers above 0")):
        check_bounds(np.array([1.0, -2.0]), "prices", above=0)


def test_of_kind_by_example() -> None:
    with pytest.raises(InputError, match=re.escape("recipe is 'adam'; give a dict")):
        of_kind("adam", "recipe", dict)


def test_known_or_refuse_by_example() -> None:
    message = "form 'exac' is unknown; did you mean 'exact'? Forms: exact, symmetric"
    with pytest.raises(InputError, match=re.escape(message)):
        known_or_refuse("exac", "form", ("exact", "symmetric"))


def test_reals_by_example() -> None:
    message = "weights are not all finite: [0, 1] is nan; replace or leave out what is missing"
    with pytest.raises(InputError, match=re.escape(message)):
        reals([[1.0, float("nan")]], "weights")


def test_moderate_by_example() -> None:
    message = (
        "inputs reach 1e+200, so that powers of them overflow or vanish; rescale them: the largest may "
        "be from 1e-30 to 1e+30"
    )
    with pytest.raises(InputError, match=re.escape(message)):
        moderate([1e200], "inputs")


def test_broadcast_by_example() -> None:
    assert ([array.shape for array in broadcast(beta=1.0, auxiliary=[1.0, 2.0])]) == [(2,), (2,)]
    message = "beta (2,), auxiliary (3,) do not fit each other; give arrays of one shape, or numbers"
    with pytest.raises(InputError, match=re.escape(message)):
        broadcast(beta=[1.0, 2.0], auxiliary=[1.0, 2.0, 3.0])


def test_samples_by_example() -> None:
    message = "inputs of task 0 have shape (1, 2) and targets (2,); give (n, D) and (n,), n at least 1"
    with pytest.raises(InputError, match=re.escape(message)):
        samples([[1.0, 2.0]], [1.0, 2.0], of=" of task 0")


def test_task_samples_by_example() -> None:
    message = "inputs of task 1 have shape (1, 1) and targets (1,); give (n, 2) and (n,), n at least 1"
    with pytest.raises(InputError, match=re.escape(message)):
        task_samples([([[1.0, 2.0]], [1.0]), ([[1.0]], [1.0])])


def test_reachable_by_example() -> None:
    message = (
        "the targets of task 0 cannot be reached: no coefficients of the 1 inputs come closer than about"
        " 2.5e-01 of the largest; drop samples that contradict each other or add inputs"
    )
    with pytest.raises(InputError, match=re.escape(message)):
        reachable(np.ones((2, 1)), np.array([1.0, 2.0]), of=" of task 0")


def test_generator_by_example() -> None:
    message = "seed is 'today'; give a whole number from 0 up, or a numpy Generator"
    with pytest.raises(InputError, match=re.escape(message)):
        generator("today")


def test_call_by_example() -> None:
    message = "component 1 raised KeyError: 'x'; try it alone on arrays of such shapes"
    with pytest.raises(InputError, match=re.escape(message)):
        call(lambda z: z["x"], "component 1", {})


def test_callable_or_refuse_by_example() -> None:
    message = "the composition is 3, which cannot be called; give a function"
    with pytest.raises(InputError, match=re.escape(message)):
        callable_or_refuse(3, "the composition")
