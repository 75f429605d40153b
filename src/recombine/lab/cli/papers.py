"""The command that lists papers, their claims, and where these stand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recombine.cli.completion import completion_by
from recombine.cli.table_options import takes_table
from recombine.errors import InputError
from recombine.report.screen import capture, say, say_aside, say_json

if TYPE_CHECKING:
    from rich.console import Console

    from recombine.lab.papers.reproduce import Reproduction


def _listed_papers(_: typer.Context) -> list[str]:
    from recombine.lab.papers import available

    return list(available())


#: What completes the name of a paper.
PAPERS = completion_by(_listed_papers)


@takes_table(panel="Output")
def papers_command(
    name: Annotated[
        str | None, typer.Argument(metavar="PAPER", autocompletion=PAPERS, help="Show the claims of this paper only.")
    ] = None,
    results: Annotated[Path | None, "Results folder (by default ./results)."] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Every claim as JSON, with verdict and numbers.")] = False,
) -> None:
    """List papers, their claims, and what has been established of whose statements."""
    from recombine.lab.papers import available, find
    from recombine.lab.papers.record import load_record, record_of
    from recombine.lab.papers.reproduce import from_results
    from recombine.lab.papers.results import default_folder
    from recombine.lab.report.terminal import claim_entries, paper_lines
    from recombine.report.json_text import json_text

    folder = results or default_folder()
    has_results = folder.is_dir()
    if results is not None and not has_results:
        raise InputError(no_results(folder))
    if as_json:
        papers = list(available().values()) if name is None else [find(name)]
        record = load_record(folder) if has_results else {}
        say_json(json_text([entry for paper in papers for entry in claim_entries(paper, record)]))
        return
    if name is not None:
        say(claims_on_screen(from_results(find(name), folder)), drawn=True)
    listed = available().values() if name is None else ()
    record = load_record(folder) if has_results else {}
    for paper in listed:
        say("\n".join(paper_lines(paper, record or (record_of(paper, folder) if has_results else None))) + "\n")
    if not has_results:
        say_aside(f"recombine: where claims stand is not known here: {no_results(folder)}")


def no_results(folder: Path) -> str:
    """Say that there are no results where they were looked for, and where to find some."""
    return (
        f"{folder.resolve()} is no folder of results; go to a clone of recombine, which has one, "
        "or name one with --results"
    )


def claims_on_screen(state: Reproduction) -> str:
    """Return the table of claims, what stands out, and the tally, as text for standard output."""
    from recombine.lab.report.terminal import Tallied, claim_grid, legend, remarks, tally_by_whose

    def draw(console: Console) -> None:
        console.print(f"[bold]{state.paper.name}[/bold]  {state.paper.title} ({state.paper.citation})\n")
        console.print(claim_grid(state))
        console.print()
        for line in remarks(state):
            console.print(line, markup=False)
        tallies = tally_by_whose(Tallied.of(claim, state.outcomes[claim.id].verdict) for claim in state.claims)
        console.print(f"{tallies}.", markup=False)
        if words := legend(state):
            console.print(words, markup=False)

    return capture(draw, plain_width=160)
