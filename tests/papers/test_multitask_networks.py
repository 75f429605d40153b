"""Networks of multi-task learning and pretraining, small: rows, directions, and checks that turn."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("clarabel")

from recombine.errors import InputError
from recombine.papers import Standing, find
from recombine.papers.multitask_networks import nested_networks, overlap_networks
from recombine.papers.multitask_relu import correlation, magnitude, units
from recombine.papers.multitask_rescaling import TwoTasks, needs_images, rescaling
from recombine.papers.results import as_table, matching
from recombine.runs.experiment import Unit
from recombine.tables import Table

PAPER = find("multitask")
PLAIN = {"n": 16, "rate": 0.1, "stop": 1e-6, "dtype": "float32", "steps": 3000, "mtl steps": 100, "seeds": [0]}
STUDENT = {"n": 16, "width": 20, "scale": 0.1, "rate": 0.5, "stop": 1e-4, "batch": 64, "auxiliary samples": 96}
STUDENT |= {"steps": 200, "mtl steps": 150, "pretraining steps": 200, "seeds": [0]}


def unit(**setting: object) -> Unit:
    return Unit("test", 1, setting)


def test_trained_networks_lie_on_their_prediction() -> None:
    rows = as_table(overlap_networks(unit(**PLAIN, overlaps=[40, 0], methods=["pt+ft", "stl", "mtl"])))
    assert len(rows) == 6
    alone = rows.where(rows["method"] != "mtl")
    assert alone["stopped"].all()
    assert alone["loss"] == pytest.approx(alone["theory"], rel=0.03)
    assert np.all(rows["best"] <= rows["loss"] + 1e-6)
    # Without shared features the untrained network, whose loss is 1, is the best that training meets.
    unshared = matching(rows, overlap=0, method="pt+ft")
    assert unshared["best"][0] == pytest.approx(1, abs=0.01)
    assert PAPER.claim("17").read(rows).verdict is Standing.HOLDS
    assert PAPER.claim("18").read(rows).verdict is Standing.HOLDS
    bent = Table({**{name: rows[name] for name in rows.columns}, "theory": 3 * rows["theory"]})
    assert PAPER.claim("18").read(bent).verdict is Standing.FAILS


def test_rescaled_networks_lie_on_their_prediction() -> None:
    setting = {**PLAIN, "active": [5], "places": ["inside"], "scalings": [1.0, 0.3], "methods": ["pt+ft"]}
    rows = as_table(nested_networks(unit(**setting)))
    assert rows["loss"] == pytest.approx(rows["theory"], rel=0.05)
    assert PAPER.claim("21").read(rows).verdict is Standing.HOLDS


def test_students_learn_and_known_features_help() -> None:
    methods = ["pt+ft", "pt+ft probe", "mtl", "stl", "stl probe"]
    rows = as_table(correlation(unit(**STUDENT, correlations=["1 x 6"], methods=methods)))
    loss = dict(zip(rows["method"].tolist(), rows["loss"].tolist(), strict=True))
    assert loss["pt+ft probe"] < loss["stl probe"]
    fitted = rows.where(np.isfinite(rows["train loss"]))
    assert np.all(fitted["train loss"] < 0.5 * fitted["power"])
    assert np.all(rows["best"] <= rows["loss"])
    for number in ("13a", "13b", "13c"):
        assert PAPER.claim(number).read(rows).verdict is Standing.NOT_RUN, "20 units say nothing about 1000"


def test_claims_on_students_read_rows_of_the_published_size() -> None:
    published = {"0.9 x 6": {256: (4.2e-6, 5.1e-3)}, "1 x 6": {16: (0.089, 0.020), 128: (6.1e-5, 7.1e-4)}}
    listed = [
        {"n": n, "width": 1000, "correlation": name, "method": method, "seed": 0, "loss": loss}
        for name, samples in published.items()
        for n, losses in samples.items()
        for method, loss in zip(("pt+ft", "mtl"), losses, strict=True)
    ]
    rows = as_table(listed)
    swapped = as_table([{**row, "method": "mtl" if row["method"] == "pt+ft" else "pt+ft"} for row in listed])
    for number in ("13a", "13b", "13c"):
        assert PAPER.claim(number).read(rows).verdict is Standing.HOLDS
        assert PAPER.claim(number).read(swapped).verdict is Standing.FAILS


def test_claims_on_units_and_magnitudes_read_rows_of_the_published_size() -> None:
    losses = {("pt+ft", 1.0): (2.3e-6, 2.2e-4), ("pt+ft", 10.0): (3.7e-6, 6.2e-7), ("mtl", 1.0): (4.4e-4, 8.2e-5)}
    listed = [
        {"n": 64, "width": 1000, "units": count, "cosine": 1.0, "scaling": scaling, "method": method, "loss": loss}
        for (method, scaling), ends in losses.items()
        for count, loss in enumerate(np.geomspace(*ends, 6), start=1)
    ]
    flipped = [{**row, "units": 7 - row["units"]} for row in listed]
    for number in ("14a", "14b", "14c"):
        assert PAPER.claim(number).read(as_table(listed)).verdict is Standing.HOLDS
        assert PAPER.claim(number).read(as_table(flipped)).verdict is Standing.FAILS
    sized = [
        {"n": n, "width": 1000, "cosine": 0.9, "magnitude": size, "method": method, "loss": loss}
        for n, method, size, loss in ((32, "stl", 1.0, 0.18), (32, "stl", 0.01, 2e-5), (128, "pt+ft", 1.0, 0.0023))
    ]
    for loss, verdict in ((2e-6, Standing.HOLDS), (1e-7, Standing.FAILS)):
        last = {**sized[-1], "magnitude": 0.01, "loss": loss}
        assert PAPER.claim("20").read(as_table([*sized, last])).verdict is verdict


def test_sweeps_of_units_and_magnitudes_have_a_row_a_network() -> None:
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


def test_rescaling_has_a_row_a_network_and_layer() -> None:
    short = {"images": "digits", "network": "small resnet", "n": [20], "mtl n": [20], "factors": [0.5]}
    short |= {"epochs": 1, "pretraining epochs": 1, "stop": 0.01, "rate": 0.02, "stop rule": "both"}
    rows = as_table(rescaling(unit(**short, methods=["pt+ft", "stl", "mtl"], seeds=[0])))
    looked = rows.where(rows["layer"] != "")
    assert sorted(set(looked["layer"].tolist())) == ["readout", "stage1", "stage2", "stem"]
    assert len(rows) == 4 + 1 + 1
    assert np.all((looked["ENSD"] > 0) & (looked["PR before"] >= 1))
    for number in ("15a", "15b", "16b"):
        assert PAPER.claim(number).read(rows).verdict is Standing.NOT_RUN, "digits say nothing about photographs"


def test_claims_on_photographs_are_paired_and_need_seeds() -> None:
    listed = [
        {"images": "cifar100", "network": "resnet", "method": "pt+ft", "n": n, "factor": factor, "seed": seed}
        | {"accuracy": 0.6 + 0.1 * seed + 0.03 * (factor < 1), "layer": "stage4"}
        | {"PR before": 6.9, "PR after": 2.0 if factor < 1 else 6.7, "ENSD": 2.4 if factor < 1 else 6.7}
        for n in (10, 1000)
        for factor in (0.125, 1.0)
        for seed in (0, 1, 2)
    ]
    rows = as_table(listed)
    assert PAPER.claim("15a").read(rows).value == "+3.0, +3.0"
    assert PAPER.claim("15a").read(rows).verdict is Standing.HOLDS
    assert PAPER.claim("16b").read(rows).verdict is Standing.HOLDS
    assert PAPER.claim("15a").read(rows.where(rows["seed"] < 2)).verdict is Standing.NOT_RUN
    worse = as_table([{**row, "accuracy": row["accuracy"] - 0.05 * (row["factor"] < 1)} for row in listed])
    assert PAPER.claim("15a").read(worse).verdict is Standing.FAILS


def test_missing_photographs_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("RECOMBINE_DATA", str(tmp_path))
    with pytest.raises(InputError, match="CIFAR-100"):
        needs_images([unit(images="cifar100")])
    needs_images([unit(images="digits")])
