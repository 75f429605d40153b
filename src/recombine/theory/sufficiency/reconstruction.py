"""Rebuild the components from data on the support alone: the proof of theorem 1, as an algorithm.

Along a path of slot k, with the other slots held at anchors, df/dt = J_k dphi_k/dt. Where the stacked Jacobians W_k
have full column rank this is an ordinary differential equation for phi_k, with a unique solution from a known start
(assumption A4 of Wiedemer et al. 2023). f is only ever asked for on the support.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray
from recombine.checks import reals, whole
from recombine.errors import InputError
from recombine.sample_checks import call, callable_or_refuse
from recombine.theory.compositions.composition import Composition, as_composition
from recombine.theory.compositions.jacobians import Function
from recombine.theory.supports.latents import SAME_VALUE_WITHIN, as_latents, as_text, as_value, slot_number
from recombine.theory.supports.planes import Planes

#: Observations: latents (P, K, D) -> (P, N).
Observed = Callable[[FloatArray], npt.ArrayLike]
#: Steps of the fourth-order Runge-Kutta rule along a path, and points that a derivative along it is taken from.
RUNGE_KUTTA_STEPS, DERIVATIVE_POINTS = 200, 7
#: Singular values of W_k below this share of the largest count as zero.
PATH_RANK_SHARE = 1e-8


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """Components rebuilt on demand; see `reconstruct_components`.

    Examples
    --------
    >>> from recombine.theory.compositions import add
    >>> from recombine.theory.supports import planes
    >>> corner = planes({0: [[0.0]], 1: [[0.0]]})
    >>> found = reconstruct_components(lambda z: z.sum(axis=1) ** 2, add(), corner, [[0.0], [0.0]], [[0.0], [0.0]])
    >>> found.component(0, [[0.5]]).round(9).tolist()
    [[0.25]]
    >>> found
    Reconstruction(2 slots under add, 2 planes, start (0, 0), 200 steps per path)
    """

    observed: Observed
    composition: Composition
    support: Planes
    start: FloatArray
    start_components: tuple[FloatArray, ...]
    steps: int

    def component(self, slot: int, values: npt.ArrayLike) -> FloatArray:
        """Return the component of a slot at values (V, D), shape (V, M), by paths from the start."""
        slot_number(slot, self.support.slots)
        ends = np.stack([as_value(value, self.support.dimensions) for value in np.atleast_1d(np.asarray(values))])
        if not self.support.has_value(slot, ends).all():
            lost = ends[~self.support.has_value(slot, ends)][0]
            raise InputError(f"slot {slot} never takes the value {as_text(lost)} in the support; no path leads there")
        distinct, inverse = np.unique(ends, axis=0, return_inverse=True)
        return self._integrated(slot, distinct)[inverse.reshape(-1)]

    def __call__(self, latents: npt.ArrayLike) -> FloatArray:
        """Return the rebuilt f at any combination (P, K, D), shape (P, N)."""
        points = as_latents(latents, self.support.slots, self.support.dimensions)
        return self.composition(*[self.component(slot, points[:, slot]) for slot in range(points.shape[1])])

    def __repr__(self) -> str:
        planes = f"{len(self.support.free)} planes, start {as_text(self.start)}, {self.steps} steps per path"
        return f"Reconstruction({self.support.slots} slots under {self.composition.name}, {planes})"

    def _integrated(self, slot: int, ends: FloatArray) -> FloatArray:
        planes, components = self._known_planes(slot)
        path = _Path(self, slot, ends, planes, components)
        rates = path.rates()
        component = np.broadcast_to(self.start_components[slot], (len(ends), len(self.start_components[slot]))).copy()
        step = 1 / self.steps
        for number in range(self.steps):
            begin, middle, end = rates[2 * number : 2 * number + 3]
            k1 = path.slope(begin, component)
            k2 = path.slope(middle, component + step / 2 * k1)
            k3 = path.slope(middle, component + step / 2 * k2)
            k4 = path.slope(end, component + step * k3)
            component = component + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return component

    def _known_planes(self, slot: int) -> tuple[FloatArray, list[FloatArray]]:
        """Planes of a slot (L, K, D), and the components of all slots at what they hold, each (L, M_k)."""
        candidates = self.support.held[self.support.free == slot]
        usable = [plane for plane in candidates if self._reachable(slot, plane)]
        if not usable:
            raise InputError(
                f"no plane on which slot {slot} is free can be reached from the start {as_text(self.start)}; "
                "start at a point where planes of different slots cross"
            )
        planes = np.stack(usable)
        return planes, [self._held_component(slot, other, planes[:, other]) for other in range(self.support.slots)]

    def _reachable(self, slot: int, plane: FloatArray) -> bool:
        """A plane can be used if it passes the start, or its held values were rebuilt before."""
        return all(
            _same(plane[other], self.start[other]) or self._order(other) < self._order(slot)
            for other in range(self.support.slots)
            if other != slot
        )

    def _order(self, slot: int) -> int:
        """Slots with a plane through the start come first; among them, in their own order."""
        through = [
            number
            for number in range(self.support.slots)
            if any(
                all(_same(plane[other], self.start[other]) for other in range(self.support.slots) if other != number)
                for plane in self.support.held[self.support.free == number]
            )
        ]
        counts = {number: int((self.support.free == number).sum()) for number in through}
        ranked = sorted(through, key=lambda number: (counts[number], number))
        return ranked.index(slot) if slot in ranked else len(ranked)

    def _held_component(self, slot: int, other: int, values: FloatArray) -> FloatArray:
        if other == slot:
            return np.broadcast_to(self.start_components[slot], (len(values), len(self.start_components[slot])))
        rows = [
            self.start_components[other] if _same(value, self.start[other]) else self._integrated(other, value[None])[0]
            for value in values
        ]
        return np.stack(rows)


@dataclass(frozen=True, eq=False)
class _Path:
    """Straight lines of one slot from the start to ``ends`` (V, D), on each of L planes."""

    of: Reconstruction
    slot: int
    ends: FloatArray
    planes: FloatArray
    held: list[FloatArray]

    def rates(self) -> FloatArray:
        """df/dt on each plane at the ends and middles of all steps, (2 steps + 1, V, L, N)."""
        count = 2 * self.of.steps + 1
        values = self._observed(np.linspace(0, 1, count))
        starts = np.clip(np.arange(count) - DERIVATIVE_POINTS // 2, 0, count - DERIVATIVE_POINTS)
        by_offset = {
            offset: _derivative_weights(np.arange(DERIVATIVE_POINTS) - offset) for offset in range(DERIVATIVE_POINTS)
        }
        weights = np.stack([by_offset[index - begin] for index, begin in enumerate(starts.tolist())])
        windows = values[starts[:, None] + np.arange(DERIVATIVE_POINTS)]
        return np.asarray(np.einsum("ts,tsvln->tvln", weights, windows) * (count - 1))

    def _observed(self, times: FloatArray) -> FloatArray:
        """Return f at times from 0 to 1, (T, V, L, N)."""
        begin = self.of.start[self.slot]
        shape = (len(times), len(self.ends), *self.planes.shape)
        points = np.broadcast_to(self.planes, shape).copy()
        points[:, :, :, self.slot] = (begin + times[:, None, None] * (self.ends - begin))[:, :, None]
        flat = points.reshape(-1, *shape[3:])
        values = _observations(self.of.observed, flat)
        return values.reshape(*shape[:3], -1)

    def slope(self, rate: FloatArray, current: FloatArray) -> FloatArray:
        """dphi/dt = pinv(W) df/dt, (V, M)."""
        components = [np.broadcast_to(component, (len(current), *component.shape)) for component in self.held]
        components[self.slot] = np.repeat(current[:, None], len(self.planes), axis=1)
        jacobians = self.of.composition.jacobian(self.slot, components)
        stack = jacobians.reshape(len(current), -1, jacobians.shape[-1])
        U, values, Vt = np.linalg.svd(stack, full_matrices=False)
        self._require_rank(values, stack.shape[-1])
        along = np.swapaxes(U, 1, 2) @ rate.reshape(len(current), -1, 1)
        return np.asarray((np.swapaxes(Vt, 1, 2) @ (along / values[..., None]))[..., 0])

    def _require_rank(self, values: FloatArray, columns: int) -> None:
        full = (values > PATH_RANK_SHARE * values.max(initial=0.0)).sum(axis=-1) == columns
        if not full.all():
            raise InputError(
                f"slot {self.slot} on the way to {as_text(self.ends[~full][0])}: the Jacobians at its "
                f"{len(self.planes)} known anchors do not have full rank ({columns} unknowns), so the data do not fix "
                "the component there; hold the others at more values"
            )


def _observations(observed: Observed, points: FloatArray) -> FloatArray:
    """Ask for f at points (P, K, D), shape (P, N)."""
    values = reals(call(observed, "the observed function", points), "observations")
    if values.ndim != 2 or len(values) != len(points):
        raise InputError(f"the observed function gave shape {values.shape} for {len(points)} points; return (P, N)")
    return values


def _same(a: FloatArray, b: FloatArray) -> bool:
    return bool((np.abs(a - b) <= SAME_VALUE_WITHIN).all())


def _derivative_weights(offsets: IntArray) -> FloatArray:
    """Weights with which values at ``offsets`` give the derivative at 0, exact for polynomials."""
    powers = np.vander(offsets.astype(float), increasing=True).T
    return np.linalg.solve(powers, np.eye(len(offsets))[1])


def reconstruct_components(
    observed: Observed,
    composition: Composition | Function,
    support: Planes,
    start: npt.ArrayLike,
    start_components: Sequence[npt.ArrayLike],
    *,
    steps: int = RUNGE_KUTTA_STEPS,
) -> Reconstruction:
    """Rebuild components, and with them f at every combination, from f on a union of planes.

    Parameters
    ----------
    observed : callable
        Latents (P, K, D) -> f (P, N). It is only called on the support.
    support : Planes
        The planes must cross in ``start``; one slot needs full rank from the plane through it alone.
    start : array (K, D)
        A point of the support where the components are known.
    start_components : sequence of K arrays (M_k,)
        The components there. A wrong start gives a wrong f, unless the error is a gauge such as opposite shifts.
    steps : int
        Runge-Kutta steps along each path.

    Returns
    -------
    Reconstruction
        Call it with latents (P, K, D); or ask for ``.component(slot, values)``.

    Examples
    --------
    >>> from recombine.theory.compositions import product
    >>> from recombine.theory.supports import planes
    >>> def truth(z):
    ...     return np.exp(z[:, 0]) * (2 + np.sin(z[:, 1]))
    >>> corner = planes({0: [[0.0]], 1: [[0.0]]})
    >>> found = reconstruct_components(truth, product(), corner, [[0.0], [0.0]], [[1.0], [2.0]])
    >>> bool(abs(found([[[0.7], [0.9]]]) - truth(np.array([[[0.7], [0.9]]]))).max() < 1e-9)
    True
    """
    if not isinstance(support, Planes):
        raise InputError(f"components are rebuilt along planes, not a {type(support).__name__}; see supports.planes")
    callable_or_refuse(observed, "the observed function")
    # Derivatives along a path are taken from seven of its 2 steps + 1 points.
    whole(steps, "steps", DERIVATIVE_POINTS // 2)
    begin = as_latents(reals(start, "coordinates of the start")[None], support.slots, support.dimensions)
    if not support.contains(begin)[0]:
        raise InputError(f"the start {as_text(begin[0])} is not on any of the planes; start at a point of the support")
    if not isinstance(start_components, (Sequence, np.ndarray)):
        raise InputError(f"start components are {start_components!r}; give a list with one array (M,) for each slot")
    if len(start_components) != support.slots:
        raise InputError(f"{len(start_components)} start components were given for {support.slots} slots")
    components = tuple(np.atleast_1d(reals(component, "start components")) for component in start_components)
    if any(component.ndim != 1 for component in components):
        raise InputError(
            f"start components have shapes {[component.shape for component in components]}; give one (M,) for each slot"
        )
    rule = as_composition(composition)
    composed, seen = rule(*[component[None] for component in components]), _observations(observed, begin)
    if composed.shape != seen.shape:
        raise InputError(
            f"{rule.name} makes {composed.shape[-1]} numbers of the start components but {seen.shape[-1]} were "
            "observed; give the composition and components of these observations"
        )
    return Reconstruction(observed, rule, support, begin[0], components, steps)
