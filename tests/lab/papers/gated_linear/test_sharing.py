"""Filters shared over places: with one place they are the gated units whose limit another solver knows."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.lab.papers.gated_linear.experiments.sharing import dual_bound, patches_by_context, sharing
from recombine.lab.runs.experiment import Unit
from recombine.theory.gated.margin import largest_margin

SETTING = {"samples": 6, "inputs": 2, "units": 2, "starts": 4, "seeds": [100]}


@pytest.mark.parametrize("seed", range(3))
def test_with_one_place_the_bound_is_the_group_norm(seed: int) -> None:
    generator = np.random.default_rng(seed)
    patches, gates = generator.normal(size=(7, 1, 2)), generator.normal(size=(3, 2))
    summed = patches_by_context(patches, gates).sum(axis=1)
    signs = np.where(np.tensordot(summed, generator.normal(size=summed.shape[1:]), axes=3) > 0, 1.0, -1.0)
    ids = (patches[:, 0] @ gates.T > 0).astype(np.int64)
    known = largest_margin(patches[:, 0], signs, ids, contexts=2, tolerance=1e-11)
    assert dual_bound(signs[:, None, None, None] * summed) == pytest.approx(known.value, rel=1e-6)


def test_patches_of_a_unit_add_up_to_the_input_whatever_its_gate() -> None:
    generator = np.random.default_rng(0)
    patches = generator.normal(size=(5, 4, 3))
    by_context = patches_by_context(patches, generator.normal(size=(2, 3)))
    assert np.allclose(by_context.sum(axis=3), patches[:, :, None, :])
    assert np.all((by_context == 0).any(axis=3))


@pytest.mark.slow
def test_with_one_place_sharing_changes_nothing_and_with_three_it_does() -> None:
    alone = sharing(Unit("sharing", 1, SETTING | {"places": 1}))[0]
    assert alone["unshared"] == pytest.approx(alone["shared"], rel=1e-5)
    several = sharing(Unit("sharing", 1, SETTING | {"places": 3}))[0]
    assert several["unshared"] != pytest.approx(several["shared"], rel=1e-2)
