"""First principles, the theory: finite grids and reconstruction."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.lab.runs.experiment import Unit
from recombine.theory.compositions import Composition, add, bilinear
from recombine.theory.identification.identify import identify
from recombine.theory.sufficiency.finite import finite_identifiability
from recombine.theory.sufficiency.peeling import peel
from recombine.theory.sufficiency.reconstruction import reconstruct_components
from recombine.theory.sufficiency.refit import refit
from recombine.theory.supports import planes

Rows = list[dict[str, Any]]
#: Unknowns and outputs of random bilinear compositions; the first stands for addition.
SHAPES = ((3, 3), (2, 3), (3, 2), (4, 2))


# ---------------------------------------------------------------------------- finite grids


def _random_rule(rng: np.random.Generator, unknowns: int, outputs: int) -> Composition:
    shapes = (outputs, unknowns), (outputs, unknowns), (outputs, unknowns, unknowns)
    return bilinear(*(rng.standard_normal(shape) for shape in shapes))


def random_grid(seed: int) -> tuple[IntArray, Composition, list[FloatArray]]:
    """Return seen cells of a 6 x 6 grid of random density, a random composition and random components.

    Examples
    --------
    >>> random_grid(0)[1].name, random_grid(1)[1].name
    ('add', 'bilinear')
    """
    rng = np.random.default_rng(seed)
    unknowns, outputs = SHAPES[seed % len(SHAPES)]
    components = [rng.standard_normal((6, unknowns)) for _ in range(2)]
    rule = _random_rule(rng, unknowns, outputs) if seed % len(SHAPES) else add()
    mask = rng.random((6, 6)) < rng.uniform(0.15, 0.95)
    mask[0, 0] = True
    return np.argwhere(mask), rule, components


def finite_grids(unit: Unit) -> Rows:
    """What the criterion says of random supports, what refitting finds, and for addition the graph's verdict."""
    rows = []
    for seed in unit.seeds:
        cells, rule, truth = random_grid(seed)
        answer = finite_identifiability(cells, rule, truth)
        fitted = refit(cells, rule, truth, move=0.02, seed=seed)
        started = finite_identifiability(cells, rule, truth, known_cell=cells[0])
        graph = np.array_equal(answer.verdicts_on_grid(), identify(cells, sizes=(6, 6)).verdicts_on_grid())
        rows.append(
            {"seed": seed, "rule": rule.name, "unknowns": truth[0].shape[1], "cells": len(cells)}
            | {"outputs": SHAPES[seed % len(SHAPES)][1], "rank": answer.rank, "full": answer.full_rank}
            | {"identifiable": answer.identifiable, "generalises": fitted.generalises, "error": fitted.error}
            | {"seen error": fitted.residual, "as graph": bool(graph)}
            | {"covered": all(len(set(cells[:, slot].tolist())) == 6 for slot in (0, 1))}
            | {"peeled": peel(cells, rule, truth, cells[0]).complete, "identifiable with start": started.identifiable}
        )
    return rows


# ---------------------------------------------------------------------------- reconstruction


def reconstruction(unit: Unit) -> Rows:
    """Largest error of f off two planes, rebuilt from a right start, a moved one, and one that fits f at the start."""
    rows = []
    for seed in unit.seeds:
        for outputs, name in ((3, "bilinear"), (5, "bilinear"), (3, "add")):
            rng = np.random.default_rng(seed)
            rule = _random_rule(rng, 3, outputs) if name == "bilinear" else add()
            case = {"rule": name, "outputs": outputs, "seed": seed}
            rows += [case | row for row in _rebuilt_errors(rule, rng, unit.setting["side"])]
    return rows


def _rebuilt_errors(rule: Composition, rng: np.random.Generator, side: int) -> list[dict[str, Any]]:
    rates, shifts = rng.uniform(0.5, 2.5, (2, 3)), rng.uniform(0, 6, (2, 3))

    def components(z: FloatArray) -> list[FloatArray]:
        return [np.sin(z[:, slot] * rates[slot] + shifts[slot]) for slot in (0, 1)]

    def observed(z: FloatArray) -> FloatArray:
        return rule(*components(z))

    corner, start = planes({0: [[1.0]], 1: [[0.0]]}), np.array([[0.0], [1.0]])
    right = np.concatenate(components(start[None]))
    points = np.stack(np.meshgrid(*[np.linspace(0, 1, side)] * 2), axis=-1).reshape(-1, 2, 1)
    seen = corner.contains(points)
    rows = []
    for name, wrong in _starts(rule, right, rng).items():
        rebuilt = reconstruct_components(observed, rule, corner, start, list(wrong))
        miss = np.abs(rebuilt(points) - observed(points)).max(axis=1)
        rows.append({"start": name, "seen error": float(miss[seen].max()), "error": float(miss[~seen].max())})
    return rows


def _starts(rule: Composition, right: FloatArray, rng: np.random.Generator) -> dict[str, FloatArray]:
    """The right start, one moved by N(0, 0.3^2), and the nearest to that which gives the right f."""
    moved = right + 0.3 * rng.standard_normal((2, 3))
    silent = moved
    for _ in range(20):
        matrix = np.concatenate([rule.jacobian(slot, list(silent)) for slot in (0, 1)], axis=1)
        silent = silent + (np.linalg.pinv(matrix) @ (rule(*right) - rule(*silent))).reshape(2, 3)
    return {"right": right, "moved": moved, "silent": silent}
