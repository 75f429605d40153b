"""How `recombine reproduce` runs units: what may be said about it, where, with how many processes, for how long."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from recombine.errors import InputError, StoppedError
from recombine.writing import plural

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from recombine.lab.papers.paper import Paper
    from recombine.lab.papers.reproduce import Order, Reproduction, Watch
    from recombine.lab.runs.store import Store


class Running(msgspec.Struct, frozen=True, kw_only=True):
    """What is run, where and for how long."""

    scale: Annotated[str | None, "Minutes on a laptop, or the paper's size. [default: quick]", "quick|full"] = None
    device: Annotated[str, "Where networks train: cpu, cuda, cuda:1.", "DEVICE"] = "cpu"
    executor: Annotated[str, "Where units run.", "inline|local|dask|slurm"] = "local"
    address: Annotated[str | None, "Dask scheduler."] = None
    workers: Annotated[
        str | None, "Processes, Dask workers or Slurm jobs; auto measures how many processes get most done."
    ] = None
    minutes: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Stop after this long and save what is in training; call again to go on. 0 only reads the store.",
        ),
    ] = None
    owed: Annotated[bool, "Run only units that the results folder lacks; judge both together."] = False
    merge: Annotated[
        list[Path] | None,
        "First bring home the units of another store: its folder, or the file it was packed into. Then nothing is run "
        "unless --minutes is given.",
    ] = None


def merge_units(paper: Paper, path: Path, store: Path) -> str:
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


def chosen_executor(running: Running) -> Executor | None:
    """Return the executor that was asked for; None if the number of its processes is to be measured."""
    from recombine.lab.runs.executors import make_executor

    name, workers = running.executor, running.workers
    if workers == "auto":
        if name != "local":
            raise InputError(f"--workers auto measures processes of this machine, not of {name}; give a number")
        return None
    if workers is not None and not (workers.isdecimal() and int(workers)):
        raise InputError(f"--workers {workers} is no number of processes; give 1 or more, or auto")
    return make_executor(name, workers=None if workers is None else int(workers), address=running.address)


def measured_processes(order: Order, store: Store, results: Path | None) -> Executor:
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


def run_order(order: Order, store: Store, executor: Executor, results: Path | None) -> Reproduction:
    """Run what an order lacks; what is finished when it is stopped stays in the store."""
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
