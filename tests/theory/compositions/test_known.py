"""Compositions: formulas agree with autodiff and differences, and shapes that disagree are named."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import recombine as rc
from recombine.cells.arrays import FloatArray
from recombine.errors import InputError
from recombine.theory import compositions
from recombine.theory.compositions import Composition, own
from recombine.theory.compositions.jacobians import by_differences

RNG = np.random.default_rng(0)
KNOWN: dict[str, tuple[Composition, tuple[int, ...]]] = {
    "add": (compositions.add(), (3, 3, 3)),
    "product": (compositions.product(), (3, 3, 3)),
    "stack": (compositions.stack(), (1, 2, 3)),
    "hard": (compositions.occlude("hard"), (3, 3, 3)),
    "soft": (compositions.occlude("soft", gain=1.7), (3, 3, 3)),
    "rgba": (compositions.rgba(), (4, 4, 4)),
    "bilinear": (
        compositions.bilinear(RNG.standard_normal((2, 3)), RNG.standard_normal((2, 4)), RNG.standard_normal((2, 3, 4))),
        (3, 4),
    ),
}


def drawn(sizes: tuple[int, ...], lead: tuple[int, ...] = (5, 2)) -> list[FloatArray]:
    rng = np.random.default_rng(1)
    return [rng.standard_normal((*lead, size)) for size in sizes]


@pytest.mark.parametrize("name", KNOWN)
def test_formulas_agree_with_differences(name: str) -> None:
    composition, sizes = KNOWN[name]
    parts = drawn(sizes)
    for slot in range(len(sizes)):
        formula = composition.jacobian(slot, parts)
        assert formula.shape == (*composition(*parts).shape, sizes[slot])
        assert np.abs(formula - by_differences(composition, slot, parts)).max() < 1e-10


@pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")
def test_autodiff_agrees_with_formulas() -> None:
    import torch

    def soft(front: Any, behind: Any) -> Any:
        gate = torch.sigmoid(front.sum(-1, keepdim=True))
        return front * gate + behind * (1 - gate)

    mine, parts = own(soft, backend="torch"), drawn((3, 3))
    known = compositions.occlude("soft")
    assert np.abs(mine(*parts) - known(*parts)).max() < 1e-15
    for slot in (0, 1):
        assert np.abs(mine.jacobian(slot, parts) - known.jacobian(slot, parts)).max() < 1e-14
    one = own(lambda a, b: a + 0.0, backend="torch", name="first only")
    assert not one.jacobian(1, parts).any()
    with pytest.raises(InputError, match="cannot take NumPy arrays"):
        own(soft)(*parts)
    with pytest.raises(InputError, match="returned no tensor"):
        own(lambda a, b: a.numpy(), backend="torch").jacobian(1, parts)


def test_soft_determinant_has_a_closed_form() -> None:
    front, behind = np.random.default_rng(2).standard_normal((2, 50, 3))
    q, t = front.sum(axis=1), behind.sum(axis=1)
    s = 1 / (1 + np.exp(-q))
    found = np.linalg.det(compositions.occlude("soft").jacobian(0, [front, behind]))
    assert found == pytest.approx(s**3 * (1 + (1 - s) * (q - t)), rel=1e-10)
    singular = compositions.occlude("soft").jacobian(0, [[0.0, 0, 0], [1.0, 1, 0]])
    assert np.linalg.matrix_rank(singular) == 2


def test_soft_gates_do_not_overflow() -> None:
    composed = compositions.occlude("soft")([[1e4] * 3, [-1e4] * 3], [[1.0] * 3, [2.0] * 3])
    assert composed.tolist() == [[1e4] * 3, [2.0] * 3]


def test_three_slots_fold_from_the_front() -> None:
    a, b, c = drawn((3, 3, 3))
    for kind in ("hard", "soft"):
        rule = compositions.occlude(kind)
        assert np.allclose(rule(a, b, c), rule(rule(a, b), c))


def test_rgba_of_opaque_sprites_is_hard_occlusion() -> None:
    rng = np.random.default_rng(3)
    masks, colours = rng.integers(0, 2, (2, 50, 1)), rng.uniform(0.1, 1, (2, 50, 3))
    layers = masks * colours
    over = compositions.rgba()(*np.concatenate([layers, masks], axis=2))
    assert np.array_equal(over, compositions.occlude()(*layers))


def test_a_given_jacobian_is_used_and_checked() -> None:
    parts = drawn((2, 2), (4,))
    right = own(np.add, jacobian=lambda slot, parts: np.broadcast_to(np.eye(2), (4, 2, 2)))
    assert right.jacobian(0, parts).shape == (4, 2, 2)
    wrong = own(np.add, jacobian=lambda slot, parts: np.eye(2), name="blend")
    with pytest.raises(InputError, match=r"Jacobian of blend for slot 1 has shape \(2, 2\); give \(4, 2, 2\)"):
        wrong.jacobian(1, parts)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: compositions.add()([1.0, 2.0], [1.0]), r"slot 1 of add has a part of shape \(1,\) beside \(2,\)"),
        (lambda: compositions.add()(), "add was given no parts"),
        (lambda: compositions.add().jacobian(2, [[1.0], [1.0]]), "slot 2 does not exist"),
        (lambda: compositions.rgba()([1.0], [1.0]), "opacity last"),
        (lambda: compositions.occlude("hrad"), "did you mean 'hard'"),
        (lambda: compositions.occlude("soft", gain=0), "gain 0 must be above 0"),
        (lambda: compositions.bilinear([[1.0]], [[1.0]], [[1.0]]), "weights have shapes"),
        (lambda: KNOWN["bilinear"][0]([1.0] * 4, [1.0] * 3), "weights for parts of 3 and 4 numbers"),
        (lambda: own(np.add, backend="jax"), "backend 'jax' is unknown"),
        (lambda: own(lambda a, b: (a + b)[:1])([[1.0], [2.0]], [[1.0], [2.0]]), r"gave an output of shape \(1, 1\)"),
        (
            lambda: own(lambda a, b: (a + b).sum(), name="total")([[1.0]], [[2.0]]),
            r"total gave an output of shape \(\)",
        ),
    ],
)
def test_shapes_that_disagree_are_named(call: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()


def test_the_package_hands_them_out() -> None:
    assert rc.theory.compositions.add()([1.0], [2.0]).tolist() == [3.0]
