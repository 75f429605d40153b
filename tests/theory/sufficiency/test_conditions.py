"""Compositional, sufficient and gauge-aware support: published facts, anchor counts, and errors that name the place."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import ceil

import numpy as np
import pytest

import recombine as rc
from recombine.cells.arrays import FloatArray
from recombine.errors import InputError
from recombine.theory.compositions import add, bilinear, own, product, stack
from recombine.theory.sufficiency.conditions import compositional_support, gauge_aware_support, sufficient_support
from recombine.theory.sufficiency.stacked_rank import JacobianStack
from recombine.theory.supports import Support, around, band, box, finite, gap, planes, region
from recombine.verdicts import Verdict

ORIGIN, HALF, FAR = np.zeros(5), np.array([0.5, 0.5, 0.5, 0.0, 0.5]), np.array([1.0, 1.0, 1.0, 0.0, 1.0])


def waves(count: int, seed: int) -> Callable[[FloatArray], FloatArray]:
    rng = np.random.default_rng(seed)
    rates, shifts = rng.uniform(1, 4, count), rng.uniform(0, 6, count)
    return lambda z: np.sin(rates * z + shifts)


@pytest.mark.parametrize(("outputs", "anchors"), [(1, 6), (2, 3), (3, 2), (4, 2), (6, 1), (8, 1)])
def test_a_generic_composition_needs_as_many_anchors_as_it_has_unknowns_per_output(outputs: int, anchors: int) -> None:
    assert anchors == ceil(6 / outputs)
    rng = np.random.default_rng(outputs)
    rule = bilinear(*(rng.standard_normal(shape) for shape in ((outputs, 6), (outputs, 6), (outputs, 6, 6))))
    parts = [waves(6, 0), waves(6, 1)]
    enough = sufficient_support(box(2), rule, parts, anchors=anchors, probes=3)
    assert enough.holds
    assert [slot.anchors.tolist() for slot in enough.slots] == [[anchors] * 3] * 2
    if anchors > 1:
        fewer = planes({0: [[0.1 * n] for n in range(anchors - 1)], 1: [[0.1 * n] for n in range(anchors - 1)]})
        assert not sufficient_support(fewer, rule, parts, values={0: [0.73], 1: [0.77]}).holds
        with pytest.raises(
            InputError, match=rf"slot 0 at .* equations for 6 unknowns.* use at least {anchors} anchors"
        ):
            sufficient_support(box(2), rule, parts, anchors=anchors - 1, probes=3)


def test_doubling_stops_when_the_rank_is_full() -> None:
    rng = np.random.default_rng(0)
    rule = bilinear(*(rng.standard_normal(shape) for shape in ((1, 6), (1, 6), (1, 6, 6))))
    found = sufficient_support(box(2), rule, [waves(6, 0), waves(6, 1)], probes=2)
    assert found.holds
    assert all((slot.anchors == 8).all() for slot in found.slots)


def test_the_sum_is_weaker_than_the_stack() -> None:
    signs = own(lambda a, b: a * b, name="signs")
    parts = [lambda z: np.ones((len(z), 2)), lambda z: np.where(z < 0.5, 1.0, -1.0) * np.ones(2)]
    both = finite([[0.3, 0.2], [0.3, 0.8]])
    values = {0: [0.3]}
    assert sufficient_support(both, signs, parts, values=values).full_rank
    assert not sufficient_support(both, signs, parts, values=values, combine="sum").full_rank
    assert JacobianStack.of(np.stack([np.eye(3), -np.eye(3)])).ranks() == 3
    # Rounding errors of terms that cancel are no rank.
    weights = {0.0: 0.1, 1.0: 0.2, 2.0: -0.1, 3.0: -0.2}
    cancels = [lambda z: np.ones((len(z), 1)), lambda z: np.array([[weights[float(v)]] for v in z[:, 0]])]
    four = finite([[0, 0], [0, 1], [0, 2], [0, 3]])
    assert 0.1 + 0.2 - 0.1 - 0.2 != 0  # and not by sum(), which newer versions of Python compensate
    assert not sufficient_support(four, product(), cancels, values={0: [0]}, combine="sum").full_rank
    with pytest.raises(InputError, match="give 'stack' or 'sum'"):
        sufficient_support(both, signs, parts, combine="mean")


def test_rank_does_not_lose_small_singular_values_to_a_gram_matrix() -> None:
    rows = np.diag([1.0, 1e-9])[None]
    assert JacobianStack.of(rows).ranks() == 2
    assert JacobianStack.of(rows).smallest == pytest.approx(1e-9)
    rng = np.random.default_rng(0)
    tall = rng.standard_normal((40, 3, 5, 7)) @ np.diag([1, 1, 1, 1, 1, 1e-3, 0])
    folded = JacobianStack.of(tall[:10]).plus(tall[10:25]).joined(JacobianStack.of(tall[25:]))
    dense = np.moveaxis(tall, 0, 1).reshape(3, -1, 7)
    assert folded.ranks().tolist() == [6, 6, 6]
    assert folded.singular_values() == pytest.approx(np.linalg.svd(dense, compute_uv=False), abs=1e-12)


def test_special_compositions_need_one_anchor() -> None:
    parts = [waves(3, 0), waves(3, 1)]
    for rule in (add(), stack()):
        found = sufficient_support(band(0.0), rule, parts, probes=4)
        assert found.full_rank
        assert found.holds == (rule.name == "stack")
        assert all((slot.smallest == 1).all() and (slot.anchors == 1).all() for slot in found.slots)


def test_a_product_needs_every_entry_non_zero_once() -> None:
    parts = [lambda z: np.ones((len(z), 2)), lambda z: np.stack([z[:, 0] < 0.5, z[:, 0] > 0.4], axis=1) * 1.0]
    half = planes({0: [[0.1]], 1: [[0.0]]})
    both = planes({0: [[0.1], [0.9]], 1: [[0.0]]})
    assert not sufficient_support(half, product(), parts, values={0: [0.3]}).full_rank
    found = sufficient_support(both, product(), parts, values={0: [0.3], 1: [0.1]})
    assert found.full_rank
    assert found.holds
    assert str(found).startswith("determined (given one point): full rank, ")
    assert str(found).endswith("1 to 2 anchors each, errors grow 1-fold")
    part = sufficient_support(both, product(), parts, values={0: [0.3]})
    assert str(part).startswith("undecided: full rank, but slot 1: not probed")


CORNER = planes({0: [[1.0]], 1: [[0.0]]})
ISLANDS = np.concatenate([np.random.default_rng(0).integers(0, 3, (30, 2)), np.full((3, 2), 9)])


@pytest.mark.parametrize(
    ("support", "words"),
    [
        (band(0.0), "but slots 0, 1: cannot move alone"),
        (finite([[0, 0], [1, 1], [2, 2]]), "slots 0, 1: cannot move alone; slots 0, 1: values in pieces"),
        (finite(ISLANDS), "in pieces"),
        (finite(np.random.default_rng(1).uniform(size=(20, 2))), "in pieces"),
        (finite(np.random.default_rng(1).uniform(size=(20, 2)), neighbours=3), "in pieces"),
        (finite([[0, 0], [1, 1]]).product(), "in pieces"),
        (gap(CORNER, 0, 0, 0.4, 0.6), "but slot 0: values in pieces"),
        (gap(gap(CORNER, 0, 0, 0.9, 1.0), 0, 0, 0.4, 0.6), "but slot 0: values in pieces"),
        (gap(band(0.05), 1, 0, 0.3, 0.6), "but slots 0, 1: values in pieces"),
        (gap(planes({0: [[1.0], [0.3]], 1: [[0.1]]}), 0, 0, -1, 0.2), "but slot 1: cannot move alone"),
        (planes({0: [[1.0]], 1: [[5.0]]}), "but slot 0: values in pieces"),
        (planes({0: [[1.0], [0.5]]}), "but slot 1: cannot move alone"),
    ],
)
def test_full_rank_alone_determines_nothing(support: Support, words: str) -> None:
    """Without derivatives by one slot, or a path from the known value, other components fit the data as well."""
    parts = [lambda z: 2 + np.sin(z), lambda z: 2 + np.cos(z)]
    for rule in (add(), product()):
        for test in (sufficient_support, gauge_aware_support):
            found = test(support, rule, parts, probes=3)
            assert (found.holds, found.verdict) == (False, Verdict.UNDECIDED)
        exact = sufficient_support(support, rule, parts, probes=3)
        assert exact.full_rank
        assert re.search(words, str(exact))


def test_planes_of_three_slots_must_cross() -> None:
    parts = [lambda z: 2 + np.sin(z)] * 3
    meeting = planes({0: [[[0.1], [0.2]]], 1: [[[0.3], [0.2]]], 2: [[[0.3], [0.1]]]})
    skew = planes({0: [[[0.1], [0.2]]], 1: [[[0.3], [0.9]]], 2: [[[0.3], [0.8]]]})
    assert meeting.crosses()
    assert sufficient_support(meeting, product(), parts, probes=2).holds
    found = sufficient_support(skew, product(), parts, probes=2)
    assert found.full_rank
    assert str(found).startswith("undecided: full rank, but some planes never cross")


def test_on_the_diagonal_other_components_fit_addition() -> None:
    """The counterexample: phi_0 + b and phi_1 - b agree on the diagonal and nowhere else."""
    latents = band(0.0).sample(50)[..., 0]
    other = band(0.0).product().sample(50)[..., 0]

    def truth(z: FloatArray) -> FloatArray:
        return np.sin(z[:, 0]) + np.cos(z[:, 1])

    def rival(z: FloatArray) -> FloatArray:
        return np.sin(z[:, 0]) + z[:, 0] + np.cos(z[:, 1]) - z[:, 1]

    assert np.abs(truth(latents) - rival(latents)).max() < 1e-12
    assert np.abs(truth(other) - rival(other)).max() > 0.1


@pytest.mark.parametrize(
    "support",
    [
        box(2),
        CORNER,
        band(0.05),
        gap(CORNER, 0, 0, -0.5, 0.2 - 0.3),
        gap(CORNER, 0, 0, 0.8, 1.0),
        gap(box(2), 1, 0, 0, 0.5),
    ],
)
def test_slices_and_connected_values_decide(support: Support) -> None:
    parts = [lambda z: 2 + np.sin(z), lambda z: 2 + np.cos(z)]
    assert sufficient_support(support, product(), parts, probes=3).verdict is Verdict.DETERMINED


def test_differences_and_formulas_give_the_same_verdict() -> None:
    rng = np.random.default_rng(4)
    weights = [rng.standard_normal(shape) for shape in ((3, 4), (3, 4), (3, 4, 4))]
    rule = bilinear(*weights)
    mine = own(lambda a, b: rule(a, b))
    for support in (box(2), planes({0: [[0.5]], 1: [[0.2]]})):
        one, two = (sufficient_support(support, r, [waves(4, 0), waves(4, 1)], probes=3) for r in (rule, mine))
        assert one.holds == two.holds
        assert [slot.shares.tolist() for slot in one.slots] == [slot.shares.tolist() for slot in two.slots]


def test_compositional_support_finds_a_gap() -> None:
    corner = planes({0: [FAR], 1: [ORIGIN, HALF]})
    assert compositional_support(corner, box(2, 5)).equal
    found = compositional_support(gap(corner, 0, 0, 0.05, 0.45), box(2, 5))
    assert found.verdict is Verdict.UNSEEN_LEVEL
    assert found.missing[0] == pytest.approx(0.4, abs=0.05)
    assert found.missing[1] == 0
    assert found.example is not None
    assert 0.05 <= found.example[0, 0] <= 0.45
    smaller = compositional_support(box(2), box(2, low=0.2, high=0.8))
    assert smaller.holds
    assert not smaller.equal


def test_neighbours_report_their_radius() -> None:
    cloud = finite(np.random.default_rng(0).uniform(size=(400, 2, 1)), neighbours=4)
    found = sufficient_support(cloud, add(), [waves(2, 0), waves(2, 1)], values={0: [0.5]})
    assert found.full_rank
    assert not found.holds
    assert 0 < found.table["radius"][0] < 0.05


def test_what_this_condition_cannot_answer_names_what_can() -> None:
    """Six numbers a source, of which four sensors show four sums: a gauge, which no support removes."""
    sensors = np.random.default_rng(0).standard_normal((4, 6))
    sources = [lambda z: np.sin(z * np.arange(1.0, 7.0)), lambda z: np.cos(z * np.arange(1.0, 7.0))]
    rule = own(lambda a, b: np.logaddexp(a @ sensors.T, b @ sensors.T))
    found = sufficient_support(box(2), rule, sources, probes=3)
    assert found.gauges == (0, 1)
    assert str(found).endswith("; gauge of slots 0, 1: gauge_aware_support")
    assert gauge_aware_support(box(2), rule, sources, probes=3).holds
    # A support that is too small is no gauge: more combinations would do.
    few = sufficient_support(planes({0: [[0.0]], 1: [[0.0]]}), product(), [lambda z: z, lambda z: z], probes=3)
    assert not few.full_rank
    assert few.gauges == ()
    listed = sufficient_support(finite([[0, 0], [1, 1]]), add(), [waves(2, 0), waves(2, 1)], probes=2)
    assert "points: finite_identifiability, supports.around" in str(listed)


def test_the_table_has_a_row_a_slot_and_value() -> None:
    table = sufficient_support(band(0.1), add(), [waves(2, 0), waves(2, 1)], probes=3).table
    assert table["slot"].tolist() == [0, 0, 0, 1, 1, 1]
    assert table["amplification"].tolist() == [1.0] * 6


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sufficient_support(box(2), add(), [waves(2, 0)]), "1 components were given for 2 slots"),
        (
            lambda: sufficient_support(box(2), add(), [waves(2, 0), waves(3, 1)], values={0: [0.5]}),
            r"slot 0 at 0.5: slot 1 of add has a part of shape \(1, 3\) beside \(1, 2\)",
        ),
        (
            lambda: sufficient_support(box(2), add(), [waves(2, 0), lambda z: np.zeros(2)], values={1: [0.5]}),
            r"component 1 gave shape \(2,\) for 1 anchors of slot 1 at 0.5",
        ),
        (
            lambda: sufficient_support(
                box(2), own(lambda a, b: (a + b)[..., :1, :]), [waves(2, 0), waves(2, 0)], values={0: [0.5]}, anchors=3
            ),
            r"slot 0 at 0.5: your composition gave an output of shape \(1, 2\)",
        ),
        (
            lambda: sufficient_support(planes({0: [[1.0]]}), add(), [waves(2, 0)] * 2, values={1: [0.5]}),
            "slot 1 never takes the value 0.5",
        ),
        (lambda: sufficient_support(box(2), add(), [lambda z: np.zeros((len(z), 20000))] * 2), "too many"),
        (lambda: compositional_support(box(2), box(3)), "give supports with the same slots"),
        (lambda: sufficient_support(box(2), add(), [waves(2, 0)] * 2, probes=0), "probes is 0"),
        (lambda: gauge_aware_support(box(2), add(), [waves(2, 0)] * 2, combinations=0), "combinations is 0"),
        (
            lambda: sufficient_support(box(2), product(), [waves(2, 0), lambda z: z * [np.nan, 1]], values={0: [0.5]}),
            "outputs of component 1 are not all finite",
        ),
        (
            lambda: sufficient_support(
                finite(np.linspace(0, 1, 20).reshape(10, 2), neighbours=1),
                own(lambda a, b: (a * b)[..., :1]),
                [waves(2, 0), waves(2, 1)],
                values={0: [0.5]},
            ),
            "slot 0 at 0.5: 1 anchor gives 1 equations for 2 unknowns.* use at least 2 anchors",
        ),
    ],
)
def test_errors_name_slot_and_value(call: Callable[[], object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()


def test_the_package_hands_them_out() -> None:
    assert rc.theory.sufficiency.sufficient_support is sufficient_support
    assert rc.theory.sufficiency.gauge_aware_support is gauge_aware_support
    assert rc.theory.sufficiency.compositional_support is compositional_support


def turning(z: FloatArray) -> FloatArray:
    """Below and above a middle in which it is 0, smooth to the second derivative."""
    bent = 50 * (np.maximum(z - 0.55, 0) ** 3 - np.maximum(0.45 - z, 0) ** 3)
    return np.concatenate([np.ones_like(z), bent], axis=-1)


def dot(first: FloatArray, second: FloatArray) -> FloatArray:
    return (first * second).sum(axis=-1, keepdims=True)


BLOCKS_WITH_A_COMMON_MIDDLE = region(lambda z: (z <= 0.55).all(axis=(1, 2)) | (z >= 0.45).all(axis=(1, 2)), box(2))


def test_full_ranks_at_every_value_do_not_decide_where_values_that_join_parts_have_none_together() -> None:
    """Another solution agrees on the support and not elsewhere, though every value has anchors of full rank."""
    first = lambda z: turning(z) * np.where(z > 0.5, [1.0, 3.0], 1.0)  # noqa: E731
    second = lambda z: turning(z) / np.where(z > 0.5, [1.0, 3.0], 1.0)  # noqa: E731
    points = np.random.default_rng(0).random((2000, 2, 1))
    change = abs(dot(first(points[:, 0]), second(points[:, 1])) - dot(turning(points[:, 0]), turning(points[:, 1])))
    seen = BLOCKS_WITH_A_COMMON_MIDDLE.contains(points)
    assert change[seen].max() < 1e-12
    assert change[~seen].max() > 1
    for test in (sufficient_support, gauge_aware_support):
        judged = test(BLOCKS_WITH_A_COMMON_MIDDLE, dot, [turning] * 2)
        assert judged.full_rank
        assert judged.verdict is Verdict.UNDECIDED
        assert "other components fit" in str(judged)
    assert sufficient_support(box(2), dot, [turning] * 2).holds
    assert sufficient_support(BLOCKS_WITH_A_COMMON_MIDDLE, dot, [waves(2, 0), waves(2, 1)]).holds


def test_the_order_of_samples_does_not_matter() -> None:
    rng = np.random.default_rng(0)

    def block(x: tuple[float, float], y: tuple[float, float], count: int) -> FloatArray:
        return np.stack([rng.uniform(*x, count), rng.uniform(*y, count)], axis=1)

    # The first block shares each slot's values with another one, and leads to neither.
    blocks = [((0.45, 0.6), (0.6, 0.8), 300), ((0.0, 0.6), (0.0, 0.3), 700), ((0.0, 0.2), (0.0, 0.8), 700)]
    points = np.concatenate([block(*sides) for sides in blocks])
    orders = (points, points[::-1], rng.permutation(points))
    answers = {str(sufficient_support(around(order, 0.03), product(), [waves(3, 0)] * 2)) for order in orders}
    assert answers == {"undecided: full rank, but no path between parts"}
