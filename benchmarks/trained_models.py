"""Trials for the forecast: a design with its split, and what models trained on its seen cells say of the others.

Half of the trials are real (`real_tables`), half are planted: sums without noise, sparse designs in which effects leak,
and confounded ones in which a factor is a shortcut. Models see one-hot inputs and standardised outcomes.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from real_tables import RealTable, real_tables
from recombine.cells import Conjunctions, every_cell
from recombine.design import Design
from recombine.jobs.listing import choose_cells
from recombine.theory.identification import identify
from recombine.theory.identification.additive_fit import fit_additive
from recombine.verdicts import Verdict

Floats = NDArray[np.float64]
SHARES = (0.3, 0.6)
#: Held-out determined cells that a trial needs for its errors to mean something.
FEWEST_CELLS = 8
CLASSIFIER = "MLP classifier, 1 hidden layer"
#: Cells of the whole product that models are asked about besides.
MOST_UNSEEN = 1_000
NETWORKS = ("MLP, 1 hidden layer", "MLP, 2 hidden layers")
RIVALS = (
    "MLP, 3 hidden layers",
    "MLP, 4 hidden layers",
    "MLP, early stopping",
    "MLP, weight decay",
    "forest",
    "boosting",
)


@dataclass(frozen=True, eq=False)
class Trial:
    """A design with a split: cells (M, C), outcomes (M,), which of them are training, and what was planted."""

    name: str
    kind: str
    table: int
    cells: NDArray[np.int64]
    outcome: Floats
    train: NDArray[np.bool_]
    factors: tuple[str, ...]
    planted: tuple[str, ...] = ()

    @cached_property
    def design(self) -> Design:
        """The trial as the audit takes it."""
        return Design.from_cells(self.cells, self.outcome, train=self.train, names=self.factors)

    @cached_property
    def seen_only(self) -> Design:
        """The training part alone, as a user without held-out rows has it."""
        sizes = tuple((self.cells.max(axis=0) + 1).tolist())
        return Design.from_cells(self.cells[self.train], self.outcome[self.train], names=self.factors, sizes=sizes)

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Which of the held-out cells are determined, shape (H,)."""
        sizes = tuple((self.cells.max(axis=0) + 1).tolist())
        found = identify(self.cells[self.train], self.cells[~self.train], 1, sizes=sizes)
        return np.asarray(found.verdicts == Verdict.DETERMINED)

    @cached_property
    def asked(self) -> NDArray[np.int64]:
        """Cells that models predict, shape (A, C): the held-out ones, then unseen ones of the whole product."""
        return np.vstack([self.cells[~self.train], self.unseen])

    @cached_property
    def unseen(self) -> NDArray[np.int64]:
        """Unseen cells that the training part determines, drawn from the whole product, whether they occur or not."""
        design = self.seen_only
        cells = choose_cells(design, None, 0).cells
        cells = cells[np.sort(np.random.default_rng(0).permutation(len(cells))[:MOST_UNSEEN])]
        return cells[identify(design.seen, cells, 1, **design.shape).verdicts == Verdict.DETERMINED]

    @property
    def models(self) -> tuple[str, ...]:
        """The models that are trained on it."""
        return {"real": NETWORKS + RIVALS, "classes": (CLASSIFIER,)}.get(self.kind, NETWORKS)


def trials(seed: int = 0, planted: int = 40) -> Iterator[Trial]:
    """Yield real trials, the same with a purely additive outcome, and planted ones, in an order that never changes."""
    for place, table in enumerate(real_tables()):
        for share in SHARES:
            generator = np.random.default_rng([seed, place, round(100 * share)])
            train = generator.random(len(table.cells)) < share
            real = Trial(f"{table.name} {share:.0%}", "real", place, table.cells, table.outcome, train, table.factors)
            if train.sum() >= FEWEST_CELLS and real.known.sum() >= FEWEST_CELLS:
                yield real
                yield _added(real, table)
                yield _classes(real)
    for place in range(planted):
        yield _leak(np.random.default_rng([seed, 1, place]), place)
        yield _shortcut(np.random.default_rng([seed, 2, place]), place)


def _added(trial: Trial, table: RealTable) -> Trial:
    """Replace the outcome by its own additive fit: the theory's own ground."""
    sizes = tuple((table.cells.max(axis=0) + 1).tolist())
    fit = fit_additive(Conjunctions(sizes, 1), table.cells, table.outcome)
    return Trial(trial.name, "additive", trial.table, trial.cells, fit.fitted, trial.train, trial.factors)


def _classes(trial: Trial) -> Trial:
    """Replace the outcome by whether it is above its median."""
    above = (trial.outcome > np.median(trial.outcome)).astype(float)
    return Trial(trial.name, "classes", trial.table, trial.cells, above, trial.train, trial.factors)


def _leak(generator: np.random.Generator, place: int) -> Trial:
    """Sums seen in few cells per level (every second trial), or in many."""
    sizes = tuple(generator.integers(6, 16, size=2 + place % 2).tolist())
    cells = every_cell(sizes)
    cells = cells[np.sort(generator.permutation(len(cells))[:600])]
    outcome = sum(generator.normal(size=size)[cells[:, factor]] for factor, size in enumerate(sizes))
    share = generator.uniform(0.08, 0.2) if place % 2 else generator.uniform(0.5, 0.8)
    train = generator.random(len(cells)) < max(share, 1.6 * sum(sizes) / len(cells))
    outcome = np.asarray(outcome) + 0.1 * generator.normal(size=len(cells))
    return Trial(f"planted leak {place}", "leak", place, cells, outcome, train, _names(sizes))


def _shortcut(generator: np.random.Generator, place: int) -> Trial:
    """Factor 1 decides; factor 2, with fewer levels, goes along with it in the seen cells and does nothing itself."""
    core, few, other = int(generator.integers(10, 25)), int(generator.integers(2, 5)), int(generator.integers(3, 6))
    cells = every_cell((core, few, other))
    effect = generator.normal(size=core)
    tied = np.argsort(np.argsort(effect)) * few // core  # the level of factor 2 that goes along with each of factor 1
    agree = tied[cells[:, 0]] == cells[:, 1]
    strength = (0.0, 0.9, 0.95, 0.98)[place % 4]
    chance = np.where(agree, 0.9, 0.9 * (1 - strength))
    train = generator.random(len(cells)) < chance
    outcome = (
        effect[cells[:, 0]] + 0.3 * generator.normal(size=other)[cells[:, 2]] + 0.1 * generator.normal(size=len(cells))
    )
    names = _names((core, few, other))
    return Trial(
        f"planted shortcut {place}", "shortcut", place, cells, outcome, train, names, (names[1],) * bool(strength)
    )


def _names(sizes: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(f"factor {place + 1}" for place in range(len(sizes)))


def predictions(trial: Trial, model: str, cache: Path | None) -> Floats:
    """Return what a model trained on the trial's training cells predicts at the cells asked for, shape (A,)."""
    if cache is None:
        return _trained(trial, model)
    data = b"".join(np.ascontiguousarray(part).tobytes() for part in (trial.cells, trial.outcome, trial.train))
    file = cache / f"{hashlib.sha256(data + model.encode()).hexdigest()[:24]}.npy"
    if not file.exists():
        cache.mkdir(parents=True, exist_ok=True)
        np.save(file, _trained(trial, model))
    return np.asarray(np.load(file))


def _trained(trial: Trial, model: str) -> Floats:
    from sklearn.exceptions import ConvergenceWarning

    sizes = tuple((trial.cells.max(axis=0) + 1).tolist())
    features = Conjunctions(sizes, 1)
    values = trial.outcome[trial.train]
    centre, scale = (0.0, 1.0) if model == CLASSIFIER else (float(values.mean()), float(values.std()) or 1.0)
    machine = _machine(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(features.incidence(trial.cells[trial.train]).toarray(), (values - centre) / scale)
    return np.asarray(centre + scale * machine.predict(features.incidence(trial.asked).toarray()))


def _machine(model: str) -> Any:
    from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    network: dict[str, Any] = {"hidden_layer_sizes": (100,), "max_iter": 2_000, "random_state": 0}
    return {
        "MLP, 1 hidden layer": lambda: MLPRegressor(**network),
        "MLP, 2 hidden layers": lambda: MLPRegressor(**network | {"hidden_layer_sizes": (100, 100)}),
        "MLP, 3 hidden layers": lambda: MLPRegressor(**network | {"hidden_layer_sizes": (100,) * 3}),
        "MLP, 4 hidden layers": lambda: MLPRegressor(**network | {"hidden_layer_sizes": (100,) * 4}),
        "MLP, early stopping": lambda: MLPRegressor(**network, early_stopping=True),
        "MLP, weight decay": lambda: MLPRegressor(**network, alpha=1.0),
        CLASSIFIER: lambda: MLPClassifier(**network),
        "forest": lambda: RandomForestRegressor(random_state=0),
        "boosting": lambda: GradientBoostingRegressor(random_state=0),
    }[model]()
