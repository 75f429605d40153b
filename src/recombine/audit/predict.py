"""What your model will do: kernel theory's forecast for the cells that were seen, before anything is trained."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np

from recombine.arrays import FloatArray, IntArray
from recombine.conjunctions import distinct
from recombine.design import Design
from recombine.tables import Table
from recombine.theory.overlap import OverlapKernel
from recombine.theory.transfer import EXACT_CELLS, expected_slopes

DEPTHS = (1, 2, 3, 4)
#: Unseen cells the slopes are averaged over; more would not change the third digit.
MOST_TARGETS = 1_000
#: Past this many seen cells the forecast is skipped: it would cost more than the rest of the audit.
MOST_CELLS = 300_000
#: A factor is a shortcut if it explains at least this share of the seen outcomes and at most that of the unseen ones.
SHORTCUT_SEEN, SHORTCUT_UNSEEN = 0.05, -0.1


@dataclass(frozen=True)
class Shortcut:
    """How one factor alone does on seen and on unseen cells: share of variance its level means explain there."""

    factor: str
    seen: float
    unseen: float

    @property
    def misleads(self) -> bool:
        """Whether a model that leans on this factor looks good in training and fails on recombination."""
        return self.seen >= SHORTCUT_SEEN and self.unseen <= SHORTCUT_UNSEEN


@dataclass(frozen=True, eq=False)
class Forecast:
    """Kernel theory's prediction for networks trained on the seen cells.

    Attributes
    ----------
    slopes : Table
        Columns ``factor`` and one per depth of a ReLU network: the share of the factor's effect that reaches the
        unseen cells (1: all of it, 0: none).
    curve : Table
        Slope of each factor against the share of the representation that is additive, from 0 to 1.
    shortcuts : tuple of Shortcut
        One per factor, when outcomes of unseen cells are known or determined.
    accuracy : Table or None
        Two-valued outcomes with held-out rows: accuracy there by depth and loss.
    """

    slopes: Table
    curve: Table
    shortcuts: tuple[Shortcut, ...]
    shortcut_truth: str
    accuracy: Table | None
    unseen: int

    @property
    def weakest(self) -> tuple[str, float] | None:
        """The factor with the smallest slope at depth 1, and that slope."""
        values = self.slopes["depth 1"] if len(self.slopes) else np.zeros(0)
        if not len(values) or np.isnan(values).all():
            return None
        place = int(np.nanargmin(values))
        return str(self.slopes["factor"][place]), float(values[place])


def forecast(
    design: Design, unseen: IntArray, truth: FloatArray | None = None, truth_source: str = "", seed: int = 0
) -> Forecast:
    """Forecast what networks do on ``unseen`` cells (T, C), of which ``truth`` (T,) is the outcome where it is known.

    Examples
    --------
    >>> from recombine.tasks import symbolic_addition
    >>> task = symbolic_addition(n=9, anchors=[2, 6])
    >>> design = Design.from_cells(task.cells, task.target, train=task.train, names=["left", "right"])
    >>> forecast(design, task.cells[~task.train]).weakest[1].__round__(6)
    0.852845
    """
    seen = _both_orders(design.seen, design)
    targets = unseen
    if len(unseen) > MOST_TARGETS:
        chosen = np.random.default_rng(seed).choice(len(unseen), MOST_TARGETS, replace=False)
        targets = unseen[np.sort(chosen)]
    skip = not len(targets) or len(seen) > MOST_CELLS
    slopes = _no_slopes() if skip else _slopes(design, seen, targets, seed)
    curve = _no_slopes() if skip or len(seen) > EXACT_CELLS else _curve(design, seen, targets, seed)
    shortcuts = () if truth is None or not len(unseen) else _shortcuts(design, unseen, truth)
    return Forecast(slopes, curve, shortcuts, truth_source, _accuracy(design), len(targets))


def _both_orders(cells: IntArray, design: Design) -> IntArray:
    """Show symmetric factors in every order, as a network trained on unordered pairs sees them."""
    for group in design.symmetric:
        copies = []
        for order in permutations(group):
            copy = cells.copy()
            copy[:, list(group)] = cells[:, list(order)]
            copies.append(copy)
        cells = distinct(np.vstack(copies))[0]
    return cells


def _probes(seen: IntArray) -> int:
    return int(np.clip(200_000 // len(seen), 1, 8))


def _slopes(design: Design, seen: IntArray, unseen: IntArray, seed: int) -> Table:
    columns: dict[str, object] = {"factor": np.array(design.names, dtype=object)}
    for depth in DEPTHS:
        kernel = OverlapKernel.relu(depth, len(design.factors))
        columns[f"depth {depth}"] = expected_slopes(kernel, seen, unseen, probes=_probes(seen), seed=seed)
    return Table(columns)  # type: ignore[arg-type]


def _curve(design: Design, seen: IntArray, unseen: IntArray, seed: int) -> Table:
    """Slopes between a lookup table and a purely additive representation (only orders 1 and C carry salience)."""
    shares = np.linspace(0.0, 1.0, 11)[1:]
    count = len(design.factors)
    rows = []
    for share in shares:
        salience = np.zeros(count)
        salience[0], salience[-1] = share / count, salience[-1] + 1.0 - share
        rows.append(expected_slopes(OverlapKernel.from_salience(salience), seen, unseen, seed=seed))
    values = np.array(rows)
    return Table({"additive share": shares, **{name: values[:, place] for place, name in enumerate(design.names)}})


def _no_slopes() -> Table:
    return Table({"factor": np.zeros(0, dtype=object), "depth 1": np.zeros(0)})


def _shortcuts(design: Design, unseen: IntArray, truth: FloatArray) -> tuple[Shortcut, ...]:
    """Score each factor's level means on the seen and on the unseen cells (adjusted for the number of levels)."""
    assert design.outcome is not None
    outcome = design.outcome[design.train]
    mean = float(outcome.mean())
    total = float(np.sum((outcome - mean) ** 2))
    unseen_total = float(np.sum((truth - mean) ** 2))
    scores = []
    for place, name in enumerate(design.names):
        codes = design.seen[:, place]
        counts = np.bincount(codes, minlength=design.sizes[place])
        sums = np.bincount(codes, weights=outcome, minlength=design.sizes[place])
        level_mean = np.where(counts > 0, sums / np.maximum(counts, 1), mean)
        freedom = len(outcome) - int((counts > 0).sum())
        if freedom < 1 or total == 0 or unseen_total == 0:
            continue
        rest = float(np.sum((outcome - level_mean[codes]) ** 2))
        adjusted = 1.0 - rest / freedom * (len(outcome) - 1) / total
        missed = float(np.sum((truth - level_mean[unseen[:, place]]) ** 2))
        scores.append(Shortcut(name, adjusted, 1.0 - missed / unseen_total))
    return tuple(scores)


def _accuracy(design: Design) -> Table | None:
    """Classify the held-out cells with hard-margin and squared-loss kernel models of each depth."""
    if design.outcome is None or design.train.all() or len(design.seen) > EXACT_CELLS:
        return None
    values = np.unique(design.outcome)
    if len(values) != 2 or len(np.unique(design.outcome[design.train])) != 2:
        return None
    from recombine.theory.kernel_model import KernelClassifier

    rows = []
    for loss in ("hinge", "squared"):
        for depth in DEPTHS:
            model = KernelClassifier(OverlapKernel.relu(depth, len(design.factors)), loss=loss)
            model.fit(design.seen, design.outcome[design.train])
            right = model.predict(design.held_out) == design.outcome[~design.train]
            rows.append((depth, "cross-entropy" if loss == "hinge" else "squared", float(np.mean(right))))
    return Table({name: [row[place] for row in rows] for place, name in enumerate(("depth", "loss", "accuracy"))})
