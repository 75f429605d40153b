"""The driver: runs every unfinished unit of an experiment on any executor, and survives what can go wrong."""

from __future__ import annotations

import secrets
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from recombine.errors import InputError, RecombineError
from recombine.interrupts import interrupts_wait
from recombine.lab.runs.executors import InlineExecutor, make_executor
from recombine.lab.runs.experiment import Experiment, Unit
from recombine.lab.runs.outcome import Failure, Sweep
from recombine.lab.runs.progress import Progress
from recombine.lab.runs.provenance import driver_record
from recombine.lab.runs.store import Store
from recombine.lab.runs.worker import Errand, RunLimits, WorkAnswer, execute
from recombine.writing import listing, plural

#: Times in a row that an executor may break before any unit has begun.
BARREN_BREAKS = 10
#: Seconds between two looks at units that another driver holds, and at the executor.
TICK_SECONDS = 0.2
#: Seconds between two looks for units that have ended without an answer; two looks in a row must find one so.
SILENCE_SECONDS = 30.0


class ExecutorError(RecombineError):
    """The executor cannot run anything; the text says what to look at."""


def run(
    experiment: Experiment,
    scale: str = "quick",
    store: Store | str | Path = "recombine-runs",
    executor: Executor | Callable[[], Executor] | str = "local",
    *,
    device: str = "cpu",
    limits: RunLimits | None = None,
    progress: bool = True,
) -> Sweep:
    """Run the unfinished units of an experiment; a call that was killed continues where it stopped.

    Parameters
    ----------
    experiment : Experiment
    scale : {"quick", "full"}
    store : Store or path
        Shared by all workers: for Dask on several hosts and for Slurm a folder that every host sees.
    executor : str, Executor or callable
        A name for `make_executor`, a ready executor (left open), or a function that makes one (closed at the end, and
        made again if it breaks).
    device : str
        Handed to the units and recorded; not part of their keys.
    limits : RunLimits, optional
    progress : bool
        Tell stderr how far it is.

    Returns
    -------
    Sweep
        Counts, and the failures with their settings. They are also kept in the store's ``failures/``.

    Examples
    --------
    >>> import tempfile
    >>> from recombine.lab.runs import collect
    >>> from recombine.lab.runs import grid
    >>> def square(unit):
    ...     return [{"square": unit.setting["x"] ** 2}]
    >>> experiment = Experiment("squares", square, quick=grid(x=range(3)), full=grid(x=range(9)))
    >>> store = Store(tempfile.mkdtemp())
    >>> run(experiment, "quick", store, "inline", progress=False)
    Sweep('squares', quick: 3 run, 0 found, 0 failed, 0 left)
    >>> run(experiment, "full", store, "inline", progress=False).ran  # three of the nine are there
    6
    >>> collect(store, experiment, "quick")["square"]
    array([0, 1, 4])
    """
    limits = limits or RunLimits()
    store = store if isinstance(store, Store) else Store(store)
    store.tidy()
    units = experiment.units(scale, device)
    unfinished = store.lacking(units)
    experiment.require_needs(unfinished)
    stored = len(units) - len(unfinished)
    line = Progress(f"{experiment.name} ({scale})", len(units), stored) if progress else None
    start = time.monotonic()
    if not unfinished:
        return Sweep(experiment.name, scale, len(units), 0, stored, (), 0.0)
    if isinstance(executor, str):
        executor = partial(make_executor, executor)
    # A grid of thousands of settings need not travel with each of them.
    bare = replace(experiment, quick=(), full=(), needs=None)
    end = float("inf") if limits.seconds is None else time.time() + limits.seconds
    errand = Errand(bare, unfinished[0], store, secrets.token_hex(8), driver_record(), limits=limits, until=end)
    driver = _Driver(errand, unfinished, _Source(executor), line)
    try:
        driver.work()
    finally:
        store.tidy()
    took = time.monotonic() - start
    counts = (len(units), driver.ran, stored + driver.found)
    return Sweep(experiment.name, scale, *counts, tuple(driver.failures), took, driver.paused)


class _Source:
    """The executor in use, and whether it can be made anew."""

    def __init__(self, executor: Executor | Callable[[], Executor]) -> None:
        self._make = None if isinstance(executor, Executor) else executor
        self._executor = executor if isinstance(executor, Executor) else executor()
        if not isinstance(self._executor, Executor):
            raise InputError(f"{executor!r} is no concurrent.futures.Executor, nor a function that makes one")

    @property
    def in_flight(self) -> int:
        """Errands to keep submitted: enough to keep every worker busy, few enough to stop quickly."""
        workers = getattr(self._executor, "_max_workers", 8)
        return int(getattr(self._executor, "in_flight", 2 * workers))

    @property
    def workers(self) -> int:
        """Units that are at work beside each other, so far as the executor says."""
        return int(getattr(self._executor, "workers", getattr(self._executor, "_max_workers", self.in_flight)))

    @property
    def inline(self) -> bool:
        return isinstance(self._executor, InlineExecutor)

    def submit(self, errand: Errand) -> Future[WorkAnswer]:
        return self._executor.submit(execute, errand)

    def renew(self, error: Exception) -> None:
        if self._make is None:
            raise ExecutorError(
                f"the executor broke ({error}) and cannot be made again; finished units are kept. "
                "Give run() a name or a function that makes the executor, and call it again"
            ) from error
        self.close(now=True)
        self._executor = self._make()

    def close(self, *, now: bool) -> None:
        if self._make is not None:
            self._executor.shutdown(wait=not now)


class _Driver:
    """Keeps the executor supplied and judges what comes back."""

    def __init__(self, errand: Errand, units: list[Unit], source: _Source, progress: Progress | None) -> None:
        self.ran, self.found, self.paused = 0, 0, 0
        self.failures: list[Failure] = []
        self._errand, self._store, self._source = errand, errand.store, source
        self._limits, self._progress = errand.limits, progress
        self._pending = deque(units)
        self._running: dict[Future[WorkAnswer], Unit] = {}
        self._waiting: list[Unit] = []
        self._attempts: Counter[str] = Counter()
        self._silent: set[Future[WorkAnswer]] = set()
        self._mourned: set[str] = set()
        self._barren = 0
        self._most_at_once = float("inf")
        self._start = self._looked = self._listened = time.monotonic()
        self._end = float("inf") if self._limits.seconds is None else self._start + self._limits.seconds

    def work(self) -> None:
        """Run until every unit is finished or given up."""
        try:
            if not self._source.inline:
                self._errand.experiment.require_importable()
            with interrupts_wait(not self._source.inline) as interrupted:
                while self._pending or self._running or self._waiting:
                    if interrupted():
                        raise KeyboardInterrupt
                    if time.monotonic() >= self._end:
                        self._let_go()
                    self._submit()
                    self._settle()
                    self._recover()
                    self._wake()
                    self._show()
        except BaseException:
            # Whatever is running may be lost; nothing that is finished is.
            for future in self._running:
                future.cancel()
            self._source.close(now=True)
            self._show(last=True)
            raise
        self._source.close(now=False)
        self._show(last=True)

    def _let_go(self) -> None:
        """Drop everything that is not running yet."""
        self._pending.clear()
        self._waiting.clear()
        # Not every executor knows what it has begun; a lease does.
        for future, unit in list(self._running.items()):
            if not self._store.leases.held(unit.key) and future.cancel():
                del self._running[future]
                if self._store.has(unit.key):
                    self._finish(unit)

    def _submit(self) -> None:
        limit = min(self._source.in_flight, self._most_at_once)
        while self._pending and len(self._running) < limit:
            try:
                future = self._source.submit(replace(self._errand, unit=self._pending[0]))
            except (BrokenExecutor, OSError) as error:
                self._count_barren(error)
                self._source.renew(error)
            else:
                self._running[future] = self._pending.popleft()

    def _settle(self) -> None:
        if not self._running:
            time.sleep(TICK_SECONDS if self._waiting else 0.0)
            return
        done, _ = wait(self._running, timeout=TICK_SECONDS, return_when=FIRST_COMPLETED)
        broken = None
        for future in done:
            unit = self._running.pop(future)
            try:
                self._judge(unit, future.result())
                self._barren = 0
            except Exception as error:
                broken = self._lost(unit, error) or broken
        if broken is not None:
            self._count_barren(broken)

    def _recover(self) -> None:
        """Take back the units that are finished, or whose worker is gone, and for which no answer has come."""
        now = time.monotonic()
        # Each look costs a few file operations per unit: with many units, look less often.
        if now - self._listened < max(SILENCE_SECONDS, 0.1 * len(self._running)):
            return
        self._listened = now
        silent = {future for future, unit in self._running.items() if self._ended(unit)}
        for future in silent & self._silent:
            unit = self._running.pop(future)
            future.cancel()
            self._lost(unit, BrokenExecutor("no answer came"))
        self._silent = silent

    def _ended(self, unit: Unit) -> bool:
        begun = self._begun(unit) is not None
        return self._store.has(unit.key) or (begun and not self._store.leases.held(unit.key))

    def _begun(self, unit: Unit) -> dict[str, Any] | None:
        """Return the lease of the last worker of this driver, unless its death has been counted before."""
        words = self._store.leases.last_words(unit.key) or {}
        mine = words.get("driver") == self._errand.driver and words.get("token") not in self._mourned
        return words if mine else None

    def _judge(self, unit: Unit, answer: WorkAnswer) -> None:
        if answer.status == "failed":
            self._retry(unit, answer.error, answer.details, final=answer.final)
        elif answer.status == "busy":
            self._waiting.append(unit)
        elif answer.status == "crowded":
            self._make_room(unit, answer)
        elif answer.status == "paused":
            self.paused += 1
        else:
            self._finish(unit, ran=answer.status == "done")

    def _make_room(self, unit: Unit, answer: WorkAnswer) -> None:
        """Run fewer units at once from now on; one that lacks memory with no other beside it has failed."""
        at_once = min(self._source.workers, self._most_at_once)
        if at_once > 1 or self._running:
            self._most_at_once = max(1, at_once - 1)
            self._pending.append(unit)
        else:
            self._retry(unit, answer.error, answer.details)

    def _finish(self, unit: Unit, *, ran: bool = False) -> None:
        # A unit found in the store is one of this driver's all the same if only its answer was lost.
        ran = ran or self._store.record(unit.key).get("driver") == self._errand.driver
        self.ran += ran
        self.found += not ran
        self._store.clear_failure(unit.key)

    def _lost(self, unit: Unit, error: BaseException) -> BaseException | None:
        """Deal with a unit whose worker did not answer; return the error if the unit had not even begun."""
        words = self._begun(unit)
        if self._store.has(unit.key):
            self._finish(unit)
        elif words is not None:
            self._mourned.add(words["token"])
            self._retry(unit, words.get("reason") or f"its worker died: {error}", "")
        elif isinstance(error, BrokenExecutor | CancelledError):
            self._pending.append(unit)
            return error
        else:
            self._retry(unit, f"{type(error).__name__}: {error}", "")
        return None

    def _retry(self, unit: Unit, error: str, details: str, *, final: bool = False) -> None:
        self._attempts[unit.key] += 1
        attempts = self._attempts[unit.key]
        if attempts <= self._limits.retries and not final:
            # To the back of the queue: what troubled it may have passed by then.
            self._pending.append(unit)
            return
        failure = Failure(unit, error, details, attempts)
        self.failures.append(failure)
        story = {**unit.spec, "error": error, "details": details, "attempts": attempts, "record": self._errand.record}
        self._store.write_failure(unit.key, story)

    def _count_barren(self, error: BaseException) -> None:
        self._barren += 1
        if self._barren > BARREN_BREAKS:
            raise ExecutorError(
                f"workers died {self._barren} times in a row before they began a unit ({error}); "
                "look at their memory, whether they can import the experiment's module, and that a script that calls "
                "run() does so under: if __name__ == '__main__'"
            ) from error

    def _wake(self) -> None:
        """Look after the units that somebody else holds."""
        now = time.monotonic()
        if now - self._looked < max(TICK_SECONDS, 0.01 * len(self._waiting)):
            return
        self._looked = now
        waiting, self._waiting = self._waiting, []
        for unit in waiting:
            if self._store.has(unit.key):
                self._finish(unit)
            elif self._store.leases.held(unit.key):
                self._waiting.append(unit)
            else:
                self._pending.append(unit)

    def _show(self, *, last: bool = False) -> None:
        if self._progress is not None:
            elapsed = time.monotonic() - self._start
            done, failed = self.ran + self.found, len(self.failures)
            self._progress.update(done, failed, elapsed, last=last, waits_for=self._awaited)

    def _awaited(self) -> str:
        """Say who is waited for, once nothing else is left to do."""
        if not self._waiting or self._running or self._pending:
            return ""
        hosts = sorted({self._store.leases.holder(unit.key) for unit in self._waiting[:20]})
        return f"{plural(len(self._waiting), 'unit')} at work on {listing(hosts, 3)}"
