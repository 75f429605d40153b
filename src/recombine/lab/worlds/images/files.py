"""Readers of the file formats in which small labelled images are passed around; sources.py judges the content."""

from __future__ import annotations

import gzip
import hashlib
import io
import itertools
import json
import math
import os
import pickle
import re
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import IntArray
from recombine.errors import InputError

if TYPE_CHECKING:
    from PIL import Image

Bytes = npt.NDArray[np.uint8]
#: Pixels (N, channels, height, width) and labels (N,).
Labelled = tuple[Bytes, IntArray]

CIFAR_SIDE = 32
PIXELS = 3 * CIFAR_SIDE * CIFAR_SIDE

_RECONSTRUCT: Any = np.empty(0).__reduce__()[0]


def files_below(folder: Path, pattern: str) -> list[Path]:
    """Return the files at any depth below a folder whose whole name matches a regular expression, in a fixed order.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "deep").mkdir()
    >>> _ = (folder / "deep" / "train.bin").write_bytes(b"")
    >>> [path.name for path in files_below(folder, r"(train|test)[.]bin")]
    ['train.bin']
    """
    regex = re.compile(pattern)
    return [Path(path, name) for path, _, names in _walk(folder) for name in sorted(filter(regex.fullmatch, names))]


def _walk(folder: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Like ``os.walk``, through links too (data often lies behind one), but into each folder once."""
    entered = set()
    for path, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(path)
        if real in entered:
            folders.clear()
            continue
        entered.add(real)
        folders.sort()
        yield path, folders, names


def read_idx(path: Path) -> tuple[Bytes, tuple[str, str]]:
    """Return the array in an IDX file (raw or gzip), and the SHA-256 and the md5 of the file's uncompressed bytes.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "labels"
    >>> _ = path.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 2, 1]))
    >>> array, digests = read_idx(path)
    >>> array, digests[1]
    (array([7, 2, 1], dtype=uint8), '95cb6c54ea3c0cf91e8411f0a9fd1728')
    """
    content = _content(path)
    axes = content[3] if len(content) > 3 else 0
    if content[:3] != b"\0\0\x08" or not 1 <= axes <= 4 or len(content) < 4 + 4 * axes:
        raise InputError(f"{path} is not an IDX file of bytes: expected it to begin 00 00 08, found {_start(content)}")
    shape = [int.from_bytes(content[at : at + 4], "big") for at in range(4, 4 + 4 * axes, 4)]
    expected = 4 + 4 * axes + math.prod(shape)
    if len(content) != expected:
        raise InputError(f"{path} is not whole: expected {expected:,} bytes, found {len(content):,}")
    array = np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape)
    return array, (hashlib.sha256(content).hexdigest(), hashlib.md5(content, usedforsecurity=False).hexdigest())


def _content(path: Path) -> bytes:
    """Return a file's bytes, unpacked if its name ends in .gz."""
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if path.suffix == ".gz" else content
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} cannot be read: expected a whole file, found: {error}") from None


def _start(content: bytes) -> str:
    return content[:3].hex(" ") or "nothing"


def cifar_readers(folder: Path, classes: int, split: str) -> Iterator[tuple[Path, Callable[[], Labelled]]]:
    """Yield the place and a reader of every copy of a split of CIFAR-10 or CIFAR-100 below a folder, fastest first.

    The formats are python batches, binary batches, sprites (one image per row of a PNG) and PNG files in class folders.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "test_batch.bin").write_bytes(bytes([7]) + bytes(3072))
    >>> [(place == folder, read()[1]) for place, read in cifar_readers(folder, 10, "test")]
    [(True, array([7]))]
    """
    names = (
        [split] if classes == 100 else [f"data_batch_{k}" for k in range(1, 6)] if split == "train" else ["test_batch"]
    )
    formats = {"": partial(read_pickle, classes=classes), ".bin": partial(_read_binary, classes=classes)}
    # The batches of CIFAR-100 have names that anything could have, so the list of its classes must lie next to them.
    sibling = {"": "meta", ".bin": "fine_label_names.txt"}
    for ending, read in formats.items():
        for first in files_below(folder, re.escape(names[0] + ending)):
            if classes == 10 or first.with_name(sibling[ending]).exists():
                yield first.parent, partial(_batches, [first.with_name(name + ending) for name in names], read)
    if classes == 10:
        for first in files_below(folder, re.escape(names[0] + ".png")):
            yield first.parent, partial(_read_sprites, [first.with_name(name + ".png") for name in names], split)
    for path, folders, _ in _walk(folder):
        if Path(path).name == split and len(folders) == classes:
            yield Path(path), partial(_read_class_folders, Path(path))


def _batches(paths: list[Path], read: Callable[[Path], Labelled]) -> Labelled:
    batches = [read(path) for path in paths]
    return np.concatenate([pixels for pixels, _ in batches]), np.concatenate([labels for _, labels in batches])


class _ArraysOnly(pickle.Unpickler):
    """Unpickles numbers, texts, lists, dictionaries and numpy arrays, and refuses to run anything else."""

    #: Ready objects rather than names to import: numpy has moved the first one, and warns when it is asked for.
    ALLOWED: ClassVar[dict[tuple[str, str], Any]] = {
        ("numpy.core.multiarray", "_reconstruct"): _RECONSTRUCT,
        ("numpy._core.multiarray", "_reconstruct"): _RECONSTRUCT,
        ("numpy", "ndarray"): np.ndarray,
        ("numpy", "dtype"): np.dtype,
        ("_codecs", "encode"): lambda text, _: text.encode("latin1"),
    }

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self.ALLOWED:
            raise pickle.UnpicklingError(f"a call of {module}.{name}, which no image file needs")
        return self.ALLOWED[module, name]


def read_pickle(path: Path, classes: int) -> Labelled:
    """Return the images of one CIFAR python batch; a pickle that holds more than arrays is refused, not run.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "test_batch"
    >>> _ = path.write_bytes(pickle.dumps({"data": np.zeros((2, 3072), np.uint8), "labels": [4, 1]}, protocol=2))
    >>> pixels, labels = read_pickle(path, classes=10)
    >>> pixels.shape, labels
    ((2, 3, 32, 32), array([4, 1]))
    """
    try:
        batch = _ArraysOnly(io.BytesIO(_content(path)), encoding="bytes").load()
        batch = {key.decode() if isinstance(key, bytes) else key: value for key, value in batch.items()}
        pixels, labels = batch["data"], batch["fine_labels" if classes == 100 else "labels"]
    except InputError:
        raise
    except Exception as error:  # which kind a broken pickle ends in depends on the byte that is broken
        raise InputError(
            f"{path} is not a CIFAR batch: expected pickled arrays, found {str(error) or 'a cut'}"
        ) from None
    return _checked(path, np.asarray(pixels), np.asarray(labels))


def _checked(path: Path, pixels: npt.NDArray[Any], labels: npt.NDArray[Any]) -> Labelled:
    if pixels.dtype != np.uint8 or pixels.shape != (len(pixels), PIXELS) or labels.shape != pixels.shape[:1]:
        raise InputError(
            f"{path} is not a CIFAR batch: expected bytes of shape (N, {PIXELS}) and N labels, "
            f"found {pixels.dtype} {pixels.shape} and {labels.shape}"
        )
    return pixels.reshape(-1, 3, CIFAR_SIDE, CIFAR_SIDE), labels.astype(np.int64)


def _read_binary(path: Path, classes: int) -> Labelled:
    """Return the images of one CIFAR binary batch: records of one label (CIFAR-100: two, the fine last) and pixels."""
    content = _content(path)
    heads = 2 if classes == 100 else 1
    if not content or len(content) % (heads + PIXELS):
        raise InputError(
            f"{path} is not whole: expected a multiple of {heads + PIXELS:,} bytes, found {len(content):,}"
        )
    records = np.frombuffer(content, np.uint8).reshape(-1, heads + PIXELS)
    return records[:, heads:].reshape(-1, 3, CIFAR_SIDE, CIFAR_SIDE), records[:, heads - 1].astype(np.int64)


def _read_sprites(paths: list[Path], split: str) -> Labelled:
    """Return the images of PNG sprites, one image per row of 1,024 pixels, and their labels from a JSON beside them."""
    rows = np.concatenate([_sprite(path) for path in paths])
    # The package that carries the sprites spells it "lables".
    named = [paths[0].with_name(f"{split}_{word}.json") for word in ("lables", "labels")]
    path = next((path for path in named if path.exists()), named[0])
    try:
        labels = np.asarray(json.loads(_content(path)))
    except ValueError as error:
        raise InputError(f"{path} is not a list of labels: expected JSON, found: {error}") from None
    if labels.dtype.kind != "i" or labels.shape != rows.shape[:1]:
        raise InputError(f"{path} does not fit its sprites: expected {len(rows):,} labels, found {labels.size:,}")
    return rows.reshape(-1, CIFAR_SIDE, CIFAR_SIDE, 3).transpose(0, 3, 1, 2), labels.astype(np.int64)


def _sprite(path: Path) -> Bytes:
    rows = _png(path)
    if rows.shape[1] != CIFAR_SIDE * CIFAR_SIDE:
        raise InputError(
            f"{path} is not a sprite: expected {CIFAR_SIDE * CIFAR_SIDE:,} pixels per row, found {rows.shape[1]:,}"
        )
    return rows


def _read_class_folders(folder: Path) -> Labelled:
    """Return the PNG images of a folder of class folders; labels number the class folders in alphabetical order."""
    classes = sorted(entry for entry in folder.iterdir() if entry.is_dir())
    paths = [sorted(entry.glob("*.png")) for entry in classes]
    labels = np.repeat(np.arange(len(classes)), [len(group) for group in paths])
    if not len(labels):
        raise InputError(f"{folder} holds no images: expected CLASS/*.png, found {len(classes)} folders without any")
    pixels = np.empty((len(labels), CIFAR_SIDE, CIFAR_SIDE, 3), np.uint8)
    for row, path in enumerate(itertools.chain.from_iterable(paths)):
        image = _png(path)
        if image.shape != (CIFAR_SIDE, CIFAR_SIDE, 3):
            raise InputError(f"{path} is not of CIFAR: expected 32 x 32 pixels, found {image.shape[1]} x {len(image)}")
        pixels[row] = image
    return pixels.transpose(0, 3, 1, 2), labels


def _png(path: Path) -> Bytes:
    """Return a PNG's pixels, shape (height, width, 3)."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            return np.asarray(_colours(image))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise InputError(f"{path} cannot be read: expected a whole PNG, found: {error}") from None


def _colours(image: Image.Image) -> Image.Image:
    return image if image.mode == "RGB" else image.convert("RGB")


def in_content_order(pixels: Bytes, labels: IntArray) -> tuple[Bytes, IntArray, str]:
    """Put images in an order that depends on their content only, and return the checksum of that content.

    Formats keep the same images in different orders. Sorted by a digest of label and pixels they become the same
    arrays with the same checksum, so that a seed draws the same images from each.

    Parameters
    ----------
    pixels
        Shape (N, channels, height, width).
    labels
        Shape (N,).

    Returns
    -------
    pixels, labels, checksum
        The sorted copies, and 32 hexadecimal digits.

    Examples
    --------
    >>> pixels, labels = np.arange(3, dtype=np.uint8).reshape(3, 1, 1, 1), np.arange(3)
    >>> in_content_order(pixels, labels)[2] == in_content_order(pixels[::-1], labels[::-1])[2]
    True
    >>> in_content_order(pixels, labels)[2] == in_content_order(pixels, labels[::-1])[2]
    False
    """
    digests = [
        hashlib.blake2b(int(label).to_bytes(8, "little") + image.tobytes(), digest_size=16).digest()
        for image, label in zip(pixels, labels, strict=True)
    ]
    order = sorted(range(len(digests)), key=digests.__getitem__)
    checksum = hashlib.blake2b(b"".join(digests[row] for row in order), digest_size=16).hexdigest()
    return np.ascontiguousarray(pixels[order]), labels[order], checksum
