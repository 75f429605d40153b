"""Image pairs: every pixel against a slow loop in NumPy, and noise that belongs to the network."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from recombine.cells.arrays import IntArray
from recombine.errors import InputError
from recombine.lab import tasks
from recombine.lab.nets.architectures.convnet import ConvNet
from recombine.lab.nets.ensemble.ensemble import Ensemble, Trained
from recombine.lab.nets.ensemble.optimisers import SGD, Adam
from recombine.lab.nets.ensemble.samples import Gather
from recombine.lab.worlds.images.draws import draw_images, stack_draws
from recombine.lab.worlds.images.pairs import ImagePairs
from recombine.lab.worlds.images.sources import Images


def random_images(count: int = 300, channels: int = 1, side: tuple[int, int] = (6, 5), classes: int = 10) -> Images:
    rng = np.random.default_rng(channels)
    pixels = rng.integers(0, 256, (count, channels, *side), dtype=np.uint8)
    mean, std = (0.4914, 0.4822, 0.4465)[:channels], (0.2023, 0.1994, 0.201)[:channels]
    return Images("random", pixels, rng.permutation(np.arange(count) % classes), mean, std)


IMAGES, COLOURS = random_images(), random_images(channels=3)


def normalised(images: Images, raw: np.ndarray) -> np.ndarray:
    mean, std = (np.array(numbers).reshape(-1, 1, 1) for numbers in (images.mean, images.std))
    return (raw / 255 - mean) / std


def side_by_side(parts: list[np.ndarray], distance: int, separate: bool) -> np.ndarray:
    last = len(parts) - 1
    padded = [
        np.pad(part, ((0, 0), (0, 0), (c * distance, (last - c) * distance)), mode="edge")
        for c, part in enumerate(parts)
    ]
    return np.concatenate(padded) if separate else np.max(padded, axis=0)


def random_index(images: Images, networks: int, samples: int, components: int) -> IntArray:
    return np.random.default_rng(2).integers(0, len(images.pixels), (networks, samples, components))


@pytest.mark.parametrize("images", [IMAGES, COLOURS], ids=["grey", "colour"])
@pytest.mark.parametrize("components", [1, 2, 3])
@pytest.mark.parametrize("distance", [0, 4])
@pytest.mark.parametrize("separate", [True, False])
def test_samples_are_what_numpy_pads_and_stacks(images: Images, components: int, distance: int, separate: bool) -> None:
    index = random_index(images, 3, 11, components)
    pairs = ImagePairs(images, index, distance=distance, separate_channels=separate)
    rows = torch.tensor([[0, 10, 4], [4, 4, 9]])
    taken = pairs.take(torch.tensor([2, 0]), rows)
    assert isinstance(pairs, Gather)
    assert len(pairs) == 11
    assert taken.shape == (2, 3, *pairs.shape)
    assert taken.dtype == torch.float32
    for place, network in enumerate([2, 0]):
        for sample, row in enumerate(rows[place].tolist()):
            parts = [normalised(images, images.pixels[i]) for i in index[network, row]]
            expected = side_by_side(parts, distance, separate)
            np.testing.assert_allclose(taken[place, sample], expected, rtol=0, atol=1e-6)


def test_only_the_images_in_use_are_kept() -> None:
    pairs = ImagePairs(IMAGES, np.array([[[299, 5], [5, 17]]]))
    assert pairs.lines.shape == (3 * 6, 5)
    assert pairs.lines.dtype == torch.uint8


def crop(raw: np.ndarray, down: int, right: int, flip: bool) -> np.ndarray:
    """Torchvision's RandomCrop with a padding of 4 zeros, then a flip, for given random numbers."""
    height, width = raw.shape[1:]
    padded = np.pad(raw, ((0, 0), (4, 4), (4, 4)))
    cut = padded[:, down : down + height, right : right + width]
    return cut[:, :, ::-1] if flip else cut


@pytest.mark.parametrize("distance", [0, 3])
def test_augmented_components_are_crops_and_flips_of_their_own(distance: int) -> None:
    """Look for each component among all 162 windows of its image."""
    index = random_index(COLOURS, 2, 4, 2)
    pairs = ImagePairs(COLOURS, index, distance=distance, augment=[5, 6])
    networks, rows, steps = torch.tensor([1, 0]), torch.tensor([[0, 3], [2, 2]]), torch.tensor([7, 0])
    taken = pairs.take(networks, rows, steps).numpy().reshape(2, 2, 2, 3, 6, 5 + distance)
    windows = [(d, r, f) for d in range(9) for r in range(9) for f in (False, True)]
    found = []
    for place, sample, component in np.ndindex(2, 2, 2):
        raw = COLOURS.pixels[index[networks[place], rows[place, sample], component]]
        sides = (component * distance, (1 - component) * distance)
        every = [
            np.pad(normalised(COLOURS, crop(raw, *window)), ((0, 0), (0, 0), sides), mode="edge") for window in windows
        ]
        errors = np.abs(np.array(every) - taken[place, sample, component]).max((1, 2, 3))
        assert errors.min() < 1e-6
        found.append(windows[int(errors.argmin())])
    assert len(set(found)) >= 6, "one sample is taken twice here; all others should have windows of their own"
    assert found[4:6] == found[6:8]


def test_all_windows_are_equally_likely() -> None:
    """The image counts its own pixels, so what is at one place of a crop tells where it was cut."""
    ramp = np.arange(18 * 14, dtype=np.uint8).reshape(1, 1, 18, 14)
    images = Images("ramp", ramp, np.zeros(1, np.int64), (0.0,), (1 / 255,))
    pairs = ImagePairs(images, np.zeros((1, 400, 2), np.int64), augment=[11])
    rows = torch.arange(400).unsqueeze(0)
    taken = np.stack([pairs.take(torch.tensor([0]), rows, torch.tensor([step]))[0].numpy() for step in range(100)])
    centre, beside = (np.rint(taken[..., 9, column]).astype(int) for column in (7, 8))  # (100, 400, 2)
    flipped = (beside < centre).astype(int)
    down = centre // 14 - 9 + 4
    right = centre % 14 - np.where(flipped, 6, 7) + 4
    window = (down * 9 + right) * 2 + flipped
    assert window.min() >= 0
    assert window.max() < 162
    observed = np.bincount(window.ravel(), minlength=162)
    expected = window.size / 162
    chi_square = ((observed - expected) ** 2 / expected).sum()
    assert abs(chi_square - 161) < 5 * np.sqrt(2 * 161)
    for one, other in ((window[..., 0], window[..., 1]), (window[1:], window[:-1]), (window[:, 1:], window[:, :-1])):
        assert (one == other).mean() == pytest.approx(1 / 162, rel=0.3)


def test_noise_follows_the_network_not_its_company() -> None:
    index = random_index(COLOURS, 3, 20, 2)
    seeds, rows = [8, 9, 10], torch.arange(20).expand(3, -1)
    together = ImagePairs(COLOURS, index, augment=seeds).take(torch.arange(3), rows, torch.tensor([4, 5, 6]))
    alone = ImagePairs(COLOURS, index[[2]], augment=seeds[2:])
    one = torch.tensor([0])
    assert torch.equal(alone.take(one, rows[:1, 3:9], torch.tensor([6]))[0], together[2, 3:9])
    assert not torch.equal(alone.take(one, rows[:1], torch.tensor([5]))[0], together[2])
    plain = ImagePairs(COLOURS, index)
    assert torch.equal(alone.take(one, rows[:1]), plain.take(torch.tensor([2]), rows[:1]))
    assert torch.equal(plain.take(torch.arange(3), rows, torch.tensor([4, 5, 6])), plain.take(torch.arange(3), rows))


@pytest.mark.parametrize("augment", [None, [1, 2]])
@pytest.mark.parametrize("distance", [0, 2])
def test_nothing_waits_for_the_device(augment: list[int] | None, distance: int) -> None:
    """Tensors on "meta" have shapes but no values, so an operation that needs to look at a value fails there."""
    pairs = ImagePairs(COLOURS, random_index(COLOURS, 2, 9, 2), distance=distance, augment=augment, device="meta")
    numbers = torch.zeros(2, 5, dtype=torch.int64, device="meta")
    assert pairs.take(numbers[:, 0], numbers, numbers[:, 0]).shape == (2, 5, *pairs.shape)


@pytest.mark.parametrize(
    ("index", "options", "message"),
    [
        (np.zeros((4, 2), int), {}, "networks, samples, components"),
        (np.zeros((1, 4, 2)), {}, "dtype float64"),
        (np.full((1, 4, 2), 300), {}, "random has 300 images"),
        (np.full((1, 4, 2), -1), {}, "from -1"),
        (np.zeros((1, 4, 2), int), {"distance": -1}, "distance is -1"),
        (np.zeros((2, 4, 2), int), {"augment": [1]}, "each of the 2 networks a seed"),
        (np.zeros((1, 4, 2), int), {"augment": [2**31]}, "each of the 1 networks a seed"),
        (np.zeros((1, 4, 2), int), {"augment": 3}, "augment is 3; give each of the 1 networks a seed"),
        (np.zeros((1, 4, 2), int), {"augment": [0.5]}, "each of the 1 networks a seed"),
    ],
)
def test_wrong_arguments_are_refused(index: np.ndarray, options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ImagePairs(IMAGES, index, **options)


def test_pairs_that_do_not_fit_the_networks_are_refused() -> None:
    pairs = ImagePairs(IMAGES, random_index(IMAGES, 2, 9, 2), distance=5)
    assert pairs.networks == 2
    small = ConvNet((2, 6, 10), channels=(2,), kernel=3, dense=(4,), pools=(1,))
    ensemble = Ensemble(small, range(3))
    with pytest.raises(InputError, match="inputs of 2 networks do not fit an ensemble of 3"):
        ensemble.outputs(*ensemble.initial(), pairs)
    with pytest.raises(InputError, match=r"\(2, 6, 10\) but the ConvNet was built for \(2, 6, 5\)"):
        Ensemble(dataclasses.replace(small, shape=(2, 6, 5)), range(2)).train(pairs, np.ones(9), rate=0.1, steps=1)


def striped_images() -> Images:
    """Ten classes that differ in which row of the image is bright, with some noise."""
    rng = np.random.default_rng(0)
    labels = np.arange(200) % 10
    pixels = rng.integers(0, 25, (200, 1, 10, 8), dtype=np.uint8)
    pixels[np.arange(200), 0, labels] += 200
    return Images("stripes", pixels, labels, (0.2,), (0.3,))


@pytest.mark.slow
def test_networks_learn_to_add_images() -> None:
    """Each knows its own classes: shown another network's samples of the same cells it is lost."""
    task, images, seeds = tasks.symbolic_addition(n=5, anchors=[0, 2, 4]), striped_images(), [0, 1, 2]
    draws = [draw_images(task, images, seed, pool=15, total=500, per_cell=10) for seed in seeds]
    train, fresh = (stack_draws([one[split] for one in draws]) for split in ("train", "val_2"))
    pairs = ImagePairs(images, train.index, distance=2)
    network = ConvNet(pairs.shape, (4,), kernel=3, dense=(32,), pools=(2,))
    settings: dict = {"rate": 0.01, "steps": 150, "batch": 50, "optimiser": Adam()}
    trained = Ensemble(network, seeds).train(pairs, task.target[train.cells], **settings)
    target, seen = task.target[fresh.cells], task.train[fresh.cells]

    def error(index: IntArray) -> float:
        outputs = trained.outputs(ImagePairs(images, index, distance=2))[..., 0].numpy()
        return float(((outputs - target)[seen] ** 2).mean() / target[seen].var())

    assert error(fresh.index) < 0.05
    assert error(np.roll(fresh.index, 1, axis=0)) > 0.5


def augmented_training(places: list[int], batch: int | None, device: str = "cpu") -> Trained:
    index = random_index(COLOURS, 4, 30, 2)[places]
    pairs = ImagePairs(COLOURS, index, augment=[place + 20 for place in places], device=device)
    network = ConvNet(pairs.shape, (3,), kernel=3, dense=(4,), pools=(1,))
    targets = np.random.default_rng(1).standard_normal((4, 30))[places]
    ensemble = Ensemble(network, places, dtype="float64", device=device)
    return ensemble.train(pairs, targets, rate=0.01, steps=12, batch=batch, optimiser=SGD(momentum=0.9))


@pytest.mark.parametrize("batch", [8, None])
def test_augmented_networks_learn_the_same_alone_and_in_a_batch(batch: int | None) -> None:
    together = augmented_training([0, 1, 2, 3], batch)
    for place in (0, 3):
        alone = augmented_training([place], batch)
        for name, tensor in alone.parameters.items():
            torch.testing.assert_close(tensor[0], together.parameters[name][place], rtol=0, atol=1e-12)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("batch", [8, None])
def test_a_gpu_replays_the_crops_that_a_cpu_makes(batch: int | None) -> None:
    here, there = (augmented_training([0, 1, 2, 3], batch, device) for device in ("cpu", "cuda"))
    for name, tensor in here.parameters.items():
        torch.testing.assert_close(there.parameters[name].cpu(), tensor, rtol=0, atol=1e-5)
