"""Gates of one's own: frozen ReLU gates, contexts by any function, and disagreement with its baseline."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

from recombine.errors import InputError
from recombine.theory.gated import (
    FrozenGates,
    GatedLinearSVC,
    HalfSpaces,
    freeze_relu,
    inconsistency,
    largest_margin,
)


def halves(samples: int = 150) -> tuple[np.ndarray, np.ndarray]:
    images, labels = load_digits(return_X_y=True)
    return images[:samples] / 8 - 1, labels[:samples] < 5


def test_gates_of_a_fitted_network_are_where_its_hidden_units_are_active():
    X, y = halves()
    network = MLPClassifier((12,), solver="lbfgs", max_iter=300, random_state=0).fit(X, y)
    hidden = X @ network.coefs_[0] + network.intercepts_[0]
    assert np.array_equal(freeze_relu(network)(X), hidden >= 0)


def test_gates_of_a_torch_module_are_those_of_its_hidden_layer():
    torch = pytest.importorskip("torch")
    first = torch.nn.Linear(4, 6)
    inner = torch.nn.Sequential(torch.nn.Flatten(), first, torch.nn.ReLU(), torch.nn.Dropout(), torch.nn.Linear(6, 1))
    gates = freeze_relu(torch.nn.Sequential(inner, torch.nn.Sigmoid()))
    X = torch.randn(20, 4)
    with torch.no_grad():
        assert np.array_equal(gates(X.numpy()), (first(X) >= 0).numpy())
    bare = freeze_relu(torch.nn.Sequential(torch.nn.Linear(4, 3, bias=False), torch.nn.ReLU()))
    assert bare.bias.tolist() == [0, 0, 0]


def test_no_layer_of_a_deeper_network_is_left_out_in_silence():
    torch = pytest.importorskip("torch")
    relu = torch.nn.ReLU()
    layers = [torch.nn.Linear(3, 16), relu, torch.nn.Linear(16, 8), relu, torch.nn.Linear(8, 1)]
    deep = torch.nn.Sequential(*layers)
    with pytest.raises(InputError, match=r"2 hidden layers, of 16 and 8 units.*from layer=1 to layer=2"):
        freeze_relu(deep)
    X = torch.randn(30, 3)
    with torch.no_grad():
        expected = [deep[:1](X) >= 0, deep[:3](X) >= 0]
    for layer, gates in enumerate(expected, 1):
        assert np.array_equal(freeze_relu(deep, layer=layer)(X.numpy()), gates.numpy())
    for layer in (0, 3, 1.5):
        with pytest.raises(InputError, match="layer is"):
            freeze_relu(deep, layer=layer)


def test_a_deeper_mlp_is_frozen_layer_by_layer():
    X, y = halves()
    network = MLPClassifier((12, 7), solver="lbfgs", max_iter=300, random_state=0).fit(X, y)
    with pytest.raises(InputError, match="2 hidden layers, of 12 and 7 units"):
        freeze_relu(network)
    hidden = np.maximum(X @ network.coefs_[0] + network.intercepts_[0], 0)
    assert np.array_equal(freeze_relu(network, layer=2)(X), hidden @ network.coefs_[1] + network.intercepts_[1] >= 0)
    # All open gates of the last hidden layer reach the output, so they and the weights make up the network.
    top = hidden @ network.coefs_[1] + network.intercepts_[1]
    outputs = (freeze_relu(network, layer=2)(X) * top) @ network.coefs_[2] + network.intercepts_[2]
    assert np.array_equal(outputs[:, 0] > 0, network.predict(X))


def test_modules_whose_gates_are_not_those_of_linear_layers_on_the_input_are_refused():
    torch = pytest.importorskip("torch")
    linear, relu = torch.nn.Linear(4, 4), torch.nn.ReLU()
    unreadable = [
        [torch.nn.Linear(4, 4), torch.nn.Tanh(), linear, relu, torch.nn.Linear(4, 1)],
        [linear, relu, torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)],
        [linear, relu, torch.nn.Conv1d(1, 1, 1), relu],
        [torch.nn.BatchNorm1d(4), linear, relu],
        [linear, torch.nn.Linear(4, 4), relu],
    ]
    for layers in unreadable:
        with pytest.raises(InputError, match="not all are linear layers that a ReLU follows"):
            freeze_relu(torch.nn.Sequential(*layers))


def test_gates_that_a_forward_pass_does_not_have_are_refused_and_the_module_stays_as_it_was():
    torch = pytest.importorskip("torch")

    def module(forward, dtype=torch.float32):
        made = torch.nn.Sequential(
            torch.nn.Linear(3, 3),
            torch.nn.ReLU(inplace=True),
            torch.nn.Linear(3, 3),
            torch.nn.ReLU(),
            torch.nn.Linear(3, 1),
        ).to(dtype)
        made.forward = lambda x: forward(x, *made)
        made[0].eval()
        return made

    def residual(x, a, relu, b, again, c):
        middle = x + relu(a(x))
        return c(middle + again(b(middle)))

    def scaled(x, a, relu, b, again, c):
        return c(again(b(relu(a((x - 0.5) / 2)))))

    def looped(x, a, relu, b, again, c):
        return c(again(b(relu(a(again(b(relu(a(x)))))))))

    def smooth(x, a, relu, b, again, c):
        return c(torch.tanh(b(torch.tanh(a(x)))))

    for forward, wrong in ((residual, 2), (scaled, 1), (looped, 1), (smooth, 1)):
        with pytest.raises(InputError, match=f"the ReLU of layer {wrong} is not given what"):
            freeze_relu(module(forward), layer=2)
    with pytest.raises(InputError, match=r"the module raised ValueError: images; .* \(32, 3\)"):
        freeze_relu(module(lambda *_: (_ for _ in ()).throw(ValueError("images"))), layer=1)
    # Below the first sum the gates are those of the layer, and in any precision; modes, hooks and draws stay.
    for dtype in (torch.bfloat16, torch.float16, torch.float32, torch.float64):
        network = module(residual, dtype)
        before = torch.get_rng_state()
        X = torch.randn(20, 3, generator=torch.Generator().manual_seed(0)).to(dtype)
        gates = freeze_relu(network, layer=1)
        assert torch.equal(before, torch.get_rng_state())
        with torch.no_grad():
            values = network[0](X)
        clear = (values.abs() > 0.01).numpy()
        assert np.array_equal(gates(X)[clear], (values >= 0).numpy()[clear])
        assert [part.training for part in network.modules()] == [True, False, True, True, True, True]
        assert not any(part._forward_pre_hooks for part in network.modules())


def test_what_has_no_relu_is_refused_with_advice():
    torch = pytest.importorskip("torch")
    with pytest.raises(InputError, match="no linear layer that a ReLU follows"):
        freeze_relu(torch.nn.Linear(2, 1))
    with pytest.raises(InputError, match="has no layers"):
        freeze_relu(3)
    smooth = MLPClassifier((3,), activation="tanh", solver="lbfgs", random_state=0).fit(*halves(40))
    with pytest.raises(InputError, match="activation 'tanh'"):
        freeze_relu(smooth)
    with pytest.raises(InputError, match="weights have shape"):
        FrozenGates(np.eye(2), np.zeros(3))


def test_own_contexts_are_the_solver_with_their_ids():
    X, y = halves()
    clusters = KMeans(3, n_init=1, random_state=0).fit(X)
    own = [clusters, lambda inputs: (inputs[:, :20] > 0).astype(int)]
    model = GatedLinearSVC(contexts=own, C=10.0).fit(X, y)
    ids = np.column_stack([clusters.predict(X), X[:, :20] > 0]).astype(int)
    inputs = np.column_stack([X, np.ones(len(X))])
    direct = largest_margin(inputs, y, ids, contexts=3, C=10.0)
    assert model.decision_function(X) == pytest.approx(direct.decision(inputs, ids))
    acting = model.effective_weights(X)
    assert (acting * inputs).sum(axis=1) == pytest.approx(model.decision_function(X))


def test_frozen_gates_and_half_spaces_fit_the_estimator():
    X, y = halves()
    gates = FrozenGates(np.random.default_rng(0).normal(size=(30, 64)), np.zeros(30))
    frozen = GatedLinearSVC("frozen", contexts=gates).fit(X, y)
    inputs = np.column_stack([X, np.ones(len(X))])
    direct = largest_margin(inputs, y, gates(X), contexts=2, norm="frozen")
    assert frozen.margin_.value == pytest.approx(direct.value)
    half = HalfSpaces.balanced(5, 1, inputs, seed=0)
    assert GatedLinearSVC(contexts=half).fit(X, y).score(X, y) == 1


@pytest.mark.parametrize(
    ("contexts", "words"),
    [
        ({"fruit": lambda X: X[:, 99]}, "such shapes (150, 64)"),
        ({"fruit": lambda X: X["pear"]}, "the function of 'fruit' raised IndexError: only integers"),
        ([lambda X: X[:, :2] > 0, lambda X: 1 / 0], "the function of 'gate 1' raised ZeroDivisionError"),
        ({"fruit": lambda X: -np.ones(len(X), dtype=int)}, "by 'fruit' the contexts of 150 inputs"),
        (np.zeros((150, 3)), "contexts is a ndarray; give HalfSpaces"),
        (lambda X: X[:, :2], "dtype float64; give whole numbers"),
        (lambda X: np.zeros((3, 1), dtype=int), "the contexts of 150 inputs have shape (3, 1)"),
        (lambda X: np.full(len(X), -1), "give whole numbers from 0"),
    ],
)
def test_contexts_that_are_none_are_refused_in_a_line(contexts, words):
    with pytest.raises(InputError) as caught:
        GatedLinearSVC(contexts=contexts).fit(*halves())
    assert words in str(caught.value).replace("\n    ", " ")
    assert len(str(caught.value)) < 300


def test_a_context_that_no_training_sample_was_in_is_refused_with_the_name_of_its_gate():
    X, y = halves()
    gates = {"plain": lambda X: (X[:, 20] > 0).astype(int), "row": lambda X: (X[:, 21] > 0) + (X[:, :1] > 0) * 3}
    model = GatedLinearSVC(contexts=gates, C=1.0).fit(X, y)
    unlike = np.vstack([X[:3], np.ones((1, 64))])
    with pytest.raises(InputError, match=r"the function of 'row' puts row 3 in context 4.* contexts were 0 to 1"):
        model.predict(unlike)


def test_the_context_kernel_is_that_of_the_limit():
    X, y = halves(60)
    ids = (X[:, 20:24] > 0).astype(int)
    for norm in ("effective", "zeta", "one-layer"):
        found = largest_margin(X, y, ids, contexts=2, norm=norm, C=5.0)
        # The function of largest margin is a sum of kernels at the samples.
        signs = np.where(y, 1.0, -1.0)
        features = found.gating.features(ids)
        weighed = ((X @ X.T) * (features @ features.T)) @ (found.dual * signs)
        assert np.corrcoef(weighed, found.decision(X, ids))[0, 1] == pytest.approx(1)


def test_inconsistency_has_its_baseline():
    truth = np.array([0, 1] * 50)
    one = np.where(np.arange(100) < 10, 1 - truth, truth)
    other = np.where(np.arange(100) >= 80, 1 - truth, truth)
    found = inconsistency(one, other, truth)
    assert found.share == pytest.approx(0.3)
    assert found.chance == pytest.approx(0.1 * 0.8 + 0.2 * 0.9)
    with pytest.raises(InputError, match="one per sample"):
        inconsistency(one, other[:3], truth)
