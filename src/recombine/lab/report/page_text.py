"""A paper's page as Markdown: its prose with holes that results fill, then every claim beside what was measured.

The prose is ``page.md`` in the paper's package, a template with these holes: ``{{ n("4a", "loss of R2") }}`` a measured
number, ``{{ verdict("4a") }}``, ``{{ figure("rows") }}``, ``{{ coverage }}``, how much of the paper is judged, in a
sentence, ``{{ tally }}``, a small table of how many claims stand where, and ``{{ statements }}``, ``{{ checklist }}``,
where the claims and all that the paper states and shows are to stand, folded. Documentation and HTML report are this
one text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain, zip_longest

from recombine.errors import RecombineError
from recombine.lab.papers.claims import Claim
from recombine.lab.papers.paper import PaperPanel, Plot, coverage
from recombine.lab.papers.record import Recorded
from recombine.lab.papers.reproduce import Reproduction
from recombine.lab.papers.standing import Outcome, Standing
from recombine.lab.report.figure import PaperFigure
from recombine.lab.report.terminal import AFTER, MOVED, WHOSE, Tallied, by_whose, tally
from recombine.writing import listing

#: Verdicts that come before all others, in this order.
FIRST = (Standing.CONTRADICTS, Standing.FAILS, Standing.NOT_COMPARABLE, Standing.UNDECIDED)
HEAD = "| claim | measured (what was asked) | verdict |\n|---|---|---|"
#: What makes a claim less of a test, in words, and how to tell.
WEAKER: Mapping[str, Callable[[Tallied | Recorded], bool]] = {
    AFTER: lambda claim: claim.exploratory,
    MOVED: lambda claim: claim.moved,
}


def page_text(state: Reproduction, *, inline: bool = False) -> str:
    """Return the page of a paper as Markdown.

    Parameters
    ----------
    state : Reproduction
        Of all its claims.
    inline : bool
        Whether figures stand in the text as drawings, or as links to files in a folder named after the paper.

    Examples
    --------
    >>> from recombine.lab.papers import find
    >>> paper = find("kernel-theory")
    >>> print(page_text(Reproduction(paper, paper.claims, {}))[:15])
    # Kernel theory
    """
    from jinja2 import Environment, StrictUndefined, TemplateError

    page = _Page(state, inline)
    written = (files(state.paper.package) / "page.md").read_text(encoding="utf-8")
    holes = {"n": page.number, "verdict": page.verdict, "figure": page.figure, "tally": page.tally}
    holes |= {"statements": page.statements(), "coverage": page.coverage, "checklist": page.checklist}
    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
    try:
        return environment.from_string(written).render(**holes)
    except TemplateError as error:
        raise RecombineError(f"page.md of {state.paper.name}: {error}; there are the holes {listing(holes)}") from error


def claims_text(state: Reproduction) -> str:
    """Return a page about some of a paper's claims: title, tally, and the statements with their figures.

    Examples
    --------
    >>> from recombine.lab.papers import find
    >>> paper = find("kernel-theory")
    >>> print(claims_text(Reproduction(paper, paper.chosen(["12"]), {})))  # doctest: +ELLIPSIS
    # When does compositional structure yield compositional generalization? A kernel theory
    <BLANKLINE>
    Lippl and Stachenfeld, ICLR 2025. 1 of the ... claims of `kernel-theory`.
    <BLANKLINE>
    ...
    """
    page, paper = _Page(state, inline=True), state.paper
    some = f"{len(state.claims)} of the {len(paper.claims)} claims of `{paper.name}`"
    return "\n\n".join(
        [
            f"# {paper.title}",
            f"{paper.citation}. {some}.",
            page.tally,
            "## Statements",
            page.statements(figures=True),
        ]
    )


@dataclass(frozen=True)
class _Page:
    """What the holes of a page are filled with."""

    state: Reproduction
    inline: bool

    def number(self, claim: str, name: str) -> str:
        """Return a measured number as it is printed; a dash where nothing was measured."""
        outcome = self.state.outcomes[self.state.paper.claim(claim).id]
        if not outcome.parts:
            return "–"
        values = {entry.name: entry.value for entry in outcome.parts}
        if name not in values:
            raise RecombineError(f"claim {claim} measures no {name!r}, but {listing(values)}; mend page.md")
        return values[name]

    def verdict(self, claim: str) -> str:
        return self.state.outcomes[self.state.paper.claim(claim).id].verdict.value

    def figure(self, name: str) -> str:
        plot = next((plot for plot in self.state.paper.figures if plot.name == name), None)
        if plot is None:
            names = listing([offered.name for offered in self.state.paper.figures])
            raise RecombineError(f"page.md shows a figure {name!r}; there are {names}")
        if not plot.drawable(self.state.results):
            return f"*(Figure {name}: no results at hand.)*"
        figure = PaperFigure(plot, self.state.results)
        caption = f"{plot.title}. {figure.caption}"
        if not self.inline:
            return f"![{plot.title}]({self.state.paper.name}/{name}.svg)\n\n*{caption}*"
        drawing = re.sub(r"\n\s*\n", "\n", figure.svg())  # a blank line would end the block of HTML
        plate = f'<div class="scroll plate" tabindex="0" role="region" aria-label="Figure">{drawing}</div>'
        return f'<figure id="figure-{name}">\n{plate}\n<figcaption>{html.escape(caption)}</figcaption>\n</figure>'

    @property
    def tally(self) -> str:
        """A table of how many claims stand where, by whose they are, with what weakens those that hold as tests."""
        grouped = by_whose(Tallied.of(claim, self._verdict(claim)) for claim in self.state.claims)
        kinds = [
            kind for kind in Standing if any(claim.standing is kind for group in grouped.values() for claim in group)
        ]
        late = {word: marked for word, marked in WEAKER.items() if any(map(marked, chain(*grouped.values())))}
        lines = [
            ["", *(kind.value for kind in kinds), *(f"of these {word}" for word in late)],
            ["---", *["---:"] * (len(kinds) + len(late))],
        ]
        for says, members in grouped.items():
            counts = [sum(claim.standing is kind for claim in members) for kind in kinds]
            counts += [sum(map(marked, members)) for marked in late.values()]
            lines.append([f"{len(members)} {WHOSE[says][len(members) != 1]}", *(str(count or "") for count in counts)])
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    @property
    def coverage(self) -> str:
        """How much of the paper is judged."""
        return coverage(self.state.paper.checklist, self._outcomes)

    @property
    def checklist(self) -> str:
        """All that the paper states and shows, with the claims that judge it, folded."""
        rows = [
            f"| {_cell(panel.where)} | {_cell(panel.what)} | {self._judges(panel)} | {_cell(panel.missing)} |"
            for panel in self.state.paper.checklist
        ]
        head = "| where | what it says or shows | judged by | not judged |\n|---|---|---|---|"
        return _folded("Statement by statement and panel by panel", "\n".join([head, *rows]))

    def _judges(self, panel: PaperPanel) -> str:
        return ", ".join(f"{number} {self._outcomes[number].verdict.symbol}" for number in panel.claims)

    @property
    def _outcomes(self) -> dict[str, Outcome]:
        """Outcomes by the claims' numbers."""
        return {claim.number: self.state.outcomes[claim.id] for claim in self.state.claims}

    def statements(self, *, figures: bool = False) -> str:
        """The paper's statements by theme, those that did not come out on top and in sight, then ours; the rest folded.

        With figures, each that can be drawn stands below the first table that has a claim which names it.
        """
        claims = self.state.claims
        amiss = [claim for claim in claims if not claim.ours and self._verdict(claim) in FIRST]
        as_stated = [claim for claim in claims if not claim.ours and claim not in amiss]
        tables = [
            ("Not as stated", sorted(amiss, key=lambda claim: FIRST.index(self._verdict(claim)))),
            *(
                (theme or "The paper's statements", [claim for claim in as_stated if claim.theme == theme])
                for theme in dict.fromkeys(claim.theme for claim in as_stated)
            ),
            ("Ours", [claim for claim in claims if claim.ours]),
        ]
        blocks, plotted = [], set[str]()
        for title, listed in tables:
            plots = [plot for plot in self._plots(listed) if figures and plot.name not in plotted]
            plotted |= {plot.name for plot in plots}
            blocks += [
                self._table(title, listed, folded=listed is not tables[0][1]),
                *(self.figure(plot.name) for plot in plots),
            ]
        return "\n\n".join(block for block in blocks if block)

    def _plots(self, claims: Sequence[Claim]) -> list[Plot]:
        """Return the figures that claims name and that can be drawn, in the paper's order."""
        named = {name for claim in claims for name in claim.figures}
        return [plot for plot in self.state.paper.figures if plot.name in named and plot.drawable(self.state.results)]

    def _verdict(self, claim: Claim) -> Standing:
        return self.state.outcomes[claim.id].verdict

    def _table(self, title: str, claims: Sequence[Claim], *, folded: bool) -> str:
        if not claims:
            return ""
        table = "\n".join([HEAD, *map(self._row, claims)])
        notes = "\n".join(map(self._note, claims))
        if folded:
            told = tally(Tallied.of(claim, self._verdict(claim)) for claim in claims)
            return _folded(f"{title}: {told}", f"{table}\n\n{notes}")
        return f"### {title}\n\n{table}\n\n{_folded('Where this is said, and how it was measured', notes)}"

    def _row(self, claim: Claim) -> str:
        outcome = self.state.outcomes[claim.id]
        bounds = f"asked: {claim.expected}" if claim.expected else ""
        lines = [_cell(line) for line in [line for entry in outcome.parts for line in entry.lines] or [bounds] if line]
        measured = "<br>".join([*lines, *([f"*{_cell(outcome.run)}*"] if outcome.run else [])])
        word = f"{outcome.verdict.symbol} {outcome.verdict.value}"
        whose = ", ".join([claim.says, *([AFTER] if claim.exploratory else [])])
        return f"| **{claim.number}** {_cell(claim.statement)} *({whose})* | {measured} | {word} |"

    def _note(self, claim: Claim) -> str:
        outcome = self.state.outcomes[claim.id]
        source = f" ({_cell(claim.source)})" if claim.source else ""
        detail = outcome.detail.removesuffix(".")
        doubts = [
            "Written after seeing the data, so no test" if claim.exploratory else "",
            f"Bound moved: {claim.moved}" if claim.moved else "",
            claim.risk_of(outcome),
        ]
        doubted = "".join(f" *{_cell(doubt.removesuffix('.'))}.*" for doubt in doubts if doubt)
        return f"- **{claim.number}**, {claim.says}{source}{f': {_cell(detail)}' if detail else ''}.{doubted}"


def _folded(summary: str, text: str) -> str:
    return f"<details><summary>{html.escape(summary)}</summary>\n\n{text}\n\n</details>"


def _cell(text: str) -> str:
    """Make text fit Markdown, in a cell of a table too: nothing in it is markup but formulas between dollars."""
    pieces = re.split(r"(\$[^\s$](?:[^$]*[^\s$])?\$)", text)
    plain = (re.sub(r"[|*_$]", r"\\\g<0>", piece).replace("<", "&lt;") for piece in pieces[::2])
    formulas = (formula.replace("|", r"\vert ") for formula in pieces[1::2])
    return "".join(piece for pair in zip_longest(plain, formulas, fillvalue="") for piece in pair)
