"""Claims: what a paper says, as data. A claim names the rows it reads, what is measured on them, and bounds for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from string import ascii_lowercase
from typing import TYPE_CHECKING, Literal, get_args

from recombine.errors import InputError, RecombineError
from recombine.lab.papers.bounds import Bound, ByScale
from recombine.lab.papers.measured import Measured, MissingRowsError, Size
from recombine.lab.papers.standing import Outcome, Part, Standing
from recombine.lab.papers.values import text_of
from recombine.tables.table import Table
from recombine.writing import listing

if TYPE_CHECKING:
    from recombine.lab.papers.results import Evidence

#: Where all bounds are the paper's and something stood in for its data, or all belong to other scales.
NOTHING_ASKED = "no bound is for results of this kind"

#: Whose a statement is: in the paper's text or figures, in files its authors released, a consequence of these, ours.
Says = Literal["paper", "authors' files", "follows from the paper", "ours"]
SAYS: tuple[Says, ...] = get_args(Says)

Bounds = Mapping[str, Bound | ByScale]
Measure = Callable[[Table], Measured]


@dataclass(frozen=True)
class Statement:
    """What is said, by whom and where, and how the page shows it.

    Parameters
    ----------
    number : str
        Within the paper: ``"4"``, ``"13b"``.
    statement : str
        What is claimed, in one sentence a newcomer understands.
    says : {"paper", "authors' files", "follows from the paper", "ours"}
        Whose statement it is. Statements of ours never count as the paper's.
    source : str
        Where it is said, so that a reader can find it: theorem, or figure and panel of a version of the paper.
    reads : str
        Name of the experiment whose rows are read.
    exploratory : bool
        Whether the statement or its bounds were written after seeing the data, so that it is no test.
    moved : str
        What a bound was before it was moved, and why.
    risk : str
        What could make the verdict wrong, in a line. Measured numbers stand in it by their names in braces, such as
        ``"{networks} networks per set"``, so that they follow the rows.
    theme : str
        Under which heading of the page it stands.
    figure : str or tuple of str
        Names of the figures that show it.
    paper : str
        Short name of the paper.
    """

    number: str
    statement: str
    says: Says
    source: str
    reads: str
    _: KW_ONLY
    exploratory: bool = False
    moved: str = ""
    risk: str = ""
    theme: str = ""
    figure: str | tuple[str, ...] = ()
    paper: str = ""

    @property
    def id(self) -> str:
        """Paper and number: ``"kernel-theory/4"``."""
        return f"{self.paper}/{self.number}"

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of the figures that show it."""
        return (self.figure,) if isinstance(self.figure, str) else self.figure

    @property
    def ours(self) -> bool:
        """Whether it is a statement of ours."""
        return self.says == "ours"

    @property
    def place(self) -> tuple[int, str]:
        """What to sort by: 2a before 2b before 10."""
        digits = self.number.rstrip(ascii_lowercase)
        return int(digits), self.number.removeprefix(digits)


@dataclass(frozen=True)
class Claim(Statement):
    """A statement that can fail: what is measured on the rows it reads, and bounds for that.

    Parameters
    ----------
    measure : callable
        Rows -> `Measured`: named numbers, and how they came about.
    expect : mapping of str to Bound
        What the statement asks of the numbers.
    published : mapping of str to Bound
        Numbers of the paper, asked for only where nothing stood in for its data.
    contradicted : mapping of str to Bound
        The claim contradicts the paper if all of these hold.
    means : str
        What a contradiction means, in a sentence.
    incomparable : str
        Why what we can run cannot decide the statement; then numbers are shown and nothing is judged.
    size : Size, optional
        How much the paper ran of the experiment, where that is known.

    Examples
    --------
    >>> from recombine.lab.papers.bounds import Above
    >>> def margins(rows):
    ...     return Measured({"smallest margin": rows["margin"].min()}, f"{len(rows)} fits")
    >>> claim = Claim("1", "Margins are positive.", "ours", "", "fits", margins, {"smallest margin": Above(0)})
    >>> outcome = claim.read(Table({"margin": [0.2, 0.5]}))
    >>> outcome.verdict, outcome.value, claim.expected
    (<Standing.HOLDS: 'holds'>, 'smallest margin: 0.2', 'smallest margin above 0')
    >>> claim.judge({}).verdict
    <Standing.NOT_RUN: 'not run'>
    """

    measure: Measure
    expect: Bounds = field(default_factory=dict)
    published: Bounds = field(default_factory=dict)
    contradicted: Bounds = field(default_factory=dict)
    means: str = ""
    incomparable: str = ""
    size: Size | None = None

    def __post_init__(self) -> None:
        if self.says not in SAYS:
            raise RecombineError(f"claim {self.number} is said by {self.says!r}, which is none of {listing(SAYS)}")
        if self.contradicted and self.says == "ours":
            raise RecombineError(f"claim {self.number} is a statement of ours, which cannot contradict the paper")

    def __repr__(self) -> str:
        return f"Claim({self.id!r}, reads {self.reads!r})"

    def risk_of(self, outcome: Outcome) -> str:
        """Return what could make a verdict wrong, with the numbers that were measured."""
        values = {entry.name: entry.value for entry in outcome.parts}
        if not values:  # nothing was measured, and a sentence about numbers would have none
            return "" if "{" in self.risk else self.risk
        try:
            return self.risk.format_map(values)
        except KeyError as error:
            raise RecombineError(
                f"the risk of claim {self.id} names {error}, but it measures {listing(values)}"
            ) from None

    @property
    def expected(self) -> str:
        """All bounds in one line."""
        listed = [f"{name} {bound}" for name, bound in {**self.expect, **self.published}.items()]
        against = " and ".join(f"{name} {bound}" for name, bound in self.contradicted.items())
        return "; ".join([*listed, *([f"contradicted if {against}"] if against else [])])

    def read(self, rows: Table) -> Outcome:
        """Measure the rows of one experiment, and judge; ``not run`` where rows that are needed are missing."""
        if not len(rows):
            return Outcome.not_run(f"the results of {self.reads!r} have no rows")
        try:
            return self.weigh(self.measure(rows))
        except MissingRowsError as error:
            return Outcome.not_run(str(error))
        except InputError as error:
            raise RecombineError(
                f"the results of {self.reads!r} do not fit claim {self.id}: {error}; run the experiment again"
            ) from error

    def weigh(self, measured: Measured) -> Outcome:
        """Judge numbers that were measured."""
        bounds = self._asked(measured)
        holding = {name: bound.holds(measured.numbers[name]) for name, bound in bounds.items()}
        parts = tuple(self._part(name, bounds, holding, measured) for name in measured.numbers)
        note = "direction only" if measured.stands_in else measured.note
        detail = _joined("; ", measured.detail, measured.stands_in)
        outcome = Outcome(Standing.HOLDS, parts, detail, note=note)
        if self.incomparable:
            return replace(outcome, verdict=Standing.NOT_COMPARABLE, detail=_joined(". ", self.incomparable, detail))
        against = self._chosen(self.contradicted, measured)
        # A bound that does not speak at this scale cannot bear witness against the paper.
        if against.keys() == self.contradicted.keys() != set() and all(
            bound.holds(measured.numbers[name]) for name, bound in against.items()
        ):
            return replace(outcome, verdict=Standing.CONTRADICTS, detail=_joined(". ", detail, self.means))
        if not holding:
            return replace(outcome, verdict=Standing.UNDECIDED, detail=_joined("; ", NOTHING_ASKED, detail))
        if False in holding.values():
            return replace(outcome, verdict=Standing.FAILS)
        if None in holding.values():
            return replace(outcome, verdict=Standing.UNDECIDED, detail=_joined("; ", "too few seeds to tell", detail))
        return outcome

    def _asked(self, measured: Measured) -> dict[str, Bound]:
        """Return what is asked of these numbers: less where something stood in for the paper's data."""
        return self._chosen(self.expect if measured.stands_in else {**self.expect, **self.published}, measured)

    def _chosen(self, bounds: Bounds, measured: Measured) -> dict[str, Bound]:
        """Return the bounds that hold at the scale of the numbers."""
        unknown = next((name for name in bounds if name not in measured.numbers), None)
        if unknown is not None:
            raise RecombineError(f"claim {self.id} asks for {unknown!r}, but measures {listing(measured.numbers)}")
        chosen = {name: bound.at(measured.scale) for name, bound in bounds.items()}
        return {name: bound for name, bound in chosen.items() if bound is not None}

    def _part(
        self, name: str, bounds: Mapping[str, Bound], holding: Mapping[str, bool | None], measured: Measured
    ) -> Part:
        value = measured.numbers[name]
        if name in bounds:
            return Part(name, bounds[name].shown(value), str(bounds[name]), holding[name])
        against = self._chosen(self.contradicted, measured).get(name)
        if against is None:
            return Part(name, text_of(value))
        return Part(name, against.shown(value), str(against), asks=False)

    def judge(self, results: Mapping[str, Evidence]) -> Outcome:
        """Check against the results at hand; ``not run`` where the experiment has none."""
        if self.reads not in results:
            return Outcome.not_run(f"no results of {self.reads!r}")
        evidence = results[self.reads]
        try:
            outcome = self.read(evidence.table)
        except (LookupError, ValueError, ArithmeticError):
            # A reading may look for rows of units that were not run; where all of them were, it is a defect.
            if not evidence.provenance.planned:
                raise
            outcome = Outcome.not_run(f"the runs of {self.reads!r} that are at hand do not decide it")
        large = evidence.scale != "quick"
        extent = self.size.said(evidence.table) if self.size and large else evidence.extent
        return replace(outcome, scale=evidence.scale, extent=extent)


def _joined(between: str, *texts: str) -> str:
    return between.join(text for text in texts if text)


def claims(paper: str, *listed: Claim) -> tuple[Claim, ...]:
    """Return the claims of a paper in the order of their numbers.

    Examples
    --------
    >>> def nothing(rows):
    ...     return Measured({})
    >>> [claim.id for claim in claims("demo", *(Claim(n, "", "ours", "", "", nothing) for n in ("10", "2b", "2a")))]
    ['demo/2a', 'demo/2b', 'demo/10']
    """
    return tuple(sorted((replace(claim, paper=paper) for claim in listed), key=lambda claim: claim.place))
