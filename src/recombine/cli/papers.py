"""The commands about papers: list them, and reproduce one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recombine.errors import InputError, listing, near_miss, plural
from recombine.jobs.output_files import check_file, check_folder
from recombine.report.screen import capture, say

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from rich.console import Console

    from recombine.papers.paper import Paper
    from recombine.papers.reproduce import Reproduction, Watch

#: Where finished units are kept unless --store says otherwise.
STORE = Path(".recombine")


def papers_command(
    name: Annotated[str | None, typer.Argument(help="Show the claims of this paper only.")] = None,
    results: Annotated[Path | None, typer.Option(help="Results folder (by default ./results).")] = None,
) -> None:
    """List papers, their claims, and what has been established at which scale."""
    from recombine.papers import available, find
    from recombine.papers.record import load_record, record_of
    from recombine.papers.reproduce import from_results
    from recombine.papers.results import default_folder
    from recombine.report.papers.terminal import paper_lines

    folder = results or default_folder()
    known = folder.is_dir()
    if results is not None and not known:
        raise InputError(_no_results(folder))
    if name is not None:
        say(_rendered(from_results(find(name), folder)))
    listed = available().values() if name is None else ()
    record = load_record(folder) if known else {}
    for paper in listed:
        say("\n".join(paper_lines(paper, record or (record_of(paper, folder) if known else None))) + "\n")
    if not known:
        print(f"recombine: where claims stand is not known here: {_no_results(folder)}", file=sys.stderr)


def reproduce_command(
    paper: Annotated[str, typer.Argument(help="Short name, as listed by 'recombine papers'.")],
    scale: Annotated[
        str | None, typer.Option(help="quick (minutes on a laptop) or full (the paper's size). [default: quick]")
    ] = None,
    device: Annotated[str, typer.Option(help="Where networks train: cpu, cuda, cuda:1.")] = "cpu",
    executor: Annotated[str, typer.Option(help="inline, local, dask or slurm.")] = "local",
    address: Annotated[str | None, typer.Option(help="Dask scheduler.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes, Dask workers or Slurm jobs.")] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Stop after this long and save what is in training; call again to go on. 0 only reads the store.",
        ),
    ] = None,
    from_results: Annotated[
        bool, typer.Option("--from-results", help="Judge the results at hand instead of running anything.")
    ] = False,
    only: Annotated[list[str] | None, typer.Option(help="Only these claims: 13a,13b; may be repeated.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the report with figures to this file.")] = None,
    figures: Annotated[Path | None, typer.Option(help="Write every figure as SVG into this folder.")] = None,
    save: Annotated[bool, typer.Option("--save", help="Write what was run to the results folder.")] = False,
    results: Annotated[Path | None, typer.Option(help="Results folder (by default ./results).")] = None,
    store: Annotated[Path, typer.Option(help="Folder of finished units; an interrupted run continues.")] = STORE,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing report and figures.")] = False,
) -> None:
    """Run a paper's experiments and check every claim; exit code 1 if one fails."""
    from recombine.papers import find
    from recombine.papers.reproduce import from_results as judge_results
    from recombine.papers.results import default_folder
    from recombine.runs.executors import make_executor

    chosen = find(paper)
    only = _numbers(only or [])
    chosen.chosen(only)
    _check(scale, html, force)
    if figures is not None:
        _check_figures(figures, chosen, only, force)
    folder = results or default_folder()
    if from_results:
        if store != STORE:
            raise InputError("--from-results reads results and no store; leave out --store, or --from-results")
        if save:
            raise InputError("--from-results runs nothing that --save could write; leave out one of the two")
        if not folder.is_dir():
            raise InputError(f"{_no_results(folder)}, or run without --from-results")
        if not any((folder / chosen.name).glob("*.json")):
            raise InputError(
                f"{folder} has no results of {chosen.name}; name another folder, or leave out --from-results"
            )
        state = judge_results(chosen, folder, scale=scale, only=only)
    else:
        _check_device(device)
        pool = make_executor(executor, workers=workers, address=address)
        state = _run(chosen, scale or "quick", only, pool, store, device, minutes)
        if save:
            _save(state, folder)
    say(_rendered(state))
    if html is not None:
        from recombine.report.papers.page import paper_page

        html.write_text(paper_page(state, command=" ".join(["recombine", *sys.argv[1:]])), encoding="utf-8")
        say(f"report written to {html.resolve()}\n")
    if figures is not None:
        say(_draw(state, figures) + "\n")
    raise typer.Exit(1 if state.failed else 0)


def _numbers(only: list[str]) -> list[str]:
    """Split numbers of claims at commas; ids and numbers are in lower case."""
    return [name.strip().lower() for text in only for name in text.strip(", ").split(",")]


def _no_results(folder: Path) -> str:
    return (
        f"{folder.resolve()} is no folder of results; go to a clone of recombine, which has one, "
        "or name one with --results"
    )


def _check(scale: str | None, html: Path | None, force: bool) -> None:
    """Refuse before the work, not after it."""
    from recombine.runs.experiment import SCALES

    if scale is not None and scale not in SCALES:
        raise InputError(f"--scale {scale} is unknown;{near_miss(scale, SCALES)} Scales: {listing(SCALES)}")
    if html is not None:
        check_file(html, force)


def _check_figures(folder: Path, paper: Paper, only: list[str], force: bool) -> None:
    """Refuse a folder that takes no files, and to draw over a figure that is there."""
    check_folder(folder, "--figures")
    experiments = {claim.reads for claim in paper.chosen(only)}
    drawn = [plot for plot in paper.figures if not only or experiments.issuperset(plot.experiments)]
    there = [path for plot in drawn if (path := folder / f"{plot.name}.svg").exists()]
    if there and not force:
        raise InputError(f"{there[0]} exists; choose another folder, or allow overwriting with --force")


def _check_device(device: str) -> None:
    """Refuse a device that is not there; kernels need none, so torch is not asked for."""
    if device == "cpu":
        return
    from importlib.util import find_spec

    if find_spec("torch") is None:
        raise InputError(f"--device {device} needs torch, which is not installed; pip install 'recombine[nets]'")
    import torch

    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        # Where it does not know the word, torch lists every kind of device there ever was.
        unknown = "device string" in reason.lower()
        why = "is not a device" if unknown else f"cannot be used ({reason})"
        raise InputError(f"--device {device} {why}; use cpu, or where there is a GPU cuda or cuda:1") from None


def _run(
    paper: Paper, scale: str, only: list[str], executor: Executor, store: Path, device: str, minutes: float | None
) -> Reproduction:
    from recombine.papers.reproduce import reproduce
    from recombine.runs.store import Store

    try:
        with _live() as watch:
            state = reproduce(
                paper,
                scale,
                store=Store(store),
                executor=executor,
                only=only,
                device=device,
                minutes=minutes,
                watch=watch,
            )
    except BaseException as error:
        # Not after the units at work: those may take hours.
        executor.shutdown(wait=False, cancel_futures=True)
        if not isinstance(error, KeyboardInterrupt):
            raise
        print(
            f"recombine: stopped. Finished units are in {store}; the same command goes on from there.",
            file=sys.stderr,
        )
        raise typer.Exit(130) from None
    executor.shutdown()
    return state


def _save(state: Reproduction, folder: Path) -> None:
    from recombine.papers.record import record_of, save_record
    from recombine.papers.results import save_evidence

    for evidence in state.results.values():
        save_evidence(folder, state.paper.name, evidence)
    save_record(folder, record_of(state.paper, folder))
    print(f"{plural(len(state.results), 'result')} written to {folder / state.paper.name}", file=sys.stderr)


def _draw(state: Reproduction, folder: Path) -> str:
    """Write the figures that can be drawn, and say how many, or why none."""
    from recombine.report.papers.figure import PaperFigure

    plots = [plot for plot in state.paper.figures if plot.drawable(state.results)]
    if not plots:
        return f"no figure written: {_why_none(state)}"
    folder.mkdir(parents=True, exist_ok=True)
    for plot in plots:
        PaperFigure(plot, state.results).save(folder / f"{plot.name}.svg")
    return f"{plural(len(plots), 'figure')} written to {folder.resolve()}"


def _why_none(state: Reproduction) -> str:
    shown = {name for claim in state.claims for name in claim.figures}
    wanted = {name for plot in state.paper.figures if plot.name in shown for name in plot.experiments}
    lacking = sorted(wanted - set(state.results))
    return f"there are no results of {listing(lacking)}" if lacking else "no figure shows these claims"


@contextmanager
def _live() -> Iterator[Watch | None]:
    """Keep the table of claims up to date on stderr when a person is watching."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield None
        return
    from rich.live import Live

    from recombine.report.papers.terminal import claim_grid

    with Live(console=console, transient=True, auto_refresh=False) as live:

        def show(state: Reproduction, running: str | None) -> None:
            live.update(claim_grid(state, running, brief=True), refresh=True)

        yield show


def _rendered(state: Reproduction) -> str:
    """Return the table of claims, what stands out, and the tally, as text for standard output."""
    from recombine.report.papers.terminal import claim_grid, legend, remarks, tally

    def draw(console: Console) -> None:
        console.print(f"[bold]{state.paper.name}[/bold]  {state.paper.title} ({state.paper.citation})\n")
        console.print(claim_grid(state))
        console.print()
        for line in remarks(state):
            console.print(line, markup=False)
        console.print(
            f"{plural(len(state.claims), 'claim')}: {tally(state.standings)}",
            markup=False,
        )
        if words := legend(state):
            console.print(words, markup=False)

    return capture(draw, plain_width=160)
