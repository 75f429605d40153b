"""Multi-task learning and pretraining, ReLU students of the authors' own draws: teachers, inputs and first weights.

The released scripts seed torch once and then draw, in this order: the signs of the auxiliary teacher and of the main
one, auxiliary, main and test inputs, and the student, whose layers torch first fills with uniform numbers that are
thrown away. Pretraining is a script of its own with its own draws; rotations come from numpy. Nothing else is random
but the order of mini-batches, which is not theirs here: up to 128 samples of a single task there are none. Torch is
imported when a unit runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.cells.brief import brief_repr
from recombine.lab.papers.multitask.experiments.students import (
    CORRELATIONS,
    INPUT_DIMENSION,
    Descent,
    Samples,
    test_losses,
    trained_students,
)
from recombine.lab.papers.multitask.experiments.theory import Rows
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.teachers import ReluTeacher
from recombine.theory.diagonal.generalization import predict
from recombine.theory.diagonal.penalties import FORMS

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from recombine.lab.nets.architecture import Tensors

#: The six sets of cosines of the released launchers, and two more that are in the result files.
COSINES = {
    **CORRELATIONS,
    "1 x 3, 0.9 x 2, 0": (1.0, 1.0, 1.0, 0.9, 0.9, 0.0),
    "1 x 5, 0.9": (1.0, 1.0, 1.0, 1.0, 1.0, 0.9),
}
TEACHER_UNITS, TEST_INPUTS = 6, 10_000
#: What a main readout is drawn at, after pretraining.
READOUT_SCALE = 1e-3


@dataclass(frozen=True, eq=False)
class Draw:
    """What one released script draws: teachers, inputs (N, 15), and the weights of a student.

    Examples
    --------
    >>> draw = main_draw(seed=0, cosines=(1.0,) * 6, n=16, tasks=1)
    >>> draw.main_inputs.shape, sorted(draw.weights), draw.main.readouts.round(3).tolist()
    ((16, 15), ['hidden', 'readouts'], [-0.408, 0.408, -0.408, 0.408, -0.408, -0.408])
    """

    auxiliary: ReluTeacher
    main: ReluTeacher
    auxiliary_inputs: FloatArray
    main_inputs: FloatArray
    test_inputs: FloatArray
    weights: Tensors

    __repr__ = brief_repr


def main_draw(
    seed: int,
    cosines: Sequence[float],
    n: int,
    tasks: int,
    *,
    tuned: bool = False,
    width: int = 1000,
    scale: float = 1e-3,
    auxiliary: int = 1024,
) -> Draw:
    """Draw what the released script for main tasks draws; for finetuning (``tuned``) its readouts are the second draw.

    Parameters
    ----------
    seed : int
    cosines : sequence of float
        One per unit of the main teacher.
    n, auxiliary : int
        Samples of the main and of the auxiliary task.
    tasks : int
        2 for multi-task learning, else 1. The authors' first readout is the auxiliary task's; here it is the main's.
    """
    from torch import Generator

    generator = Generator().manual_seed(seed)
    rows, signs = _rotation(seed), [_signs(generator, count) for count in (TEACHER_UNITS, len(cosines))]
    a = np.asarray(cosines)
    turned = a[:, None] * rows[: len(a)] + np.sqrt(1 - a**2)[:, None] * rows[TEACHER_UNITS : TEACHER_UNITS + len(a)]
    X1, X, tests = (_inputs(generator, count) for count in (auxiliary, n, TEST_INPUTS))
    weights = _weights(generator, tasks, width, scale)
    if tuned:
        weights["readouts"] = _normal(generator, (1, width), READOUT_SCALE)
    weights["readouts"] = weights["readouts"].flip(0)
    return Draw(ReluTeacher(rows[:TEACHER_UNITS], signs[0]), ReluTeacher(turned, signs[1]), X1, X, tests, weights)


def pretraining_draw(seed: int, *, width: int = 1000, scale: float = 1e-3, samples: int = 1024) -> Draw:
    """Draw what the released script for pretraining draws: there is one teacher, which stands for both here.

    Examples
    --------
    >>> first, second = pretraining_draw(0), main_draw(0, (1.0,) * 6, 16, 1)
    >>> bool((first.auxiliary.readouts == second.auxiliary.readouts).all())
    True
    >>> bool((first.auxiliary_inputs == second.auxiliary_inputs).any())
    False
    """
    from torch import Generator

    generator = Generator().manual_seed(seed)
    teacher = ReluTeacher(_rotation(seed)[:TEACHER_UNITS], _signs(generator, TEACHER_UNITS))
    inputs, tested = _inputs(generator, samples), _inputs(generator, TEST_INPUTS)
    return Draw(teacher, teacher, inputs, inputs[:0], tested, _weights(generator, 1, width, scale))


def linear_draw(seed: int, n: int, *, dimension: int = 1000, active: int = 40) -> tuple[FloatArray, FloatArray]:
    """Draw main inputs (n, D) and the coefficients (D,) of both tasks, all shared, as the script for diagonal networks.

    Examples
    --------
    >>> inputs, teacher = linear_draw(0, 16)
    >>> inputs.shape, int(np.count_nonzero(teacher)), round(float(teacher @ teacher), 6)
    ((16, 1000), 40, 1.0)
    """
    import torch

    generator = torch.Generator().manual_seed(seed)
    features = torch.randperm(dimension, generator=generator)[:active].numpy()
    teacher = np.zeros(dimension)
    teacher[features] = _signs(generator, active)
    _inputs(generator, 1024, dimension)
    return _inputs(generator, n, dimension), teacher


def linear_released(unit: Unit) -> Rows:
    """Predicted test losses of finetuning on the authors' draws, all features shared: one row per form and seed."""
    rows: Rows = []
    for n, seed in product(unit.setting["samples"], unit.seeds):
        inputs, teacher = linear_draw(seed, n)
        for form in FORMS:
            loss = predict(inputs, teacher, auxiliary=teacher, form=form).test_loss
            rows.append({"n": n, "form": form, "seed": seed, "loss": loss})
    return rows


def _rotation(seed: int) -> FloatArray:
    from scipy.stats import ortho_group

    rotation = ortho_group.rvs(INPUT_DIMENSION, random_state=np.random.RandomState(seed))
    return np.asarray(rotation.astype(np.float32).astype(np.float64))


def _signs(generator: Generator, count: int) -> FloatArray:
    import torch

    return np.asarray((torch.rand(count, generator=generator) - 0.5).sign().double().numpy() / math.sqrt(count))


def _inputs(generator: Generator, samples: int, dimension: int = INPUT_DIMENSION) -> FloatArray:
    import torch

    shape = (samples, dimension)
    inputs = torch.normal(torch.zeros(shape), torch.ones(shape), generator=generator)
    return np.asarray((inputs / inputs.square().mean(-1, keepdim=True).sqrt()).double().numpy())


def _weights(generator: Generator, tasks: int, width: int, scale: float) -> Tensors:
    """Draw both layers, each after the uniform numbers that torch fills a new layer with."""
    import torch

    weights = {}
    for name, shape in {"hidden": (width, INPUT_DIMENSION), "readouts": (tasks, width)}.items():
        torch.empty(shape).uniform_(generator=generator)
        weights[name] = _normal(generator, shape, scale)
    return weights


def _normal(generator: Generator, shape: tuple[int, int], scale: float) -> Tensor:
    import torch

    return torch.empty(shape).normal_(0.0, scale * math.sqrt(2 / shape[1]), generator=generator).double()


def released(unit: Unit) -> Rows:
    """Losses of students of the authors' draws: one row per method, set of cosines and seed."""
    setting, rows = unit.setting, []
    students = list(product(setting["cosines"], unit.seeds))
    pretrained = pretrained_by_seed(unit) if "pt+ft" in setting["methods"] else {}
    for method in setting["methods"]:
        draws = [_drawn(setting, COSINES[name], seed, method) for name, seed in students]
        if method == "pt+ft":
            for draw, (_, seed) in zip(draws, students, strict=True):
                draw.weights["hidden"] = pretrained[seed]
        about = [{"n": setting["n"], "cosines": name, "method": method, "seed": seed} for name, seed in students]
        rows += [{**key, **score} for key, score in zip(about, _scores(unit, method, draws), strict=True)]
    return rows


def _scores(unit: Unit, method: str, draws: Sequence[Draw]) -> Rows:
    """Train a student per draw; the best test loss is the least of those at the authors' looks and at the end."""
    setting, joint = unit.setting, method == "mtl"
    samples = [_samples(draw, joint) for draw in draws]
    tested = [(draw.test_inputs, draw.main(draw.test_inputs)) for draw in draws]
    steps, rate = (setting[f"mtl {name}" if joint else name] for name in ("steps", "rate"))
    epoch = -(-len(samples[0][0]) // setting["batch"])
    descent = Descent(steps, rate, setting["batch"], test_losses(tested, unit.device), looks(steps, epoch))
    trained = trained_students(unit, [draw.weights for draw in draws], samples, descent)
    weights = [{name: tensor[index] for name, tensor in trained.parameters.items()} for index in range(len(draws))]
    final = [_loss(network, *test_samples) for network, test_samples in zip(weights, tested, strict=True)]
    best = trained.watched.min(0).values.tolist() if trained.watched is not None else final
    return [
        {"width": setting["width"], "rate": rate, "train loss": float(trained.loss[index])}
        | {"steps": int(trained.steps[index]), "loss": final[index], "best": min(final[index], best[index])}
        for index in range(len(draws))
    ]


def looks(steps: int, epoch: int) -> list[int]:
    """Return the steps after which the authors look at the test loss: every 50 epochs, here of 5000 on every 1000.

    Examples
    --------
    >>> looks(200, epoch=1), len(looks(100_000, epoch=1))
    ([1, 51, 101, 151], 195)
    """
    epochs = [*range(1, 5000, 50), *range(5001, steps // epoch + 1, 1000)]
    return [epoch * count for count in epochs if epoch * count <= steps] or [steps]


def _loss(weights: Tensors, inputs: FloatArray, targets: FloatArray) -> float:
    hidden, readouts = (weights[name].double().cpu().numpy() for name in ("hidden", "readouts"))
    return float(np.mean((np.maximum(inputs @ hidden.T, 0) @ readouts[0] - targets) ** 2))


def _drawn(setting: Any, cosines: Sequence[float], seed: int, method: str) -> Draw:
    sizes = {"width": setting["width"], "scale": setting["scale"], "auxiliary": setting["auxiliary samples"]}
    tasks = 2 if method == "mtl" else 1
    return main_draw(seed, cosines, setting["n"], tasks, tuned=method == "pt+ft", **sizes)


def _samples(draw: Draw, joint: bool) -> Samples:
    """Return main samples, and where both tasks are learned auxiliary ones too, with the task at an input's end."""
    main, auxiliary = draw.main_inputs, draw.auxiliary_inputs
    if not joint:
        return main, draw.main(main)
    marked = [np.hstack([X, np.tile(task, (len(X), 1))]) for X, task in ((main, [1.0, 0.0]), (auxiliary, [0.0, 1.0]))]
    return np.vstack(marked), np.concatenate([draw.main(main), draw.auxiliary(auxiliary)])


def pretrained_by_seed(unit: Unit) -> dict[int, Tensor]:
    """Train one student per seed on the auxiliary task, in full batches as the authors; return hidden weights."""
    setting = unit.setting
    sizes = {"width": setting["width"], "scale": setting["scale"], "samples": setting["auxiliary samples"]}
    draws = [pretraining_draw(seed, **sizes) for seed in unit.seeds]
    samples = [(draw.auxiliary_inputs, draw.auxiliary(draw.auxiliary_inputs)) for draw in draws]
    descent = Descent(setting["pretraining steps"], setting["rate"], batch=None)
    trained = trained_students(unit, [draw.weights for draw in draws], samples, descent)
    return {seed: trained.parameters["hidden"][index].double().cpu() for index, seed in enumerate(unit.seeds)}
