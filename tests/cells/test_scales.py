"""Scales against SciPy's splines and interpolation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from recombine.cells.scaled import ScaledConjunctions, additive_model
from recombine.cells.scales import MAX_KNOTS, place_levels
from recombine.errors import InputError


@pytest.mark.parametrize("seed", range(20))
def test_ordered_weights_interpolate_between_seen_neighbours(seed: int) -> None:
    generator = np.random.default_rng(seed)
    places = generator.permutation(100)[:12].tolist()
    seen = generator.random(12) < 0.6
    seen[:2] = True
    scale = place_levels("ordered", places, seen)
    at = np.array(places)[scale.knots]
    assert list(at) == sorted(np.array(places)[seen])
    effects = dict(zip(scale.knots.tolist(), generator.normal(size=len(at)), strict=True))
    inside = ~scale.beyond
    found = (scale.weights * np.vectorize(effects.get)(scale.slots)).sum(axis=1)
    wanted = np.interp(places, at, [effects[knot] for knot in scale.knots.tolist()])
    np.testing.assert_allclose(found[inside], wanted[inside], atol=1e-12)
    assert scale.beyond.tolist() == [not min(at) <= place <= max(at) for place in places]


@pytest.mark.parametrize("count", [4, 6, 7, 12, 13, 60])
def test_numeric_weights_are_those_of_the_natural_cubic_spline(count: int) -> None:
    generator = np.random.default_rng(count)
    places = sorted({int(place) for place in generator.integers(0, 10_000, size=count)})
    scale = place_levels("numeric", places, [True] * len(places))
    at = np.array(places)[scale.knots]
    assert (at[0], at[-1]) == (places[0], places[-1])
    assert 3 <= len(at) <= MAX_KNOTS
    effects = generator.normal(size=len(at))
    wanted = CubicSpline(at, effects, bc_type="natural")(places)
    np.testing.assert_allclose(scale.weights @ effects, wanted, atol=1e-9)


@pytest.mark.parametrize("kind", ["ordered", "numeric"])
def test_weights_add_up_to_one_exactly(kind: str) -> None:
    places = [Fraction(place, 7) for place in range(0, 90, 4)]
    scale = place_levels(kind, places, [place % 3 == 0 for place in range(len(places))])  # type: ignore[arg-type]
    assert {sum(scale.shares(level)) for level in range(len(places))} == {1}


def test_few_values_carry_a_straight_line() -> None:
    scale = place_levels("numeric", [0, 3, 4, 2], [True, True, True, False])
    assert scale.knots.tolist() == [0, 2]
    assert scale.shares(3) == (Fraction(1, 2), Fraction(1, 2))


def test_levels_are_ordered_by_place() -> None:
    assert place_levels("ordered", [5, 1, 3], [True] * 3).in_order.tolist() == [1, 2, 0]
    assert place_levels("ordered", [5, 1, 3], [True] * 3).ends == (1, 0)


def test_two_seen_levels_at_one_place_and_none_at_all_are_refused() -> None:
    with pytest.raises(InputError, match="same place"):
        place_levels("ordered", [1, 1], [True, True])
    with pytest.raises(InputError, match="at least one seen level"):
        place_levels("ordered", [1, 2], [False, False])


def test_a_scale_must_fit_its_factor() -> None:
    scale = place_levels("ordered", [0, 1, 2], [True, False, True])
    with pytest.raises(InputError, match="has 3 levels, not 2"):
        additive_model((2, 2), scales=(None, scale))
    with pytest.raises(InputError, match="1 scales for 2 factors"):
        additive_model((3, 2), scales=(scale,))


def test_all_seen_levels_of_an_ordered_factor_are_labels() -> None:
    """Nothing is assumed of seen levels, so the model is that of labels."""
    scale = place_levels("ordered", [0, 1, 2], [True] * 3)
    assert not isinstance(additive_model((3, 2), scales=(scale, None)), ScaledConjunctions)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_rows_values_and_fractions_agree(order: int) -> None:
    generator = np.random.default_rng(order)
    scales = (
        place_levels("numeric", list(range(8)), [True] * 8),
        None,
        place_levels("ordered", [0, 4, 1], [True, True, False]),
    )
    model = ScaledConjunctions((8, 3, 3), order, scales=scales)
    cells = np.stack([generator.integers(size, size=30) for size in (8, 3, 3)], axis=1)
    rows, table = model.incidence(cells), generator.normal(size=model.columns)
    np.testing.assert_allclose(model.values(table, cells), rows @ table, atol=1e-12)
    for row, exact in zip(rows.toarray(), model.fractions(cells), strict=True):
        np.testing.assert_allclose(row[list(exact)], [float(weight) for weight in exact.values()], atol=1e-12)
        assert np.count_nonzero(np.abs(row) > 1e-12) == len(exact)
    assert model.occurring(cells).tolist() == np.unique(rows.indices).tolist()
    assert model.rank == np.linalg.matrix_rank(model.incidence(np.indices((8, 3, 3)).reshape(3, -1).T).toarray())
