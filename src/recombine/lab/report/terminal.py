"""Papers and their claims in the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recombine.lab.papers.paper import Paper
from recombine.lab.papers.standing import Outcome, Standing
from recombine.writing import plural

if TYPE_CHECKING:
    from rich.table import Table as Grid

    from recombine.lab.papers.claims import Claim
    from recombine.lab.papers.record import Recorded
    from recombine.lab.papers.reproduce import Reproduction
    from recombine.lab.runs.collect import Merged

#: Colour supports the symbol, it never replaces it.
STYLES = {
    Standing.HOLDS: "green",
    Standing.FAILS: "bold red",
    Standing.CONTRADICTS: "yellow",
    Standing.NOT_COMPARABLE: "dim",
    Standing.UNDECIDED: "dim",
    Standing.NOT_RUN: "dim",
}
#: Over the statements of each kind.
HEADINGS = {
    "paper": "What the paper says",
    "authors' files": "What its authors' files say",
    "follows from the paper": "What follows from the paper",
    "ours": "Ours",
}
#: How the statements of each kind are called, one and many.
WHOSE = {
    "paper": ("statement of the paper", "statements of the paper"),
    "authors' files": ("of its authors' files", "of its authors' files"),
    "follows from the paper": ("that follows from it", "that follow from it"),
    "ours": ("of ours", "of ours"),
}

#: Of claims that are no tests.
AFTER = "written after the data"
#: Of claims whose bound is no longer the first one.
MOVED = "bound moved since"
#: Verdicts in a tally, of one claim and of many.
TALLY_WORDS = {
    Standing.HOLDS: ("holds", "hold"),
    Standing.FAILS: ("fails", "fail"),
    Standing.CONTRADICTS: ("contradicted", "contradicted"),
    Standing.NOT_COMPARABLE: ("not comparable", "not comparable"),
    Standing.UNDECIDED: ("undecided", "undecided"),
    Standing.NOT_RUN: ("not run", "not run"),
}
#: What is counted where a grid was run in part.
RUN = "a part of an experiment that is trained or computed, and stored, by itself"


def claim_grid(state: Reproduction, running: str | None = None, *, brief: bool = False) -> Grid:
    """Return the table of claims; ``brief`` leaves out statements and bounds, so that a live table fits a screen."""
    from rich.markup import escape
    from rich.table import Table as Grid

    grid = Grid(box=None, pad_edge=False, header_style="bold")
    grid.add_column("claim", no_wrap=True)
    for name in ("measured",) if brief else ("statement", "measured (what was expected)"):
        grid.add_column(name, no_wrap=brief, overflow="ellipsis" if brief else "fold")
    grid.add_column("verdict", no_wrap=True)
    grid.add_column("run", overflow="fold", max_width=24)
    outcomes, headed = state.outcomes, set[str]()
    for claim in sorted(state.claims, key=lambda claim: list(WHOSE).index(claim.says)):
        if not brief and claim.says not in headed:
            headed.add(claim.says)
            grid.add_row("", f"[bold]{HEADINGS[claim.says]}[/bold]")
        outcome = outcomes[claim.id]
        word = "running ..." if claim.reads == running else verdict_text(outcome.verdict)
        cells = (outcome.value,) if brief else (_plain(claim.statement), "\n".join(beside_bounds(claim, outcome)))
        run = "; ".join(text for text in (outcome.run, AFTER if claim.exploratory else "") if text)
        grid.add_row(claim.number, *(escape(cell) for cell in cells), word, run)
    return grid


def _plain(text: str) -> str:
    """Formulas between dollars as one would type them."""
    return re.sub(r"\$([^$]+)\$", lambda formula: re.sub(r"[{}]", "", formula[1]), text)


def beside_bounds(claim: Claim, outcome: Outcome) -> list[str]:
    """Return a line per measured number, beside its bound; what is expected where nothing was measured.

    Examples
    --------
    >>> from recombine.lab.papers import find
    >>> beside_bounds(find("kernel-theory").claim("1"), Outcome.not_run(""))
    ['expected: largest interaction below 1e-9; without the structure above 0.001']
    """
    if not outcome.parts:
        return [f"expected: {claim.expected}"] if claim.expected else []
    return [str(entry) for entry in outcome.parts]


def verdict_text(verdict: Standing) -> str:
    """Return symbol and word, with markup.

    Examples
    --------
    >>> verdict_text(Standing.HOLDS)
    '[green]✓ holds[/green]'
    """
    style = STYLES[verdict]
    return f"[{style}]{verdict.symbol} {verdict.value}[/{style}]"


@dataclass(frozen=True)
class Tallied:
    """What a tally counts of a claim: whose it is, where it stands, and what weakens it as a test."""

    says: str
    standing: Standing
    exploratory: bool = False
    moved: bool = False

    @classmethod
    def of(cls, claim: Claim, standing: Standing) -> Tallied:
        """Return what is counted of a claim."""
        return cls(claim.says, standing, claim.exploratory, bool(claim.moved))


def by_whose(claims: Iterable[Tallied | Recorded]) -> dict[str, list[Tallied | Recorded]]:
    """Return claims by whose they are, the paper's own first and ours apart."""
    listed = list(claims)
    grouped = {says: [claim for claim in listed if claim.says == says] for says in WHOSE}
    return {says: members for says, members in grouped.items() if members}


def tally_by_whose(claims: Iterable[Tallied | Recorded]) -> str:
    """Return how many claims stand where, the paper's own first and ours apart.

    Examples
    --------
    >>> tally_by_whose([Tallied("ours", Standing.FAILS), Tallied("paper", Standing.HOLDS, exploratory=True)])
    '1 statement of the paper: 1 holds (written after the data). 1 of ours: 1 fails'
    """
    return ". ".join(
        f"{len(members)} {WHOSE[says][len(members) != 1]}: {tally(members)}"
        for says, members in by_whose(claims).items()
    )


def tally(claims: Iterable[Tallied | Recorded]) -> str:
    """Return how many claims stand where, and how many of these were written, or had a bound moved, after the data.

    Examples
    --------
    >>> held = Tallied("paper", Standing.HOLDS)
    >>> tally([held, held, Tallied("paper", Standing.HOLDS, moved=True), Tallied("paper", Standing.NOT_RUN)])
    '3 hold (1 bound moved since), 1 not run'
    """
    listed = list(claims)
    texts = []
    for kind in Standing:
        members = [claim for claim in listed if claim.standing is kind]
        if members:
            texts.append(f"{len(members)} {TALLY_WORDS[kind][len(members) != 1]}{_aside(members)}")
    return ", ".join(texts)


def _aside(members: Sequence[Tallied | Recorded]) -> str:
    """How many of the claims of a verdict are no test, or less of one."""
    counts = {AFTER: sum(claim.exploratory for claim in members), MOVED: sum(claim.moved for claim in members)}
    asides = [f"{count} {word}" if count < len(members) else word for word, count in counts.items() if count]
    return f" ({', '.join(asides)})" if asides else ""


def remarks(state: Reproduction) -> list[str]:
    """Return a line for every claim that fails or contradicts the paper, and for every reason why some were not run."""
    spoken = (Standing.FAILS, Standing.CONTRADICTS, Standing.NOT_COMPARABLE, Standing.UNDECIDED)
    lines, lacking = [], dict[str, list[str]]()
    for claim in state.claims:
        outcome = state.outcomes[claim.id]
        if outcome.verdict in spoken:
            lines.append(f"{outcome.verdict.symbol} {claim.number}: {outcome.detail}")
        elif outcome.verdict is Standing.NOT_RUN and outcome.detail:
            lacking.setdefault(outcome.detail, []).append(claim.number)
    return lines + [f"{Standing.NOT_RUN.symbol} {', '.join(numbers)}: {why}" for why, numbers in lacking.items()]


def legend(state: Reproduction) -> str:
    """Return in one line what the marks and words of the table mean, of those that stand in it and need saying.

    Examples
    --------
    >>> from recombine.lab.papers import Reproduction, find
    >>> legend(Reproduction(find("kernel-theory"), find("kernel-theory").chosen(["4"]), {}))
    '○ nothing that was run speaks of it'
    """
    outcomes = state.outcomes.values()
    words = {
        Standing.FAILS: "did not come out",
        Standing.CONTRADICTS: "differs from what was published, by two routes and enough seeds",
        Standing.NOT_COMPARABLE: "what we can run cannot decide it",
        Standing.UNDECIDED: "what was run is too little to tell",
        Standing.NOT_RUN: "nothing that was run speaks of it",
    }
    verdicts = {outcome.verdict for outcome in outcomes}
    lines = [f"{kind.symbol} {text}" for kind, text in words.items() if kind in verdicts]
    return "; ".join(lines + [f"run: {RUN}"] * any(" runs of " in outcome.extent for outcome in outcomes))


def paper_lines(paper: Paper, record: Mapping[str, Recorded] | None) -> list[str]:
    """Return a paper's name, title and, where that is on record, whose claims stand how."""
    recorded = {name: entry for name, entry in (record or {}).items() if name.startswith(f"{paper.name}/")}
    lines = [f"{paper.name}  {paper.title}", f"  {paper.citation}"]
    if not recorded:
        return [*lines, f"  {len(paper.claims)} claims"]
    tallies = tally_by_whose(recorded.values())
    return [*lines, *(f"  {text}" for text in tallies.split(". "))]


def claim_entries(paper: Paper, record: Mapping[str, Recorded]) -> list[dict[str, object]]:
    """Return every claim of a paper with all that is known of it, and where it stands on record.

    Examples
    --------
    >>> from recombine.lab.papers import find
    >>> entry = claim_entries(find("kernel-theory"), {})[0]
    >>> entry["number"], entry["verdict"], list(entry)[:4]
    ('1', 'not run', ['paper', 'number', 'statement', 'says'])
    """
    entries = []
    for claim in paper.claims:
        recorded = record.get(claim.id)
        ran, planned = recorded.units if recorded else (0, len(paper.by_name[claim.reads].units("full")))
        entries.append(
            {
                "paper": paper.name,
                "number": claim.number,
                "statement": claim.statement,
                "says": claim.says,
                "source": claim.source,
                "theme": claim.theme,
                "verdict": recorded.verdict if recorded else Standing.NOT_RUN.value,
                "quick_verdict": recorded.quick if recorded else Standing.NOT_RUN.value,
                "measured": recorded.measured if recorded else "",
                "bounds": claim.expected,
                "judged_by": recorded.asked if recorded else "",
                "means": claim.means,
                "incomparable": claim.incomparable,
                "exploratory": claim.exploratory,
                "moved": claim.moved,
                "risk": claim.risk,
                "figures": list(claim.figures),
                "experiment": claim.reads,
                "scale": recorded.scale if recorded else "",
                "units_run": ran,
                "units_planned": planned,
                "of_paper": recorded.of_paper if recorded else "",
            }
        )
    return entries


def merge_lines(merged: Merged, paper: Paper, source: object) -> list[str]:
    """Say what came home from another store, what did not and why, and what is of no use to the paper here.

    Examples
    --------
    >>> from recombine.lab.papers import find
    >>> from recombine.lab.runs import Merged
    >>> merge_lines(Merged(damaged={"ab12": "spec.json cannot be read"}), find("kernel-theory"), "away")
    ['away: 0 runs brought home, 0 were here',
     '1 damaged run left there, whose unit must run again: ab12 (spec.json cannot be read)']
    """
    begun = f"; {plural(len(merged.begun), 'unit')} will go on where it stopped there" if merged.begun else ""
    lines = [f"{source}: {plural(len(merged.copied), 'run')} brought home, {len(merged.present)} were here{begun}"]
    if merged.damaged:
        named = ", ".join(f"{key} ({reason})" for key, reason in merged.damaged.items())
        whose = "whose unit" if len(merged.damaged) == 1 else "whose units"
        lines.append(f"{plural(len(merged.damaged), 'damaged run')} left there, {whose} must run again: {named}")
    for runs, why in ((merged.differing, "other rows here, which stay"), (merged.busy, "somebody at work on it here")):
        if runs:
            named = ", ".join(f"{run.key} of {run.spec['experiment']}" for run in runs)
            lines.append(f"{plural(len(runs), 'run')} left there, with {why}: {named}")
    return lines + _useless(merged, paper)


def _useless(merged: Merged, paper: Paper) -> list[str]:
    """Name the runs of a paper's experiments that are no units of its grids, and count those of other papers."""
    experiments = {experiment.name: experiment for experiment in paper.experiments}
    keys = {unit.key for offered in paper.experiments for scale in ("quick", "full") for unit in offered.units(scale)}
    lines, foreign = [], 0
    for run in merged.sound:
        name, schema = run.spec["experiment"], run.spec["schema"]
        experiment = experiments.get(name)
        if experiment is None:
            foreign += 1
        elif schema != experiment.schema:
            lines.append(f"run {run.key} is of {name}, schema {schema}, which is {experiment.schema} here: not read")
        elif run.key not in keys:
            lines.append(f"run {run.key} is of {name} with a setting that no grid has here: not read")
    named = lines[:3] + ([f"and {len(lines) - 3:,} more runs that are not read"] if len(lines) > 3 else [])
    return named + ([f"{plural(foreign, 'run')} of other experiments than those of {paper.name}"] if foreign else [])
