"""Every format of CIFAR, written small: each gives the same arrays, bad files are named, no pickle runs code."""

from __future__ import annotations

import json
import os
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from recombine.errors import InputError
from recombine.lab.worlds.images import sources
from recombine.lab.worlds.images.files import in_content_order, read_pickle
from recombine.lab.worlds.images.sources import load_images

Pixels = npt.NDArray[np.uint8]
Labels = npt.NDArray[np.int64]
Write = Callable[[Path, Pixels, Labels], None]


def colour(classes: int, count: int) -> tuple[Pixels, Labels]:
    rng = np.random.default_rng(classes)
    return rng.integers(0, 256, (count, 3, 32, 32), dtype=np.uint8), rng.permutation(np.arange(count) % classes)


def write_python(folder: Path, pixels: Pixels, labels: Labels) -> None:
    for number, rows in enumerate(np.array_split(np.arange(len(labels)), 5), start=1):
        batch = {b"data": pixels[rows].reshape(len(rows), -1), b"labels": labels[rows].tolist()}
        (folder / f"data_batch_{number}").write_bytes(pickle.dumps(batch, protocol=2))


def write_binary(folder: Path, pixels: Pixels, labels: Labels) -> None:
    records = np.column_stack([labels.astype(np.uint8), pixels.reshape(len(labels), -1)])
    for number, part in enumerate(np.array_split(records, 5), start=1):
        (folder / f"data_batch_{number}.bin").write_bytes(part.tobytes())


def write_sprites(folder: Path, pixels: Pixels, labels: Labels) -> None:
    rows = np.ascontiguousarray(pixels.transpose(0, 2, 3, 1)).reshape(len(labels), 1024, 3)
    for number, part in enumerate(np.array_split(rows, 5), start=1):
        Image.fromarray(part).save(folder / f"data_batch_{number}.png")
    (folder / "train_lables.json").write_text(json.dumps(labels.tolist()))


def write_class_folders(folder: Path, pixels: Pixels, labels: Labels) -> None:
    for row, (image, label) in enumerate(zip(pixels, labels, strict=True)):
        place = folder / "train" / f"class-{label:02}"
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.ascontiguousarray(image.transpose(1, 2, 0))).save(place / f"{len(labels) - row}.png")


def write_python_100(folder: Path, pixels: Pixels, labels: Labels) -> None:
    coarse = [99] * len(labels)
    batch = {"data": pixels.reshape(len(labels), -1), "coarse_labels": coarse, "fine_labels": labels.tolist()}
    (folder / "train").write_bytes(pickle.dumps(batch, protocol=4))
    (folder / "meta").touch()


def write_binary_100(folder: Path, pixels: Pixels, labels: Labels) -> None:
    heads = np.column_stack([np.full(len(labels), 99), labels]).astype(np.uint8)
    (folder / "train.bin").write_bytes(np.hstack([heads, pixels.reshape(len(labels), -1)]).tobytes())
    (folder / "fine_label_names.txt").touch()


FORMATS: dict[int, list[Write]] = {
    10: [write_python, write_binary, write_sprites, write_class_folders],
    100: [write_python_100, write_binary_100, write_class_folders],
}
EVERY_FORMAT = [pytest.param(classes, write, id=write.__name__) for classes in FORMATS for write in FORMATS[classes]]
EVERY_FORMAT[-1] = pytest.param(100, write_class_folders, id="write_class_folders_100")


@pytest.fixture
def passes_for(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let the given images pass for a split of CIFAR while the test runs."""

    def patch(classes: int, pixels: Pixels, labels: Labels, split: str = "train") -> None:
        monkeypatch.setitem(sources.CHECKSUMS, (f"cifar{classes}", split), (in_content_order(pixels, labels)[2],))

    return patch


@pytest.mark.parametrize(("classes", "write"), EVERY_FORMAT)
def test_every_format_of_cifar_gives_the_same_arrays(
    tmp_path: Path, passes_for: Callable[..., None], classes: int, write: Write
) -> None:
    pixels, labels = colour(classes, 2 * classes)
    passes_for(classes, pixels, labels)
    write(tmp_path, pixels, labels)
    images = load_images(f"cifar{classes}", tmp_path)
    expected_pixels, expected_labels, _ = in_content_order(pixels, labels)
    assert np.array_equal(images.pixels, expected_pixels)
    assert np.array_equal(images.labels, expected_labels)
    assert images.counts.tolist() == [2] * classes
    assert images.pixels.flags.c_contiguous
    assert images.shape == (3, 32, 32)


@pytest.mark.parametrize(("classes", "write"), EVERY_FORMAT)
def test_one_changed_image_or_label_is_found(
    tmp_path: Path, passes_for: Callable[..., None], classes: int, write: Write
) -> None:
    pixels, labels = colour(classes, 2 * classes)
    passes_for(classes, pixels, labels)
    changed = pixels.copy()
    changed[3, 1, 4, 5] ^= 1
    swapped = labels.copy()
    swapped[[0, 1]] = swapped[[1, 0]]
    assert labels[0] != labels[1]
    for number, wrong in enumerate([(changed, labels), (pixels, swapped)]):
        place = tmp_path / str(number)
        place.mkdir()
        write(place, *wrong)
        with pytest.raises(InputError, match=rf"expected content checksum .*, found .* over {2 * classes} images; del"):
            load_images(f"cifar{classes}", place)


def test_test_split_of_cifar_is_one_batch(tmp_path: Path, passes_for: Callable[..., None]) -> None:
    pixels, labels = colour(10, 20)
    passes_for(10, pixels, labels, "test")
    write_binary(tmp_path, *colour(10, 10))
    (tmp_path / "test_batch.bin").write_bytes(
        np.column_stack([labels.astype(np.uint8), pixels.reshape(20, -1)]).tobytes()
    )
    assert len(load_images("cifar10", tmp_path, "test")) == 20


@pytest.mark.parametrize("name", ["train", "train.bin"])
def test_a_file_that_only_shares_its_name_with_cifar100_is_not_opened(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"something else")
    with pytest.raises(InputError, match="no CIFAR-100"):
        load_images("cifar100", tmp_path)


def test_content_order_does_not_depend_on_the_order_given() -> None:
    pixels, labels = colour(10, 30)
    shuffled = np.random.default_rng(5).permutation(30)
    first, second = in_content_order(pixels, labels), in_content_order(pixels[shuffled], labels[shuffled])
    assert np.array_equal(first[0], second[0])
    assert np.array_equal(first[1], second[1])
    assert first[2] == second[2]
    # A set with an image twice in place of another is another set.
    assert in_content_order(pixels[[0, 0, 1]], labels[[0, 0, 1]])[2] != in_content_order(pixels[:3], labels[:3])[2]


class _Attack:
    def __init__(self, victim: Path) -> None:
        self.victim = victim

    def __reduce__(self) -> tuple[Callable[..., None], tuple[Path]]:
        return os.remove, (self.victim,)


class _Print:
    def __reduce__(self) -> tuple[Callable[..., None], tuple[str]]:
        return print, ("run",)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_that_runs_code_is_refused(tmp_path: Path, protocol: int) -> None:
    victim = tmp_path / "victim"
    victim.touch()
    path = tmp_path / "data_batch_1"
    path.write_bytes(pickle.dumps({"data": _Attack(victim), "labels": []}, protocol))
    with pytest.raises(InputError, match=rf"{re.escape(str(path))} is not a CIFAR batch: .*which no image file needs"):
        read_pickle(path, 10)
    assert victim.exists()


def test_builtins_are_refused_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "data_batch_1"
    path.write_bytes(pickle.dumps({"data": _Print(), "labels": []}))
    with pytest.raises(InputError, match="print, which no image file needs"):
        read_pickle(path, 10)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("write", "file", "content", "message"),
    [
        (write_python, "data_batch_2", b"\x80\x02}q\x00(", "is not a CIFAR batch: expected pickled arrays, found"),
        (write_python, "data_batch_2", pickle.dumps({"labels": []}), "expected pickled arrays, found 'data'"),
        (write_python, "data_batch_2", pickle.dumps([1]), "is not a CIFAR batch"),
        (
            write_python,
            "data_batch_2",
            pickle.dumps({"data": np.zeros((2, 9), np.uint8), "labels": [0, 1]}, 4),
            "expected bytes of shape (N, 3072) and N labels, found uint8 (2, 9) and (2,)",
        ),
        (write_python, "data_batch_2", pickle.dumps({"data": 1, "labels": 1}), "expected bytes of shape (N, 3072)"),
        (write_binary, "data_batch_3.bin", bytes(5000), "expected a multiple of 3,073 bytes, found 5,000"),
        (write_binary, "data_batch_3.bin", b"", "expected a multiple of 3,073 bytes, found 0"),
        (write_sprites, "data_batch_5.png", b"\x89PNG\r\n\x1a\n", "cannot be read: expected a whole PNG, found: "),
        (write_sprites, "train_lables.json", b"[1, 2", "is not a list of labels: expected JSON, found: "),
        (write_sprites, "train_lables.json", b"[1, 2]", "expected 20 labels, found 2"),
        (write_class_folders, "train/class-03/1.png", b"text", "cannot be read: expected a whole PNG, found: "),
    ],
)
def test_a_bad_file_of_cifar_is_named(tmp_path: Path, write: Write, file: str, content: bytes, message: str) -> None:
    write(tmp_path, *colour(10, 20))
    (tmp_path / file).write_bytes(content)
    with pytest.raises(InputError) as caught:
        load_images("cifar10", tmp_path)
    text = str(caught.value)
    assert text.startswith(f"{tmp_path / file} ")
    assert message in text
    assert "fetch CIFAR-10 again: mkdir -p " in text


@pytest.mark.parametrize("cut", [10, 60, 1000])
def test_a_png_cut_short_is_named(tmp_path: Path, cut: int) -> None:
    write_sprites(tmp_path, *colour(10, 20))
    path = tmp_path / "data_batch_4.png"
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(InputError, match=re.escape(f"{path} cannot be read: expected a whole PNG")):
        load_images("cifar10", tmp_path)


def test_pngs_of_another_size_are_named(tmp_path: Path) -> None:
    pixels, labels = colour(10, 20)
    write_class_folders(tmp_path, pixels[:, :, :28, :30], labels)
    with pytest.raises(InputError, match=r"[.]png is not of CIFAR: expected 32 x 32 pixels, found 30 x 28"):
        load_images("cifar10", tmp_path)
    Image.fromarray(np.zeros((4, 100, 3), np.uint8)).save(tmp_path / "data_batch_1.png")
    with pytest.raises(InputError, match=r"is not a sprite: expected 1,024 pixels per row, found 100"):
        load_images("cifar10", tmp_path)


@pytest.mark.parametrize(
    ("write", "file"),
    [(write_python, "data_batch_4"), (write_binary, "data_batch_4.bin"), (write_sprites, "train_lables.json")],
)
def test_a_batch_that_is_missing_is_named(tmp_path: Path, write: Write, file: str) -> None:
    write(tmp_path, *colour(10, 20))
    (tmp_path / file).unlink()
    with pytest.raises(InputError, match=re.escape(f"{tmp_path / file} cannot be read")):
        load_images("cifar10", tmp_path)


def test_empty_class_folders_are_named(tmp_path: Path) -> None:
    for label in range(10):
        (tmp_path / "train" / str(label)).mkdir(parents=True)
    with pytest.raises(InputError, match=r"train holds no images: expected CLASS/\*.png, found 10 folders"):
        load_images("cifar10", tmp_path)


def test_grey_pngs_and_the_limit_of_pillow(tmp_path: Path, passes_for: Callable[..., None]) -> None:
    pixels, labels = colour(10, 20)
    pixels[:] = pixels[:, :1]
    passes_for(10, pixels, labels)
    write_sprites(tmp_path, pixels, labels)
    first = tmp_path / "data_batch_1.png"
    with Image.open(first) as image:
        only = image.convert("L")
    only.save(first)
    before = Image.MAX_IMAGE_PIXELS
    assert len(load_images("cifar10", tmp_path)) == 20
    assert before == Image.MAX_IMAGE_PIXELS
