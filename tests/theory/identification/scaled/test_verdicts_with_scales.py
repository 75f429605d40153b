"""Verdicts with ordered and numeric factors against rational rank, worked out here from other bases."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from recombine.cells import Possible
from recombine.cells.scaled import ScaledConjunctions
from recombine.cells.scales import Scale, place_levels
from recombine.errors import InputError, SolverError
from recombine.theory.identification.identify import Identification, identify
from recombine.theory.identification.scaled.leverage import ScaledLeverage
from recombine.verdicts import Verdict

Row = list[Fraction]


def hats(knots: list[Fraction], x: Fraction) -> Row:
    """Piecewise linear functions by |x - knot|, rather than by the two neighbours."""
    return [Fraction(1), x, *(abs(x - knot) for knot in knots[1:-1])] if len(knots) > 1 else [Fraction(1)]


def natural(knots: list[Fraction], x: Fraction) -> Row:
    """Natural cubic splines by truncated powers."""
    if len(knots) < 3:
        return [Fraction(1), x][: len(knots)]

    def d(k: int) -> Fraction:
        cubes = max(x - knots[k], Fraction(0)) ** 3 - max(x - knots[-1], Fraction(0)) ** 3
        return cubes / (knots[-1] - knots[k])

    return [Fraction(1), x, *(d(k) - d(len(knots) - 2) for k in range(len(knots) - 2))]


def basis(scale: Scale | None, size: int, level: int) -> Row:
    if scale is None:
        return [Fraction(int(level == other)) for other in range(size)]
    knots = sorted(scale.places[knot] for knot in scale.knots)
    return (hats if scale.kind == "ordered" else natural)(knots, scale.places[level])


def row_of(cell: tuple[int, ...], sizes: tuple[int, ...], scales: list[Scale | None], order: int) -> Row:
    parts = [basis(scale, size, level) for scale, size, level in zip(scales, sizes, cell, strict=True)]
    row: Row = []
    for subset in itertools.combinations(range(len(cell)), order):
        for picks in itertools.product(*(parts[factor] for factor in subset)):
            product = Fraction(1)
            for pick in picks:
                product *= pick
            row.append(product)
    return row


def reduced(rows: list[Row]) -> list[tuple[int, Row]]:
    """Rows in echelon form, each with the column of its pivot."""
    found: list[tuple[int, Row]] = []
    for row in rows:
        left = remainder(row, found)
        pivot = next((column for column, value in enumerate(left) if value), None)
        if pivot is not None:
            found.append((pivot, [value / left[pivot] for value in left]))
    return found


def remainder(row: Row, echelon: list[tuple[int, Row]]) -> Row:
    for pivot, other in echelon:
        if factor := row[pivot]:
            row = [a - factor * b if b else a for a, b in zip(row, other, strict=True)]
    return row


def expected(seen: np.ndarray, cell: tuple[int, ...], sizes, scales, order: int, echelon) -> Verdict:
    if cell in set(map(tuple, seen.tolist())):
        return Verdict.SEEN
    outside = False
    for factor, (level, scale) in enumerate(zip(cell, scales, strict=True)):
        if scale is None and level not in seen[:, factor]:
            return Verdict.UNSEEN_LEVEL
        if scale is not None:
            there = [scale.places[other] for other in seen[:, factor]]
            outside |= not min(there) <= scale.places[level] <= max(there)
    if outside:
        return Verdict.BEYOND
    left = remainder(row_of(cell, sizes, scales, order), echelon)
    return Verdict.DISCONNECTED if any(left) else Verdict.DETERMINED


def draw(seed: int, kinds: tuple[str | None, ...]) -> tuple[np.ndarray, tuple[int, ...], list[Scale | None], int]:
    generator = np.random.default_rng(seed)
    count = int(generator.integers(2, 4))
    sizes = tuple(int(size) for size in generator.integers(2, 7 if count == 2 else 5, size=count))
    cells = np.indices(sizes).reshape(count, -1).T
    seen = cells[generator.random(len(cells)) < generator.uniform(0.15, 0.7)]
    seen = seen if len(seen) else cells[:1]
    scales: list[Scale | None] = []
    for factor, size in enumerate(sizes):
        kind = kinds[int(generator.integers(len(kinds)))]
        places = generator.permutation(40)[:size].tolist()
        thirds = [Fraction(place, int(generator.integers(1, 4))) + 100 * rank for rank, place in enumerate(places)]
        shuffled = [thirds[place] for place in generator.permutation(size)]
        occurs = np.isin(np.arange(size), seen[:, factor])
        scales.append(None if kind is None else place_levels(kind, shuffled, occurs))
    return seen, sizes, scales, int(generator.integers(1, count + 1))


def differences(seed: int, kinds: tuple[str | None, ...]) -> list[tuple]:
    seen, sizes, scales, order = draw(seed, kinds)
    answer = identify(seen, order=order, sizes=sizes, scales=scales)
    found = answer.verdicts_on_grid()
    cells = [tuple(cell) for cell in np.indices(sizes).reshape(len(sizes), -1).T.tolist()]
    assert answer.verdicts_of(np.array(cells)).tolist() == found.reshape(-1).tolist()
    counts = answer.count_verdicts()
    assert [counts[verdict] for verdict in Verdict] == np.bincount(found.reshape(-1), minlength=len(Verdict)).tolist()
    echelon = reduced([row_of(tuple(other), sizes, scales, order) for other in seen.tolist()])
    assert answer.rank == len(echelon)
    return [
        (seed, cell, Verdict(int(found[cell])).word, wanted.word)
        for cell in cells
        if found[cell] != (wanted := expected(seen, cell, sizes, scales, order, echelon))
    ]


@pytest.mark.parametrize("block", [*range(4), *(pytest.param(block, marks=pytest.mark.slow) for block in range(4, 10))])
def test_labels_and_ordered_factors_agree_with_rational_rank(block: int) -> None:
    """500 random designs, every cell of each."""
    assert [
        found for seed in range(50 * block, 50 * block + 50) for found in differences(seed, (None, "ordered"))
    ] == []


@pytest.mark.parametrize("block", [*range(2), *(pytest.param(block, marks=pytest.mark.slow) for block in range(2, 4))])
def test_numeric_factors_agree_with_rational_rank(block: int) -> None:
    seeds = range(1000 + 50 * block, 1050 + 50 * block)
    assert [found for seed in seeds for found in differences(seed, (None, "ordered", "numeric"))] == []


@pytest.mark.parametrize("seed", range(40))
def test_floating_point_agrees_with_exact_arithmetic_where_it_decides(seed: int) -> None:
    seen, sizes, scales, order = draw(seed, (None, "ordered", "numeric"))
    exact = identify(seen, order=order, sizes=sizes, scales=scales).verdicts_on_grid()
    floating = identify(seen, order=order, sizes=sizes, scales=scales, route="projection").verdicts_on_grid()
    decided = floating != Verdict.UNDECIDED
    assert decided.mean() > 0.9
    np.testing.assert_array_equal(floating[decided], exact[decided])


@pytest.mark.parametrize("seed", range(6))
def test_a_distance_is_the_largest_value_beside_the_length_of_the_row(seed: int) -> None:
    seen, sizes, scales, order = draw(seed, (None, "ordered", "numeric"))
    null = identify(seen, order=order, sizes=sizes, scales=scales, route="projection").null
    cells = np.array(list(np.ndindex(*sizes)))
    rows, lengths = null.features.incidence(cells).toarray(), np.ones(null.features.columns)
    lengths[null.columns] = null.scale
    expected = np.abs(rows @ null.tables).max(axis=1) / np.sqrt(((rows * lengths) ** 2).sum(axis=1))
    np.testing.assert_allclose(null.distance(cells), expected, atol=1e-12)
    np.testing.assert_allclose(null.distances_on_grid().reshape(-1), expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(60))
def test_certificates_add_up_for_any_function_of_the_model(seed: int) -> None:
    seen, sizes, scales, order = draw(seed, (None, "ordered", "numeric"))
    answer = identify(seen, order=order, sizes=sizes, scales=scales)
    cells = np.argwhere(answer.verdicts_on_grid() == Verdict.DETERMINED)[:4]
    for cell in cells:
        found = answer.certificate_of(tuple(cell.tolist()))
        assert found.verified
        wanted = row_of(tuple(cell.tolist()), sizes, scales, order)
        rows = [row_of(tuple(other), sizes, scales, order) for other in found.cells.tolist()]
        summed = [
            sum((weight * row[column] for weight, row in zip(found.weights, rows, strict=True)), Fraction(0))
            for column in range(len(wanted))
        ]
        assert summed == wanted


@pytest.mark.parametrize("seed", range(40))
def test_leverage_is_that_of_the_design_matrix(seed: int) -> None:
    seen, sizes, scales, order = draw(seed, (None, "ordered", "numeric"))
    answer = identify(seen, order=order, sizes=sizes, scales=scales)
    cells = np.argwhere(answer.verdicts_on_grid() <= Verdict.DETERMINED)
    # Of piecewise polynomials far from the origin, powers are badly scaled: each column is brought to length one.
    matrix = np.array([[float(x) for x in row_of(tuple(cell), sizes, scales, order)] for cell in answer.seen.cells])
    length = np.sqrt((matrix**2).sum(axis=0))
    keep = length > 0
    asked = np.array([[float(x) for x in row_of(tuple(cell), sizes, scales, order)] for cell in cells])[:, keep]
    _, singular, right = np.linalg.svd(matrix[:, keep] / length[keep], full_matrices=False)
    rank = answer.rank
    assert rank is not None
    inverse = right[:rank].T / singular[:rank]
    wanted = (((asked / length[keep]) @ inverse) ** 2).sum(axis=1)
    np.testing.assert_allclose(answer.leverage_of(cells), wanted, rtol=2e-3, atol=1e-6)


@pytest.mark.parametrize("kind", ["ordered", "numeric"])
def test_a_weight_is_a_number_of_equal_rows(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    dose = place_levels(kind, [0, 1, 2, 5, 9], [True, True, False, True, True])
    features = ScaledConjunctions((4, 5), scales=(None, dose))
    seen = np.array([cell for cell in np.ndindex(4, 5) if cell[1] != 2])
    counts = rng.integers(1, 6, size=len(seen))
    cells = np.array(list(np.ndindex(4, 5)))
    weighted = ScaledLeverage(features, seen, counts.astype(float)).of(cells)
    repeated = ScaledLeverage(features, np.repeat(seen, counts, axis=0)).of(cells)
    np.testing.assert_allclose(weighted, repeated)
    rows = features.incidence(np.repeat(seen, counts, axis=0)).toarray()
    inverse = np.linalg.pinv(rows)
    wanted = ((features.incidence(cells).toarray() @ inverse) ** 2).sum(axis=1)
    np.testing.assert_allclose(weighted, wanted, rtol=1e-7)
    # Too many columns to invert: one solve per cell gives the same, and cells are refused that would take too long.
    monkeypatch.setattr("recombine.theory.identification.leverage.MAX_INVERTED_COLUMNS", 0)
    monkeypatch.setattr("recombine.theory.identification.leverage.MAX_CELLS_SOLVED_SINGLY", len(cells))
    singly = ScaledLeverage(features, seen, counts.astype(float))
    np.testing.assert_allclose(singly.of(cells), wanted, rtol=1e-7)
    with pytest.raises(InputError, match="at most 20 at a time"):
        singly.of(np.vstack([cells, cells[:1]]))
    with pytest.raises(SolverError, match="every seen cell"):
        _ = singly.of_seen


def test_the_deficit_counts_knots_not_levels() -> None:
    dose = place_levels("ordered", [0, 1, 2, 3], [True, False, False, True])
    answer = identify([[0, 0], [1, 3]], sizes=(2, 4), scales=(None, dose))
    assert isinstance(answer, Identification)
    assert (answer.rank, answer.deficit) == (2, 1)
    full = identify([[0, 0], [1, 3], [1, 0]], sizes=(2, 4), scales=(None, dose))
    assert full.deficit == 0
    assert full.count_verdicts()[Verdict.DETERMINED] == 5


@pytest.mark.parametrize("route", ["exact", "projection", "graph"])
@pytest.mark.parametrize("seen_level", [1, 3])  # a level between knots, and a knot
def test_the_route_that_is_asked_for_is_taken(route: str, seen_level: int) -> None:
    dose = place_levels("ordered", [0, 1, 2, 3], [True, False, True, True])
    seen = [[0, 0], [0, 2], [1, seen_level], [1, 0], [0, 3]]
    options = {"sizes": (2, 4), "scales": (None, dose)}
    if route == "graph" and seen_level == 1:
        with pytest.raises(InputError, match="route 'graph' needs levels that are labels or knots"):
            identify(seen, route=route, **options)
        return
    answer = identify(seen, route=route, **options)
    assert answer.null.route == route
    np.testing.assert_array_equal(answer.verdicts_on_grid(), identify(seen, **options).verdicts_on_grid())


def test_interchangeable_factors_share_a_scale() -> None:
    """Two doses of one drug, in either order: the mean of two doses is that of their cells."""
    dose = place_levels("ordered", [0, 2, 1], [True, True, False])
    answer = identify([[0, 0], [0, 1], [1, 1]], sizes=(3, 3), symmetric=[(0, 1)], scales=(dose, dose), order=2)
    assert set(answer.verdicts_on_grid().reshape(-1).tolist()) == {Verdict.SEEN, Verdict.DETERMINED}
    found = answer.certificate_of((0, 2))
    assert dict(zip(map(tuple, found.cells.tolist()), found.weights, strict=True)) == {
        (0, 0): Fraction(1, 2),
        (0, 1): Fraction(1, 2),
    }


def test_large_products_are_counted_by_a_sample_that_holds_the_truth() -> None:
    generator = np.random.default_rng(0)
    sizes = (60, 60, 60, 100)
    dose = place_levels("ordered", list(range(100)), [level % 2 == 0 and level < 80 for level in range(100)])
    seen = np.stack([generator.integers(size, size=400) for size in sizes], axis=1)
    seen[:, 3] = 2 * generator.integers(40, size=400)
    answer = identify(seen, sizes=sizes, scales=(None, None, None, dose), possible=Possible.product(sizes))
    counts = answer.count_verdicts()
    unseen = [size - len(np.unique(seen[:, place])) for place, size in enumerate(sizes[:3])]
    known = np.prod([size - few for size, few in zip(sizes[:3], unseen, strict=True)])
    assert counts[Verdict.BEYOND] == known * 21
    assert counts.total == 60**3 * 100
