"""What a coordinate costs, how the price grows, and the regimes that follow."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.theory.diagonal.penalties import Potential, bending_scale, group_norm
from recombine.theory.diagonal.regimes import (
    finetune_penalty,
    multitask_penalty,
    regime,
    scaling_of_order,
)

MAGNITUDES = np.logspace(-4, 2, 7)

#: Of the order of each penalty at beta = 1 and B = 1e-4 ... 100.
ORDERS = {
    ("mtl", "symmetric"): (1.0001, 1.0010, 1.0100, 1.0995, 1.7071, 1.9950, 1.9999),
    ("pt+ft", "symmetric"): (1.1123, 1.1513, 1.2298, 1.4323, 1.8867, 1.9983, 2.0000),
    ("pt+ft", "exact"): (1.1042, 1.1370, 1.1991, 1.3474, 1.7486, 1.9935, 1.9999),
}

positive = st.floats(1e-3, 1e2)


def exponents(beta: float, B: float, method: str = "pt+ft", **options: object) -> tuple[float, float]:
    """Order and feature dependence: slopes of the penalty's logarithm in those of beta and of B."""
    penalty, step = (multitask_penalty if method == "mtl" else finetune_penalty), 1e-5

    def slope(first: float, second: float) -> float:
        up = penalty(beta * np.exp(first), B * np.exp(second), **options)
        down = penalty(beta * np.exp(-first), B * np.exp(-second), **options)
        return float(np.log(up / down)) / (2 * step)

    return slope(step, 0), slope(0, step)


@pytest.mark.parametrize(
    ("beta", "B", "gamma", "value"),
    [
        (1, 1, 0, 0.934320049),
        (1, 1e-3, 1e-3, 13.2018074),
        (0.1, 1, 0, 0.00999169156),
        (2, 0.5, 0.1, 5.19404807),
        (1, 1000, 1e-3, 9.99999916e-4),
    ],
)
def test_the_symmetric_penalty_has_its_reference_values(beta: float, B: float, gamma: float, value: float) -> None:
    assert float(finetune_penalty(beta, B, gamma=gamma, form="symmetric")) == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize(("method", "form"), ORDERS)
def test_orders_are_those_of_the_table(method: str, form: str) -> None:
    choice = {} if method == "mtl" else {"form": form}
    orders = [exponents(1.0, B, method, **choice)[0] for B in MAGNITUDES]
    assert orders == pytest.approx(ORDERS[method, form], abs=5.1e-5)


def test_orders_at_other_places() -> None:
    assert exponents(0.1, 1.0, form="symmetric")[0] == pytest.approx(1.998342, abs=5e-7)
    assert exponents(2.0, 0.5, "mtl")[0] == pytest.approx(1.242536, abs=5e-7)


@given(positive, positive, positive)
def test_order_and_feature_dependence_add_to_one_where_nothing_else_sets_a_scale(
    beta: float, B: float, m: float
) -> None:
    for form in ("symmetric", "exact"):
        assert sum(exponents(beta, B, scaling=m, form=form)) == pytest.approx(1, abs=1e-6)
    assert sum(exponents(beta, B, "mtl")) == pytest.approx(1, abs=1e-6)


def test_readouts_break_the_conservation_law() -> None:
    total = sum(exponents(1.0, 1e-3, gamma=1e-3, form="symmetric"))
    assert total == pytest.approx(1.000151, abs=5e-7)


@given(st.floats(-3, 3), st.floats(-3, 3), positive, positive, st.sampled_from(["symmetric", "exact"]))
def test_the_penalty_is_twice_the_potential_without_its_slope(
    beta: float, B: float, alpha: float, gamma: float, form: str
) -> None:
    potential = Potential.finetuned(B, alpha, 0.5, gamma, form)
    price = finetune_penalty(beta, B, alpha=alpha, scaling=0.5, gamma=gamma, form=form)
    assert float(price) == pytest.approx(2 * float(potential([beta]) + potential.tilt[0] * beta), rel=1e-9, abs=1e-12)


def test_a_feature_that_nothing_has_touched_costs_without_bound_and_is_chosen_as_by_lasso() -> None:
    for form in ("exact", "symmetric"):
        assert float(bending_scale(0.0, alpha=0.0, form=form)) == 0
        assert finetune_penalty([1.0, 0.0], 0.0, form=form).tolist() == [np.inf, 0.0]


@pytest.mark.parametrize("beta", [1e-170, 1e-300])
def test_tiny_coefficients_are_treated_as_by_ridge(beta: float) -> None:
    found = regime(1.0, beta)
    # Both penalties are quadratic there, beta^2 / k.
    assert (found.name, found.order, found.ratio) == ("lazy", pytest.approx(2), pytest.approx(found.known / found.new))


def test_multi_task_penalties_and_norms() -> None:
    assert multitask_penalty([1, 2], [1, 0.5]) == pytest.approx([0.414213562, 1.56155281])
    assert float(multitask_penalty(1e-9, 1.0)) == pytest.approx(5e-19)
    beta = np.array([[1.0, 1.0], [2.0, 0.5]])
    known = np.abs(beta[:, 1]).sum()
    assert float(group_norm(beta) - known) == pytest.approx(float(multitask_penalty(beta[:, 0], beta[:, 1]).sum()))


def test_rescaling_moves_a_pretrained_feature_from_lazy_to_nested_and_large_readouts_make_it_rich() -> None:
    known = 40**-0.5
    names = [regime(known, known, scaling=m, gamma=1e-3 * m).name for m in (100.0, 1.0, 0.1, 0.01, 1e-3)]
    assert names == ["lazy", "lazy", "nested", "nested", "nested"]
    assert regime(known, known, scaling=0.01, gamma=0.03).name == "rich"
    assert regime(known, known, gamma=10.0).name == "lazy"


def test_regimes_of_arrays_are_those_of_their_entries() -> None:
    B, beta = np.array([0.1, -1.0, 3.0])[:, None], np.array([0.01, -0.5, 2.0, 40.0])
    m = np.array([1.0, 0.1, 1e-3, 10.0])
    found = regime(B, beta, scaling=m, gamma=0.01 * m, alpha=0.02)
    for place in np.ndindex(3, 4):
        about = {"scaling": m[place[1]], "gamma": 0.01 * m[place[1]], "alpha": 0.02}
        one = regime(float(B[place[0], 0]), float(beta[place[1]]), **about)
        assert one.name == found.name[place]
        assert [one.order, one.ratio, one.known, one.new] == pytest.approx(
            [found.order[place], found.ratio[place], found.known[place], found.new[place]]
        )
    # A route of its own: slopes of the penalty's logarithm, and penalties of both features.
    known = finetune_penalty(beta, B, alpha=0.02, scaling=0.5, gamma=0.03)
    more = finetune_penalty(beta * 1.0001, B, alpha=0.02, scaling=0.5, gamma=0.03)
    fixed = regime(B, beta, alpha=0.02, scaling=0.5, gamma=0.03)
    assert fixed.order == pytest.approx(np.log(more / known) / np.log(1.0001), abs=1e-4)
    new = finetune_penalty(beta, np.zeros_like(B), alpha=0.02, scaling=0.5, gamma=0.03)
    assert fixed.ratio == pytest.approx(new / known)


@pytest.mark.parametrize("order", [1.01, 1.2, 1.5, 1.9, 1.99])
def test_the_scaling_of_an_order_makes_penalties_of_that_order(order: float) -> None:
    m = scaling_of_order(order, auxiliary=-0.3, beta=2.0, alpha=0.05, gamma=0.02)
    start = {"alpha": 0.05, "scaling": m, "gamma": 0.02 * m}
    less, more = (float(finetune_penalty(2.0 * factor, -0.3, **start)) for factor in (0.999, 1.001))
    assert np.log(more / less) / np.log(1.001 / 0.999) == pytest.approx(order, abs=1e-5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: multitask_penalty(np.nan, 1.0), "beta are not all finite"),
        (lambda: finetune_penalty([1.0, 2.0], [1.0, 2.0, 3.0]), "auxiliary (3,)"),
        (lambda: finetune_penalty(1.0, 1.0, form="exac"), "did you mean 'exact'"),
        (lambda: finetune_penalty(1.0, 1.0, gamma=-1.0), "gamma is -1.0"),
        (lambda: regime(1.0, np.nan), "beta are not all finite"),
        (lambda: regime(np.inf, 1.0), "auxiliary are not all finite"),
        (lambda: regime(np.ones(3), np.ones(2)), "auxiliary (3,), beta (2,)"),
        (lambda: regime(np.ones(3), [1.0, 0.0, 1.0]), "beta is 0 and auxiliary 1 at [1]"),
        (
            lambda: regime([1.0, 0.0], 1.0, names=["age", "dose"]),
            "beta is 1 and auxiliary 0 for 'dose'; regimes are about features that both tasks use, so leave out those",
        ),
        (lambda: regime(1.0, 1.0, scaling=[1.0, -2.0]), "scaling[1] is -2"),
        (lambda: scaling_of_order(2.0, 1.0, 1.0), "order is 2.0"),
        (lambda: scaling_of_order(1.001, 1.0, 1.0), "order is 1.001"),
        (lambda: scaling_of_order(1.5, 1.0, 0.0), "beta is 0"),
        (lambda: scaling_of_order(1.5, 0.0, 1.0, alpha=0.0, gamma=0.0), "auxiliary, alpha and gamma are all 0"),
        (lambda: regime(0.0, 1.0), "features that both tasks use"),
        (
            lambda: regime(1.0, 1.0, alpha=0.0, gamma=0.0),
            "give gamma, or both alpha and scaling, above 0",
        ),
        (
            lambda: regime(1.0, 1.0, scaling=0.0, gamma=0.0),
            "give gamma, or both alpha and scaling, above 0",
        ),
    ],
)
def test_bad_input_is_named(call: object, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        call()  # type: ignore[operator]
