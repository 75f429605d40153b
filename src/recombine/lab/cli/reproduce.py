"""The command that reproduces a paper: runs what its claims need, or reads it back, and judges them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import msgspec
import typer

from recombine.cli.table_options import takes_table
from recombine.errors import InputError, install_advice, near_miss
from recombine.lab.cli.papers import PAPERS, claims_on_screen, no_results
from recombine.lab.cli.running import Running, chosen_executor, measured_processes, merge_units, run_order
from recombine.output_files import check_outputs, takes_files, write_whole
from recombine.report.screen import say, say_aside
from recombine.writing import listing, plural

if TYPE_CHECKING:
    from recombine.lab.papers.paper import Paper
    from recombine.lab.papers.reproduce import Reproduction

#: Where finished units are kept unless --store says otherwise.
STORE = Path(".recombine")


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """Where results are read and written."""

    panel: ClassVar[str] = "Output"
    html: Annotated[Path | None, "Write the report with figures to this file."] = None
    figures: Annotated[Path | None, "Write every figure as SVG into this folder."] = None
    save: Annotated[bool, "Add the units that were run to the results folder; rows in it stay."] = False
    results: Annotated[Path | None, "Results folder (by default ./results)."] = None
    store: Annotated[Path, "Folder of finished units; an interrupted run continues."] = STORE
    force: Annotated[bool, "Overwrite report, figures and differing rows."] = False
    #: The command that repeats the run.
    command: str = ""


@takes_table(panel="Run")
def reproduce_command(
    paper: Annotated[
        str, typer.Argument(metavar="PAPER", autocompletion=PAPERS, help="Short name, as listed by 'recombine papers'.")
    ],
    *,
    running: Running,
    from_results: Annotated[bool, "Judge the results at hand instead of running anything."] = False,
    only: Annotated[list[str] | None, "Only these claims: 13a,13b; may be repeated.", "CLAIMS"] = None,
    written: Written,
) -> None:
    """Run a paper's experiments and check every claim; exit code 1 if a verdict is not the recorded one."""
    from recombine.lab.papers import find
    from recombine.lab.papers.record import changed_verdicts, load_record
    from recombine.lab.papers.reproduce import from_results as judge_results
    from recombine.lab.papers.results import default_folder

    chosen, numbers = find(paper), _numbers(only or [])
    chosen.chosen(numbers)
    folder = written.results or default_folder()
    _check(running.scale, written.html, [*_files(folder, chosen), *(running.merge or [])], written.force)
    if written.figures is not None:
        _check_figures(written.figures, chosen, numbers, written.force)
    # Before anything is saved: --save writes the verdicts of today over these.
    record = load_record(folder)
    if from_results:
        options = {"--save": written.save, "--owed": running.owed, "--merge": bool(running.merge)}
        _check_judging(chosen, folder, written.store, options)
        state = judge_results(chosen, folder, scale=running.scale, only=numbers)
    else:
        state = _reproduced(chosen, numbers, folder, running, written)
    say(claims_on_screen(state), drawn=True)
    _write(state, written)
    changed = changed_verdicts(state, record, stored=from_results and running.scale is None)
    for name, words in changed.items():
        print(f"recombine: {name}: {words}", file=sys.stderr)
    raise typer.Exit(1 if changed else 0)


def _reproduced(paper: Paper, only: list[str], folder: Path, running: Running, written: Written) -> Reproduction:
    """Bring units home if any are named, run what is left, and save what was asked to be saved."""
    from recombine.lab.papers.reproduce import Order
    from recombine.lab.runs.store import Store

    check_folder(written.store, "--store")
    _check_device(running.device)
    if running.owed and not folder.is_dir():
        raise InputError(f"{no_results(folder)}, or leave out --owed")
    scale, minutes, store = running.scale, running.minutes, Store(written.store)
    if running.merge:
        brought = [merge_units(paper, path, written.store) for path in running.merge]
        scale, minutes = scale or min(brought), minutes or 0.0
    order = Order(paper, scale or "quick", only, running.device, minutes, running.owed, written.force)
    # Where rows of results come in, they are judged with those of the store.
    shared = folder if (running.owed or written.save or running.merge) and folder.is_dir() else None
    pool = chosen_executor(running) or measured_processes(order, store, shared)
    state = run_order(order, store, pool, shared)
    if written.save:
        _save(state, folder)
    return state


def _write(state: Reproduction, written: Written) -> None:
    """Write the report and the figures where they were asked for, and say so."""
    if written.html is not None:
        from recombine.lab.report.page import paper_page

        write_whole(written.html, paper_page(state, command=written.command))
        say(f"report written to {written.html.resolve()}\n")
    if written.figures is not None:
        say(_draw(state, written.figures) + "\n")


def _numbers(only: list[str]) -> list[str]:
    """Split numbers of claims at commas; ids and numbers are in lower case."""
    return [name.strip().lower() for text in only for name in text.strip(", ").split(",")]


def _files(folder: Path, paper: Paper) -> list[Path]:
    """Return the files of results that a reproduction reads."""
    from recombine.lab.papers.record import FILE

    return [folder / FILE, *sorted((folder / paper.name).glob("*.*"))]


def _check(scale: str | None, html: Path | None, inputs: list[Path], force: bool) -> None:
    """Refuse before the work, not after it."""
    from recombine.lab.runs.experiment import SCALES

    if scale is not None and scale not in SCALES:
        raise InputError(f"--scale {scale} is unknown;{near_miss(scale, SCALES, f'Scales: {listing(SCALES)}')}")
    check_outputs([html], [None, *inputs], force)


def _check_figures(folder: Path, paper: Paper, only: list[str], force: bool) -> None:
    """Refuse a folder that takes no files, and to draw over a figure that is there."""
    check_folder(folder, "--figures")
    experiments = {claim.reads for claim in paper.chosen(only)}
    plots = [plot for plot in paper.figures if not only or experiments.issuperset(plot.experiments)]
    existing = [path for plot in plots if (path := folder / f"{plot.name}.svg").exists()]
    if existing and not force:
        raise InputError(f"{existing[0]} exists; choose another folder, or allow overwriting with --force")


def _check_device(device: str) -> None:
    """Refuse a device that is not there; kernels need none, so torch is not asked for."""
    if device == "cpu":
        return
    from importlib.util import find_spec

    if find_spec("torch") is None:
        raise InputError(f"--device {device} needs torch, which is not installed; {install_advice('nets')}")
    import torch

    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        # Where it does not know the word, torch lists every kind of device there ever was.
        unknown = "device string" in reason.lower()
        why = "is not a device" if unknown else f"cannot be used ({reason})"
        raise InputError(f"--device {device} {why}; use cpu, or where there is a GPU cuda or cuda:1") from None


def _check_judging(paper: Paper, folder: Path, store: Path, options: dict[str, bool]) -> None:
    """Refuse options that --from-results has no use for, and a folder without results."""
    if store != STORE:
        raise InputError("--from-results reads results and no store; leave out --store, or --from-results")
    for option, is_set in options.items():
        if is_set:
            raise InputError(f"--from-results runs nothing that {option} could write or read; leave out one of the two")
    if not folder.is_dir():
        raise InputError(f"{no_results(folder)}, or run without --from-results")
    if not any((folder / paper.name).glob("*.json")):
        raise InputError(f"{folder} has no results of {paper.name}; name another folder, or leave out --from-results")


def _save(state: Reproduction, folder: Path) -> None:
    """Write the results that have changed, and say how far each has come."""
    from recombine.lab.papers.record import record_of, save_record
    from recombine.lab.papers.results import load_evidence, same_evidence, save_evidence

    written = 0
    for name, evidence in state.results.items():
        old = load_evidence(folder, state.paper.name, name, (evidence.scale,))
        if old is None or not same_evidence(old, evidence):
            save_evidence(folder, state.paper.name, evidence)
            before = len(old.provenance.settings) if old else 0
            now = len(evidence.provenance.settings)
            print(f"{name}: {now} of {evidence.provenance.planned or now} units, {before} before", file=sys.stderr)
            written += 1
    save_record(folder, record_of(state.paper, folder))
    say_aside(f"{plural(written, 'result')} written to {folder / state.paper.name}")


def _draw(state: Reproduction, folder: Path) -> str:
    """Write the figures that can be drawn, and say how many, or why none."""
    from recombine.lab.report.figure import PaperFigure

    plots = [plot for plot in state.paper.figures if plot.drawable(state.results)]
    if not plots:
        return f"no figure written: {_why_none(state)}"
    folder.mkdir(parents=True, exist_ok=True)
    for plot in plots:
        PaperFigure(plot, state.results).save(folder / f"{plot.name}.svg")
    return f"{plural(len(plots), 'figure')} written to {folder.resolve()}"


def _why_none(state: Reproduction) -> str:
    figures = {name for claim in state.claims for name in claim.figures}
    experiments = {name for plot in state.paper.figures if plot.name in figures for name in plot.experiments}
    lacking = sorted(experiments - set(state.results))
    return f"there are no results of {listing(lacking)}" if lacking else "no figure shows these claims"


def check_folder(path: Path, option: str) -> None:
    """Raise unless files can be written to a folder, which may have to be made first."""
    if path.exists() and not path.is_dir():
        raise InputError(f"{option} {path} is a file; name a folder, which is made where it is missing")
    nearest = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not nearest.is_dir() or not takes_files(nearest):
        raise InputError(f"{option} {path} cannot be written; choose a folder you can write to")
