"""Gradient shares: exact for linear models, differences against autograd, and the first step of gradient descent."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.measures.outputs.sensitivity import sensitivity, torch_sensitivity


def plane(points: int = 20) -> tuple[Any, Any]:
    """The 2-D problem: quadrants (0,0), (0,1), (1,0) on an even grid, whose moments are those of uniform noise."""
    corners = np.array([[0, 0], [0, 1], [1, 0]])
    offsets = (np.arange(points) + 0.5) / points
    noise = np.stack(np.meshgrid(offsets, offsets), axis=-1).reshape(-1, 2)
    inputs = (corners[:, None] - noise).reshape(-1, 2)
    return inputs, np.repeat(2 * corners[:, 0] - 1, points**2)


def test_the_first_step_of_a_linear_model_is_the_covariance_with_the_label() -> None:
    inputs, labels = plane()
    # One step of gradient descent on the squared loss from zero weights, after centring.
    weights = (labels - labels.mean()) @ (inputs - inputs.mean(axis=0)) / len(labels)
    np.testing.assert_allclose(weights, [4 / 9, -2 / 9], atol=1e-12)
    found = sensitivity(lambda x: x @ weights, inputs, {"own": 0, "other": 1})
    np.testing.assert_allclose(found.norms, [4 / 9, 2 / 9], rtol=1e-9)
    np.testing.assert_allclose(found.share, [2 / 3, 1 / 3], rtol=1e-9)
    assert found.components == ("own", "other")


def test_without_correlation_the_other_component_gets_no_weight() -> None:
    inputs, labels = plane()
    balanced = np.concatenate([inputs, inputs[:400] + np.array([1, 1])])
    signs = np.concatenate([labels, np.ones(400)])
    weights = (signs - signs.mean()) @ (balanced - balanced.mean(axis=0)) / len(signs)
    np.testing.assert_allclose(weights, [0.5, 0], atol=1e-12)


def test_shares_are_norms_over_their_sum() -> None:
    inputs = np.random.default_rng(0).normal(size=(7, 3))
    shares = sensitivity(lambda x: x @ np.array([3.0, 4.0, 5.0]), inputs, {"left": [0, 1], "right": [2]}).share
    np.testing.assert_allclose(shares, [0.5, 0.5], rtol=1e-8)
    assert np.isnan(sensitivity(lambda x: np.zeros(len(x)), inputs, [0, 1]).share).all()


def test_every_output_has_its_row_and_labels_pick_one() -> None:
    matrix = np.array([[3.0, 4.0, 0.0, 0.0], [0.0, 0.0, 0.0, 2.0]])
    inputs = np.random.default_rng(1).normal(size=(6, 2, 2))
    halves = {"top": [0], "bottom": np.array([[False, False], [True, True]])}

    def model(x: Any) -> Any:
        return x.reshape(len(x), 4) @ matrix.T

    np.testing.assert_allclose(sensitivity(model, inputs, halves).norms, [[5, 0], [0, 2]], atol=1e-8)
    picked = sensitivity(model, inputs, halves, labels=[0, 0, 0, 1, 1, 1])
    np.testing.assert_allclose(picked.norms, [2.5, 1.0], rtol=1e-8)


def test_differences_agree_with_autograd(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3)).double()
    inputs = np.random.default_rng(2).normal(size=(11, 6))
    parts, labels = [slice(0, 4), [4, 5]], np.arange(11) % 3

    def model(x: Any) -> Any:
        return network(torch.as_tensor(x)).detach().numpy()

    monkeypatch.setattr(
        sys.modules["recombine.measures.outputs.sensitivity"], "MAX_MODEL_ENTRIES", 300
    )  # several batches of entries
    for chosen in (None, labels):
        exact = torch_sensitivity(network, inputs, parts, labels=chosen)
        np.testing.assert_allclose(sensitivity(model, inputs, parts, labels=chosen).norms, exact.norms, rtol=1e-7)


def test_layers_are_followed_by_random_projections() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    network = torch.nn.Sequential(torch.nn.Linear(5, 40), torch.nn.Identity(), torch.nn.Linear(40, 1))
    found = torch_sensitivity(network, torch.ones(3, 5), {"a": [0, 1], "b": [2, 3, 4]}, layers=["0"], projections=400)
    weight = network[0].weight.detach().numpy()
    exact = [np.linalg.norm(weight[:, :2]), np.linalg.norm(weight[:, 2:])]
    np.testing.assert_allclose(found.layers["0"].norms, exact, rtol=0.05)
    assert list(found.layers) == ["0"]
    assert not network[0]._forward_hooks
    with pytest.raises(InputError, match="layer '7' is not a part of the module"):
        torch_sensitivity(network, torch.ones(3, 5), [0], layers=["7"])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sensitivity(np.sum, np.ones(3), [0]), "inputs have shape"),
        (lambda: sensitivity(lambda x: x[:1, 0], np.ones((3, 2)), [0]), r"the model returned shape \(1,\) for 6 rows"),
        (lambda: sensitivity(lambda x: x[:, 0], np.ones((3, 2)), {"far": 5}), "component far = 5 does not fit"),
        (lambda: sensitivity(lambda x: x[:, 0], np.ones((3, 2)), []), "no components"),
        (lambda: sensitivity(lambda x: x[:, 0], np.ones((3, 2)), {"none": []}), "has no entry"),
        (lambda: sensitivity(lambda x: x[:, 0], np.ones((3, 2)), [0], labels=[0, 1]), "labels must be 3 integers"),
        (lambda: sensitivity(lambda x: x[:, 0], np.ones((3, 2)), [0], labels=[0, 1, 1]), "one output per row"),
    ],
)
def test_mistakes_are_named(call: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()
