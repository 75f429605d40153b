"""A paper's report: its page as one HTML file, and where the numbers come from."""

from __future__ import annotations

from recombine._version import __version__
from recombine.papers.reproduce import Reproduction
from recombine.papers.standing import Standing
from recombine.report.papers.markdown import headings, html_of
from recombine.report.papers.page_text import claims_text, page_text
from recombine.report.papers.terminal import UNIT
from recombine.report.templates import fill_template


def paper_page(state: Reproduction, command: str | None = None) -> str:
    """Return the report of a reproduction as one self-contained HTML document.

    Parameters
    ----------
    state : Reproduction
    command : str, optional
        The command that made the report.

    Examples
    --------
    >>> from recombine.papers import find
    >>> paper = find("kernel-theory")
    >>> text = paper_page(Reproduction(paper, paper.chosen(["14"]), {}))
    >>> text.startswith("<!doctype html>"), "not run" in text
    (True, True)
    """
    from markupsafe import Markup

    whole = len(state.claims) == len(state.paper.claims)
    text = page_text(state, inline=True) if whole else claims_text(state)
    return fill_template(
        "paper.html.j2",
        paper=state.paper,
        whole=whole,
        contents=headings(text),
        text=Markup(html_of(text)),
        standings=list(Standing),
        unit=UNIT,
        sources=[state.results[name].provenance for name in sorted(state.results)],
        versions=_versions(state),
        command=command,
        version=__version__,
    )


def _versions(state: Reproduction) -> list[tuple[str, str]]:
    """Which experiments were run with which versions, as two texts per set of versions."""
    groups: dict[str, list[str]] = {}
    for name in sorted(state.results):
        versions = state.results[name].provenance.versions.items()
        groups.setdefault(", ".join(f"{library} {version}" for library, version in versions), []).append(name)
    return [(", ".join(names), words) for words, names in groups.items()]
