"""What a worker does with one unit: lease it, run it against the clock, store it. The same on every executor."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from recombine.checks import real
from recombine.errors import InputError, missing_package
from recombine.lab.nets.checkpoints import SAVE_SECONDS, TrainingPausedError, keep_checkpoints
from recombine.lab.runs.experiment import Experiment, Unit
from recombine.lab.runs.leases import Lease, heartbeat, process_identity
from recombine.lab.runs.provenance import worker_record
from recombine.lab.runs.store import Store

Status = Literal["done", "found", "busy", "failed", "paused", "crowded"]


class TimeIsUpError(BaseException):
    """Raised inside a unit that ran past its limit; not an Exception, so that a unit cannot swallow it by accident."""


@dataclass(frozen=True)
class RunLimits:
    """How often and how long units may try.

    Parameters
    ----------
    retries : int
        Further attempts at a unit that raised, ran out of time or lost its worker.
    timeout : float, optional
        Seconds a unit may take. It is interrupted then, and its process killed if it does not stop within ``grace``;
        units that share the driver's process (``inline``) are only interrupted.
    seconds : float, optional
        Start no unit after this long. A unit that is training then saves its state and stops, any other is finished;
        another call goes on from there.
    save_every : float
        Seconds between two saves of a unit that is training.
    """

    retries: int = 1
    timeout: float | None = None
    grace: float = 10.0
    seconds: float | None = None
    save_every: float = SAVE_SECONDS

    def __post_init__(self) -> None:
        if self.retries < 0:
            raise InputError(f"retries={self.retries} is negative; 0 means one attempt per unit")
        if self.timeout is not None and self.timeout <= 0:
            raise InputError(f"timeout={self.timeout} leaves no time; give seconds per unit, or None for no limit")
        real(self.save_every, "save_every", at_least=0)


@dataclass(frozen=True)
class Errand:
    """All a worker needs to know, in any process on any host.

    Parameters
    ----------
    experiment : Experiment
    unit : Unit
    store : Store
    driver : str
        Unique to one call of the driver; workers lost under it count against the unit.
    record : dict
        The driver's part of the provenance.
    home : dict
        Identity of the driver's process, which a worker that shares it must not kill.
    limits : RunLimits
        A unit may bring down as many workers as it may be tried again before it is given up.
    until : float
        When (``time.time()``) a unit in training is to save its state and stop.
    """

    experiment: Experiment
    unit: Unit
    store: Store
    driver: str
    record: dict[str, Any] = field(default_factory=dict)
    home: dict[str, Any] = field(default_factory=process_identity)
    limits: RunLimits = field(default_factory=RunLimits)
    until: float = float("inf")


@dataclass(frozen=True)
class WorkAnswer:
    """What became of one attempt.

    Parameters
    ----------
    status : {"done", "found", "busy", "failed", "paused", "crowded"}
        Ran now; had been finished before; somebody else is at work on it; raised, ran out of time or kept dying; was in
        training when the time was up, and can go on; found too little memory free, which others may have taken.
    seconds : float
    error : str
        One line for a failure.
    details : str
        The traceback.
    final : bool
        Trying again cannot help.
    """

    status: Status
    seconds: float = 0.0
    error: str = ""
    details: str = ""
    final: bool = False


def execute(errand: Errand) -> WorkAnswer:
    """Run one unit and store its result.

    Examples
    --------
    >>> import tempfile
    >>> def double(unit):
    ...     return [{"value": 2 * unit.setting["x"]}]
    >>> experiment = Experiment("double", double, quick=[{"x": 4}], full=[])
    >>> store, unit = Store(tempfile.mkdtemp()), experiment.units("quick")[0]
    >>> [execute(Errand(experiment, unit, store, driver="d1")).status for _ in range(2)]
    ['done', 'found']
    >>> store.read(unit.key).rows
    [{'value': 8}]
    """
    store, key = errand.store, errand.unit.key
    if store.has(key):
        return WorkAnswer("found")
    lease = store.leases.take(key, errand.driver)
    if lease is None:
        return WorkAnswer("busy")
    if lease.losses > errand.limits.retries and not store.has(key):
        # An answer can be lost with its worker, and is then asked for again: it must be the same.
        store.leases.withdraw(lease)
        return WorkAnswer("failed", error=lease.reason or f"its worker died ({lease.losses} in a row)", final=True)
    try:
        # Again, now that nobody else can start: it may have been finished between the look and the lease.
        return WorkAnswer("found") if store.has(key) else _attempt(errand, lease)
    finally:
        store.leases.release(lease)


def _attempt(errand: Errand, lease: Lease) -> WorkAnswer:
    start = time.perf_counter()
    states, about = errand.store.checkpoints(errand.unit.key), {"device": errand.unit.device}
    try:
        with heartbeat(lease, errand.store.stale_after / 8):
            with (
                keep_checkpoints(
                    states, seconds=errand.limits.save_every, until=errand.until, about=about
                ) as checkpoints,
                _deadline(errand, lease),
            ):
                rows = errand.experiment.function(errand.experiment.ready(errand.unit))
            fresh = errand.store.write(errand.unit, rows, _record(errand, checkpoints.pieces), lease)
            shutil.rmtree(states, ignore_errors=True)
        return WorkAnswer("done" if fresh else "found", time.perf_counter() - start)
    except TrainingPausedError:
        return WorkAnswer("paused", time.perf_counter() - start)
    except TimeIsUpError:
        return WorkAnswer("failed", errand.limits.timeout or 0.0, f"ran past its limit of {errand.limits.timeout:g} s")
    except ModuleNotFoundError as error:
        return WorkAnswer("failed", 0.0, str(missing_package(error)), traceback.format_exc(), final=True)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # A unit that calls sys.exit fails like any other: it must not end its worker, and be begun anew for ever.
        text = f"{type(error).__name__}: {error}"
        seconds = time.perf_counter() - start
        status: Status = "crowded" if _is_out_of_memory(error) else "failed"
        return WorkAnswer(status, seconds, text, traceback.format_exc(), final=isinstance(error, InputError))
    finally:
        _give_back_gpu_memory()


def _is_out_of_memory(error: BaseException) -> bool:
    # torch names its own error so; it is not imported here, since units without a network do without it.
    return isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"


def _give_back_gpu_memory() -> None:
    """Return to the device what torch holds back for its next unit, which may be a smaller one of another process."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()


def _record(errand: Errand, pieces: list[dict[str, Any]]) -> dict[str, Any]:
    # A unit that was stopped on the way has several pieces, maybe on several devices.
    story = {"pieces": pieces} if len(pieces) > 1 else {}
    return {
        **errand.record,
        **story,
        **worker_record(errand.unit.device),
        "driver": errand.driver,
        "setting": errand.unit.setting,
        "seeds": list(errand.unit.seeds),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "wall_seconds": round(sum(piece["seconds"] for piece in pieces), 4),
    }


@contextlib.contextmanager
def _deadline(errand: Errand, lease: Lease) -> Iterator[None]:
    """Interrupt the block when the time is up; end the process if the block does not stop then."""
    if errand.limits.timeout is None:
        yield
        return
    # Freeing a lock is a single step. The exception may arrive in the middle of setting an event, and leave it locked.
    over, sent = threading.Lock(), threading.Event()
    over.acquire()
    timer = threading.Thread(target=_watch, args=(errand, lease, over, sent, threading.get_ident()), daemon=True)
    try:
        timer.start()
        yield
    finally:
        # The exception is sent at most once, but may arrive as late as here: hence the second try.
        try:
            over.release()
            timer.join()
        finally:
            if over.locked():
                over.release()
            timer.join()
            if sent.is_set():
                _absorb()


def _watch(errand: Errand, lease: Lease, over: threading.Lock, sent: threading.Event, thread: int) -> None:
    if over.acquire(timeout=errand.limits.timeout or 0.0):
        return
    sent.set()
    _raise_in(thread, TimeIsUpError)
    if over.acquire(timeout=max(errand.limits.grace, 0.0)) or process_identity() == errand.home:
        return
    with contextlib.suppress(OSError):
        lease.note(f"ran past its limit of {errand.limits.timeout:g} s and did not stop")
    os.kill(os.getpid(), signal.SIGKILL)


def _raise_in(thread: int, error: type[BaseException]) -> None:
    # The only interruption that works in any thread: Dask runs its tasks outside the main one, where no signal arrives.
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


def _absorb() -> None:
    """Meet an exception here that may still be on its way and would hit whatever runs next.

    There is room for one in a thread, so another takes its place and arrives at once. To take it back instead leaves
    the interpreter looking out for it at every call, and Python 3.11 going round for ever under a debugger.
    """
    try:
        _raise_in(threading.get_ident(), TimeIsUpError)
        for _ in range(1000):
            pass
    except TimeIsUpError:
        pass
