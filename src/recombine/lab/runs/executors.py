"""Where units run, chosen by name: this process, its own pool, a Dask cluster, Slurm."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, InvalidStateError
from concurrent.futures import wait as wait_for
from functools import partial
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from recombine.errors import InputError, install_advice, near_miss
from recombine.lab.runs.pool import LocalExecutor
from recombine.writing import listing

P = ParamSpec("P")
T = TypeVar("T")

#: Seconds without a scheduler, or without a single worker of our own, after which a cluster counts as lost, and that an
#: answer may take to come.
LOST_AFTER_SECONDS = 10
LOST = "the scheduler or all workers of the Dask cluster are gone"

#: What Dask's client raises when its scheduler is gone, and after it has closed.
DISCONNECTED = (OSError, ValueError, RuntimeError, AttributeError)

#: Seconds between two looks at Slurm's queue, which many share.
QUEUE_LOOK_SECONDS = 15

NAMES = ("inline", "local", "dask", "slurm")


def make_executor(
    name: str = "local", *, workers: int | None = None, address: str | None = None, **options: Any
) -> Executor:
    """Return an executor by name; anything else that is a `concurrent.futures.Executor` works as well.

    Parameters
    ----------
    name : {"inline", "local", "dask", "slurm"}
        ``inline`` runs in this process; ``local`` in a process pool; ``dask`` on the cluster at ``address``, or on one
        started here; ``slurm`` through submitit.
    workers : int, optional
        Processes, Dask workers, or Slurm jobs at a time; if not given, two for a local Dask cluster, one per core for
        a pool.
    address : str, optional
        A Dask scheduler, e.g. ``"tcp://10.0.0.5:8786"``.
    **options
        ``local``: ``threads``. ``slurm``: ``folder`` for logs, ``cluster`` (``"slurm"``, or ``"local"`` to try it out)
        and submitit parameters such as ``timeout_min``, ``gpus_per_node``, ``slurm_partition``.

    Examples
    --------
    >>> with make_executor("inline") as executor:
    ...     executor.submit(pow, 2, 5).result()
    32
    >>> make_executor("ray")
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: executor 'ray' is unknown; executors: inline, local, dask, slurm
    """
    if name not in NAMES:
        raise InputError(f"executor {name!r} is unknown;{near_miss(name, NAMES, f'Executors: {listing(NAMES)}')}")
    if workers is not None and workers < 1:
        raise InputError(f"{workers} workers cannot do anything; ask for at least one")
    if address is not None and name != "dask":
        raise InputError(f"an address is for the executor 'dask', not {name!r}; leave one of them out")
    if name == "inline":
        return InlineExecutor()
    if name == "local":
        return LocalExecutor(workers or os.cpu_count() or 1, **options)
    if name == "dask":
        return DaskExecutor(address, workers or 2, **options)
    return SlurmExecutor(workers or 1000, **options)


class InlineExecutor(Executor):
    """Runs each call at once in the calling thread.

    Examples
    --------
    >>> InlineExecutor().submit(max, 3, 4).result()
    4
    """

    in_flight = 1

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run the call now."""
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class _Passed(Future[T]):
    """Stands for a future of the cluster, which is told when nobody waits for it any more."""

    inner: Any = None

    def cancel(self) -> bool:
        """Take the call back, unless its answer is on the way. Dask cannot stop what runs; it forgets it."""
        inner = self.inner
        if inner is None or inner.done() or not super().cancel():
            return False
        # Waiters do not count a future as done before this.
        self.set_running_or_notify_cancel()
        # A client that has lost its scheduler has forgotten the call already.
        with contextlib.suppress(Exception):
            inner.cancel()
        return True


class DaskExecutor(Executor):
    """Tasks on a Dask cluster, which re-runs the tasks of a worker that died by itself.

    Parameters
    ----------
    address : str, optional
        Scheduler; without one a cluster of this machine is started and stopped with the executor.
    workers : int
        Processes of that cluster, one thread each.
    """

    def __init__(self, address: str | None = None, workers: int = 2) -> None:
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            raise InputError(_missing("dask", "dask[distributed]")) from None
        connect: Any = Client
        start: Any = LocalCluster
        self._cluster: Any = None
        if address is None:
            # Any free port for the status page: the usual one is taken wherever a second cluster runs.
            self._cluster = start(n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0")
        try:
            self._client = connect(self._cluster or address)
        except (OSError, ValueError) as error:
            raise InputError(f"no Dask scheduler answers at {address}: {error}; start one or leave it out") from None
        self._pending: set[_Passed[Any]] = set()
        self._broken = threading.Event()
        threading.Thread(target=self._watch, name="dask-watcher", daemon=True).start()

    @property
    def in_flight(self) -> int:
        """How many tasks keep every worker busy."""
        try:
            threads: dict[str, int] = self._client.nthreads()
        except DISCONNECTED:
            return 1
        return 2 * max(sum(threads.values()), 1)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Send a call to the cluster."""
        if self._broken.is_set() or self._client.status == "closed":
            raise BrokenExecutor(LOST)
        outer: _Passed[T] = _Passed()
        # Two attempts at one unit are the same call; a pure task would be answered from the first.
        outer.inner = self._client.submit(fn, *args, pure=False, **kwargs)
        self._pending.add(outer)
        if self._broken.is_set():
            # Those who wait have been told; this one came too late to be among them.
            self._give_up()
        # Dask's own executor leaves a future open for good when fetching the answer fails.
        outer.inner.add_done_callback(partial(self._pass_on, outer))
        return outer

    def _pass_on(self, outer: _Passed[Any], inner: Any) -> None:
        self._pending.discard(outer)
        # While somebody holds on to an answer, Dask computes it again when the worker that has it dies.
        outer.inner = None
        value, error = _fetched(inner)
        # It may have been given up, or cancelled, in the meantime.
        with contextlib.suppress(InvalidStateError):
            outer.set_result(value) if error is None else outer.set_exception(error)

    def _watch(self) -> None:
        """Give up when the scheduler is gone, or every worker of our own: Dask does not always start them again."""
        alone = 0
        while not self._broken.wait(1.0):
            alone = 0 if self._connected() else alone + 1
            if alone >= LOST_AFTER_SECONDS:
                self._broken.set()
                self._give_up()

    def _connected(self) -> bool:
        # What is sent while the client tries to connect again is not answered if it never does.
        if self._client.status != "running":
            return False
        try:
            return self._cluster is None or bool(self._client.nthreads())
        except DISCONNECTED:
            return False

    def _give_up(self) -> None:
        for outer in list(self._pending):
            self._pending.discard(outer)
            with contextlib.suppress(InvalidStateError):
                outer.set_exception(BrokenExecutor(LOST))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster; stop it if it was started here."""
        if wait and not cancel_futures:
            wait_for(list(self._pending))
        self._broken.set()
        # What is left of a lost cluster may not close in time; that is no news to anybody.
        with contextlib.suppress(*DISCONNECTED):
            self._client.close(timeout=LOST_AFTER_SECONDS)
        # The loop that would have passed answers on has stopped.
        self._give_up()
        if self._cluster is not None:
            self._cluster.close()


def _fetched(inner: Any) -> tuple[Any, Exception | None]:
    """Return the answer of a Dask future that is done, or what went wrong with the call or on the way here."""
    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    try:
        return inner.result(timeout=LOST_AFTER_SECONDS), None
    except (CancelledError, TimeoutError, CommClosedError, KilledWorker) as error:
        return None, BrokenExecutor(f"Dask lost a call ({type(error).__name__}: {error})")
    except Exception as error:
        return None, error


class SlurmExecutor(Executor):
    """One Slurm job per task, through submitit. Jobs outlive a driver that is killed; their results stand in the store.

    Parameters
    ----------
    workers : int
        Jobs in the queue at a time.
    folder : str or Path
        Submitit's logs and pickles.
    cluster : str, optional
        Submitit's own word: ``"slurm"``, ``"local"`` (a subprocess per job) or ``"debug"``; found out unless given.
    poll : float
        Seconds between two looks at the jobs.
    **parameters
        For `submitit.AutoExecutor.update_parameters`.
    """

    def __init__(
        self,
        workers: int = 1000,
        *,
        folder: str | Path = "slurm-logs",
        cluster: str | None = None,
        poll: float = 1.0,
        **parameters: Any,
    ) -> None:
        try:
            import submitit
        except ImportError:
            raise InputError(_missing("slurm", "submitit")) from None
        # Without Slurm submitit would quietly run everything on this machine.
        if cluster is None and shutil.which("srun") is None:
            raise InputError("there is no Slurm here (no 'srun'); use the executor 'local', or run on a login node")
        self.in_flight = workers
        self._poll = poll
        self._executor: Any = submitit.AutoExecutor(folder=folder, cluster=cluster)
        self._executor.update_parameters(**parameters)
        self._jobs: dict[Future[Any], Any] = {}
        self._changed = threading.Condition()
        self._closing = False
        self._looked, self._away = time.monotonic(), frozenset[Future[Any]]()
        self._watcher = threading.Thread(target=self._watch, name="slurm-watcher", daemon=True)
        self._watcher.start()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Queue a job."""
        future: Future[T] = Future()
        with self._changed:
            if self._closing:
                raise RuntimeError("the executor was shut down")
            self._jobs[future] = self._executor.submit(fn, *args, **kwargs)
            self._changed.notify()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop watching: after the last job, or at once with the jobs cancelled."""
        with self._changed:
            self._closing = True
            if cancel_futures or not wait:
                for future in self._jobs:
                    future.cancel()
            self._changed.notify()
        self._watcher.join()

    def _watch(self) -> None:
        while True:
            with self._changed:
                if self._closing and not self._jobs:
                    return
                self._changed.wait(self._poll)
                jobs = dict(self._jobs)
            ended = {future for future, job in jobs.items() if _settled(future, job)}
            for future in ended | self._lost({future: job for future, job in jobs.items() if future not in ended}):
                with self._changed:
                    del self._jobs[future]

    def _lost(self, jobs: dict[Future[Any], Any]) -> set[Future[Any]]:
        """Break the futures of jobs that were neither queued nor had a result at two looks; return them.

        Submitit asks the accounting, every ten minutes, and not every Slurm keeps one.
        """
        if self._executor.cluster != "slurm" or not jobs or time.monotonic() - self._looked < QUEUE_LOOK_SECONDS:
            return set()
        self._looked = time.monotonic()
        queued = _queued()
        if queued is None:
            return set()
        away = {
            future for future, job in jobs.items() if job.job_id not in queued and not job.paths.result_pickle.exists()
        }
        lost = {future for future in away & self._away if future.set_running_or_notify_cancel()}
        for future in lost:
            future.set_exception(BrokenExecutor(f"Slurm job {jobs[future].job_id} ended without a result"))
        self._away = frozenset(away - lost)
        return lost


def _queued() -> set[str] | None:
    """Return the numbers of this user's jobs that Slurm has not ended; None if it does not say."""
    command = ["squeue", "--noheader", "--format=%A", f"--user={os.getuid()}"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return set(answer.stdout.split())


def _settled(future: Future[Any], job: Any) -> bool:
    """Hand a job's outcome to its future; return whether there is nothing left to watch."""
    if future.cancelled():
        with contextlib.suppress(OSError):
            job.cancel(check=False)
        # Waiters do not count a future as done before this.
        future.set_running_or_notify_cancel()
        return True
    try:
        if not job.done():
            return False
        value, error = job.result(), None
    except Exception as trouble:
        value, error = None, trouble
    if future.set_running_or_notify_cancel():
        future.set_exception(error) if error is not None else future.set_result(value)
    return True


def _missing(name: str, package: str) -> str:
    return f"executor {name!r} needs {package}; install it with: {install_advice('cluster')}"
