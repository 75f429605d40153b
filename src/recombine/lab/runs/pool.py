"""A pool of spawned processes in which one death costs one task, and none outlives its driver."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

#: Linux calls it PR_SET_PDEATHSIG: ask for a signal when the parent dies.
PARENT_DEATH_OPTION_ID = 1
#: Seconds between two looks at whether a process at work is still there.
LOOK_SECONDS = 1.0
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class LocalExecutor(Executor):
    """Processes of this machine, one task each at a time.

    The standard library's process pool breaks as a whole when one process dies, and leaves its processes behind when
    the parent is killed. Here a death fails the task that was at work with `BrokenProcessPool`, its process is
    replaced, and every process ends with its parent.

    Parameters
    ----------
    workers : int
        Processes; they start when they are first needed.
    threads : int
        BLAS, OpenMP and torch threads in each.

    Examples
    --------
    >>> with LocalExecutor(1) as executor:
    ...     executor.submit(divmod, 7, 2).result()
    (3, 1)
    """

    def __init__(self, workers: int, threads: int = 1) -> None:
        self.workers, self.in_flight = workers, 2 * workers
        self._threads = threads
        self._slot = threading.local()
        self._processes: set[_Process] = set()
        self._lock = threading.Lock()
        self._closed = False
        self._feeders = ThreadPoolExecutor(workers, thread_name_prefix="feeder")

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Queue a call; its function and arguments must be picklable."""
        return self._feeders.submit(self._call, fn, args, kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop the processes: after the queued calls, or at once with ``wait=False``."""
        if not wait:
            with self._lock:
                self._closed = True
                for process in self._processes:
                    process.kill()
        # With the processes dead this does not wait for any work, and afterwards nobody else touches them.
        self._feeders.shutdown(True, cancel_futures=cancel_futures or not wait)
        while self._processes:
            self._processes.pop().close()

    def pids(self) -> list[int]:
        """Return the ids of the processes that have been started and not replaced."""
        with self._lock:
            return [process.pid for process in self._processes]

    def _call(self, fn: Callable[..., T], args: tuple[Any, ...], kwargs: dict[str, Any]) -> T:
        process = self._process()
        try:
            result: T = process.call(fn, args, kwargs)
            return result
        except BrokenProcessPool:
            self._discard(process)
            raise

    def _process(self) -> _Process:
        process: _Process | None = getattr(self._slot, "process", None)
        if process is not None and process.alive():
            return process
        if process is not None:
            self._discard(process)
        with self._lock:
            if self._closed:
                raise BrokenProcessPool("the executor was shut down")
            process = self._slot.process = _Process(self._threads)
            self._processes.add(process)
        return process

    def _discard(self, process: _Process) -> None:
        with self._lock:
            self._processes.discard(process)
        process.close()
        self._slot.process = None


def measured_executor(
    fn: Callable[..., object], *args: object, counts: Sequence[int] = (1, 2, 4, 8), limit: float = 60.0
) -> tuple[LocalExecutor, dict[int, float]]:
    """Return an executor with as many processes as get the same call done most often, found by measurement.

    All processes start at once, one per core at most, and make the call once before it counts: what is loaded or
    compiled then is paid once, and no further time if they all go on working. A larger number is tried as long as the
    one before it brought at least a tenth more, and less than half of the time is spent. The smallest number within a
    twentieth of the best is taken.

    Parameters
    ----------
    fn, *args
        A call that can be pickled and takes seconds.
    counts : sequence of int
        Numbers to try, the smallest first.
    limit : float
        Seconds after which to be done, if the call is as short as hoped.

    Returns
    -------
    tuple of LocalExecutor and dict
        The executor, and calls per minute by number of processes.

    Examples
    --------
    >>> executor, rates = measured_executor(pow, 2, 10, counts=[1])
    >>> executor.workers, list(rates)
    (1, [1])
    >>> executor.shutdown()
    """
    executor, rates = LocalExecutor(max(counts)), {}
    try:
        rates = _rates(executor, counts, limit, fn, args)
        best = next(count for count, rate in rates.items() if rate >= 0.95 * max(rates.values()))
    except BaseException:
        executor.shutdown(wait=False)
        raise
    if best == len(executor.pids()):
        # Those that were measured are warm; no other is started as long as no more calls are handed in.
        executor.workers = executor.in_flight = best
        return executor, rates
    executor.shutdown()
    return LocalExecutor(best), rates


def _rates(
    executor: LocalExecutor, counts: Sequence[int], limit: float, fn: Callable[..., object], args: tuple[object, ...]
) -> dict[int, float]:
    start, rates = time.monotonic(), dict[int, float]()
    for count in _warmed(executor, counts, fn, args):
        rates[count] = 60 * count / _time(executor, count, fn, args)
        rising = len(rates) < 2 or rates[count] >= 1.1 * max(list(rates.values())[:-1])
        if not rising or time.monotonic() - start > limit / 2:
            break
    return rates


def _warmed(
    executor: LocalExecutor, counts: Sequence[int], fn: Callable[..., object], args: tuple[object, ...]
) -> Sequence[int]:
    """Make the call in as many processes as there are cores for and fit, and return the numbers up to that."""
    fit = [count for count in counts if count <= (os.cpu_count() or 1)] or [counts[0]]
    try:
        _time(executor, fit[-1], fn, args)
    except Exception:
        # So many do not fit, into the memory of a GPU say; that even the fewest fail is for the caller to hear.
        if len(fit) == 1:
            raise
        return _warmed(executor, fit[:-1], fn, args)
    return fit


def _time(executor: LocalExecutor, count: int, fn: Callable[..., object], args: tuple[object, ...]) -> float:
    start = time.monotonic()
    futures = [executor.submit(fn, *args) for _ in range(count)]
    wait(futures)
    for future in futures:
        future.result()
    return max(time.monotonic() - start, 1e-9)


class _Process:
    """One spawned process and the pipe to it."""

    def __init__(self, threads: int) -> None:
        spawn = get_context("spawn")
        self._pipe, theirs = spawn.Pipe()
        self._process = spawn.Process(target=_serve, args=(theirs, os.getpid(), threads), daemon=True)
        self._process.start()
        # Only the worker may hold its end, so that its death closes the pipe.
        theirs.close()
        self.pid: int = self._process.pid or 0

    def call(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        message = pickle.dumps((fn, args, kwargs))
        try:
            self._pipe.send_bytes(message)
            # What a unit has started may hold the worker's end open after its death: the pipe alone would not tell.
            while not self._pipe.poll(LOOK_SECONDS):
                if not self.alive() and not self._pipe.poll():
                    raise EOFError
            good, value = self._pipe.recv()
        except (EOFError, OSError):
            self._process.join()
            raise BrokenProcessPool(f"a worker process died (exit code {self._process.exitcode})") from None
        if good:
            return value
        raise value

    def alive(self) -> bool:
        return self._process.is_alive()

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        self._pipe.close()
        self._process.join(1.0)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _serve(pipe: Connection, parent: int, threads: int) -> None:
    end_with_parent(parent)
    limit_threads(threads)
    # Ctrl-C reaches the whole process group; the driver decides what becomes of its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(EOFError, OSError):
        while True:
            message = pipe.recv_bytes()
            pipe.send_bytes(_reply(message))


def _reply(message: bytes) -> bytes:
    try:
        fn, args, kwargs = pickle.loads(message)
        return pickle.dumps((True, fn(*args, **kwargs)))
    except Exception as error:
        try:
            text = pickle.dumps((False, error))
            pickle.loads(text)
            return text
        except Exception:
            return pickle.dumps((False, RuntimeError(traceback.format_exc())))


def end_with_parent(parent: int) -> None:
    """Have this process killed when its parent dies; leave at once if the parent is no longer ``parent``.

    The kernel watches the thread that started the process, not the whole parent: start workers from a thread that
    lives as long as they should.
    """
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PARENT_DEATH_OPTION_ID, signal.SIGKILL, 0, 0, 0)
    # The parent may have died before the request was made; then nothing would ever come.
    if os.getppid() != parent:
        os._exit(1)


def limit_threads(threads: int) -> None:
    """Keep numerical libraries in this process to a number of threads, those loaded later included."""
    for name in THREAD_VARIABLES:
        os.environ[name] = str(threads)
    from threadpoolctl import threadpool_limits

    threadpool_limits(threads)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)
