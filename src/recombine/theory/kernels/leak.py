"""Memorization leak: how far an overlap-kernel model shrinks sums it has not seen, in closed form.

The minimum-norm fit hands part of the seen signal to whole-cell conjunctions, which unseen cells do not have. For
addition with anchor items what is left is exactly linear: prediction = slope * (sum of values) + offset.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.cells.brief import record
from recombine.errors import InputError


def slope(salience: npt.ArrayLike, anchors: npt.ArrayLike) -> FloatArray:
    """Return the slope of unseen predictions in addition with anchors: p S / (1 + (p - 2) S).

    Eq. 3 of Lippl & Stachenfeld 2025. It does not depend on the items' values, their number, or whether unseen sums lie
    inside or outside the seen range; 1 only when S = 1/2 (nothing is memorized) or p grows without bound. ``salience``
    is S(1;2), the normalised weight of single items, from 0 to 1/2; p is the number of anchor items.

    Examples
    --------
    >>> slope(0.4, [1, 2, 3]).round(4)
    array([0.6667, 0.8   , 0.8571])
    """
    weight = np.asarray(salience, dtype=np.float64)
    count = np.asarray(anchors, dtype=np.float64)
    if not np.all((weight >= 0) & (weight <= 0.5)):
        raise InputError(f"salience {salience!r} is outside 0 to 1/2; S(1;2) of a two-factor kernel cannot exceed 1/2")
    if not np.all(count >= 1):
        raise InputError(f"anchors {anchors!r} must be at least 1; without an anchor no pair is seen")
    return np.asarray(count * weight / (1 + (count - 2) * weight))


@record
class AnchorAddition:
    """What an overlap-kernel model answers to every pair in addition with anchors.

    Attributes
    ----------
    predictions, seen : arrays, shape (n1, n2)
        The model's output on all pairs, on seen pairs with the memorized part, and which pairs are seen.
    items, offset : tuple of two arrays, shapes (n1,) and (n2,), and float
        The value the model gives each item of each slot, and its constant.
    slopes, anchor_slopes : tuple of two floats
        By how much an item's value is shrunk, for non-anchors and anchors of each slot.

    Examples
    --------
    >>> fit = anchor_addition([-1.0, 0.0, 1.0], [1], salience=0.25)
    >>> fit.predictions.round(4)
    array([[-0.6667, -1.    ,  0.    ],
           [-1.    ,  0.    ,  1.    ],
           [ 0.    ,  1.    ,  0.6667]])
    """

    predictions: FloatArray
    seen: BoolArray
    items: tuple[FloatArray, FloatArray]
    offset: float
    slopes: tuple[float, float]
    anchor_slopes: tuple[float, float]


@dataclass(frozen=True)
class _Slot:
    """One slot of the pair: item values (n,), which of them are anchors, and its salience."""

    values: FloatArray
    anchor: BoolArray
    salience: float

    @property
    def counts(self) -> FloatArray:
        """Number of anchors and of other items."""
        return np.array([self.anchor.sum(), (~self.anchor).sum()], dtype=np.float64)

    @property
    def means(self) -> FloatArray:
        """Mean value of anchors and of other items; 0 for an empty group."""
        sums = np.array([self.values[self.anchor].sum(), self.values[~self.anchor].sum()])
        return np.asarray(sums / np.maximum(self.counts, 1.0))

    @property
    def met_by(self) -> FloatArray:
        """Shares of anchors and others among the items met by a partner that is an anchor (row 0) or not (row 1)."""
        return np.stack([self.counts / len(self.values), [1.0, 0.0]])

    def gains(self, partner: _Slot, noise: float) -> FloatArray:
        """Dual weight per unit of unexplained mean, for anchors and others: partners / (partners * s + noise)."""
        partners = np.array([len(partner.values), partner.anchor.sum()], dtype=np.float64)
        met = partners > 0
        return np.where(met, partners / np.where(met, partners * self.salience + noise, 1.0), 0.0)


def anchor_addition(
    values: npt.ArrayLike,
    anchors: Sequence[int],
    salience: float | Sequence[float],
    *,
    values2: npt.ArrayLike | None = None,
    anchors2: Sequence[int] | None = None,
    constant: float = 0.0,
    ridge: float = 0.0,
    intercept: bool = False,
) -> AnchorAddition:
    """Solve addition with anchors for any values, anchors, salience, ridge and intercept.

    Generalises Eq. 3 of Lippl & Stachenfeld 2025. A non-anchor item of slot 1 is worth m (v + ...) with
    m = p2 s1 / (p2 s1 + s12 + ridge), whatever the means of the values: uneven anchors only add an offset.

    Parameters
    ----------
    values, values2 : array, shapes (n1,) and (n2,)
        Items' values in each slot; slot 2 repeats slot 1 by default.
    anchors, anchors2 : sequence of int
        Items seen with every partner, per slot.
    salience : float or (s1, s2, s12)
        S(1;2), or the weights of slot-1 items, slot-2 items and whole pairs.
    constant : float
        s0, the weight of the constant conjunction; ``intercept`` fits an unpenalised constant instead.

    Examples
    --------
    >>> fit = anchor_addition(np.arange(9) - 4, [0], salience=0.4)
    >>> fit.predictions[[1, 8, 1], [1, 8, 8]].round(6)
    array([-4.860215,  4.473118, -0.193548])
    >>> round(fit.slopes[0], 6)
    0.666667
    """
    s1, s2, pair = _weights(salience)
    if min(constant, ridge) < 0:
        raise InputError(f"constant is {constant} and ridge is {ridge}; both must be zero or more")
    slot1 = _slot(values, anchors, s1, "")
    slot2 = _slot(values if values2 is None else values2, anchors if anchors2 is None else anchors2, s2, "2")
    noise = pair + ridge
    if noise == 0 and min(s1, s2) == 0:
        raise InputError("salience leaves a slot and the pair without weight, so the seen sums cannot be fitted")
    items1, items2, offset = _solve(slot1, slot2, noise, None if intercept else constant)
    seen = slot1.anchor[:, None] | slot2.anchor[None, :]
    additive = items1[:, None] + items2[None, :] + offset
    # Whole-pair conjunctions take this share of what the additive part leaves; unseen pairs have none.
    memorized = (pair / noise if noise else 0.0) * (slot1.values[:, None] + slot2.values[None, :] - additive)
    gains = slot1.gains(slot2, noise) * s1, slot2.gains(slot1, noise) * s2
    return AnchorAddition(
        predictions=additive + np.where(seen, memorized, 0.0),
        seen=seen,
        items=(items1, items2),
        offset=offset,
        slopes=(float(gains[0][1]), float(gains[1][1])),
        anchor_slopes=(float(gains[0][0]), float(gains[1][0])),
    )


def _solve(slot1: _Slot, slot2: _Slot, noise: float, constant: float | None) -> tuple[FloatArray, FloatArray, float]:
    """Return item values of both slots, shapes (n1,) and (n2,), and the constant; None asks for a free intercept."""
    gain1, gain2 = slot1.gains(slot2, noise), slot2.gains(slot1, noise)
    system, constants = np.zeros((6, 5)), np.zeros(6)
    # Unknown: mean dual weight of anchors and others in slot 1, the same in slot 2, the constant.
    system[:4, :4] = np.eye(4)
    system[:2, 2:4] = gain1[:, None] * slot2.met_by * slot2.salience
    system[2:4, :2] = gain2[:, None] * slot1.met_by * slot1.salience
    system[:4, 4] = np.concatenate([gain1, gain2])
    constants[:2] = gain1 * (slot1.means + slot2.met_by @ slot2.means)
    constants[2:4] = gain2 * (slot2.means + slot1.met_by @ slot1.means)
    system[4] = [*slot1.counts, 0, 0, 0] if constant is None else [*(-constant * slot1.counts), 0, 0, 1]
    # Both slots sum the same dual weights. This follows from the rest, except when nothing is memorized.
    system[5] = [*slot1.counts, *-slot2.counts, 0]
    solution: FloatArray = np.linalg.lstsq(system, constants, rcond=None)[0].astype(np.float64)
    items1 = _items(slot1, slot2, gain1, solution[2:4], solution[4])
    items2 = _items(slot2, slot1, gain2, solution[:2], solution[4])
    return items1, items2, float(solution[4])


def _items(slot: _Slot, partner: _Slot, gain: FloatArray, partner_dual: FloatArray, constant: float) -> FloatArray:
    """Return s * gain * (value + mean of the partners met, less what they and the constant explain), shape (n,)."""
    group = np.where(slot.anchor, 0, 1)
    unexplained = partner.met_by @ (partner.means - partner.salience * partner_dual) - constant
    return slot.salience * gain[group] * (slot.values + unexplained[group])


def _weights(salience: float | Sequence[float]) -> tuple[float, float, float]:
    """Return (s1, s2, s12)."""
    weights = np.asarray(salience, dtype=np.float64).reshape(-1)
    if weights.size == 1:
        weights = np.array([weights[0], weights[0], 1 - 2 * weights[0]])
    if weights.size != 3 or not np.all(np.isfinite(weights)) or weights.min() < 0:
        raise InputError(f"salience is {salience!r}; give S(1;2) between 0 and 1/2, or three weights s1, s2, s12 >= 0")
    return float(weights[0]), float(weights[1]), float(weights[2])


def _slot(values: npt.ArrayLike, anchors: Sequence[int], salience: float, suffix: str) -> _Slot:
    worth = np.asarray(values, dtype=np.float64)
    chosen = np.asarray(anchors)
    if worth.ndim != 1 or not worth.size or not np.all(np.isfinite(worth)):
        raise InputError(f"values{suffix} must be a list of finite numbers; got shape {worth.shape}")
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or not chosen.size:
        raise InputError(f"anchors{suffix} is {anchors!r}; give a list of at least one item number")
    if chosen.min() < 0 or chosen.max() >= len(worth):
        raise InputError(f"anchors{suffix} is {anchors!r}; items are numbered 0 to {len(worth) - 1}")
    return _Slot(worth, np.isin(np.arange(len(worth)), chosen), salience)
