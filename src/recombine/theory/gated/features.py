"""Every norm on gated linear functions in one form: gate features z_r(x), weights zeta_r, groups of them.

f(x) = sum_r z_r(x) <zeta_r, x>, and the norm is the sum over groups of the l2 norm of a group's weights. Own contexts
of each unit give one group per unit; one group of all features gives an ordinary (squared) l2 norm. So a norm is a
matrix that turns the rows [c_h(x) = c] into features, and a grouping of those; its kernels are K o (Z_g Z_g').
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray, affordable, as_numbers
from recombine.cells.brief import record
from recombine.checks import whole
from recombine.errors import InputError, near_miss
from recombine.theory.gated.contexts import as_points
from recombine.writing import listing

#: Norms by name: two that the paper compares, two controls, frozen ReLU gates, the first two as they were published,
#: and the second of these with one of its two defects alone.
NORMS = (
    "group",
    "effective",
    "zeta",
    "one-layer",
    "frozen",
    "published group",
    "published effective",
    "published effective groups",
    "published effective coefficient",
)
#: Added to the degenerate published L2 norm, which leaves (H - 1) d weights without any penalty.
PUBLISHED_RIDGE = 1e-6
#: Squares of inputs beyond this overflow or vanish.
MAX_INPUT = 1e100
#: Rows whose weighted features are formed at once.
FEATURE_BLOCK_ROWS = 2000


@record
class Gating:
    """Gate features of a norm.

    Parameters
    ----------
    norm : str
        One of `NORMS`.
    contexts : int
        Number C of contexts of a unit.
    transform : ndarray (H C, R) or None
        From rows [c_h(x) = c], unit by unit, to features; None where those rows, or joint contexts, are the features.
    group : ndarray of int (R,)
        The group of each feature.
    known : ndarray of int (R, H) or None
        Joint contexts that have a feature; elsewhere the function is zero.

    Examples
    --------
    >>> gating = gating_for("group", np.array([[0, 1], [1, 1]]), contexts=2)
    >>> gating.features(np.array([[0, 1]])).tolist(), gating.group.tolist()
    ([[1.0, 0.0, 0.0, 1.0]], [0, 0, 1, 1])
    """

    norm: str
    contexts: int
    group: IntArray
    transform: FloatArray | None = None
    known: IntArray | None = None

    @property
    def groups(self) -> int:
        """Number of groups."""
        return int(self.group.max()) + 1

    def features(self, ids: IntArray) -> FloatArray:
        """Return the gate features (n, R) at contexts ``ids`` (n, H)."""
        if self.known is not None:
            seen: FloatArray = (self._places(ids)[:, None] == np.arange(len(self.known))).astype(np.float64)
            return seen
        affordable("gate features of samples", len(ids), ids.shape[1], self.contexts)
        rows = context_indicators(ids, self.contexts)
        return rows if self.transform is None else rows @ self.transform

    def values(self, zeta: FloatArray, X: FloatArray, ids: IntArray) -> FloatArray:
        """Return f (n,) with weights ``zeta`` (R, d) at inputs ``X`` (n, d) in contexts ``ids`` (n, H)."""
        if self.known is not None:
            features = self._places(ids)
            chosen = zeta[np.maximum(features, 0)]
            joint_values: FloatArray = np.einsum("nd,nd->n", chosen, X) * (features >= 0)
            return joint_values
        blocks = [slice(start, start + FEATURE_BLOCK_ROWS) for start in range(0, len(X), FEATURE_BLOCK_ROWS)]
        values = [np.einsum("nr,nr->n", self.features(ids[rows]), X[rows] @ zeta.T) for rows in blocks]
        return np.concatenate(values) if values else np.zeros(0)

    def _places(self, ids: IntArray) -> IntArray:
        """Return the feature of each joint context, -1 where it has none."""
        assert self.known is not None
        numbers = {row.tobytes(): index for index, row in enumerate(np.ascontiguousarray(self.known))}
        rows = np.ascontiguousarray(ids, dtype=np.int64)
        return np.array([numbers.get(row.tobytes(), -1) for row in rows], dtype=np.int64)


def gating_for(norm: str, ids: npt.ArrayLike, contexts: int) -> Gating:
    """Return the gate features of a norm for units with contexts ``ids`` (n, H) from 0 to ``contexts`` - 1.

    "group" is the limit of two-layer networks, ``sum_h (sum_c |zeta_hc|^2)^(1/2)``; "effective" is the mean over all
    C^H joint contexts of ``|beta_c|^2``; "zeta" is the sum of all ``|zeta_hc|^2``; "one-layer" has weights of its own
    in every joint context; "frozen" reads ids as gates 0 or 1 and drops the weights of closed ones. "published group"
    and "published effective" are the first two as the authors' code computes them: it groups row r into r mod H, and
    has another coefficient in the second; "published effective groups" and "published effective coefficient" have one
    of these two defects alone.

    Examples
    --------
    >>> gating_for("grup", [[0]], 2)
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: norm 'grup' is not known; did you mean 'group'? Norms: group, effective, zeta,
        one-layer, frozen, published group, published effective, published effective groups, published effective
        coefficient
    """
    check_norm(norm)
    rows = as_ids(ids, contexts)
    if norm == "one-layer":
        joint_contexts = np.unique(rows, axis=0)
        return Gating(norm, contexts, np.zeros(len(joint_contexts), dtype=np.int64), known=joint_contexts)
    if norm == "frozen":
        if contexts != 2:
            raise InputError(f"frozen gates are 0 or 1, but there are {contexts} contexts; give 2")
        return Gating(norm, 2, np.arange(rows.shape[1]), transform=np.eye(2 * rows.shape[1])[:, 1::2])
    return _by_unit(norm, rows.shape[1], contexts)


def check_norm(norm: str) -> None:
    """Refuse a norm that is not one of `NORMS`."""
    if norm not in NORMS:
        raise InputError(f"norm {norm!r} is not known;{near_miss(norm, NORMS, f'Norms: {listing(NORMS)}')}")


def _by_unit(norm: str, units: int, contexts: int) -> Gating:
    """Return the features of a norm on weights by unit and context: those rows themselves, or a transform of them."""
    size = units * contexts
    if norm.removeprefix("published ").startswith("effective"):
        affordable(f"transforms of norm {norm!r}", size, size)
        wrong = {"groups": not norm.endswith("coefficient"), "coefficient": not norm.endswith("groups")}
        plain = norm == "effective"
        transform = _effective(units, contexts) if plain else _published_effective(units, contexts, **wrong)
        return Gating(norm, contexts, np.zeros(transform.shape[1], dtype=np.int64), transform)
    affordable("groups of contexts", units, contexts)
    groups = {"group": np.repeat(np.arange(units), contexts), "published group": _published_groups(units, contexts)}
    return Gating(norm, contexts, groups.get(norm, np.zeros(size, dtype=np.int64)))


def _published_groups(units: int, contexts: int) -> IntArray:
    """Return the groups that a column-major reshape makes of rows ordered unit by unit: r mod H, across units."""
    return np.arange(units * contexts) % units


def _effective(units: int, contexts: int) -> FloatArray:
    """Features of the kernel kappa = 1 + sum_h (C [c_h = c_h'] - 1): a constant and centred rows of each unit."""
    centred = np.sqrt(contexts) * (np.eye(contexts) - 1 / contexts)
    rows: FloatArray = np.kron(np.eye(units), centred)
    return np.column_stack([np.full(units * contexts, 1 / units), rows])


def published_transform(units: int, contexts: int, *, groups: bool = True, coefficient: bool = True) -> FloatArray:
    """Return the map (H C, H C) whose image's l2 norm the authors minimise for SVM-L2.

    Meant is zeta' = C zeta_hc - S_h + (sum_h S_h) / sqrt(H), S_h = sum_c zeta_hc, whose squared norm times C^(H-3) is
    the sum of |beta_c|^2. Theirs has the groups of `_published_groups` and the coefficient 1 / (H C) in place of
    1 / sqrt(H); either can be put right.
    """
    size = units * contexts
    group = _published_groups(units, contexts) if groups else np.repeat(np.arange(units), contexts)
    same = (group[:, None] == group).astype(float)
    shared = 1 / size if coefficient else 1 / np.sqrt(units)
    transform: FloatArray = contexts * np.eye(size) - same + np.full((size, size), shared)
    return transform


def _published_effective(units: int, contexts: int, *, groups: bool = True, coefficient: bool = True) -> FloatArray:
    """Features whose squared l2 norm is the published one, with a small ridge since it is degenerate."""
    from scipy.linalg import solve_triangular

    transform = published_transform(units, contexts, groups=groups, coefficient=coefficient)
    lower = np.linalg.cholesky(transform.T @ transform + PUBLISHED_RIDGE * np.eye(len(transform)))
    inverse: FloatArray = solve_triangular(lower, np.eye(len(lower)), lower=True)
    return inverse.T


def context_indicators(ids: IntArray, contexts: int) -> FloatArray:
    """Return the rows [c_h = c], unit by unit: ids (n, H) -> (n, H C).

    Examples
    --------
    >>> context_indicators(np.array([[1, 0]]), 2).tolist()
    [[0.0, 1.0, 1.0, 0.0]]
    """
    rows: FloatArray = (ids[:, :, None] == np.arange(contexts)).astype(np.float64)
    return rows.reshape(len(ids), -1)


def as_ids(ids: npt.ArrayLike, contexts: int) -> IntArray:
    """Return contexts as integers of shape (n, H), or say what is wrong with them."""
    contexts = whole(contexts, "contexts")
    try:
        rows = np.asarray(ids)
    except ValueError:
        raise InputError("the rows of contexts differ in length; give integers (samples, units)") from None
    if rows.ndim != 2 or rows.shape[1] == 0 or rows.dtype.kind not in "iub":
        raise InputError(f"contexts have shape {rows.shape} and dtype {rows.dtype}; give integers (samples, units)")
    rows = rows.astype(np.int64)
    wrong = (rows < 0) | (rows >= contexts)
    if wrong.any():
        sample, unit = np.argwhere(wrong)[0]
        raise InputError(
            f"context {rows[sample, unit]} of unit {unit} is not from 0 to {contexts - 1}; "
            "say how many contexts a unit has"
        )
    return rows


def as_problem(
    X: npt.ArrayLike, y: npt.ArrayLike, ids: npt.ArrayLike, contexts: int
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return inputs (n, d), signs (n,) and contexts (n, H) as arrays, or say what is wrong with them."""
    points, rows, signs = as_points(X), as_ids(ids, contexts), as_signs(y)
    if not len(points) == len(signs) == len(rows) or not len(points):
        raise InputError(f"{len(points)} inputs, {len(signs)} labels and {len(rows)} contexts; give as many of each")
    largest = float(np.abs(points).max())
    if largest and not 1 / MAX_INPUT < largest < MAX_INPUT:
        raise InputError(f"the largest entry of X is {largest:.1e} in size; scale the inputs to about one")
    return points, signs, rows


def as_signs(y: npt.ArrayLike) -> FloatArray:
    """Return labels -1 and +1, or False and True (0 and 1), as floats -1 and +1, or say which one is neither.

    Examples
    --------
    >>> as_signs([False, True]).tolist()
    [-1.0, 1.0]
    >>> as_signs([1, -1, 0])
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: label 2 is 0.0; labels are -1 and +1, or False and True
    """
    signs = as_numbers(y, "labels").astype(np.float64)
    if signs.ndim != 1:
        raise InputError(f"labels have shape {signs.shape}; give one per sample")
    # Both of them, so that labels of one class alone are not guessed.
    if set(signs.tolist()) == {0.0, 1.0}:
        return 2 * signs - 1
    wrong = np.flatnonzero(np.abs(signs) != 1)
    if len(wrong):
        raise InputError(f"label {wrong[0]} is {signs[wrong[0]]}; labels are -1 and +1, or False and True")
    return signs
