"""Experiments for the tests, in a module that every kind of worker can import."""

from __future__ import annotations

import os
import signal
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from recombine.lab.nets.checkpoints import next_checkpoint
from recombine.lab.runs.experiment import Experiment, Result, Unit

#: Names the file that every started unit is written to; worker processes inherit it.
LOG = "RECOMBINE_TEST_LOG"
#: How long a unit sleeps, in milliseconds: not part of the setting, so that a fast run has the same keys as a slow one.
SLEEP = "RECOMBINE_TEST_SLEEP"


def started() -> list[str]:
    """Keys of the units that were started, in order, with repetitions."""
    path = Path(os.environ[LOG])
    return path.read_text(encoding="ascii").split() if path.exists() else []


def work(unit: Unit) -> Result:
    """Do what the setting says: raise, hang, doze or die; else return two rows and an array."""
    before = started().count(unit.key)
    handle = os.open(os.environ[LOG], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, f"{unit.key}\n".encode())
    os.close(handle)
    time.sleep(int(os.environ.get(SLEEP, "0")) / 1000)
    trouble = unit.setting.get("trouble", "")
    if trouble and not (trouble.endswith(" once") and before):
        make(trouble.removesuffix(" once"))
    rng = np.random.default_rng(unit.seeds[0])
    x = unit.setting["x"]
    rows = [{"half": half, "value": rng.normal() + x, "loss": np.inf if x == 1 else 0.5} for half in ("a", "b")]
    return Result(rows, {"draws": rng.normal(size=(2, 3))})


def make(trouble: str) -> None:
    if trouble == "raise":
        raise ArithmeticError("the loss is not a number")
    if trouble == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if trouble == "hang":
        while True:
            time.sleep(0.01)
    if trouble == "crowd":  # room for two
        seats = [Path(os.environ[LOG]).with_name(f"seat {number}") for number in range(2)]
        _sit(seats)
    if trouble == "huge":
        raise MemoryError("more than there is")
    if trouble == "doze":
        time.sleep(1.5)
    if trouble == "freeze":  # one call that nothing inside the process can interrupt
        time.sleep(60)


def _sit(seats: list[Path]) -> None:
    """Take a seat for a moment, or raise where all are taken."""
    for seat in seats:
        try:
            seat.mkdir()
        except FileExistsError:
            continue
        time.sleep(0.1)
        seat.rmdir()
        return
    raise MemoryError("every seat is taken")


def die_before_a_child(stay: Path) -> None:
    """Die and leave a child that holds on to all open files as long as there is a file ``stay``."""
    if os.fork():
        os.kill(os.getpid(), signal.SIGKILL)
    end = time.monotonic() + 60
    while stay.exists() and time.monotonic() < end:
        time.sleep(0.05)
    os._exit(0)


def experiment(count: int, trouble: dict[int, str] | None = None) -> Experiment:
    settings: list[dict[str, Any]] = [{"x": x} for x in range(count)]
    for x, word in (trouble or {}).items():
        settings[x]["trouble"] = word
    return Experiment("sample", work, quick=settings, full=[])


#: Steps of a unit that trains.
STEPS = 60


def learn(unit: Unit) -> list[dict[str, Any]]:
    """Train something in steps that are logged as ``key:step``; each depends on all before it."""
    rng, state = np.random.default_rng(unit.seeds[0]), np.zeros(3)
    checkpoint = next_checkpoint("sample")
    saved = checkpoint.load()
    begin = 0
    if saved is not None:
        begin, state, rng.bit_generator.state = saved["step"], saved["state"], saved["rng"]
    for step in range(begin, STEPS):
        checkpoint.offer(step, lambda: {"step": step, "state": state, "rng": rng.bit_generator.state})  # noqa: B023
        with Path(os.environ[LOG]).open("a", encoding="ascii") as file:
            file.write(f"{unit.key}:{step}\n")
        time.sleep(int(os.environ.get(SLEEP, "0")) / 1000)
        state = np.sin(state + rng.normal(size=3) + unit.setting["x"])
    return [{"x": unit.setting["x"], "end": float(state.sum())}]


def training(count: int) -> Experiment:
    return Experiment("sample training", learn, quick=[{"x": x} for x in range(count)], full=[])


def blas_threads() -> list[int]:
    import scipy.linalg  # noqa: F401 - loads a second BLAS after the limit was set
    from threadpoolctl import threadpool_info

    return [pool["num_threads"] for pool in threadpool_info()]


def torch_threads() -> int:
    import torch

    return int(torch.get_num_threads())


if __name__ == "__main__":  # a driver that tests can kill; arguments: store, executor, units, kind of unit
    # Workers must find the function by its importable name, not in this script.
    import sample_units

    from recombine.lab.runs.executors import make_executor
    from recombine.lab.runs.store import Store
    from recombine.lab.runs.sweep import run
    from recombine.lab.runs.worker import RunLimits

    _, root, name, count, kind = sys.argv
    executor, limits = partial(make_executor, name, workers=2), RunLimits(retries=20, save_every=0.1)
    sweep = run(getattr(sample_units, kind)(int(count)), "quick", Store(root), executor, limits=limits)
    print(sweep.ran, sweep.found, len(sweep.failures))
    sys.exit(not sweep.complete)
