"""A paper's page as Markdown: its prose with holes that results fill, then every claim beside what was measured.

The prose is ``page.md`` in the paper's package, a template with these holes: ``{{ n("4a", "loss of R2") }}`` a measured
number, ``{{ verdict("4a") }}``, ``{{ tally }}``, ``{{ figure("rows") }}``, and ``{{ statements }}``, ``{{ risks }}``
where the claims and what could make their verdicts wrong are to stand. Documentation and HTML report are this one text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from recombine.errors import RecombineError, listing
from recombine.papers.claims import Claim
from recombine.papers.reproduce import Reproduction
from recombine.papers.standing import Standing
from recombine.report.papers.figure import PaperFigure
from recombine.report.papers.terminal import HEADINGS, tally_by_whose

#: Verdicts that come before all others, in this order.
FIRST = (Standing.CONTRADICTS, Standing.FAILS, Standing.NOT_COMPARABLE)
HEAD = "| claim | measured (what was asked) | verdict |\n|---|---|---|"


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
    >>> from recombine.papers import find
    >>> paper = find("kernel-theory")
    >>> print(page_text(Reproduction(paper, paper.claims, {}))[:15])
    # Kernel theory
    """
    from jinja2 import Environment, StrictUndefined

    page = _Page(state, inline)
    written = (files(state.paper.package) / "page.md").read_text(encoding="utf-8")
    template = Environment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False).from_string(written)
    told = tally_by_whose((claim.says, state.outcomes[claim.id].verdict) for claim in state.claims)
    return template.render(
        n=page.number,
        verdict=page.verdict,
        figure=page.figure,
        tally=told,
        statements=page.statements,
        risks=page.risks,
    )


def claims_text(state: Reproduction) -> str:
    """Return the statements alone, for a page about some of a paper's claims."""
    return _Page(state, inline=True).statements


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
        found = {part.name: part.value for part in outcome.parts}
        if name not in found:
            raise RecombineError(f"claim {claim} measures no {name!r}, but {listing(found)}; mend page.md")
        return found[name]

    def verdict(self, claim: str) -> str:
        return self.state.outcomes[self.state.paper.claim(claim).id].verdict.value

    def figure(self, name: str) -> str:
        plot = next((plot for plot in self.state.paper.figures if plot.name == name), None)
        if plot is None:
            names = listing([one.name for one in self.state.paper.figures])
            raise RecombineError(f"page.md shows a figure {name!r}; there are {names}")
        if not plot.drawable(self.state.results):
            return f"*(Figure {name}: no results at hand.)*"
        figure = PaperFigure(plot, self.state.results)
        caption = f"{plot.title}. {figure.caption}"
        if not self.inline:
            return f"![{plot.title}]({self.state.paper.name}/{name}.svg)\n\n*{caption}*"
        drawing = re.sub(r"\n\s*\n", "\n", figure.svg())  # a blank line would end the block of HTML
        return f'<figure id="figure-{name}">\n{drawing}\n<figcaption>{html.escape(caption)}</figcaption>\n</figure>'

    @property
    def statements(self) -> str:
        """The paper's statements by theme, those that did not come out on top, then ours."""
        claims = self.state.claims
        amiss = [claim for claim in claims if not claim.ours and self._verdict(claim) in FIRST]
        parts = [self._table("Not as stated", sorted(amiss, key=lambda claim: FIRST.index(self._verdict(claim))))]
        rest = [claim for claim in claims if not claim.ours and claim not in amiss]
        for theme in dict.fromkeys(claim.theme for claim in rest):
            parts.append(self._table(theme or "The paper's statements", [one for one in rest if one.theme == theme]))
        parts.append(self._table("Ours", [claim for claim in claims if claim.ours]))
        return "\n\n".join(part for part in parts if part)

    @property
    def risks(self) -> str:
        """One line per claim: what could make its verdict wrong."""
        told = [claim for claim in self.state.claims if claim.risk or claim.moved or claim.exploratory]
        return "\n".join(f"- **{claim.number}** {_risk(claim)}" for claim in told)

    def _verdict(self, claim: Claim) -> Standing:
        return self.state.outcomes[claim.id].verdict

    def _table(self, title: str, claims: Sequence[Claim]) -> str:
        if not claims:
            return ""
        rows = "\n".join(self._row(claim) for claim in claims)
        notes = "\n".join(self._note(claim) for claim in claims)
        fold = "<details><summary>Where this is said, and how it was measured</summary>"
        return f"### {title}\n\n{HEAD}\n{rows}\n\n{fold}\n\n{notes}\n\n</details>"

    def _row(self, claim: Claim) -> str:
        outcome = self.state.outcomes[claim.id]
        measured = "<br>".join(_cell(str(part)) for part in outcome.parts) or _cell(f"asked: {claim.expected}")
        extent = f"<br>*{_cell(outcome.run)}*" if outcome.run else ""
        word = f"{outcome.verdict.symbol} {outcome.verdict.value}"
        return f"| **{claim.number}** {_cell(claim.statement)} | {measured}{extent} | {word} |"

    def _note(self, claim: Claim) -> str:
        detail = self.state.outcomes[claim.id].detail
        whose = HEADINGS[claim.says].lower() if claim.ours else claim.says
        source = f" ({claim.source})" if claim.source else ""
        return f"- **{claim.number}**, {whose}{source}" + (f": {detail}." if detail else ".").replace("..", ".")


def _risk(claim: Claim) -> str:
    parts = [
        "Written after seeing the data, so no test." if claim.exploratory else "",
        f"Bound moved: {claim.moved}." if claim.moved else "",
        claim.risk,
    ]
    return " ".join(part for part in parts if part)


def _cell(text: str) -> str:
    """Make text fit a cell of a Markdown table, so that nothing in it is markup."""
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;").replace("_", "\\_")
