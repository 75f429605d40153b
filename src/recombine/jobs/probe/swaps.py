"""How many predictions change if the level of a factor is swapped: the model is asked again, or was asked before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray
from recombine.errors import InputError, near_miss
from recombine.jobs.limits import SCORE_LIMITS
from recombine.jobs.score.amounts import Amount, mean_amount
from recombine.progress import each
from recombine.tables.frames import Source
from recombine.tables.numbers import level_text, missing_values
from recombine.writing import listing, plural

#: Each row is asked about with at most so many other levels.
MAX_SWAPS_PER_ROW = 4
#: What the column of a model's predictions is called.
PREDICTION = "prediction"
#: Takes inputs, a factor and the level that each row is to have (N,), and returns the inputs with these levels.
SwapInputs = Callable[[Any, str, npt.NDArray[Any]], Any]


@dataclass(frozen=True)
class LevelSwap:
    """What swapping the level of one factor does to predictions, all else equal."""

    factor: str
    #: Share of the predictions that change, of classes; by how much they move on average, of numbers.
    change: Amount
    classes: bool
    rows: int
    spread: float  #: Standard deviation of predictions that are numbers; NaN of classes.


@dataclass(frozen=True)
class ColumnSwaps:
    """A column of predictions, and for some factors the column of what was predicted once their level was swapped.

    Examples
    --------
    >>> ColumnSwaps("guess", {"colour": "guess recoloured"}).columns["colour"]
    'guess recoloured'
    """

    prediction: str
    columns: Mapping[str, str]  #: Factor -> column.

    def measured(self, source: Source, factors: Sequence[str]) -> tuple[LevelSwap, ...]:
        """Return what swapping the level of each factor did to predictions."""
        swaps = []
        for factor, column in self.columns.items():
            if factor not in factors:
                hint = near_miss(factor, factors, f"Factors: {listing(factors)}")
                raise InputError(f"swapped predictions are of {factor!r}, which is no factor that is tested;{hint}")
            read = source.read([self.prediction, source.require(column, "swapped prediction")])
            complete = ~np.any([missing_values(values) for values in read.values()], axis=0)
            before, after = (read[name][complete] for name in (self.prediction, column))
            if not len(before):
                raise InputError(f"no row has both {self.prediction!r} and {column!r}")
            classes = "number" not in (source.kind(self.prediction), source.kind(column))
            swaps.append(_level_swap(factor, before, [after], classes))
        return tuple(swaps)


@dataclass(frozen=True, eq=False)
class AskedModel:
    """A model that is asked about rows with other levels.

    Parameters
    ----------
    model : estimator or function
        Anything with ``predict``, or a function of inputs that returns predictions: classes or numbers, or one score
        per class.
    inputs : array (N, ...), optional
        What the model takes where that is not the columns of the table, such as images, one per row.
    swap : function of inputs, factor and levels (N,), optional
        Returns such inputs with other levels of a factor: recoloured images.

    Examples
    --------
    >>> AskedModel(lambda rows: rows["colour"]).inputs is None
    True
    """

    model: Any
    inputs: Any = None
    swap: SwapInputs | None = None

    def predicted(self, frame: Any) -> tuple[Any, npt.NDArray[Any], bool]:
        """Return a table with a column of predictions, these (N,), and whether they are classes."""
        import narwhals as nw

        if not hasattr(frame, "columns"):
            raise InputError("a model is asked about rows of a dataframe; read the file into one first")
        if PREDICTION in frame.columns:
            raise InputError(f"the table has a column {PREDICTION!r} already; rename it")
        if self.inputs is not None and (self.swap is None or len(self.inputs) != len(frame)):
            raise InputError(
                f"inputs of {len(self.inputs):,} rows stand beside {plural(len(frame), 'row')} of the table; give one "
                "per row, and swap, a function of inputs, factor and levels that returns inputs with these levels"
            )
        values, classes = self._ask(frame if self.inputs is None else self.inputs)
        if len(values) != len(frame):
            raise InputError(f"the model returned {len(values):,} predictions for {len(frame):,} rows; return one each")
        table = nw.from_native(frame)
        column = nw.new_series(PREDICTION, values.tolist(), backend=table.implementation)
        return table.with_columns(column).to_native(), values, classes

    def measured(
        self, frame: Any, before: npt.NDArray[Any], classes: bool, factors: Sequence[str], seed: int
    ) -> tuple[LevelSwap, ...]:
        """Return what swapping the level of each factor does to the predictions ``before`` (N,)."""
        import narwhals as nw

        swaps = []
        for factor, rng in zip(factors, np.random.default_rng(seed).spawn(len(factors)), strict=True):
            levels = [level_text(value) for value in nw.from_native(frame)[factor].to_numpy().tolist()]
            donors = _donors(np.unique(levels, return_inverse=True)[1], rng)
            after = [
                self._ask(self._with_levels(frame, factor, rows))[0] for rows in each("asking the model", [*donors])
            ]
            swaps.append(_level_swap(factor, before, after, classes))
        return tuple(swaps)

    def _with_levels(self, frame: Any, factor: str, donors: IntArray) -> Any:
        """Return what the model takes, each row with the level of its donor."""
        import narwhals as nw

        table = nw.from_native(frame)
        levels = table[factor][donors.tolist()]
        if self.inputs is not None and self.swap is not None:
            return self.swap(self.inputs, factor, levels.to_numpy())
        return nw.maybe_reset_index(table).with_columns(nw.maybe_reset_index(levels).alias(factor)).to_native()

    def _ask(self, inputs: Any) -> tuple[npt.NDArray[Any], bool]:
        """Return predictions (N,), and whether they are classes; of scores by class the class with most."""
        if self.inputs is None and (names := getattr(self.model, "feature_names_in_", None)) is not None:
            inputs = inputs[list(names)]
        try:
            answer = self.model.predict(inputs) if hasattr(self.model, "predict") else self.model(inputs)
        except Exception as problem:  # whatever the model raises
            raise InputError(f"the model stops with {type(problem).__name__}: {problem}") from problem
        values = np.asarray(answer)
        if values.ndim == 2 and values.shape[1] > 1:
            return values.argmax(axis=1), True
        values = values.reshape(len(values))
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise InputError("the model predicts no finite number for some rows; predict every row")
        return values, values.dtype.kind != "f" or hasattr(self.model, "classes_")


def _donors(codes: IntArray, rng: np.random.Generator) -> IntArray:
    """Return rows whose levels each row gets in turn, (S, N): others than its own, each once."""
    levels, starts = np.unique(codes, return_index=True)
    count = min(len(levels) - 1, MAX_SWAPS_PER_ROW)
    # Steps from the own level on, around the circle of levels, are never back at it.
    steps = rng.permuted(np.tile(np.arange(1, len(levels)), (len(codes), 1)), axis=1)[:, :count]
    return np.asarray(starts[(codes[:, None] + steps) % len(levels)].T)


def _level_swap(factor: str, before: npt.NDArray[Any], after: Sequence[npt.NDArray[Any]], classes: bool) -> LevelSwap:
    """Return by how much predictions (N,) change from ``before`` to each of ``after``."""
    if classes:
        changes = np.array([values.astype(str) != before.astype(str) for values in after], dtype=float)
    else:
        changes = np.abs(np.array([values.astype(float) - before.astype(float) for values in after]))
    by_row = changes.mean(axis=0)
    spread = float("nan") if classes else float(before.astype(float).std())
    change = _share(by_row) if classes else mean_amount(by_row)
    return LevelSwap(factor, change, classes, len(by_row), spread)


def _share(by_row: FloatArray) -> Amount:
    """Return a share with its exact range, as if each row had been asked once: it holds at 0 and 1 too."""
    from scipy.special import betaincinv

    count, share, tail = len(by_row), float(by_row.mean()), SCORE_LIMITS.share_outside / 2
    changed = share * count
    low = float(betaincinv(changed, count - changed + 1, tail)) if changed > 0 else 0.0
    high = float(betaincinv(changed + 1, count - changed, 1 - tail)) if changed < count else 1.0
    return Amount(share, low, high)
