"""How many processes get most done: found by measurement, and told."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recombine.lab.runs.experiment import Experiment, Unit
from recombine.lab.runs.pool import measured_executor


def measured(fn: Callable[..., object], *args: object, **how: Any) -> tuple[int, dict[int, float]]:
    """Measure, and return the number of processes and the rates."""
    executor, rates = measured_executor(fn, *args, **how)
    with executor:
        assert executor.submit(divmod, 7, 2).result() == (3, 1)
        return executor.workers, rates


def wait(seconds: float) -> None:
    time.sleep(seconds)


def take_turns(path: Path) -> None:
    """Keep a device busy that serves one at a time."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        time.sleep(0.45)


def fit_two(folder: Path) -> None:
    """Fail where more than two are at work: memory for the third is lacking."""
    mine = folder / str(os.getpid())
    mine.touch()
    try:
        time.sleep(0.3)
        if len(list(folder.iterdir())) > 2:
            raise MemoryError("out of memory")
    finally:
        mine.unlink()


@pytest.fixture(autouse=True)
def cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 16)


@pytest.mark.slow
def test_work_that_does_not_share_gets_more_processes() -> None:
    count, rates = measured(wait, 0.5, counts=(1, 2, 4))
    assert count == 4
    assert rates[4] > 1.5 * rates[2] > 2 * rates[1]


@pytest.mark.slow
def test_processes_that_were_measured_go_on_working() -> None:
    executor, _ = measured_executor(wait, 0.3, counts=(1, 2))
    with executor:
        before = executor.pids()
        done = {executor.submit(os.getpid).result() for _ in range(5)}
        assert done <= set(before) == set(executor.pids())
        assert executor.in_flight == executor.workers == len(before) == 2


@pytest.mark.slow
def test_work_on_one_busy_device_gets_one(tmp_path: Path) -> None:
    count, rates = measured(take_turns, tmp_path / "device", counts=(1, 2, 4))
    assert count == 1
    assert list(rates) == [1, 2], "more were tried although two brought nothing"


@pytest.mark.slow
def test_more_than_fit_are_not_taken(tmp_path: Path) -> None:
    count, rates = measured(fit_two, tmp_path, counts=(1, 2, 4))
    assert (count, list(rates)) == (2, [1, 2])


@pytest.mark.slow
def test_there_is_a_core_for_each_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert list(measured(wait, 0.1, counts=(1, 2, 4))[1]) == [1, 2]


@pytest.mark.slow
def test_a_long_call_is_not_measured_for_ever() -> None:
    assert list(measured(wait, 0.2, counts=(1, 2, 4), limit=0.1)[1]) == [1]


@pytest.mark.slow
def test_work_that_always_fails_says_so() -> None:
    with pytest.raises(ZeroDivisionError):
        measured(divmod, 1, 0)


def half(unit: Unit) -> list[dict[str, float]]:
    return [{"half": unit.setting["x"] / 2}]


def test_a_unit_can_be_measured_without_a_store() -> None:
    experiment = Experiment("half", half, quick=[{"x": 3}], full=[])
    assert experiment.compute(experiment.units("quick")[0]) == [{"half": 1.5}]
    assert experiment.limited("quick", []).units("quick") == []
