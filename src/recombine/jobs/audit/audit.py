"""The main job: a design goes in, an `Audit` comes out: verdicts, certificates, checks, forecasts and advice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Unpack

from recombine.design.design import Design, as_design
from recombine.design.targets import place_cell, why_impossible
from recombine.errors import InputError, near_miss
from recombine.jobs.advice.candidates import Collecting
from recombine.jobs.advice.plan import Plan, plan
from recombine.jobs.audit.coverage import Coverage, cover
from recombine.jobs.audit.forecast import Forecast, forecast_under, read_forecast_by
from recombine.jobs.audit.parts import AssumedStructure, Decided, Values, decide
from recombine.jobs.findings.finding import Finding, ResultKind
from recombine.jobs.findings.registry import find_all
from recombine.jobs.limits import AUDIT_LIMITS
from recombine.jobs.outputs import Reported, render, widget
from recombine.writing import listing, printable, written_count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recombine.cells.arrays import IntArray
    from recombine.jobs.advice.candidates import Cell, Costs
    from recombine.jobs.importance import Importance
    from recombine.jobs.structure.choice import Choice
    from recombine.table_spec import ColumnFields
    from recombine.tables.table import Table
    from recombine.theory.identification.certificate import Certificate


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Reported):
    """What the seen cells of a design say about the unseen ones. Make one with `recombine.audit`.

    Examples
    --------
    >>> audit(Design.from_cells([[0, 0], [0, 1], [1, 0]], names=["colour", "shape"]))
    Audit(colour × shape, order 1; 3 of 4 cells seen)
    """

    decided: Decided  #: Which cells are listed, their verdicts, counts and leverages.

    @property
    def design(self) -> Design:
        """The design, with the levels of targets."""
        return self.decided.design

    @property
    def choice(self) -> Choice:
        """The structure that verdicts and values assume, and how it was chosen."""
        return self.decided.choice

    @property
    def order(self) -> int:
        """Most factors that interact in the structure that verdicts assume."""
        return self.choice.order

    @property
    def seed(self) -> int:
        """What fixes every random choice."""
        return self.decided.seed

    @property
    def importance(self) -> Importance | None:
        """How much each cell matters, if that was said."""
        return self.decided.importance

    @cached_property
    def values(self) -> Values:
        """The values that follow, and their ranges."""
        return Values(self.decided)

    @cached_property
    def structure(self) -> AssumedStructure:
        """What is assumed of effects, and whether it holds."""
        return AssumedStructure(self.values)

    @property
    def verdicts(self) -> Table:
        """The listed cells with their verdicts and leverage; given an outcome, the value that follows and its range."""
        return self.values.table

    @cached_property
    def coverage(self) -> Coverage:
        """What the training rows cover."""
        return cover(self.design)

    @cached_property
    def forecast(self) -> Forecast:
        """What networks that are trained on the seen cells will do, if every level is an input of its own."""
        return forecast_under(self.structure)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Numbered findings, worst first."""
        return find_all(self, ResultKind.AUDIT)

    @cached_property
    def answer(self) -> Any:
        """The answer in at most twelve lines: print it, or take its ``lines`` and ``numbers``."""
        return widget(self, "answer", self.plan())

    @property
    def summary(self) -> str:
        """All of the audit as plain text, as ``--full`` prints it."""
        return render(self, "text", self.plan())

    def certificate(self, cell: Cell | int | None = None, /, **levels: object) -> Certificate:
        """Return the signed seen cells that add up to a cell: a row of the verdicts, its levels, or each by its factor.

        Examples
        --------
        >>> design = Design.from_cells([[0, 0], [0, 1], [1, 0]], names=["colour", "shape"])
        >>> print(audit(design).certificate(colour=1, shape=1))
        y(1,1) = y(1,0) + y(0,1) - y(0,0)
        """
        from recombine.jobs.audit.certificates import level_names

        audit, codes = _asked(self, cell, levels)
        if reason := why_impossible(audit.design, codes):
            raise InputError(f"{audit.design.label(codes)} cannot exist: {reason}; ask for a cell that can")
        certificate = audit.decided.identification.certificate_of(tuple(codes.tolist()))
        return replace(certificate, names=level_names(audit.design))

    def explain(self, cell: Cell | int | None = None, /, **levels: object) -> str:
        """Return the verdict of one cell in words: its value, range and certificate, or why there is none."""
        audit, codes = _asked(self, cell, levels)
        return render(audit, "explanation", codes)

    def plan(
        self,
        k: int | None = 5,
        *,
        cost: Costs | None = None,
        forbidden: Sequence[Cell] = (),
        self_pairs: bool = False,
        criterion: Literal["V", "D"] = "V",
    ) -> Plan:
        """Return the next ``k`` cells to collect (None: as many as it takes to determine everything); see `rc.plan`."""
        asked = Collecting(cost=cost, forbidden=forbidden, self_pairs=self_pairs, importance=self.importance)
        engine = self.decided.identification
        proposed = plan(self.design, self.order, k, criterion=criterion, seed=self.seed, identification=engine, **asked)
        if self.decided.opened_by_values:  # a plan joins sums, and does not know what it takes to settle these
            proposed = replace(proposed, needed=None, enough=False)
        return replace(proposed, beyond_curve=self.decided.beyond_curve)

    def compare_models(
        self,
        shares: Sequence[float] = (0.2, 0.5),
        draws: int = 6,
        max_cells: int = AUDIT_LIMITS.max_cells_of_models,
    ) -> Table:
        """Score other models on held-out seen cells, by verdict; see `recombine.jobs.audit.rivals.compare_models`."""
        from recombine.jobs.audit.rivals import compare_models

        return compare_models(self.design, shares, draws, self.order, self.seed, max_cells)

    def plot(self, ax: Any = None, factors: tuple[str, str] | None = None) -> Any:
        """Draw the map of verdicts and return its matplotlib axes: those given as ``ax``, or new ones.

        Of more than two factors, the pair named by ``factors``, or the one whose map varies most.
        """
        return widget(self, "plot", ax, factors)

    def explore(self) -> Any:
        """Return the page of ``recombine explore`` with these cells, a widget for notebooks."""
        return widget(self)

    def __repr__(self) -> str:
        seen = f"{len(self.design.seen):,} of {written_count(self.design.possible.count)} cells seen"
        shape = f", order {self.order}" if self.choice.structure.is_sum else f", {self.choice.name}"
        return printable(f"Audit({' × '.join(self.design.space.columns)}{shape}; {seen})")


def _asked(audit: Audit, cell: Cell | int | None, levels: Mapping[str, object]) -> tuple[Audit, IntArray]:
    """Return the codes of a cell and the audit that knows its levels: a new one if it has a new value on a scale."""
    if (cell is None) == (not levels):
        raise InputError("which cell? Give a row of the verdicts, a list of levels, or each level by its factor")
    names = dict.fromkeys((*audit.design.space.columns, *audit.design.names))
    if wrong := [name for name in levels if name not in names]:
        raise InputError(f"{wrong[0]!r} is not a factor;{near_miss(wrong[0], names, f'factors: {listing(names)}')}")
    if isinstance(cell, int):
        return audit, audit.decided.listing.cells[cell]
    design, codes = place_cell(audit.design, levels if cell is None else cell)
    if design is audit.design:
        return audit, codes
    return Audit(decide(design, None, audit.order, seed=audit.seed)), codes


def audit(
    data: object,
    order: int | None = None,
    *,
    structure: str | None = None,
    targets: object = None,
    new_levels: bool = False,
    importance: object = None,
    seed: int = 0,
    forecast: str = "auto",
    split: str | None = None,
    **fields: Unpack[ColumnFields],
) -> Audit:
    """Audit a table: which unseen cells do the seen ones determine, how will models miss them, what to collect next?

    Parameters
    ----------
    data : path, dataframe or Design
        The table, as `Design.from_frame` takes it, or the design of one.
    order : int, optional
        Largest number of factors that interact in the assumed model; 1 means effects add. By default that of the
        chosen structure.
    structure : str, optional
        What effects do; by default as the design's spec says, else ``auto``. That scores the structures which the data
        can carry on held-out seen cells and chooses the simplest good one; or a name of
        `recombine.theory.structures.STRUCTURES`, such as ``link`` or ``pairs``.
    targets : path or dataframe, optional
        Cells to judge, one column per factor; by default every unseen cell of the product.
    new_levels : bool
        Accept target levels that the table does not have; their verdict is `unseen level`.
    importance : path, dataframe, (table, column) or Importance, optional
        How much each cell matters; see `recombine.jobs.read_importance`. By default as the design's spec says.
    seed : int
        Fixes every random choice.
    forecast : str
        Who says what models will do: the ``theory`` alone; ``auto``, on tables of up to some thousand cells, networks
        and other models that are trained besides, within seconds; or ``trained``, all of them however long that takes.
    split : str, optional
        Of a table, which rows were trained on: ``"part=train"``.
    **fields
        Of a table, how it is read: ``factors``, ``outcome``, ``weight`` and so on, those of `recombine.TableSpec`.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"colour": ["red", "red", "blue"], "shape": ["cube", "ball", "cube"]})
    >>> audit(frame, factors=["colour", "shape"]).verdicts
    colour  shape  verdict     leverage
    blue    ball   determined  3.0
    """
    forecast, design = read_forecast_by(forecast), as_design(data, split, fields)
    return Audit(decide(design, structure, order, targets, new_levels, importance, seed, forecast))
