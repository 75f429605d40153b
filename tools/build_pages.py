"""Write what documentation says about papers from committed results: python tools/build_pages.py [PAPER ...].

That is docs/papers/NAME.md with the figures it shows, the table of papers in docs/papers/index.md, whose second column,
what is new, is written by hand and kept, and the short one in the README.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from recombine.errors import RecombineError
from recombine.lab.papers import Paper, Reproduction, available, find, from_results
from recombine.lab.papers.record import Recorded, load_record
from recombine.lab.papers.standing import Standing
from recombine.lab.report import PaperFigure, page_text, tally
from recombine.lab.report.terminal import Tallied

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "papers"
#: Around tables of papers.
BEGIN, END = "<!-- papers: written by tools/build_pages.py -->", "<!-- end of papers -->"
HEAD = ("paper", "what is new", "its statements", "ours", "how much was run")


def main(names: list[str]) -> None:
    """Write pages, figures and the README's table."""
    for paper in [find(name) for name in names] or available().values():
        state = from_results(paper, ROOT / "results")
        text = page_text(state)
        (PAGES / f"{paper.name}.md").write_text(text, encoding="utf-8")
        print(f"{paper.name}: {len(text.split())} words, {draw(state, text)} figures")
    record = load_record(ROOT / "results")
    for path in (PAGES / "index.md", ROOT / "README.md"):
        path.write_text(with_table(path.read_text(encoding="utf-8"), record, path), encoding="utf-8")


def draw(state: Reproduction, text: str) -> int:
    """Write the figures that a page shows, drop those that it does not, and return how many there are."""
    folder = PAGES / state.paper.name
    folder.mkdir(exist_ok=True)
    shown = [plot for plot in state.paper.figures if f"{state.paper.name}/{plot.name}.svg" in text]
    for plot in shown:
        PaperFigure(plot, state.results).save(folder / f"{plot.name}.svg")
    for stale in set(folder.glob("*.svg")) - {folder / f"{plot.name}.svg" for plot in shown}:
        stale.unlink()
    return len(shown)


def with_table(text: str, record: Mapping[str, Recorded], path: Path) -> str:
    """Return a page with the table of papers as it follows from the verdicts on record; the README's is short."""
    before, begun, rest = text.partition(BEGIN)
    old, ended, after = rest.partition(END)
    if not (begun and ended):
        raise RecombineError(f"{path.name} has no lines {BEGIN} and {END}; put them around its table of papers")
    if path.name == "README.md":
        lines = [short_line(paper, record) for paper in available().values()]
    else:
        news = dict(re.findall(r"^\| \[`([\w-]+)`\]\S* \| (.*?) \|", old, re.MULTILINE))
        rows = [HEAD, ["---"] * len(HEAD), *(row(paper, record, news) for paper in available().values())]
        lines = [f"| {' | '.join(cells)} |" for cells in rows]
    return f"{before}{begun}\n" + "".join(f"{line}\n" for line in lines) + f"{ended}{after}"


def short_line(paper: Paper, record: Mapping[str, Recorded]) -> str:
    """Return a paper, who wrote it, and how many of its statements and of ours hold."""
    theirs, ours = by_authors(paper, record)
    authors = paper.citation.partition(" (")[0]
    return f"- [{paper.name}](docs/papers/{paper.name}.md) ({authors}): {holding(theirs)}; ours, {holding(ours)}"


def by_authors(paper: Paper, record: Mapping[str, Recorded]) -> tuple[list[Recorded], list[Recorded]]:
    """Return what is on record of a paper's own statements and of ours about it."""
    claims = [record[claim.id] for claim in paper.claims if claim.id in record]
    return [claim for claim in claims if claim.says != "ours"], [claim for claim in claims if claim.says == "ours"]


def holding(claims: Sequence[Recorded]) -> str:
    """Return how many claims hold, and how many of those whose bound stood before the data and was not moved."""
    tests = [claim for claim in claims if not (claim.exploratory or claim.moved)]
    held, passed = ([claim.standing for claim in some].count(Standing.HOLDS) for some in (claims, tests))
    return f"{held}/{len(claims)} ({passed}/{len(tests)})"


def row(paper: Paper, record: Mapping[str, Recorded], news: Mapping[str, str]) -> list[str]:
    """Return the cells of a paper."""
    link = f"[`{paper.name}`]({paper.name}.md)"
    tallies = [f"{holding(claims)} hold{amiss(claims)}" for claims in by_authors(paper, record)]
    return [link, news.get(paper.name, ""), *tallies, extent(paper, record)]


def amiss(claims: Sequence[Recorded]) -> str:
    """Return what became of the claims that do not hold."""
    text = tally([Tallied(claim.says, claim.standing) for claim in claims if claim.standing is not Standing.HOLDS])
    return f"; {text}" if text else ""


def extent(paper: Paper, record: Mapping[str, Recorded]) -> str:
    """Return in a phrase how much of the paper was run, where its own grid is known, and how much of ours."""
    known = {claim.id: record[claim.id] for claim in paper.claims if claim.id in record}
    runs = {claim.reads: known[claim.id] for claim in paper.claims if claim.id in known}
    large = [one.units for one in runs.values() if one.scale == "full"]
    parts = [units for units in large if units[0] < units[1]]
    words = [*dict.fromkeys(one.of_paper for one in known.values() if one.of_paper)]
    words.append(f"{len(large) - len(parts)} of {len(runs)} experiments as planned")
    if parts:
        ran, planned = (sum(place) for place in zip(*parts, strict=True))
        words.append(f"{len(parts)} in part ({ran} of {planned} runs)")
    small = sum(one.scale == "quick" for one in runs.values())
    return ", ".join([*words, *([f"{small} only small"] if small else [])])


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except RecombineError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
