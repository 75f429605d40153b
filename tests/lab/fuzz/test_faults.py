"""Every request to the file system fails in turn: stores, stored tables and checkpoints are whole or as they were."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from injected import every_fault, faults_of_a_file

from recombine.lab.nets.checkpoints import Checkpoints, CheckpointWarning
from recombine.lab.runs import Experiment, Result, RunLimits, Store, Unit, run, save_table
from recombine.lab.runs.collect import load_table
from recombine.lab.runs.store import StoreWarning
from recombine.tables.table import Table


def square(unit: Unit) -> Result:
    x = unit.setting["x"]
    return Result([{"square": x**2}], {"powers": np.arange(x, x + 3.0)})


SQUARES = Experiment("squares", square, quick=({"x": 1}, {"x": 2}, {"x": 3}), full=())


def whole(store: Store, unit: Unit) -> bool:
    found = store.read(unit.key)
    assert found is not None
    x = unit.setting["x"]
    return found.rows == [{"square": x**2}] and found.arrays["powers"].tolist() == [x, x + 1, x + 2]


def test_a_write_to_the_store_is_whole_or_not_there(fresh: Callable[[], Path]) -> None:
    one, two, _ = SQUARES.units("quick")

    def prepare() -> Path:
        folder = fresh() / "store"
        Store(folder).write(one, square(one), {"by": "before"})
        return folder

    def check(folder: Path, failed: bool) -> None:
        store = Store(folder)
        assert whole(store, one)
        assert whole_or_absent(store, two)
        assert store.has(two.key) or failed
        store.tidy()
        assert not list((store.folder / ".partial").glob("*"))
        store.write(two, square(two), {})
        assert whole(store, two)

    assert every_fault(prepare, lambda folder: Store(folder).write(two, square(two), {"by": "now"}), check) > 40


def whole_or_absent(store: Store, unit: Unit) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("error", StoreWarning)  # nothing half written may ever have been published
        found = store.read(unit.key)
    return found is None or whole(store, unit)


@pytest.mark.slow
def test_a_sweep_goes_on_after_any_fault(fresh: Callable[[], Path]) -> None:
    def work(folder: Path) -> None:
        sweep = run(SQUARES, store=folder, executor="inline", progress=False, limits=RunLimits(retries=0, seconds=20))
        if sweep.failures:
            raise OSError(sweep.failures[0].error)

    def check(folder: Path, failed: bool) -> None:
        store = Store(folder)
        kept = list(store.finished())
        assert failed or len(kept) == 3
        with warnings.catch_warnings():
            warnings.simplefilter("error", StoreWarning)
            sweep = run(SQUARES, store=store, executor="inline", progress=False, limits=RunLimits(seconds=20))
        assert not sweep.failures
        assert sweep.ran == 3 - len(kept), "what was finished is not run again, and nothing else is missing"
        assert all(whole(store, unit) for unit in SQUARES.units("quick"))
        assert not store.leases.units()
        assert not list((store.folder / ".partial").glob("*"))

    assert every_fault(lambda: fresh() / "store", work, check) > 40


def _checkpoint(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", CheckpointWarning)
        try:
            Checkpoints(path.parent).save("state.npz", {"weights": np.ones(3)}, training=0, step=1)
        except CheckpointWarning as error:
            raise OSError(str(error)) from error


def _ends(path: Path) -> None:
    assert path.read_bytes().rstrip().endswith(b"}")


def _save(path: Path) -> None:
    save_table(Table({"cell": ["a", "b"], "value": [1.0, 2.0]}), path, {})


FILES = {"results": ("a.parquet", _save, load_table), "state": ("progress.json", _checkpoint, _ends)}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FILES)
def test_a_file_is_new_or_as_it_was(kind: str, fresh: Callable[[], Path]) -> None:
    assert faults_of_a_file(fresh, *FILES[kind]) >= 10
