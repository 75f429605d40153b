"""Worlds and models whose causes of error are known, for the score: cells of three or four factors, some confounded.

A world has true means, a sample of measurements, and what the seen cells say of the unseen ones. A model is what these
say, changed in a known way. The truth of a cause is its amount over all unseen cells that are determined.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

import recombine as rc
from recombine.design import Design, Observed
from recombine.jobs.audit.forecast import level_values
from recombine.theory.identification import identify
from recombine.theory.identification.additive_fit import AdditiveFit, fit_additive
from recombine.verdicts import Verdict

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NAMES = ("a", "b", "c", "d")
#: Unseen cells that are measured, at most.
HELD_OUT = 150
#: Chances change by so much per unit of an effect, and counts by so much around their middle, but not below the least.
SCALE = 0.16
COUNT_SCALE, MIDDLE_COUNT, LEAST_COUNT = 0.8, 5.0, 0.3


@dataclass(frozen=True)
class Kind:
    """What a world is like: noise of one measurement, size of interactions, and the structure that is scored.

    With ``chances`` outcomes are 0 or 1, with ``counts`` those of Poisson's law, and noise is what chance makes of
    them. ``children`` levels of b lie in each of a. Noise and interactions have so many degrees of freedom as ``tails``
    says; ``steep`` is how much the seen cells confound, ``much`` how many there are, ``held_out`` how many unseen ones
    are measured at most.
    """

    name: str
    noise: float
    interaction: float
    structure: str = "add"
    chances: bool = False
    most_rows: int = 3
    sizes: tuple[int, ...] = (12, 9, 7)
    spreads: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)
    children: int = 0
    tails: float = np.inf
    steep: float = 1.6
    much: float = 0.85
    counts: bool = False
    held_out: int = HELD_OUT

    @cached_property
    def cells(self) -> Ints:
        """Every cell that can exist, (N, C)."""
        cells = np.indices(self.sizes).reshape(len(self.sizes), -1).T
        return cells[cells[:, 1] // self.children == cells[:, 0]] if self.children else cells

    def numbers(self, cells: Ints) -> Ints:
        """Return where ``cells`` (N, C) stand among all that can exist, (N,)."""
        place = np.full(int(np.prod(self.sizes)), -1)
        place[np.ravel_multi_index(tuple(self.cells.T), self.sizes)] = np.arange(len(self.cells))
        return place[np.ravel_multi_index(tuple(cells.T), self.sizes)]

    @property
    def is_product(self) -> bool:
        """Whether outcomes are exponentials of sums."""
        return self.structure == "multiplicative"

    @property
    def scale(self) -> float:
        """What one unit of an effect is in outcomes."""
        return SCALE if self.chances else COUNT_SCALE if self.counts else 1.0


KINDS = (
    Kind("noisy sums", 0.5, 0.0),
    Kind("strong interactions", 0.3, 0.5),
    Kind("noisy interactions", 0.6, 0.3),
    Kind("pairs, scored as pairs", 0.3, 0.5, "pairs", much=1.5),
    Kind("chances", 0.0, 0.3, "add", True, 8),
    Kind("nested", 0.4, 0.3, sizes=(5, 20, 6, 4), spreads=(2.0, 1.0, 1.0, 1.0), children=4),
    Kind("strongly correlated", 0.3, 0.3, steep=4.0, much=1.5),
    Kind("heavy tails", 0.3, 0.3, tails=2.5),
    Kind("tiny", 0.3, 0.3, sizes=(5, 4, 3)),
    Kind("products", 0.2, 0.0, "multiplicative", most_rows=2, sizes=(7, 6, 5), spreads=(0.5, 0.5, 0.5), steep=0.8),
)


@dataclass(frozen=True, eq=False)
class Told:
    """What the seen cells say at U unseen ones: mean, effects and misleading marginals (U, C), and the whole (U,)."""

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
    """One draw: true means (N,), which cells are seen, and the measurements of a sample of the others."""

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
        return self.say(self.truth[self.kind.numbers(self.design.seen)])

    def say(self, outcome: Floats) -> Told:
        """Return what outcomes (S,) of the seen cells say of the unseen ones."""
        order = 2 if self.kind.structure == "pairs" else 1
        weights, asked = self.design.precision[self.design.train], self.kind.cells[self.unseen]
        first = fit_additive(self.design.features(1), self.design.seen, outcome, weights)
        fit = fit_additive(self.design.features(order), self.design.seen, outcome, weights)
        everywhere = np.ones(len(outcome), bool)
        observed = Observed(self.design.seen, everywhere, weights.astype(int), weights, outcome)
        seen = Design(self.design.space, observed)
        mean, effects, marginals = level_values(seen, first, asked)
        if self.kind.children:
            effects, marginals = self._apart(effects, first, outcome - mean, weights)
        if self.kind.is_product:
            values = rc.audit(seen, structure=self.kind.structure).values
            residuals = outcome - values.certified_of(self.design.seen)
            return Told(mean, effects, marginals - effects, values.certified_of(asked), residuals)
        whole = self.design.outcome_column.bounded(fit.predict(asked))
        return Told(mean, effects, marginals - effects, whole, outcome - first.fitted)

    def _apart(self, effects: Floats, fit: AdditiveFit, outcome: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """Return effects and marginals (U, C) of factors of which b lies in a: a's is the mean over its levels of b."""
        asked, seen = self.kind.cells[self.unseen], self.design.seen
        others = np.zeros((self.kind.sizes[1], len(self.kind.sizes)), dtype=int)
        others[:, 1] = np.arange(len(others))
        others[:, 0] = others[:, 1] // self.kind.children
        of_children = fit.predict(others)
        of_parents = of_children.reshape(-1, self.kind.children).mean(axis=1)
        effects[:, 0], effects[:, 1] = of_parents[asked[:, 0]], (of_children - of_parents[others[:, 0]])[asked[:, 1]]
        effects[:, 0] -= np.average(of_parents[seen[:, 0]], weights=weights)
        effects[:, 1] -= np.average((of_children - of_parents[others[:, 0]])[seen[:, 1]], weights=weights)
        marginals = np.zeros_like(effects)
        for factor, size in enumerate(self.kind.sizes):
            mine = [seen[:, factor] == level for level in range(size)]
            means = [np.average(outcome[chosen], weights=weights[chosen]) for chosen in mine]
            marginals[:, factor] = np.array(means)[asked[:, factor]]
        marginals[:, 1] -= marginals[:, 0]
        return effects, marginals

    def at_held_out(self, predicted: Floats) -> Floats:
        """Return predictions (U,) of all unseen cells at the held-out ones, in the design's order."""
        place = np.full(len(self.truth), -1)
        place[self.unseen] = np.arange(len(self.unseen))
        held = place[self.kind.numbers(self.design.held_out)]
        # A held-out cell that is not determined has no planted prediction: it is not split by cause either.
        return np.where(held >= 0, predicted[held], self.truth[self.kind.numbers(self.design.held_out)])

    @property
    def noise(self) -> float:
        """Expected variance of a held-out cell's mean."""
        rows = np.mean(1 / np.arange(1, self.kind.most_rows + 1))
        truth = self.truth[self.unseen]
        if self.kind.counts:
            return float(rows * np.mean(truth))
        return float(rows * (np.mean(truth * (1 - truth)) if self.kind.chances else self.kind.noise**2))


def draw_world(kind: Kind, run: int, stream: int | None = None) -> World:
    """Draw effects, interactions of pairs of a and b and of single cells, seen cells and measurements.

    Kinds that are none of `KINDS` need a ``stream`` of random numbers of their own.
    """
    rng = np.random.default_rng([run, KINDS.index(kind) if stream is None else stream])
    cells = kind.cells
    effects = [kind.spreads[place] * rng.normal(size=size) for place, size in enumerate(kind.sizes)]
    truth = np.sum([effect[cells[:, place]] for place, effect in enumerate(effects)], axis=0)
    pair = (0, 2) if kind.children else (0, 1)
    pairs = _drawn(kind, rng, (kind.sizes[pair[0]], kind.sizes[pair[1]]))[cells[:, pair[0]], cells[:, pair[1]]]
    single = _drawn(kind, rng, (len(cells),)) * (kind.structure != "pairs")
    truth = truth + kind.interaction * (pairs + single) / np.sqrt(2)
    if kind.chances:
        truth = np.clip(0.5 + SCALE * truth, 0.03, 0.97)
    if kind.counts:
        truth = np.maximum(MIDDLE_COUNT + COUNT_SCALE * truth, LEAST_COUNT)
    if kind.is_product:
        truth = 3 * np.exp(truth)
    seen = _seen(cells, rng, kind)
    left = np.flatnonzero(~seen)
    held = rng.choice(left, min(kind.held_out, 2 * len(left) // 3), replace=False)
    measured = np.concatenate([np.flatnonzero(seen), held])
    rows = np.repeat(measured, rng.integers(1, kind.most_rows + 1, len(measured)))
    values = truth[rows] + kind.noise * _drawn(kind, rng, (len(rows),))
    if kind.chances:
        values = (rng.random(len(rows)) < truth[rows]).astype(float)
    if kind.counts:
        values = rng.poisson(truth[rows]).astype(float)
    nested = ("b/a",) if kind.children else ()
    names = NAMES[: len(kind.sizes)]
    design = Design.from_cells(cells[rows], values, train=seen[rows], names=names, sizes=kind.sizes, nested=nested)
    order = 2 if kind.structure == "pairs" else 1
    verdicts = identify(design.seen, order=order, **design.shape).verdicts_of(cells)
    return World(kind, truth, design, np.flatnonzero(verdicts == Verdict.DETERMINED), rng)


def _drawn(kind: Kind, rng: np.random.Generator, size: tuple[int, ...]) -> Floats:
    """Draw numbers of variance 1, with the tails of the world."""
    if np.isinf(kind.tails):
        return rng.normal(size=size)
    return rng.standard_t(kind.tails, size=size) / np.sqrt(kind.tails / (kind.tails - 2))


def _seen(cells: Ints, rng: np.random.Generator, kind: Kind) -> NDArray[np.bool_]:
    """Choose seen cells: high levels of a go with high ones of b and c, so that marginals mislead."""
    place = cells / (np.array(kind.sizes) - 1.0)
    apart = np.abs(place[:, 0] - place[:, 1]) + 0.7 * np.abs(place[:, 0] - place[:, 2])
    seen = rng.random(len(cells)) < kind.much * np.exp(-kind.steep * apart)
    for factor, size in enumerate(kind.sizes):  # every level is seen
        for level in range(size):
            seen[rng.choice(np.flatnonzero(cells[:, factor] == level), 4)] = True
    return seen


Parts = dict[str, Floats]


def _parts(
    world: World, slopes: tuple[float, ...] = (1, 1, 1), pulls: tuple[float, ...] = (0, 0, 0), spread: float = 0.0
) -> Parts:
    told = world.told
    return {
        "leak": told.effects[:, : len(slopes)] @ (np.array(slopes) - 1.0),
        "shortcut": told.misleading[:, : len(pulls)] @ np.array(pulls, dtype=float),
        "rest": world.kind.scale * spread * world.rng.normal(size=len(world.unseen)),
    }


def _memorized(world: World) -> Parts:
    """Add by how much seen pairs of a and b, and of b and c, lie off the sum."""
    found = np.zeros(len(world.unseen))
    for pair in ((0, 1), (1, 2)):
        seen, asked = (cells[:, pair] @ [100, 1] for cells in (world.design.seen, world.kind.cells[world.unseen]))
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


def _sums_only(world: World) -> Parts:
    """Carry nothing of what the structure says beyond adding: a fit of sums."""
    return _parts(world, spread=0.05) | {"interaction": -world.told.beyond}


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
    "sums only": _sums_only,
    "leak of a": lambda world: _parts(world, (0.6, 1, 1), spread=0.1),
    "leak of a and b": lambda world: _parts(world, (0.6, 0.8, 1), (0.3, 0, 0), spread=0.2),
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
        "error": float(np.mean(error**2)) + world.noise,
    }


#: Three classes, whose chances add up the factors' effects but for interactions of single cells.
CLASSES = Kind("three classes", 0.0, 0.25, "add", True, 12)


def draw_classes(run: int) -> list[World]:
    """Draw one world per class with the same seen cells and measurements: a measurement is of one class."""
    rng = np.random.default_rng([run, 99])
    cells, sizes = CLASSES.cells, CLASSES.sizes
    scores = [np.sum([rng.normal(size=size)[cells[:, at]] for at, size in enumerate(sizes)], axis=0) for _ in range(3)]
    truth = np.stack(scores, axis=1) + CLASSES.interaction * rng.normal(size=(len(cells), 3))
    truth = np.clip(1 / 3 + 0.07 * (truth - truth.mean(axis=1, keepdims=True)), 0.02, None)
    truth /= truth.sum(axis=1, keepdims=True)
    seen = _seen(cells, rng, CLASSES)
    held = rng.choice(np.flatnonzero(~seen), HELD_OUT, replace=False)
    measured = np.concatenate([np.flatnonzero(seen), held])
    rows = np.repeat(measured, rng.integers(1, CLASSES.most_rows + 1, len(measured)))
    drawn = (rng.random(len(rows))[:, None] > truth[rows].cumsum(axis=1)).sum(axis=1)
    worlds = []
    for place in range(3):
        design = Design.from_cells(
            cells[rows], (drawn == place).astype(float), train=seen[rows], names=NAMES[:3], sizes=sizes
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
