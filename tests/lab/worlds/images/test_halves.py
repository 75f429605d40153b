"""Halves of labelled images: nested training sets, and refusals that name what is wrong."""

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.lab.worlds.images.halves import label_halves
from recombine.lab.worlds.images.sources import load_images


def test_smaller_training_sets_lie_within_larger_ones_and_apart_from_validation():
    halves = label_halves(load_images("digits"), [50, 100], 200)
    assert set(halves.rows(50)) < set(halves.rows(100))
    assert not set(halves.rows(100)) & set(halves.validation)
    assert len(np.unique(halves.X, axis=0)) == 300
    assert set(halves.y) == {-1.0, 1.0}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: label_halves(load_images("digits"), ["a"], 10), "sizes[0] is 'a'"),
        (lambda: label_halves(load_images("digits"), [10.5], 10), "sizes[0] is 10.5"),
        (lambda: label_halves(load_images("digits"), 10, 10), "sizes is 10; give a sequence"),
        (lambda: label_halves(load_images("digits"), [], 10), "the largest of sizes is 0"),
        (lambda: label_halves(load_images("digits"), [10], 0), "validation is 0"),
        (lambda: label_halves(load_images("digits"), [10], 10, seed=-1), "seed is -1"),
        (lambda: label_halves(load_images("digits"), [10], 10**6), "ask for fewer"),
        (lambda: label_halves(load_images("digits"), [10], 10).rows(11), "give 1 to 10"),
        (lambda: label_halves(load_images("digits"), [10], 10).rows(2.5), "size is 2.5"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value)
