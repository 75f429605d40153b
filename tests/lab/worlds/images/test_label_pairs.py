"""Pairs of images with related labels: exact information, who is drawn, every pixel, and one network among many."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from recombine.cells.arrays import FloatArray
from recombine.errors import InputError
from recombine.lab.nets.architectures.pair_net import PairNet
from recombine.lab.nets.ensemble.ensemble import Ensemble
from recombine.lab.nets.ensemble.optimisers import Adam
from recombine.lab.nets.ensemble.samples import Gather
from recombine.lab.worlds.images.label_pairs import (
    OFFSETS,
    LabelPairs,
    draw_grid,
    draw_pairs,
    relation,
    split_images,
    stack_pairs,
)
from recombine.lab.worlds.images.sources import Images, load_images

RULES = {name: relation(offsets) for name, offsets in OFFSETS.items()}


def coloured(count: int = 60) -> Images:
    pixels = np.random.default_rng(0).integers(0, 256, (count, 3, 5, 4), dtype=np.uint8)
    return Images("coloured", pixels, np.arange(count) % 4, (0.3, 0.4, 0.5), (0.2, 0.2, 0.3))


def shared_information(rule: FloatArray) -> float:
    """I(Y_1; Y_2) in bits under P(Y_2 | Y_1) with Y_1 uniform."""
    joint = rule / len(rule)
    apart = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    there = joint > 0
    return float((joint[there] * np.log2(joint[there] / apart[there])).sum())


def test_the_right_image_tells_all_but_one_bit_in_setting_a_and_nothing_in_b() -> None:
    assert shared_information(RULES["A"]) == pytest.approx(math.log2(10) - 1, abs=1e-12)
    assert shared_information(RULES["test"]) == pytest.approx(math.log2(10) - 3, abs=1e-12)
    assert shared_information(RULES["B"]) == shared_information(RULES["probe"]) == pytest.approx(0, abs=1e-12)
    assert shared_information(np.eye(7)) == pytest.approx(math.log2(7), abs=1e-12)


def test_what_is_tested_is_never_trained_in_setting_a_and_together_they_are_all_pairs() -> None:
    seen, tested = RULES["A"] > 0, RULES["test"] > 0
    np.testing.assert_array_equal(seen ^ tested, True)
    assert seen.sum(axis=1).tolist() == [2] * 10


@pytest.mark.parametrize("name", OFFSETS)
def test_labels_follow_the_rule_and_images_their_labels(name: str) -> None:
    images = load_images("digits")
    draws = draw_pairs(images, RULES[name], 20_000, seed=3)
    np.testing.assert_array_equal(images.labels[draws.index], draws.labels)
    counts = np.zeros((10, 10))
    np.add.at(counts, tuple(draws.labels.T), 1)
    expected = 20_000 * RULES[name] / 10
    assert not counts[expected == 0].any()
    there = expected > 0
    # Six standard deviations of a count.
    assert (np.abs(counts - expected)[there] < 6 * np.sqrt(expected[there])).all()


def test_any_relation_is_followed_even_an_uneven_one() -> None:
    rule: FloatArray = np.array([[0.0, 0.25, 0.75], [1.0, 0.0, 0.0], [0.1, 0.1, 0.8]])
    draws = draw_pairs(load_images("digits"), rule, 30_000, seed=0)
    for label in range(3):
        others = draws.labels[draws.labels[:, 0] == label, 1]
        np.testing.assert_allclose(np.bincount(others, minlength=3) / len(others), rule[label], atol=0.02)
        assert not np.isin(others, np.flatnonzero(rule[label] == 0)).any()


def test_every_image_of_a_label_is_equally_likely_on_both_sides() -> None:
    images = load_images("digits")
    draws = draw_pairs(images, RULES["A"], 100_000, seed=1)
    for side in range(2):
        counts = np.bincount(draws.index[:, side], minlength=len(images))
        expected = 10_000 / images.counts[images.labels]
        assert ((counts - expected) ** 2 / expected).sum() == pytest.approx(len(images) - 10, rel=0.15)


def test_halves_share_no_image_and_keep_them_all() -> None:
    images = load_images("digits")
    train, test = split_images(images, 1300)
    assert (len(train), len(test)) == (1300, 497)
    rows = np.concatenate([train.pixels, test.pixels]).reshape(len(images), -1)
    labelled = np.column_stack([rows, np.concatenate([train.labels, test.labels])])
    whole = np.column_stack([images.pixels.reshape(len(images), -1), images.labels])
    np.testing.assert_array_equal(*(part[np.lexsort(part.T)] for part in (labelled, whole)))
    assert not np.array_equal(split_images(images, 1300, seed=1)[0].labels, train.labels)


def test_draws_depend_on_the_seed_and_on_what_they_are_for() -> None:
    images = load_images("digits")
    one, same, seed, purpose = (
        draw_pairs(images, RULES["probe"], 100, seed=number, purpose=what).index
        for number, what in ((0, "probe"), (0, "probe"), (1, "probe"), (0, "train"))
    )
    np.testing.assert_array_equal(one, same)
    assert (one != seed).mean() > 0.9
    assert (one != purpose).mean() > 0.9


def test_a_grid_holds_the_left_image_and_changes_the_right_one() -> None:
    images = load_images("digits")
    grid = draw_grid(images, 20, 50, seed=0)
    np.testing.assert_array_equal(images.labels[grid.index], grid.labels)
    first, second = (grid.index[:, side].reshape(20, 50) for side in range(2))
    assert (first == first[:, :1]).all()
    assert min(len(np.unique(row)) for row in second) > 40
    assert len(np.unique(first[:, 0])) > 15


def test_pictures_are_left_and_right_pixels_over_255() -> None:
    images = coloured()
    index = np.random.default_rng(1).integers(0, 60, (2, 9, 2))
    pictures = LabelPairs(images, index)
    assert isinstance(pictures, Gather)
    assert (len(pictures), pictures.shape) == (9, (3, 5, 8))
    networks, rows = torch.tensor([1, 0, 1]), torch.tensor([[8, 0], [3, 3], [1, 7]])
    found = pictures.take(networks, rows)
    for c, network in enumerate(networks.tolist()):
        for b, row in enumerate(rows[c].tolist()):
            left, right = images.pixels[index[network, row]]
            expected = np.concatenate([left, right], axis=-1) / 255
            np.testing.assert_allclose(found[c, b].numpy(), expected, atol=1e-6)


def test_a_network_meets_the_same_samples_alone_and_in_a_batch() -> None:
    images = load_images("digits")

    def trained(*seeds: int) -> torch.Tensor:
        stream = stack_pairs([draw_pairs(images, RULES["A"], 3 * 16, seed=seed) for seed in seeds])
        pictures = LabelPairs(images, stream.index)
        ensemble = Ensemble(PairNet((1, 8, 16), channels=(3, 4), dense=(6,)), seeds, dtype="float64")
        options = {"rate": 0.01, "steps": 3, "batch": 16, "optimiser": Adam()}
        return ensemble.train(pictures, stream.labels[..., 0], loss="categorical-hinge", **options).loss  # type: ignore[arg-type]

    together = trained(4, 5, 6)
    torch.testing.assert_close(together[1:2], trained(5), rtol=1e-10, atol=0)
    assert together.unique().numel() == 3


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (np.ones((2, 3)) / 3, "square table"),
        (np.ones((2, 2)), "add up to 1"),
        (np.array([[2.0, -1.0], [0.5, 0.5]]), "from 0 up"),
        (np.eye(11), "no image of label 10"),
    ],
)
def test_a_relation_that_is_none_is_refused(rule: FloatArray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        draw_pairs(load_images("digits"), rule, 5, seed=0)


def test_other_bad_input_is_refused() -> None:
    images = load_images("digits")
    with pytest.raises(InputError, match="needs an offset"):
        relation(())
    with pytest.raises(InputError, match="purpose 'tests' is unknown"):
        draw_pairs(images, RULES["A"], 5, seed=0, purpose="tests")
    with pytest.raises(InputError, match="at least one on either side"):
        split_images(images, 1797)
    with pytest.raises(InputError, match="do not stack"):
        stack_pairs([draw_pairs(images, RULES["A"], count, seed=0) for count in (3, 4)])
