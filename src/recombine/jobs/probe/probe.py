"""Does a prediction depend on factors that it should ignore? A table of predictions in, a `Probe` out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Unpack

import numpy as np

from recombine.design.scaling import scales_asked
from recombine.errors import InputError
from recombine.jobs.findings.finding import Finding, ResultKind
from recombine.jobs.outputs import render
from recombine.jobs.probe.counts import bin_cuts, contingency
from recombine.jobs.probe.swaps import PREDICTION, AskedModel, ColumnSwaps, LevelSwap
from recombine.measures.dependence.contingency import Contingency
from recombine.measures.dependence.independence import DependenceState, Independence, independence_of
from recombine.table_spec import TableFields, TableSpec, make_spec
from recombine.tables.frames import Source, open_table
from recombine.tables.guesses import Proposal, propose_factors
from recombine.tables.table import Table
from recombine.writing import plural, printable

#: Shuffles of each factor, unless more are needed for an adjusted p-value to reach the level with room to spare.
MIN_PERMUTATIONS = 200
#: More would change no verdict: a p-value of 0.05 is known to 0.0002 by then.
MAX_PERMUTATIONS = 1_000_000


@dataclass(frozen=True, eq=False)
class FactorTest:
    """What was found for one factor."""

    factor: str
    test: Independence
    adjusted: float  #: The p-value times what Holm's method asks for, given how many factors were tested.
    verdict: DependenceState


@dataclass(frozen=True, eq=False)
class Probe:
    """Which factors a prediction depends on beyond what it should depend on. Make one with `recombine.probe`."""

    source: str
    prediction: str
    given: tuple[str, ...]  #: What the prediction may depend on.
    tests: tuple[FactorTest, ...]  #: The strongest dependence first.
    #: As asked for, or the default.
    level: float
    permutations: int
    seed: int
    rows: int  #: Rows with a prediction and a value of each given column.
    #: H(prediction) and H(prediction | given) in bits: what there is to tell, and what the given columns leave open.
    entropy: float
    left_open: float
    bins: dict[str, int]  #: Into how many bins columns of measurements were cut.
    missing: dict[str, int]  #: Rows that lack a value of the named columns and were left out.
    proposals: tuple[Proposal, ...] = ()  #: Why each column was taken for a factor, where they were guessed.
    spec: TableSpec = field(default_factory=TableSpec)  #: How the table was read, guessed factors included.
    swaps: tuple[LevelSwap, ...] = ()  #: What swapping levels does to predictions, where that was asked.

    @property
    def depends(self) -> tuple[str, ...]:
        """The factors that the prediction was found to depend on."""
        return tuple(item.factor for item in self.tests if item.verdict is DependenceState.DEPENDS)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The same as a numbered finding, which ``--fail-on`` names."""
        from recombine.jobs.findings.registry import find_all  # loads every finding: only for who asks

        return find_all(self, ResultKind.PROBE)

    @cached_property
    def table(self) -> Table:
        """One row per factor: verdict, bits and their null, excess, share of what is left open, p-values, rows."""
        tests = [item.test for item in self.tests]
        numbers = {"excess": "excess", "share": "effect", "bits": "estimate", "null": "null_mean", "null sd": "null_sd"}
        return Table(
            {
                "factor": [item.factor for item in self.tests],
                "verdict": [item.verdict.value for item in self.tests],
                **{column: [getattr(test, name) for test in tests] for column, name in numbers.items()},
                "p": [test.p_value for test in tests],
                "adjusted p": [item.adjusted for item in self.tests],
                "levels": [test.levels[1] for test in tests],
                "rows": [test.rows for test in tests],
            }
        )

    def __str__(self) -> str:
        return render(self, "text")

    def __repr__(self) -> str:
        depends = f"depends on {', '.join(self.depends)}" if self.depends else DependenceState.NOT_FOUND
        given = f"{self.prediction} given {', '.join(self.given)}"
        return printable(f"Probe({given}; {plural(len(self.tests), 'factor')} tested, {depends})")


def probe(
    data: object,
    prediction: str | ColumnSwaps | Any,
    spec: TableSpec | None = None,
    *,
    factor: str | Sequence[str] = (),
    level: float = 0.05,
    permutations: int | None = None,
    seed: int = 0,
    bins: int = 10,
    **fields: Unpack[TableFields],
) -> Probe:
    """Ask of any model's predictions: do they depend on factor j beyond factor i, the one that they should depend on?

    For each of ``factors`` the information I(prediction; factor | given) is set against its null, the same with the
    factor shuffled among rows of equal given columns, which are ``outcome`` and ``factor``. Probe on rows in which
    factors and given columns vary independently.

    Parameters
    ----------
    data : path or dataframe
        File of any kind that is read, or a dataframe that narwhals knows; one row per prediction.
    prediction : str, estimator, function, AskedModel or ColumnSwaps
        Column of predictions: classes, or numbers, which are cut into bins. Or what predicts: an estimator or function
        that takes the rows of a dataframe; an `AskedModel` where it takes something else, such as images. Then the
        model is also asked how many predictions change if levels are swapped; `ColumnSwaps` names columns of
        predictions made so.
    spec : TableSpec, optional
        How the table is read. Its ``outcome`` is the column of true outcomes, all that the prediction should depend
        on; its ``factors``, less those of ``factor``, should not matter, and are guessed if left out.
    factor : str or sequence of str
        In place of the outcome, or beside it: the factors that decide the outcome.
    level : float
        A dependence is reported where the p-value, adjusted for the number of factors, is at most this.
    permutations : int, optional
        Shuffles of each factor; by default 200, or more if many factors are tested.
    seed : int
    bins : int
        Numeric columns with very many values (more than 20, or 100 whole numbers) are cut into so many; not those that
        are ``as_levels``.
    **fields
        Those of `recombine.TableSpec`; they replace those of ``spec``.

    Examples
    --------
    >>> import pandas as pd
    >>> generator = np.random.default_rng(0)
    >>> digit, colour = generator.integers(4, size=(2, 4000))
    >>> guess = np.where(generator.random(4000) < 0.1, colour, digit)
    >>> size = generator.integers(3, size=4000)
    >>> frame = pd.DataFrame({"guess": guess, "digit": digit, "colour": colour, "size": size})
    >>> probe(frame, prediction="guess", outcome="digit", factors=["colour", "size"])
    Probe(guess given digit; 2 factors tested, depends on colour)

    Of a model that may be asked, how many predictions change if the colour is swapped:

    >>> model = lambda rows: np.where(rows["colour"] == 0, 0, rows["digit"])
    >>> print(probe(frame, model, outcome="digit", factors=["colour"]).swaps[0].change)
    Amount(0.38 [0.365, 0.395])
    """
    spec, decide = make_spec(spec, fields), (factor,) if isinstance(factor, str) else tuple(factor)
    data, prediction, swapped = _asked(data, prediction)
    given = ((spec.outcome,) if spec.outcome is not None else ()) + decide
    source = open_table(data, spec)
    # Ordered and numeric factors are tested by their values, which are binned as other numbers are.
    scaled = [name for name in scales_asked(spec.ordered, spec.numeric, tuple(source.columns)) if name not in given]
    named = None if spec.factors is None else [name for name in spec.factors if name not in (*decide, *scaled)]
    factors, proposals = _factors(source, prediction, given, named, scaled)
    shuffles = _permutations(permutations, len(factors), level)
    columns = (prediction, *given, *factors)
    table = source.kept(columns)
    rows, cuts = bin_cuts(table, columns, spec.as_levels, bins)
    both = contingency(table, prediction, given, None, cuts)
    missing, tested = {" or ".join([prediction, *given]): rows - both.rows}, {}
    for name, child in zip(factors, np.random.default_rng(seed).spawn(len(factors)), strict=True):
        cells = contingency(table, prediction, given, name, cuts)
        _check(cells, prediction, given, name, source.name)
        missing[name] = both.rows - cells.rows
        tested[name] = independence_of(cells, shuffles, child)
    return Probe(
        source.name,
        prediction,
        given,
        _judged(tested, level),
        level,
        shuffles,
        seed,
        both.rows,
        replace(both, stratum=0 * both.stratum).entropy,
        both.entropy,
        {name: len(edges) + 1 for name, edges in cuts.items()},
        {name: count for name, count in missing.items() if count},
        proposals,
        make_spec(spec, {"factors": (*factors, *(name for name in decide if name in (spec.factors or ())))}),
        swapped(source, factors, seed),
    )


def _asked(data: Any, prediction: Any) -> tuple[Any, str, Callable[[Source, Sequence[str], int], Any]]:
    """Return a table with a column of predictions, its name, and what says how they change once levels are swapped."""
    if isinstance(prediction, str):
        return data, prediction, lambda source, factors, seed: ()
    if isinstance(prediction, ColumnSwaps):
        return data, prediction.prediction, lambda source, factors, seed: prediction.measured(source, factors)
    model = prediction if isinstance(prediction, AskedModel) else AskedModel(prediction)
    table, values, classes = model.predicted(data)
    return table, PREDICTION, lambda source, factors, seed: model.measured(data, values, classes, factors, seed)


def _factors(
    source: Source, prediction: str, given: tuple[str, ...], factors: Sequence[str] | None, scaled: Sequence[str]
) -> tuple[tuple[str, ...], tuple[Proposal, ...]]:
    """The factors to test: those named, or a guess with its reasons."""
    if not given:
        raise InputError("say what the prediction may depend on: --outcome y, or --factor own (several by commas)")
    source.require(prediction, "prediction")
    for column in given:
        source.require(column, "given column")
    proposals: tuple[Proposal, ...] = ()
    if factors is None:
        roles = (
            {prediction: "prediction"} | dict.fromkeys(given, "column that is given") | dict.fromkeys(scaled, "factor")
        )
        proposals = tuple(propose_factors(source, roles))
        factors = [proposal.column for proposal in proposals if proposal.taken]
        if not (*factors, *scaled):
            raise InputError(f"no column of {source.name} looks like a factor to test; name them with --factors")
    chosen = tuple(source.require(factor, "factor") for factor in (*factors, *scaled))
    named = [prediction, *given, *chosen]
    twice = [name for position, name in enumerate(named) if name in named[:position]]
    if twice:
        raise InputError(f"column {twice[0]!r} is named twice; prediction, given columns and factors must differ")
    if not chosen:
        raise InputError("no factor was named; say which columns should not matter with --factors")
    return chosen, proposals


def _permutations(count: int | None, factors: int, level: float) -> int:
    if not 0 < level < 1:
        raise InputError(f"level {level} is not between 0 and 1; the usual one is 0.05")
    if count is None:
        return max(MIN_PERMUTATIONS, math.ceil(4 * factors / level))
    fewest = math.ceil(factors / level - 1e-9) - 1
    if count < fewest:
        raise InputError(
            f"{count} permutations cannot show anything at level {level} with {factors} factors; use at least {fewest}"
        )
    if count > MAX_PERMUTATIONS:
        raise InputError(f"{count} permutations would take very long; {MAX_PERMUTATIONS:,} are as good: ask for fewer")
    return count


def _check(table: Contingency, prediction: str, given: tuple[str, ...], factor: str, name: str) -> None:
    """Refuse what no test could say anything about."""
    predictions, levels, strata = (int(codes.max()) + 1 for codes in (table.prediction, table.factor, table.stratum))
    if predictions == 1:
        raise InputError(f"prediction {prediction!r} of {name} has the same value in every row; there is no dependence")
    if strata == 1:
        raise InputError(f"given column {given[0]!r} of {name} has one level only; give rows of at least two")
    if levels == 1:
        raise InputError(f"factor {factor!r} of {name} has one level only; leave it out")
    if table.rows < strata * levels:
        raise InputError(
            f"{name} has {table.rows:,} rows for the {strata * levels:,} cells of {' × '.join(given)} × {factor} "
            f"({strata:,} × {levels:,} levels); give more rows, merge levels, or leave {factor} out"
        )
    if 2 * predictions > table.rows:
        raise InputError(
            f"prediction {prediction!r} of {name} has {predictions:,} values in {table.rows:,} rows, too many to count "
            "how often each occurs; give classes, or numbers, which --bins cuts into at most half as many bins"
        )


def _judged(tested: dict[str, Independence], level: float) -> tuple[FactorTest, ...]:
    """Adjust the p-values by Holm's method, over the factors that can be judged, and judge."""
    judged = sorted((item for item in tested.items() if item[1].varied), key=lambda item: item[1].p_value)
    adjusted, highest = dict.fromkeys(tested, 1.0), 0.0
    for rank, (factor, test) in enumerate(judged):
        highest = max(highest, min(1.0, (len(judged) - rank) * test.p_value))
        adjusted[factor] = highest
    tests = [
        FactorTest(factor, test, adjusted[factor], test.verdict(level, adjusted[factor]))
        for factor, test in tested.items()
    ]
    return tuple(sorted(tests, key=lambda item: (not item.test.varied, item.adjusted > level, -item.test.excess)))
