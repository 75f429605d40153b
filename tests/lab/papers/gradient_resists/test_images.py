"""Pairs of digits: what a unit hands back, its measures against their definitions, and the paper's contrast, small."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from recombine.errors import InputError
from recombine.lab.nets.architecture import select_networks
from recombine.lab.nets.architectures.pair_net import PairNet
from recombine.lab.nets.ensemble.ensemble import Ensemble
from recombine.lab.papers.gradient_resists.experiments.images import (
    DEFAULTS,
    PairObserver,
    PairSamples,
    errors_that_follow,
    images_for,
    pairs,
)
from recombine.lab.runs.experiment import Unit
from recombine.tables.table import Table

TINY = {"images": "digits", "setting": "A", "seeds": [0, 1], "steps": 4, "record": [0, 4], "evaluated": 60}
TINY |= {"probed": 200, "sloped": 30, "grid": [5, 6], "permutations": 20}


def unit(**changes: Any) -> Unit:
    return Unit("pairs", 1, {**TINY, **changes})


def test_one_row_per_network_and_recorded_step() -> None:
    rows = pairs(unit())
    table = Table.from_rows(rows)
    assert table["seed"].tolist() == [0, 0, 1, 1]
    assert table["step"].tolist() == [0, 4, 0, 4]
    assert table["gradient share"][0] == pytest.approx(0.5, abs=0.05)
    for name in ("train accuracy", "test accuracy", "errors that follow", "gradient share"):
        assert ((table[name] >= 0) & (table[name] <= 1)).all()
    difference = table["conditional information"] - table["null information"]
    np.testing.assert_allclose(table["excess information"], difference, atol=1e-12)
    assert all(isinstance(value, str | int | float) for row in rows for value in row.values())


def test_a_network_is_the_same_alone_and_in_a_batch() -> None:
    together, alone = pairs(unit())[2:], pairs(unit(seeds=[1]))
    for one, other in zip(together, alone, strict=True):
        assert one["gradient share"] == pytest.approx(other["gradient share"], rel=1e-4)
        assert one["train accuracy"] == pytest.approx(other["train accuracy"], abs=0.04)


def test_images_of_a_test_are_not_those_of_training() -> None:
    train, test = images_for("digits")
    samples = PairSamples.of({**DEFAULTS, **TINY}, [0, 1])
    for name, images in (("stream", train), ("train", train), ("test", test), ("probe", test), ("grid", test)):
        draws = samples.draws[name]
        np.testing.assert_array_equal(images.labels[draws.index], draws.labels)
    assert samples.draws["stream"].index.shape == (2, 4 * 64, 2)


def test_gradient_norms_are_those_of_autograd_one_network_at_a_time() -> None:
    samples = PairSamples.of({**DEFAULTS, **TINY}, [0, 1])
    architecture = PairNet((1, 8, 16), channels=(3, 4), dense=(6,))
    parameters, _ = Ensemble(architecture, [0, 1], dtype="float64").initial()
    observer = PairObserver.of(samples, architecture, 30, "cpu")
    found = observer(parameters, {}, torch.tensor([0, 1]))
    assert found.shape == (2, 60 + 60 + 200 + 30 + 2)
    for place in range(2):
        inputs = observer.probe.take(torch.tensor([place]), torch.arange(30)[None]).double().requires_grad_()
        outputs = architecture.forward(select_networks(parameters, slice(place, place + 1)), {}, inputs, False)
        own = samples.draws["probe"].labels[place, :30, 0]
        slopes = [torch.autograd.grad(outputs[0, row, own[row]], inputs, retain_graph=True)[0] for row in range(30)]
        gradients = torch.cat([slope[:, row] for row, slope in enumerate(slopes)]).numpy()
        halves = np.stack([gradients[..., :8], gradients[..., 8:]])
        sizes = np.sqrt((halves.reshape(2, 30, -1) ** 2).sum(axis=2)).mean(axis=1)
        share = sizes / sizes.sum()
        norms = found[place, -2:]
        np.testing.assert_allclose((norms / norms.sum()).numpy(), share, rtol=1e-8)
        right = (outputs[0].argmax(-1).numpy() == found[place, 120:150].numpy()).mean()
        assert right == 1


@cache
def contrast() -> dict[str, Any]:
    """Two networks in each setting, to the end of training."""
    ends = {"steps": 200, "record": [30, 200], "evaluated": 1000, "probed": 2000}
    return {setting: Table.from_rows(pairs(unit(setting=setting, **ends))) for setting in "AB"}


@pytest.mark.slow
def test_redundant_digits_speed_training_up_and_spoil_the_test() -> None:
    early, late = (
        {kind: table.where(table["step"] == step) for kind, table in contrast().items()} for step in (30, 200)
    )
    assert early["A"]["train accuracy"].mean() > early["B"]["train accuracy"].mean() + 0.05
    gap = {kind: table["train accuracy"].mean() - table["test accuracy"].mean() for kind, table in late.items()}
    assert gap["A"] > 0.10
    assert abs(gap["B"]) < 0.04
    assert late["A"]["conditional information"].mean() > 3 * late["B"]["conditional information"].mean()
    assert late["A"]["invariance entropy"].mean() > 2 * late["B"]["invariance entropy"].mean()
    assert late["B"]["gradient share"].mean() < late["A"]["gradient share"].mean() < 0.5


@pytest.mark.slow
def test_most_errors_of_setting_a_follow_the_right_digit() -> None:
    late = contrast()["A"].where(contrast()["A"]["step"] == 200)
    assert late["errors that follow"].mean() > 0.5


def test_chance_errors_follow_two_times_in_nine() -> None:
    own, other = (part.ravel() for part in np.indices((10, 10)))
    keep = np.isin((other - own) % 10, range(2, 10))
    shares = [errors_that_follow((own[keep] + shift) % 10, own[keep], other[keep]) for shift in range(1, 10)]
    assert np.mean(shares) == pytest.approx(2 / 9)
    assert np.isnan(errors_that_follow(own, own, other))


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(InputError, match="setting 'C' is unknown; give A or B"):
        pairs(unit(setting="C"))
    with pytest.raises(InputError, match="record names no step"):
        pairs(unit(record=[]))
