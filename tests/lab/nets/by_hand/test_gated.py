"""Gated networks: looked-up against multiplied-out, gradients against autograd, the flow against limits."""

import numpy as np
import pytest
import torch

from recombine.errors import InputError, SolverError
from recombine.lab.nets.by_hand import gated_training
from recombine.lab.nets.by_hand.gated import GatedNetworks, activities
from recombine.lab.nets.by_hand.gated_training import schedule_of, train_gated
from recombine.lab.worlds.gated_problems import gated_problem
from recombine.theory.gated.contexts import HalfSpaces, joint_contexts
from recombine.theory.gated.features import context_indicators
from recombine.theory.gated.flow import MAX_MARGIN, FlowEndedWarning, flow
from recombine.theory.gated.margin import largest_margin


def samples(count=60, inputs=5, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(count, inputs - 1)), np.ones(count)])
    return X, np.where(rng.random(count) < 0.5, -1.0, 1.0)


def networks(kind, bits=1, units=3, seeds=(0, 1), inputs=5):
    if kind == "relu":
        return GatedNetworks.initial(kind, seeds, inputs, units=units)
    count = 1 if kind == "one-layer" else units
    contexts = [HalfSpaces.random(count, bits, inputs, seed) for seed in seeds]
    return GatedNetworks.initial(kind, seeds, inputs, contexts=contexts)


@pytest.mark.parametrize(("kind", "bits"), [("one-layer", 2), ("one-layer", 4), ("contexts", 1), ("contexts", 4)])
def test_outputs_are_sums_over_the_weights_in_use(kind, bits):
    made = networks(kind, bits)
    X, _ = samples()
    for place, contexts in enumerate(made.contexts):
        rows = context_indicators(contexts.ids(X), contexts.contexts)
        zeta = made.zeta()[place].reshape(rows.shape[1], -1)
        assert made.outputs(X)[place] == pytest.approx(((X @ zeta.T) * rows).sum(axis=1), abs=1e-5)


def test_frozen_units_with_their_own_gates_are_relu_units():
    made = networks("relu")
    X, _ = samples()
    gates = [HalfSpaces(weights.numpy()[:, None].astype(float), np.zeros((3, 1))) for weights in made.weights[:, :, 0]]
    frozen = GatedNetworks("frozen", made.weights, made.readout, made.bias, tuple(gates))
    assert frozen.outputs(X) == pytest.approx(made.outputs(X), abs=1e-5)


def by_autograd(made, X, y, rows, seeds, steps, rate, momentum, batch):
    """Train with torch's own gradients and optimiser, one network after the other, all contexts multiplied out."""
    plan = gated_training.schedule_of(rows, seeds, steps, batch)
    inputs, labels = torch.tensor(X, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)
    answers = []
    for place in range(len(made)):
        weights = made.weights[place].clone().contiguous().requires_grad_()
        readout, bias = made.readout[place].clone().requires_grad_(), made.bias[place].clone().requires_grad_()
        free = [weights] + ([readout] if made.kind != "one-layer" else []) + ([bias] if made.kind == "contexts" else [])
        optimiser = torch.optim.SGD(free, lr=rate, momentum=momentum[place])
        for step in range(steps):
            if step == steps // 2:
                optimiser.param_groups[0]["lr"] = rate * 0.25
            own = plan[place, step][plan[place, step] >= 0]
            products = torch.einsum("bd,hcd->bhc", inputs[own], weights)
            if made.kind == "relu":
                active = torch.relu(products[:, :, 0])
            else:
                ids = torch.tensor(made.contexts[place].ids(X[own]))
                mask = torch.nn.functional.one_hot(ids, max(weights.shape[1], 2)).float()
                active = products[:, :, 0] * mask[:, :, 1] if made.kind == "frozen" else (products * mask).sum(2)
            loss = torch.nn.functional.softplus(-labels[own] * (active @ readout + bias)).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        answers.append((weights.detach(), readout.detach(), bias.detach()))
    return answers


@pytest.mark.parametrize("momentum", [(0.0, 0.0), (0.0, 0.9)])
@pytest.mark.parametrize(
    ("kind", "bits"), [("one-layer", 1), ("one-layer", 5), ("contexts", 1), ("contexts", 4), ("relu", 0), ("frozen", 1)]
)
def test_training_follows_autograd(kind, bits, momentum):
    made = networks(kind, bits)
    X, y = samples()
    rows = [np.arange(50), np.arange(20)]
    trained = train_gated(made, X, y, schedule_of(rows, [3, 4], 30, 16), rate=0.1, momentum=momentum)
    for place, parts in enumerate(by_autograd(made, X, y, rows, [3, 4], 30, 0.1, momentum, 16)):
        for ours, theirs in zip((trained.weights, trained.readout, trained.bias), parts, strict=True):
            torch.testing.assert_close(ours[place], theirs, rtol=1e-4, atol=1e-5)


def test_rows_that_no_sample_uses_stay_as_they_were():
    made = networks("one-layer", bits=6)
    X, y = samples()
    trained = train_gated(made, X, y, schedule_of([np.arange(10)] * 2, [0, 1], 20), momentum=0.9)
    used = {int(number) for number in made.contexts[0].ids(X[:10])[:, 0]}
    moved = (trained.weights[0, 0] != made.weights[0, 0]).any(1).nonzero()[:, 0].tolist()
    assert set(moved) == used


def test_networks_of_a_batch_do_not_depend_on_each_other():
    X, y = samples()
    both = train_gated(networks("contexts"), X, y, schedule_of([np.arange(40)] * 2, [5, 6], 25), momentum=[0.0, 0.9])
    alone = train_gated(networks("contexts", seeds=(1,)), X, y, schedule_of([np.arange(40)], [6], 25), momentum=0.9)
    torch.testing.assert_close(both.weights[1:], alone.weights)


def test_networks_are_saved_with_their_contexts(tmp_path):
    X, _ = samples()
    made = networks("contexts")
    made.save(tmp_path / "networks.npz")
    again = GatedNetworks.load(tmp_path / "networks.npz")
    assert np.array_equal(again.outputs(X), made.outputs(X))
    assert not np.array_equal(made.without_thresholds().outputs(X), made.outputs(X))
    with pytest.raises(InputError, match="cannot be read"):
        GatedNetworks.load(tmp_path / "nothing.npz")
    np.savez(tmp_path / "lost.npz", kind="contexts", weights=made.weights, readout=made.readout, bias=made.bias)
    with pytest.raises(InputError, match="context functions"):
        GatedNetworks.load(tmp_path / "lost.npz")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"normals": slice(1), "thresholds": slice(1)}, "1 context functions for 2 contexts networks"),
        ({"thresholds": slice(1)}, "1 context functions for 2 contexts networks"),
        ({"weights": (slice(None), slice(2))}, "(2, 2, 2, 5)"),
        ({"readout": slice(1)}, "(1, 3)"),
        ({"weights": None}, "lacks weights"),
        ({"kind": None}, "lacks kind"),
    ],
)
def test_a_file_that_lost_a_part_is_refused(tmp_path, change, words):
    networks("contexts").save(tmp_path / "networks.npz")
    with np.load(tmp_path / "networks.npz") as file:
        parts = {name: file[name] for name in file.files}
    for name, kept in change.items():
        if kept is None:
            del parts[name]
        else:
            parts[name] = parts[name][kept]
    np.savez(tmp_path / "less.npz", **parts)
    with pytest.raises(InputError) as caught:
        GatedNetworks.load(tmp_path / "less.npz")
    assert words in str(caught.value)


def test_no_inputs_have_no_outputs():
    assert networks("contexts").outputs(np.ones((0, 5))).shape == (2, 0)


def test_divergence_is_said():
    with pytest.raises(SolverError, match="diverged in networks 1; lower the rate"):
        train_gated(networks("contexts"), *samples(), schedule_of([[0, 1]] * 2, [0, 1], 10), rate=1e30)


def test_first_weights_are_orthogonal_as_published():
    made = networks("contexts", inputs=9)
    rows = made.weights[0].reshape(6, 9)
    torch.testing.assert_close(rows @ rows.T, torch.eye(6), atol=1e-5, rtol=0)
    assert made.readout[0].norm() == pytest.approx(1, abs=1e-6)
    tall = networks("one-layer", bits=4).weights[0, 0]
    torch.testing.assert_close(tall.T @ tall, torch.eye(5), atol=1e-5, rtol=0)


class TestFlow:
    def test_the_toy_ends_at_its_limit_and_conserves_what_it_should(self):
        given = gated_problem("toy")
        path = flow(given.X, given.y, given.ids, contexts=2, seed=3, times=(0.0, 40.0, 75.0))
        best = largest_margin(given.X, given.y, given.ids, contexts=2)
        assert path.ratio[-1] == pytest.approx(best.norm, abs=1e-4)
        assert path.ratio[-1] >= best.norm
        assert path.half_square[-1] == pytest.approx(path.ratio[-1], rel=1e-5)
        assert path.drift.max() < 1e-6
        found = given.y * np.einsum(
            "nr,nr->n", context_indicators(given.ids, 2), given.X @ path.zeta[-1].reshape(4, 3).T
        )
        assert found / path.margin[-1] == pytest.approx(given.y * best.decision(given.X, given.ids), abs=1e-3)

    @pytest.mark.slow
    def test_units_that_share_contexts_end_in_separate_machines(self):
        given = gated_problem("toy")
        shared = np.tile(joint_contexts(given.ids)[:, None], (1, 3))
        with pytest.warns(FlowEndedWarning, match="1 of 2 times are not numbers"):
            asked = flow(given.X, given.y, shared, contexts=4, seed=1, scale=0.3, times=(0.0, 75.0))
        path = asked.reached
        beta = path.zeta[-1].sum(axis=0)
        best = largest_margin(given.X, given.y, given.ids, contexts=2, norm="one-layer")
        cosine = (beta * best.zeta).sum() / np.linalg.norm(beta) / np.linalg.norm(best.zeta)
        assert cosine > 0.9999
        assert np.linalg.norm(beta) / path.margin[-1] == pytest.approx(7.619293, abs=1e-4)
        assert path.times[-1] < 75
        assert path.margin[-1] == pytest.approx(MAX_MARGIN, rel=1e-3)

    def test_every_time_that_was_asked_for_has_a_row(self):
        X = np.array([[1.0, 1.0], [-1.0, 1.0]])
        problem = X, [1, -1], [[0], [0]]
        with pytest.warns(FlowEndedWarning, match="2 of 4 times are not numbers") as caught:
            path = flow(*problem, contexts=1, seed=0, times=(5.0, 10.0, 60.0, 70.0))
        assert len(caught) == 1
        assert path.times.tolist() == [5, 10, 60, 70]
        assert path.hidden.shape == (4, 1, 1, 2)
        for values in (path.margin, path.ratio, path.half_square, path.drift):
            assert np.isfinite(values).tolist() == [True, True, False, False]
        # The end lies between, and the path there is that of earlier times alone.
        assert 10 < path.end.times[0] < 60
        assert path.reached.times.tolist() == [5, 10, path.end.times[0]]
        early = flow(*problem, contexts=1, seed=0, times=(5.0, 10.0))
        assert early.end is None
        assert early.reached is early
        np.testing.assert_allclose(early.margin, path.margin[:2], rtol=1e-6)

    def test_times_that_are_all_after_the_end_are_answered_too(self):
        X = np.array([[1.0, 1.0], [-1.0, 1.0]])
        with pytest.warns(FlowEndedWarning, match="1 of 1 times"):
            path = flow(X, [1, -1], [[0], [0]], contexts=1, seed=0, times=(60.0,))
        assert np.isnan(path.margin).all()
        assert path.reached.margin == pytest.approx(MAX_MARGIN, rel=1e-3)

    def test_times_must_rise(self):
        given = gated_problem("toy")
        with pytest.raises(InputError, match="must rise"):
            flow(given.X, given.y, given.ids, contexts=2, seed=0, times=(1.0, 0.5))

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"times": (0.0, np.nan)}, "be finite"),
            ({"times": (0.0, np.inf)}, "be finite"),
            ({"times": 5.0}, "must rise"),
            ({"times": ("a",)}, "times are not real numbers"),
            ({"scale": 1e6}, "lower scale 1000000.0"),
            ({"scale": "a"}, "scale is 'a'"),
            ({"seed": -1}, "seed is -1"),
        ],
    )
    def test_bad_input_is_named(self, change, words):
        given = gated_problem("toy")
        with pytest.raises(InputError) as caught:
            flow(given.X, given.y, given.ids, **{"contexts": 2, "seed": 0} | change)
        assert words in str(caught.value)

    def test_the_start_alone_and_samples_on_the_wrong_side(self):
        given = gated_problem("toy")
        start = flow(given.X, given.y, given.ids, contexts=2, seed=1, scale=1.0, times=(0.0,))
        assert start.hidden.shape == (1, 2, 2, 3)
        assert start.margin[0] < 0
        assert np.isnan([start.ratio[0], start.half_square[0]]).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: GatedNetworks.initial("reul", [0], 3), "did you mean 'relu'"),
        (lambda: GatedNetworks.initial("contexts", [0], 3), "give 1, all of one shape"),
        (lambda: GatedNetworks.initial("contexts", [0], 5, contexts=[HalfSpaces.random(2, 1, 3, 0)]), "look at 3"),
        (lambda: GatedNetworks.initial("relu", 0, 3), "seeds is 0; give a sequence"),
        (lambda: GatedNetworks.initial("relu", [-1], 3), "seeds[0] is -1"),
        (lambda: GatedNetworks.initial("relu", [0], 0), "inputs is 0"),
        (lambda: GatedNetworks.initial("relu", [0], 3, units=0), "units is 0"),
        (lambda: GatedNetworks.initial("relu", [0], 3, device="gpu"), "device 'gpu'"),
        (lambda: GatedNetworks("relu", torch.ones(2, 3), torch.ones(2), torch.ones(2)), "0 relu networks"),
        (lambda: GatedNetworks("relu", torch.ones(1, 2, 3, 4), torch.ones(1, 2), torch.ones(1)), "need (1, 2, 1, 4)"),
        (lambda: activities("frozen", torch.ones(1, 1, 1, 2), torch.ones(1, 1, 2), None), "need the contexts"),
        (lambda: networks("contexts", seeds=()), "for 0 contexts networks"),
        (lambda: GatedNetworks.initial("one-layer", [0], 3, contexts=[HalfSpaces.random(2, 1, 3, 0)]), "one unit"),
        (lambda: networks("relu").outputs(np.ones((2, 9))), "9 columns"),
        (lambda: train_gated(networks("relu"), *samples(), schedule_of([[0]], [0])), "1 sets of rows"),
        (lambda: schedule_of([[0]], [0, 1]), "1 sets of rows for 2 seeds"),
        (lambda: schedule_of([[0], []], [0, 1]), "no rows to train on"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"momentum": np.nan}, "momentum is nan"),
        ({"momentum": [-0.5, 0.9]}, "from 0 to below 1"),
        ({"momentum": 1.0}, "from 0 to below 1"),
        ({"momentum": [0.1] * 3}, "for each of 2 networks"),
        ({"rate": np.nan}, "rate is nan"),
        ({"rate": -1.0}, "rate is -1.0"),
        ({"rows": [[-1, 2]] * 2}, "rows[0][0] is -1"),
        ({"rows": [[0], [0.5]]}, "rows[1][0] is 0.5"),
        ({"rows": [[60]] * 2}, "row 60 is asked for but X has 60"),
        ({"steps": -1}, "steps is -1"),
        ({"batch": 0}, "batch is 0"),
        ({"seeds": [0, -1]}, "seeds[1] is -1"),
    ],
)
def test_bad_training_is_named(change, words):
    how = {name: change[name] for name in ("rate", "momentum") if name in change}
    order = {"rows": [[0, 1]] * 2, "seeds": [0, 1], "steps": 2} | {n: v for n, v in change.items() if n not in how}
    with pytest.raises(InputError) as caught:
        train_gated(networks("relu"), *samples(), schedule_of(**order), **how)
    assert words in str(caught.value)
