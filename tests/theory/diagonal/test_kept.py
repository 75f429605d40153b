"""Which features finetuning keeps: planted supports, permuted features, noise, and a problem that is no paper's."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from recombine.cells.arrays import FloatArray
from recombine.errors import InputError
from recombine.theory.diagonal.generalization import predict, predict_curve
from recombine.theory.diagonal.kept import FATES, KeptFeatures, kept_features
from recombine.theory.diagonal.regimes import regime

KNOWN = np.r_[np.ones(6), np.zeros(34)]
NAMES = [f"marker {number}" for number in range(40)]


def planted(seed: int, noise: float = 0.05, count: int = 30) -> tuple[FloatArray, FloatArray, set[int]]:
    """Samples of 40 features whose targets need three of the six that are known."""
    draw = np.random.default_rng(seed)
    X, needed = draw.standard_normal((count, 40)), draw.choice(6, 3, replace=False)
    y = X[:, needed] @ draw.choice([-1.0, 1.0], 3) + noise * draw.standard_normal(count)
    return X, y, set(needed.tolist())


def found(seed: int, scaling: float = 1.0) -> KeptFeatures:
    X, y, _ = planted(seed)
    return kept_features(X, y, KNOWN, names=NAMES, resamples=40, scaling=scaling)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scaling", [1.0, 0.3])
def test_the_planted_support_stays_and_the_rest_of_what_was_known_goes(seed: int, scaling: float) -> None:
    needed = planted(seed)[2]
    answer = found(seed, scaling=scaling)
    assert answer.told
    assert set(answer.of("stays")) == {NAMES[index] for index in needed}
    assert set(answer.of("goes")) == {NAMES[index] for index in set(range(6)) - needed}
    assert not answer.of("new")


def test_a_new_feature_that_is_needed_is_new() -> None:
    X, y, _ = planted(1, count=36)
    answer = kept_features(X, y + 3 * X[:, 20], KNOWN, names=NAMES, resamples=40)
    assert "marker 20" in answer.of("new")


def test_the_order_of_features_does_not_matter_but_to_their_names() -> None:
    X, y, _ = planted(2)
    order = np.random.default_rng(9).permutation(40)
    answer = kept_features(X[:, order], y, KNOWN[order], names=[NAMES[index] for index in order], resamples=40)
    assert answer.fates == found(2).fates
    assert answer.summary == found(2).summary


def test_intervals_cover_the_truth_and_shrink_with_noise() -> None:
    widths = []
    for noise in (0.02, 0.2):
        X, y, needed = planted(3, noise)
        table = kept_features(X, y, KNOWN, names=NAMES, resamples=60).table
        chosen = table.where(np.isin(table["feature"], [NAMES[index] for index in needed]))
        truth = np.sign(chosen["after"])
        assert ((chosen["from"] < truth) & (truth < chosen["to"])).mean() >= 2 / 3
        widths.append(float(np.mean(chosen["to"] - chosen["from"])))
    assert widths[1] > 3 * widths[0]


@pytest.mark.parametrize("seed", range(3))
def test_where_targets_are_noise_nothing_is_told(seed: int) -> None:
    draw = np.random.default_rng(seed)
    answer = kept_features(draw.standard_normal((30, 40)), draw.standard_normal(30), KNOWN, resamples=5)
    assert not answer.told
    assert set(answer.fates.values()) == {"unclear"}
    assert answer.summary.startswith("Nothing can be told: 30 samples of 40 features are too few for their noise.")


def diabetes(count: int) -> KeptFeatures:
    """Progression from nine measurements and their products, of patients in whom one of them was learned before."""
    data = pytest.importorskip("sklearn.datasets").load_diabetes(as_frame=True)
    base = data.data.to_numpy() / data.data.to_numpy().std(axis=0)
    others = [name for name in data.data.columns if name != "s5"]
    kept = [data.data.columns.get_loc(name) for name in others]
    pairs = [(i, j) for i in range(len(kept)) for j in range(i + 1, len(kept))]
    columns = np.column_stack([base[:, kept], *(base[:, kept[i]] * base[:, kept[j]] for i, j in pairs)])
    columns = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    names = [*others, *(f"{others[i]} {others[j]}" for i, j in pairs)]
    rows = np.random.default_rng(1).permutation(len(base))[:count]
    target = data.target.to_numpy() / data.target.to_numpy().std()
    earlier = (columns, base[:, data.data.columns.get_loc("s5")])
    return kept_features(columns[rows], target[rows], earlier, names=names, resamples=20)


def test_forty_patients_are_too_few_and_four_hundred_are_not() -> None:
    few, many = diabetes(40), diabetes(400)
    assert not few.told
    assert min(error for method, error in few.errors.items() if method != "ridge") > 1 > few.errors["ridge"]
    assert "ridge regression, which does not, has 0." in few.summary
    assert many.told
    assert "bmi" in [*many.of("new"), *many.of("stays")], "the best single predictor of these data"
    assert "what was known before no longer matters" in many.summary
    assert str(many).startswith(many.summary + "\n\nfeature")


def test_features_are_listed_by_what_becomes_of_them() -> None:
    answer = found(0)
    order = [FATES.index(fate) for fate in answer.table["becomes"].tolist()]
    assert order == sorted(order)
    assert dict(zip(answer.table["feature"], answer.table["becomes"], strict=True)) == answer.fates


def test_an_auxiliary_task_may_be_a_list_of_its_samples() -> None:
    X, y, _ = planted(0)
    task = (X[:12], X[:12] @ KNOWN)
    pair, listed = (kept_features(X, y, each, names=NAMES, resamples=3) for each in (task, list(task)))
    assert str(pair) == str(listed)
    assert predict(X, targets=y, auxiliary=task).test_loss == predict(X, targets=y, auxiliary=list(task)).test_loss


def test_regimes_print_by_name() -> None:
    text = str(regime([0.2, 0.01, 0.5], 0.4, scaling=0.3, names=["age", "dose", "sex"]))
    assert text.startswith("Of 3 features ")
    assert [line.split()[0] for line in text.splitlines()[3:]] == ["age", "dose", "sex"]
    with pytest.raises(InputError, match="there are 2 names"):
        regime([0.2, 0.01, 0.5], 0.4, names=["age", "dose"])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X, y: kept_features(X[:9], y[:9], KNOWN), "there are 9 samples"),
        (lambda X, y: kept_features(X, y, KNOWN[:5]), "give 40 finite coefficients"),
        (lambda X, y: kept_features(X, y, KNOWN, names=["a"]), "there are 1 names for 40 columns"),
        (lambda X, y: kept_features(X, y, KNOWN, names=["a"] * 40), "one of its own to each"),
        (lambda X, y: kept_features(X, y, KNOWN, names=[*NAMES[:39], NAMES[3]]), f"40 columns, 2 of them {NAMES[3]!r}"),
        (lambda X, y: kept_features(X, y, [np.nan, *KNOWN[1:]], names=NAMES), f"auxiliary is nan for {NAMES[0]!r}"),
        (lambda X, y: kept_features(X, y, ["a"] * 40), "coefficients of auxiliary are not real numbers"),
        (lambda X, y: kept_features(X, y, KNOWN, method="stl"), "option 'method' is unknown; options: alpha, scaling"),
        (lambda X, y: kept_features(X, y, KNOWN, scalling=0.3), "did you mean 'scaling'?"),
        (lambda X, y: predict(X, targets=y, auxiliary=KNOWN, scalling=0.3), "did you mean 'scaling'?"),
        (lambda X, y: predict_curve(X, targets=y, auxilary=KNOWN), "did you mean 'auxiliary'?"),
        (lambda X, y: kept_features(X, 0 * y + 1, KNOWN), "targets are all the same"),
        (lambda X, y: kept_features(X, y, KNOWN, resamples=1), "resamples is 1"),
    ],
)
def test_bad_input_is_named(call: Callable[[FloatArray, FloatArray], object], words: str) -> None:
    X, y, _ = planted(0)
    with pytest.raises(InputError, match=re.escape(words)):
        call(X, y)
