"""What a paper is to this package: panels, experiments, claims that read them, figures; and which papers there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from recombine.errors import InputError, near_miss
from recombine.lab.papers.standing import Outcome, Standing
from recombine.writing import listing

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from recombine.lab.papers.claims import Claim
    from recombine.lab.papers.results import Evidence
    from recombine.lab.runs.experiment import Experiment
    from recombine.tables.table import Table


#: Verdicts of claims that were put to a test; of an undecided one the numbers are shown, and the answer is open.
JUDGED = (Standing.HOLDS, Standing.FAILS, Standing.CONTRADICTS, Standing.UNDECIDED)


@dataclass(frozen=True)
class Plot:
    """A figure of a paper's results, before it is drawn.

    ``draw`` is plain matplotlib: it is handed an empty canvas under the package's theme, whose colour cycle tells lines
    apart by colour, dash and marker, and the table that ``table`` made.

    Parameters
    ----------
    name : str
        For ids and file names.
    title, caption : str
    experiments : tuple of str
        Experiments without which there is nothing to draw.
    table : callable
        Results by experiment name -> the numbers shown.
    draw : callable
        Canvas and table -> None.
    alternative : callable
        Table -> the figure in a sentence, for those who do not see it.
    height : int
        In pixels.
    optional : tuple of str
        Experiments that are shown as well when they have results.

    Examples
    --------
    >>> plot = Plot("demo", "Demo", "", ("runs",), lambda results: results["runs"].table, print, str)
    >>> plot.drawable({})
    False
    """

    name: str
    title: str
    caption: str
    experiments: tuple[str, ...]
    table: Callable[[Mapping[str, Evidence]], Table]
    draw: Callable[[Canvas, Table], None]
    alternative: Callable[[Table], str]
    height: int = 340
    optional: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Plot({self.name!r} of {', '.join(self.experiments)})"

    def drawable(self, results: Mapping[str, Evidence]) -> bool:
        """Say whether the experiments it needs have results."""
        return all(name in results for name in self.experiments)


@dataclass(frozen=True)
class PaperPanel:
    """A statement, theorem or panel of a paper.

    Parameters
    ----------
    where : str
        ``"Figure 3a"``, ``"Proposition 2"``, ``"Section 5.1"``.
    what : str
        What it says or shows, in a few words.
    claims : tuple of str
        Numbers of the claims that judge it; none where nothing does.
    missing : str
        What is not judged of it, or why nothing is.

    Examples
    --------
    >>> panel = PaperPanel("Figure 3a", "A trains faster", ("2",))
    >>> panel.judged({"2": Outcome(Standing.HOLDS)}), panel.judged({"2": Outcome.not_run("")})
    (True, False)
    """

    where: str
    what: str
    claims: tuple[str, ...] = ()
    missing: str = ""

    def judged(self, outcomes: Mapping[str, Outcome]) -> bool:
        """Say whether a claim put it to a test; ``outcomes`` are by the claims' numbers."""
        return any(outcomes[number].verdict in JUDGED for number in self.claims)


def coverage(panels: Sequence[PaperPanel], outcomes: Mapping[str, Outcome]) -> str:
    """Return in a sentence how much of a paper is judged.

    Examples
    --------
    >>> panels = [PaperPanel("Figure 1", "a bar", ("1",)), PaperPanel("Figure 2", "a curve", (), "needs a GPU")]
    >>> coverage(panels, {"1": Outcome(Standing.HOLDS)})
    '1 of 2 statements and panels of the paper is judged; tallies count claims, which may share or span panels.'
    """
    judged = sum(panel.judged(outcomes) for panel in panels)
    verb = "is" if judged == 1 else "are"
    counted = f"{judged} of {len(panels)} statements and panels of the paper {verb} judged"
    return f"{counted}; tallies count claims, which may share or span panels."


@dataclass(frozen=True)
class Paper:
    """A paper, ready to be reproduced. Its claims, experiments and figures are imported when first asked for.

    Parameters
    ----------
    name : str
        Short name, as in ``recombine reproduce NAME``.
    title, citation : str
    package : str
        Where its ``claims.CLAIMS``, ``checklist.CHECKLIST``, ``grids.EXPERIMENTS`` and ``figures.FIGURES`` stand.
    words : mapping of str to str
        What abbreviations in its claims and captions stand for; the report spells them out.

    Examples
    --------
    >>> paper = Paper("demo", "A demo", "Nobody, 2025", "recombine.lab.papers.kernel_theory")
    >>> paper.claims[0].number
    '1'
    """

    name: str
    title: str
    citation: str
    package: str
    words: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Paper({self.name!r}, {self.citation})"

    @cached_property
    def experiments(self) -> Sequence[Experiment]:
        """Every experiment."""
        experiments: Sequence[Experiment] = import_module(f"{self.package}.grids").EXPERIMENTS
        return experiments

    @cached_property
    def claims(self) -> Sequence[Claim]:
        """Every claim, in the order of their numbers."""
        claims: Sequence[Claim] = import_module(f"{self.package}.claims").CLAIMS
        return claims

    @cached_property
    def checklist(self) -> Sequence[PaperPanel]:
        """What the paper states and shows, each with the claims that judge it."""
        checklist: Sequence[PaperPanel] = import_module(f"{self.package}.checklist").CHECKLIST
        return checklist

    @cached_property
    def figures(self) -> Sequence[Plot]:
        """Every figure, in the order they are shown."""
        figures: Sequence[Plot] = import_module(f"{self.package}.figures").FIGURES
        return figures

    @property
    def by_name(self) -> dict[str, Experiment]:
        """Experiments by their name within the paper."""
        return {experiment.name.rpartition("/")[2]: experiment for experiment in self.experiments}

    def claim(self, name: str) -> Claim:
        """Return a claim by id or by number alone."""
        for claim in self.claims:
            if name in (claim.id, claim.number):
                return claim
        numbers = [claim.number for claim in self.claims]
        claims = f"Claims: {listing(numbers, len(numbers))}"
        raise InputError(f"{name!r} is not a claim of {self.name};{near_miss(name, numbers, claims)}")

    def chosen(self, only: Sequence[str] = ()) -> list[Claim]:
        """Return the claims named in ``only``, or all; 13 stands for 13a and 13b."""
        if not only:
            return list(self.claims)
        by_number = {number: [claim for claim in self.claims if str(claim.place[0]) == number] for number in only}
        claims = [claim for number in only for claim in by_number[number] or [self.claim(number)]]
        return list({claim.id: claim for claim in claims}.values())


def available() -> dict[str, Paper]:
    """Return every paper by its short name.

    Examples
    --------
    >>> available()["kernel-theory"].citation
    'Lippl and Stachenfeld, ICLR 2025'
    """
    modules = (
        import_module(f"recombine.lab.papers.{module_info.name}")
        for module_info in iter_modules([str(Path(__file__).parent)])
        if module_info.ispkg
    )
    papers = [module.PAPER for module in modules if isinstance(getattr(module, "PAPER", None), Paper)]
    return {paper.name: paper for paper in sorted(papers, key=lambda paper: paper.name)}


def find(name: str) -> Paper:
    """Return one paper, or say which there are.

    Examples
    --------
    >>> find("kernel-theory").name
    'kernel-theory'
    """
    papers = available()
    if name not in papers:
        raise InputError(f"{name!r} is not a paper;{near_miss(name, papers, f'Papers: {listing(papers)}')}")
    return papers[name]
