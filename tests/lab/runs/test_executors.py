"""One contract that every executor keeps: the driver behaves the same on all of them."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sample_units
from sample_units import started

from recombine.errors import InputError
from recombine.lab.runs import executors
from recombine.lab.runs import sweep as sweep_module
from recombine.lab.runs.collect import collect
from recombine.lab.runs.executors import DaskExecutor, InlineExecutor, SlurmExecutor, make_executor
from recombine.lab.runs.pool import THREAD_VARIABLES, LocalExecutor
from recombine.lab.runs.store import Store
from recombine.lab.runs.sweep import ExecutorError, Sweep, run
from recombine.lab.runs.worker import RunLimits

Make = Callable[[], Executor] | Executor


def sweep(store: Path, make: Make, count: int, trouble: dict[int, str] | None = None, **limits: Any) -> Sweep:
    experiment = sample_units.experiment(count, trouble=trouble)
    return run(experiment, "quick", store, make, progress=False, limits=RunLimits(**limits))


class ExecutorContract:
    """Inherited by the tests of each executor, which give the fixture ``make``."""

    def test_every_unit_runs_once_and_the_table_is_that_of_one_process(self, make: Make, tmp_path: Path) -> None:
        experiment = sample_units.experiment(3)
        assert sweep(tmp_path / "s", make, 3).ran == 3
        assert sorted(started()) == sorted(unit.key for unit in experiment.units("quick"))
        sweep(tmp_path / "inline", InlineExecutor, 3)
        here, there = (collect(Store(tmp_path / name), experiment) for name in ("s", "inline"))
        assert list(here.rows()) == list(there.rows())
        unit = experiment.units("quick")[0]
        arrays = [Store(tmp_path / name).read(unit.key).arrays["draws"] for name in ("s", "inline")]
        np.testing.assert_array_equal(*arrays)

    def test_a_second_call_runs_nothing_and_a_larger_one_only_the_rest(self, make: Make, tmp_path: Path) -> None:
        sweep(tmp_path / "s", make, 2)
        again = sweep(tmp_path / "s", make, 2)
        assert (again.ran, again.found, again.complete) == (0, 2, True)
        more = sweep(tmp_path / "s", make, 3)
        assert (more.ran, more.found) == (1, 2)
        assert len(started()) == 3

    def test_a_failure_is_tried_again_and_then_reported_with_its_setting(self, make: Make, tmp_path: Path) -> None:
        done = sweep(tmp_path / "s", make, 3, {1: "raise", 2: "raise once"}, retries=1)
        assert (done.ran, done.complete) == (2, False)
        (failure,) = done.failures
        assert failure.unit.setting == {"x": 1, "trouble": "raise"}
        assert failure.error == "ArithmeticError: the loss is not a number"
        assert "in work" in failure.details
        assert sorted(Counter(started()).values()) == [1, 2, 2]
        assert (tmp_path / "s" / "failures" / f"{failure.unit.key}.json").exists()

    def test_a_unit_past_its_limit_is_stopped_and_the_others_run(self, make: Make, tmp_path: Path) -> None:
        done = sweep(tmp_path / "s", make, 2, {0: "hang"}, retries=0, timeout=1.0, grace=30)
        assert done.ran == 1
        assert [failure.error for failure in done.failures] == ["ran past its limit of 1 s"]
        assert not Store(tmp_path / "s").leases.units()


class ProcessContract(ExecutorContract):
    """What also holds where units run outside the driver's process."""

    def test_a_unit_that_kills_its_worker_is_tried_again_and_then_given_up(self, make: Make, tmp_path: Path) -> None:
        done = sweep(tmp_path / "s", make, 3, {0: "die", 1: "die once"}, retries=1)
        # A Dask worker takes answers that nobody has fetched along when it dies; such a unit counts all the same.
        assert (done.ran, done.found) == (2, 0)
        (failure,) = done.failures
        assert failure.unit.setting["x"] == 0
        assert "died" in failure.error
        assert sorted(Counter(started()).values()) == [1, 2, 2]

    def test_a_unit_that_cannot_be_interrupted_is_killed(self, make: Make, tmp_path: Path) -> None:
        begin = time.monotonic()
        done = sweep(tmp_path / "s", make, 2, {0: "freeze"}, retries=0, timeout=1.0, grace=0.1)
        assert done.ran == 1
        assert [failure.error for failure in done.failures] == ["ran past its limit of 1 s and did not stop"]
        assert time.monotonic() - begin < 30

    def test_a_function_that_workers_cannot_import_is_refused(self, make: Make, tmp_path: Path) -> None:
        from recombine.lab.runs.experiment import Experiment

        local = Experiment("local", lambda unit: [], quick=[{"x": 1}], full=[])
        with pytest.raises(InputError, match="top level of a module"):
            run(local, "quick", tmp_path / "s", make, progress=False)


class TestInline(ExecutorContract):
    @pytest.fixture
    def make(self) -> Make:
        return partial(make_executor, "inline")


class TestLocal(ProcessContract):
    @pytest.fixture
    def make(self) -> Make:
        return partial(make_executor, "local", workers=2)

    def test_one_death_costs_one_task(self) -> None:
        with LocalExecutor(2) as executor:
            dying = executor.submit(sample_units.make, "die")
            living = [executor.submit(pow, 2, n) for n in range(6)]
            assert type(dying.exception(timeout=60)).__name__ == "BrokenProcessPool"
            assert [future.result(timeout=60) for future in living] == [1, 2, 4, 8, 16, 32]

    @pytest.mark.slow
    def test_an_idle_worker_that_died_is_replaced(self) -> None:
        with LocalExecutor(1) as executor:
            executor.submit(os.getpid).result(timeout=60)
            (pid,) = executor.pids()
            os.kill(pid, 9)
            time.sleep(0.2)
            assert executor.submit(os.getpid).result(timeout=60) not in (pid, os.getpid())

    @pytest.mark.slow
    def test_a_death_is_noticed_though_a_child_holds_the_pipe(self, tmp_path: Path) -> None:
        stay = tmp_path / "stay"
        stay.touch()
        with LocalExecutor(1) as executor:
            dying = executor.submit(sample_units.die_before_a_child, stay)
            try:
                assert type(dying.exception(timeout=15)).__name__ == "BrokenProcessPool"
            finally:
                stay.unlink()
            assert executor.submit(pow, 2, 3).result(timeout=60) == 8

    def test_errors_come_back_as_they_are(self) -> None:
        with LocalExecutor(1) as executor:
            assert isinstance(executor.submit(divmod, 1, 0).exception(), ZeroDivisionError)
            assert isinstance(executor.submit(sample_units.make, "raise").exception(), ArithmeticError)

    @pytest.mark.slow
    def test_numerical_libraries_get_one_thread(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in THREAD_VARIABLES:
            monkeypatch.setenv(name, "2")
        with LocalExecutor(1) as executor:
            assert set(executor.submit(sample_units.blas_threads).result()) == {1}

    @pytest.mark.slow  # the import of torch alone takes seconds
    def test_torch_gets_one_thread(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OMP_NUM_THREADS", "2")
        pytest.importorskip("torch")
        with LocalExecutor(1) as executor:
            assert executor.submit(sample_units.torch_threads).result() == 1


def fail_once(ask: Callable[[], dict[str, int]]) -> Callable[[], dict[str, int]]:
    calls: list[float] = []

    def answer() -> dict[str, int]:
        calls.append(time.monotonic())
        if len(calls) == 1:
            raise OSError("no answer")
        return ask()

    return answer


class TestLostCluster:
    @pytest.mark.slow
    def test_a_cluster_without_workers_is_made_again(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Dask starts workers again that died, but not always: then somebody has to notice."""
        pytest.importorskip("distributed")
        monkeypatch.setattr(executors, "LOST_AFTER_SECONDS", 1)
        made: list[DaskExecutor] = []

        def make() -> DaskExecutor:
            made.append(DaskExecutor(workers=1))
            if len(made) == 1:
                made[0]._client.retire_workers()
                # Nor may one look that fails end the watch.
                monkeypatch.setattr(made[0]._client, "nthreads", fail_once(made[0]._client.nthreads))
            return made[-1]

        done = sweep(tmp_path / "s", make, 2)
        assert (done.ran, len(made)) == (2, 2)


class TestForeignPool:
    """The standard library's pool, which breaks as a whole: the driver makes a new one."""

    @pytest.fixture
    def make(self) -> Make:
        return partial(ProcessPoolExecutor, 2, mp_context=get_context("spawn"))

    @pytest.mark.slow
    def test_a_broken_pool_is_made_again(self, make: Make, tmp_path: Path) -> None:
        done = sweep(tmp_path / "s", make, 4, {1: "die once"}, retries=2)
        assert done.complete
        assert Counter(started())[sample_units.experiment(4, trouble={1: "die once"}).units("quick")[1].key] == 2

    def test_a_broken_pool_that_cannot_be_made_again_says_so(self, make: Make, tmp_path: Path) -> None:
        assert callable(make)
        with make() as executor, pytest.raises(ExecutorError, match="finished units are kept"):
            sweep(tmp_path / "s", executor, 3, {0: "die"}, retries=1)


class OnSlurm:
    """Through submitit, with its subprocesses in place of a Slurm cluster."""

    @pytest.fixture
    def make(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
        submitit = pytest.importorskip("submitit")
        # How long submitit looks for the result of a dead job, for the sake of slow network folders.
        monkeypatch.setattr(submitit.Job, "_results_timeout_s", 0.2)
        return partial(SlurmExecutor, 2, folder=tmp_path / "logs", cluster="local", poll=0.05, timeout_min=1)


class TestSlurm(OnSlurm):
    @pytest.mark.slow
    def test_every_unit_runs_once(self, make: Make, tmp_path: Path) -> None:
        ExecutorContract().test_every_unit_runs_once_and_the_table_is_that_of_one_process(make, tmp_path)


@pytest.mark.slow
class TestSlurmAtLength(OnSlurm, ProcessContract):
    pass


class StrangeJob:
    def cancel(self, *, check: bool) -> None:
        raise OSError("no such command: scancel")


def test_a_job_taken_back_counts_as_done() -> None:
    future: Future[int] = Future()
    assert future.cancel()
    assert executors._settled(future, StrangeJob())
    assert wait([future], timeout=0).not_done == set()


class QuietJob:
    """A job whose process was killed before it began, which submitit does not learn of for minutes."""

    job_id = "17"

    def __init__(self, folder: Path) -> None:
        self.paths = SimpleNamespace(result_pickle=folder / "17_result.pkl")

    def done(self) -> bool:
        return False


@pytest.mark.parametrize(("queue", "lost"), [("16\n", True), ("16\n17\n", False), (None, False)])
def test_a_job_that_left_the_queue_without_a_result_is_lost(
    queue: str | None, lost: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("submitit")
    squeue = tmp_path / "squeue"
    squeue.write_text("#!/bin/sh\nexit 1\n" if queue is None else f"#!/bin/sh\nprintf '{queue}'\n")
    squeue.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(executors, "QUEUE_LOOK_SECONDS", 0)
    with SlurmExecutor(2, folder=tmp_path / "logs", cluster="debug", poll=60) as executor:
        executor._executor.cluster = "slurm"
        future: Future[int] = Future()
        jobs = {future: QuietJob(tmp_path)}
        assert executor._lost(jobs) == set(), "one look is not enough: the result may be on its way"
        assert (executor._lost(jobs) == {future}) is lost
        assert future.done() is lost
        if lost:
            with pytest.raises(BrokenExecutor, match="job 17 ended without a result"):
                future.result()


@pytest.fixture(scope="module")
def cluster(shared_log: Path) -> Iterator[Executor]:
    pytest.importorskip("distributed")
    with make_executor("dask", workers=2) as executor:
        yield executor


class TestDask(ProcessContract):
    """A real cluster of this machine, shared by the tests of the class."""

    @pytest.fixture
    def make(self, cluster: Executor) -> Executor:
        return cluster

    def test_an_answer_that_cannot_be_fetched_is_looked_for_in_the_store(
        self, cluster: DaskExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fetch, calls = cluster._client._gather, []

        async def fail_twice(*args: object, **options: object) -> object:
            from distributed.comm.core import CommClosedError

            calls.append(args)
            if len(calls) <= 2:
                raise CommClosedError("the worker is gone")
            return await fetch(*args, **options)

        monkeypatch.setattr(cluster._client, "_gather", fail_twice)
        done = sweep(tmp_path / "s", cluster, 4)
        assert (done.ran, len(calls), len(started())) == (4, 4, 4)

    def test_a_call_that_the_cluster_drops_ends_as_broken(self, cluster: DaskExecutor) -> None:
        future = cluster.submit(time.sleep, 1.0)
        cluster._client.cancel([future.inner])
        with pytest.raises(BrokenExecutor, match="Dask lost a call"):
            future.result(timeout=20)

    def test_a_call_that_cannot_be_sent_is_not_waited_for(self, cluster: DaskExecutor) -> None:
        with pytest.raises(Exception, match="serialize"):
            cluster.submit(time.sleep, threading.Lock())
        assert not cluster._pending

    @pytest.mark.slow
    def test_a_call_to_a_scheduler_that_is_gone_ends_as_broken(
        self, cluster: DaskExecutor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(executors, "LOST_AFTER_SECONDS", 1)
        with make_executor("dask", address=cluster._cluster.scheduler_address) as executor:
            assert isinstance(executor, DaskExecutor)
            with monkeypatch.context() as patch:
                # So it stays while the client tries to connect again.
                patch.setattr(executor._client, "status", "connecting")
                with pytest.raises(BrokenExecutor, match="scheduler"):
                    executor.submit(pow, 2, 3).result(timeout=20)
            with pytest.raises(BrokenExecutor, match="scheduler"):
                executor.submit(pow, 2, 3)

    def test_a_call_taken_back_counts_as_done(self, cluster: DaskExecutor) -> None:
        future = cluster.submit(time.sleep, 1.0)
        assert future.cancel()
        assert wait([future], timeout=20).not_done == set()
        assert not cluster.submit(pow, 2, 3).exception(timeout=20)

    @pytest.mark.slow
    def test_units_at_work_are_finished_when_the_time_is_up(
        self, cluster: DaskExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # The time is up as soon as a unit has begun, however slow the machine is.
        clock = SimpleNamespace(
            monotonic=lambda: time.monotonic() + (1000 if started() else 0), sleep=time.sleep, time=time.time
        )
        monkeypatch.setattr(sweep_module, "time", clock)
        done = sweep(tmp_path / "s", cluster, 8, dict.fromkeys(range(8), "doze"), seconds=500)
        assert 1 <= done.ran <= len(started()) < 8
        assert (done.left, done.failures) == (8 - done.ran, ())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"name": "locale"}, "did you mean 'local'"),
        ({"name": "local", "workers": 0}, "at least one"),
        ({"name": "slurm", "address": "tcp://here:1"}, "address is for the executor 'dask'"),
    ],
)
def test_a_wrong_choice_says_what_to_do(options: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        make_executor(**options)


@pytest.mark.parametrize(("name", "module"), [("dask", "distributed"), ("slurm", "submitit")])
def test_a_missing_library_names_its_extra(name: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(InputError, match=r"\[cluster\]"):
        make_executor(name)
