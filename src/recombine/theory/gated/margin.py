"""Maximum margins of gated linear functions under any of their norms, as multiple-kernel learning with a certificate.

min sum_g |zeta_g| subject to y_i f(x_i) >= 1 has n dual variables instead of H C d primal ones: with the kernels
K_g = K o (Z_g Z_g') of the gate features,
    max sum a   subject to   a >= 0 and (a o y)' K_g (a o y) <= 1 for every group g.
Write the norm as min over eta >= 0 of sum_g (|zeta_g|^2 / eta_g + eta_g) / 2. For given eta it is one support vector
machine with kernel sum_g eta_g K_g, and its value J(eta) is convex with known gradient and Hessian, so Newton's method
finds eta in a few steps. Whatever eta is, scaling its a to the constraints and its zeta to margins of one gives a lower
and an upper bound on the optimum: their distance is the certificate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray, affordable
from recombine.cells.brief import record
from recombine.cells.threads import one_thread
from recombine.checks import real, whole
from recombine.errors import InputError, SolverError
from recombine.theory.gated.contexts import as_points
from recombine.theory.gated.features import Gating, as_ids, as_problem, check_norm, gating_for
from recombine.theory.gated.machine import (
    Machine,
    NotSeparableError,
    UndecidedError,
    inseparability_certificate,
    machine_for,
)

#: A unit is tight when its constraint is within this of one.
TIGHT_WITHIN_SHARE = 1e-4
#: Shrinking steps of Newton's line search before a plain fixed-point step is taken instead.
MAX_HALVINGS = 8
#: Steps without a better certificate after which rounding is taken to be the limit, and the worst gap then accepted.
STALLED_STEPS, MAX_STALLED_GAP = 10, 1e-6
#: The same for a single group, whose one machine is all there is to solve.
MAX_SINGLE_GROUP_GAP = 1e-4
#: Rises of the objective that can be rounding.
OBJECTIVE_ROUNDING = 1e-8
#: A sum is zero when it is this much smaller than its terms, or by this many roundings of them: those of offset inputs
#: grow with the offset. More than the largest is no rounding, however ill-conditioned the inputs are.
ZERO_WEIGHT_SHARE, MAX_ZERO_WEIGHT_SHARE, ROUNDINGS = 1e-8, 1e-6, 16 * np.finfo(np.float64).eps
#: Prices times the mean square of a sample's features within which they are neither lost beside one nor infinite.
MIN_PRICE, MAX_PRICE = 1e-100, 1e14


@record
class GatedMargin:
    """The function of largest margin under one norm, with the certificate that it is one.

    Attributes
    ----------
    gating : Gating
        Features and groups of the norm.
    zeta : ndarray (R, d)
        Weights by gate feature, scaled so that every margin is at least one (where C is infinite).
    dual : ndarray (n,)
        a >= 0, scaled so that no group's constraint is above one.
    pressure : ndarray (G,)
        ((a o y)' K_g (a o y))^(1/2), at most one; groups below one have no weights.
    bounds : tuple of float
        Lower and upper bound on the sum of group norms (plus the price of violations where C is finite).
    steps : int
        Support vector machines that were solved.
    """

    gating: Gating
    zeta: FloatArray
    dual: FloatArray
    pressure: FloatArray
    bounds: tuple[float, float]
    steps: int
    route: str = "multiple kernels"

    @property
    def norm(self) -> float:
        """The sum over groups of the norm of their weights."""
        return float(self.group_norms.sum())

    @property
    def value(self) -> float:
        """The cost as usually written: `norm` where there are several groups, else its square.

        Of "effective" it is the *mean* over all C^H joint contexts; `least_effective_squares` is their sum.
        """
        return self.norm if self.gating.norm in ("group", "published group", "frozen") else self.norm**2

    @cached_property
    def group_norms(self) -> FloatArray:
        """Norm of each group's weights, shape (G,)."""
        squares = np.bincount(self.gating.group, (self.zeta**2).sum(axis=1), minlength=self.gating.groups)
        return np.asarray(np.sqrt(squares))

    @property
    def gap(self) -> float:
        """Upper minus lower bound, relative to the upper: how far from optimal this can be at most."""
        return (self.bounds[1] - self.bounds[0]) / self.bounds[1]

    @property
    def tight(self) -> BoolArray:
        """Groups whose constraint is met with equality, shape (G,): only they can have weights."""
        return self.pressure > 1 - TIGHT_WITHIN_SHARE

    @property
    def support(self) -> IntArray:
        """Samples with a positive dual weight; their margin is exactly one."""
        return np.flatnonzero(self.dual > 1e-9 * self.dual.max(initial=0.0))

    def decision(self, X: npt.ArrayLike, ids: npt.ArrayLike) -> FloatArray:
        """Return f (n,) at inputs ``X`` (n, d) in contexts ``ids`` (n, H)."""
        points = as_points(X, self.zeta.shape[1])
        return self.gating.values(self.zeta, points, as_ids(ids, self.gating.contexts))


def largest_margin(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    ids: npt.ArrayLike,
    *,
    contexts: int,
    norm: str = "group",
    C: float = np.inf,
    tolerance: float = 1e-9,
    max_steps: int = 200,
) -> GatedMargin:
    """Return the gated linear function of least norm whose margins are all at least one.

    Parameters
    ----------
    X : array (n, d)
        Inputs; append a column of ones for a bias in every context.
    y : array (n,)
        Labels -1 and +1, or False and True (0 and 1).
    ids : array of int (n, H)
        Context of each unit, e.g. from `HalfSpaces.ids`; gates 0 or 1 for frozen ReLU units.
    contexts : int
        Contexts of a unit.
    norm : str
        See `recombine.theory.gated.gating_for`.
    C : float
        Price of violated margins, C / 2 times the sum of their squares; infinite for the hard margin.
    tolerance : float
        Relative gap between upper and lower bound at which it stops. Where rounding forbids it (nearly parallel
        inputs), a gap of up to 1e-6 is accepted, and of 1e-4 where there is one group; the answer always has its own.
    max_steps : int
        Steps after which it gives up.

    Raises
    ------
    NotSeparableError
        If no gated linear function of this architecture has positive margins and C is infinite. There is then a
        certificate: weights p >= 0 of the samples with sum_i p_i y_i z_r(x_i) x_i = 0 for every gate feature.
    UndecidedError
        If there may be one, but with a margin that rounding hides beside inputs of this size.

    Examples
    --------
    Two units, one that looks at the sign of each input; the labels are exclusive or:

    >>> X = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [-1.0, 1.0, 1.0], [-1.0, -1.0, 1.0]])
    >>> found = largest_margin(X, [1, -1, -1, 1], (X[:, :2] > 0).astype(int), contexts=2)
    >>> round(found.norm, 6), found.gap < 1e-8, found.tight.tolist()
    (1.414214, True, [True, True])
    """
    check_norm(norm)
    points, signs, rows = as_problem(X, y, ids, contexts)
    tolerance, max_steps = real(tolerance, "tolerance", above=0), whole(max_steps, "max_steps")
    affordable("kernels of samples", len(points), len(points))
    gating = gating_for(norm, rows, contexts)
    problem = _Problem(points, signs, gating.features(rows), gating, real(C, "C", above=0, finite=False))
    problem.check_price()
    with one_thread():
        try:
            return _newton(problem, tolerance, max_steps)
        except UndecidedError:
            if problem.inseparable():
                raise NotSeparableError from None
            raise


@dataclass(frozen=True, eq=False)
class _Problem:
    """Inputs (n, d), signs (n,), gate features (n, R), and what follows from them for given eta (G,)."""

    X: FloatArray
    y: FloatArray
    features: FloatArray
    gating: Gating
    C: float

    @cached_property
    def gram(self) -> FloatArray:
        """Signed Gram matrix of the inputs alone, shape (n, n)."""
        signed = self.X * self.y[:, None]
        return signed @ signed.T

    def check_price(self) -> None:
        """Refuse a finite C that rounding cannot tell from zero or from infinity."""
        square = float(((self.X**2).sum(axis=1) * (self.features**2).sum(axis=1)).mean())
        if np.isfinite(self.C) and square and not MIN_PRICE <= self.C * square <= MAX_PRICE:
            lowest, highest = MIN_PRICE / square, MAX_PRICE / square
            raise InputError(f"C is {self.C}; give inf for the hard margin, or from {lowest:.0e} to {highest:.0e}")

    @cached_property
    def members(self) -> FloatArray:
        """Which feature is in which group, shape (R, G)."""
        return np.eye(self.gating.groups)[self.gating.group]

    def solved(self, eta: FloatArray, start: BoolArray | None) -> Machine:
        """Solve the support vector machine with kernel sum_g eta_g K_g."""
        weighted = self.features * np.sqrt(eta[self.gating.group])
        return machine_for(self.gram * (weighted @ weighted.T), self.C, start)

    def inseparable(self) -> bool:
        """Tell whether there is a certificate p that no function has positive margins, sum_i p_i y_i z(x_i) x_i' = 0.

        Bases of inputs and of features have the same certificates as they have, but not their scales and offsets.
        """
        if not (self.X.any(axis=1) & self.features.any(axis=1)).all():
            return True
        (inputs, far), (gates, near) = _basis(self.X), _basis(self.features)
        inputs = inputs * self.y[:, None]
        try:
            shares = inseparability_certificate((inputs @ inputs.T) * (gates @ gates.T))
        except SolverError:
            return False
        sizes = np.linalg.norm(inputs, axis=1) * np.linalg.norm(gates, axis=1)
        zero = np.clip(ROUNDINGS * (far + near), ZERO_WEIGHT_SHARE, MAX_ZERO_WEIGHT_SHARE)
        return bool(np.linalg.norm((gates * shares[:, None]).T @ inputs) <= zero * (shares @ sizes))

    def duals_by_feature(self, dual: FloatArray) -> FloatArray:
        """Return u_r = sum_i a_i y_i z_r(x_i) x_i, shape (R, d)."""
        support = np.flatnonzero(dual)
        return (self.features[support] * (dual * self.y)[support, None]).T @ self.X[support]

    def pressures(self, u: FloatArray) -> FloatArray:
        """Return (a o y)' K_g (a o y), shape (G,)."""
        squares: FloatArray = (u**2).sum(axis=1) @ self.members
        return squares

    def by_group(self, u: FloatArray, rows: IntArray) -> FloatArray:
        """Return (Q_g a)_i for samples ``rows``, shape (rows, G), Q_g being K_g with signs."""
        return (self.features[rows] * (self.X[rows] @ u.T) * self.y[rows, None]) @ self.members


def _basis(columns: FloatArray) -> tuple[FloatArray, float]:
    """Return orthonormal columns (n, rank) that span the same as those of (n, k), and how rounding grows in them."""
    used = columns[:, np.abs(columns).max(axis=0) > 0]
    U, sizes, _ = np.linalg.svd(used / np.abs(used).max(axis=0), full_matrices=False)
    nonzero = sizes > max(used.shape) * np.finfo(np.float64).eps * sizes.max(initial=0.0)
    return U[:, nonzero], float(sizes[0] / sizes[nonzero][-1])


@dataclass(frozen=True, eq=False)
class _State:
    """Where the search stands: eta (G,), its machine, u (R, d), squared pressures (G,)."""

    eta: FloatArray
    machine: Machine
    u: FloatArray
    squares: FloatArray

    @property
    def objective(self) -> float:
        """J(eta) + sum(eta) / 2, which Newton's method lowers."""
        return float(self.machine.dual.sum() + self.eta.sum()) / 2


def _at(problem: _Problem, eta: FloatArray, start: BoolArray | None) -> _State:
    machine = problem.solved(eta, start)
    u = problem.duals_by_feature(machine.dual)
    return _State(eta, machine, u, problem.pressures(u))


def _newton(problem: _Problem, tolerance: float, max_steps: int) -> GatedMargin:
    """Lower the objective until the bounds meet."""
    state = _at(problem, np.ones(problem.gating.groups), None)
    best = _certified(problem, state, 1)
    if problem.gating.groups == 1 and np.isinf(problem.C) and abs(best.gap) <= MAX_SINGLE_GROUP_GAP:
        return best
    since, steps = 0, 1
    while not (abs(best.gap) <= tolerance or (since >= STALLED_STEPS and abs(best.gap) <= MAX_STALLED_GAP)):
        if steps == max_steps:
            raise SolverError(
                f"the bounds are still {best.gap:.1e} apart after {max_steps} steps; scale the inputs or lower C"
            )
        steps += 1
        # Two fixed-point steps first: from equal weights they go most of the way, and never up.
        state = _fixed_point(problem, state) if steps < 4 else _descend(problem, state)
        margin = _certified(problem, state, steps)
        best, since = (margin, 0) if abs(margin.gap) < abs(best.gap) else (best, since + 1)
    return best


def _fixed_point(problem: _Problem, state: _State) -> _State:
    """Set eta to the group norms that the machine has: the minimum over eta for its weights."""
    return _at(problem, state.eta * np.sqrt(state.squares), state.machine.dual > 0)


def _descend(problem: _Problem, state: _State) -> _State:
    """Take Newton's step within eta >= 0, shortened until the objective falls."""
    step = _newton_step(problem, state)
    slope = float((1 - state.squares) @ step) / 2
    for halving in range(MAX_HALVINGS):
        share = 0.5**halving
        try:
            trial = _at(problem, np.maximum(state.eta + share * step, 0.0), state.machine.dual > 0)
        except SolverError:
            continue
        if trial.objective <= state.objective * (1 + OBJECTIVE_ROUNDING) + 1e-4 * share * slope:
            return trial
    return _fixed_point(problem, state)


def _newton_step(problem: _Problem, state: _State) -> FloatArray:
    """Minimise the quadratic model over eta >= 0; second derivatives are (Q_g a)' Q^-1 (Q_k a) on the support."""
    from recombine.theory.gated.pivoting import nonnegative_minimum

    support = np.flatnonzero(state.machine.dual)
    reach = problem.by_group(state.u, support)
    hessian = reach.T @ state.machine.solve(support, reach)
    hessian += 1e-12 * np.trace(hessian) / len(hessian) * np.eye(len(hessian)) + 1e-300
    linear = hessian @ state.eta - (1 - state.squares) / 2
    target, _ = nonnegative_minimum(hessian, linear, state.eta > 0)
    step: FloatArray = target - state.eta
    return step


def _certified(problem: _Problem, state: _State, steps: int) -> GatedMargin:
    """Scale weights and duals to what is allowed, and put a bound on either side of the optimum."""
    dual, squares = state.machine.dual, state.squares
    # No group feels anything where every input is zero.
    worst = float(np.sqrt(squares.max())) or np.finfo(np.float64).tiny
    zeta = state.eta[problem.gating.group, None] * state.u
    norms = state.eta * np.sqrt(squares)
    if np.isinf(problem.C):
        share = 1 / worst
        upper = float(norms.sum()) / state.machine.margin
        zeta = zeta / state.machine.margin
        lower = share * float(dual.sum())
    else:
        square = float((dual**2).sum()) / problem.C
        share = min(1 / worst, float(dual.sum()) / square)
        lower = share * float(dual.sum()) - share**2 * square / 2
        upper = float(norms.sum()) + problem.C / 2 * float((state.machine.violations**2).sum())
    return GatedMargin(problem.gating, zeta, share * dual, share * np.sqrt(squares), (lower, upper), steps)
