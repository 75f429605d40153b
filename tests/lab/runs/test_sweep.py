"""The driver on its own: waiting for others, giving up, showing how far it is."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sample_units import SLEEP, STEPS, experiment, started, training

from recombine.errors import InputError
from recombine.lab.runs import sweep as sweep_module
from recombine.lab.runs.collect import collect
from recombine.lab.runs.executors import make_executor
from recombine.lab.runs.experiment import Experiment, Unit, grid
from recombine.lab.runs.progress import Progress
from recombine.lab.runs.store import Store
from recombine.lab.runs.sweep import ExecutorError, run
from recombine.lab.runs.worker import Errand, RunLimits, execute


def test_a_unit_that_somebody_holds_is_waited_for(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    held = experiment(3).units("quick")[1]
    lease = store.leases.take(held.key, "another")
    assert lease is not None
    timer = threading.Timer(0.5, store.leases.release, [lease])
    timer.start()
    begin = time.monotonic()
    done = run(experiment(3), "quick", store, "inline", progress=False)
    timer.join()
    assert done.ran == 3
    assert started()[-1] == held.key
    assert time.monotonic() - begin > 0.4


def test_what_a_killed_worker_has_half_written_goes_at_the_end(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    units = experiment(2)
    lease = store.leases.take(units.units("quick")[0].key, "another")
    assert lease is not None
    # Another driver's worker is killed while this one waits for its unit.
    leftover = store.folder / ".partial" / f"{units.units('quick')[0].key}.{lease.token}"

    def kill() -> None:
        leftover.mkdir(parents=True)
        store.leases.release(lease)

    timer = threading.Timer(0.3, kill)
    timer.start()
    run(units, "quick", store, "inline", progress=False)
    timer.join()
    assert list(leftover.parent.iterdir()) == []


def test_a_unit_that_another_driver_finishes_meanwhile_is_found(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    held = experiment(2).units("quick")[0]
    lease = store.leases.take(held.key, "another")
    assert lease is not None
    timer = threading.Timer(0.4, store.write, [held, [{"value": 1.0}], {}])
    timer.start()
    done = run(experiment(2), "quick", store, "inline", progress=False)
    timer.join()
    assert (done.ran, done.found, done.complete) == (1, 1, True)
    assert held.key not in started()


@pytest.mark.slow
def test_nothing_is_started_when_the_time_is_up_and_another_call_goes_on(tmp_path: Path) -> None:
    def slow(unit: Unit) -> list[dict[str, Any]]:
        time.sleep(0.2)
        return [{"x": unit.setting["x"]}]

    store, units = Store(tmp_path / "s"), Experiment("slow", slow, quick=grid(x=range(4)), full=[])
    some = run(units, "quick", store, "inline", progress=False, limits=RunLimits(seconds=0.3))
    assert (some.ran, some.left, some.failures, some.complete) == (2, 2, (), False)
    rest = run(units, "quick", store, "inline", progress=False)
    assert (rest.ran, rest.found, rest.left, rest.complete) == (2, 2, 0, True)


@pytest.mark.slow
def test_a_unit_in_training_is_saved_when_the_time_is_up_and_another_call_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SLEEP, "20")
    units, stores = training(2), [Store(tmp_path / name) for name in ("stopped", "other")]
    sweeps = [run(units, "quick", stores[0], "inline", progress=False, limits=RunLimits(seconds=0.5)) for _ in range(2)]
    assert [(sweep.ran, sweep.left, sweep.paused, sweep.failures) for sweep in sweeps] == [(0, 2, 1, ())] * 2
    assert "1 part way" in str(sweeps[0])
    assert run(units, "quick", stores[0], "inline", progress=False).complete
    monkeypatch.setenv(SLEEP, "0")
    run(units, "quick", stores[1], "inline", progress=False)
    one, other = (list(collect(store, units).rows()) for store in stores)
    assert one == other
    story = stores[0].record(units.units("quick")[0].key)
    assert [piece["device"] for piece in story["pieces"]] == ["cpu"] * 3
    assert story["wall_seconds"] == pytest.approx(sum(piece["seconds"] for piece in story["pieces"]), abs=1e-3)
    assert story["wall_seconds"] >= 0.02 * STEPS
    assert not list((stores[0].folder / "checkpoints").glob("*"))
    lines = started()[: 2 * STEPS]
    assert len({*lines}) == 2 * STEPS, "a step was taken twice"


@pytest.mark.slow
def test_units_that_wait_in_a_pool_are_taken_back_when_the_time_is_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SLEEP, "1500")
    single, limits = partial(make_executor, "local", workers=1), RunLimits(seconds=0.5)
    done = run(experiment(9), "quick", tmp_path / "s", single, progress=False, limits=limits)
    # A unit or two were handed to the worker's process; those behind them, submitted as well, never began.
    assert done.ran == len(started()) <= 3
    assert done.left == 9 - done.ran


@pytest.mark.slow
def test_units_that_lack_memory_beside_others_run_with_fewer_of_them(tmp_path: Path) -> None:
    pool, crowded = partial(make_executor, "local", workers=4), experiment(8, trouble=dict.fromkeys(range(8), "crowd"))
    done = run(crowded, "quick", tmp_path / "s", pool, progress=False, limits=RunLimits(retries=0))
    assert done.complete
    assert len(started()) > 8, "none was refused, so that nothing was tried"


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 3])
def test_a_unit_that_lacks_memory_by_itself_has_failed(workers: int, tmp_path: Path) -> None:
    pool, huge = partial(make_executor, "local", workers=workers), experiment(3, trouble={1: "huge"})
    done = run(huge, "quick", tmp_path / "s", pool, progress=False, limits=RunLimits(retries=0))
    assert done.ran == 2
    assert "MemoryError: more than there is" in str(done)


def test_a_wrong_setting_is_not_tried_again(tmp_path: Path) -> None:
    calls = []

    def refuse(unit: Unit) -> list[dict[str, Any]]:
        calls.append(unit)
        raise InputError("the width must be positive")

    refusing, limits = Experiment("e", refuse, grid(x=[1]), []), RunLimits(retries=5)
    done = run(refusing, "quick", tmp_path / "s", "inline", progress=False, limits=limits)
    assert len(calls) == 1
    assert str(done).endswith("failed: {'x': 1}: InputError: the width must be positive (attempts: 1)")


def test_a_unit_that_returns_no_rows_fails_with_advice(tmp_path: Path) -> None:
    done = run(Experiment("e", lambda unit: 3, grid(x=[1]), []), "quick", tmp_path / "s", "inline", progress=False)
    assert "return a list of rows" in done.failures[0].error


def test_the_story_of_a_failure_is_forgotten_when_the_unit_succeeds(tmp_path: Path) -> None:
    work = experiment(2, trouble={0: "raise once"})
    assert len(run(work, "quick", tmp_path / "s", "inline", progress=False, limits=RunLimits(retries=0)).failures) == 1
    assert len(list((tmp_path / "s" / "failures").iterdir())) == 1
    assert run(work, "quick", tmp_path / "s", "inline", progress=False).complete
    assert not list((tmp_path / "s" / "failures").iterdir())


def test_an_interrupt_in_this_process_frees_the_unit(tmp_path: Path) -> None:
    def interrupt(unit: Unit) -> list[dict[str, Any]]:
        if unit.setting["x"] == 1:
            raise KeyboardInterrupt
        return []

    store = Store(tmp_path / "s")
    with pytest.raises(KeyboardInterrupt):
        run(Experiment("e", interrupt, grid(x=range(3)), []), "quick", store, "inline", progress=False)
    assert len(list(store.finished())) == 1
    assert not store.leases.units()


class Silent(Executor):
    """Runs each call and loses its answer."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        fn(*args, **kwargs)
        return Future()


@pytest.mark.slow
def test_units_whose_answers_are_lost_are_found_in_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_module, "SILENCE_SECONDS", 0.1)
    done = run(experiment(3), "quick", tmp_path / "s", Silent(), progress=False)
    assert (done.ran, done.complete, len(started())) == (3, True, 3)


def test_answers_on_the_way_when_the_time_is_up_count(tmp_path: Path) -> None:
    done = run(experiment(3), "quick", tmp_path / "s", Silent(), progress=False, limits=RunLimits(seconds=0.2))
    assert (done.ran, done.left) == (3, 0)


class Overtaken(Executor):
    """Another driver finishes each unit while it waits for its turn."""

    def submit(self, fn: Any, /, errand: Any) -> Future[Any]:
        execute(replace(errand, driver="another"))
        return Future()


@pytest.mark.slow
def test_units_that_another_driver_finished_are_not_counted_as_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep_module, "SILENCE_SECONDS", 0.1)
    done = run(experiment(3), "quick", tmp_path / "s", Overtaken(), progress=False)
    assert (done.ran, done.found) == (0, 3)


class Withdrawn(ThreadPoolExecutor):
    """The first call is taken back before it begins, as when an executor is closed."""

    first = True

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        if not self.first:
            return super().submit(fn, *args, **kwargs)
        self.first = False
        future: Future[Any] = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


def test_a_unit_taken_back_before_it_began_has_not_failed(tmp_path: Path) -> None:
    with Withdrawn(1) as pool:
        done = run(experiment(2), "quick", tmp_path / "s", pool, progress=False, limits=RunLimits(retries=0))
    assert (done.ran, done.failures) == (2, ())


def test_a_unit_that_exits_has_failed(tmp_path: Path) -> None:
    done = run(Experiment("e", lambda unit: sys.exit(3), grid(x=[1]), []), "quick", tmp_path / "s", "inline")
    assert [(failure.error, failure.attempts) for failure in done.failures] == [("SystemExit: 3", 2)]


def lease_and_die(store: Store, unit: Unit, driver: str) -> None:
    """Begin a unit in a process that ends at once."""
    code = "import sys; from recombine.lab.runs.store import Store; Store(sys.argv[1]).leases.take(*sys.argv[2:])"
    subprocess.run([sys.executable, "-c", code, str(store.folder), unit.key, driver], check=True, timeout=60)


class Deserter(Executor):
    """The first worker dies at work and nobody says so; later calls run here."""

    def __init__(self) -> None:
        self.dead = 0

    def submit(self, fn: Any, /, errand: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if self.dead:
            future.set_result(fn(errand))
            return future
        self.dead += 1
        lease_and_die(errand.store, errand.unit, errand.driver)
        return future


@pytest.mark.slow
def test_a_unit_whose_worker_is_gone_without_a_word_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep_module, "SILENCE_SECONDS", 0.1)
    done = run(experiment(2), "quick", tmp_path / "s", Deserter(), progress=False)
    assert (done.ran, done.complete) == (2, True)
    again = run(experiment(3), "quick", tmp_path / "s", Deserter(), progress=False, limits=RunLimits(retries=0))
    assert [failure.error for failure in again.failures] == ["its worker died: no answer came"]


class Crowded(ThreadPoolExecutor):
    """The first worker dies at work; the next attempt has to wait for its turn."""

    dead = False

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self.dead:
            return super().submit(fn, *args, **kwargs)
        self.dead = True
        (errand,) = args
        lease_and_die(errand.store, errand.unit, errand.driver)
        super().submit(time.sleep, 0.8)
        future: Future[Any] = Future()
        future.set_exception(BrokenExecutor("killed"))
        return future


@pytest.mark.slow
def test_a_death_counts_once_while_the_next_attempt_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_module, "SILENCE_SECONDS", 0.05)
    with Crowded(1) as pool:
        done = run(experiment(2), "quick", tmp_path / "s", pool, progress=False, limits=RunLimits(retries=1))
    assert (done.ran, done.failures) == (2, ())


@pytest.mark.slow
def test_a_unit_that_waits_in_a_queue_is_not_taken_for_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_module, "SILENCE_SECONDS", 0.05)
    store = Store(tmp_path / "s")
    for unit in experiment(3).units("quick"):
        lease = store.leases.take(unit.key, "another")
        assert lease is not None
        # As if its holder, of another driver, had died: no news of this driver's attempt.
        record = json.loads(lease.path.read_text())
        lease.path.write_text(json.dumps({**record, "process": {**record["process"], "started": "0"}}))
    with ThreadPoolExecutor(1) as pool:
        pool.submit(time.sleep, 0.8)
        done = run(experiment(3), "quick", store, pool, progress=False, limits=RunLimits(retries=0))
    assert (done.ran, done.failures) == (3, ())


@pytest.mark.slow
def test_a_unit_that_was_given_up_stays_so_when_it_is_asked_for_again(tmp_path: Path) -> None:
    work, store = experiment(1), Store(tmp_path / "s")
    unit = work.units("quick")[0]
    for _ in range(2):
        lease_and_die(store, unit, "d1")
    answers = [execute(Errand(work, unit, store, "d1", limits=RunLimits(retries=1))) for _ in range(2)]
    assert [(answer.status, answer.final, answer.error) for answer in answers] == [
        ("failed", True, "its worker died (2 in a row)")
    ] * 2
    assert not started()
    # Another driver knows nothing of it, and tidies up.
    assert execute(Errand(work, unit, store, "d2", limits=RunLimits(retries=1))).status == "done"
    assert not store.leases.units()


class Broken(Executor):
    """Accepts everything and runs nothing."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(BrokenExecutor("no memory"))
        return future


def test_workers_that_never_begin_end_the_sweep(tmp_path: Path) -> None:
    with pytest.raises(ExecutorError, match="before they began a unit"):
        run(experiment(3), "quick", tmp_path / "s", Broken, progress=False)


def test_what_is_no_executor_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no concurrent\.futures\.Executor"):
        run(experiment(1), "quick", tmp_path / "s", dict, progress=False)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="retries=-1"):
        run(experiment(1), "quick", tmp_path / "s", "inline", limits=RunLimits(retries=-1))


def test_what_units_need_is_asked_for_once_and_only_while_units_are_unfinished(tmp_path: Path) -> None:
    asked: list[list[int]] = []
    at_hand = False

    def images(units: Sequence[Unit]) -> None:
        asked.append([unit.setting["x"] for unit in units])
        if not at_hand:
            raise InputError("no images; get them")

    ran: list[int] = []
    work = Experiment("e", lambda unit: [{"n": ran.append(unit.setting["x"])}], grid(x=[1, 2]), grid(x=[1, 2, 3]))
    work = replace(work, needs=images)
    with pytest.raises(InputError, match="get them"):
        run(work, "quick", tmp_path / "s", "inline", progress=False)
    assert ran == []
    assert not list((tmp_path / "s").rglob("result.json"))
    at_hand = True
    for scale in ("quick", "quick", "full"):
        assert run(work, scale, tmp_path / "s", "inline", progress=False).complete
    assert asked == [[1, 2], [1, 2], [3]]
    assert ran == [1, 2, 3]


def test_a_device_is_handed_over_and_does_not_change_the_key(tmp_path: Path) -> None:
    seen = []
    work = Experiment("e", lambda unit: [{"device": unit.device}], grid(x=[1]), [])
    for device in ("cpu", "meta"):
        seen.append(run(work, "quick", tmp_path / "s", "inline", device=device, progress=False).ran)
    assert seen == [1, 0]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_rewrites_its_line_on_a_terminal_only() -> None:
    for stream, expected in (
        (Terminal(), "\ra  1/4 units  30.0/min  6 s left\ra  2/4 units  30.0/min  2 s left  1 failed\n"),
        (io.StringIO(), "a  1/4 units  30.0/min  6 s left\na  2/4 units  30.0/min  2 s left  1 failed\n"),
    ):
        progress = Progress("a", total=4, stream=stream, every=0)
        progress.update(1, 0, 2.0)
        progress.update(2, 1, 4.0, last=True)
        assert stream.getvalue() == expected


def test_progress_in_a_log_is_rare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(experiment(5), "quick", tmp_path / "s", "inline")
    assert capsys.readouterr().err.startswith("sample (quick)  5/5 units")
    assert sweep_module.TICK_SECONDS < 1
