"""Support on the paper's sprites: what occlusion hides, and what nothing can show."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from recombine.cells.arrays import FloatArray
from recombine.lab.worlds.rendered import sprites
from recombine.theory.compositions import occlude, rgba
from recombine.theory.sufficiency.conditions import gauge_aware_support, sufficient_support
from recombine.theory.supports import box, planes
from recombine.verdicts import Verdict

ORIGIN, HALF, FAR = np.zeros(5), np.array([0.5, 0.5, 0.5, 0.0, 0.5]), np.array([1.0, 1.0, 1.0, 0.0, 1.0])


def layers(alpha: bool) -> Callable[[FloatArray], FloatArray]:
    """Sprites as components: (P, 64 * 64, channels)."""
    return lambda z: np.moveaxis(np.asarray(sprites.sprite_layers(z, alpha=alpha)), -3, -1).reshape(len(z), 64 * 64, -1)


class TestSprites:
    """The table of compositions on the paper's sprites."""

    one, two = planes({0: [FAR], 1: [ORIGIN]}), planes({0: [FAR], 1: [ORIGIN, HALF]})

    def test_hard_occlusion_hides_the_pixels_of_one_anchor(self) -> None:
        parts = [layers(False)] * 2
        hidden = sufficient_support(self.one, occlude(), parts, probes=3).slots[1]
        assert (hidden.shares * 4096).round().tolist() == [4056] * 3
        assert np.array_equal(~hidden.good[0], sprites.sprite_masks(ORIGIN).reshape(-1))
        shown = sufficient_support(self.two, occlude(), parts, probes=3)
        assert shown.slots[1].passed == 3
        assert shown.slots[0].passed == 0
        assert shown.verdict is Verdict.UNDECIDED
        # Where the front is transparent no support says anything about it: the share of full blocks is its mask.
        covered = sprites.sprite_masks(shown.slots[0].values).reshape(3, -1)
        assert np.array_equal(shown.slots[0].good, covered)

    @pytest.mark.slow
    def test_gauge_aware_support_forgives_what_nothing_shows(self) -> None:
        parts = [layers(False)] * 2
        hidden = gauge_aware_support(self.one, occlude(), parts, probes=2, combinations=16)
        assert (1 - hidden.slots[1].shares).round(4).tolist() == [0.0098] * 2
        assert gauge_aware_support(self.two, occlude(), parts, probes=2, combinations=16).holds

    def test_soft_occlusion_passes_with_one_anchor(self) -> None:
        found = sufficient_support(self.one, occlude("soft"), [layers(False)] * 2, probes=3)
        assert found.holds
        assert all((slot.anchors == 1).all() for slot in found.slots)
        assert all((slot.smallest > 0.1).all() for slot in found.slots)

    @pytest.mark.slow
    def test_rgba_never_has_full_rank(self) -> None:
        found = sufficient_support(box(2, 5), rgba(), [layers(True)] * 2, probes=1)
        assert not any(slot.passed for slot in found.slots)
        gauge = gauge_aware_support(self.two, rgba(), [layers(True)] * 2, probes=1, combinations=32)
        assert 0.3 < 1 - gauge.slots[0].shares.mean() < 0.8
