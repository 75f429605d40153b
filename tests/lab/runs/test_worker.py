"""A unit against the clock: whatever happens at the last moment, its watcher ends and the next unit is left alone."""

from __future__ import annotations

import dis
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from sample_units import experiment

from recombine.lab.runs import worker
from recombine.lab.runs.experiment import Rows, Unit
from recombine.lab.runs.leases import Lease
from recombine.lab.runs.store import Store
from recombine.lab.runs.worker import Errand, RunLimits, TimeIsUpError, execute


def errand(store: Store, **options: Any) -> Errand:
    work = experiment(1)
    return Errand(work, work.units("quick")[0], store, "d1", **options)


class Interruption:
    """Raises in the traced thread, once, at one of the moments after the time was up at which Python would do so.

    It does so at the start of a function, after a call and on the way back in a loop.
    """

    def __init__(self, moment: int) -> None:
        self.left = moment
        self.possible = False
        self.sent = threading.Event()
        self.arrived = self.traced = False

    def __call__(self, frame: FrameType, event: str, _: object) -> Interruption | None:
        if frame.f_code.co_filename not in (worker.__file__, threading.__file__):
            return None
        frame.f_trace_opcodes = True
        self.traced = self.traced or event == "opcode"
        if event == "opcode" and self.possible and not self.arrived and self.sent.is_set():
            self.left -= 1
            if self.left < 0:
                self.arrived = True
                raise TimeIsUpError
        name = dis.opname[frame.f_code.co_code[frame.f_lasti]] if event == "opcode" else ""
        self.possible = name.startswith(("CALL", "RESUME", "JUMP_BACKWARD"))
        return self


def test_an_interruption_at_any_moment_ends_the_watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside of the standard library's locks too."""
    store = Store(tmp_path / "s")
    unit = errand(store, limits=RunLimits(timeout=0.001, grace=60))
    lease = store.leases.take("ab", "d1")

    def attempt(interruption: Interruption) -> None:
        monkeypatch.setattr(worker, "_raise_in", lambda thread, error: interruption.sent.set())
        sys.settrace(interruption)
        try:
            with worker._deadline(unit, lease):
                while not interruption.sent.is_set():
                    time.sleep(0.001)
        except TimeIsUpError:
            pass
        finally:
            sys.settrace(None)

    moments = 0
    while True:
        interruption = Interruption(moments)
        thread = threading.Thread(target=attempt, args=[interruption], daemon=True)
        before = threading.active_count()
        thread.start()
        thread.join(5)
        assert not thread.is_alive(), f"stuck when interrupted at instruction {moments}"
        assert threading.active_count() <= before, f"the watcher stayed when interrupted at instruction {moments}"
        if not interruption.traced:
            pytest.skip("this Python does not tell of instructions (3.12.1 is one)")
        if not interruption.arrived:
            break
        moments += 1
    assert moments >= 5


@pytest.mark.parametrize("swallow", [False, True])
def test_nothing_is_left_of_an_interruption(tmp_path: Path, swallow: bool) -> None:
    """In a process of its own: an interpreter that still looks out for it hangs as soon as something traces it."""
    code = f"""
import sys, time
from recombine.lab.runs.experiment import Experiment
from recombine.lab.runs.store import Store
from recombine.lab.runs.worker import Errand, RunLimits, TimeIsUpError, execute
def work(unit):
    try:
        while True:
            time.sleep(0.01)
    except TimeIsUpError:
        if not {swallow}:
            raise
    return [{{"x": 1}}]
experiment = Experiment("e", work, quick=[{{"x": 1}}], full=[])
errand = Errand(experiment, experiment.units("quick")[0], Store(sys.argv[1]), "d1", limits=RunLimits(timeout=0.05))
print(execute(errand).status)
sys.settrace(lambda *_: None)
print((lambda: 7)())
"""
    command = [sys.executable, "-c", code, str(tmp_path / "s")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["done" if swallow else "failed", "7"]


class SlowStore(Store):
    def write(self, unit: Unit, rows: Rows, record: Mapping[str, Any], lease: Lease | None = None) -> bool:
        assert lease is not None
        before = lease.path.stat().st_mtime_ns
        time.sleep(0.3)
        assert lease.path.stat().st_mtime_ns > before, "the lease looks abandoned to other hosts"
        return super().write(unit, rows, record, lease)


def test_the_heart_beats_while_a_result_is_written(tmp_path: Path) -> None:
    assert execute(errand(SlowStore(tmp_path / "s", stale_after=0.2))).error == ""


def test_a_frozen_unit_is_killed_though_nothing_can_be_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[int] = []
    monkeypatch.setattr(worker.os, "kill", lambda pid, sign: killed.append(sign))
    lease = Lease(tmp_path / "no such folder" / "ab.0", 0, "t", 0)
    over = threading.Lock()
    over.acquire()
    unit = errand(Store(tmp_path / "s"), limits=RunLimits(timeout=0.01, grace=0.0), home={})
    monkeypatch.setattr(worker, "_raise_in", lambda thread, error: None)
    worker._watch(unit, lease, over, threading.Event(), threading.get_ident())
    assert killed == [worker.signal.SIGKILL]
