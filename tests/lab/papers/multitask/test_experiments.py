"""Networks of multi-task learning and pretraining, small: rows, directions, and checks that turn."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("clarabel")

import torch

from recombine.errors import InputError
from recombine.lab.nets.plain import Recipe, ResNet18, recalibrate, rescale, rescale_and_finetune
from recombine.lab.nets.plain.activations import batch_norms
from recombine.lab.papers import Standing, find
from recombine.lab.papers.multitask.experiments.diagonal import nested_flow, nested_networks, overlap_networks
from recombine.lab.papers.multitask.experiments.images import (
    RELEASED_PAIRS,
    TwoTasks,
    class_numbers,
    needs_images,
    rescaling,
)
from recombine.lab.papers.multitask.experiments.norms import rescaling_norms, variance_ratio, with_statistics
from recombine.lab.papers.multitask.experiments.students import correlation, magnitude, units
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.images.sources import load_images
from recombine.tables.table import Table

PAPER = find("multitask")
PLAIN = {"n": 16, "rate": 0.1, "stop": 1e-6, "dtype": "float32", "steps": 3000, "mtl steps": 100, "seeds": [0]}
STUDENT = {"n": 16, "width": 20, "scale": 0.1, "rate": 0.5, "stop": 1e-4, "batch": 64, "auxiliary samples": 96}
STUDENT |= {"steps": 200, "mtl steps": 150, "pretraining steps": 200, "seeds": [0]}


def unit(**setting: object) -> Unit:
    return Unit("test", 1, setting)


def test_trained_networks_lie_on_their_prediction() -> None:
    rows = Table.from_rows(overlap_networks(unit(**PLAIN, overlaps=[40, 0], methods=["pt+ft", "stl", "mtl"])))
    assert len(rows) == 6
    alone = rows.where(rows["method"] != "mtl")
    assert alone["stopped"].all()
    assert alone["loss"] == pytest.approx(alone["theory"], rel=0.03)
    assert np.all(rows["best"] <= rows["loss"] + 1e-6)
    # Without shared features the untrained network, whose loss is 1, is the best that training meets.
    unshared = rows.only(overlap=0, method="pt+ft")
    assert unshared["best"][0] == pytest.approx(1, abs=0.01)
    assert PAPER.claim("17").read(rows).verdict is Standing.HOLDS
    assert PAPER.claim("18").read(rows).verdict is Standing.NOT_RUN, "none of these learns much"
    whole = {name: rows[name] for name in rows.columns} | {"power": 100 * rows["power"]}
    assert PAPER.claim("18").read(Table(whole)).verdict is Standing.HOLDS
    assert PAPER.claim("18").read(Table({**whole, "theory": 3 * rows["theory"]})).verdict is Standing.FAILS


def test_rescaled_networks_lie_on_their_prediction() -> None:
    setting = {**PLAIN, "active": [5], "places": ["inside"], "scalings": [1.0, 0.3], "methods": ["pt+ft"]}
    rows = Table.from_rows(nested_networks(unit(**setting)))
    assert rows["loss"] == pytest.approx(rows["theory"], rel=0.05)
    whole = {name: rows[name] for name in rows.columns} | {"power": 100 * rows["power"]}
    assert PAPER.claim("21b").read(Table(whole)).verdict is Standing.HOLDS


def test_flow_from_weights_scaled_down_ends_at_its_prediction() -> None:
    setting = {"n": 16, "dimension": 100, "active": [5], "places": ["inside"], "scalings": [0.1, 0.01, 0.001]}
    rows = Table.from_rows(nested_flow(unit(**setting, methods=["pt+ft"], precision=1e-6, seeds=[0])))
    assert rows["loss"] == pytest.approx(rows["theory"], rel=1e-3)
    assert np.all(rows["train loss"] < 1e-3 * rows["theory"])
    assert np.all(rows["drift"] < 1e-3)
    assert np.all((rows["settled"] > 0) & (rows["settled"] < rows["time"]))
    assert PAPER.claim("21c").read(rows).verdict is Standing.HOLDS
    short = rows.where(rows["scaling"] != 0.01)
    assert PAPER.claim("21c").read(short).verdict is Standing.NOT_RUN


@pytest.mark.slow
def test_students_learn_and_known_features_help() -> None:
    methods = ["pt+ft", "pt+ft probe", "mtl", "stl", "stl probe"]
    rows = Table.from_rows(correlation(unit(**STUDENT, correlations=["1 x 6"], methods=methods)))
    loss = dict(zip(rows["method"].tolist(), rows["loss"].tolist(), strict=True))
    assert loss["pt+ft probe"] < loss["stl probe"]
    fitted = rows.where(np.isfinite(rows["train loss"]))
    assert np.all(fitted["train loss"] < 0.5 * fitted["power"])
    assert np.all(rows["best"] <= rows["loss"])
    for number in ("13a", "13b", "13c"):
        assert PAPER.claim(number).read(rows).verdict is Standing.NOT_RUN, "20 units say nothing about 1000"


@pytest.mark.slow
def test_sweeps_of_units_and_magnitudes_have_one_row_per_network() -> None:
    short = {**STUDENT, "steps": 20, "pretraining steps": 20}
    swept = units(unit(**short, units=[1, 6], cosines=[1.0], scalings=[0.1, 10.0], methods=["pt+ft"]))
    assert [(row["units"], row["scaling"]) for row in swept] == [(1, 0.1), (1, 10.0), (6, 0.1), (6, 10.0)]
    sized = magnitude(unit(**short, cosines=[0.9], magnitudes=[1.0, 0.1], methods=["stl"]))
    assert sized[0]["power"] == pytest.approx(100 * sized[1]["power"])


def test_images_are_split_into_two_tasks() -> None:
    tasks = TwoTasks.of("digits", seed=0, device="cpu")
    assert set(tasks.main[1].tolist()) == {0, 1} == set(tasks.test[1].tolist())
    assert set(tasks.auxiliary[1].tolist()) == set(range(8))
    assert float(tasks.main[0].min()) == -1
    assert float(tasks.main[0].max()) == 1
    assert len(tasks.main[0]) + len(tasks.auxiliary[0]) == 1297
    with pytest.raises(InputError, match="were asked for"):
        tasks.some(10_000, seed=0)


@pytest.mark.slow
def test_rescaling_has_one_row_per_network_and_layer() -> None:
    short = {"images": "digits", "network": "small resnet", "n": [20], "mtl n": [20], "factors": [0.5]}
    short |= {"epochs": 1, "pretraining epochs": 1, "stop": 0.01, "rate": 0.02, "stop rule": "both"}
    rows = Table.from_rows(rescaling(unit(**short, methods=["pt+ft", "stl", "mtl"], seeds=[0])))
    looked = rows.where(rows["layer"] != "")
    assert sorted(set(looked["layer"].tolist())) == ["readout", "stage1", "stage2", "stem"]
    assert len(rows) == 4 + 1 + 1
    assert np.all((looked["ENSD"] > 0) & (looked["PR before"] >= 1))
    for number in ("15a", "15b", "16b", "16c", "23a", "23b"):
        assert PAPER.claim(number).read(rows).verdict is Standing.NOT_RUN, "digits say nothing about photographs"


@pytest.mark.slow
def test_recalibrated_networks_differ_from_published_ones_in_what_plain_finetuning_starts_from() -> None:
    short = {"images": "digits", "network": "small resnet", "n": [20], "factors": [0.5, 1.0], "stop rule": ""}
    short |= {"epochs": 2, "pretraining epochs": 1, "stop": 0.01, "rate": 0.02}
    rows = Table.from_rows(rescaling(unit(**short, methods=["pt+ft", "pt+ft recalibrated"], seeds=[0])))
    for factor, alike in ((0.5, True), (1.0, False)):
        plain, anew = (
            rows.only(method=method, factor=factor, layer="stage2") for method in ("pt+ft", "pt+ft recalibrated")
        )
        assert (plain["accuracy"][0] == anew["accuracy"][0]) == alike
        assert anew["PR before"][0] > plain["PR before"][0], "without the mean, activity has more dimensions"


def _finetuned_twice(statistics: str) -> tuple[Any, Any, Any, int]:
    """Return a rescaled network before and after finetuning, the samples, and the steps."""
    torch.manual_seed(0)
    model = ResNet18(1, 3, (4, 8), large_stem=False)
    samples = (torch.randn(12, 1, 8, 8), torch.arange(12) % 2)
    recipe = Recipe(partial(torch.optim.SGD, lr=0.05, momentum=0.9), batch=5, epochs=3, stop=0.0, outputs=(0, 2))
    with torch.no_grad():
        model(torch.randn(40, 1, 8, 8))  # statistics of pretraining
    start = rescale(model, 0.5)
    about: Any = {"factors": [0.5], "recipe": recipe, "controls": False}
    (tuned,) = rescale_and_finetune(model, samples, statistics=statistics, **about)
    return start, tuned.model, samples[0], 3 * 3


def test_running_statistics_change_no_weight_and_their_rules_are_those_of_networks_trained_by_them() -> None:
    start, kept, inputs, steps = _finetuned_twice("none")
    _, before, _, _ = _finetuned_twice("all")
    weights = zip(kept.parameters(), before.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in weights), "training never reads running statistics"
    by_rule = with_statistics(start, kept, inputs, steps)
    assert list(by_rule) == ["kept", "set before", "set after"]
    for ours, trained in zip(by_rule["set before"].buffers(), before.buffers(), strict=True):
        assert torch.allclose(ours.double(), trained.double(), rtol=1e-5, atol=1e-7)
    recalibrate(kept, inputs)
    assert all(torch.equal(a, b) for a, b in zip(by_rule["set after"].buffers(), kept.buffers(), strict=True))


def test_old_variances_are_off_as_factor_and_steps_say() -> None:
    """Where weights stay as they are, running variances follow the closed form behind the stem."""
    torch.manual_seed(0)
    model, inputs = ResNet18(1, 3, (4, 8), large_stem=False), 3 * torch.randn(30, 1, 8, 8)
    recalibrate(model, inputs)
    start = rescale(model, 0.5)
    moved = copy.deepcopy(start).train()
    with torch.no_grad():
        for _ in range(12):
            moved(inputs)
    by_rule = with_statistics(start, moved, inputs, 12)
    ratios = [
        (running.running_var / own.running_var).median().item()
        for running, own in zip(batch_norms(by_rule["kept"])[1:], batch_norms(by_rule["set after"])[1:], strict=True)
    ]
    assert ratios == pytest.approx([float(variance_ratio(0.5, 12))] * len(ratios), rel=1e-3)


@pytest.mark.slow
def test_networks_finetuned_when_rescaled_have_a_row_for_each_rule() -> None:
    short = {"images": "digits", "widths": [4, 8], "n": [10], "factors": [0.5, 1.0], "epochs": 2, "stop": 0.01}
    short |= {"rate": 0.005, "pretraining rate": 0.02, "pretraining epochs": 1, "seeds": [0]}
    rows = Table.from_rows(rescaling_norms(unit(**short, norm="batch")) + rescaling_norms(unit(**short, norm="group")))
    assert rows.only(norm="batch")["statistics"].tolist() == ["kept", "set before", "set after"] * 2
    assert rows.only(norm="group")["statistics"].tolist() == ["none"] * 2
    assert rows.only(statistics="set after")["variance ratio"].tolist() == [1.0, 1.0]
    assert rows.only(statistics="kept", factor=0.5)["variance ratio"][0] > 5
    assert set(rows["steps"].tolist()) == {2}


def test_missing_photographs_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("RECOMBINE_DATA", str(tmp_path))
    with pytest.raises(InputError, match="CIFAR-100"):
        needs_images([unit(images="cifar100")])
    needs_images([unit(images="digits")])


@pytest.mark.parametrize("seed", [0, 7])
def test_class_pairs_as_released_are_those_of_their_script(seed: int) -> None:
    """The script seeds numpy's global generator and numbers classes by a permutation."""
    np.random.seed(seed)  # noqa: NPY002 - as the released script does
    theirs = np.random.permutation(100)  # noqa: NPY002
    assert np.array_equal(class_numbers(seed, 100, RELEASED_PAIRS), theirs)
    ours = np.random.default_rng([seed, 0]).permutation(100)
    assert np.array_equal(class_numbers(seed, 100)[ours], np.arange(100)), "rows on record keep their classes"
    assert not np.array_equal(class_numbers(seed, 100), theirs)


def test_the_main_task_has_the_released_classes() -> None:
    number = class_numbers(3, 10, RELEASED_PAIRS)
    tasks = TwoTasks.of("digits", seed=3, device="cpu", pairs=RELEASED_PAIRS)
    own = TwoTasks.of("digits", seed=3, device="cpu")
    labels = np.array(load_images("digits").labels)
    together = len(tasks.main[1]) + len(tasks.test[1])
    assert together == np.isin(labels, np.flatnonzero(number < 2)).sum()
    assert together != len(own.main[1]) + len(own.test[1])
