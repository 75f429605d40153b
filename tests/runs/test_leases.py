"""Claims: one holder at a time, taken over only from the dead."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from recombine.runs.leases import Claims, heartbeat, process_identity, process_started

KEY = "ab" * 16


def foreign_claim(claims: Claims, age: float, generation: int = 0, driver: str = "d9") -> Path:
    """A claim of another machine whose heart last beat ``age`` seconds ago."""
    claims.folder.mkdir(parents=True, exist_ok=True)
    path = claims.folder / f"{KEY}.{generation}"
    process = {"machine": "elsewhere", "host": "elsewhere", "pid": os.getpid(), "started": "0"}
    path.write_text(json.dumps({"token": "t", "driver": driver, "losses": 0, "process": process}))
    os.utime(path, (time.time() - age, time.time() - age))
    return path


@pytest.fixture
def claims(tmp_path: Path) -> Claims:
    return Claims(tmp_path / "claims", stale_after=5)


def test_a_living_holder_on_another_machine_is_left_alone(claims: Claims) -> None:
    foreign_claim(claims, age=1)
    assert claims.held(KEY)
    assert claims.take(KEY, "d1") is None


def test_a_silent_holder_is_taken_over(claims: Claims) -> None:
    foreign_claim(claims, age=10)
    claim = claims.take(KEY, "d1")
    assert claim is not None
    assert (claim.generation, claim.losses) == (1, 0)
    assert claims.take(KEY, "d2") is None


def test_a_dead_process_of_this_machine_is_recognised_at_once(claims: Claims) -> None:
    code = f"from recombine.runs.leases import *; Claims(Path({str(claims.folder)!r})).take({KEY!r}, 'd1')"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert not claims.held(KEY)
    claim = claims.take(KEY, "d1")
    assert claim is not None
    assert claim.losses == 1


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="a process of another system may not be seen to be dead"
)
def test_a_taker_killed_at_any_moment_leaves_nothing_to_wait_for(tmp_path: Path) -> None:
    """Killed before its first look at the file system, its second, and so on, until it gets through."""
    code = """
import os, signal, sys
from recombine.runs.leases import Claims, Path
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
    claim = Claims(folder / str(moment)).take("ab", "d1")
    os._exit(claim is None)
"""
    moments = 24
    subprocess.run([sys.executable, "-c", code, str(tmp_path), str(moments)], check=True)
    held = [Claims(tmp_path / str(moment)).last_words("ab") is not None for moment in range(moments)]
    # Some were killed before there was a claim and some after it.
    assert held == sorted(held)
    assert {False, True} == set(held)
    for moment in range(moments):
        assert Claims(tmp_path / str(moment)).take("ab", "d1") is not None


def test_without_links_a_claim_is_still_exclusive(claims: Claims, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*paths: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    assert claims.take(KEY, "d1") is not None
    assert claims.take(KEY, "d2") is None
    assert (claims.last_words(KEY) or {})["driver"] == "d1"
    assert [path.name for path in claims.folder.iterdir()] == [f"{KEY}.0"]


def test_a_link_whose_answer_was_lost_on_the_way_is_ones_own(claims: Claims, monkeypatch: pytest.MonkeyPatch) -> None:
    link = os.link

    def twice(source: Path, target: Path) -> None:
        link(source, target)
        link(source, target)

    monkeypatch.setattr(os, "link", twice)
    assert claims.take(KEY, "d1") is not None
    assert claims.take(KEY, "d2") is None


def test_losses_and_last_words_count_under_one_driver_only(claims: Claims) -> None:
    path = foreign_claim(claims, age=10, driver="d1")
    path.write_text(json.dumps({**json.loads(path.read_text()), "losses": 2, "reason": "out of time"}))
    os.utime(path, (0, 0))
    mine = claims.take(KEY, "d1")
    assert mine is not None
    assert (mine.losses, mine.reason) == (3, "out of time")
    claims.release(mine)
    foreign_claim(claims, age=10, driver="d1")
    other = claims.take(KEY, "d2")
    assert other is not None
    assert (other.losses, other.reason) == (0, "")


def test_a_heartbeat_keeps_a_claim(claims: Claims) -> None:
    claim = claims.take(KEY, "d1")
    assert claim is not None
    os.utime(claim.path, (0, 0))
    with heartbeat(claim, every=0.02):
        time.sleep(0.2)
    assert time.time() - claim.path.stat().st_mtime < 2


def test_of_many_takers_of_an_abandoned_claim_one_succeeds(claims: Claims) -> None:
    for _ in range(15):
        foreign_claim(claims, age=10)
        start, taken = threading.Barrier(8), []

        def take(start: threading.Barrier = start, taken: list[object] = taken) -> None:
            start.wait()
            taken.append(claims.take(KEY, "d1"))

        threads = [threading.Thread(target=take) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(claim is not None for claim in taken) == 1
        claims.clear(KEY)


def test_a_holder_that_was_taken_over_cannot_release_its_heir(claims: Claims) -> None:
    foreign_claim(claims, age=10)
    first = claims.take(KEY, "d1")
    assert first is not None
    second = claims._create(type(first)(claims.folder / f"{KEY}.2", 2, "t2", 0), "d2")
    assert second
    claims.release(first)
    assert [path.name for path in claims.folder.glob(f"{KEY}.*")] == [f"{KEY}.2"]


def test_a_half_written_claim_counts_until_it_is_stale(claims: Claims) -> None:
    path = foreign_claim(claims, age=0)
    path.write_text("")
    assert claims.held(KEY)
    os.utime(path, (0, 0))
    assert claims.take(KEY, "d1") is not None


def test_a_process_number_in_new_hands_is_not_the_old_process() -> None:
    here = process_identity()
    assert process_started(here["pid"]) == here["started"]
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    assert process_started(child.pid) is None
