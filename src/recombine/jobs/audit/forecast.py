"""What your model will do: kernel theory's forecast for the cells that were seen, before anything is trained."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.conjunctions import canonical, contains, distinct
from recombine.design.design import Design
from recombine.errors import plural
from recombine.tables.table import Table
from recombine.theory.kernels.overlap import OverlapKernel
from recombine.theory.kernels.slopes import EXACT_CELLS, every_arrangement, expected_slopes

DEPTHS = (1, 2, 3, 4)
#: Unseen cells the slopes are averaged over; more would not change the third digit.
MOST_TARGETS = 1_000
#: Past this many seen cells the forecast is skipped: it would cost more than the rest of the audit.
MOST_CELLS = 300_000
#: A factor is a shortcut if it explains at least this share of the seen outcomes and at most that of the unseen ones,
SHORTCUT_SEEN, SHORTCUT_UNSEEN = 0.05, -0.1
#: and neither looks like chance: p value of the first, standard errors by which the second is worse than the mean.
SHORTCUT_CHANCE, SHORTCUT_ERRORS = 0.05, 3.0


@dataclass(frozen=True)
class Shortcut:
    """How one factor alone does on seen and on unseen cells.

    Attributes
    ----------
    factor : str
    seen, unseen : float
        Share of variance its level means explain there (on seen cells adjusted for the number of levels).
    chance : float
        p value of the share on seen cells.
    errors : float
        By how many standard errors its level means do worse than the plain mean on unseen cells.
    """

    factor: str
    seen: float
    unseen: float
    chance: float
    errors: float

    @property
    def misleads(self) -> bool:
        """Whether a model that leans on this factor looks good in training and fails on recombination."""
        looks_good = self.seen >= SHORTCUT_SEEN and self.chance < SHORTCUT_CHANCE
        return looks_good and self.unseen <= SHORTCUT_UNSEEN and self.errors > SHORTCUT_ERRORS


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

    def __repr__(self) -> str:
        slopes = f"slopes of {plural(len(self.slopes), 'factor')}" if len(self.slopes) else "no slopes"
        return f"Forecast({slopes}; {plural(self.unseen, 'unseen cell')})"

    @property
    def obstacle(self) -> str:
        """Why there are no slopes, in words; empty if there are."""
        if len(self.slopes) and not np.isnan(self.slopes["depth 1"]).all():
            return ""
        if self.unseen:
            return f"there are more than {MOST_CELLS:,} seen cells"
        return "no unseen cell is determined if effects add"

    @property
    def weakest(self) -> tuple[str, float] | None:
        """The factor with the smallest slope at depth 1, and that slope."""
        values = self.slopes["depth 1"] if len(self.slopes) else np.zeros(0)
        if not len(values) or np.isnan(values).all():
            return None
        place = int(np.nanargmin(values))
        return str(self.slopes["factor"][place]), float(values[place])


def forecast(
    design: Design,
    unseen: IntArray,
    truth: FloatArray | None = None,
    truth_source: str = "",
    *,
    determined: BoolArray | None = None,
    seed: int = 0,
) -> Forecast:
    """Forecast what networks do on ``unseen`` cells (T, C), of which ``truth`` (T,) is the outcome where it is known.

    Slopes are taken on the cells that are ``determined`` (T,) at order 1 (by default all): elsewhere no effect arrives,
    whatever the model.

    Examples
    --------
    >>> from recombine.tasks import symbolic_addition
    >>> task = symbolic_addition(n=9, anchors=[2, 6])
    >>> design = Design.from_cells(task.cells, task.target, train=task.train, names=["left", "right"])
    >>> found = forecast(design, task.cells[~task.train])
    >>> found, round(found.weakest[1], 6)
    (Forecast(slopes of 2 factors; 49 unseen cells), 0.852845)
    """
    targets = unseen if determined is None else unseen[determined]
    if len(targets) > MOST_TARGETS:
        chosen = np.random.default_rng(seed).choice(len(targets), MOST_TARGETS, replace=False)
        targets = targets[np.sort(chosen)]
    shown = len(every_arrangement(design.seen, design.symmetric))
    skip = not len(targets) or shown > MOST_CELLS
    slopes = _no_slopes() if skip else _slopes(design, shown, targets, seed)
    curve = _no_slopes() if skip or shown > EXACT_CELLS else _curve(design, targets)
    shortcuts = () if truth is None or not len(unseen) else _shortcuts(design, unseen, truth)
    return Forecast(slopes, curve, shortcuts, truth_source, _accuracy(design), len(targets))


def _slopes(design: Design, shown: int, unseen: IntArray, seed: int) -> Table:
    columns: dict[str, object] = {"factor": np.array(design.names, dtype=object)}
    probes = int(np.clip(40_000 // shown, 1, 8))
    for depth in DEPTHS:
        columns[f"depth {depth}"] = expected_slopes(
            OverlapKernel.relu(depth, len(design.factors)),
            design.seen,
            unseen,
            symmetric=design.symmetric,
            probes=probes,
            seed=seed,
        )
    return Table(columns)  # type: ignore[arg-type]


def _curve(design: Design, unseen: IntArray) -> Table:
    """Slopes between a lookup table and a purely additive representation (only orders 1 and C carry salience)."""
    shares = np.linspace(0.0, 1.0, 11)[1:]
    count = len(design.factors)
    rows = []
    for share in shares:
        salience = np.zeros(count)
        salience[0], salience[-1] = share / count, salience[-1] + 1.0 - share
        kernel = OverlapKernel.from_salience(salience)
        rows.append(expected_slopes(kernel, design.seen, unseen, symmetric=design.symmetric))
    values = np.array(rows)
    return Table({"additive share": shares, **{name: values[:, place] for place, name in enumerate(design.names)}})


def _no_slopes() -> Table:
    return Table({"factor": np.zeros(0, dtype=object), "depth 1": np.zeros(0)})


def _shortcuts(design: Design, unseen: IntArray, truth: FloatArray) -> tuple[Shortcut, ...]:
    """Score each factor's level means on the seen and on the unseen cells."""
    scores = [_score(design, place, unseen[:, place], truth) for place in range(len(design.factors))]
    return tuple(score for score in scores if score is not None)


def _score(design: Design, place: int, unseen: IntArray, truth: FloatArray) -> Shortcut | None:
    from scipy.special import fdtrc

    assert design.outcome is not None
    outcome, codes = design.outcome[design.train], design.seen[:, place]
    mean = float(outcome.mean())
    counts = np.bincount(codes, minlength=design.sizes[place])
    sums = np.bincount(codes, weights=outcome, minlength=design.sizes[place])
    level_mean = np.where(counts > 0, sums / np.maximum(counts, 1), mean)
    between = int((counts > 0).sum()) - 1
    within = len(outcome) - between - 1
    total, rest = float(np.sum((outcome - mean) ** 2)), float(np.sum((outcome - level_mean[codes]) ** 2))
    plain = (truth - mean) ** 2
    if between < 1 or within < 1 or total == 0 or not plain.any():
        return None
    adjusted = 1.0 - rest / within * (len(outcome) - 1) / total
    ratio = (total - rest) / between / (rest / within) if rest > 0 else np.inf
    worse = (truth - level_mean[unseen]) ** 2 - plain
    error = float(worse.std()) / np.sqrt(len(worse))
    errors = float(worse.mean()) / max(error, 1e-12 * float(plain.mean()))
    share = -float(worse.sum() / plain.sum())
    return Shortcut(design.names[place], adjusted, share, float(fdtrc(between, within, ratio)), errors)


def _accuracy(design: Design) -> Table | None:
    """Classify the unseen held-out cells with hard-margin and squared-loss kernel models of each depth."""
    if design.outcome is None or design.train.all():
        return None
    training, answers = _shown(design, design.seen, design.outcome[design.train])
    unseen = ~contains(design.seen, design.held_out)
    classes = np.unique(design.outcome)
    if len(classes) != 2 or len(np.unique(answers)) != 2 or len(training) > EXACT_CELLS or not unseen.any():
        return None
    from recombine.theory.kernels.estimators import KernelClassifier

    rows = []
    for loss in ("hinge", "squared"):
        for depth in DEPTHS:
            model = KernelClassifier(OverlapKernel.relu(depth, len(design.factors)), loss=loss)
            model.fit(training, answers)
            right = model.predict(design.held_out[unseen]) == design.outcome[~design.train][unseen]
            rows.append((depth, "cross-entropy" if loss == "hinge" else "squared", float(np.mean(right))))
    return Table({name: [row[place] for row in rows] for place, name in enumerate(("depth", "loss", "accuracy"))})


def _shown(design: Design, cells: IntArray, outcome: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return cells in every order of symmetric factors, each with its outcome."""
    shown = every_arrangement(cells, design.symmetric)
    _, where = distinct(np.vstack([cells, canonical(shown, design.symmetric)]))
    value = np.zeros(int(where.max()) + 1)
    value[where[: len(cells)]] = outcome
    return shown, value[where[len(cells) :]]
