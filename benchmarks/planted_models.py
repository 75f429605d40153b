"""Worlds and models whose causes of error are known, for the score: 12 x 9 x 7 cells, of which the seen are confounded.

A world has true means, a sample of measurements, and what the seen cells say of the unseen ones. A model is what these
say, changed in a known way. The truth of a cause is its amount over all unseen cells that are determined.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from recombine.design import Design, Observed
from recombine.jobs.audit.forecast import level_values
from recombine.theory.identification import identify
from recombine.theory.identification.additive_fit import fit_additive
from recombine.verdicts import Verdict

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
SIZES, NAMES = (12, 9, 7), ("a", "b", "c")
#: Unseen cells that are measured, at most.
HELD_OUT = 150
#: Chances change by so much per unit of an effect.
SCALE = 0.16


@dataclass(frozen=True)
class Kind:
    """What a world is like: noise of one measurement, size of interactions, and the structure that is scored.

    With ``chances`` outcomes are 0 or 1, and noise is what chance makes of them.
    """

    name: str
    noise: float
    interaction: float
    structure: str = "add"
    chances: bool = False
    most_rows: int = 3


KINDS = (
    Kind("noisy sums", 0.5, 0.0),
    Kind("strong interactions", 0.3, 0.5),
    Kind("noisy interactions", 0.6, 0.3),
    Kind("pairs, scored as pairs", 0.3, 0.5, "pairs"),
    Kind("chances", 0.0, 0.3, "add", True, 8),
)


@dataclass(frozen=True, eq=False)
class Told:
    """What the seen cells say at U unseen ones: mean, effects and misleading marginals (U, 3), and the whole (U,)."""

    mean: float
    effects: Floats
    misleading: Floats
    whole: Floats
    residuals: Floats

    @property
    def beyond(self) -> Floats:
        """What the structure says beyond adding, (U,)."""
        return self.whole - self.mean - self.effects.sum(axis=1)


@dataclass(frozen=True, eq=False)
class World:
    """One draw: true means (756,), which cells are seen, and the measurements of a sample of the others."""

    kind: Kind
    truth: Floats
    design: Design
    unseen: Ints
    rng: np.random.Generator

    @cached_property
    def told(self) -> Told:
        """What the measurements say."""
        assert self.design.outcome is not None
        return self.say(self.design.outcome[self.design.train])

    @cached_property
    def noiseless(self) -> Told:
        """What the seen cells would say if they had been measured without noise."""
        return self.say(self.truth[_numbers(self.design.seen)])

    def say(self, outcome: Floats) -> Told:
        """Return what outcomes (S,) of the seen cells say of the unseen ones."""
        order = 2 if self.kind.structure == "pairs" else 1
        weights, asked = self.design.precision[self.design.train], all_cells()[self.unseen]
        first = fit_additive(self.design.features(1), self.design.seen, outcome, weights)
        fit = fit_additive(self.design.features(order), self.design.seen, outcome, weights)
        everywhere = np.ones(len(outcome), bool)
        observed = Observed(self.design.seen, everywhere, weights.astype(int), weights, outcome)
        seen = Design(self.design.space, observed)
        mean, effects, marginals = level_values(seen, first, asked)
        whole = self.design.outcome_column.bounded(fit.predict(asked))
        return Told(mean, effects, marginals - effects, whole, outcome - first.fitted)

    def at_held_out(self, predicted: Floats) -> Floats:
        """Return predictions (U,) of all unseen cells at the held-out ones, in the design's order."""
        place = np.full(len(self.truth), -1)
        place[self.unseen] = np.arange(len(self.unseen))
        held = place[_numbers(self.design.held_out)]
        # A held-out cell that is not determined has no planted prediction: it is not split by cause either.
        return np.where(held >= 0, predicted[held], self.truth[_numbers(self.design.held_out)])

    @property
    def noise(self) -> float:
        """Expected variance of a held-out cell's mean."""
        rows = np.mean(1 / np.arange(1, self.kind.most_rows + 1))
        truth = self.truth[self.unseen]
        return float(rows * (np.mean(truth * (1 - truth)) if self.kind.chances else self.kind.noise**2))


def all_cells() -> Ints:
    """Return every cell, (756, 3)."""
    return np.indices(SIZES).reshape(3, -1).T


def _numbers(cells: Ints) -> Ints:
    return np.ravel_multi_index(tuple(cells.T), SIZES)


def draw_world(kind: Kind, run: int) -> World:
    """Draw effects, interactions of pairs of a and b and of single cells, seen cells and measurements."""
    rng = np.random.default_rng([run, KINDS.index(kind)])
    cells = all_cells()
    truth = np.sum([rng.normal(size=size)[cells[:, place]] for place, size in enumerate(SIZES)], axis=0)
    pairs = rng.normal(size=SIZES[:2])[cells[:, 0], cells[:, 1]]
    single = rng.normal(size=len(cells)) * (kind.structure != "pairs")
    truth = truth + kind.interaction * (pairs + single) / np.sqrt(2)
    if kind.chances:
        truth = np.clip(0.5 + SCALE * truth, 0.03, 0.97)
    seen = _seen(cells, rng, 1.5 if kind.structure == "pairs" else 0.85)
    left = np.flatnonzero(~seen)
    held = rng.choice(left, min(HELD_OUT, 2 * len(left) // 3), replace=False)
    measured = np.concatenate([np.flatnonzero(seen), held])
    rows = np.repeat(measured, rng.integers(1, kind.most_rows + 1, len(measured)))
    values = truth[rows] + kind.noise * rng.normal(size=len(rows))
    if kind.chances:
        values = (rng.random(len(rows)) < truth[rows]).astype(float)
    design = Design.from_cells(cells[rows], values, train=seen[rows], names=NAMES, sizes=SIZES)
    order = 2 if kind.structure == "pairs" else 1
    verdicts = identify(design.seen, order=order, **design.shape).verdicts_of(cells)
    return World(kind, truth, design, np.flatnonzero(verdicts == Verdict.DETERMINED), rng)


def _seen(cells: Ints, rng: np.random.Generator, much: float) -> NDArray[np.bool_]:
    """Choose seen cells: high levels of a go with high ones of b and c, so that marginals mislead."""
    place = cells / (np.array(SIZES) - 1.0)
    apart = np.abs(place[:, 0] - place[:, 1]) + 0.7 * np.abs(place[:, 0] - place[:, 2])
    seen = rng.random(len(cells)) < much * np.exp(-1.6 * apart)
    for factor, size in enumerate(SIZES):  # every level is seen
        for level in range(size):
            seen[rng.choice(np.flatnonzero(cells[:, factor] == level), 4)] = True
    return seen


Parts = dict[str, Floats]


def _parts(
    world: World, slopes: tuple[float, ...] = (1, 1, 1), pulls: tuple[float, ...] = (0, 0, 0), spread: float = 0.0
) -> Parts:
    told = world.told
    size = SCALE * spread if world.kind.chances else spread
    return {
        "leak": told.effects @ (np.array(slopes) - 1.0),
        "shortcut": told.misleading @ np.array(pulls, dtype=float),
        "rest": size * world.rng.normal(size=len(world.unseen)),
    }


def _memorized(world: World) -> Parts:
    """Add by how much seen pairs of a and b, and of b and c, lie off the sum."""
    found = np.zeros(len(world.unseen))
    for pair in ((0, 1), (1, 2)):
        seen, asked = (cells[:, pair] @ [100, 1] for cells in (world.design.seen, all_cells()[world.unseen]))
        total, count = np.bincount(seen, world.told.residuals, 2_000), np.bincount(seen, minlength=2_000)
        found += (total / np.maximum(count, 1))[asked]
    # Where pairs are what is scored, remembering them means to follow the structure further than it goes.
    return _parts(world) | {"interaction" if world.kind.structure == "pairs" else "memorization": found}


def _learned(world: World) -> Parts:
    return _parts(world) | {"rest": 0.8 * (world.truth[world.unseen] - world.told.whole)}


def _all_knowing(world: World) -> Parts:
    """Leak, of a model that knows the effects without the noise of the measured cells: it departs by that noise too."""
    parts = _parts(world, spread=0.1)
    parts["rest"] += world.noiseless.whole - world.told.whole
    return parts | {"leak": -0.4 * world.noiseless.effects[:, 1]}


def _adds(world: World) -> Parts:
    """Carry a third of what the structure says beyond adding."""
    return _parts(world, spread=0.1) | {"interaction": -2 / 3 * world.told.beyond}


MODELS: dict[str, Callable[[World], Parts]] = {
    "exact": _parts,
    "leak of b": lambda world: _parts(world, (1, 0.6, 1), spread=0.1),
    "leak of all": lambda world: _parts(world, (0.7, 0.7, 0.7), spread=0.3),
    "shortcut a": lambda world: _parts(world, pulls=(0.5, 0, 0), spread=0.1),
    "leak and shortcut": lambda world: _parts(world, (1, 0.7, 1), (0.5, 0, 0), 0.3),
    "random": lambda world: _parts(world, spread=0.5),
    "memorized pairs": _memorized,
    "learned interactions": _learned,
    "leak of b, no seen noise": _all_knowing,
    "lost interactions": _adds,
}


def planted_amounts(world: World, parts: Parts) -> dict[str, float]:
    """Return each cause's amount over all unseen determined cells, and the gain over adding."""
    truth, told = world.truth[world.unseen], world.told
    error = told.whole + sum(parts.values()) - truth
    centred = {name: part - part.mean() for name, part in parts.items()}
    amounts = {name: float(np.mean(part * error)) for name, part in centred.items()}
    adding = world.design.outcome_column.bounded(told.mean + told.effects.sum(axis=1))
    return amounts | {
        "offset": float(sum(part.mean() for part in parts.values()) * error.mean()),
        "structure": float(np.mean((world.noiseless.whole - truth) * error)),
        "seen noise": float(np.mean((told.whole - world.noiseless.whole) * error)),
        "noise": world.noise,
        "gain": float(np.mean((adding - truth) ** 2 - error**2)),
    }


#: Three classes, whose chances add up the factors' effects but for interactions of single cells.
CLASSES = Kind("three classes", 0.0, 0.25, "add", True, 12)


def draw_classes(run: int) -> list[World]:
    """Draw one world per class with the same seen cells and measurements: a measurement is of one class."""
    rng = np.random.default_rng([run, 99])
    cells = all_cells()
    scores = [np.sum([rng.normal(size=size)[cells[:, at]] for at, size in enumerate(SIZES)], axis=0) for _ in range(3)]
    truth = np.stack(scores, axis=1) + CLASSES.interaction * rng.normal(size=(len(cells), 3))
    truth = np.clip(1 / 3 + 0.07 * (truth - truth.mean(axis=1, keepdims=True)), 0.02, None)
    truth /= truth.sum(axis=1, keepdims=True)
    seen = _seen(cells, rng, 0.85)
    held = rng.choice(np.flatnonzero(~seen), HELD_OUT, replace=False)
    measured = np.concatenate([np.flatnonzero(seen), held])
    rows = np.repeat(measured, rng.integers(1, CLASSES.most_rows + 1, len(measured)))
    drawn = (rng.random(len(rows))[:, None] > truth[rows].cumsum(axis=1)).sum(axis=1)
    worlds = []
    for place in range(3):
        design = Design.from_cells(
            cells[rows], (drawn == place).astype(float), train=seen[rows], names=NAMES, sizes=SIZES
        )
        verdicts = identify(design.seen, order=1, **design.shape).verdicts_of(cells)
        unseen = np.flatnonzero(verdicts == Verdict.DETERMINED)
        worlds.append(World(CLASSES, truth[:, place], design, unseen, rng))
    return worlds


def class_parts(worlds: list[World], model: Callable[[World], Parts]) -> list[Parts]:
    """Return a model's parts class by class, made chances: what that changes is part of the rest."""
    parts = [model(world) for world in worlds]
    told = np.stack([world.told.whole for world in worlds], axis=1)
    wanted = told + np.stack([sum(some.values(), np.zeros(len(told))) for some in parts], axis=1)
    chances = np.clip(wanted, 0.0, None)
    chances /= chances.sum(axis=1, keepdims=True)
    for place, some in enumerate(parts):
        some["rest"] = some["rest"] + (chances - wanted)[:, place]
    return parts
