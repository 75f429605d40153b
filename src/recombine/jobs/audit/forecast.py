"""What your model will do: in outcome units, factor by factor.

The kernels of wide networks are fitted to the user's own outcome: how their predictions on unseen cells depend on each
factor's effect and on its marginal says which effects leak and which factor is a shortcut. Where that takes seconds,
networks and other models are trained besides (`recombine.jobs.training`), and what these miss is what is forecast. How
often each sentence was true of networks that others trained is in `recombine.data.hit_rates`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum, auto
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.conjunctions import contains, every_arrangement
from recombine.cells.scaled import ScaledConjunctions, additive_model
from recombine.cells.threads import one_thread
from recombine.errors import InputError, near_miss
from recombine.jobs.audit.additivity import ROUNDING, OrderCheck, check_additivity, fit_order, root_mean_square
from recombine.jobs.audit.fitted_networks import (
    DEPTHS,
    MAX_SCORED_CELLS,
    ForecastObstacle,
    ForecastSource,
    NoForecast,
    Scored,
    affordable_steps,
    depths_of,
    obstacle,
    predict_networks,
    score_held_out,
    score_seen,
)
from recombine.jobs.limits import AUDIT_LIMITS
from recombine.jobs.training import NETWORK, ExpectedRange, TableKind, TrainingTask, TriedModels, Way, expected_range
from recombine.measures.outputs.error_parts import ErrorParts, decompose_error
from recombine.tables.table import Table
from recombine.theory.identification.identify import Identification, identify
from recombine.verdicts import Verdict
from recombine.writing import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recombine.cells.arrays import BoolArray, FloatArray, IntArray
    from recombine.design.design import Design
    from recombine.jobs.audit.parts import AssumedStructure
    from recombine.theory.identification.additive_fit import AdditiveFit

#: Unseen cells that slopes are read from; more would not change the second digit.
MAX_CELLS_FOR_SLOPES = 1_000
#: What is left of exact values by rounding, as a share of the largest outcome: they are sums of many weights.
VALUE_ROUNDING = 1e-8
#: The networks that errors and slopes are read from: all layers learn, or the readout.
_ONE_LAYER = {("ntk", 1), ("nngp", 1)}


class ForecastBy(StrEnum):
    """Who says what models will do: the theory and, where that takes seconds, trained models; or one of them alone."""

    AUTO = auto()
    THEORY = auto()
    TRAINED = auto()


def read_forecast_by(text: str) -> ForecastBy:
    """Return who is to forecast, by name.

    Examples
    --------
    >>> read_forecast_by("theory").value
    'theory'
    """
    if text not in set(ForecastBy):
        hint = near_miss(text, list(ForecastBy), "Ways: auto, theory, trained")
        raise InputError(f"--forecast {text!r} is no way to forecast;{hint}")
    return ForecastBy(text)


@dataclass(frozen=True)
class ErrorForecast:
    """What models are off by on determined cells: root mean squares, in outcome units.

    ``ntk`` and ``nngp`` are those of a network of one hidden layer trained to convergence, if all layers learn or the
    readout; ``additive`` that of values that follow if effects add, ``mean`` that of the plain mean, ``noise`` what
    noise alone makes of it where it is known, ``values`` that of the values that an audit gives, where there are
    some. ``cells`` were scored, those that ``source`` names: the same ones for all.
    """

    ntk: float
    nngp: float
    additive: float
    mean: float
    noise: float | None
    cells: int
    source: ForecastSource
    values: float | None = None


@dataclass(frozen=True)
class Shortcut:
    """How far networks follow one factor's marginal, away from its effect, on unseen cells.

    ``pull`` is the share of the way from effect to marginal (NaN where the two do not differ), ``size`` by how much
    that moves predictions (root mean square, in standard deviations of the outcome), ``share`` its share of the
    network's squared error on those cells.
    """

    factor: str
    pull: float
    size: float
    share: float

    @property
    def misleads(self) -> bool:
        """Whether a network will follow this factor's marginal against what the data determine."""
        strong = self.pull >= AUDIT_LIMITS.shortcut_pull and self.size >= AUDIT_LIMITS.shortcut_size
        return bool(strong and self.share >= AUDIT_LIMITS.shortcut_share)


_NO_DEPTHS = Table({name: np.zeros(0) for name in ("hidden layers", "ntk", "nngp")})
_NO_SLOPES = Table({name: np.zeros(0) for name in ("factor", "effect", "slope", "ntk", "nngp", "told")})


@dataclass(frozen=True, eq=False)
class KernelForecast:
    """What wide networks, fitted by their kernels, will do on cells that the structure determines."""

    error: ErrorForecast | None = None  #: What they will be off by on determined cells, if there are enough.
    depths: Table = _NO_DEPTHS  #: The same by number of ``hidden layers``, ``ntk`` and ``nngp``.
    #: One row per factor: ``effect`` (standard deviation on unseen cells, in outcome units), and the share of it that
    #: arrives there: ``ntk``, ``nngp`` and ``slope``, their mean. NaN where the unseen cells do not vary it.
    slopes: Table = _NO_SLOPES
    shortcuts: tuple[Shortcut, ...] = ()  #: One per factor.
    unseen: int = 0  #: Unseen determined cells that slopes and shortcuts were read from.
    obstacle: ForecastObstacle | None = None  #: Why there is no forecast.
    shallow: bool = False  #: Whether networks of two layers and more were left out to save time.
    #: Whether the cells are all that adding determines, as in the trials of `recombine.data.hit_rates`.
    adding: bool = True
    scored: Scored | None = None  #: What the error was read from.
    task: TrainingTask | None = None  #: What is trained; None where the theory alone is asked.
    fit: AdditiveFit | None = None  #: Of the effects that slopes are shares of.
    fitted: Design | None = None  #: What networks are fitted to: every level a label.

    @property
    def held_out(self) -> bool:
        """Whether everything was read from held-out rows."""
        return self.error is not None and self.error.source is ForecastSource.HELD_OUT_ROWS

    def scored_as(self, sentence: str) -> str | None:
        """Return the name under which `recombine.data.hit_rates` scored what was so read; None if it did not."""
        if not self.adding:
            return None
        return sentence if self.held_out else f"{sentence} without a split"


class Forecast(KernelForecast):
    """What networks trained on the seen cells will do: by theory, and by models that were trained on them."""

    def __repr__(self) -> str:
        error = f"network off by {self.error.ntk:.3g}" if self.error else "no error"
        slopes = f"slopes of {plural(len(self.slopes), 'factor')}" if len(self.slopes) else "no slopes"
        return f"Forecast({error}; {slopes}; {plural(self.unseen, 'unseen cell')})"

    @cached_property
    def trained(self) -> TriedModels | None:
        """Models trained on the same cells, when first asked for; None where that would take too long."""
        return None if self.task is None or self.error is None else self.task.training

    @property
    def network(self) -> float | None:
        """What a network of one layer is off by: one that was trained, or else by theory; None where neither says."""
        if self.trained is not None:
            return self.trained.network.error
        return None if self.error is None else self.error.ntk

    @property
    def theory(self) -> float | None:
        """The error by theory on the cells that trained models were scored on; None where there are none."""
        if self.trained is None or self.scored is None:
            return None
        return root_mean_square((self.scored.networks["ntk", 1] - self.scored.observed)[self.trained.scored])

    @property
    def way(self) -> Way | None:
        """How the error of a network was come by; None without one."""
        if self.error is None:
            return None
        if self.trained is not None:
            return Way.TRAINED if self.held_out else Way.FOLDS
        return Way.THEORY if self.held_out else Way.THEORY_SEEN

    @property
    def kind(self) -> TableKind | None:
        """What is special about the table, for the record of tables like it."""
        if self.scored is None or self.fitted is None:
            return None
        cells = len(self.scored.observed) if self.trained is None else int(self.trained.scored.sum())
        return TableKind.of(self.fitted, cells)

    def range_of(self, model: str = NETWORK) -> ExpectedRange | None:
        """Return the range in which the error of the next such model lies in four of five tables; None if unknown."""
        said = self.network if model == NETWORK else None
        if model != NETWORK and self.trained is not None:
            said = next((entry.error for entry in self.trained.models if entry.name == model), None)
        if said is None or self.way is None or self.kind is None or not self.adding:
            return None
        return expected_range(said, model, self.way, self.kind)

    @property
    def accuracy_range(self) -> ExpectedRange | None:
        """Return the range of the share of right answers of the next network; None unless there are two values."""
        if self.trained is None or self.trained.network.accuracy is None or self.way is None or self.kind is None:
            return None
        told = self.trained.network.accuracy
        return expected_range(told, NETWORK, self.way, self.kind, accuracy=True) if self.adding else None

    @cached_property
    def trained_factors(self) -> tuple[Table, tuple[Shortcut, ...]] | None:
        """Slopes and shortcuts as the trained network has them; None where there is none, or too few cells to read."""
        task, trained = self.task, self.trained
        if task is None or trained is None or self.fit is None or not len(self.slopes):
            return None
        if self.held_out:
            cells, observed = task.design.cells[task.places], task.design.observed.measured[task.places]
            told = trained.network.predicted
        elif trained.at_unseen is not None and task.unseen is not None:
            cells, observed, told = task.unseen, None, trained.at_unseen
        else:
            return None
        return read_factors(task.design, self.fit, cells, {("ntk", 1): told, ("nngp", 1): told}, observed, self.error)

    @cached_property
    def trained_slopes(self) -> dict[str, float]:
        """Factor -> share of its effect that arrives in the trained network; empty where none was trained."""
        rows = () if self.trained_factors is None else self.trained_factors[0].rows()
        return {str(row["factor"]): float(row["slope"]) for row in rows if not np.isnan(row["slope"])}

    @cached_property
    def arrives(self) -> list[dict[str, Any]]:
        """Rows of the slopes that are told, with the share of the ``trained`` network, and its mean with theory's.

        The mean is nearer to the next network than either.
        """
        told = [row for row in self.slopes.rows() if row["told"] and row["slope"] == row["slope"]]
        for row in told:
            row["trained"] = self.trained_slopes.get(str(row["factor"]), np.nan)
            row["arrives"] = float(np.nanmean([row["slope"], row["trained"]]))
        return told

    @cached_property
    def expected_shortcuts(self) -> tuple[Shortcut, ...]:
        """The shortcuts by theory, or the means of these and of the trained network's where one was trained."""
        if self.trained_factors is None:
            return self.shortcuts
        pairs = zip(self.shortcuts, self.trained_factors[1], strict=True)
        return tuple(
            replace(
                told, **{name: (getattr(told, name) + getattr(own, name)) / 2 for name in ("pull", "size", "share")}
            )
            for told, own in pairs
        )


@dataclass(frozen=True, eq=False)
class Determinacy:
    """Which cells an assumed structure determines: ``codes_of`` gives verdicts (N,) of cells (N, C)."""

    codes_of: Callable[[IntArray], IntArray]
    check: OrderCheck | None  #: At the structure's order: which seen cells the others determine.


def forecast(
    design: Design,
    unseen: IntArray,
    *,
    first: Identification | None = None,
    check: OrderCheck | None = None,
    fit: AdditiveFit | None = None,
    assumed: Determinacy | None = None,
    seed: int = 0,
    by: ForecastBy = ForecastBy.THEORY,
) -> Forecast:
    """Forecast what networks trained on the seen cells to convergence will do.

    Where the design holds out enough cells that the seen ones determine, everything is read from those. Without them
    the error is read from seen cells, predicted from the others, and slopes and shortcuts from ``unseen`` ones.

    ``unseen`` is of shape (T, C); ``first`` and ``fit`` are the verdict engine and the fit of order 1, if there are any
    already; ``check`` is the additivity check at order 1, whose cells networks predict again, and without which seen
    cells are not scored. ``assumed`` leaves out cells that adding determines and another structure does not. ``by``
    says whether models are trained besides.

    Examples
    --------
    Two numbers are added; pairs with a 2 or a 6 were seen.

    >>> from recombine.cells import every_cell
    >>> from recombine.design import Design
    >>> cells = every_cell((9, 9))
    >>> seen = np.isin(cells, [2, 6]).any(axis=1)
    >>> design = Design.from_cells(cells, cells.sum(axis=1), train=seen, names=["left", "right"])
    >>> told = forecast(design, cells[~seen])
    >>> told
    Forecast(network off by 0.994; slopes of 2 factors; 49 unseen cells)
    >>> [round(row["arrives"], 3) for row in told.arrives], round(told.error.additive, 6)
    ([0.798, 0.798], 0.0)
    """
    if reason := obstacle(design):
        return Forecast(obstacle=reason)
    engine = first or identify(design.seen, **design.shape, seed=seed)
    with one_thread():  # small matrices: more threads only wait for each other
        fit = fit or fit_order(design, 1)
        enough, scored, observed = AUDIT_LIMITS.min_cells_tested, None, None
        held = np.flatnonzero(~design.train)
        held_out = held[~contains(design.seen, design.cells[held])]  # a cell may have rows on both sides of the split
        chosen, adding = _determined(design.cells[held_out], engine, assumed)
        rows = _some(held_out[chosen], MAX_SCORED_CELLS, seed)
        if len(rows) >= enough:
            scored = score_held_out(design, fit, rows, design.train, ForecastSource.HELD_OUT_ROWS)
            targets, told, observed = design.cells[rows], scored.networks, design.observed.measured[rows]
        else:
            chosen, adding = _determined(unseen, engine, assumed)
            targets = _some(unseen[chosen], MAX_CELLS_FOR_SLOPES, seed)
            told = predict_networks(design, design.train, targets, (1,)) if len(targets) >= enough else {}
            # What could not be fitted to all cells need not be tried on nine tenths of them.
            judged = check if assumed is None else assumed.check
            if check is not None and judged is not None and (told or len(targets) < enough):
                scored = score_seen(design, check, judged, seed)
                adding = adding and (scored is None or scored.adding)
        error = None if scored is None else _error(scored)
        tables: dict[str, Any] = {} if scored is None else {"depths": _depths(scored)}
        if told.keys() >= _ONE_LAYER:
            tables["slopes"], tables["shortcuts"] = read_factors(design, fit, targets, told, observed, error)
        reason = None
        if error is None and not len(tables.get("slopes", ())):
            reason = ForecastObstacle(NoForecast.FEW_CELLS, enough)
            if len(targets) >= enough or scored is not None:
                steps = affordable_steps(every_arrangement(design.seen, design.symmetric))
                reason = ForecastObstacle(NoForecast.MANY_STEPS, steps)
        shallow = depths_of(design) != DEPTHS
        if scored is not None and by is not ForecastBy.THEORY:
            beyond = targets if observed is None and len(targets) >= enough else None
            tables["task"] = TrainingTask(design, scored.places, beyond, seed, by is ForecastBy.TRAINED)
        tables |= {"obstacle": reason, "shallow": shallow, "adding": adding, "fit": fit, "fitted": design}
        return Forecast(error, unseen=len(targets), scored=scored, **tables)


def forecast_under(structure: AssumedStructure) -> Forecast:
    """Forecast networks from the parts of an audit; every level is a label to them, also on a scale."""
    decided, additivity = structure.values.decided, structure.additivity
    design, order = decided.design, decided.choice.order
    first: Identification | None = decided.first
    fit = structure.values.first_fit
    if structure.values.at_mean and not obstacle(design):  # effects that may be chance have no share that arrives
        return Forecast(obstacle=ForecastObstacle(NoForecast.CHANCE))
    if design.scales and not obstacle(design):
        design, first, fit = replace(design, space=design.space.labelled), None, None
        additivity = check_additivity(design, tuple(sorted({1, order})), decided.seed)
    check, judged = (None, None) if additivity is None else (additivity.at(1), additivity.at(order))
    adds = order == 1 and decided.choice.fit is None
    assumed = None if adds else Determinacy(decided.verdicts_of, judged)
    unseen, seed = decided.listing.typical, decided.seed
    by = ForecastBy(decided.forecast_by)
    told = forecast(design, unseen, first=first, check=check, fit=fit, assumed=assumed, seed=seed, by=by)
    return beside_values(told, structure)


def beside_values(told: Forecast, structure: AssumedStructure) -> Forecast:
    """Return a forecast with the error of an audit's values on the same cells, those that have one left out."""
    if told.scored is None or told.error is None:
        return told
    values = values_at(structure, told.scored.places)
    valued = np.isfinite(values)
    if valued.sum() < AUDIT_LIMITS.min_cells_tested:
        return told
    scored = told.scored.only(valued)
    error, adding = _error(scored, values[valued]), told.adding and bool(valued.all())
    task = None if told.task is None else replace(told.task, places=scored.places)
    return replace(told, error=error, depths=_depths(scored), scored=scored, adding=adding, task=task)


def error_of_values(values: FloatArray, observed: FloatArray) -> float:
    """Return the root mean square by which values (T,) miss outcomes (T,); 0 where that is rounding."""
    missed = root_mean_square(values - observed)
    return missed if missed > VALUE_ROUNDING * np.abs(observed).max() else 0.0


def values_at(structure: AssumedStructure, places: IntArray) -> FloatArray:
    """Return values of cells of the design (T,), seen ones predicted from others; NaN where these do not say."""
    design, values = structure.values.decided.design, np.full(len(places), np.nan)
    seen = design.train[places]
    values[~seen] = structure.values.ranges_of(design.cells[places[~seen]]).predicted
    if seen.any():
        values[seen] = structure.left_out[(np.cumsum(design.train) - 1)[places[seen]]]
    return values


def _determined(cells: IntArray, engine: Identification, assumed: Determinacy | None) -> tuple[BoolArray, bool]:
    """Return which ``cells`` (N, C) the assumed structure determines, (N,), and if these are all that adding does."""
    by_adding = np.asarray(engine.verdicts_of(cells) == Verdict.DETERMINED)
    if assumed is None:
        return by_adding, True
    chosen = by_adding & (assumed.codes_of(cells) == Verdict.DETERMINED)
    return chosen, bool((chosen == by_adding).all())


def _some(items: IntArray, most: int, seed: int) -> IntArray:
    """Return at most so many of the items, chosen at random."""
    if len(items) <= most:
        return items
    return items[np.sort(np.random.default_rng(seed).choice(len(items), most, replace=False))]


def _error(scored: Scored, given: FloatArray | None = None) -> ErrorForecast | None:
    if not scored.networks.keys() >= _ONE_LAYER:
        return None
    values = scored.networks["ntk", 1], scored.networks["nngp", 1], scored.additive, scored.mean
    ntk, nngp, additive, mean = (root_mean_square(value - scored.observed) for value in values)
    additive = additive if additive > ROUNDING * np.abs(scored.observed).max() else 0.0
    noise = None if scored.noise is None else float(np.sqrt(scored.noise.mean()))
    missed = None if given is None else error_of_values(given, scored.observed)
    return ErrorForecast(ntk, nngp, additive, mean, noise, len(scored.observed), scored.source, missed)


def _depths(scored: Scored) -> Table:
    depths = sorted({depth for _, depth in scored.networks})
    nothing = np.full(len(scored.observed), np.nan)
    columns: dict[str, Any] = {"hidden layers": depths}
    for name in ("ntk", "nngp"):
        values = [scored.networks.get((name, depth), nothing) for depth in depths]
        columns[name] = [root_mean_square(value - scored.observed) for value in values]
    return Table(columns)


def read_factors(
    design: Design,
    fit: AdditiveFit,
    cells: IntArray,
    told: dict[tuple[str, int], FloatArray],
    observed: FloatArray | None,
    error: ErrorForecast | None,
) -> tuple[Table, tuple[Shortcut, ...]]:
    """Read from predictions at ``cells`` (T, C) which effects leak and which factors are shortcuts.

    ``told`` holds predictions of a network whose layers all learn, ("ntk", 1), and of one whose readout does; a trained
    model's own may stand in both places. ``observed`` are the cells' outcomes; without them ``error`` says by how much
    effects miss outcomes.
    """
    mean, effects, marginals = level_values(design, fit, cells)
    # Without an outcome at these cells the part that the effects miss is known by its size alone.
    truth = effects.sum(axis=1) if observed is None else observed - mean
    beyond = error.additive**2 if error is not None and observed is None else 0.0
    parts = {name: decompose_error(told[name, 1] - mean, truth, effects, marginals) for name in ("ntk", "nngp")}
    scale = float(design.observed.seen_outcome.std())
    slopes = {name: _per_factor(design, split.slopes) for name, split in parts.items()}
    spread = _per_factor(design, effects.std(axis=0))
    table = Table(
        {
            "factor": np.array(design.names, dtype=object),
            "effect": spread,
            "slope": (slopes["ntk"] + slopes["nngp"]) / 2,
            **slopes,
            "told": spread >= AUDIT_LIMITS.min_effect * scale,
        }
    )
    free = np.isin(np.arange(len(design.names)), design.features(1).free)
    return table.where(free), _shortcuts(design, parts["ntk"], beyond, scale)


def _shortcuts(design: Design, parts: ErrorParts, beyond: float, scale: float) -> tuple[Shortcut, ...]:
    squares, scale = float(np.mean(parts.error**2)), scale or 1.0  # outcomes so small that their squares are 0
    weight = squares / (squares + beyond) if squares > 0 else 0.0
    values = [parts.pulls, np.sqrt(np.mean(parts.shortcut**2, axis=0)) / scale, weight * parts.shortcut_shares]
    columns = [_per_factor(design, column) for column in values]
    free = design.features(1).free
    return tuple(Shortcut(design.names[factor], *(float(column[factor]) for column in columns)) for factor in free)


def _per_factor(design: Design, values: FloatArray) -> FloatArray:
    """Give every factor the value of its group: interchangeable ones share it."""
    return np.array(
        [values[design.space.groups.index(design.space.twins(factor))] for factor in range(len(design.names))]
    )


def level_values(design: Design, fit: AdditiveFit, cells: IntArray) -> tuple[float, FloatArray, FloatArray]:
    """Return the mean outcome of the seen cells, and each group of factors' effects and marginals at ``cells``, (T, G).

    Effects are those of ``fit``, marginals the mean seen outcomes of levels; both are centred on the seen cells, each
    cell weighing as much as its precision. Interchangeable factors form one group, whose members' values add up. A
    factor in which another lies has no columns of its own: its effect is part of the other's, and here it has none.
    On a scale the marginal is the curve that fits the seen outcomes by this factor alone.
    """
    weight, outcome = design.precision[design.train], design.observed.seen_outcome
    mean = float(np.average(outcome, weights=weight))
    if isinstance(design.features(1), ScaledConjunctions):
        return mean, *_values_on_scales(design, fit, cells, outcome - mean)
    features = design.features(1)
    seen, asked = features.ids(design.seen), features.ids(cells)
    # Interchangeable factors share their columns, so that a level's mean is taken over all of its places.
    counts = np.bincount(seen.ravel(), np.repeat(weight, seen.shape[1]), features.columns)
    sums = np.bincount(seen.ravel(), np.repeat(weight * (outcome - mean), seen.shape[1]), features.columns)
    marginal = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    factors = [subset[0] for subset in features.subsets]
    groups = [[factors.index(factor) for factor in group if factor in factors] for group in design.space.groups]

    def centred(table: FloatArray) -> FloatArray:
        sums = [(table[asked[:, group]].sum(axis=1), table[seen[:, group]].sum(axis=1)) for group in groups]
        return np.stack([at_cells - np.average(at_seen, weights=weight) for at_cells, at_seen in sums], axis=1)

    return mean, centred(fit.table), centred(marginal)


def _values_on_scales(
    design: Design, fit: AdditiveFit, cells: IntArray, centred: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return effects and marginals (T, G) where levels between seen ones follow from these."""
    weight, seen = design.precision[design.train], design.seen
    values: list[tuple[FloatArray, FloatArray]] = []
    root = np.sqrt(weight)
    for group in design.space.groups:
        # With all other levels those of one seen cell, the model differs by the effect of this group alone.
        varied = [np.tile(seen[:1], (len(some), 1)) for some in (seen, cells)]
        varied[0][:, list(group)], varied[1][:, list(group)] = seen[:, list(group)], cells[:, list(group)]
        at_seen, at_cells = (fit.predict(some) for some in varied)
        columns = _columns_of(design, group, seen)
        curve = np.linalg.lstsq(root[:, None] * columns, root * centred, rcond=None)[0]
        marginal = _columns_of(design, group, cells) @ curve - np.average(columns @ curve, weights=weight)
        values.append((at_cells - np.average(at_seen, weights=weight), marginal))
    effects, marginals = (np.stack(column, axis=1) for column in zip(*values, strict=True))
    return effects, marginals


def _columns_of(design: Design, group: Sequence[int], cells: IntArray) -> FloatArray:
    """Return the columns of one group of factors alone at ``cells`` (N, C), (N, K)."""
    alone = additive_model([design.sizes[group[0]]], scales=[design.scales[group[0]]])
    return np.asarray(sum(alone.incidence(cells[:, [factor]]).toarray() for factor in group))
