"""The benchmark of values: what it holds out, how it scores, and which tables repeat another."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def modules() -> dict[str, ModuleType]:
    folder = str(ROOT / "benchmarks")
    sys.path.insert(0, folder)
    try:
        return {name: import_module(name) for name in ("value_tables", "value_peers", "values")}
    finally:
        sys.path.remove(folder)


def _table(modules: dict[str, ModuleType], seed: int = 0, name: str = "package/item") -> Any:
    rng = np.random.default_rng(seed)
    cells = pd.DataFrame(np.indices((6, 5, 3)).reshape(3, -1).T, columns=["dose", "plate", "drug"])
    cells = cells[rng.random(len(cells)) < 0.8].reset_index(drop=True)
    cells = cells.assign(plate=cells["plate"].map("abcde".__getitem__), drug=cells["drug"].map("xyz".__getitem__))
    y = cells["dose"] ** 2 + rng.normal(size=len(cells))
    return modules["value_tables"].ValueTable(name, cells, y.to_numpy(), np.ones(len(cells), dtype=np.int64))


def test_every_level_stays_seen_unless_levels_are_held_out(modules: dict[str, ModuleType]) -> None:
    table = _table(modules)
    draws = list(modules["values"].draws_of(table, 3, 0))
    assert {draw.kind for draw in draws} == {"random", "run", "new number", "new label"}
    for draw in draws:
        task = modules["values"].task_of(table, draw)
        unseen = [factor for factor in task.seen if set(task.asked[factor]) - set(task.seen[factor])]
        assert unseen == {"new number": ["dose"], "new label": ["plate"]}.get(draw.kind, [])


def test_halves_leave_open_every_cell_that_mixes_them(modules: dict[str, ModuleType]) -> None:
    """Every level is seen, the seen cells are two blocks without a common level, and no held-out cell is in one."""
    table = _table(modules)
    draws = list(modules["values"].draws_of(table, 3, 0, ["halves"]))
    assert [draw.kind for draw in draws] == ["halves"] * 3
    for draw in draws:
        seen, asked = table.cells[~draw.asked], table.cells[draw.asked]
        block, grown = seen.iloc[:1], 0
        while len(block) > grown:
            grown = len(block)
            block = seen[np.any([seen[factor].isin(block[factor]) for factor in seen], axis=0)]
        other = seen.drop(block.index)
        assert len(other) > 0
        within = [np.all([asked[factor].isin(half[factor]) for factor in seen], axis=0) for half in (block, other)]
        assert not np.any(within)
        assert all(set(asked[factor]) <= set(seen[factor]) for factor in seen)


def test_a_run_is_of_neighbouring_numbers(modules: dict[str, ModuleType]) -> None:
    """In each level of some other factor the held-out doses have no gap, but for cells given back to show a level."""
    table = _table(modules)
    for draw in modules["values"].draws_of(table, 20, 0):
        if draw.kind == "run":
            asked = table.cells[draw.asked]
            spans = [max(np.ptp(doses) for _, doses in asked.groupby(factor)["dose"]) for factor in ("plate", "drug")]
            assert min(spans) <= 1


def test_a_ridge_leaves_out_what_brute_force_does(modules: dict[str, ModuleType]) -> None:
    from sklearn.linear_model import Ridge

    table = _table(modules)
    task = modules["values"].task_of(table, next(modules["values"].draws_of(table, 1, 0)))
    features = task.features(task.seen)
    ridge = modules["value_peers"].Ridge.of(modules["value_peers"].additive_kernel(task, task.seen))
    misses = ridge.misses(task.y[:, None], 0.7)[:, 0]
    for row in range(5):
        others = np.arange(len(task.y)) != row
        fit = Ridge(0.7).fit(features[others], task.y[others])
        assert misses[row] == pytest.approx(task.y[row] - fit.predict(features[[row]])[0])


def test_scores_of_a_forecast_by_hand(modules: dict[str, ModuleType]) -> None:
    seen, asked = pd.DataFrame({"a": [0, 1]}), pd.DataFrame({"a": [0, 1]})
    rows = np.ones(2, dtype=np.int64)
    task = modules["value_peers"].Task(seen, np.array([-1.0, 1.0]), asked, [], rows, rows)
    forecast = modules["value_peers"].Forecast(np.array([1.0, 2.0]), np.array([0.0, 1.5]), np.array([2.0, 2.5]))
    scores = modules["values"].scores(task, np.array([1.0, 3.0]), forecast)
    # the second value is .5 above a range of width 1, the first inside one of width 2; outcomes have deviation 1
    assert scores == pytest.approx({"R2": 0.9, "in range": 0.5, "Winkler": (2 + 1 + 20 * 0.5) / 2, "ranged": 1.0})


def test_of_tables_that_repeat_each_other_the_larger_is_taken(modules: dict[str, ModuleType]) -> None:
    tables, large = modules["value_tables"], _table(modules)
    half = tables.ValueTable("package/half", large.cells[::2], large.outcome[::2], large.counts[::2])
    renamed = tables.ValueTable("elsewhere/item", half.cells, -half.outcome, half.counts)
    fresh = _table(modules, seed=1, name="package/fresh")
    fresh = tables.ValueTable(fresh.name, fresh.cells.rename(columns={"dose": "time"}), fresh.outcome, fresh.counts)
    assert [table.name for table in tables.distinct_tables([half, fresh, large, renamed])] == [fresh.name, large.name]


def test_listed_tables_are_many_and_of_all_kinds(modules: dict[str, ModuleType]) -> None:
    listed = json.loads((ROOT / "results/values/tables.json").read_text(encoding="utf-8"))["tables"]
    names = [entry["name"] for entry in listed]
    parts = [modules["value_tables"].catalogue(part) for part in ("development", "final")]
    assert sorted(names) == sorted(entry["name"] for part in parts for entry in part)
    assert len(set(names)) == len(names) >= 120
    assert all(2 <= len(entry["factors"]) <= 6 and 25 <= entry["cells"] <= 3_000 for entry in listed)
    for kind in ("heavy tails", "thin", "binary", "counts", "numbers", "replicates", "small"):
        assert sum(kind in entry["kinds"] for entry in listed) >= 10, kind
