"""The command that reproduces a paper: runs what its claims need, or reads it back, and judges them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from recombine.cli.table_options import takes_table
from recombine.errors import InputError, StoppedError, near_miss
from recombine.lab.cli.papers import claims_on_screen, no_results
from recombine.output_files import check_folder, check_outputs, write_whole
from recombine.report.screen import say
from recombine.writing import listing, plural

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from recombine.lab.papers.paper import Paper
    from recombine.lab.papers.reproduce import Order, Reproduction, Watch
    from recombine.lab.runs.store import Store

#: Where finished units are kept unless --store says otherwise.
STORE = Path(".recombine")


class Running(msgspec.Struct, frozen=True, kw_only=True):
    """What is run, where and for how long."""

    scale: Annotated[
        str | None, typer.Option(help="quick (minutes on a laptop) or full (the paper's size). [default: quick]")
    ] = None
    device: Annotated[str, typer.Option(help="Where networks train: cpu, cuda, cuda:1.")] = "cpu"
    executor: Annotated[str, typer.Option(help="inline, local, dask or slurm.")] = "local"
    address: Annotated[str | None, typer.Option(help="Dask scheduler.")] = None
    workers: Annotated[
        str | None,
        typer.Option(help="Processes, Dask workers or Slurm jobs; auto measures how many processes get most done."),
    ] = None
    minutes: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Stop after this long and save what is in training; call again to go on. 0 only reads the store.",
        ),
    ] = None
    owed: Annotated[
        bool, typer.Option("--owed", help="Run only units that the results folder lacks; judge both together.")
    ] = False
    merge: Annotated[
        list[Path] | None,
        typer.Option(
            help="First bring home the units of another store: its folder, or the file it was packed into. "
            "Then nothing is run unless --minutes is given."
        ),
    ] = None


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """Where results are read and written."""

    html: Annotated[Path | None, typer.Option(help="Write the report with figures to this file.")] = None
    figures: Annotated[Path | None, typer.Option(help="Write every figure as SVG into this folder.")] = None
    save: Annotated[
        bool, typer.Option("--save", help="Add the units that were run to the results folder; rows in it stay.")
    ] = False
    results: Annotated[Path | None, typer.Option(help="Results folder (by default ./results).")] = None
    store: Annotated[Path, typer.Option(help="Folder of finished units; an interrupted run continues.")] = STORE
    force: Annotated[bool, typer.Option("--force", help="Overwrite report, figures and differing rows.")] = False


@takes_table()
def reproduce_command(
    paper: Annotated[str, typer.Argument(help="Short name, as listed by 'recombine papers'.")],
    *,
    running: Running,
    from_results: Annotated[
        bool, typer.Option("--from-results", help="Judge the results at hand instead of running anything.")
    ] = False,
    only: Annotated[list[str] | None, typer.Option(help="Only these claims: 13a,13b; may be repeated.")] = None,
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
        brought = [_merge(paper, path, written.store) for path in running.merge]
        scale, minutes = scale or min(brought), minutes or 0.0
    order = Order(paper, scale or "quick", only, running.device, minutes, running.owed, written.force)
    # Where rows of results come in, they are judged with those of the store.
    shared = folder if (running.owed or written.save or running.merge) and folder.is_dir() else None
    pool = _executor(running.executor, running.workers, running.address) or _measured(order, store, shared)
    state = _run(order, store, pool, shared)
    if written.save:
        _save(state, folder)
    return state


def _write(state: Reproduction, written: Written) -> None:
    """Write the report and the figures where they were asked for, and say so."""
    if written.html is not None:
        from recombine.lab.report.page import paper_page

        write_whole(written.html, paper_page(state, command=" ".join(["recombine", *sys.argv[1:]])))
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
        raise InputError(f"--scale {scale} is unknown;{near_miss(scale, SCALES)} Scales: {listing(SCALES)}")
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


def _merge(paper: Paper, path: Path, store: Path) -> str:
    """Bring another store's units home, say what came, and return the largest scale they belong to."""
    from recombine.lab.report.terminal import merge_lines
    from recombine.lab.runs.collect import merge_stores, opened_store
    from recombine.lab.runs.store import Store

    with opened_store(path) as source:
        merged = merge_stores(source, Store(store))
        for line in merge_lines(merged, paper, path):
            print(line, file=sys.stderr)
    keys = {run.key for run in merged.sound}
    full = {unit.key for experiment in paper.experiments for unit in experiment.units("full")}
    return "full" if keys & full else "quick"


def _executor(name: str, workers: str | None, address: str | None) -> Executor | None:
    """Return the executor that was asked for; None if the number of its processes is to be measured."""
    from recombine.lab.runs.executors import make_executor

    if workers == "auto":
        if name != "local":
            raise InputError(f"--workers auto measures processes of this machine, not of {name}; give a number")
        return None
    if workers is not None and not (workers.isdecimal() and int(workers)):
        raise InputError(f"--workers {workers} is no number of processes; give 1 or more, or auto")
    return make_executor(name, workers=None if workers is None else int(workers), address=address)


def _measured(order: Order, store: Store, results: Path | None) -> Executor:
    """Measure on a unit of the quick grid: it is of the same kind as those of the full one, and over soon."""
    from recombine.lab.papers.reproduce import owed_experiments
    from recombine.lab.runs.pool import LocalExecutor, measured_executor

    owed = owed_experiments(order, store, results=results if order.owed else None)
    names = [lacking.name.rpartition("/")[2] for lacking in owed if order.minutes != 0]
    quick = [name for name in names if order.paper.by_name[name].quick]
    if not quick:
        return LocalExecutor(1)
    experiment = order.paper.by_name[quick[0]]
    bare = replace(experiment, quick=(), full=(), needs=None)
    executor, rates = measured_executor(bare.compute, experiment.units("quick", order.device)[0])
    measured = ", ".join(f"{rate:.3g} with {tried}" for tried, rate in rates.items())
    print(
        f"recombine: --workers {executor.workers}; quick units of {bare.name} per minute: {measured}", file=sys.stderr
    )
    return executor


def _run(order: Order, store: Store, executor: Executor, results: Path | None) -> Reproduction:
    from recombine.lab.papers.reproduce import reproduce

    try:
        with _live() as watch:
            state = reproduce(order, store, executor, results=results, watch=watch)
    except BaseException as error:
        # Not after the units at work: those may take hours.
        executor.shutdown(wait=False, cancel_futures=True)
        if not isinstance(error, KeyboardInterrupt):
            raise
        raise StoppedError(
            f"stopped. Finished units are in {store.root}, and what was saved of others; "
            "the same command goes on from there."
        ) from None
    executor.shutdown()
    if order.minutes:
        _say_what_is_left(order, store, results)
    return state


def _say_what_is_left(order: Order, store: Store, results: Path | None) -> None:
    """Say that the time was up, if it was, and that nothing is lost."""
    from recombine.lab.papers.reproduce import owed_experiments

    experiments = owed_experiments(order, store, results=results if order.owed else None)
    keys = [unit.key for experiment in experiments for unit in experiment.units(order.scale)]
    begun = sum(store.checkpoints(key).is_dir() for key in keys)
    if keys:
        print(
            f"recombine: {plural(len(keys), 'unit')} to go, {begun} of them part way; "
            "the same command goes on from there.",
            file=sys.stderr,
        )


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
    print(f"{plural(written, 'result')} written to {folder / state.paper.name}", file=sys.stderr)


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


@contextmanager
def _live() -> Iterator[Watch | None]:
    """Keep the table of claims up to date on stderr when a person is watching."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield None
        return
    from rich.live import Live

    from recombine.lab.report.terminal import claim_grid

    with Live(console=console, transient=True, auto_refresh=False) as live:

        def show(state: Reproduction, running: str | None) -> None:
            live.update(claim_grid(state, running, brief=True), refresh=True)

        yield show
