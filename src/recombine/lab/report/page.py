"""A paper's report: its page as one HTML file, and where the numbers come from."""

from __future__ import annotations

import re
from collections.abc import Callable

from recombine._version import __version__
from recombine.lab.papers.reproduce import Reproduction
from recombine.lab.papers.results import Provenance
from recombine.lab.papers.standing import Standing
from recombine.lab.report.markdown import headings, html_of
from recombine.lab.report.page_text import claims_text, page_text
from recombine.lab.report.terminal import RUN
from recombine.report.templates import fill_template

#: A number that a line must not break.
_POWER = re.compile(r"\b\d[\d.]*e-\d+")


def paper_page(state: Reproduction, command: str | None = None) -> str:
    """Return the report of a reproduction as one self-contained HTML document.

    Parameters
    ----------
    state : Reproduction
    command : str, optional
        The command that made the report.

    Examples
    --------
    >>> from recombine.lab.papers import find
    >>> paper = find("kernel-theory")
    >>> text = paper_page(Reproduction(paper, paper.chosen(["14"]), {}))
    >>> text.startswith("<!doctype html>"), "not run" in text
    (True, True)
    """
    from markupsafe import Markup

    complete = len(state.claims) == len(state.paper.claims)
    text = page_text(state, inline=True) if complete else claims_text(state)
    marked = _marked(html_of(text))
    start = marked.find("<h2") % (len(marked) + 1)  # what comes before the first heading stands above the contents
    return fill_template(
        "paper.html.j2",
        package="recombine.lab.report",
        paper=state.paper,
        contents=headings(text),
        opening=Markup(marked[:start]),
        text=Markup(marked[start:]),
        standings=list(Standing),
        run=RUN,
        sources=[state.results[name].provenance for name in sorted(state.results)],
        commands=_grouped(state, lambda story: story.command),
        versions=_grouped(
            state, lambda story: ", ".join(f"{name} {version}" for name, version in story.versions.items())
        ),
        command=command,
        version=__version__,
    )


def _marked(text: str) -> str:
    """Name the tables of claims and the cells with their verdicts, so that the style can find them."""
    text = text.replace(
        "<table>\n<thead>\n<tr>\n<th>claim</th>", '<table class="claims">\n<thead>\n<tr>\n<th>claim</th>'
    )
    for standing in Standing:
        words = f'<span class="mark">{standing.symbol}</span> {standing.value}'
        name = standing.value.replace(" ", "-")
        text = text.replace(f"<td>{standing.symbol} {standing.value}</td>", f'<td class="verdict {name}">{words}</td>')
    return re.sub(r"<td>.*</td>", lambda cell: _POWER.sub(r'<span class="whole">\g<0></span>', cell[0]), text)


def _grouped(state: Reproduction, phrase: Callable[[Provenance], str]) -> list[tuple[str, str]]:
    """What the stories of experiments tell, each once, with the names of those that tell it."""
    groups: dict[str, list[str]] = {}
    for name in sorted(state.results):
        groups.setdefault(phrase(state.results[name].provenance), []).append(name)
    return [(", ".join(names), words) for words, names in groups.items()]
