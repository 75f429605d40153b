"""Multi-task learning and pretraining: what hidden units of ReLU students turn to, and how many dimensions they use.

A student has many more units than its teacher. Their input weights are clustered by direction: a student that learned
few features has few directions, those of its teacher. Torch is imported when a unit runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.multitask.experiments.students import (
    CORRELATIONS,
    Student,
    inputs_to_test,
    pretrained_students,
    student_networks,
)
from recombine.lab.papers.multitask.experiments.theory import Rows
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.teachers import relu_teachers
from recombine.measures.activations import ensd

#: Numbers of clusters, and starts of each.
CLUSTERS, STARTS = tuple(range(1, 9)), 4
#: Test inputs on which dimensions are counted.
INPUTS_COUNTED = 1000
#: One of the six known units.
ONE_KNOWN = "1 of 6 known"
#: Cosines of the main teacher's units with the auxiliary teacher's, by task.
TASKS: dict[str, tuple[float, ...]] = {**CORRELATIONS, ONE_KNOWN: (1.0,), **{f"{u} new": (0.0,) * u for u in (1, 3, 6)}}


def hidden_units(unit: Unit) -> Rows:
    """Directions and dimensions of hidden units: one row per network."""
    setting, rows = unit.setting, []
    every_student = [_student(name, seed, m) for name, m in _tasks(setting) for seed in unit.seeds]
    tuned = set(setting["methods"]) - {"stl"}
    pretrained = pretrained_students(unit, every_student) if tuned else {}
    for method in setting["methods"]:
        students = _of_method(every_student, method, unit)
        trained = student_networks(unit, students, method, pretrained)
        for index, student in enumerate(students):
            weights = {name: tensor[index].double().cpu().numpy() for name, tensor in trained.parameters.items()}
            about = {"n": setting["n"], "width": setting["width"], **student.about, "method": method}
            about |= {"seed": student.seed, "train loss": float(trained.loss[index])}
            before = (
                pretrained[student.seed]["hidden"].double().cpu().numpy() if method == "pt+ft" else weights["hidden"]
            )
            rows.append({**about, **directions(weights, student.main.weights), **_dimensions(student, weights, before)})
    return rows


def _tasks(setting: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Return what is learned from which scale: other scales than one concern the task of one known unit."""
    plain = [(name, 1.0) for name in (*setting["correlations"], *setting["new units"], ONE_KNOWN)]
    return plain + [(ONE_KNOWN, m) for m in setting["scalings"] if m != 1]


def _student(name: str, seed: int, scaling: float) -> Student:
    cosines = TASKS[name]
    teachers = relu_teachers(seed, cosines)
    return Student({"task": name, "units": len(cosines), "scaling": scaling}, seed, *teachers, scaling)


def _of_method(students: list[Student], method: str, unit: Unit) -> list[Student]:
    """Return the students of a method: a single task learns new units, the others those that were pretrained."""
    correlations = unit.setting["correlations"]
    chosen = {
        "stl": [*correlations, *unit.setting["new units"], ONE_KNOWN],
        "pt+ft": [*correlations, ONE_KNOWN],
        "mtl": [*correlations, ONE_KNOWN],
    }[method]
    return [
        student
        for student in students
        if student.about["task"] in chosen and (student.scaling == 1 or method == "pt+ft")
    ]


def directions(weights: Mapping[str, FloatArray], teacher: FloatArray) -> dict[str, float]:
    """Return how far units spread around cluster centres, and how well those fit the teacher's units.

    Units count by what they add to the output, the length of their input weights times that of their readouts.
    Inertia is the mean squared distance of their directions to the nearest of k centres: 0 if there are k directions,
    near 1 for one centre among directions of all kinds. Alignment is the mean over the teacher's units of the largest
    cosine with one of as many centres.

    Examples
    --------
    >>> weights = {"hidden": np.array([[2.0, 0.0], [0.0, 1.0]]), "readouts": np.array([[1.0, 2.0]])}
    >>> values = directions(weights, np.eye(2))
    >>> values["inertia 1"], values["inertia 2"], values["alignment"]
    (0.5, 0.0, 1.0)
    """
    from sklearn.cluster import KMeans

    lengths = np.linalg.norm(weights["hidden"], axis=1)
    strength = lengths * np.linalg.norm(weights["readouts"], axis=0)
    turned = weights["hidden"] / np.maximum(lengths, np.finfo(float).tiny)[:, None]
    values: dict[str, float] = {"alignment": 0.0}
    asked = [count for count in CLUSTERS if count <= len(turned)]
    for count in asked:
        fit = KMeans(count, n_init=STARTS, random_state=0).fit(turned, sample_weight=strength)
        values[f"inertia {count}"] = float(fit.inertia_ / strength.sum())
        if count == len(teacher):
            centres = fit.cluster_centers_ / np.linalg.norm(fit.cluster_centers_, axis=1, keepdims=True)
            unit_length = teacher / np.linalg.norm(teacher, axis=1, keepdims=True)
            values["alignment"] = float((unit_length @ centres.T).max(axis=1).mean())
    return values


def _dimensions(student: Student, weights: Mapping[str, FloatArray], before: FloatArray) -> dict[str, float]:
    """Return dimensions before and after, and shared ones, as published: means are not taken away.

    Before and after are the same where nothing was pretrained. No factor on all weights changes dimensions.
    """
    X = inputs_to_test(student.seed)[:INPUTS_COUNTED]
    singular, last = (np.maximum(X @ hidden.T, 0) for hidden in (before, weights["hidden"]))
    outputs = last @ weights["readouts"][0] - student.main(X)
    units = np.maximum(X @ student.main.weights.T, 0)
    return {
        "teacher's dimensions": ensd(units, units, centred=False),
        "dimensions before": ensd(singular, singular, centred=False),
        "dimensions": ensd(last, last, centred=False),
        "shared": ensd(singular, last, centred=False),
        "loss": float(np.mean(outputs**2)),
    }
