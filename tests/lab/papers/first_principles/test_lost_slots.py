"""Lost slots: cases differ in one thing, looks are those of images, and readings find the differences there are."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from recombine.lab.papers import Standing, find
from recombine.lab.papers.first_principles.experiments.decoders import ALL_SEED, Condition
from recombine.lab.papers.first_principles.experiments.lost_slots import _errors_without, gated_decoder, lost_slots
from recombine.lab.papers.first_principles.experiments.supports import BLOB, support
from recombine.lab.papers.first_principles.experiments.worlds import WORLDS
from recombine.lab.papers.first_principles.grids import NARROW_BANDS, SLOT_CASES, SLOT_SUPPORTS
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.rendered.blobs import blob_layers, blob_regions
from recombine.tables.table import Table

torch = pytest.importorskip("torch")
PAPER = find("first-principles")
SEEDS = 20


def test_cases_differ_from_the_first_in_one_thing_and_record_a_quarter() -> None:
    usual = SLOT_CASES[0][:3]
    for *case, _ in SLOT_CASES[1:]:
        assert sum(a != b for a, b in zip(case, usual, strict=True)) == 1
    units = PAPER.by_name["lost-slots"].units("full")
    seeds = Counter(
        tuple(unit.setting[name] for name in ("gate", "rate", "dtype", "support")) for unit in units for _ in unit.seeds
    )
    assert set(seeds.values()) == {SEEDS}
    assert len(seeds) == sum(len(case[-1]) for case in SLOT_CASES)
    for unit in units:
        assert {0, unit.setting["steps"] // 10, unit.setting["steps"] // 4, unit.setting["steps"]} <= set(
            unit.setting["recorded"]
        )


def _unit(**about: Any) -> Unit:
    setting = PAPER.by_name["lost-slots"].units("quick")[0].setting
    return Unit("lost-slots", 1, {**setting, "steps": 10, "periods": 10, "recorded": [0, 1, 10], **about})


def test_errors_without_a_slot_are_those_of_the_other_layer_alone() -> None:
    condition = Condition(WORLDS["blobs"], support("random", BLOB), _unit().setting | {"targets": "rgba"}, "cpu")
    units, target = condition.draw(ALL_SEED)
    layers, regions = blob_layers(units), blob_regions(units)
    images = {"front": layers[:, 1], "back": np.zeros_like(layers[:, 0])}
    errors = _errors_without(condition)
    for name, image in images.items():
        expected = np.square(image - target.numpy()).mean(1)[regions[name]].mean()
        assert errors[name] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("gate", ["soft", "soft with a floor", "opacity"])
def test_small_networks_are_looked_at_as_they_train(gate: str) -> None:
    single, double = (lost_slots(_unit(gate=gate, dtype=dtype)) for dtype in ("float32", "float64"))
    assert [(row["seed"], row["step"]) for row in single] == [(seed, step) for seed in (0, 1) for step in (0, 1, 10)]
    for row, other in zip(single, double, strict=True):
        assert row["front"] > 0
        assert 0 <= row["gate on front"] <= 1
        assert row["r2 all"] < 1
        # Both start from the same weights and meet the same samples.
        if row["step"] <= 1:
            assert row["front"] == pytest.approx(other["front"], rel=1e-4)
    assert any(row["front"] != other["front"] for row, other in zip(single, double, strict=True))


def test_a_front_that_nobody_sees_has_an_error_of_one() -> None:
    """What the look says of a network is what its images are, here with a gate that is shut everywhere."""
    from recombine.lab.papers.first_principles.experiments.lost_slots import _look

    world = replace(WORLDS["blobs"], model=gated_decoder)
    condition = Condition(
        world, support("random", BLOB), {**_unit().setting, "model": "opacity", "targets": "rgba"}, "cpu"
    )
    parameters = {name: values.unsqueeze(0).clone() for name, values in condition.model.initial(0, 1.0).items()}
    # Opacities are the last channel; a bias of -50 hides both slots, so that the image is black.
    last = max(name for name in parameters if name.startswith("conv") and name.endswith("bias"))
    parameters[last][..., 3] = -50.0
    (numbers,) = _look(condition)(parameters, {}, torch.tensor([0])).tolist()
    assert numbers[1] == pytest.approx(1.0, rel=1e-5)
    assert numbers[4] < 1e-6
    assert numbers[5] < 1e-6


def _rows(**fronts: Any) -> Table:
    """Twenty networks of every case, of which so many, by name of the case, lose the front after a warning or not."""
    rows = []
    for gate, rate, dtype, supports in SLOT_CASES:
        word = dtype if dtype == "float64" else "slow" if rate < 0.02 else gate.split()[-1]
        for name in supports:
            lost = fronts.get(word, 0)
            count = lost.get(name, 0) if isinstance(lost, dict) else lost
            for seed in range(SEEDS):
                for step in (0, 40, 100, 400):
                    front = 1.0 if seed < count or step == 0 else 0.1
                    if seed < count and seed < fronts.get("unwarned", 0) and step == 100:
                        front = 0.5
                    if seed >= SEEDS - fronts.get("false alarms", 0) and step == 100:
                        front = 0.9
                    back = 1.0 if word == "opacity" and seed < fronts.get("black", 0) else 0.2
                    rows.append(
                        {"gate": gate, "rate": rate, "dtype": dtype, "support": name, "seed": seed, "step": step}
                        | {"steps": 400, "front": front, "back": back, "gate on front": 0.0, "r2 all": 0.9 - front / 2}
                    )
    return Table.from_rows(rows)


NARROW, WIDE = dict.fromkeys(NARROW_BANDS, 12), {name: 1 for name in SLOT_SUPPORTS if name not in NARROW_BANDS}


@pytest.mark.parametrize(
    ("number", "fronts", "verdict"),
    [
        ("49a", {"soft": {**NARROW, **WIDE}, "slow": {**NARROW, **WIDE}}, Standing.HOLDS),
        ("49a", {"soft": {**NARROW, **WIDE}, "slow": 3}, Standing.FAILS),
        ("49a", {"soft": 6, "slow": 6}, Standing.FAILS),
        ("49b", {"soft": 10, "float64": 14}, Standing.HOLDS),
        ("49b", {"soft": 4, "float64": 14}, Standing.FAILS),
        ("49c", {"soft": 12, "floor": 4}, Standing.HOLDS),
        ("49c", {"soft": 12, "floor": 10}, Standing.FAILS),
        ("49c", {"soft": 4, "floor": 12}, Standing.FAILS),
        ("49d", {"soft": 10, "opacity": 10, "black": 2}, Standing.HOLDS),
        ("49d", {"soft": 10, "opacity": 10}, Standing.FAILS),
        ("49d", {"soft": 10, "opacity": 2, "black": 2}, Standing.FAILS),
        ("49e", {"soft": 10, "slow": 2}, Standing.HOLDS),
        ("49e", {"soft": 10, "slow": 9}, Standing.FAILS),
        ("50", {"soft": 10, "slow": 5}, Standing.HOLDS),
        ("50", {"soft": 10, "slow": 5, "unwarned": 2}, Standing.FAILS),
        ("50", {"soft": 10, "slow": 5, "false alarms": 2}, Standing.FAILS),
    ],
)
def test_readings_find_a_difference_where_there_is_one(number: str, fronts: Any, verdict: Standing) -> None:
    outcome = PAPER.claim(number).read(_rows(**fronts))
    assert outcome.verdict is verdict, outcome


def test_few_networks_decide_nothing() -> None:
    rows = _rows(soft=10, slow=5)
    few = rows.where(rows["seed"] < 3)
    counts = Counter(PAPER.claim(number).read(few).verdict for number in ("49a", "49b", "49c", "49d", "49e", "50"))
    assert counts == {Standing.NOT_RUN: 6}
