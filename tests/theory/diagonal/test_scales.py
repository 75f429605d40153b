"""The rule for the scale to finetune from: it gives the order it names, and follows labels of any size."""

from __future__ import annotations

import re

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.theory.diagonal import Potential, finetune_penalty, least_potential, regime, scale_for
from recombine.theory.diagonal.scales import ORDERS, REGIMES, typical_size

KNOWN = np.array([0.4, -0.4, 0.4, 0.0, 0.0, 0.0, 0.0])
LABELS = np.array([0.9, -1.3, 0.4])


@pytest.mark.parametrize("wanted", REGIMES)
def test_the_penalty_on_a_feature_that_explains_labels_alone_has_the_order_of_the_regime(wanted: str) -> None:
    size = np.sqrt(np.mean(LABELS**2))
    scale = scale_for(wanted, KNOWN, LABELS, alpha=0.02)

    def price(factor: float) -> float:
        return float(finetune_penalty(size * factor, 0.4, alpha=0.02, scaling=scale.scaling, gamma=scale.gamma))

    assert np.log(price(1.001) / price(0.999)) / np.log(1.001 / 0.999) == pytest.approx(ORDERS[wanted], abs=1e-5)


@pytest.mark.parametrize("wanted", ["lazy", "nested", "rich"])
def test_regimes_have_the_names_that_the_library_gives_them(wanted: str) -> None:
    scale = scale_for(wanted, KNOWN, LABELS)
    if scale.scaling:
        assert regime(0.4, 0.9, scaling=scale.scaling, gamma=scale.gamma).name == wanted
    else:
        assert regime(0.4, 0.9, scaling=1e-6, gamma=scale.gamma).name == wanted


@pytest.mark.parametrize("wanted", REGIMES)
@pytest.mark.parametrize("size", [0.01, 30.0])
def test_labels_of_another_size_end_at_coefficients_of_another_size(wanted: str, size: float) -> None:
    X = np.random.default_rng(0).standard_normal((3, 7))

    def end(labels: np.ndarray) -> np.ndarray:
        scale = scale_for(wanted, KNOWN, labels)
        return least_potential(X, labels, Potential.finetuned(KNOWN, 1e-3, scale.scaling, scale.gamma)).value

    assert end(size * LABELS) == pytest.approx(size * end(LABELS), rel=1e-6, abs=1e-9 * size)


def test_features_that_are_hardly_known_do_not_count() -> None:
    assert typical_size([0.4, 0.4, 1e-4, 0.0]) == pytest.approx(0.4, rel=1e-3)
    assert typical_size([1e200, 1e200]) == pytest.approx(1e200)


@pytest.mark.parametrize(
    ("wanted", "auxiliary", "targets", "words"),
    [
        ("nestd", KNOWN, LABELS, "did you mean 'nested'"),
        ("lazy", np.zeros(3), LABELS, "0 that are not 0"),
        ("lazy", KNOWN[None], LABELS, "shape (1, 7)"),
        ("rich", KNOWN, np.zeros(3), "targets are all 0"),
        ("rich", KNOWN, [], "targets"),
        ("lazy", KNOWN, [np.nan], "targets are not all finite"),
    ],
)
def test_bad_input_is_named(wanted: str, auxiliary: object, targets: object, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        scale_for(wanted, auxiliary, targets)  # type: ignore[arg-type]
