"""Every request to the file system fails in turn: nothing is lost, nothing is half written, the next run goes on."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from injected import every_fault

import recombine as rc
from recombine.cells.array_files import read_arrays, write_arrays
from recombine.lab.nets.checkpoints import Checkpoints, CheckpointWarning
from recombine.lab.runs import Experiment, Result, Store, Unit, run, save_table
from recombine.lab.runs.collect import load_table
from recombine.lab.runs.store import StoreWarning
from recombine.output_files import write_whole
from recombine.report.figure import Figure
from recombine.tables.table import Table


def square(unit: Unit) -> Result:
    x = unit.setting["x"]
    return Result([{"square": x**2}], {"powers": np.arange(x, x + 3.0)})


SQUARES = Experiment("squares", square, quick=({"x": 1}, {"x": 2}, {"x": 3}), full=())


@pytest.fixture
def fresh(tmp_path: Path) -> Callable[[], Path]:
    """Make a new folder at each call."""
    numbers = itertools.count()

    def make() -> Path:
        folder = tmp_path / f"attempt-{next(numbers)}"
        folder.mkdir()
        return folder

    return make


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


def test_a_sweep_goes_on_after_any_fault(fresh: Callable[[], Path]) -> None:
    def work(folder: Path) -> None:
        sweep = run(SQUARES, store=folder, executor="inline", retries=0, progress=False, seconds=20)
        if sweep.failures:
            raise OSError(sweep.failures[0].error)

    def check(folder: Path, failed: bool) -> None:
        store = Store(folder)
        kept = list(store.finished())
        assert failed or len(kept) == 3
        with warnings.catch_warnings():
            warnings.simplefilter("error", StoreWarning)
            sweep = run(SQUARES, store=store, executor="inline", progress=False, seconds=20)
        assert not sweep.failures
        assert sweep.ran == 3 - len(kept), "what was finished is not run again, and nothing else is missing"
        assert all(whole(store, unit) for unit in SQUARES.units("quick"))
        assert not store.leases.units()
        assert not list((store.folder / ".partial").glob("*"))

    assert every_fault(lambda: fresh() / "store", work, check) > 40


class Dot(Figure):
    """A figure with a point in it."""

    name = "dot"
    alternative = "a dot"

    @property
    def table(self) -> Table:
        return Table({"x": [1.0]})

    def _draw(self):
        from matplotlib.figure import Figure as Canvas

        return Canvas(figsize=(1, 1))


def _audit() -> rc.Audit:
    design = rc.Design.from_cells([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0])
    return rc.audit(design)


def _writers() -> dict[str, tuple[str, Callable[[Path], object], Callable[[Path], object]]]:
    """What writes files: their names, how it is called, and a reader that raises unless the new file is whole."""
    from recombine.jobs.split import split_table

    table = Table({"cell": ["a", "b"], "value": [1.0, 2.0]})
    page = str(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]])))
    rows = {"drug": list("aabbcc"), "line": list("xyxyxy")}
    import pandas as pd

    split = split_table(pd.DataFrame(rows), "determined:0.2", factors=["drug", "line"])
    audit = _audit()

    def lines(count: int) -> Callable[[Path], object]:
        def read(path: Path) -> None:
            assert len(path.read_text(encoding="utf-8").splitlines()) == count

        return read

    def ends(end: bytes) -> Callable[[Path], object]:
        def read(path: Path) -> None:
            assert path.read_bytes().rstrip().endswith(end)

        return read

    def arrays(path: Path) -> None:
        assert read_arrays(path, "numbers")["a"].tolist() == [0.0] * 1000

    return {
        "text": ("a.txt", lambda path: write_whole(path, page), ends(page.rstrip().encode()[-20:])),
        "report": ("a.html", lambda path: audit.to_html(path, force=True), ends(b"</html>")),
        "table": ("a.csv", table.to_csv, lines(3)),
        "split": ("a.csv", lambda path: split.to_csv(path, force=True), lines(7)),
        "figure": ("a.svg", lambda path: Dot().save(path), ends(b"</svg>")),
        "arrays": ("a.npz", lambda path: write_arrays(path, a=np.zeros(1000)), arrays),
        "results": ("a.parquet", lambda path: save_table(table, path, {}), load_table),
        "state": ("progress.json", _checkpoint, ends(b"}")),
    }


def _checkpoint(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", CheckpointWarning)
        try:
            Checkpoints(path.parent).save("state.npz", {"weights": np.ones(3)}, training=0, step=1)
        except CheckpointWarning as error:
            raise OSError(str(error)) from error


KINDS_OF_FILES = ["text", "table", "split", "figure", "arrays", "results", "state"]
if os.environ.get("RECOMBINE_FUZZ_CASES"):
    KINDS_OF_FILES.append("report")  # each attempt draws its figures anew


@pytest.mark.parametrize("kind", KINDS_OF_FILES)
def test_a_file_is_new_or_as_it_was(kind: str, fresh: Callable[[], Path]) -> None:
    name, write, read = _writers()[kind]

    def prepare() -> Path:
        path = fresh() / name
        path.write_text("old")
        return path

    def check(path: Path, failed: bool) -> None:
        if path.read_bytes() == b"old":
            assert failed
        else:
            read(path)

    assert every_fault(prepare, write, check) >= 10
