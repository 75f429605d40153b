"""Scores against polyfit and plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.measures.outputs.scores import fitted_line, margin, sign_accuracy


def test_lines_are_those_of_polyfit_for_every_model() -> None:
    generator = np.random.default_rng(0)
    target, outputs = generator.normal(size=20) + 3, generator.normal(size=(2, 3, 20))
    slope, offset = fitted_line(target, outputs)
    assert slope.shape == offset.shape == (2, 3)
    for place in np.ndindex(2, 3):
        assert [slope[place], offset[place]] == pytest.approx(np.polyfit(target, outputs[place], 1).tolist())


def test_signs_and_margins_are_counted_one_by_one() -> None:
    generator = np.random.default_rng(1)
    target, outputs = generator.choice([-2.0, 1.0], size=30), generator.normal(size=(4, 30))
    outputs[:, ::5] = 0.0
    accuracy, mean = sign_accuracy(target, outputs), margin(target, outputs)
    for place, row in enumerate(outputs):
        points = [0.5 if f == 0 else float(y * f > 0) for y, f in zip(target, row, strict=True)]
        assert accuracy[place] == pytest.approx(sum(points) / 30)
        assert mean[place] == pytest.approx(sum(y * f for y, f in zip(target, row, strict=True)) / 30)


def test_tiny_outputs_still_have_a_sign() -> None:
    assert sign_accuracy([1e-200, -1.0], [1e-200, 5e-324]) == 0.5
    assert sign_accuracy([1.0, -1.0], [0.0, 0.0]) == 0.5


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_model_that_diverged_scores_nan_and_leaves_the_others_alone(bad: float) -> None:
    outputs = np.array([[bad, 1.0], [-1.0, 1.0]])
    for scores in (*fitted_line([-1, 1], outputs), sign_accuracy([-1, 1], outputs), margin([-1, 1], outputs)):
        assert np.isnan(scores[0])
        assert np.isfinite(scores[1])


def test_tensors_score_like_arrays() -> None:
    torch = pytest.importorskip("torch")
    outputs = torch.tensor([[1.0, 3.0, 5.5], [0.0, -2.0, 0.25]], dtype=torch.float64, requires_grad=True)
    expected = np.array(fitted_line([0, 1, 2], outputs.tolist()))
    for tensor in (outputs, outputs.bfloat16()):
        np.testing.assert_array_equal(fitted_line(torch.arange(3), tensor), expected)
    third = torch.tensor([0.0, 1 / 3], dtype=torch.float64, requires_grad=True)
    assert float(margin([0, 1], third)) == 1 / 6


@pytest.mark.parametrize("bad", [["a", "b"], [1j, 2.0], [[1.0, 2.0], [1.0]], [1.0, {}]])
def test_outputs_that_are_not_numbers_are_refused(bad: Any) -> None:
    with pytest.raises(InputError, match="outputs are not real numbers in rows of equal length"):
        margin([1, 2], bad)
    with pytest.raises(InputError, match="targets are not real numbers"):
        margin(bad, [1, 2])


def test_mistakes_are_named() -> None:
    with pytest.raises(InputError, match="all 2 targets are equal"):
        fitted_line([1, 1], [0, 1])
    with pytest.raises(InputError, match="target 1 is 0"):
        sign_accuracy([1, 0], [1, 1])
    with pytest.raises(InputError, match=r"outputs have shape \(3,\).*2 targets"):
        margin([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="target 1 is not finite"):
        margin([1, np.nan], [1, 2])
    with pytest.raises(InputError, match=r"target has shape \(0,\)"):
        margin([], [])
