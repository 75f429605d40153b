"""Take what a bare GPU machine lacks to it, run there what is owed, and bring the results home.

The machine has Python, torch, numpy, scipy and scikit-learn, and no network. Here, in a clone::

    python tools/ship.py pack trips forced-rendering kernel-theory

writes the folders ``trips/1``, ``trips/2``, ..., each small enough for one trip: source, wheels, results and images.
There, with all of them at hand (each holds this script, which needs only numpy)::

    python3 trips/1/ship.py unpack job trips/*
    python3 job/ship.py run forced-rendering --minutes 20 --only 7,9

runs units that neither the results nor the store in ``job/store`` have, in as many processes as get most done, and
keeps ``job/home/home-1.tar.gz`` up to date. Here again::

    recombine reproduce forced-rendering --merge home-1.tar.gz --save

``docs/another-machine.md`` tells the same with more words.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from gpu_service import shared_gpu
from image_bytes import pack_images, unpack_images

HERE = Path(__file__).resolve()
#: This script, and what it needs beside it.
SCRIPTS = ("ship.py", "image_bytes.py", "gpu_service.py")
MANIFEST = "manifest.json"
#: What the machine has; figures are drawn at home.
THERE = {"numpy", "scipy", "scikit-learn", "matplotlib"}
#: Kinds of wheels that any Linux of 2019 or later takes.
LINUX = ("2014", "_2_17", "_2_24", "_2_26", "_2_27", "_2_28")
#: Folders of a store that come home.
STORE_FOLDERS = ("runs", "checkpoints", "failures")


class RefusedError(Exception):
    """Something is missing or wrong; the text is one line that says what to do."""


# Packing, in a clone.


def pack(folder: Path, papers: Sequence[str], images: str | None, store: Path | None, most: int, **fit: str) -> None:
    """Write what a machine lacks as trips of at most ``most`` MB below a folder; wheels fit its kind and its Python."""
    from owed import owed_units  # at home only

    if folder.exists() and any(folder.iterdir()):
        raise RefusedError(f"{folder} is not empty; name a new folder, or remove it")
    root = HERE.parents[1]
    commit = _git(root, "rev-parse", "HEAD").decode().strip()
    if _git(root, "status", "--porcelain", "--", "src", "results").strip():
        print("not committed, so not in the pack: changes in src or results", file=sys.stderr)
    owed = owed_units(papers, root / "results")
    with tempfile.TemporaryDirectory() as place:
        load = Path(place)
        results = [f"results/{name}" for name in owed.papers if (root / "results" / name).is_dir()]
        with tarfile.open(fileobj=io.BytesIO(_git(root, "archive", commit, "src", *results))) as archive:
            archive.extractall(load, filter="data")
        download(load / "wheels", _requirements(root / "pyproject.toml"), **fit)
        packed = owed.images if images is None else list(filter(None, images.split(",")))
        for name in packed:
            pack_images(name, load / "images")
        if missing := sorted(set(owed.images) - set(packed)):
            calls = "; ".join(owed.runs_without(missing)) or "there are none"
            print(f"not packed: {', '.join(missing)}; there, name owed claims that do without: {calls}")
        if store is not None:
            _take_along(_is_store(store), load / "store")
        _split(load, folder, {"commit": commit, **fit, "papers": owed.papers}, most * 1_000_000 - 50_000)


def _git(root: Path, *words: str) -> bytes:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, check=False)
    if done.returncode:
        raise RefusedError(f"git {words[0]} failed in {root} ({done.stderr.decode().strip()}); pack from a clone")
    return done.stdout


def _take_along(store: Path, target: Path) -> None:
    """Copy what is finished, which is then not owed, and what is begun, which goes on there."""
    for name in STORE_FOLDERS[:2]:
        if (store / name).is_dir():
            shutil.copytree(store / name, target / name, ignore=shutil.ignore_patterns(".*"))


def _is_store(folder: Path) -> Path:
    if not any((folder / name).is_dir() for name in STORE_FOLDERS[:2]):
        raise RefusedError(f"{folder} is no store: it has no folder 'runs'; name the one that --store named")
    return folder


def _requirements(pyproject: Path) -> list[str]:
    with pyproject.open("rb") as file:
        wanted = tomllib.load(file)["project"]["dependencies"]
    return [line for line in wanted if re.split(r"[^\w-]", line)[0] not in THERE]


def download(folder: Path, requirements: Sequence[str], machine: str, python: str) -> None:
    """Fetch wheels with the user's own configuration of pip."""
    tags = [f"--platform=manylinux{tag}_{machine}" for tag in LINUX]
    target = [*tags, f"--python-version={python}", "--only-binary=:all:", f"--dest={folder}"]
    command = [sys.executable, "-m", "pip", "download", "--quiet", *target, *requirements]
    if subprocess.run(command, check=False).returncode:
        raise RefusedError("pip could not fetch every wheel; what it said stands above")


def _split(load: Path, folder: Path, facts: dict[str, Any], most: int) -> None:
    """Write one archive as parts, each in a folder of its own with this script and the list of all parts."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = folder / "whole.tar.gz"
    with tarfile.open(whole, "w:gz", compresslevel=6) as archive:
        for path in sorted(load.iterdir()):
            archive.add(path, path.name, filter=_nameless)
    parts: list[dict[str, Any]] = []
    with whole.open("rb") as file:
        while content := file.read(most):
            trip = folder / str(len(parts) + 1)
            trip.mkdir()
            name = f"part-{len(parts) + 1}"
            (trip / name).write_bytes(content)
            parts.append({"name": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()})
    whole.unlink()
    for trip in (folder / str(place + 1) for place in range(len(parts))):
        (trip / MANIFEST).write_text(json.dumps({**facts, "parts": parts}, indent=1) + "\n", encoding="utf-8")
        _copy_scripts(trip)


def _copy_scripts(folder: Path) -> None:
    for name in SCRIPTS:
        shutil.copyfile(HERE.with_name(name), folder / name)


def _nameless(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Leave out whose files they were."""
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


# Unpacking, on the machine.


def unpack(job: Path, trips: Sequence[Path]) -> None:
    """Put all trips together in a folder, after checking every part."""
    facts = _manifest(trips)
    version = ".".join(platform.python_version_tuple()[:2])
    if version != facts["python"]:
        raise RefusedError(f"packed for Python {facts['python']}, and this is {version}; pack with --python {version}")
    if platform.machine() != facts["machine"]:
        raise RefusedError(f"packed for {facts['machine']}, and this is {platform.machine()}; pack with --machine")
    parts = [_part(part, place, trips) for place, part in enumerate(facts["parts"], 1)]
    job.mkdir(parents=True, exist_ok=True)
    with _Chain(parts) as chain, tarfile.open(fileobj=chain, mode="r|gz") as archive:
        archive.extractall(job, filter="data")
    for wheel in sorted((job / "wheels").glob("*.whl")):
        with zipfile.ZipFile(wheel) as content:
            content.extractall(job / "site")
    unpack_images(job / "images", job / "data")
    for name in ("wheels", "images"):
        shutil.rmtree(job / name, ignore_errors=True)
    _copy_scripts(job)
    # Last: where it stands, everything stands.
    (job / MANIFEST).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def _manifest(trips: Sequence[Path]) -> dict[str, Any]:
    found = [path.read_text(encoding="utf-8") for trip in trips if (path := trip / MANIFEST).is_file()]
    if not found:
        raise RefusedError(f"no {MANIFEST} in {', '.join(map(str, trips))}; name the folders that were packed")
    if len(set(found)) > 1:
        raise RefusedError("the trips are not of one pack; bring all of them again")
    try:
        facts: dict[str, Any] = json.loads(found[0])
    except ValueError as error:
        raise RefusedError(f"{MANIFEST} is damaged ({error}); bring a trip again") from None
    return facts


def _part(part: dict[str, Any], place: int, trips: Sequence[Path]) -> Path:
    name = str(part["name"])
    path = next((trip / name for trip in trips if (trip / name).is_file()), None)
    if path is None:
        raise RefusedError(f"{name} is missing; bring trip {place} too")
    if hashlib.sha256(path.read_bytes()).hexdigest() != part["sha256"]:
        raise RefusedError(f"{path} is damaged: its bytes are not those that were packed; bring trip {place} again")
    return path


class _Chain(io.RawIOBase):
    """Several files read as one."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._files: list[IO[bytes]] = [path.open("rb") for path in paths]

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while self._files:
            content = self._files[0].read(size)
            if content:
                return content
            self._files.pop(0).close()
        return b""

    def close(self) -> None:
        for file in self._files:
            file.close()
        super().close()


# Running, on the machine.


def run(job: Path, paper: str, how: Sequence[str], device: str, every: float, most: int) -> int:
    """Run units that are owed, with options of ``recombine reproduce``, and keep the store packed for the way home."""
    if not ((job / MANIFEST).is_file() and (job / "src").is_dir()):
        raise RefusedError(f"nothing is unpacked in {job}; unpack first, and run the ship.py that lies there then")
    facts, store = json.loads((job / MANIFEST).read_text(encoding="utf-8")), job / "store"
    if paper not in facts["papers"]:
        # Without its results every unit would look owed.
        raise RefusedError(f"{paper} was not packed; there are {', '.join(facts['papers'])}")
    words = [*how, "--device", device, "--owed", "--results", str(job / "results"), "--store", str(store)]
    search = os.pathsep.join([str(job / "src"), str(job / "site"), *filter(None, [os.environ.get("PYTHONPATH")])])
    known = {"PYTHONPATH": search, "RECOMBINE_DATA": str(job / "data"), "RECOMBINE_COMMIT": facts["commit"]}
    # A machine that is taken away says so by a signal, if at all.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with shared_gpu(device) as shared:
        command = [sys.executable, "-m", "recombine", "reproduce", paper, *words]
        child = subprocess.Popen(command, env={**os.environ, **known, **shared})
        try:
            while True:
                try:
                    return child.wait(every)
                except subprocess.TimeoutExpired:
                    home(store, job / "home", most)
        except KeyboardInterrupt:
            return 130
        finally:
            child.terminate()
            child.wait()
            _tell(home(store, job / "home", most), job / "home")


def home(store: Path, folder: Path, most: int) -> int:
    """Pack a store as files of at most ``most`` MB, each a store by itself; return how many finished units they hold.

    Units stay whole, so a larger one gets a file of its own. What was finished first comes first: a file that is full
    does not change any more. Files are written beside and renamed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    groups: list[list[Path]] = [[]]
    size = 0
    for unit in (unit for name in STORE_FOLDERS for unit in _units(store / name)):
        weight = sum(map(len, _files(unit).values()))
        if groups[-1] and size + weight > most * 1_000_000:
            groups.append([])
            size = 0
        groups[-1].append(unit)
        size += weight
    targets = [folder / f"home-{place}.tar.gz" for place in range(1, len(groups) + 1)]
    finished = sum(_pack_units(store, units, target) for units, target in zip(groups, targets, strict=True))
    for path in set(folder.glob("home-*.tar.gz")) - set(targets):
        path.unlink()
    return finished


def _pack_units(store: Path, units: Sequence[Path], target: Path) -> int:
    partial, finished = target.with_name(f".{target.name}.partial"), 0
    with tarfile.open(partial, "w:gz", compresslevel=3) as archive:
        for unit in units:
            content = _files(unit)
            finished += (unit / "result.json") in content
            for path, data in content.items():
                entry = tarfile.TarInfo(path.relative_to(store).as_posix())
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    partial.replace(target)
    return finished


def _units(folder: Path) -> list[Path]:
    """Return the folders of units in the order of their last change."""
    found = {path.parent for path in folder.rglob("*") if path.is_file()}
    return sorted(found, key=lambda path: (path.stat().st_mtime_ns if path.exists() else 0, path.name))


def _tell(units: int, folder: Path) -> None:
    files = sorted(folder.glob("home-*.tar.gz"))
    sizes = ", ".join(f"{path} ({path.stat().st_size / 1e6:.1f} MB)" for path in files)
    print(f"{units} finished unit{'' if units == 1 else 's'} on the way home: {sizes}", file=sys.stderr)


def _files(folder: Path) -> dict[Path, bytes]:
    """Read the files of a folder; one that is replaced meanwhile is left for the next time."""
    found = {}
    for path in sorted(folder.iterdir() if folder.is_dir() else ()):
        if path.is_file() and not path.name.startswith("."):
            try:
                found[path] = path.read_bytes()
            except OSError:
                return {}
    return found


def main(words: Sequence[str] | None = None) -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("pack", help="in a clone: write the trips")
    one.add_argument("folder", type=Path)
    one.add_argument("papers", nargs="*", help="short names; all papers by default")
    one.add_argument("--images", help="mnist,cifar10: instead of the sets that owed units name; '' for none")
    one.add_argument("--store", type=Path, help="take along its finished units and those that are part way")
    one.add_argument("--machine", default="x86_64")
    one.add_argument("--python", default="3.12")
    one.add_argument("--most", type=int, default=60, help="MB per trip")
    one = verbs.add_parser("unpack", help="there: put the trips together")
    one.add_argument("job", type=Path)
    one.add_argument("trips", type=Path, nargs="+")
    one = verbs.add_parser("run", help="there: run owed units")
    one.add_argument("paper")
    one.add_argument("--minutes", type=float, required=True)
    one.add_argument("--only", help="claims: 9a,9b")
    one.add_argument("--scale", default="full")
    one.add_argument("--device", default="cuda")
    one.add_argument("--workers", default="auto")
    one.add_argument("--every", type=float, default=60, help="seconds between two packings of the store")
    one.add_argument("--most", type=int, default=60, help="MB per file for the way home")
    one = verbs.add_parser("home", help="there: pack a store for the way home")
    one.add_argument("store", type=Path)
    one.add_argument("folder", type=Path)
    one.add_argument("--most", type=int, default=60, help="MB per file")
    given = vars(parser.parse_args(words))
    try:
        return int(globals()[f"_{given.pop('verb')}"](**given) or 0)
    except RefusedError as refusal:
        print(f"ship: {refusal}", file=sys.stderr)
        return 2


def _pack(folder: Path, **how: Any) -> None:
    from recombine.errors import InputError

    try:
        pack(folder, **how)
    except InputError as error:
        raise RefusedError(str(error)) from None
    for trip in sorted(folder.iterdir(), key=lambda path: int(path.name)):
        print(f"{trip}: {sum(path.stat().st_size for path in trip.iterdir()) / 1e6:.1f} MB")


def _unpack(job: Path, trips: Sequence[Path]) -> None:
    unpack(job, trips)
    print(f"unpacked; now: {Path(sys.executable).name} {job / HERE.name} run PAPER --minutes M")


def _run(paper: str, device: str, every: float, most: int, **how: Any) -> int:
    options = [f"--{name}={value}" for name, value in how.items() if value is not None]
    return run(HERE.parent, paper, options, device, every, most)


def _home(store: Path, folder: Path, most: int) -> None:
    _tell(home(_is_store(store), folder, most), folder)


if __name__ == "__main__":
    sys.exit(main())
