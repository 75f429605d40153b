"""The structure that an audit assumes: the one that was asked for, or the simplest good one on held-out seen cells."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.brief import brief_repr
from recombine.checks import known_or_refuse
from recombine.design.design import Design
from recombine.errors import InputError
from recombine.theory.structures.chances import TwoValuedFit
from recombine.theory.structures.ladder import ORDERS, STRUCTURES, Fitted, Ladder, fit_structure, ladder, written_share
from recombine.theory.structures.link import LinkFit
from recombine.theory.structures.products import LogFit
from recombine.theory.structures.terms import terms_of

if TYPE_CHECKING:
    from recombine.theory.structures.existence import Existence

#: Structures whose effects add on the outcome's own scale, by order: their values are sums of seen outcomes.
SUMS = {1: "add", 2: "pairs", 3: "triples"}
#: Fewer seen cells than this do not tell structures apart.
FEWEST_COMPARED = 30
#: Seen cells on which structures are compared at most; the chosen one is fitted to all.
COMPARED = 60_000
#: Terms under a curve up to which it is tried unasked: its fit takes their number cubed, forty times.
MOST_BENT = 1_200
#: Terms of pairs or triples up to which they are tried unasked.
MOST_TERMS = 20_000
#: What each structure says that effects do, as a condition: "if effects add".
ASSUMED = {
    "add": "effects add",
    "logit": "effects add on log odds",
    "log": "effects add on the outcome's logarithm",
    "multiplicative": "effects multiply",
    "link": "effects add on a curved scale",
    "pairs": "effects add up to interactions of 2 factors",
    "link-pairs": "effects add up to interactions of 2 factors, on a curved scale",
    "triples": "effects add up to interactions of 3 factors",
}


@dataclass(frozen=True, eq=False)
class Choice:
    """The structure that verdicts and values assume; make one with `choose_structure`.

    Attributes
    ----------
    name : str
    order : int
        Factors in its largest conjunctions: verdicts are decided at this order.
    ladder : Ladder or None
        All structures that were scored on held-out seen cells; None where none was.
    fit : Fitted or None
        The structure fitted to all seen cells, where it is not a sum on the outcome's own scale.
    places : int array of shape (H,)
        Which seen cells were held out to score it.
    predicted : float array of shape (H,)
        Their values, each from fits that did not see it.
    asked : bool
        Whether the user named it.
    obstacle : str
        Why nothing was compared; empty if something was.
    untried : tuple of str
        Structures that might hold and were not scored: the table has too few cells for them, or they take too long.
    """

    name: str
    order: int
    ladder: Ladder | None = None
    fit: Fitted | None = None
    places: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)
    predicted: FloatArray = field(default_factory=lambda: np.zeros(0), repr=False)
    asked: bool = False
    obstacle: str = ""
    untried: tuple[str, ...] = ()

    __repr__ = brief_repr

    @property
    def curved(self) -> bool:
        """Whether values are not sums of seen outcomes."""
        return self.fit is not None

    @property
    def assumption(self) -> str:
        """What verdicts assume, as a condition.

        Examples
        --------
        >>> Choice("add", 1).assumption, Choice("order 4", 4).assumption
        ('effects add', 'effects add up to interactions of 4 factors')
        """
        plain = "effects add" if self.order == 1 else f"effects add up to interactions of {self.order} factors"
        return ASSUMED.get(self.name, plain)

    @property
    def by_likelihood(self) -> bool:
        """Whether values are chances or means of counts, fitted by likelihood."""
        return self._existence is not None

    @property
    def _existence(self) -> Existence | None:
        # Asked by name: the package of likelihoods loads slowly, and few tables need it.
        fit = self.fit.chances if isinstance(self.fit, TwoValuedFit) else self.fit
        return getattr(fit, "existence", None)

    def beyond(self, cells: IntArray) -> BoolArray:
        """Say for each of ``cells`` (N, C) whether its sum lies beyond those of all seen cells on a curved scale."""
        if not isinstance(self.fit, LinkFit):
            return np.zeros(len(cells), dtype=bool)
        return self.fit.beyond(cells)

    def predict(self, cells: IntArray) -> FloatArray:
        """Return the values of ``cells`` (N, C) where they are not sums of seen outcomes, (N,); NaN where open."""
        assert self.fit is not None
        return self.fit.predict(cells)

    def sums(self, cells: IntArray) -> FloatArray | None:
        """Return the sums of effects of ``cells`` (N, C) on the scale on which they add, (N,); None if not at hand."""
        if isinstance(self.fit, LinkFit):
            return self.fit.latent(cells)
        return self.fit.logarithms.predict(cells) if isinstance(self.fit, LogFit) else None

    def limit_of(self, cell: IntArray) -> str:
        """Say at which limit the chance or mean of ``cell`` (C,) is determined, such as one; empty where it is none."""
        if self._existence is None:
            return ""
        from recombine.theory.structures.existence import Limit

        limit = Limit(int(self._existence.limits_of(cell[None])[0]))
        return "" if limit is Limit.FINITE else limit.word

    @property
    def statement(self) -> str:
        """What the comparison of structures found, in words; empty where nothing was compared."""
        found = self.ladder
        if found is None:
            return "" if not self.obstacle else f"Structures were not compared: {self.obstacle}."
        text = str(found)
        rungs = ", ".join(f"{rung.name} {written_share(rung.r2)}" for rung in found.structures)
        if len(found.structures) == 1:
            return f"{text[0].upper()}{text[1:]} (share of the variance of {found.chosen.cells:,} held-out seen cells)."
        how = "the simplest within one standard error of the best"
        return (
            f"{text[0].upper()}{text[1:]}: chosen as {how} on {found.chosen.cells:,} held-out seen cells "
            f"(share of their variance: {rungs}).{self._untried}"
        )

    @property
    def _untried(self) -> str:
        """Which structures were not tried, and how to try one."""
        if not self.untried:
            return ""
        return f" Not tried for want of cells or of time: {', '.join(self.untried)}; --structure asks for one."


def choose_structure(
    design: Design,
    structure: str = "auto",
    order: int | None = None,
    *,
    variance: FloatArray | None = None,
    seed: int = 0,
) -> Choice:
    """Choose what an audit of ``design`` assumes.

    Parameters
    ----------
    design : Design
    structure : str
        A name, or ``auto``: the structures that the data can carry are scored on held-out seen cells, and the simplest
        within one standard error of the best is chosen.
    order : int, optional
        Only structures with conjunctions of so many factors.
    variance : float array of shape (N,), optional
        Of the noise of each seen cell's outcome, where it is known.
    seed : int

    Examples
    --------
    >>> cells = np.indices((6, 6, 6)).reshape(3, -1).T
    >>> choose_structure(Design.from_cells(cells, outcome=np.tanh(cells.sum(axis=1) / 3 - 2.5))).name
    'link'
    >>> choose_structure(Design.from_cells(cells)).name
    'add'
    """
    known_or_refuse(structure, "structure", ("auto", *STRUCTURES))
    asked = structure != "auto"
    if order is not None and not isinstance(order, int | np.integer):
        raise InputError(f"order {order!r} is not a whole number; give 1, 2 or 3")
    depth = ORDERS.get(structure, 1) if asked else 1 if order is None else order
    if asked and order not in (None, depth):
        raise InputError(f"structure {structure} is of order {depth}, not {order}; leave one of the two out")
    if not 1 <= depth <= len(design.factors):
        if asked:
            raise InputError(f"structure {structure} takes {depth} factors and there are {len(design.factors)}")
        raise InputError(f"order {depth} does not fit {len(design.factors)} factors; choose 1 to {len(design.factors)}")
    plain = structure if asked else SUMS.get(depth, f"order {depth}")
    if design.outcome is None:
        if asked and structure not in SUMS.values():
            raise InputError(f"structure {structure} needs an outcome; name its column with --outcome")
        return Choice(plain, depth, asked=asked)
    if any(scale is not None for scale in design.scales):
        if asked and structure not in SUMS.values():
            raise InputError(f"structure {structure} takes labels, not ordered or numeric factors; ask for a sum: add")
        return Choice(plain, depth, asked=asked, obstacle="ordered and numeric factors are on scales of their own")
    tried = [structure] if asked else [name for name in STRUCTURES if order in (None, ORDERS.get(name, 1))]
    if not tried:
        return Choice(plain, depth, obstacle=f"none has conjunctions of {depth} factors")
    if len(design.seen) < FEWEST_COMPARED and plain in SUMS.values():
        few = f"there are {len(design.seen)} seen cells, and it takes {FEWEST_COMPARED} to tell structures apart"
        return Choice(plain, depth, asked=asked, obstacle=few)
    return _compared(design, tried, plain, depth, asked, variance, seed)


def _compared(
    design: Design, tried: list[str], plain: str, depth: int, asked: bool, variance: FloatArray | None, seed: int
) -> Choice:
    """Score the structures, on part of the cells where there are very many, and fit the chosen one to all."""
    scaled = _Scaled(design)
    names = tried if asked else [name for name in tried if scaled.carries(name)]
    some = scaled.some(seed)
    try:
        found = ladder(
            design.seen[some],
            scaled.outcome[some],
            variance=None if variance is None else variance[some] / scaled.width**2,
            counts=scaled.counts[some],
            symmetric=design.symmetric,
            structures=names,
            seed=seed,
            all_cells=None if len(some) == len(design.seen) else (design.seen, scaled.outcome, scaled.counts),
        )
    except InputError as error:
        if asked and plain not in SUMS.values():
            raise InputError(f"structure {plain} does not fit this table: {error}") from None
        return Choice(plain, depth, asked=asked, obstacle=str(error).partition(";")[0])
    name = found.chosen.name
    held = np.flatnonzero(np.isfinite(found.predicted))
    fit = None if name in SUMS.values() else scaled.own(name, found.fit)
    left = [] if asked else [one for one in tried if ORDERS.get(one, 1) > 1 or one.startswith("link")]
    left = [one for one in left if ORDERS.get(one, 1) < len(design.factors) and found.at(one) is None]
    out = scaled.back(found.predicted[held])
    return Choice(name, ORDERS.get(name, 1), found, fit, some[held], out, asked, untried=tuple(left))


class _Scaled:
    """The seen outcomes as structures take them: chances for an outcome of two values, others as they are."""

    def __init__(self, design: Design) -> None:
        assert design.outcome is not None
        self.design, self.two = design, design.two_values
        low, high = self.two or (0.0, 1.0)
        self.low, self.width = low, high - low
        self.outcome: FloatArray = (design.outcome[design.train] - low) / self.width
        self.counts: FloatArray = design.precision[design.train]
        self.levels = sum(design.sizes)

    def some(self, seed: int) -> IntArray:
        """Return places of the cells on which structures are compared."""
        count = len(self.outcome)
        if count <= COMPARED:
            return np.arange(count)
        return np.sort(np.random.default_rng(seed).permutation(count)[:COMPARED])

    def carries(self, name: str) -> bool:
        """Say whether to try a structure that nobody asked for."""
        if self.two is None:
            if name == "logit":
                return False
        elif name in ("log", "multiplicative"):
            return False
        depth, bent = ORDERS.get(name, 1), name.startswith("link")
        if depth == 1:
            return not bent or self.levels <= MOST_BENT
        if depth >= len(self.design.factors) or self._conjunctions(depth) > 8 * MOST_TERMS:
            return False
        try:
            columns = terms_of(self.design.seen, depth, symmetric=self.design.symmetric).columns
        except InputError:
            return False
        return columns <= (MOST_BENT if bent else MOST_TERMS)

    def _conjunctions(self, depth: int) -> float:
        return float(self.levels) ** depth / (2.0 if depth == 2 else 6.0)

    def back(self, values: FloatArray) -> FloatArray:
        """Return values (N,) on the outcome's own scale."""
        return self.low + self.width * values

    def own(self, name: str, fit: Fitted) -> Fitted:
        """Return the fit of a structure with values on the outcome's own scale."""
        if (self.low, self.width) == (0.0, 1.0):
            return fit
        if name == "logit":
            return TwoValuedFit(fit, self.low, self.width)
        seen, outcome = self.design.seen, self.back(self.outcome)
        return fit_structure(name, seen, outcome, counts=self.counts, symmetric=self.design.symmetric)
