"""The trainer: chunks, batches, stops and compaction never change what a network learns."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from recombine.errors import InputError
from recombine.lab.nets.architecture import Tensors
from recombine.lab.nets.architectures.mlp import MLP
from recombine.lab.nets.ensemble.ensemble import Ensemble, Trained
from recombine.lab.nets.ensemble.optimisers import SGD, Adam

RNG = np.random.default_rng(5)
X = RNG.standard_normal((14, 4))
Y = np.sign(RNG.standard_normal(14))
SEEDS = [0, 1, 2, 3, 4, 5]
SCALES = [1.0, 0.1, 0.01, 1.0, 0.1, 0.5]
RATES = [0.05, 0.1, 0.2, 0.02, 0.05, 0.03]
LOSSES = ["mse", "logistic", "hinge", "mse", "hinge", "logistic"]

ROUTES = {"hand-written": (24,), "autograd": (16, 12)}
CLOSE = {"rtol": 0, "atol": 1e-12}


def train(hidden: tuple[int, ...], places: list[int] | None = None, chunk: int | None = None, **options) -> Trained:
    places = list(range(6)) if places is None else places

    def some(values):
        return [values[i] for i in places]

    settings = {"rate": some(RATES), "loss": some(LOSSES), "steps": 30, "record": [0, 7, 15, 30], "threads": 1}
    weights = options.pop("weights", None)
    ensemble = Ensemble(MLP(4, hidden), some(SEEDS), some(SCALES), dtype="float64", chunk=chunk)
    return ensemble.train(X, Y, weights=None if weights is None else weights[places], **{**settings, **options})


def same(one: Tensors, other: Tensors) -> None:
    for name, tensor in one.items():
        torch.testing.assert_close(tensor, other[name], **CLOSE)


@pytest.mark.parametrize("hidden", ROUTES.values(), ids=ROUTES)
@pytest.mark.parametrize("options", [{}, {"batch": 4}, {"optimiser": Adam()}, {"batch": 5, "optimiser": SGD(0.9)}])
def test_a_network_learns_the_same_alone_and_in_any_chunk(hidden: tuple[int, ...], options: dict) -> None:
    together = train(hidden, **options)
    assert np.ptp(together.loss.numpy()) > 1e-3, "networks that learn alike would prove nothing"
    for chunk in (1, 2):
        same(together.parameters, train(hidden, chunk=chunk, **options).parameters)
    for place in (0, 2, 5):
        single = train(hidden, [place], **options)
        same({name: tensor[[place]] for name, tensor in together.parameters.items()}, single.parameters)
        torch.testing.assert_close(together.history[:, [place]], single.history, **CLOSE)


def test_threads_change_nothing() -> None:
    one, two = (train((24,), chunk=1, threads=threads) for threads in (1, 2))
    same(one.parameters, two.parameters)
    assert torch.get_num_threads() >= 1


@pytest.mark.parametrize("batch", [None, 4])
def test_hand_written_route_is_what_autograd_computes(batch: int | None) -> None:
    """Own copies of the shared inputs send the same networks through autograd."""
    weights = np.random.default_rng(1).integers(0, 3, (6, 14)) if batch is None else None
    shared = train((24,), weights=weights, batch=batch)
    ensemble = Ensemble(MLP(4, (24,)), SEEDS, SCALES, dtype="float64")
    copies = np.repeat(X[None], 6, axis=0)
    own = ensemble.train(copies, Y, rate=RATES, loss=LOSSES, steps=30, weights=weights, batch=batch)
    for name, tensor in shared.parameters.items():
        torch.testing.assert_close(tensor, own.parameters[name], rtol=0, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("hidden", ROUTES.values(), ids=ROUTES)
@pytest.mark.parametrize("batch", [None, 7])
def test_stops_and_compaction_change_no_trajectory(hidden: tuple[int, ...], batch: int | None) -> None:
    options = {"steps": 120, "record": [0, 20, 60, 119], "batch": batch, "stop": 0.5, "loss": "mse", "rate": 0.05}
    shrunk, whole = (train(hidden, compact=compact, watch=X, **options) for compact in (True, False))
    free = train(hidden, **{**options, "stop": None})
    assert len(set(shrunk.steps.tolist())) > 3
    assert shrunk.steps.tolist() == whole.steps.tolist()
    same(shrunk.parameters, whole.parameters)
    torch.testing.assert_close(shrunk.history, whole.history, **CLOSE)
    torch.testing.assert_close(shrunk.watched, whole.watched, **CLOSE)
    before = torch.tensor(shrunk.recorded).unsqueeze(1) <= shrunk.steps
    torch.testing.assert_close(shrunk.history[before], free.history[before], **CLOSE)
    for place in (0, 4):
        single = train(hidden, [place], **options)
        assert single.steps.item() == shrunk.steps[place].item()
        same({name: tensor[[place]] for name, tensor in shrunk.parameters.items()}, single.parameters)


def test_a_network_stops_at_the_first_loss_below_its_threshold() -> None:
    every = list(range(101))
    trained = train((24,), steps=100, record=every, stop=0.3)
    free = train((24,), steps=100, record=every)
    for place in range(6):
        below = (free.history[:, place] < 0.3).nonzero()
        first = int(below[0]) if len(below) else 100
        assert int(trained.steps[place]) == first
        assert bool(trained.stopped[place]) is (len(below) > 0)
        assert trained.loss[place] == pytest.approx(float(free.history[first, place]), abs=1e-12)


def test_records_hold_the_losses_and_outputs_of_those_steps() -> None:
    long = train((24,), record=[0, 20, 30], watch=X)
    assert long.recorded == (0, 20, 30)
    for row, steps in enumerate(long.recorded):
        short = train((24,), steps=steps, record=[])
        torch.testing.assert_close(long.history[row], short.loss, **CLOSE)
        torch.testing.assert_close(long.watched[row], short.outputs(X), **CLOSE)


def test_each_network_may_have_its_own_targets_and_seen_samples() -> None:
    targets = np.stack([np.sign(np.roll(Y, place)) for place in range(6)])
    seen = np.stack([np.arange(14) % 3 != place % 3 for place in range(6)])
    ensemble = Ensemble(MLP(4, (24,)), SEEDS, dtype="float64")
    together = ensemble.train(X, targets, rate=0.05, steps=50, weights=seen)
    for place in range(6):
        kept = seen[place]
        single = Ensemble(MLP(4, (24,)), SEEDS[place : place + 1], dtype="float64")
        trained = single.train(X[kept], targets[place][kept], rate=0.05, steps=50)
        same({name: tensor[[place]] for name, tensor in together.parameters.items()}, trained.parameters)


@pytest.mark.parametrize("hidden", ROUTES.values(), ids=ROUTES)
def test_a_diverging_network_is_flagged_and_harms_no_other(hidden: tuple[int, ...]) -> None:
    rates = [0.05, 1e6, 0.05, 0.05]
    ensemble = Ensemble(MLP(4, hidden), SEEDS[:4], dtype="float32")
    trained = ensemble.train(X, Y, rate=rates, steps=200, record=[0, 200])
    assert trained.diverged.tolist() == [False, True, False, False]
    assert not torch.isfinite(trained.loss[1])
    assert not torch.isfinite(trained.history[1, 1])
    assert torch.isfinite(trained.loss[[0, 2, 3]]).all()
    assert int(trained.steps[1]) < 200
    calm = Ensemble(MLP(4, hidden), [0, 2, 3]).train(X, Y, rate=0.05, steps=200)
    torch.testing.assert_close(trained.loss[[0, 2, 3]], calm.loss, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("hidden", ROUTES.values(), ids=ROUTES)
@pytest.mark.parametrize(("dtype", "steps", "tolerance"), [("float32", 100, 1e-4), ("bfloat16", 5, 0.05)])
def test_shorter_numbers_learn_nearly_the_same(
    hidden: tuple[int, ...], dtype: str, steps: int, tolerance: float
) -> None:
    long, short = (
        Ensemble(MLP(4, hidden), SEEDS, dtype=kind).train(X, Y, rate=0.02, steps=steps) for kind in ("float64", dtype)
    )
    difference = (long.outputs(X) - short.outputs(X).double()).abs().max()
    assert 0 < difference < tolerance
    assert short.loss.dtype == torch.float32


def test_updates_too_small_for_bfloat16_are_not_lost() -> None:
    ensemble = Ensemble(MLP(4, (24,)), SEEDS, dtype="bfloat16")
    before = ensemble.initial()[0]["weight1"]
    after = ensemble.train(X, Y, rate=1e-5, steps=1).parameters["weight1"]
    assert not torch.equal(before, after)
    torch.testing.assert_close(before.bfloat16(), after.bfloat16(), rtol=0.01, atol=1e-4)


@pytest.mark.slow
def test_cross_entropy_learns_labels() -> None:
    labels = RNG.integers(0, 3, 14)
    ensemble = Ensemble(MLP(4, (50,), outputs=3), SEEDS)
    trained = ensemble.train(X, labels, rate=0.02, steps=400, loss="cross-entropy", optimiser=Adam())
    assert (trained.outputs(X).argmax(-1) == torch.from_numpy(labels)).float().mean() > 0.95


def test_mini_batches_visit_every_sample_once_an_epoch() -> None:
    """Each input has weights of its own here, so one epoch of single samples moves every one of them once."""
    ensemble = Ensemble(MLP(14, (300,)), [0, 1], dtype="float64")
    before = ensemble.initial()[0]["weight0"]
    moved = [
        (ensemble.train(np.eye(14), Y, rate=1e-3, steps=steps, batch=1).parameters["weight0"] != before).any(1).sum(1)
        for steps in (1, 7, 14)
    ]
    assert [count.tolist() for count in moved] == [[1, 1], [7, 7], [14, 14]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rate": [0.1, 0.2]}, "rate .* does not fit 6 networks"),
        ({"rate": -1.0}, "does not fit"),
        ({"loss": "squared"}, "unknown"),
        ({"loss": ["mse"]}, "1 entries for 6 networks"),
        ({"loss": ["mse"] * 5 + ["cross-entropy"]}, "two calls"),
        ({"record": [31]}, "between 0 and steps"),
        ({"steps": -1, "record": []}, "steps is -1; give a whole number of at least 0"),
        ({"steps": 2.5, "record": []}, "steps is 2.5"),
        ({"optimiser": "adam"}, r"optimiser is 'adam'; give SGD\(\) or Adam\(\)"),
        ({"optimiser": Adam}, r"give SGD\(\) or Adam\(\)"),
        ({"batch": 0}, "at least 1"),
        ({"batch": 4, "weights": np.ones((6, 14))}, "do not go together"),
        ({"weights": np.zeros((6, 14))}, "positive"),
    ],
)
def test_wrong_arguments_are_refused(changes: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        train((24,), **changes)


@pytest.mark.parametrize("shape", [(14,), (5, 14, 4), (1, 6, 14, 4)])
def test_inputs_that_do_not_fit_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="do not fit 6 networks"):
        Ensemble(MLP(4, (8,)), SEEDS).train(np.zeros(shape), Y, rate=0.1, steps=1)


def test_targets_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="one row per sample"):
        Ensemble(MLP(4, (8,)), SEEDS).train(X, Y[:-1], rate=0.1, steps=1)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_refused(bad: float) -> None:
    ensemble = Ensemble(MLP(4, (8,)), SEEDS)
    spoilt = np.where(np.arange(14) == 3, bad, Y)
    with pytest.raises(InputError, match="targets hold values that are not finite"):
        ensemble.train(X, spoilt, rate=0.1, steps=1)
    with pytest.raises(InputError, match="targets hold values that are not finite"):
        ensemble.train(X, spoilt, rate=0.1, steps=1, loss="cross-entropy")
    with pytest.raises(InputError, match="inputs hold values that are not finite"):
        ensemble.train(X * spoilt[:, None], Y, rate=0.1, steps=1)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_losses_on_signs_refuse_other_targets(loss: str) -> None:
    """Zeros and ones are refused, unless a network that squares them has them, or no sample of weight."""
    ensemble, zeros = Ensemble(MLP(4, (8,)), [0, 1]), np.maximum(Y, 0)
    settings: dict = {"rate": 0.1, "steps": 1}
    own = np.stack([Y, zeros])
    for targets, losses in ((zeros, loss), (zeros, ["mse", loss]), (own, loss), (own, ["mse", loss])):
        with pytest.raises(InputError, match="a target is 0; logistic and hinge losses take -1 and 1"):
            ensemble.train(X, targets, loss=losses, **settings)
    ensemble.train(X, own, loss=[loss, "mse"], **settings)
    trained = ensemble.train(X, zeros, loss=loss, weights=zeros, **settings)
    same(trained.parameters, ensemble.train(X, Y, loss=loss, weights=zeros, **settings).parameters)


def test_soft_targets_are_both_answers_at_once() -> None:
    """A target of size 1 - e is the answer with weight 1 - e/2 and the other one with weight e/2."""
    ensemble, settings = Ensemble(MLP(4, (8,)), [0, 1], dtype="float64"), {"rate": 0.1, "steps": 20}
    soft = ensemble.train(X, 0.8 * Y, loss="soft-logistic", **settings)
    weights = np.repeat([0.9, 0.1], len(Y))
    both = ensemble.train(np.concatenate([X, X]), np.concatenate([Y, -Y]), loss="logistic", weights=weights, **settings)
    for name, values in soft.parameters.items():
        torch.testing.assert_close(values, both.parameters[name], rtol=1e-10, atol=1e-12)
    with pytest.raises(InputError, match=r"a target is 1\.5; the soft-logistic loss takes -1 to 1"):
        ensemble.train(X, np.full(len(X), 1.5), loss="soft-logistic", rate=0.1, steps=1)


@pytest.mark.parametrize(
    "wrong",
    [{"dtype": "half"}, {"seeds": []}, {"seeds": [-1]}, {"seeds": 3}, {"seeds": [0.5]}, {"chunk": 0}, {"scale": [1.0]}],
)
def test_wrong_ensembles_are_refused(wrong: dict) -> None:
    with pytest.raises(InputError):
        Ensemble(**{"architecture": MLP(4, (8,)), "seeds": SEEDS, **wrong})


def test_a_device_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match="'gpu' is not a device"):
        Ensemble(MLP(4, (3,)), [0], device="gpu").train(X, Y, rate=0.1, steps=1)


def test_labels_beyond_the_outputs_are_refused() -> None:
    with pytest.raises(InputError, match="labels go from 0 to 6 but there are 3 outputs"):
        Ensemble(MLP(4, (3,), outputs=3), [0]).train(X[:2], [0, 6], rate=0.1, steps=1, loss="cross-entropy")
