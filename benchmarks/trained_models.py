"""Trials for the forecast: a design with its split, and what models trained on its seen cells say of the others.

Most trials are real tables (`forecast_tables`), others are planted: sparse designs in which effects leak, and
confounded ones in which a factor is a shortcut. Models see one-hot inputs, or codes of levels where trees are often
given those, and standardised outcomes. Their seeds are not the one with which the audit trains.
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

from recombine.cells import Conjunctions, every_cell
from recombine.design import Design
from recombine.jobs.listing import choose_cells
from recombine.theory.identification import identify
from recombine.verdicts import Verdict
from value_tables import hashed

Floats = NDArray[np.float64]
#: Seed of models here; the audit trains with its own, 0.
SEED = 1
#: Cells of the whole product that models are asked about besides.
MAX_UNSEEN = 500
NETWORK, CLASSIFIERS = "network", ("network classifier",)
#: Rows of a batch of scikit-learn's networks.
BATCH_ROWS = 200
#: With fewer rows scikit-learn refuses to set a tenth of them aside.
MIN_ROWS_TO_STOP = 20
#: What is trained on real tables, each on one of so many of them, drawn by name: a network on all.
MODELS = {
    NETWORK: 1,
    "neighbours": 1,
    "early stopping": 3,
    "boosting": 4,
    "forest": 4,
    "two layers": 5,
    "weight decay": 6,
    "boosting on codes": 6,
    "forest on codes": 6,
    "network, trained longer": 8,
}


#: Name in the audit -> name of the same model here.
SAME = {
    NETWORK: NETWORK,
    "deep-network": "two layers",
    "boosting": "boosting",
    "forest": "forest",
    "neighbours": "neighbours",
    "stopped-network": "early stopping",
}


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
    def sizes(self) -> tuple[int, ...]:
        """Levels of each factor."""
        return tuple((self.cells.max(axis=0) + 1).tolist())

    @cached_property
    def design(self) -> Design:
        """The trial as the audit takes it."""
        return Design.from_cells(self.cells, self.outcome, train=self.train, names=self.factors)

    @cached_property
    def seen_only(self) -> Design:
        """The training part alone, as a user without held-out rows has it."""
        return Design.from_cells(self.cells[self.train], self.outcome[self.train], names=self.factors, sizes=self.sizes)

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Which of the held-out cells are determined, shape (H,)."""
        told = identify(self.cells[self.train], self.cells[~self.train], 1, sizes=self.sizes)
        return np.asarray(told.verdicts == Verdict.DETERMINED)

    @cached_property
    def asked(self) -> NDArray[np.int64]:
        """Cells that models predict, shape (A, C): the held-out ones, then unseen ones of the whole product."""
        return np.vstack([self.cells[~self.train], self.unseen])

    @cached_property
    def unseen(self) -> NDArray[np.int64]:
        """Unseen cells that the training part determines, drawn from the whole product, whether they occur or not."""
        design = self.seen_only
        cells = choose_cells(design, None, 0).cells
        cells = cells[np.sort(np.random.default_rng(0).permutation(len(cells))[:MAX_UNSEEN])]
        return cells[identify(design.seen, cells, 1, **design.shape).verdicts == Verdict.DETERMINED]

    @property
    def classes(self) -> Trial:
        """The same with two classes: those of the outcome, or whether it is above its median."""
        two = len(np.unique(self.outcome)) == 2
        middle = self.outcome.mean() if two else float(np.median(self.outcome))
        above = (self.outcome > middle).astype(float)
        return Trial(self.name, "classes", self.table, self.cells, above, self.train, self.factors)

    @property
    def models(self) -> tuple[str, ...]:
        """The models that are trained on it."""
        drawn = tuple(name for name, tables in MODELS.items() if hashed(self.name, name) % tables == 0)
        return {"real": drawn, "classes": CLASSIFIERS}.get(self.kind, (NETWORK,))


def is_classified(trial: Trial) -> bool:
    """Say whether classes are tried on a table: where it has two, and on an eighth of the others."""
    return len(np.unique(trial.outcome)) == 2 or hashed(trial.name, "classes") % 8 == 0


def planted_trials(count: int = 40) -> Iterator[Trial]:
    """Yield trials with a planted leak and with a planted shortcut, in an order that never changes."""
    for position in range(count):
        yield _leak(np.random.default_rng([0, 1, position]), position)
        yield _shortcut(np.random.default_rng([0, 2, position]), position)


def _leak(generator: np.random.Generator, position: int) -> Trial:
    """Sums seen in few cells per level (every second trial), or in many."""
    sizes = tuple(generator.integers(6, 16, size=2 + position % 2).tolist())
    cells = every_cell(sizes)
    cells = cells[np.sort(generator.permutation(len(cells))[:600])]
    outcome = sum(generator.normal(size=size)[cells[:, factor]] for factor, size in enumerate(sizes))
    share = generator.uniform(0.08, 0.2) if position % 2 else generator.uniform(0.5, 0.8)
    train = generator.random(len(cells)) < max(share, 1.6 * sum(sizes) / len(cells))
    outcome = np.asarray(outcome) + 0.1 * generator.normal(size=len(cells))
    return Trial(f"planted leak {position}", "leak", position, cells, outcome, train, _names(sizes))


def _shortcut(generator: np.random.Generator, position: int) -> Trial:
    """Factor 1 decides; factor 2, with fewer levels, goes along with it in the seen cells and does nothing itself."""
    core, few, other = int(generator.integers(10, 25)), int(generator.integers(2, 5)), int(generator.integers(3, 6))
    cells = every_cell((core, few, other))
    effect = generator.normal(size=core)
    tied = np.argsort(np.argsort(effect)) * few // core  # the level of factor 2 that goes along with each of factor 1
    agree = tied[cells[:, 0]] == cells[:, 1]
    strength = (0.0, 0.9, 0.95, 0.98)[position % 4]
    chance = np.where(agree, 0.9, 0.9 * (1 - strength))
    train = generator.random(len(cells)) < chance
    outcome = (
        effect[cells[:, 0]] + 0.3 * generator.normal(size=other)[cells[:, 2]] + 0.1 * generator.normal(size=len(cells))
    )
    names = _names((core, few, other))
    planted = (names[1],) * bool(strength)
    return Trial(f"planted shortcut {position}", "shortcut", position, cells, outcome, train, names, planted)


def _names(sizes: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(f"factor {number + 1}" for number in range(len(sizes)))


def predictions(trial: Trial, model: str, cache: Path) -> Floats:
    """Return what a model trained on the trial's training cells predicts at the cells asked for, shape (A,)."""
    data = b"".join(np.ascontiguousarray(part).tobytes() for part in (trial.cells, trial.outcome, trial.train))
    file = cache / f"{hashlib.sha256(data + model.encode()).hexdigest()[:24]}.npy"
    if not file.exists():
        cache.mkdir(parents=True, exist_ok=True)
        np.save(file, _trained(trial, model))
    return np.asarray(np.load(file))


def _trained(trial: Trial, model: str) -> Floats:
    from sklearn.exceptions import ConvergenceWarning

    features = Conjunctions(trial.sizes, 1)
    values, shown, asked = trial.outcome[trial.train], trial.cells[trial.train], trial.asked
    if not model.endswith("on codes"):
        shown, asked = features.incidence(shown).toarray(), features.incidence(asked).toarray()
    centre, scale = (0.0, 1.0) if model in CLASSIFIERS else (float(values.mean()), float(values.std()) or 1.0)
    if model in CLASSIFIERS and np.ptp(values) == 0:
        return np.full(len(asked), values[0])
    if model == "early stopping" and len(values) < MIN_ROWS_TO_STOP:
        return np.full(len(asked), np.nan)
    machine = _machine(model)
    if hasattr(machine, "shuffle") and len(values) <= BATCH_ROWS:
        machine.set_params(shuffle=False)  # a batch is all rows: their order means nothing, and takes half the time
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(shown, (values - centre) / scale)
    return np.asarray(centre + scale * machine.predict(asked))


def _machine(model: str) -> Any:
    from sklearn.ensemble import (
        GradientBoostingClassifier,
        GradientBoostingRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    network: dict[str, Any] = {"hidden_layer_sizes": (100,), "max_iter": 2_000, "random_state": SEED}
    return {
        NETWORK: lambda: MLPRegressor(**network),
        "network, trained longer": lambda: MLPRegressor(**network, tol=1e-7, n_iter_no_change=30),
        "two layers": lambda: MLPRegressor(**network | {"hidden_layer_sizes": (100, 100)}),
        "early stopping": lambda: MLPRegressor(**network, early_stopping=True),
        "weight decay": lambda: MLPRegressor(**network, alpha=1.0),
        "forest": lambda: RandomForestRegressor(random_state=SEED),
        "boosting": lambda: GradientBoostingRegressor(random_state=SEED),
        "neighbours": lambda: KNeighborsRegressor(),
        "forest on codes": lambda: RandomForestRegressor(random_state=SEED),
        "boosting on codes": lambda: GradientBoostingRegressor(random_state=SEED),
        "network classifier": lambda: MLPClassifier(**network),
        "boosting classifier": lambda: GradientBoostingClassifier(random_state=SEED),
        "forest classifier": lambda: RandomForestClassifier(random_state=SEED),
    }[model]()
