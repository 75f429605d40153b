"""Image networks of the first paper, tiny: one unit of each experiment, and what it hands back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from recombine.errors import InputError
from recombine.lab import tasks
from recombine.lab.nets.architectures.convnet import ConvNet
from recombine.lab.nets.ensemble.ensemble import Ensemble
from recombine.lab.papers import find
from recombine.lab.papers.kernel_theory.experiments.architectures import architecture_of
from recombine.lab.papers.kernel_theory.experiments.images import (
    addition_task,
    image_addition,
    image_context,
    image_equivalence,
)
from recombine.lab.papers.kernel_theory.experiments.trained_images import ImageSetup
from recombine.lab.runs.experiment import Experiment, Unit
from recombine.measures.activations.salience import measured_salience
from recombine.tables.table import Table

PAPER = find("kernel-theory")
IMAGES = ("mnist-addition", "mnist-splits", "mnist-context", "mnist-equivalence", "cifar-addition", "cifar-context")
#: Enough samples to have every cell, too few to learn anything.
TINY = {"total": 100, "per cell": 3, "epochs": 1, "seeds": [0, 1]}


def unit(name: str, place: int = 0, **changes: Any) -> Unit:
    """A unit of a quick grid, changed."""
    setting = PAPER.by_name[name].settings("quick")[place]
    return Unit(name, 1, {**setting, **changes})


@pytest.mark.parametrize("name", IMAGES)
def test_all_units_of_an_experiment_make_one_table(name: str) -> None:
    experiment: Experiment = PAPER.by_name[name]
    architectures = {setting["architecture"]: place for place, setting in enumerate(experiment.settings("quick"))}
    rows = [row for place in architectures.values() for row in experiment.function(unit(name, place, **TINY))]
    table = Table.from_rows(rows)
    assert set(table["architecture"].tolist()) == set(architectures)
    assert table["seed"].tolist() == [0, 1] * len(architectures)
    assert {"images", "loss", "distance"} < set(table.columns)
    assert all(isinstance(value, str | int | float | bool) for row in rows for value in row.values())


def test_a_network_is_the_same_alone_and_in_a_batch() -> None:
    together = image_equivalence(unit("mnist-equivalence", **TINY))
    alone = image_equivalence(unit("mnist-equivalence", **TINY | {"seeds": [1]}))
    assert together[1]["seed"] == alone[0]["seed"] == 1
    for name in ("train loss", "margin"):
        assert together[1][name] == pytest.approx(alone[0][name], rel=1e-3)
    assert together[0]["margin"] != pytest.approx(together[1]["margin"], rel=1e-3)


@pytest.mark.slow
def test_a_small_convnet_learns_the_seen_cells_and_takes_the_shortcut() -> None:
    places = [(s["left out"], s["loss"], s["distance"]) for s in PAPER.by_name["mnist-context"].settings("quick")]
    rows = image_context(unit("mnist-context", places.index((3, "logistic", 6)), seeds=[1]))
    for row in rows:
        assert row["task"] == "CD-3"
        assert row["train accuracy"] > 0.99
        assert row["in-distribution accuracy"] > 0.9
        assert row["accuracy"] < 0.4
        assert row["context"] > row["right"]


@pytest.mark.parametrize(("samples", "batch", "steps"), [(170, 32, 12), (170, 170, 2), (170, 500, 2)])
def test_an_epoch_shows_every_sample_once(
    samples: int, batch: int, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}
    train = Ensemble.train

    def spy(self: Ensemble, *arguments: Any, **options: Any) -> Any:
        asked.update(options, targets=arguments[1])
        return train(self, *arguments, **options)

    monkeypatch.setattr(Ensemble, "train", spy)
    image_addition(unit("mnist-addition", **TINY | {"total": samples, "epochs": 2, "batch": batch}))
    assert (asked["steps"], asked["batch"]) == (steps, batch)
    task = tasks.symbolic_addition(anchors=[4])
    assert asked["targets"].tolist() == np.repeat(task.target[task.train], 10).tolist()


def test_salience_is_that_of_all_pairs_of_samples_of_the_last_convolution() -> None:
    import torch

    world = ImageSetup.of(tasks.symbolic_addition(anchors=[4]), unit("mnist-addition", **TINY))
    found = world.salience()
    architecture = world.ensemble.architecture
    assert isinstance(architecture, ConvNet)
    rows = torch.arange(81 * 3)
    inputs = world.pairs["val_2"].take(torch.arange(2), rows.expand(2, -1))
    features = architecture.features(*world.ensemble.initial(), inputs)[-1].flatten(2).double().numpy()
    cells = world.task.cells[world.draws["val_2"].cells[0]]
    for place in (0, 1):
        for itself, column in ((True, "salience"), (False, "salience of distinct samples")):
            expected = measured_salience(features[place], cells, itself=itself).salience[0]
            assert found[column][place] == pytest.approx(expected, rel=1e-5)


def test_salience_reads_the_same_images_whatever_the_set() -> None:
    saliences = [
        ImageSetup.of(addition_task(name), unit("mnist-addition", **TINY, set=name)).salience()["salience"].tolist()
        for name in ("extrapolation", "dispersed 1")
    ]
    assert saliences[0] == saliences[1]


def test_augmented_images_are_for_training_only() -> None:
    world = ImageSetup.of(addition_task("both"), unit("cifar-addition", **TINY, augment=True))
    assert world.pairs["train"].seeds is not None
    assert world.pairs["val_1"].seeds is None
    assert world.pairs["val_2"].seeds is None


def test_the_paper_networks_are_the_default() -> None:
    full = {s["architecture"]: s for s in PAPER.by_name["cifar-addition"].settings("full")}
    sizes = [sum(t.numel() for t in architecture_of(full[name], (6, 32, 32)).initial(0, 1.0).values()) for name in full]
    assert sizes[0] == 700_737
    (convnet,) = {s["architecture"] for s in PAPER.by_name["mnist-addition"].settings("full")}
    assert architecture_of({"architecture": convnet}, (2, 28, 28)) == ConvNet((2, 28, 28))


def test_unknown_names_are_refused_with_a_guess() -> None:
    with pytest.raises(InputError, match="did you mean 'extrapolation'"):
        addition_task("extrapolate")
    with pytest.raises(InputError, match="did you mean 'resnet'"):
        architecture_of({"architecture": "resnets"}, (2, 8, 8))
