"""First principles, small worlds: penalties are what autograd says, steps are whole pixels, maps see a bad latent."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.lab.papers.first_principles.experiments.assumptions import MAP_OF, assumptions, stepped
from recombine.lab.papers.first_principles.experiments.readers.penalties import contrast, mixed_curvature
from recombine.lab.papers.first_principles.grids import ASSUMED, TINY
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.rendered.blobs import render_blobs

torch = pytest.importorskip("torch")


def _network(seed: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    shapes = ((1, 6, 8), (1, 8, 6), (1, 3, 8))
    first, second, inputs = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes)
    return first, second, inputs


def test_the_contrast_is_that_of_the_network_s_jacobian() -> None:
    first, second, inputs = _network(0)
    hidden = inputs @ first.mT
    slopes = torch.where(hidden > 0, 1.0, 0.2).double()
    expected = 0.0
    for row in inputs[0]:
        jacobian = torch.autograd.functional.jacobian(
            lambda x: second[0] @ torch.nn.functional.leaky_relu(first[0] @ x, 0.2), row
        )
        norms = jacobian.reshape(4, 2, 4, 2).pow(2).sum((1, 3)).sqrt()
        expected += sum(float(norms[o, a] * norms[o, b]) for o in range(4) for a in range(4) for b in range(a))
    assert float(contrast(first, second, slopes)) == pytest.approx(expected / 3, rel=1e-4)


def test_mixed_curvature_is_that_of_the_network_s_second_derivatives() -> None:
    first, second, inputs = _network(1)
    level = torch.tanh(inputs @ first.mT)
    total = 0.0
    for row in inputs[0]:
        for output in second[0]:
            hessian = torch.autograd.functional.hessian(lambda x, w=output: w @ torch.tanh(first[0] @ x), row)
            blocks = hessian.reshape(4, 2, 4, 2).pow(2).sum((1, 3))
            total += float(blocks.sum() - blocks.diagonal().sum())
    bends = -2 * level * (1 - level**2)
    assert float(mixed_curvature(first, second, bends)) == pytest.approx(total / (3 * 8), rel=1e-9)


def test_a_world_in_steps_moves_by_whole_pixels_and_keeps_its_hues() -> None:
    units = np.random.default_rng(0).random((500, 2, 3))
    places = stepped(units)
    assert len(np.unique(places[..., 0].round(9))) <= 10
    np.testing.assert_array_equal(places[..., 2], units[..., 2])
    assert np.abs(places - units)[..., :2].max() <= 0.5 / (12 * 0.7) + 1e-12
    # A shift too small to reach the next pixel changes nothing.
    moved = places + np.array([1e-6, 1e-6, 0])
    np.testing.assert_array_equal(render_blobs(stepped(moved)), render_blobs(places))


def test_each_case_differs_from_its_control_in_one_thing() -> None:
    for case in ASSUMED:
        assert min(sum(a != b for a, b in zip(case, other, strict=True)) for other in ASSUMED if other != case) == 1


def test_a_shared_component_has_half_the_parameters_and_maps_have_all_pairs() -> None:
    about = {**TINY, "samples": 64, "tests": 200, "steps": 2, "targets": "soft", "renderer": "smooth", "seeds": [0]}
    (row,) = assumptions(Unit("a", 1, {**about, "support": "orthogonal gap", "model": "shared"}))
    maps = {name: value for name, value in row.items() if name.startswith(MAP_OF)}
    assert len(maps) == 15
    assert min(maps.values()) >= 1
