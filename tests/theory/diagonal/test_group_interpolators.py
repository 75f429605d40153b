"""Interpolators of least group norm: published numbers, pinning, and where weight decay leads."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.theory.diagonal.flow import Weights, decayed_limit, gradient_flow
from recombine.theory.diagonal.penalties import group_norm

X = np.cos(np.outer(np.arange(1, 4), np.arange(1, 7)))

Y = np.array([1.0, -0.5, 0.25])

B = np.array([1.0, -0.7, 0.0, 0.0, 0.4, 0.0])

X1 = np.cos(np.outer(np.arange(1, 5), np.arange(1, 7)))

X2 = np.sin(np.outer(np.arange(1, 4), np.arange(1, 7)) + 1)

TASKS = [(X1, X1 @ B), (X2, Y)]


class TestGroupNorm:
    """Multi-task learning: the group norm is where weight decay leads, and not where small weights lead."""

    @pytest.fixture(autouse=True)
    def _solver(self) -> None:
        pytest.importorskip("clarabel")

    def test_it_has_its_reference_answers(self) -> None:
        from recombine.theory.diagonal.group_interpolators import least_group_norm, least_multitask

        found = least_group_norm([(X1, X1 @ B), (X2, Y)])
        assert found.objective == pytest.approx(2.865619, abs=6e-7)
        assert found.value[:, 0] == pytest.approx((1.273153, -0.305900, 0.091386, -0.288463, 0.112117, 0), abs=2e-6)
        assert found.value[:, 1] == pytest.approx((0.296089, 0.151539, -0.720956, -0.132386, -0.131749, 0), abs=2e-6)
        pinned = least_multitask(X, Y, B)
        assert pinned.value == pytest.approx((0.274035, -0.147103, -0.627120, 0, 0.026894, 0.168979), abs=2e-6)
        assert pinned.objective == pytest.approx(0.84915996, abs=6e-9)

    def test_pinning_is_what_plenty_of_auxiliary_samples_do(self) -> None:
        from recombine.theory.diagonal.group_interpolators import least_group_norm, least_multitask

        both = least_group_norm([(np.eye(6), B), (X, Y)])
        assert both.objective - np.abs(B).sum() == pytest.approx(least_multitask(X, Y, B).objective, abs=1e-8)

    @pytest.mark.parametrize("seed", range(3))
    def test_vanishing_weight_decay_reaches_it_from_random_weights(self, seed: int) -> None:
        assert float(group_norm(decayed_limit(TASKS, seed).beta)) == pytest.approx(2.865619, abs=1e-6)

    def test_small_weights_lead_away_from_it(self) -> None:
        norms = [
            float(group_norm(gradient_flow(TASKS, Weights.alike(6, alpha, outputs=2)).beta))
            for alpha in (0.1, 1e-3, 1e-6)
        ]
        assert norms == pytest.approx([2.9149, 3.0782, 3.2024], abs=1e-4)

    def test_unreachable_targets_are_refused(self) -> None:
        from recombine.theory.diagonal.group_interpolators import least_group_norm, least_multitask

        with pytest.raises(InputError, match="the targets cannot be reached: no coefficients of the 2 inputs come"):
            least_multitask([[1.0, 1.0], [1.0, 1.0]], [0.0, 1.0], [1.0, 0.0])
        with pytest.raises(InputError, match="the targets of task 1 cannot be reached"):
            least_group_norm([(X, Y), (np.ones((7, 6)), np.arange(7.0))])

    def test_tasks_that_do_not_fit_are_named(self) -> None:
        from recombine.theory.diagonal.group_interpolators import least_group_norm, least_multitask

        with pytest.raises(InputError, match=r"inputs of task 1 have shape \(3, 4\)"):
            least_group_norm([(X, Y), (X[:, :4], Y)])
        with pytest.raises(InputError, match="no task was given"):
            least_group_norm([])
        with pytest.raises(InputError, match="targets are not all finite"):
            least_multitask(X, [1.0, np.nan, 0.0], B)
        with pytest.raises(InputError, match="auxiliary has shape"):
            least_multitask(X, Y, B[:4])
