"""Leases: one holder at a time, taken over only from the dead."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from recombine.lab.runs.leases import Leases, heartbeat, process_identity, process_started

KEY = "ab" * 16


def foreign_lease(leases: Leases, age: float, generation: int = 0, driver: str = "d9") -> Path:
    """A lease of another machine whose heart last beat ``age`` seconds ago."""
    leases.folder.mkdir(parents=True, exist_ok=True)
    path = leases.folder / f"{KEY}.{generation}"
    process = {"machine": "elsewhere", "host": "elsewhere", "pid": os.getpid(), "started": "0"}
    path.write_text(json.dumps({"token": "t", "driver": driver, "losses": 0, "process": process}))
    os.utime(path, (time.time() - age, time.time() - age))
    return path


@pytest.fixture
def leases(tmp_path: Path) -> Leases:
    return Leases(tmp_path / "leases", stale_after=5)


def test_a_living_holder_on_another_machine_is_left_alone(leases: Leases) -> None:
    foreign_lease(leases, age=1)
    assert leases.held(KEY)
    assert leases.take(KEY, "d1") is None
    assert [path.name for path in leases.folder.iterdir()] == [f"{KEY}.0"]  # looking leaves nothing behind


def test_a_silent_holder_is_taken_over(leases: Leases) -> None:
    foreign_lease(leases, age=10)
    lease = leases.take(KEY, "d1")
    assert lease is not None
    assert (lease.generation, lease.losses) == (1, 0)
    assert leases.take(KEY, "d2") is None


def test_a_dead_process_of_this_machine_is_recognised_at_once(leases: Leases) -> None:
    code = f"from recombine.lab.runs.leases import *; Leases(Path({str(leases.folder)!r})).take({KEY!r}, 'd1')"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert not leases.held(KEY)
    lease = leases.take(KEY, "d1")
    assert lease is not None
    assert lease.losses == 1


@pytest.mark.slow
@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="a process of another system may not be seen to be dead"
)
def test_a_taker_killed_at_any_moment_leaves_nothing_to_wait_for(tmp_path: Path) -> None:
    """Killed before its first look at the file system, its second, and so on, until it gets through."""
    code = """
import os, signal, sys
from recombine.lab.runs.leases import Leases, Path
folder, moments = Path(sys.argv[1]), int(sys.argv[2])
for moment in range(moments):
    if os.fork():
        os.wait()
        continue
    count = 0
    def hook(event, arguments):
        global count
        count += event in ("open", "os.link", "os.mkdir", "os.remove", "os.scandir")
        if count > moment:
            os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(hook)
    lease = Leases(folder / str(moment)).take("ab", "d1")
    os._exit(lease is None)
"""
    moments = 24
    subprocess.run([sys.executable, "-c", code, str(tmp_path), str(moments)], check=True)
    held = [Leases(tmp_path / str(moment)).last_words("ab") is not None for moment in range(moments)]
    # Some were killed before there was a lease and some after it.
    assert held == sorted(held)
    assert {False, True} == set(held)
    for moment in range(moments):
        assert Leases(tmp_path / str(moment)).take("ab", "d1") is not None


def test_without_links_a_lease_is_still_exclusive(leases: Leases, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*paths: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    assert leases.take(KEY, "d1") is not None
    assert leases.take(KEY, "d2") is None
    assert (leases.last_words(KEY) or {})["driver"] == "d1"
    assert [path.name for path in leases.folder.iterdir()] == [f"{KEY}.0"]


def test_a_link_whose_answer_was_lost_on_the_way_is_ones_own(leases: Leases, monkeypatch: pytest.MonkeyPatch) -> None:
    link = os.link

    def twice(source: Path, target: Path) -> None:
        link(source, target)
        link(source, target)

    monkeypatch.setattr(os, "link", twice)
    assert leases.take(KEY, "d1") is not None
    assert leases.take(KEY, "d2") is None


def test_losses_and_last_words_count_under_one_driver_only(leases: Leases) -> None:
    path = foreign_lease(leases, age=10, driver="d1")
    path.write_text(json.dumps({**json.loads(path.read_text()), "losses": 2, "reason": "out of time"}))
    os.utime(path, (0, 0))
    mine = leases.take(KEY, "d1")
    assert mine is not None
    assert (mine.losses, mine.reason) == (3, "out of time")
    leases.release(mine)
    foreign_lease(leases, age=10, driver="d1")
    other = leases.take(KEY, "d2")
    assert other is not None
    assert (other.losses, other.reason) == (0, "")


def test_a_heartbeat_keeps_a_lease(leases: Leases) -> None:
    lease = leases.take(KEY, "d1")
    assert lease is not None
    os.utime(lease.path, (0, 0))
    with heartbeat(lease, every=0.02):
        time.sleep(0.2)
    assert time.time() - lease.path.stat().st_mtime < 2


def test_of_many_takers_of_an_abandoned_lease_one_succeeds(leases: Leases) -> None:
    for _ in range(15):
        foreign_lease(leases, age=10)
        start, taken = threading.Barrier(8), []

        def take(start: threading.Barrier = start, taken: list[object] = taken) -> None:
            start.wait()
            taken.append(leases.take(KEY, "d1"))

        threads = [threading.Thread(target=take) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(lease is not None for lease in taken) == 1
        leases.clear(KEY)


def test_a_holder_that_was_taken_over_cannot_release_its_heir(leases: Leases) -> None:
    foreign_lease(leases, age=10)
    first = leases.take(KEY, "d1")
    assert first is not None
    second = leases._create(type(first)(leases.folder / f"{KEY}.2", 2, "t2", 0), "d2")
    assert second
    leases.release(first)
    assert [path.name for path in leases.folder.glob(f"{KEY}.*")] == [f"{KEY}.2"]


def test_a_half_written_lease_counts_until_it_is_stale(leases: Leases) -> None:
    path = foreign_lease(leases, age=0)
    path.write_text("")
    assert leases.held(KEY)
    os.utime(path, (0, 0))
    assert leases.take(KEY, "d1") is not None


def test_a_process_number_in_new_hands_is_not_the_old_process() -> None:
    here = process_identity()
    assert process_started(here["pid"]) == here["started"]
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    assert process_started(child.pid) is None


@pytest.mark.parametrize(
    ("answer", "expected"), [(None, "running"), (PermissionError, "running"), (ProcessLookupError, None)]
)
def test_where_there_is_no_proc_a_signal_tells_whether_a_process_runs(
    answer: type[OSError] | None, expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def kill(pid: int, signal: int) -> None:
        asked.append((pid, signal))
        if answer:
            raise answer

    monkeypatch.setattr("recombine.lab.runs.leases.Path", lambda name: tmp_path / name.lstrip("/"))
    monkeypatch.setattr("recombine.lab.runs.leases.os.kill", kill)
    assert process_started(4321) == expected
    assert asked == [(4321, 0)]


def test_strange_files_beside_leases_are_left_alone(leases: Leases) -> None:
    leases.folder.mkdir(parents=True, exist_ok=True)
    for name in ("ab12.0~", "ab12.abc", "ab12.", ".nfs0001", "ab12.0.swp"):
        (leases.folder / name).write_text("?")
    assert leases.units() == set()
    lease = leases.take("ab12", "d1")
    assert lease is not None
    assert leases.units() == {"ab12"}
    leases.release(lease)
    assert not leases.held("ab12")
    assert (leases.folder / "ab12.0~").exists()


@pytest.mark.parametrize("process", [{}, None, 3, {"machine": "here"}, {"machine": "here", "pid": "x", "started": 1}])
def test_a_lease_that_says_too_little_counts_until_it_is_stale(leases: Leases, process: object) -> None:
    if isinstance(process, dict) and process.get("machine") == "here":
        process = {**process, "machine": process_identity()["machine"]}
    leases.folder.mkdir(parents=True, exist_ok=True)
    path = leases.folder / "ab12.0"
    path.write_text(json.dumps({"token": "t", "driver": "d", "losses": 0, "process": process}))
    assert leases.held("ab12")
    os.utime(path, (1, 1))
    assert leases.take("ab12", "d1") is not None


def test_a_heartbeat_of_the_future_is_waited_for_no_longer_than_one_of_now(tmp_path: Path) -> None:
    leases = Leases(tmp_path, stale_after=0.2)
    path = tmp_path / "ab12.0"
    path.write_text(json.dumps({"token": "t", "driver": "d", "losses": 0, "process": {"machine": "m", "host": "far"}}))
    later = time.time() + 3600
    os.utime(path, (later, later))
    assert leases.held("ab12")
    assert leases.holder("ab12") == "far"
    time.sleep(0.1)
    os.utime(path, (later + 1, later + 1))  # it beats: somebody is there
    assert leases.held("ab12")
    time.sleep(0.15)
    assert leases.held("ab12")
    time.sleep(0.1)
    assert not leases.held("ab12")


def test_a_lease_that_was_given_back_but_could_not_be_removed_is_nobodys(
    leases: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = leases.take("ab12", "d1")
    assert lease is not None
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", lambda *_, **__: (_ for _ in ()).throw(OSError(5, "Input/output error")))
        leases.release(lease)
    assert lease.path.exists()
    assert leases.take("ab12", "d1") is not None


def test_a_lease_that_goes_while_it_is_looked_at_is_nobodys(leases: Leases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Leases, "_current", lambda leases, key: leases.folder / f"{key}.3")
    assert not leases.held("ab12")
    assert not leases.holds("ab12", "token")
    lease = leases.take("ab12", "driver")
    assert lease is not None
    assert (lease.generation, lease.losses) == (4, 0)
