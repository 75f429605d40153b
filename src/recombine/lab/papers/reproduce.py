"""Run what a paper's claims need, or read it back, and judge every claim."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path

from recombine.errors import RecombineError
from recombine.lab.papers.claims import Claim
from recombine.lab.papers.paper import Paper
from recombine.lab.papers.results import (
    Evidence,
    Provenance,
    join_evidence,
    load_all_evidence,
    outdated,
    replan,
    require_joinable,
    same_rows,
    unit_keys,
    unit_rows,
)
from recombine.lab.papers.standing import Outcome, Standing
from recombine.lab.runs.collect import read_all
from recombine.lab.runs.experiment import SEEDS, Experiment
from recombine.lab.runs.store import Run, Store
from recombine.lab.runs.sweep import run
from recombine.lab.runs.worker import RunLimits
from recombine.tables.table import Table

#: Called with the state so far and the name of the experiment at work (None at the end).
Watch = Callable[["Reproduction", str | None], None]


@dataclass(frozen=True, eq=False)
class Reproduction:
    """A paper's claims judged against results.

    Parameters
    ----------
    paper : Paper
    claims : list of Claim
        Those that were asked for.
    results : dict of str to Evidence
        By the name of the experiment.

    Examples
    --------
    >>> from recombine.lab.papers import find
    >>> state = Reproduction(find("kernel-theory"), find("kernel-theory").chosen(["4"]), {})
    >>> state.outcomes["kernel-theory/4"].verdict
    <Standing.NOT_RUN: 'not run'>
    """

    paper: Paper
    claims: Sequence[Claim]
    results: dict[str, Evidence]
    _judged: dict[str, tuple[Evidence | None, Outcome]] = field(default_factory=dict, init=False, repr=False)

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """Outcome of each claim by its id; a claim is judged again only when it has other results to read."""
        return {claim.id: self._outcome(claim) for claim in self.claims}

    def _outcome(self, claim: Claim) -> Outcome:
        evidence = self.results.get(claim.reads)
        judged = self._judged.get(claim.id)
        if judged is None or judged[0] is not evidence:
            judged = self._judged[claim.id] = (evidence, claim.judge(self.results))
        return judged[1]

    @property
    def standings(self) -> list[Standing]:
        """Where each claim stands."""
        return [outcome.verdict for outcome in self.outcomes.values()]

    @property
    def failed(self) -> list[str]:
        """Ids of the claims whose check failed."""
        return [name for name, outcome in self.outcomes.items() if outcome.verdict is Standing.FAILS]

    @property
    def table(self) -> Table:
        """One row per claim: what was expected, what was measured, the verdict, the scale."""
        outcomes = self.outcomes
        return Table.from_rows(
            {
                "claim": claim.id,
                "statement": claim.statement,
                "expected": claim.expected,
                "measured": outcomes[claim.id].value,
                "verdict": outcomes[claim.id].verdict.value,
                "scale": outcomes[claim.id].scale,
            }
            for claim in self.claims
        )


def needed_experiments(paper: Paper, claims: Iterable[Claim]) -> dict[str, Experiment]:
    """Return the experiments that claims read, by name, in the paper's order; those not declared yet are left out.

    Examples
    --------
    >>> from recombine.lab.papers import find
    >>> paper = find("kernel-theory")
    >>> list(needed_experiments(paper, paper.chosen(["4", "6"])))
    ['leak']
    """
    names = {claim.reads for claim in claims}
    return {name: experiment for name, experiment in paper.by_name.items() if name in names}


def from_results(paper: Paper, folder: Path, *, scale: str | None = None, only: Sequence[str] = ()) -> Reproduction:
    """Judge claims against stored results.

    Parameters
    ----------
    paper : Paper
    folder : Path
        The results folder; the paper's own lies in it.
    scale : {"quick", "full"}, optional
        Only results of this scale; the largest at hand by default.
    only : sequence of str
        Ids or numbers of claims; all by default.
    """
    claims = paper.chosen(only)
    scales = ("full", "quick") if scale is None else (scale,)
    names = {claim.reads for claim in claims}
    if not only:
        names |= {name for plot in paper.figures for name in plot.experiments}
    return Reproduction(paper, claims, load_all_evidence(folder, paper.name, sorted(names), scales))


@dataclass(frozen=True)
class Order:
    """What is to be run, of which paper.

    Parameters
    ----------
    paper : Paper
    scale : {"quick", "full"}
    only : sequence of str
        Ids or numbers of claims; all by default.
    device : str
        Passed on to units that train networks.
    minutes : float, optional
        Stop after this long, saving what is in training, and judge claims on what is finished; 0 only reads the store.
    owed : bool
        Run only units that have no rows in the results folder.
    force : bool
        Where a unit has other rows in the results folder than in the store, take the store's; else it is an error.
    """

    paper: Paper
    scale: str = "quick"
    only: Sequence[str] = ()
    device: str = "cpu"
    minutes: float | None = None
    owed: bool = False
    force: bool = False


def reproduce(
    order: Order, store: Store, executor: Executor, *, results: Path | None = None, watch: Watch | None = None
) -> Reproduction:
    """Run the experiments that claims need, and judge them.

    Parameters
    ----------
    order : Order
    store : Store
        Finished units are kept there and not run again.
    executor : Executor
        Where units run; see `recombine.lab.runs.executors.make_executor`.
    results : Path, optional
        A results folder: claims are judged on its rows and those of the store together.
    watch : callable, optional
        Told about progress.

    Examples
    --------
    >>> import tempfile
    >>> from recombine.lab.papers import find
    >>> from recombine.lab.runs import make_executor
    >>> order = Order(find("kernel-theory"), only=["12"])
    >>> state = reproduce(order, Store(tempfile.mkdtemp()), make_executor("inline"))
    >>> state.outcomes["kernel-theory/12"].verdict
    <Standing.HOLDS: 'holds'>
    """
    paper, scale, minutes = order.paper, order.scale, order.minutes
    state = Reproduction(paper, paper.chosen(order.only), {})
    experiments = needed_experiments(paper, state.claims)
    stored = {} if results is None else load_all_evidence(results, paper.name, experiments, (scale,))
    if order.owed:
        state.results.update(stored)
    lacking = {
        name: _owed(experiment, scale, stored.get(name) if order.owed else None)
        for name, experiment in experiments.items()
    }
    end = time.monotonic() + 60 * (minutes or 0)
    for experiment in lacking.values() if minutes != 0 else ():
        experiment.require_needs(store.lacking(experiment.units(scale)))
    runs = {}
    for name, experiment in experiments.items():
        if watch is not None:
            watch(state, name)
        seconds = None if minutes is None else max(0.0, end - time.monotonic())
        _run(lacking[name], scale, store, executor, order.device, seconds)
        runs[name] = read_all(store, experiment, scale)
        if runs[name] and name not in stored:
            state.results[name] = _evidence(paper, name, scale, runs[name])
    # Not before everything has run: rows that do not fit together must not cost the experiments after them.
    for name, old in stored.items():
        state.results[name] = _joined(paper, name, runs[name], old, order.force)
    if watch is not None:
        watch(state, None)
    return state


def owed_experiments(order: Order, store: Store, *, results: Path | None = None) -> list[Experiment]:
    """Return the experiments that have units left, in the paper's order, each with the settings of those alone.

    Parameters
    ----------
    order : Order
        Its paper, scale and claims.
    store : Store
        Units that are finished there are not left.
    results : Path, optional
        A results folder: units that have rows there are not left either.

    Examples
    --------
    >>> import tempfile
    >>> from recombine.lab.papers import find
    >>> order = Order(find("kernel-theory"), only=["12"])
    >>> [experiment.name for experiment in owed_experiments(order, Store(tempfile.mkdtemp()))]
    ['kernel-theory/by-depth']
    """
    scale, experiments = order.scale, needed_experiments(order.paper, order.paper.chosen(order.only))
    stored = {} if results is None else load_all_evidence(results, order.paper.name, experiments, (scale,))
    remaining = (_owed(experiment, scale, stored.get(name)) for name, experiment in experiments.items())
    lacking = [
        experiment.limited(scale, (unit for unit in experiment.units(scale) if not store.has(unit.key)))
        for experiment in remaining
    ]
    return [experiment for experiment in lacking if experiment.settings(scale)]


def _owed(experiment: Experiment, scale: str, stored: Evidence | None) -> Experiment:
    """Return the experiment with those settings alone that have no rows yet."""
    if stored is None:
        return experiment
    keys = set(unit_keys(stored, experiment))
    return experiment.limited(scale, (unit for unit in experiment.units(scale) if unit.key not in keys))


def _run(
    experiment: Experiment, scale: str, store: Store, executor: Executor, device: str, seconds: float | None
) -> None:
    """Run what the store lacks as far as time allows."""
    if seconds == 0:
        return
    sweep = run(experiment, scale, store, executor, device=device, limits=RunLimits(seconds=seconds))
    if sweep.failures:
        raise RecombineError(
            f"{experiment.name} at scale {scale} is not complete: {sweep.failures[0].error}. What is finished is kept, "
            f"and {store.folder / 'failures'} has the details; mend that and run it again"
        )


def _joined(paper: Paper, name: str, runs: list[Run], old: Evidence, force: bool) -> Evidence:
    """Return an old result with the units of the store that it lacks; itself, if it lacks none."""
    experiment, by_key = paper.by_name[name], {run.key: run for run in runs}
    if not force:
        require_joinable(old, experiment, {key: run.rows for key, run in by_key.items()})
    elif runs and (outdated(old, experiment) or len(runs) == len(experiment.units(old.scale))):
        return _evidence(paper, name, old.scale, runs)
    stored_rows = unit_rows(old, experiment) if set(unit_keys(old, experiment)) & set(by_key) else {}
    fresh = [run for key, run in by_key.items() if key not in stored_rows or not same_rows(stored_rows[key], run.rows)]
    return (
        join_evidence(old, _evidence(paper, name, old.scale, fresh), experiment) if fresh else replan(old, experiment)
    )


def _evidence(paper: Paper, name: str, scale: str, runs: list[Run]) -> Evidence:
    settings = [run.spec["setting"] for run in runs]
    seeded = any(SEEDS in setting for setting in settings)
    devices = sorted({str(run.record.get("device", "cpu")) for run in runs})
    planned = len(paper.by_name[name].units(scale))
    provenance = Provenance(
        experiment=name,
        scale=scale,
        command=_command(paper, scale, devices),
        seed="named in the settings" if seeded else "nothing is drawn",
        device=", ".join(devices),
        seconds=round(sum(float(run.record.get("wall_seconds", 0.0)) for run in runs), 3),
        settings=settings,
        versions=_versions(runs),
        planned=0 if len(runs) == planned else planned,
        rows=[len(run.rows) for run in runs],
        schema=paper.by_name[name].schema,
    )
    return Evidence(Table.from_rows(row for run in runs for row in run.rows), provenance)


def _versions(runs: Iterable[Run]) -> dict[str, str]:
    """What the units were run with; where they differ, all that were used."""
    by_name: dict[str, set[str]] = {}
    for record in (unit.record for unit in runs):
        package_versions = {"recombine": record.get("recombine"), "python": record.get("python")}
        for name, version in {**package_versions, **record.get("libraries", {})}.items():
            if version is not None:
                by_name.setdefault(name, set()).add(str(version))
    return {name: ", ".join(sorted(versions)) for name, versions in by_name.items()}


def _command(paper: Paper, scale: str, devices: Iterable[str]) -> str:
    """What to type: with the kind of GPU that any unit was run on, whatever put the results together later."""
    device = next((name.split(" ")[0] for name in devices if name.startswith("cuda")), "cpu")
    return shlex.join(["recombine", "reproduce", paper.name, "--scale", scale, "--device", device])
