"""Take what a bare GPU machine lacks to it, run there what is owed, and bring the results home.

The machine has Python, torch, numpy, scipy and scikit-learn, and no network. Here, in a clone::

    python tools/ship.py pack trips forced-rendering kernel-theory

writes the folders ``trips/1``, ``trips/2``, ..., each small enough for one trip: source, wheels, results and images. There,
with all of them at hand (the first one holds this script; numpy is all it needs)::

    python3 trips/1/ship.py unpack job trips/*
    python3 job/ship.py run forced-rendering --minutes 20 --only 6,7

runs units that neither the results nor the store in ``job/store`` have, in as many processes as get most done, and keeps
``job/home.tar.gz`` up to date. Here again::

    recombine reproduce forced-rendering --merge home.tar.gz --save

``docs/another-machine.md`` tells the same with more words.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import lzma
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).resolve()
MANIFEST = "manifest.json"
#: What the machine has; figures are drawn at home.
THERE = {"numpy", "scipy", "scikit-learn", "matplotlib"}
#: Image sets are taken along a block of images at a time.
BLOCK = 10_000
#: Residuals are like noise: no place in a word matters, the byte before does.
FILTERS: list[dict[str, Any]] = [{"id": lzma.FILTER_LZMA2, "preset": 6, "lc": 4, "lp": 0, "pb": 0}]
#: Folders of a store that come home.
STORE_FOLDERS = ("runs", "checkpoints", "failures")

Bytes = np.ndarray[Any, np.dtype[np.uint8]]


class RefusedError(Exception):
    """Something is missing or wrong; the text is one line that says what to do."""


# Packing, in a clone.


def pack(folder: Path, papers: Sequence[str], images: Sequence[str] | None, system: str, python: str, most: int) -> int:
    """Write what the machine lacks as trips of at most ``most`` MB below a folder; return how many there are."""
    if folder.exists() and any(folder.iterdir()):
        raise RefusedError(f"{folder} is not empty; name a new folder, or remove it")
    root = HERE.parents[1]
    commit = _git(root, "rev-parse", "HEAD").decode().strip()
    if _git(root, "status", "--porcelain", "--", "src", "results").strip():
        print("not committed, so not in the pack: changes in src or results", file=sys.stderr)
    chosen, needed = _papers(papers, root / "results")
    with tempfile.TemporaryDirectory() as place:
        load = Path(place)
        results = [f"results/{name}" for name in chosen if (root / "results" / name).is_dir()]
        with tarfile.open(fileobj=io.BytesIO(_git(root, "archive", commit, "src", *results))) as archive:
            archive.extractall(load, filter="data")
        download(load / "wheels", _requirements(root / "pyproject.toml"), system, python)
        for name in needed if images is None else images:
            _pack_images(name, load / "images")
        facts = {"commit": commit, "python": python, "system": system, "papers": chosen}
        return _split(load, folder, facts, most * 1_000_000)


def _git(root: Path, *words: str) -> bytes:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, check=False)
    if done.returncode:
        raise RefusedError(f"git {words[0]} failed in {root} ({done.stderr.decode().strip()}); pack from a clone")
    return done.stdout


def _papers(names: Sequence[str], results: Path) -> tuple[list[str], list[str]]:
    """Return the papers, and the image sets that their units without results name."""
    from recombine.papers import available, find
    from recombine.papers.reproduce import owed_experiments
    from recombine.runs import Store

    papers = [find(name) for name in names] or list(available().values())
    with tempfile.TemporaryDirectory() as empty:
        owed = [one for paper in papers for one in owed_experiments(paper, "full", Store(empty), results=results)]
    sets = {unit.setting.get("images") for one in owed for unit in one.units("full")}
    return [paper.name for paper in papers], sorted(name for name in sets if isinstance(name, str) and name != "digits")


def _requirements(pyproject: Path) -> list[str]:
    with pyproject.open("rb") as file:
        wanted = tomllib.load(file)["project"]["dependencies"]
    return [line for line in wanted if re.split(r"[^\w-]", line)[0] not in THERE]


def download(folder: Path, requirements: Sequence[str], system: str, python: str) -> None:
    """Fetch wheels with the user's own configuration of pip."""
    target = ["--platform", system, "--python-version", python, "--only-binary", ":all:", "--dest", str(folder)]
    command = [sys.executable, "-m", "pip", "download", "--quiet", *target, *requirements]
    if subprocess.run(command, check=False).returncode:
        raise RefusedError("pip could not fetch every wheel; what it said stands above")


def _pack_images(name: str, folder: Path) -> None:
    from recombine.worlds.images import load_images

    for split in ("train", "test"):
        images = load_images(name, split=split)
        folder.mkdir(parents=True, exist_ok=True)
        for start in range(0, len(images), BLOCK):
            pixels, labels = images.pixels[start : start + BLOCK], images.labels[start : start + BLOCK]
            head = np.array([*pixels.shape, 0], ">u4").tobytes()
            content = head + labels.astype(np.uint8).tobytes() + residuals(pixels).tobytes()
            path = folder / f"{name}-{split}-{start // BLOCK}.xz"
            path.write_bytes(lzma.compress(content, lzma.FORMAT_XZ, filters=FILTERS))


def residuals(pixels: Bytes) -> Bytes:
    """Return what a pixel differs from the guess by its neighbours, shape (channels, N, height, width).

    Colours are taken as green and the differences from it; the guess is the median of left, upper, and left + upper -
    upper left. Small differences of either sign become small bytes.

    >>> pixels = np.random.default_rng(0).integers(0, 256, (2, 3, 4, 5)).astype(np.uint8)
    >>> np.array_equal(from_residuals(residuals(pixels)), pixels)
    True
    """
    planes = pixels.transpose(1, 0, 2, 3).copy()
    if len(planes) == 3:
        planes[[0, 2]] -= planes[1]
    height, width = planes.shape[2:]
    found = np.empty_like(planes)
    for row in range(height):
        for column in range(width):
            found[:, :, row, column] = _folded(planes[:, :, row, column] - _guess(planes, row, column))
    return found


def from_residuals(found: Bytes) -> Bytes:
    """Return the pixels, shape (N, channels, height, width)."""
    planes = np.empty_like(found)
    height, width = planes.shape[2:]
    for row in range(height):
        for column in range(width):
            planes[:, :, row, column] = _unfolded(found[:, :, row, column]) + _guess(planes, row, column)
    if len(planes) == 3:
        planes[[0, 2]] += planes[1]
    return np.ascontiguousarray(planes.transpose(1, 0, 2, 3))


def _guess(planes: Bytes, row: int, column: int) -> Bytes:
    """Guess a pixel of every image from those before it; bytes go round at 256."""
    if row == 0 or column == 0:
        if row == column == 0:
            return np.zeros(planes.shape[:2], np.uint8)
        return planes[:, :, row - (column == 0), column - (row == 0)]
    left, upper, corner = (planes[:, :, row - up, column - back] for up, back in ((0, 1), (1, 0), (1, 1)))
    low, high = np.minimum(left, upper), np.maximum(left, upper)
    return np.where(corner >= high, low, np.where(corner <= low, high, left + upper - corner))


def _folded(difference: Bytes) -> Bytes:
    return np.where(difference < 128, 2 * difference, 2 * (255 - difference) + 1).astype(np.uint8)


def _unfolded(folded: Bytes) -> Bytes:
    return np.where(folded % 2, 255 - folded // 2, folded // 2).astype(np.uint8)


def _split(load: Path, folder: Path, facts: dict[str, Any], most: int) -> int:
    """Write one archive as parts, each in a folder of its own with this script and the list of all parts."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = folder / "whole.tar.gz"
    with tarfile.open(whole, "w:gz", compresslevel=6) as archive:
        for path in sorted(load.iterdir()):
            archive.add(path, path.name, filter=_nameless)
    parts = []
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
        shutil.copyfile(HERE, trip / HERE.name)
    return len(parts)


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
    if not facts["system"].endswith(platform.machine()):
        raise RefusedError(f"packed for {facts['system']}, and this is {platform.machine()}; pack with --system")
    parts = [_part(part, place, trips) for place, part in enumerate(facts["parts"], 1)]
    job.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=_Chain(parts), mode="r|gz") as archive:
        archive.extractall(job, filter="data")
    for wheel in sorted((job / "wheels").glob("*.whl")):
        with zipfile.ZipFile(wheel) as content:
            content.extractall(job / "site")
    _unpack_images(job / "images", job / "data")
    for name in ("wheels", "images"):
        shutil.rmtree(job / name, ignore_errors=True)
    shutil.copyfile(HERE, job / HERE.name)
    # Last: where it stands, everything stands.
    (job / MANIFEST).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def _manifest(trips: Sequence[Path]) -> dict[str, Any]:
    found = [path.read_text(encoding="utf-8") for trip in trips if (path := trip / MANIFEST).is_file()]
    if not found:
        raise RefusedError(f"no {MANIFEST} in {', '.join(map(str, trips))}; name the folders that were packed")
    if len(set(found)) > 1:
        raise RefusedError("the trips are not of one pack; bring all of them again")
    facts: dict[str, Any] = json.loads(found[0])
    return facts


def _part(part: dict[str, Any], place: int, trips: Sequence[Path]) -> Path:
    path = next((path for trip in trips if (path := trip / part["name"]).is_file()), None)
    if path is None:
        raise RefusedError(f"{part['name']} is missing; bring trip {place} too")
    if hashlib.sha256(path.read_bytes()).hexdigest() != part["sha256"]:
        raise RefusedError(f"{path} is damaged: not the {part['bytes']:,} bytes that were packed; bring trip {place} again")
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


def _unpack_images(folder: Path, data: Path) -> None:
    """Write image sets in the formats that they are looked for in."""
    blocks: dict[tuple[str, str], list[tuple[Bytes, Bytes]]] = {}
    for path in sorted(folder.glob("*.xz"), key=lambda path: int(path.stem.rpartition("-")[2])):
        name, split, _ = path.stem.split("-")
        blocks.setdefault((name, split), []).append(_block(lzma.decompress(path.read_bytes())))
    for (name, split), parts in blocks.items():
        pixels, labels = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        place = data / name
        place.mkdir(parents=True, exist_ok=True)
        (_write_cifar if name.startswith("cifar") else _write_idx)(place, name, split, pixels, labels)


def _block(content: bytes) -> tuple[Bytes, Bytes]:
    count, channels, height, width, _ = np.frombuffer(content, ">u4", 5).tolist()
    labels = np.frombuffer(content, np.uint8, count, 20)
    found = np.frombuffer(content, np.uint8, -1, 20 + count).reshape(channels, count, height, width)
    return from_residuals(found), labels


def _write_idx(folder: Path, _name: str, split: str, pixels: Bytes, labels: Bytes) -> None:
    begin = "train" if split == "train" else "t10k"
    for role, array in (("images-idx3", pixels[:, 0]), ("labels-idx1", labels)):
        head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
        (folder / f"{begin}-{role}-ubyte").write_bytes(head + array.tobytes())


def _write_cifar(folder: Path, name: str, split: str, pixels: Bytes, labels: Bytes) -> None:
    # The coarse labels of CIFAR-100, the first byte of two, are not used.
    heads = [labels[:, None]] if name == "cifar10" else [np.zeros_like(labels)[:, None], labels[:, None]]
    records = np.hstack([*heads, pixels.reshape(len(pixels), -1)])
    if name == "cifar100":
        (folder / f"{split}.bin").write_bytes(records.tobytes())
        (folder / "fine_label_names.txt").touch()
        return
    names = [f"data_batch_{place}.bin" for place in range(1, 6)] if split == "train" else ["test_batch.bin"]
    for path, part in zip(names, np.array_split(records, len(names)), strict=True):
        (folder / path).write_bytes(part.tobytes())


# Running, on the machine.


def run(
    job: Path, paper: str, minutes: float, only: Sequence[str], scale: str, device: str, workers: str, every: float
) -> int:
    """Run units that are owed, and keep the store packed for the way home."""
    if not (job / MANIFEST).is_file():
        raise RefusedError(f"nothing is unpacked in {job}; run unpack first")
    facts, store = json.loads((job / MANIFEST).read_text(encoding="utf-8")), job / "store"
    words = ["--scale", scale, "--device", device, "--minutes", str(minutes), "--workers", workers, "--owed"]
    words += ["--results", str(job / "results"), "--store", str(store), *(f"--only={claim}" for claim in only)]
    search = os.pathsep.join([str(job / "src"), str(job / "site"), *filter(None, [os.environ.get("PYTHONPATH")])])
    known = {"PYTHONPATH": search, "RECOMBINE_DATA": str(job / "data"), "RECOMBINE_COMMIT": facts["commit"]}
    with _shared_gpu(device) as shared:
        child = subprocess.Popen(
            [sys.executable, "-m", "recombine", "reproduce", paper, *words], env={**os.environ, **known, **shared}
        )
        try:
            while True:
                try:
                    return child.wait(every)
                except subprocess.TimeoutExpired:
                    home(store, job / "home.tar.gz")
        finally:
            child.terminate()
            child.wait()
            print(f"{home(store, job / 'home.tar.gz')} finished units in {job / 'home.tar.gz'}", file=sys.stderr)


@contextmanager
def _shared_gpu(device: str) -> Iterator[dict[str, str]]:
    """Start NVIDIA's service by which processes compute at the same time on one GPU, where there is one."""
    control = shutil.which("nvidia-cuda-mps-control") if device.startswith("cuda") else None
    if control is None or "CUDA_MPS_PIPE_DIRECTORY" in os.environ:
        yield {}
        return
    with tempfile.TemporaryDirectory() as place:
        known = {"CUDA_MPS_PIPE_DIRECTORY": place, "CUDA_MPS_LOG_DIRECTORY": place}
        trial = [sys.executable, "-c", "import torch; torch.ones(1, device='cuda').item()"]
        environment = {**os.environ, **known}
        subprocess.run([control, "-d"], env=environment, check=False)
        try:
            good = subprocess.run(trial, env=environment, check=False, timeout=120).returncode == 0
            yield known if good else {}
        finally:
            subprocess.run([control], input=b"quit\n", env=environment, check=False)


def home(store: Path, target: Path) -> int:
    """Pack a store as one file, written beside and renamed; return how many finished units it holds."""
    partial = target.with_name(f".{target.name}.partial")
    units = 0
    with tarfile.open(partial, "w:gz", compresslevel=6) as archive:
        for folder in (found for name in STORE_FOLDERS for found in sorted((store / name).glob("**/"))):
            content = _files(folder)
            units += (folder / "result.json") in content
            for path, data in content.items():
                entry = tarfile.TarInfo(path.relative_to(store).as_posix())
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    partial.replace(target)
    return units


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
    one.add_argument("--system", default="manylinux2014_x86_64", help="platform tag of wheels")
    one.add_argument("--python", default="3.12")
    one.add_argument("--most", type=int, default=60, help="MB per trip")
    one = verbs.add_parser("unpack", help="there: put the trips together")
    one.add_argument("job", type=Path)
    one.add_argument("trips", type=Path, nargs="+")
    one = verbs.add_parser("run", help="there: run owed units")
    one.add_argument("paper")
    one.add_argument("--minutes", type=float, required=True)
    one.add_argument("--only", action="append", default=[], help="claims")
    one.add_argument("--scale", default="full")
    one.add_argument("--device", default="cuda")
    one.add_argument("--workers", default="auto")
    one.add_argument("--every", type=float, default=60, help="seconds between two packings of the store")
    one = verbs.add_parser("home", help="there: pack a store as one file")
    one.add_argument("store", type=Path)
    one.add_argument("target", type=Path)
    given = vars(parser.parse_args(words))
    try:
        return _DO[given.pop("verb")](given)
    except RefusedError as refusal:
        print(f"ship: {refusal}", file=sys.stderr)
        return 2


def _do_pack(given: dict[str, Any]) -> int:
    sets = given.pop("images")
    images = None if sets is None else [name for name in sets.split(",") if name]
    trips = pack(**given, images=images)
    sizes = [
        sum(path.stat().st_size for path in (given["folder"] / str(place + 1)).iterdir()) for place in range(trips)
    ]
    for place, size in enumerate(sizes, 1):
        print(f"{given['folder'] / str(place)}: {size / 1e6:.1f} MB")
    return 0


def _do_unpack(given: dict[str, Any]) -> int:
    unpack(**given)
    print(f"unpacked; now: {Path(sys.executable).name} {given['job'] / HERE.name} run PAPER --minutes M")
    return 0


def _do_run(given: dict[str, Any]) -> int:
    return run(HERE.parent, **given)


def _do_home(given: dict[str, Any]) -> int:
    if not any((given["store"] / name).is_dir() for name in STORE_FOLDERS):
        raise RefusedError(f"{given['store']} is no store: it has no folder 'runs'")
    print(f"{home(**given)} finished units in {given['target']}")
    return 0


_DO: dict[str, Callable[[dict[str, Any]], int]] = {
    "pack": _do_pack,
    "unpack": _do_unpack,
    "run": _do_run,
    "home": _do_home,
}


if __name__ == "__main__":
    sys.exit(main())
