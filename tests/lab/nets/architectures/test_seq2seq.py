"""Sequence to sequence: against a network of torch's own layers, finite differences, and itself alone and greedy."""

from __future__ import annotations

import math
import runpy
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from recombine.errors import InputError
from recombine.lab.nets.architecture import stack_networks
from recombine.lab.nets.architectures.mlp import MLP
from recombine.lab.nets.architectures.seq2seq import Seq2Seq, sequence_rows, sequences_right
from recombine.lab.nets.ensemble.ensemble import Ensemble, Trained
from recombine.lab.nets.ensemble.optimisers import Adam
from recombine.lab.nets.losses import loss_named
from recombine.lab.worlds.scan import commands, scan_reading

BENCHMARK = runpy.run_path(str(Path(__file__).parents[4] / "benchmarks" / "seq2seq.py"), run_name="benchmark")
CLOSE = {"rtol": 0, "atol": 1e-10}

SCAN = commands()
ROWS = torch.from_numpy(sequence_rows(SCAN.words, SCAN.actions))
NETWORK = Seq2Seq.for_symbols(SCAN.words, SCAN.actions)
SETTINGS = {"rate": 0.01, "decay": (0.96, 100), "clip": 1.0, "loss": "sequence-cross-entropy", "optimiser": Adam()}


def small(encoder: int, decoder: int) -> Seq2Seq:
    return Seq2Seq(5, 4, 4, 6, embedding_in=3, embedding_out=2, encoder=encoder, decoder=decoder)


def small_inputs(networks: int, batch: int) -> torch.Tensor:
    """Sequences of every length, with zeros after their end."""
    generator = torch.Generator().manual_seed(networks)
    parts = []
    for symbols, longest in ((5, 4), (4, 6)):
        codes = torch.randint(1, symbols, (networks, batch, longest), generator=generator)
        lengths = torch.randint(longest, (networks, batch, 1), generator=generator)
        parts.append(codes * (torch.arange(longest) < lengths))
    return torch.cat(parts, dim=-1).double()


def drawn(network: Seq2Seq, networks: int) -> dict[str, torch.Tensor]:
    return stack_networks([network.initial(seed, 1.0) for seed in range(networks)])


@pytest.mark.parametrize(("encoder", "decoder"), [(3, 6), (2, 5)], ids=["fitting", "bridged"])
def test_hand_written_slopes_are_finite_differences(encoder: int, decoder: int) -> None:
    network, inputs = small(encoder, decoder), small_inputs(2, 5)
    parameters = drawn(network, 2)
    assert ("bridge" in parameters) == (2 * encoder != decoder)

    def logits(*values: torch.Tensor) -> torch.Tensor:
        return network.forward(dict(zip(parameters, values, strict=True)), {}, inputs, True)

    leaves = [tensor.requires_grad_() for tensor in parameters.values()]
    assert torch.autograd.gradcheck(logits, leaves, fast_mode=True)


@pytest.mark.slow
def test_losses_are_those_of_torch_s_layers() -> None:
    """Four steps with clipping and Adam: forward pass, slopes, samples and updates all agree."""
    pool = torch.from_numpy(scan_reading("A").train)
    together = BENCHMARK["ours"](NETWORK, ROWS, [3, 5], pool, 24, 4)
    for seed, losses in zip((3, 5), together, strict=True):
        expected = BENCHMARK["reference_losses"](NETWORK, ROWS, seed, pool, 24, 4)
        np.testing.assert_allclose(losses, expected, rtol=0, atol=1e-10)
        assert len(set(losses)) == 4


def test_a_row_s_logits_do_not_depend_on_its_company() -> None:
    network, inputs = small(3, 6), small_inputs(2, 9)
    parameters = drawn(network, 2)
    together = network.forward(parameters, {}, inputs, False)
    assert together.shape == (2, 9, 6, 4)
    trimmed = network.forward(parameters, {}, inputs, True)
    assert trimmed.shape[2] == int((inputs[..., 4:] > 0).sum(-1).max()) + 1
    for row in range(9):
        alone = network.forward(parameters, {}, inputs[:, [row]], False)
        assert alone.shape == (2, 1, 6, 4)
        for place in range(2):
            ends = int((inputs[place, row, 4:] > 0).sum()) + 1
            torch.testing.assert_close(alone[place, 0, :ends], together[place, row, :ends], **CLOSE)
            torch.testing.assert_close(trimmed[place, row, :ends], together[place, row, :ends], **CLOSE)


def test_outputs_before_a_symbol_do_not_see_it() -> None:
    network, inputs = small(3, 6), small_inputs(1, 9)
    parameters = drawn(network, 1)
    inputs[:, :, 4:] = torch.tensor([1, 2, 3, 1, 2, 0])
    changed = inputs.clone()
    changed[:, :, 7] = 3
    one, other = (network.forward(parameters, {}, values, False) for values in (inputs, changed))
    torch.testing.assert_close(one[:, :, :4], other[:, :, :4], **CLOSE)
    assert (one[:, :, 4:] - other[:, :, 4:]).abs().min() > 0


def test_first_weights_are_the_published_ones() -> None:
    one = NETWORK.initial(seed=1, scale=1.0)
    bounds = {"read": 1.0, "written": 1.0, "encoder.weight": math.sqrt(6 / (64 + 128))}
    bounds |= {"decoder.weight": math.sqrt(6 / (136 + 256)), "attention": math.sqrt(6 / (128 + 64))}
    for name, bound in bounds.items():
        assert 0.9 * bound < float(one[name].abs().max()) <= bound, name
    assert one["decoder.bias"].view(4, 64).mean(1).tolist() == [0, 1, 0, 0]
    assert one["encoder.bias"].view(2, 4, 32).mean((0, 2)).tolist() == [0, 1, 0, 0]
    assert "bridge" not in one
    half = NETWORK.initial(seed=1, scale=0.5)
    torch.testing.assert_close(half["attention"], one["attention"] / 2)
    torch.testing.assert_close(half["decoder.bias"], one["decoder.bias"])


def learn(pools: list[np.ndarray], seeds: list[int], chunk: int | None = None, **options) -> Trained:
    ensemble = Ensemble(NETWORK, seeds, dtype="float64", chunk=chunk)
    settings = {**SETTINGS, "steps": 3, "batch": 16, "draw_from": pools, "record": [0, 1, 2], "threads": 1}
    return ensemble.train(ROWS, SCAN.actions, **{**settings, **options})


@pytest.mark.slow
def test_a_network_learns_the_same_alone_and_in_any_chunk() -> None:
    """Each draws from its own rows, however many they are."""
    pools = [scan_reading("A").train, np.arange(102), scan_reading("B3").train[:50]]
    together = learn(pools, [4, 5, 6])
    assert float(together.history.std(1).min()) > 1e-3
    for chunk in (1, 2):
        torch.testing.assert_close(learn(pools, [4, 5, 6], chunk).history, together.history, **CLOSE)
    for place in range(3):
        alone = learn(pools[place : place + 1], [4 + place])
        for name, tensor in alone.parameters.items():
            torch.testing.assert_close(tensor[0], together.parameters[name][place], **CLOSE)


@cache
def taught() -> Trained:
    """Three networks at different stages of learning every other one of the 102 single sentences."""
    pool = np.arange(0, 102, 2)
    ensemble = Ensemble(NETWORK, [0, 1, 2])
    settings = {**SETTINGS, "rate": [0.01, 0.005, 0.002], "steps": 120, "batch": 32, "threads": 1}
    return ensemble.train(ROWS, SCAN.actions, draw_from=pool, record=[0, 60, 120], watch=ROWS[:102], **settings)


@pytest.mark.slow
def test_networks_learn_what_they_are_shown_before_what_they_are_not() -> None:
    right = taught().watched[..., 0]
    assert right.shape == (3, 3, 102)
    assert set(right.unique().tolist()) <= {0.0, 1.0}
    assert not right[0].any()
    shown, others = right[:, :, ::2].mean(-1), right[:, :, 1::2].mean(-1)
    assert float(shown[2, 0]) > 0.7
    assert float(shown[2, 0]) > float(others[2, 0])
    assert float(shown[2, 0]) > float(shown[2, 2])


@pytest.mark.slow
def test_given_the_right_symbols_or_its_own_a_network_gets_the_same_sequences_right() -> None:
    trained = taught()
    written = torch.from_numpy(SCAN.actions[:102].copy()).expand(3, -1, -1)
    given = sequences_right(trained.outputs(ROWS[:102]), written)
    torch.testing.assert_close(given.to(torch.float32), trained.watched[-1, ..., 0])
    read = torch.from_numpy(SCAN.words[:102].copy()).expand(3, -1, -1)
    greedy = (NETWORK.greedy(trained.parameters, read) == written).all(-1)
    assert 0.05 < float(greedy.float().mean()) < 0.95, "all right or all wrong would prove nothing"
    torch.testing.assert_close(greedy, given)


def test_greedy_sequences_end_in_zeros() -> None:
    network, inputs = small(3, 6), small_inputs(2, 30)
    written = network.greedy(drawn(network, 2), inputs[..., :4])
    assert written.shape == (2, 30, 6)
    ended = (written == 0).cumsum(-1) > 0
    assert bool((written[ended] == 0).all())


def test_the_loss_is_torch_s_over_the_symbols_that_count() -> None:
    inputs = small_inputs(2, 7)
    symbols = inputs[..., 4:].long()
    logits = torch.randn(2, 7, 6, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    ends = (symbols > 0).sum(-1, keepdim=True)
    masked = symbols.masked_fill(torch.arange(6) > ends, -100)
    expected = functional.cross_entropy(
        logits.permute(0, 1, 3, 2).flatten(0, 1), masked.flatten(0, 1), reduction="none"
    )
    value = loss_named("sequence-cross-entropy").value
    torch.testing.assert_close(value(logits, symbols), expected.sum(-1).view(2, 7))
    assert not torch.isclose(value(logits, symbols), value(logits[..., :3, :], symbols)).all()


@pytest.mark.parametrize("hidden", [(8,), (6, 5)], ids=["hand-written", "autograd"])
def test_the_rate_decays_in_stairs(hidden: tuple[int, ...]) -> None:
    """After three steps at the full rate, the fourth goes half as far."""
    ensemble = Ensemble(MLP(3, hidden), [0, 1], dtype="float64")

    def after(steps: int, **options) -> torch.Tensor:
        trained = ensemble.train(np.eye(3), [1.0, -1.0, 0.5], rate=[0.1, 0.05], steps=steps, **options)
        return torch.cat([tensor.flatten(1) for tensor in trained.parameters.values()], dim=1)

    third, fourth = after(3), after(4)
    torch.testing.assert_close(after(3, decay=(0.5, 3)), third, **CLOSE)
    torch.testing.assert_close(after(4, decay=(0.5, 3)), (third + fourth) / 2, **CLOSE)


def test_rows_are_drawn_with_replacement_as_often_as_they_are_listed() -> None:
    draws = BENCHMARK["DrawnRows"]([0, 1], [torch.tensor([7, 7, 7, 2]), torch.tensor([3])], 4000, torch.device("cpu"))
    first, second = draws.rows(0)
    assert set(first.tolist()) == {2, 7}
    assert float((first == 7).double().mean()) == pytest.approx(0.75, abs=0.03)
    assert set(second.tolist()) == {3}
    assert not torch.equal(draws.rows(1)[0], first)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: learn([np.arange(3)] * 3, [0, 1]), "draw_from has 3 pools for 2 networks"),
        (lambda: learn([np.array([0, 20_910])], [0]), "from 0 to 20909"),
        (lambda: learn([np.array([0.5])], [0]), "must list rows"),
        (lambda: learn([], [0]), "at least one"),
        (lambda: learn([np.arange(3)], [0], batch=None), "say how large they are with batch"),
        (lambda: sequence_rows([[1, 2]], [[1, 0]]), "to be read .* at least one 0 at its end"),
        (lambda: sequence_rows([[1, 0]], [[0.5, 0.0]]), "to be written .* whole numbers"),
        (lambda: sequence_rows([[1, 0], [2, 0]], [[1, 0]]), "2 sequences to read do not fit 1"),
    ],
)
def test_what_does_not_fit_is_refused(call, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
