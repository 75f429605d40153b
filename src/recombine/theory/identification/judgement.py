"""From null vectors to statements: vanishes, does not vanish, or too close to say."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.theory.identification.nullspace import MAX_ZERO_DISTANCE, MIN_NONZERO_DISTANCE, NullVectors
from recombine.theory.identification.projection import PROJECTION_ERROR
from recombine.verdicts import Verdict

#: How many neighbours of seen cells are looked at before any zero is believed.
PROBED_NEIGHBOURS = 50_000

Codes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Separation:
    """How far apart floating-point zeros and non-zeros were.

    Examples
    --------
    >>> Separation(zero=3e-15, nonzero=0.2, error=1e-14, trusted=True).nonzero
    0.2
    """

    #: The largest value taken for zero and the smallest taken for non-zero (0 and infinity where there is none).
    zero: float
    nonzero: float
    error: float  #: Estimated error of the values.
    trusted: bool  #: Whether the vectors converged and nothing lay between the two thresholds.


class Judgement:
    """Decides cells by null vectors.

    Residues decide every cell. Floats leave a cell undecided when its value lies between the thresholds. They decide
    nothing, except for cells with a conjunction never seen, when the vectors did not converge or when values fill the
    gap: values then fade out gradually, so that a small one may be a number rather than zero, or a large one the trace
    of a seen cell too weak to be felt. Neighbours of the distinct ``seen`` cells (N, C) probe the gap.
    """

    def __init__(self, null: NullVectors, seen: IntArray) -> None:
        self.null = null
        self._seen = seen

    @cached_property
    def _probed(self) -> FloatArray:
        """Distances of some seen cells, then of cells one level away from them, where values that fade out show."""
        generator = np.random.default_rng(self.null.seed)
        picked = np.sort(generator.permutation(len(self._seen))[:PROBED_NEIGHBOURS])
        probes = []
        for shift in (1, max(len(picked) // 3, 1)):
            for factor in range(self._seen.shape[1]):
                moved = self._seen[picked].copy()
                moved[:, factor] = np.roll(moved[:, factor], shift)
                probes.append(moved)
        return self.null.distance(np.concatenate([self._seen[picked], *probes]))

    def gap(self, distances: FloatArray | None = None) -> Separation | None:
        """Return the gap over the probes and ``distances``; None for residues, which need none."""
        if self.null.modulus:
            return None
        values = self._probed if distances is None else np.concatenate([self._probed, distances.reshape(-1)])
        low, high = values[values <= MAX_ZERO_DISTANCE], values[values >= MIN_NONZERO_DISTANCE]
        seen = self._probed[: min(len(self._seen), PROBED_NEIGHBOURS)]
        clean = len(low) + len(high) == len(values) and bool(np.all(seen <= MAX_ZERO_DISTANCE))
        trusted = clean and self.null.error <= PROJECTION_ERROR
        return Separation(float(low.max(initial=0.0)), float(high.min(initial=np.inf)), self.null.error, trusted)

    @cached_property
    def _probes_trusted(self) -> bool:
        gap = self.gap()
        return gap is None or gap.trusted

    def codes(self, cells: IntArray) -> Codes:
        """Return DETERMINED, DISCONNECTED or UNDECIDED for each cell, (N, C) -> (N,)."""
        if self.null.modulus:
            return _exact_codes((self.null.values(cells) == 0).all(axis=1))
        codes = self._float_codes(self.null.distance(cells))
        codes[self.null.holds_free(cells)] = Verdict.DISCONNECTED
        return codes

    def codes_on_grid(self) -> Codes:
        """Return the same on the whole product, shape ``sizes``."""
        if self.null.modulus:
            return _exact_codes(self.null.zero_on_grid())
        codes = self._float_codes(self.null.distances_on_grid())
        codes[self.null.free_on_grid()] = Verdict.DISCONNECTED
        return codes

    def _float_codes(self, distances: FloatArray) -> Codes:
        codes = np.full(distances.shape, Verdict.UNDECIDED, dtype=np.uint8)
        if self._probes_trusted:
            codes[distances >= MIN_NONZERO_DISTANCE] = Verdict.DISCONNECTED
            codes[distances <= MAX_ZERO_DISTANCE] = Verdict.DETERMINED
        return codes


def _exact_codes(zero: BoolArray) -> Codes:
    # Two adjacent codes: arithmetic on bytes is several times faster than a choice.
    return np.uint8(Verdict.DISCONNECTED) - zero.view(np.uint8)
