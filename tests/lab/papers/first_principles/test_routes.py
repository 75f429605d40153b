"""Decoders alone and in a batch: the grid is balanced, the readings find a difference, and small runs go through."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from recombine.lab.papers import Standing, find
from recombine.lab.papers.first_principles.grids import COMPARED_STEPS, NARROW_BANDS, NETWORKS_IN_BATCH, ROUTE_SEEDS
from recombine.lab.papers.first_principles.readings.routes import CONTROL, MIN_NETWORKS_PER_RATE
from recombine.lab.runs.experiment import Unit
from recombine.tables.table import Table

PAPER = find("first-principles")
PLACES = ("first of three", "middle of three", "last of three")


def test_every_seed_is_trained_once_alone_and_once_in_a_batch() -> None:
    units = PAPER.by_name["routes"].units("full")
    seen = Counter(
        (unit.setting["support"], unit.setting["scale"], len(unit.seeds) > 1, seed)
        for unit in units
        for seed in unit.seeds
    )
    assert set(seen.values()) == {1}
    ways = Counter(key[:3] for key in seen)
    assert len(ways) == 2 * len(NARROW_BANDS) * 2
    assert set(ways.values()) == {len(ROUTE_SEEDS)} == {MIN_NETWORKS_PER_RATE}
    sizes = Counter(len(unit.seeds) for unit in units if len(unit.seeds) > 1)
    assert sizes[NETWORKS_IN_BATCH] > 10 * sizes[NETWORKS_IN_BATCH + 1] > 0
    assert len(sizes) == 2
    differ = {"support", "scale", "steps", "periods", "seeds"}
    common = [{name: value for name, value in unit.setting.items() if name not in differ} for unit in units]
    assert all(setting == common[0] for setting in common)


def _networks(lost: dict[tuple[str, int], int]) -> Table:
    """Forty networks for each length, support and way, of which so many are lost, by length and size of the batch."""
    return Table.from_rows(
        [
            {"scale": scale, "support": support, "networks": networks, "seed": seed}
            | {"mse front": 0.44 if seed < lost.get((scale, networks), 0) else 0.03, "mse back": 0.01}
            for scale in ("annealed", "short")
            for support in NARROW_BANDS
            for networks in (1, 3)
            for seed in range(MIN_NETWORKS_PER_RATE)
        ]
    )


def _hypergeometric(first: int, second: int, each: int) -> float:
    """Fisher's two-sided p by counting all tables with these margins."""
    both = first + second
    ways = [math.comb(each, k) * math.comb(each, both - k) for k in range(max(0, both - each), min(each, both) + 1)]
    here = math.comb(each, first) * math.comb(each, second)
    return sum(count for count in ways if count <= here) / sum(ways)


@pytest.mark.parametrize(("alone", "batch"), [(0, 0), (2, 2), (2, 7), (2, 8), (8, 2), (0, 20)])
def test_rates_count_as_different_below_one_percent(alone: int, batch: int) -> None:
    outcome = PAPER.claim("40b").read(_networks({("short", 1): alone, ("short", 3): batch}))
    measured = PAPER.claim("40b").measure(_networks({("short", 1): alone, ("short", 3): batch}))
    values = measured.numbers["p of Fisher's exact test"]
    assert values["annealed: 19,600 steps"] == 1
    p = _hypergeometric(2 * alone, 2 * batch, 2 * MIN_NETWORKS_PER_RATE)
    assert values["short: 3,300 steps"] == pytest.approx(p, rel=1e-9)
    assert outcome.verdict is (Standing.HOLDS if p >= 0.01 else Standing.FAILS)
    assert measured.numbers["lost alone"]["short: 3,300 steps"] == f"{2 * alone} of 80"
    assert measured.numbers["lost in a batch"]["short: 3,300 steps"] == f"{2 * batch} of 80"


def _some_lost(lost: dict[tuple[str, int], set[int]]) -> Table:
    """Forty seeds for each length, support and way, of which these are lost, by length and size of the batch."""
    table = _networks({})
    hit = [row["seed"] in lost.get((row["scale"], row["networks"]), set()) for row in table.rows()]
    columns = {name: table[name] for name in table.columns}
    return Table({**columns, "mse front": np.where(hit, 0.44, 0.03)})


@pytest.mark.parametrize(
    ("alone", "batch", "same"), [({1, 2, 3}, {1, 2, 3}, True), ({1, 2, 3}, {4, 5, 6}, False), (set(), {1}, False)]
)
def test_seeds_lost_both_ways_are_told_from_others(alone: set[int], batch: set[int], same: bool) -> None:
    outcome = PAPER.claim("48a").read(_some_lost({("short", 1): alone, ("short", 3): batch}))
    assert outcome.verdict is (Standing.FAILS if same else Standing.HOLDS)
    # Counted over the two supports, which lose the same seeds here: the hypergeometric tail.
    total, first, second, common = 80, 2 * len(alone), 2 * len(batch), 2 * len(alone & batch)
    tail = sum(
        math.comb(first, k) * math.comb(total - first, second - k) for k in range(common, min(first, second) + 1)
    ) / math.comb(total, second)
    measured = PAPER.claim("48a").measure(_some_lost({("short", 1): alone, ("short", 3): batch}))
    assert measured.numbers["p of as many by chance"]["short: 3,300 steps"] == pytest.approx(tail, rel=1e-9)


@pytest.mark.parametrize(("later", "verdict"), [({1, 2, 7}, Standing.HOLDS), ({7, 8, 9}, Standing.FAILS)])
def test_a_short_training_warns_where_the_same_networks_are_lost(later: set[int], verdict: Standing) -> None:
    rows = _some_lost({("short", 1): {1, 2}, ("short", 3): {1, 2}, ("annealed", 1): later, ("annealed", 3): later})
    assert PAPER.claim("48b").read(rows).verdict is verdict


def test_few_networks_decide_nothing() -> None:
    whole = _networks({})
    assert PAPER.claim("40b").read(whole.where(np.arange(len(whole)) > 0)).verdict is Standing.NOT_RUN


def _drifts(times: float) -> Table:
    """Trainings in a batch that drift so many times as far as the control, whose drift grows with the steps."""
    control = {step: 1e-6 * step for step in COMPARED_STEPS}
    about = [(name, dtype, step) for name in NARROW_BANDS for dtype in ("float32", "bfloat16") for step in control]
    return Table.from_rows(
        [
            {"scale": "annealed", "support": name, "dtype": dtype, "seed": 34, "step": step, "training": training}
            | {"weights apart": control[step] * (times if (training, step) == (PLACES[1], 20) else 1.0)}
            for name, dtype, step in about
            for training in (CONTROL, *PLACES)
        ]
    )


@pytest.mark.parametrize(("times", "verdict"), [(1, Standing.HOLDS), (9, Standing.HOLDS), (11, Standing.FAILS)])
def test_one_place_that_drifts_once_is_found(times: float, verdict: Standing) -> None:
    outcome = PAPER.claim("40a").read(_drifts(times))
    assert outcome.verdict is verdict, outcome
    assert outcome.note == "on sprites"


def test_a_small_batch_agrees_with_its_networks_alone() -> None:
    unit = PAPER.by_name["route-steps"].units("quick")[0]
    rows: Any = PAPER.by_name["route-steps"].compute(
        Unit(unit.experiment, 1, {**unit.setting, "steps": 5, "recorded": [1, 5]})
    )
    assert Counter(row["training"] for row in rows) == dict.fromkeys((CONTROL, *PLACES), 2)
    for row in rows:
        if row["training"] == CONTROL:
            assert 1e-8 < row["weights apart"] < 1e-3
        else:
            assert row["weights apart"] < 1e-6
            assert row["widest apart"] < 1e-5


@pytest.mark.slow
def test_small_networks_are_scored_alone_and_in_a_batch() -> None:
    rows = [
        dict(row) for unit in PAPER.by_name["routes"].units("quick") for row in PAPER.by_name["routes"].compute(unit)
    ]
    assert [(row["networks"], row["seed"]) for row in rows] == [(3, 0), (3, 1), (3, 2), (1, 0)]
    assert rows[0]["mse all"] == pytest.approx(rows[3]["mse all"], rel=1e-3)
    assert rows[0]["mse all"] != pytest.approx(rows[1]["mse all"], rel=1e-3)
