"""Multi-task learning and pretraining, ReLU students of teachers whose features are the same, correlated or new.

A student is pretrained on the auxiliary teacher and finetuned on the main one (PT+FT), trained on both (MTL), or on the
main one alone (STL). Probes fit readouts by ridge regression on the units of a pretrained or an untrained student, with
the penalty that does best on the test, as published. Torch is imported when a unit runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.errors import InputError
from recombine.lab.papers.multitask.experiments.theory import Rows
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.teachers import ReluTeacher, relu_teachers, sphere_inputs

if TYPE_CHECKING:
    from torch import Tensor

    from recombine.lab.nets.architecture import Architecture, Tensors
    from recombine.lab.nets.ensemble.ensemble import Trained

#: Cosines of the main teacher's units with the auxiliary teacher's, by name.
CORRELATIONS: dict[str, tuple[float, ...]] = {
    "1 x 6": (1.0,) * 6,
    "0.9 x 6": (0.9,) * 6,
    "1 x 5, 0": (1.0,) * 5 + (0.0,),
    "1 x 3, 0 x 3": (1.0,) * 3 + (0.0,) * 3,
    "1 x 2, 0.9 x 2, 0 x 2": (1.0, 1.0, 0.9, 0.9, 0.0, 0.0),
    "0 x 6": (0.0,) * 6,
}
#: Inputs of a student.
INPUT_DIMENSION = 15
#: Inputs and targets.
Samples = tuple[FloatArray, FloatArray]
#: Methods that train on both tasks: at the published rate, and at a lower one.
BOTH_TASKS = ("mtl", "slow mtl")
#: Ridge penalties of the probes.
PROBE_RIDGES = np.logspace(-5, 10, 100)
#: Looks at the test loss on the way, and test inputs of a look.
TEST_LOOKS, INPUTS_PER_LOOK = 24, 2000


@dataclass(frozen=True)
class Descent:
    """How students are trained: steps, rate, samples of a batch (None: full batches), and what is recorded when."""

    steps: int
    rate: float
    batch: int | None
    watch: Callable[..., Tensor] | None = None
    record: Sequence[int] = ()


@dataclass(frozen=True, eq=False)
class Student:
    """One student to train: what it is called, its seed, teachers, and the factor on its pretrained weights."""

    about: Mapping[str, Any]
    seed: int
    auxiliary: ReluTeacher
    main: ReluTeacher
    scaling: float = 1.0

    @property
    def power(self) -> float:
        """Mean square of the main targets on test inputs."""
        return float(np.mean(self.main(inputs_to_test(self.seed)) ** 2))


def inputs_to_test(seed: int, samples: int = 10_000) -> FloatArray:
    """Return the test inputs of a seed."""
    return sphere_inputs(seed, "test inputs", samples, INPUT_DIMENSION)


def correlation(unit: Unit) -> Rows:
    """Test loss by correlation of features, samples and method: one row per network."""
    students = [
        Student({"correlation": name}, seed, *relu_teachers(seed, CORRELATIONS[name]))
        for name, seed in product(unit.setting["correlations"], unit.seeds)
    ]
    return _rows(unit, students)


def units(unit: Unit) -> Rows:
    """Test loss by number of the main teacher's units, known or new, and scaling of known weights: one row per network.

    As in the published data, a main readout is 1 / (number of units).
    """
    students = []
    for count, cosine, m, seed in product(
        *(unit.setting[axis] for axis in ("units", "cosines", "scalings")), unit.seeds
    ):
        teachers = relu_teachers(seed, [cosine] * count, magnitude=1 / count)
        students.append(Student({"units": count, "cosine": cosine, "scaling": m}, seed, *teachers, m))
    return _rows(unit, students)


def magnitude(unit: Unit) -> Rows:
    """Test loss by correlation of features and magnitude of the main task: one row per network."""
    students = []
    for cosine, size, seed in product(unit.setting["cosines"], unit.setting["magnitudes"], unit.seeds):
        teachers = relu_teachers(seed, [cosine] * 6, magnitude=size * 6**-0.5)
        students.append(Student({"cosine": cosine, "magnitude": size}, seed, *teachers))
    return _rows(unit, students)


def _rows(unit: Unit, students: Sequence[Student]) -> Rows:
    """Train every student with every method of the setting."""
    setting, methods, rows = unit.setting, unit.setting["methods"], []
    pretrained = pretrained_students(unit, students) if any(method.startswith("pt+ft") for method in methods) else {}
    for method in methods:
        if method.endswith("probe"):
            hidden_layers = pretrained if method.startswith("pt+ft") else _untrained(unit, students)
            scores = [_probe(setting["n"], student, hidden_layers[student.seed]) for student in students]
        else:
            scores = _scores(students, student_networks(unit, students, method, pretrained))
        for student, score in zip(students, scores, strict=True):
            about = {"n": setting["n"], "width": setting["width"], **student.about, "method": method}
            rows.append({**about, "seed": student.seed, "power": student.power, **score})
    return rows


def student_networks(
    unit: Unit, students: Sequence[Student], method: str, pretrained: Mapping[int, Tensors]
) -> Trained:
    """Train one network per student."""
    import torch

    from recombine.lab.nets.architectures.students import Continued, ReluStudent

    setting = unit.setting
    n, joint = setting["n"], method in BOTH_TASKS
    plain = ReluStudent(INPUT_DIMENSION, setting["width"], tasks=2 if joint else 1)
    names = tuple(range(len(students)))
    initial = [plain.initial(student.seed, setting["scale"]) for student in students]
    if method == "pt+ft":
        fresh = [plain.initial(1000 + student.seed, setting["scale"]) for student in students]
        hidden = [student.scaling * pretrained[student.seed]["hidden"].double().cpu() for student in students]
        initial = [{"hidden": w, "readouts": redrawn["readouts"]} for w, redrawn in zip(hidden, fresh, strict=True)]
    start = Continued(plain, names, {name: torch.stack([weights[name] for weights in initial]) for name in initial[0]})
    samples = [_samples(student, n, setting["auxiliary samples"] if joint else 0) for student in students]
    inputs, targets = (np.stack(arrays) for arrays in zip(*samples, strict=True))
    steps, rate = setting["mtl steps" if joint else "steps"], setting.get(f"{method} rate", setting["rate"])
    descent = Descent(steps, rate, setting["batch"], _watched(students, unit.device))
    return _train(unit, start, names, (inputs, targets), descent)


def _samples(student: Student, n: int, auxiliary: int) -> Samples:
    """Return main samples, and where there are auxiliary ones these too, with the task at the end of an input."""
    main = sphere_inputs(student.seed, "main inputs", n, INPUT_DIMENSION)
    if not auxiliary:
        return main, student.main(main)
    X1 = sphere_inputs(student.seed, "auxiliary inputs", auxiliary, INPUT_DIMENSION)
    marked = [np.hstack([X, np.tile(task, (len(X), 1))]) for X, task in ((main, [1.0, 0.0]), (X1, [0.0, 1.0]))]
    return np.vstack(marked), np.concatenate([student.main(main), student.auxiliary(X1)])


def trained_students(unit: Unit, weights: Sequence[Tensors], samples: Sequence[Samples], descent: Descent) -> Trained:
    """Train students from given weights, each on its own samples."""
    import torch

    from recombine.lab.nets.architectures.students import Continued, ReluStudent

    plain = ReluStudent(INPUT_DIMENSION, unit.setting["width"], tasks=len(weights[0]["readouts"]))
    names = tuple(range(len(weights)))
    start = Continued(plain, names, {name: torch.stack([network[name] for network in weights]) for name in weights[0]})
    inputs, targets = (np.stack(arrays) for arrays in zip(*samples, strict=True))
    return _train(unit, start, names, (inputs, targets), descent)


def _train(unit: Unit, start: Architecture, seeds: Sequence[int], samples: Samples, descent: Descent) -> Trained:
    """Train networks, and again with a tenth of the rate, as published, where they diverge."""
    from recombine.lab.nets.ensemble.ensemble import Ensemble

    rates, batch = np.full(len(seeds), descent.rate), descent.batch
    how: dict[str, Any] = {"steps": descent.steps, "stop": unit.setting["stop"], "watch": descent.watch}
    how["batch"] = batch if batch is not None and samples[0].shape[1] > batch else None
    looks = {0, *np.geomspace(10, descent.steps, TEST_LOOKS).astype(int).tolist()}
    how["record"] = sorted(descent.record or looks) if descent.watch is not None else []
    ensemble = Ensemble(start, seeds, scale=unit.setting["scale"], device=unit.device)
    for _ in range(4):
        trained = ensemble.train(*samples, rate=rates, **how)
        wild = trained.diverged.cpu().numpy()
        if not wild.any():
            return trained
        rates = np.where(wild, rates / 10, rates)
    raise InputError(f"students still diverge at a rate of {rates.min():g}; lower the setting's rate")


def pretrained_students(unit: Unit, students: Sequence[Student]) -> dict[int, Tensors]:
    """Train one student per seed on its auxiliary teacher; return the weights by seed."""
    from recombine.lab.nets.architectures.students import ReluStudent

    setting = unit.setting
    teachers, samples = {student.seed: student.auxiliary for student in students}, setting["auxiliary samples"]
    inputs = np.stack([sphere_inputs(seed, "auxiliary inputs", samples, INPUT_DIMENSION) for seed in teachers])
    targets = np.stack([teacher(X) for teacher, X in zip(teachers.values(), inputs, strict=True)])
    plain = ReluStudent(INPUT_DIMENSION, setting["width"])
    descent = Descent(setting["pretraining steps"], setting["rate"], setting["batch"])
    trained = _train(unit, plain, list(teachers), (inputs, targets), descent)
    weights = trained.parameters.items()
    return {seed: {name: tensor[index] for name, tensor in weights} for index, seed in enumerate(teachers)}


def _untrained(unit: Unit, students: Sequence[Student]) -> dict[int, Tensors]:
    from recombine.lab.nets.architectures.students import ReluStudent

    plain = ReluStudent(INPUT_DIMENSION, unit.setting["width"])
    return {student.seed: plain.initial(student.seed, unit.setting["scale"]) for student in students}


def _watched(students: Sequence[Student], device: str) -> Callable[..., Tensor]:
    """Return a function of some networks' weights that gives their test losses (c,), for records on the way."""
    inputs = [inputs_to_test(student.seed, INPUTS_PER_LOOK) for student in students]
    return test_losses([(X, student.main(X)) for student, X in zip(students, inputs, strict=True)], device)


def test_losses(samples: Sequence[Samples], device: str) -> Callable[..., Tensor]:
    """Return a function of some networks' weights that gives their losses (c,) on the samples of each."""
    import torch

    inputs, targets = (
        torch.tensor(np.stack(arrays), dtype=torch.float32, device=device) for arrays in zip(*samples, strict=True)
    )

    def losses(parameters: Tensors, statistics: Tensors, students: Tensor) -> Tensor:
        hidden = torch.relu(inputs[students] @ parameters["hidden"].transpose(1, 2))
        outputs = (hidden @ parameters["readouts"][:, :1].transpose(1, 2)).squeeze(-1)
        return (outputs - targets[students]).square().mean(1)

    return losses


def _scores(students: Sequence[Student], trained: Trained) -> Rows:
    """Return train and test loss of each student; the best is the lowest of the last and of those on the way."""
    rows: Rows = []
    watched = trained.watched
    for index, student in enumerate(students):
        weights = {name: tensor[index].double().cpu().numpy() for name, tensor in trained.parameters.items()}
        X = inputs_to_test(student.seed)
        outputs = np.maximum(X @ weights["hidden"].T, 0) @ weights["readouts"].T
        auxiliary = np.mean((outputs[:, 1] - student.auxiliary(X)) ** 2) if outputs.shape[1] == 2 else np.nan
        final = float(np.mean((outputs[:, 0] - student.main(X)) ** 2))
        best = final if watched is None else min(final, float(watched[:, index].min()))
        rows.append(
            {"train loss": float(trained.loss[index]), "steps": int(trained.steps[index])}
            | {"loss": final, "best": best, "auxiliary loss": float(auxiliary)}
        )
    return rows


def _probe(n: int, student: Student, weights: Tensors) -> dict[str, Any]:
    """Ridge regression on a student's units, with the penalty that does best on the test."""
    hidden = weights["hidden"].double().cpu().numpy()
    main, X = sphere_inputs(student.seed, "main inputs", n, INPUT_DIMENSION), inputs_to_test(student.seed)
    features, tested = (np.maximum(inputs @ hidden.T, 0) for inputs in (main, X))
    # Units of tiny weights have tiny outputs; the penalties are meant for outputs of size one.
    size = np.sqrt(np.mean(features**2))
    features, tested = features / size, tested / size
    values, vectors = np.linalg.eigh(features @ features.T)
    turned, kernel = vectors.T @ student.main(main), tested @ (features.T @ vectors)
    losses = [float(np.mean((kernel @ (turned / (values + ridge)) - student.main(X)) ** 2)) for ridge in PROBE_RIDGES]
    return {"train loss": np.nan, "steps": 0, "loss": min(losses), "best": min(losses), "auxiliary loss": np.nan}
