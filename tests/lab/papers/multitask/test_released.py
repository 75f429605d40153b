"""Students of the authors' draws: the draws are theirs, and students are judged seed by seed."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from multitask_rows import PAPER, bent, table_of, verdict
from scipy.stats import ortho_group
from torch import nn
from torch.distributions.normal import Normal

from recombine.lab.papers import Standing
from recombine.lab.papers.multitask.experiments.released import COSINES, looks, main_draw, pretraining_draw, released
from recombine.lab.papers.multitask.losses_by_seed import LOSSES
from recombine.lab.runs.experiment import Unit
from recombine.tables.table import Table

SMALL = {"width": 30, "scale": 0.1, "rate": 0.1, "stop": 1e-4, "batch": 64, "auxiliary samples": 80, "mtl rate": 0.1}
SMALL |= {"steps": 120, "mtl steps": 120, "pretraining steps": 60}


def layer(inputs: int, outputs: int, scale: float) -> nn.Linear:
    made = nn.Linear(inputs, outputs, bias=False)
    nn.init.normal_(made.weight, std=scale * math.sqrt(2 / inputs))
    return made


def rows_of(samples: int) -> torch.Tensor:
    drawn = Normal(torch.zeros(15), torch.ones(15)).sample((samples,))
    return drawn / torch.sqrt(torch.mean(drawn**2, dim=-1, keepdims=True))


@pytest.mark.parametrize(("tasks", "tuned"), [(1, False), (2, False), (1, True)])
def test_draws_are_those_of_torch_seeded_once(tasks: int, tuned: bool) -> None:
    """Written as a script would, with torch's own layers and its global generator."""
    found = main_draw(3, COSINES["0.9 x 6"], 16, tasks, tuned=tuned, width=40)
    with torch.random.fork_rng([]):
        torch.manual_seed(3)
        rotation = torch.from_numpy(ortho_group.rvs(15, random_state=np.random.RandomState(3))).float()
        signs = [(torch.rand(6) - 0.5).sign() / math.sqrt(6) for _ in range(2)]
        inputs = [rows_of(count) for count in (1024, 16, 10_000)]
        hidden, readout = layer(15, 40, 1e-3), layer(40, tasks, 1e-3)
        if tuned:
            nn.init.normal_(readout.weight, std=1e-3 * math.sqrt(2 / 40))
    turned = 0.9 * rotation[:6] + math.sqrt(1 - 0.81) * rotation[6:12]
    assert np.allclose(found.auxiliary.weights, rotation[:6].numpy())
    assert np.allclose(found.main.weights, turned.numpy(), atol=1e-6)
    for teacher, wanted in zip((found.auxiliary, found.main), signs, strict=True):
        assert np.allclose(teacher.readouts, wanted.numpy())
    for drawn, wanted in zip((found.auxiliary_inputs, found.main_inputs, found.test_inputs), inputs, strict=True):
        assert np.array_equal(drawn, wanted.double().numpy())
    assert torch.equal(found.weights["hidden"], hidden.weight.detach().double())
    assert torch.equal(found.weights["readouts"], readout.weight.detach().double().flip(0))


def test_pretraining_is_drawn_by_a_script_of_its_own() -> None:
    found = pretraining_draw(2, width=40)
    with torch.random.fork_rng([]):
        torch.manual_seed(2)
        signs = torch.sign(torch.rand((6,)) - 0.5) / math.sqrt(6)
        inputs, _ = rows_of(1024), rows_of(10_000)
        hidden = layer(15, 40, 1e-3)
    assert np.allclose(found.auxiliary.readouts, signs.numpy())
    assert np.array_equal(found.auxiliary_inputs, inputs.double().numpy())
    assert torch.equal(found.weights["hidden"], hidden.weight.detach().double())


@pytest.mark.slow
def test_a_single_task_ends_at_the_published_loss_and_has_met_it() -> None:
    """Two of the authors' students at their size: the least loss of the second comes long before its last."""
    setting = {**SMALL, "width": 1000, "scale": 1e-3, "stop": 1e-8, "batch": 128, "auxiliary samples": 1024}
    unit = Unit(
        "test", 1, {**setting, "steps": 1400, "n": 16, "cosines": ["1 x 6"], "methods": ["stl"], "seeds": [0, 1]}
    )
    rows = Table.from_rows(released(unit))
    published = LOSSES["1 x 6", "stl"][16][:2]
    assert rows["best"] == pytest.approx(published, rel=1e-3)
    assert rows["loss"][0] == pytest.approx(published[0], rel=1e-3)
    assert rows["loss"][1] > 1.1 * published[1]


@pytest.mark.slow
def test_every_method_is_trained_from_the_same_draws() -> None:
    names, methods = ["1 x 6", "1 x 5, 0.9"], ["stl", "pt+ft", "mtl"]
    rows = Table.from_rows(
        released(Unit("test", 1, {**SMALL, "n": 16, "cosines": names, "methods": methods, "seeds": [0, 1]}))
    )
    assert len(rows) == 2 * 3 * 2
    assert np.all(rows["best"] <= rows["loss"])
    assert np.all(rows["steps"] <= 120)
    assert np.isfinite(rows["loss"]).all()
    assert verdict("27a", rows) is Standing.NOT_RUN, "these are smaller than the authors'"


def test_looks_are_the_authors_and_within_the_steps() -> None:
    assert looks(20, epoch=9) == [9]
    assert looks(5, epoch=9) == [5]
    assert all(step % 9 == 0 for step in looks(300_000, epoch=9))


@pytest.mark.parametrize(
    ("number", "method"), [("27a", "stl"), ("27b", "pt+ft"), ("27c", "mtl"), ("27d", "mtl"), ("27e", "pt+ft")]
)
def test_claims_turn_where_students_end_elsewhere(number: str, method: str) -> None:
    rows = table_of(number)
    off = np.where(rows["method"] == method, 100.0, 1.0)
    worse = bent(rows, loss=lambda rows: off * rows["loss"], best=lambda rows: off * rows["best"])
    assert verdict(number, worse) is (Standing.FAILS if number < "27d" else Standing.CONTRADICTS)
    rises = bent(rows, loss=lambda rows: 100 * rows["loss"])
    if number < "27d":
        assert verdict(number, rises) is Standing.HOLDS, "the files have the least losses"


@pytest.mark.parametrize("number", ["27d", "27e"])
def test_multi_task_students_that_have_not_come_to_rest_decide_nothing(number: str) -> None:
    late = bent(table_of(number), train_loss=lambda rows: 0 * rows["train loss"] + 1e-6)
    outcome = PAPER.claim(number).read(late)
    assert outcome.verdict is Standing.NOT_RUN
    assert "come to rest" in outcome.detail
