"""Kernel theory, image networks: ConvNet, ResNet and ViT on cells whose components are shown by images.

A unit is one condition with a batch of seeds, trained together on the unit's device.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recombine.errors import InputError, near_miss
from recombine.lab import tasks
from recombine.lab.papers.kernel_theory.experiments.image_scores import Columns, choices, kinds, sums
from recombine.lab.papers.kernel_theory.experiments.kernels import Rows
from recombine.lab.papers.kernel_theory.experiments.onehot import ADDITION_SETS
from recombine.lab.papers.kernel_theory.experiments.trained_images import ImageSetup
from recombine.lab.runs.experiment import Unit
from recombine.lab.tasks import Task
from recombine.measures.outputs.scores import fitted_line
from recombine.writing import listing


def addition_task(name: str) -> Task:
    """Return the addition task of a set: one of the anchor sets, or "dispersed" and the seed of its shuffle.

    Examples
    --------
    >>> addition_task("interpolation"), addition_task("dispersed 2").name
    (Task('symbolic addition': first x second of sizes 9 x 9, 32 seen, 49 unseen), 'dispersed addition')
    """
    word, _, seed = name.partition(" ")
    if word == "dispersed" and seed.isdecimal():
        return tasks.dispersed_addition(seed=int(seed))
    if name not in ADDITION_SETS:
        names = (*ADDITION_SETS, "dispersed 0")
        raise InputError(f"set {name!r} is unknown;{near_miss(name, names, f'Sets: {listing(names)}, ...')}")
    return tasks.symbolic_addition(anchors=ADDITION_SETS[name])


def image_addition(unit: Unit) -> Rows:
    """Slope, errors, additivity and item values on unseen sums, and the untrained network's salience: a row each."""
    task = addition_task(unit.setting["set"])
    world = ImageSetup.of(task, unit)
    return _rows(unit, {"set": unit.setting["set"]}, {**sums(world.trained(unit.setting)), **world.salience()})


def image_context(unit: Unit) -> Rows:
    """Accuracy and margin on unseen cells of CD-k, and what each kind of conjunction contributes: a row per network."""
    task = tasks.context_dependence(unit.setting["left out"])
    answers = ImageSetup.of(task, unit).trained(unit.setting)
    columns = {**choices(answers, unit.setting["loss"]), **answers.additivities(), **kinds(answers)}
    return _rows(unit, {"task": task.name}, columns)


def image_equivalence(unit: Unit) -> Rows:
    """Accuracy and margin on unseen pairs of transitive equivalence: a row per network."""
    anchors = unit.setting["anchors"]
    task = tasks.transitive_equivalence(unit.setting["classes"], anchors)
    answers = ImageSetup.of(task, unit).trained(unit.setting)
    return _rows(unit, {"anchors": anchors[0]}, choices(answers, unit.setting["loss"]))


def image_splits(unit: Unit) -> Rows:
    """Slope on unseen sums by the images that show them: new ones, those of training in new pairs, or both pooled."""
    task = addition_task(unit.setting["set"])
    answers = ImageSetup.of(task, unit).trained(unit.setting)
    seen, new = (answers.by_cell(split)[:, task.test] for split in ("val_1", "val_2"))
    by_split = {"training images": seen, "new images": new, "pooled": (seen + new) / 2}
    columns = {f"slope, {name}": fitted_line(task.target[task.test], outputs)[0] for name, outputs in by_split.items()}
    return _rows(unit, {"set": unit.setting["set"]}, dict(columns))


def _rows(unit: Unit, condition: Mapping[str, Any], columns: Columns) -> Rows:
    """One row per network: what it is, its seed, and its entry (E,) of each column."""
    about = {name: unit.setting[name] for name in ("images", "architecture", "loss", "distance")}
    listed = {name: values.tolist() for name, values in columns.items()}
    return [
        {**about, **condition, "seed": seed, **{name: values[index] for name, values in listed.items()}}
        for index, seed in enumerate(unit.seeds)
    ]
