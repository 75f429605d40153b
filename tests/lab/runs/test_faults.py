"""Drivers and workers killed at random moments: nothing finished is lost or repeated, and nobody is left behind."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sample_units
from sample_units import LOG, SLEEP, started

from recombine.lab.nets.checkpoints import Checkpoints
from recombine.lab.runs.collect import collect
from recombine.lab.runs.executors import DaskExecutor, make_executor
from recombine.lab.runs.store import Store
from recombine.lab.runs.sweep import run

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc")


class Driver:
    """A driver in a process of its own, with its own process group, and the family it starts."""

    def __init__(self, store: Path, name: str, count: int, kind: str) -> None:
        command = [sys.executable, sample_units.__file__, str(store), name, str(count), kind]
        # A mark of its own tells the family of this driver from that of another test's.
        self._mark = f"RECOMBINE_TEST_MARK={random.getrandbits(64):x}"
        name, _, value = self._mark.partition("=")
        self.process = subprocess.Popen(
            command,
            env={**os.environ, name: value},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def family(self) -> list[int]:
        """Every living process with the mark, the driver itself included."""
        return [pid for pid in processes() if self._mark.encode() in environment(pid)]

    def workers(self) -> list[int]:
        return [pid for pid in self.family() if b"spawn_main" in read(f"/proc/{pid}/cmdline")]

    def wait_for_a_start(self) -> None:
        begun = len(started())
        until(lambda: len(started()) > begun or self.process.poll() is not None, 20)

    def require_no_orphans(self) -> None:
        assert until(lambda: not self.family(), 5), f"orphans: {self.family()}"

    def finish(self) -> tuple[str, str]:
        return self.process.communicate(timeout=60)

    def kill(self, sign: signal.Signals = signal.SIGKILL) -> None:
        os.killpg(self.process.pid, sign) if sign is signal.SIGINT else self.process.send_signal(sign)
        self.process.communicate(timeout=30)


def processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def environment(pid: int) -> bytes:
    # A dead process that nobody has waited for yet holds nothing any more.
    return b"" if b") Z " in read(f"/proc/{pid}/stat") else read(f"/proc/{pid}/environ")


def until(condition: Callable[[], object], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture
def drive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Driver]]:
    """Start drivers on one store with units of 50 ms; whatever is left of them is killed in the end."""
    drivers: list[Driver] = []
    monkeypatch.setenv(SLEEP, "50")

    def start(count: int, name: str = "local", kind: str = "experiment") -> Driver:
        drivers.append(Driver(tmp_path / "s", name, count, kind))
        return drivers[-1]

    yield start
    for driver in drivers:
        for pid in driver.family():
            # It may have ended by itself since it was seen.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        driver.process.communicate(timeout=30)


def undisturbed(tmp_path: Path, count: int, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, object]]:
    monkeypatch.setenv(SLEEP, "0")
    monkeypatch.setenv(LOG, str(tmp_path / "other.log"))
    store = Store(tmp_path / "undisturbed")
    assert run(sample_units.experiment(count), "quick", store, "inline", progress=False).ran == count
    return list(collect(store, sample_units.experiment(count)).rows())


def kill_at_random(
    drive: Callable[..., Driver], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kills: int, count: int
) -> None:
    store, experiment = Store(tmp_path / "s"), sample_units.experiment(count)
    choose = random.Random(kills)
    snapshots: list[tuple[set[str], int]] = []
    driver = drive(count)
    for turn in range(kills):
        if driver.process.poll() is not None:
            driver = drive(count)
        # Half of the time anywhere from the first import on, half of the time in the thick of it.
        if choose.random() < 0.5:
            driver.wait_for_a_start()
            time.sleep(choose.uniform(0, 0.3))
        else:
            time.sleep(choose.uniform(0, 1.5))
        workers = driver.workers()
        if turn % 2 and workers:
            os.kill(choose.choice(workers), signal.SIGKILL)
        else:
            driver.kill()
            driver.require_no_orphans()
        snapshots.append((set(store.finished()), len(started())))
        assert all(store.read(key) is not None for key in store.finished())
    out, err = (driver if driver.process.poll() is None else drive(count)).finish()
    assert out.split()[2] == "0", err
    for finished, position in snapshots:
        assert not finished & set(started()[position:]), "a finished unit was started again"
    assert set(started()) == {unit.key for unit in experiment.units("quick")}
    assert len(started()) <= count + 2 * kills
    assert not (store.folder / "quarantine").exists()
    table = list(collect(store, experiment).rows())
    assert table == undisturbed(tmp_path, count, monkeypatch)


@pytest.mark.slow
def test_two_kills(drive: Callable[..., Driver], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kill_at_random(drive, tmp_path, monkeypatch, kills=2, count=60)


def kill_in_training(
    drive: Callable[..., Driver], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kills: int, count: int
) -> None:
    """Whatever is killed goes on at the step that was saved last, and ends where it would have ended."""
    monkeypatch.setenv(SLEEP, "30")
    store, experiment, choose = Store(tmp_path / "s"), sample_units.training(count), random.Random(kills)
    keys = [unit.key for unit in experiment.units("quick")]
    resumed = 0
    for turn in range(kills):
        driver = drive(count, kind="training")
        driver.wait_for_a_start()
        time.sleep(choose.uniform(0, 1.0))
        workers = driver.workers()
        if turn % 2 and workers:
            os.kill(choose.choice(workers), signal.SIGKILL)
            time.sleep(choose.uniform(0, 0.3))
        driver.kill()
        driver.require_no_orphans()
        assert all(store.read(key) is not None for key in store.finished())
        steps = {key: saved_step(store, key) for key in keys}
        before = len(started())
        if set(store.finished()) == set(keys):
            break
        driver = drive(count, kind="training")
        driver.wait_for_a_start()
        driver.kill()
        for key in keys:
            first = next((step for name, step in map(parted, started()[before:]) if name == key), None)
            assert first in (None, steps[key]), "it went on from another step than the one saved"
            resumed += first is not None and first > 0
    driver = drive(count, kind="training")
    out, err = driver.finish()
    assert out.split()[2] == "0", err
    assert resumed > 0
    assert not any((store.folder / "checkpoints").iterdir()), "states of finished units are left"
    assert not (store.folder / "quarantine").exists()
    table = list(collect(store, experiment).rows())
    monkeypatch.setenv(SLEEP, "0")
    undisturbed = Store(tmp_path / "undisturbed")
    run(experiment, "quick", undisturbed, "inline", progress=False)
    assert table == list(collect(undisturbed, experiment).rows())


def saved_step(store: Store, key: str) -> int:
    # What is said about a state is written after it, so the state itself is asked.
    state = Checkpoints(store.checkpoints(key)).load("0000-0000.npz")
    return 0 if state is None else state["step"]


def parted(line: str) -> tuple[str, int]:
    key, _, step = line.partition(":")
    return key, int(step)


@pytest.mark.slow
def test_twenty_kills_in_training(
    drive: Callable[..., Driver], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill_in_training(drive, tmp_path, monkeypatch, kills=20, count=24)


@pytest.mark.slow
def test_workers_in_the_middle_of_a_long_unit_end_with_their_driver(
    drive: Callable[..., Driver], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SLEEP, "60000")
    driver = drive(4)
    assert until(lambda: len(started()) == 2, 20)
    assert len(driver.family()) >= 3
    driver.kill()
    driver.require_no_orphans()


def test_a_worker_whose_parent_is_already_gone_leaves() -> None:
    code = "import sys; from recombine.lab.runs.pool import *; end_with_parent(int(sys.argv[1])); print('stayed')"
    outcomes = [
        subprocess.run(
            [sys.executable, "-c", code, str(parent)], capture_output=True, text=True, check=False, timeout=60
        )
        for parent in (os.getpid(), os.getppid())
    ]
    assert [(done.returncode, done.stdout) for done in outcomes] == [(0, "stayed\n"), (1, "")]


@pytest.mark.slow
def test_twenty_kills(drive: Callable[..., Driver], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kill_at_random(drive, tmp_path, monkeypatch, kills=20, count=500)


@pytest.mark.slow
def test_an_interrupt_leaves_everything_resumable(drive: Callable[..., Driver], tmp_path: Path) -> None:
    driver = drive(40)
    assert until(lambda: len(started()) > 8, 20)
    driver.kill(signal.SIGINT)
    assert driver.process.returncode != 0
    driver.require_no_orphans()
    finished, position = set(Store(tmp_path / "s").finished()), len(started())
    assert finished
    out, err = drive(40).finish()
    assert out.split() == [str(40 - len(finished)), str(len(finished)), "0"], err
    assert not finished & set(started()[position:])


@pytest.mark.slow
def test_two_drivers_share_a_store_and_run_no_unit_twice(drive: Callable[..., Driver], tmp_path: Path) -> None:
    drivers = [drive(40), drive(40)]
    counts = [[int(word) for word in driver.finish()[0].split()] for driver in drivers]
    assert [sum(count) for count in counts] == [40, 40]
    assert sum(count[0] for count in counts) == 40
    assert set(Counter(started()).values()) == {1}
    assert not Store(tmp_path / "s").leases.units()


@pytest.mark.slow
def test_a_dask_worker_killed_in_mid_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setenv(SLEEP, "50")
    count, store = 30, Store(tmp_path / "s")
    with make_executor("dask", workers=2) as executor:
        assert isinstance(executor, DaskExecutor)
        killer = threading.Thread(target=kill_one, args=(executor,))
        killer.start()
        sweep = run(sample_units.experiment(count), "quick", store, executor, progress=False)
        killer.join(60)
    assert (sweep.ran, sweep.failures) == (count, ())
    # One unit per worker was at work; only that one may have run twice.
    assert len(started()) <= count + 1
    table = list(collect(store, sample_units.experiment(count)).rows())
    assert table == undisturbed(tmp_path, count, monkeypatch)


def kill_one(executor: DaskExecutor) -> None:
    pids = list(executor._client.run(os.getpid).values())
    assert until(lambda: len(started()) > 6, 20)
    os.kill(pids[0], signal.SIGKILL)


@pytest.mark.slow
def test_a_killed_dask_driver_leaves_nobody_behind(drive: Callable[..., Driver]) -> None:
    pytest.importorskip("distributed")
    driver = drive(200, "dask")
    assert until(lambda: len(started()) > 4, 30)
    driver.kill()
    driver.require_no_orphans()
