"""Shares of variance that networks begin with, against their Gram matrices."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.theory.kernels import OverlapKernel, network_shares


@pytest.mark.parametrize("sizes", [(5, 4), (3, 4, 2), (2, 3, 2, 2)])
@pytest.mark.parametrize("depth", [1, 3])
def test_networks_begin_with_the_shares_of_their_gram_matrix(sizes: tuple[int, ...], depth: int) -> None:
    rng = np.random.default_rng(3)
    cells = rng.permutation(np.indices(sizes).reshape(len(sizes), -1).T)[: int(0.7 * np.prod(sizes))]
    kernel = OverlapKernel.ntk(depth=depth, factors=len(sizes))
    expected = np.zeros(len(sizes))
    for chosen, weight in kernel.salience_by_set.items():
        same = (cells[:, None, list(chosen)] == cells[None, :, list(chosen)]).all(axis=2)
        expected[len(chosen) - 1] += weight * (1 - same.mean())
    expected /= expected.sum()
    np.testing.assert_allclose(network_shares(cells, kernel, sizes=len(sizes)), expected, atol=1e-12)
    np.testing.assert_allclose(network_shares(cells, kernel, sizes=2), [expected[0], expected[1:].sum()], atol=1e-12)


def test_too_many_factors_for_a_network_are_refused() -> None:
    with pytest.raises(InputError, match="at most 20"):
        network_shares(np.zeros((3, 21), dtype=np.int64), OverlapKernel.ntk(depth=1, factors=2))
