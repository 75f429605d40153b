"""Who is drawn for which cell, in every split, and what cannot be drawn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.lab import tasks
from recombine.lab.tasks import Task
from recombine.lab.worlds.images.draws import ImageDraws, class_orders, draw_images, stack_draws
from recombine.lab.worlds.images.sources import Images

POOL, PER_CELL = 12, 7

ADDITION, CONTEXT = tasks.symbolic_addition(n=9, anchors=[4]), tasks.context_dependence(left_out=2)

SPLITS = ("train", "val_1", "val_2")


def random_images(count: int = 300, channels: int = 1, side: tuple[int, int] = (6, 5), classes: int = 10) -> Images:
    rng = np.random.default_rng(channels)
    pixels = rng.integers(0, 256, (count, channels, *side), dtype=np.uint8)
    mean, std = (0.4914, 0.4822, 0.4465)[:channels], (0.2023, 0.1994, 0.201)[:channels]
    return Images("random", pixels, rng.permutation(np.arange(count) % classes), mean, std)


IMAGES = random_images()


def drawn(task: Task, seed: int = 0, images: Images = IMAGES, **changes: int) -> dict[str, ImageDraws]:
    return draw_images(task, images, seed, **{"pool": POOL, "total": 2000, "per_cell": PER_CELL, **changes})


def classes_shown(task: Task, samples: ImageDraws) -> Iterator[dict[int, set[int]]]:
    """For each component the classes that its levels are shown by."""
    for component, size in enumerate(task.sizes):
        levels = task.cells[samples.cells, component]
        labels = IMAGES.labels[samples.index[:, component]]
        yield {level: set(labels[levels == level].tolist()) for level in range(size)}


@pytest.mark.parametrize("task", [ADDITION, CONTEXT], ids=lambda task: task.name)
def test_every_cell_gets_its_share_of_samples(task: Task) -> None:
    draws = drawn(task)
    seen = np.flatnonzero(task.train)
    counts = {split: np.bincount(draws[split].cells, minlength=len(task.cells)) for split in SPLITS}
    np.testing.assert_array_equal(counts["train"], task.train * (2000 // len(seen)))
    for split in ("val_1", "val_2"):
        np.testing.assert_array_equal(counts[split], PER_CELL)
    assert all(draws[split].index.shape == (len(draws[split].cells), len(task.sizes)) for split in SPLITS)


@pytest.mark.parametrize("task", [ADDITION, CONTEXT], ids=lambda task: task.name)
def test_a_level_is_one_of_the_first_classes_in_every_split(task: Task) -> None:
    draws = drawn(task)
    shown = list(classes_shown(task, draws["train"]))
    for split in SPLITS:
        assert list(classes_shown(task, draws[split])) == shown
    for size, classes in zip(task.sizes, shown, strict=True):
        assert sorted(label for (label,) in classes.values()) == list(range(size))


def test_components_and_seeds_order_the_classes_in_their_own_way() -> None:
    orders = [
        tuple(classes[level].copy().pop() for level in range(9))
        for seed in range(4)
        for classes in classes_shown(ADDITION, drawn(ADDITION, seed)["val_1"])
    ]
    assert len(set(orders)) == 8


def test_val_2_shows_images_that_training_never_could() -> None:
    draws = drawn(ADDITION, total=40_000, per_cell=100)
    pool, other = (np.unique(draws[split].index) for split in ("train", "val_2"))
    assert np.intersect1d(pool, other).size == 0
    # So many draws show every image that may be shown: the pool is of the size asked for, and nothing is left out.
    np.testing.assert_array_equal(np.bincount(IMAGES.labels[pool]), POOL)
    np.testing.assert_array_equal(np.sort(np.r_[pool, other]), np.flatnonzero(IMAGES.labels < 9))
    np.testing.assert_array_equal(np.unique(draws["val_1"].index), pool)


def test_val_1_pairs_the_pool_anew() -> None:
    draws = drawn(ADDITION)
    train, val = (set(map(tuple, draws[split].index.tolist())) for split in ("train", "val_1"))
    assert len(val - train) > 0.5 * len(val)


def test_a_seed_says_it_all() -> None:
    one, again, other = drawn(ADDITION, 3), drawn(ADDITION, 3, per_cell=2 * PER_CELL), drawn(ADDITION, 4)
    np.testing.assert_array_equal(one["train"].index, again["train"].index)
    np.testing.assert_array_equal(one["val_2"].index, drawn(ADDITION, 3, total=90)["val_2"].index)
    assert (one["train"].index != other["train"].index).mean() > 0.9


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pool": 30}, "class 0 of random has 30 images; a pool of 30 leaves none for val_2"),
        ({"total": 16}, "total is 16 for 17 training cells"),
        ({"pool": 0}, "pool is 0"),
        ({"per_cell": 0}, "per_cell is 0"),
        ({"total": 500.5}, "total is 500.5; give a whole number"),
        ({"total": -500}, "total is -500; give a whole number"),
        ({"pool": 2.5}, "pool is 2.5; give a whole number"),
        ({"seed": -1}, "seed is -1; give a whole number of at least 0"),
        ({"seed": 0.5}, "seed is 0.5; give a whole number of at least 0"),
    ],
)
def test_draws_that_cannot_be_made_are_refused(changes: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        drawn(ADDITION, **changes)


def test_an_image_set_of_too_few_classes_is_refused() -> None:
    with pytest.raises(InputError, match="random has 8 classes but a factor has 9 levels"):
        drawn(ADDITION, images=random_images(classes=8))


def test_a_task_without_training_cells_is_refused() -> None:
    empty = Task("empty", ADDITION.cells, ~ADDITION.train & False, ADDITION.target, ADDITION.factors)
    with pytest.raises(InputError, match="0 training cells"):
        drawn(empty)


def test_stacking_keeps_networks_in_order_and_refuses_uneven_ones() -> None:
    draws = [drawn(ADDITION, seed)["train"] for seed in range(3)]
    stacked = stack_draws(draws)
    np.testing.assert_array_equal(stacked.index[1], draws[1].index)
    np.testing.assert_array_equal(stacked.cells[2], draws[2].cells)
    with pytest.raises(InputError, match="do not stack"):
        stack_draws([draws[0], drawn(CONTEXT)["train"]])
    with pytest.raises(InputError, match="there are no draws to stack"):
        stack_draws([])


@pytest.mark.parametrize("task", [ADDITION, CONTEXT], ids=lambda task: task.name)
@pytest.mark.parametrize("seed", [0, 1, 9])
def test_classes_in_turn_are_those_of_one_generator(task: Task, seed: int) -> None:
    # The authors' call, as it stands: one generator for all components.
    rng = np.random.default_rng(seed=seed)
    theirs = [rng.permutation(size) for size in task.sizes]
    draws = drawn(task, seed, classes_in_turn=True)
    for split in SPLITS:
        shown = classes_shown(task, draws[split])
        assert [[levels[level] for level in range(len(levels))] for levels in shown] == [
            [{int(label)} for label in order] for order in theirs
        ]
    ours = drawn(task, seed)
    assert all(np.array_equal(ours[split].cells, draws[split].cells) for split in SPLITS)
    assert any(not np.array_equal(ours[split].index, draws[split].index) for split in SPLITS)


def test_rows_with_classes_of_our_own_draw_stay_valid() -> None:
    # Recorded before the setting existed: each component has a generator of its own.
    for component, size in enumerate((2, 6, 6)):
        own = np.random.default_rng([0, component, 4]).permutation(size)
        np.testing.assert_array_equal(class_orders((2, 6, 6), seed=4)[component], own)
