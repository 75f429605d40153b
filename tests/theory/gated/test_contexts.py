"""Context functions: bits, files that keep thresholds, joint contexts, and what is refused."""

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.theory.gated.contexts import HalfSpaces, joint_contexts, relu_gates
from recombine.theory.gated.features import gating_for


class TestContexts:
    def test_the_first_hyperplane_is_the_most_significant_bit(self):
        contexts = HalfSpaces(np.eye(2)[None], np.zeros((1, 2)))
        assert contexts.ids([[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]])[:, 0].tolist() == [2, 1, 3]

    def test_thresholds_are_saved_and_a_file_without_them_is_refused(self, tmp_path):
        X = np.random.default_rng(0).normal(loc=3, size=(50, 4))
        contexts = HalfSpaces.balanced(3, 2, X, seed=1)
        contexts.save(tmp_path / "contexts.npz")
        assert np.array_equal(HalfSpaces.load(tmp_path / "contexts.npz").ids(X), contexts.ids(X))
        np.savez(tmp_path / "half.npz", normals=contexts.normals)
        with pytest.raises(InputError, match="need both"):
            HalfSpaces.load(tmp_path / "half.npz")
        np.save(tmp_path / "one.npy", contexts.normals)
        for name in ("nothing.npz", "one.npy"):
            with pytest.raises(InputError, match="cannot be read"):
                HalfSpaces.load(tmp_path / name)
        lost = contexts.without_thresholds(seed=0)
        assert np.array_equal(lost.normals, contexts.normals)
        assert not np.array_equal(lost.ids(X), contexts.ids(X))

    def test_joint_contexts_and_relu_gates(self):
        assert joint_contexts([[0, 1], [1, 1], [0, 1], [0, 0]]).tolist() == [1, 2, 1, 0]
        assert relu_gates([[0.0, 1.0]], [[3.0, 0.0]]).tolist() == [[1]]

    def test_unseen_joint_contexts_have_no_weights(self):
        gating = gating_for("one-layer", np.array([[0, 0], [1, 1]]), 2)
        assert gating.features(np.array([[0, 1], [1, 1]])).tolist() == [[0, 0], [0, 1]]
        assert gating.values(np.ones((2, 3)), np.ones((2, 3)), np.array([[0, 1], [1, 1]])).tolist() == [0, 3]

    @pytest.mark.parametrize(
        ("call", "words"),
        [
            (lambda: HalfSpaces(np.ones((2, 3)), np.ones(2)), "(units, bits, inputs)"),
            (lambda: HalfSpaces(np.full((1, 1, 2), np.inf), np.ones((1, 1))), "not finite"),
            (lambda: HalfSpaces.random(0, 1, 2, 0), "units is 0"),
            (lambda: HalfSpaces.random(2.5, 1, 2, 0), "units is 2.5; give a whole number"),
            (lambda: HalfSpaces.random(True, 1, 2, 0), "units is True"),
            (lambda: HalfSpaces.random(1, -1, 2, 0), "bits is -1"),
            (lambda: HalfSpaces.random(1, 1, 2, -1), "seed is -1"),
            (lambda: HalfSpaces.random(10**9, 1, 1000, 0), "GiB"),
            (lambda: HalfSpaces.random(1, 1, 2, 0).without_thresholds("a"), "seed is 'a'"),
            (lambda: HalfSpaces.random(1, 1, 2, 0).save("no folder/file.npz"), "folder that exists"),
            (lambda: joint_contexts("abc"), "ids has shape"),
            (lambda: HalfSpaces.random(1, 41, 2, 0), "at most 40"),
            (lambda: HalfSpaces.balanced(1, 1, np.zeros((0, 2)), 0), "no rows"),
            (lambda: HalfSpaces.random(1, 1, 2, 0).ids(np.ones((3, 5))), "5 columns and 2 were expected"),
        ],
    )
    def test_bad_input_is_named(self, call, words):
        with pytest.raises(InputError) as caught:
            call()
        assert words in str(caught.value)
