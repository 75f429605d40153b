"""To a bare machine and back: trips that put everything together, parts that are refused, and the way home."""

from __future__ import annotations

import io
import json
import platform
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from recombine.lab.papers import find
from recombine.lab.runs.collect import merge_stores, opened_store
from recombine.lab.runs.experiment import Result, Unit
from recombine.lab.runs.store import Store
from recombine.lab.worlds.images import Images

TOOLS = Path(__file__).parents[3] / "tools"
VERSION = ".".join(platform.python_version_tuple()[:2])
UNIT = Unit("demo/slopes", 1, {"x": 1})

pytestmark = pytest.mark.skipif(not (TOOLS.parent / ".git").exists(), reason="packs are made in a clone")


@pytest.fixture(scope="module")
def ship() -> Iterator[ModuleType]:
    sys.path.insert(0, str(TOOLS))
    try:
        yield import_module("ship")
    finally:
        sys.path.remove(str(TOOLS))


@pytest.fixture(scope="module")
def packed(ship: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pack in several trips, with one wheel and a store, and no network asked."""
    place = tmp_path_factory.mktemp("packed")

    def download(folder: Path, requirements: list[str], machine: str, python: str) -> None:
        assert not any(line.startswith(("numpy", "torch")) for line in requirements)
        folder.mkdir()
        with zipfile.ZipFile(folder / "msgspec-1-py3-none-any.whl", "w") as wheel:
            wheel.writestr("carried.py", "")
            # Enough for several trips of a MB.
            wheel.writestr("noise", np.random.default_rng(2).bytes(2_000_000))

    store = Store(place / "store")
    store.write(UNIT, ship_result(), {})
    words = ["pack", place / "trips", "gated-linear", "--images", "", "--store", store.folder, "--most", 1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ship, "download", download)
        assert ship.main([*map(str, words), "--machine", platform.machine(), "--python", VERSION]) == 0
    return place


@pytest.fixture
def trips(packed: Path, tmp_path: Path) -> list[Path]:
    """A copy of the pack, which a test may damage."""
    shutil.copytree(packed, tmp_path, dirs_exist_ok=True)
    found = sorted((tmp_path / "trips").iterdir(), key=lambda path: int(path.name))
    assert len(found) >= 3
    for trip in found:
        assert sum(path.stat().st_size for path in trip.iterdir() if path.name.startswith("part")) <= 1_000_000
    return found


@pytest.mark.slow
def test_a_set_of_images_left_at_home_is_said_with_the_claims_that_do_without(
    ship: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    due = {"mnist-context": {"mnist"}, "mnist-addition": {"mnist"}, "cifar-addition": {"cifar10"}, "phase": set()}
    module = import_module("owed")
    owed = module.Owed(["kernel-theory"], {f"kernel-theory/{name}": frozenset(due[name]) for name in due})
    monkeypatch.setattr(module, "owed_units", lambda names, results: owed)
    monkeypatch.setattr(ship, "pack_images", lambda name, folder: None)
    monkeypatch.setattr(ship, "download", lambda folder, requirements, **fit: folder.mkdir())
    assert ship.main(["pack", str(tmp_path / "trips"), "kernel-theory", "--images", "mnist"]) == 0
    line = capsys.readouterr().out.splitlines()[0]
    start = "not packed: cifar10; there, name owed claims that do without: run kernel-theory --only "
    assert line.startswith(start)
    without = line.removeprefix(start).split(",")
    reads = {claim.number: claim.reads for claim in find("kernel-theory").claims}
    assert {reads[number] for number in without} == set(due) - {"cifar-addition"}


def ship_result() -> list[dict[str, float]]:
    return [{"slope": value} for value in np.random.default_rng(0).normal(size=5)]


def unpack(ship: ModuleType, job: Path, trips: list[Path]) -> int:
    code: int = ship.main(["unpack", str(job), *map(str, trips)])
    return code


@pytest.mark.slow
def test_all_trips_together_run_what_is_owed_and_come_home(ship: ModuleType, trips: list[Path], tmp_path: Path) -> None:
    job = tmp_path / "job"
    # As there: with the script of a trip, and nothing of the clone.
    subprocess.run([sys.executable, trips[0] / "ship.py", "unpack", job, *trips], check=True, cwd=tmp_path)
    assert (job / "site" / "carried.py").exists()
    assert (job / "results" / "gated-linear").is_dir()
    assert not (job / "results" / "kernel-theory").exists()
    assert Store(job / "store").has(UNIT.key)
    known = job / "results" / "gated-linear"
    for path in known.glob("limits-quick.*"):
        path.unlink()
    only = ",".join(claim.number for claim in find("gated-linear").claims if claim.reads in ("limits", "grouping"))
    words = ["run", "gated-linear", "--minutes", "5", "--only", only, "--scale", "quick", "--device", "cpu"]
    subprocess.run([sys.executable, job / "ship.py", *words, "--workers", "1"], check=True, cwd=tmp_path, timeout=300)
    here = Store(tmp_path / "here")
    with opened_store(job / "home" / "home-1.tar.gz") as away:
        merged = merge_stores(away, here)
    ran = [run for run in merged.copied if run.key != UNIT.key]
    assert {run.spec["experiment"] for run in ran} == {"gated-linear/limits"}, "the rest was not owed"
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=TOOLS, capture_output=True, text=True, check=True).stdout
    assert all(run.record["commit"] == commit.strip() for run in ran)
    assert here.has(UNIT.key)


def test_a_missing_part_is_named(
    ship: ModuleType, trips: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert unpack(ship, tmp_path / "job", [trips[0], *trips[2:]]) == 2
    assert capsys.readouterr().err == "ship: part-2 is missing; bring trip 2 too\n"
    assert not (tmp_path / "job").exists()


@pytest.mark.parametrize("harm", ["bit", "cut"])
def test_a_damaged_part_is_refused(
    ship: ModuleType, trips: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], harm: str
) -> None:
    part = trips[1] / "part-2"
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content if harm == "bit" else part.read_bytes()[:-1])
    assert unpack(ship, tmp_path / "job", trips) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"ship: {part} is damaged")
    assert line.endswith("bring trip 2 again")
    assert not (tmp_path / "job").exists()


def test_what_does_not_fit_the_machine_is_refused(
    ship: ModuleType, trips: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = trips[0] / "manifest.json"
    facts = json.loads(other.read_text())
    for change, message in (
        ({"python": "2.7"}, f"ship: packed for Python 2.7, and this is {VERSION}; pack with --python {VERSION}"),
        ({"machine": "vax"}, "ship: packed for vax, and this is"),
    ):
        for trip in trips:
            (trip / "manifest.json").write_text(json.dumps({**facts, **change}))
        assert unpack(ship, tmp_path / "job", trips) == 2
        assert capsys.readouterr().err.startswith(message)
    other.write_text(json.dumps(facts))
    assert unpack(ship, tmp_path / "job", trips) == 2
    assert "not of one pack" in capsys.readouterr().err
    assert unpack(ship, tmp_path / "job", [tmp_path]) == 2
    assert "no manifest.json in" in capsys.readouterr().err


@pytest.mark.slow
def test_runs_and_ways_home_that_make_no_sense_are_refused(
    ship: ModuleType, trips: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def says(*words: object) -> str:
        done = subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        return done.stderr

    assert "nothing is unpacked" in says(trips[0] / "ship.py", "run", "gated-linear", "--minutes", 1)
    assert "is no store" in says(trips[0] / "ship.py", "home", tmp_path / "nowhere", tmp_path / "home")
    assert unpack(ship, tmp_path / "job", trips) == 0
    said = says(tmp_path / "job" / "ship.py", "run", "multitask", "--minutes", 1)
    assert said == "ship: multitask was not packed; there are gated-linear\n"
    assert ship.main(["pack", str(tmp_path), "gated-linear"]) == 2
    assert "is not empty" in capsys.readouterr().err
    assert ship.main(["pack", str(tmp_path / "new"), "gated-liner"]) == 2
    assert "did you mean 'gated-linear'?" in capsys.readouterr().err


@pytest.mark.slow
def test_a_pack_names_no_place_of_this_machine(ship: ModuleType, trips: list[Path], tmp_path: Path) -> None:
    assert unpack(ship, tmp_path / "job", trips) == 0
    said = "".join((trip / "manifest.json").read_text() for trip in trips)
    assert str(TOOLS.parent) not in said
    assert platform.node() not in said
    shutil.rmtree(tmp_path / "job")


def test_the_way_home_takes_files_that_are_stores_by_themselves(ship: ModuleType, tmp_path: Path) -> None:
    away, here = Store(tmp_path / "away"), Store(tmp_path / "here")
    units = [Unit("demo/slopes", 1, {"x": x}) for x in range(3)]
    noise = np.random.default_rng(3)
    for unit in units:
        away.write(unit, Result([{"slope": 1.0}], {"weights": noise.normal(size=50_000)}), {})
    assert ship.home(away.folder, tmp_path / "home", 1) == 3
    files = sorted((tmp_path / "home").iterdir())
    assert [path.name for path in files] == ["home-1.tar.gz", "home-2.tar.gz"]
    first = files[0].read_bytes()
    away.write(Unit("demo/slopes", 1, {"x": 3}), Result([{"slope": 1.0}], {"weights": noise.normal(size=50_000)}), {})
    assert ship.home(away.folder, tmp_path / "home", 1) == 4
    with opened_store(files[1]) as store:
        assert len(merge_stores(store, here).copied) == 2
    with opened_store(files[0]) as store:
        assert len(merge_stores(store, here).copied) == 2
    assert sorted(here.finished()) == sorted(away.finished())
    assert names(first) == names(files[0].read_bytes()), "a file that is full does not change"
    shutil.rmtree(away.path(units[2].key))
    shutil.rmtree(away.path(units[1].key))
    ship.home(away.folder, tmp_path / "home", 1)
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["home-1.tar.gz"]


def names(content: bytes) -> list[str]:
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        return archive.getnames()


@pytest.mark.slow
def test_a_machine_that_is_taken_away_leaves_what_was_finished(
    ship: ModuleType, trips: list[Path], tmp_path: Path
) -> None:
    job = tmp_path / "job"
    assert unpack(ship, job, trips) == 0
    words = ["run", "gated-linear", "--minutes", "5", "--only", "13a", "--scale", "full", "--device", "cpu"]
    words += ["--workers", "1"]
    child = subprocess.Popen([sys.executable, job / "ship.py", *words, "--every", "0.2"], stderr=subprocess.PIPE)
    packed = job / "home" / "home-1.tar.gz"
    end = time.monotonic() + 60
    while not packed.exists() and time.monotonic() < end:
        time.sleep(0.05)
    child.terminate()
    _, said = child.communicate(timeout=60)
    assert child.returncode == 130
    assert b"Traceback" not in said
    with opened_store(packed) as store:
        assert list(store.finished()) == [UNIT.key]


@pytest.mark.parametrize("works", [True, False])
def test_the_service_for_several_processes_is_started_tried_and_ended(
    ship: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, works: bool
) -> None:
    service, log = sys.modules["gpu_service"], tmp_path / "log"
    control = tmp_path / "nvidia-cuda-mps-control"
    control.write_text(f'#!/bin/sh\nif [ "$1" = -d ]; then echo start >> {log}; else cat >> {log}; fi\n')
    control.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.delenv("CUDA_MPS_PIPE_DIRECTORY", raising=False)
    monkeypatch.setattr(service, "TRIAL", f"raise SystemExit({int(not works)})")
    with service.shared_gpu("cpu") as known:
        assert known == {}
    assert not log.exists()
    with service.shared_gpu("cuda") as known:
        assert ("CUDA_MPS_PIPE_DIRECTORY" in known) is works
        assert log.read_text() == "start\n"
    assert log.read_text() == "start\nquit\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mnist", "cifar10", "cifar100"])
def test_images_come_out_as_they_went_in(
    ship: ModuleType, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = import_module("recombine.lab.worlds.images.files")
    image_bytes = sys.modules["image_bytes"]
    rng = np.random.default_rng(1)
    shape = (7, 1, 28, 28) if name == "mnist" else (7, 3, 32, 32)
    about = ((0.5,) * shape[1], (0.5,) * shape[1])
    sets = {split: Images(name, rng.integers(0, 256, shape).astype(np.uint8), np.arange(7), *about) for split in SPLITS}
    monkeypatch.setattr("recombine.lab.worlds.images.load_images", lambda name, split: sets[split])
    monkeypatch.setattr(image_bytes, "BLOCK", 3)
    image_bytes.pack_images(name, tmp_path / "images")
    image_bytes.unpack_images(tmp_path / "images", tmp_path / "data")
    for split, images in sets.items():
        if name == "mnist":
            begin = "train" if split == "train" else "t10k"
            pixels = files.read_idx(tmp_path / "data" / name / f"{begin}-images-idx3-ubyte")[0][:, None]
            labels = files.read_idx(tmp_path / "data" / name / f"{begin}-labels-idx1-ubyte")[0]
        else:
            classes = 100 if name == "cifar100" else 10
            ((_, read),) = files.cifar_readers(tmp_path / "data", classes, split)
            pixels, labels = read()
        np.testing.assert_array_equal(pixels, images.pixels)
        np.testing.assert_array_equal(labels, images.labels)


SPLITS = ("train", "test")
