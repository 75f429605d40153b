"""Real clusters whose workers are killed at random: four Dask workers, and Slurm where it runs (tools/slurm.sh)."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
import sample_units
from sample_units import LOG, SLEEP, started
from test_faults import processes, read, undisturbed, until

from recombine.lab.runs.collect import collect
from recombine.lab.runs.executors import DaskExecutor, make_executor
from recombine.lab.runs.outcome import Sweep
from recombine.lab.runs.store import Store
from recombine.lab.runs.sweep import run
from recombine.lab.runs.worker import RunLimits

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc"),
]
RUNS = range(20)


def require_everything(sweep: Sweep, tmp_path: Path, count: int, kills: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every unit is there once, as if nothing had happened; only what was killed has run again."""
    store = Store(tmp_path / "s")
    assert (sweep.ran, sweep.failures) == (count, ())
    repeated = sum(times - 1 for times in Counter(started()).values())
    assert repeated <= kills
    # A worker killed between its result and the end of its lease leaves one that nobody holds.
    assert not any(store.leases.held(key) for key in store.leases.units())
    assert not (store.folder / "quarantine").exists()
    table = list(collect(store, sample_units.experiment(count)).rows())
    assert table == undisturbed(tmp_path, count, monkeypatch)


def begun(count: int, done: threading.Event) -> bool:
    return len(started()) > count or done.is_set()


@pytest.mark.parametrize("seed", RUNS)
def test_dask_workers_killed_at_random(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setenv(SLEEP, "50")
    choose, count, kills, done = random.Random(seed), 60, 3, threading.Event()
    with make_executor("dask", workers=4) as executor:
        assert isinstance(executor, DaskExecutor)
        client = executor._client

        def kill() -> None:
            for turn in range(kills):
                awaited = 5 + 12 * turn
                until(partial(begun, awaited, done), 60)
                time.sleep(choose.uniform(0, 0.1))
                pids = sorted(client.run(os.getpid, on_error="ignore").values())
                if pids and not done.is_set():
                    os.kill(choose.choice(pids), signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        sweep = run(
            sample_units.experiment(count),
            "quick",
            Store(tmp_path / "s"),
            executor,
            limits=RunLimits(retries=kills),
            progress=False,
        )
        done.set()
        killer.join(60)
    require_everything(sweep, tmp_path, count, kills, monkeypatch)


def jobs_at_work() -> list[int]:
    """Processes of submitit's jobs that have begun a unit of this test."""
    mark = f"{LOG}={os.environ[LOG]}".encode()
    return [
        pid
        for pid in processes()
        if b"submitit.core._submit" in read(f"/proc/{pid}/cmdline")
        and b"SLURM_JOB_ID=" in (environment := read(f"/proc/{pid}/environ"))
        and mark in environment
    ]


@pytest.mark.skipif("SLURM_CONF" not in os.environ or not shutil.which("sbatch"), reason="run it by tools/slurm.sh")
@pytest.mark.parametrize("seed", RUNS)
def test_slurm_jobs_killed_at_random(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("submitit")
    monkeypatch.setenv(SLEEP, "400")
    choose, count, kills, done = random.Random(seed), 8, 2, threading.Event()
    killed: list[int] = []

    def kill() -> None:
        while len(killed) < kills and not done.is_set():
            pids = jobs_at_work()
            if pids:
                killed.append(choose.choice(pids))
                os.kill(killed[-1], signal.SIGKILL)
            time.sleep(choose.uniform(0.5, 2.0))

    killer = threading.Thread(target=kill)
    killer.start()
    with make_executor("slurm", workers=4, folder=tmp_path / "logs", poll=0.2, timeout_min=5) as executor:
        sweep = run(
            sample_units.experiment(count),
            "quick",
            Store(tmp_path / "s"),
            executor,
            limits=RunLimits(retries=kills),
            progress=False,
        )
    done.set()
    killer.join(60)
    assert killed
    require_everything(sweep, tmp_path, count, len(killed), monkeypatch)
    # A job that has handed in its result still has to end.
    assert until(lambda: not queue(), 60), f"jobs are left in the queue: {queue()}"


def queue() -> str:
    return subprocess.run(["squeue", "--noheader"], capture_output=True, text=True, check=True).stdout.strip()
