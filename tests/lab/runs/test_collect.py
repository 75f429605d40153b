"""One table out of many runs: what it holds, and Parquet that gives it back."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import tarfile
from contextlib import AbstractContextManager
from pathlib import Path

import duckdb
import numpy as np
import pytest
from sample_units import experiment

from recombine.errors import InputError
from recombine.lab.runs.collect import collect, load_table, merge_stores, opened_store, save_table
from recombine.lab.runs.experiment import Experiment, Unit, grid
from recombine.lab.runs.leases import Lease, heartbeat
from recombine.lab.runs.store import Store
from recombine.lab.runs.sweep import run
from recombine.tables.table import Table


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "s")


def sample_table(store: Store) -> tuple[Experiment, Table]:
    def rows(unit: Unit) -> list[dict[str, object]]:
        x = unit.setting["x"]
        row = {"loss": [math.inf, math.nan, 0.5][x], "flag": x == 1, "steps": x, "label": ["é'\"", "", "c"][x]}
        return [row, {"loss": 1, "only": 2, "parts": [1, 2]}] if x == 2 else [row]

    experiment = Experiment("sample", rows, quick=grid(x=range(3), widths=[[20, 20]]), full=[])
    assert run(experiment, "quick", store, "inline", progress=False).complete
    return experiment, collect(store, experiment)


def test_the_table_has_the_settings_and_says_what_is_missing(store: Store) -> None:
    _, table = sample_table(store)
    assert table.columns == ["key", "x", "widths", "loss", "flag", "steps", "label", "only", "parts"]
    assert table["x"].tolist() == [0, 1, 2, 2]
    assert table["widths"].tolist() == ["[20, 20]"] * 4
    np.testing.assert_array_equal(table["loss"], [np.inf, np.nan, 0.5, 1.0])
    np.testing.assert_array_equal(table["only"], [np.nan, np.nan, np.nan, 2])
    assert table["flag"].tolist() == [False, True, False, None]
    assert table["parts"].tolist() == [None, None, None, "[1, 2]"]


def test_parquet_gives_the_table_back_with_its_record(store: Store, tmp_path: Path) -> None:
    _, table = sample_table(store)
    path = tmp_path / "tables" / "it's.parquet"
    record = {"scale": "quick", "command": "it's this one"}
    save_table(table, path, record)
    back = load_table(path)
    assert back.columns == table.columns
    for name in table.columns:
        np.testing.assert_array_equal(back[name], table[name], err_msg=name)
    kept = duckdb.execute("SELECT decode(key), decode(value) FROM parquet_kv_metadata(?)", [str(path)]).fetchall()
    assert json.loads(dict(kept)["recombine"]) == record


def test_parquet_needs_neither_pandas_nor_pyarrow(store: Store, tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name.partition('.')[0] in ('pandas', 'pyarrow', 'polars'): raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "from recombine.lab.runs.collect import *; path = sys.argv[1]\n"
        "save_table(Table({'a': [1.5, 2.5], 'b': ['x', 'y']}), path, {}); print(load_table(path)['b'].tolist())"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "t.parquet")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "['x', 'y']"


def test_a_table_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no table at"):
        load_table(tmp_path / "t.parquet")


class TestMerging:
    """One store out of two, whatever state the other is in."""

    def halves(self, tmp_path: Path) -> tuple[Experiment, Store, Store, Store]:
        """An experiment run in one store, and again in two of which each has units that the other lacks."""
        whole = experiment(6)
        parts = [whole.limited("quick", whole.units("quick")[place]) for place in (slice(0, 4), slice(3, 6))]
        one, here, there = (Store(tmp_path / name) for name in ("one", "here", "there"))
        for part, store in ((whole, one), (parts[0], here), (parts[1], there)):
            assert run(part, "quick", store, "inline", progress=False).complete
        return whole, one, here, there

    def test_two_stores_are_as_one_that_ran_everything(self, tmp_path: Path) -> None:
        whole, one, here, there = self.halves(tmp_path)
        before = contents(there)
        merged = merge_stores(there, here)
        assert (len(merged.copied), len(merged.present), merged.damaged) == (2, 1, {})
        assert contents(there) == before, "the other store is only read"
        assert list(here.finished()) == list(one.finished())
        for name, values in ((name, collect(one, whole)[name]) for name in collect(one, whole).columns):
            np.testing.assert_array_equal(collect(here, whole)[name], values)
        unit = whole.units("quick")[5]
        run_here, run_one = here.read(unit.key), one.read(unit.key)
        assert run_here is not None
        assert run_one is not None
        np.testing.assert_array_equal(run_here.arrays["draws"], run_one.arrays["draws"])
        assert not list((here.folder / ".partial").iterdir())
        assert not here.leases.units()

    def test_a_store_that_is_not_there_yet_takes_everything(self, tmp_path: Path) -> None:
        whole, one, *_ = self.halves(tmp_path)
        fresh = Store(tmp_path / "far" / "away")
        assert len(merge_stores(one, fresh).copied) == 6
        assert contents(fresh) == contents(one)
        assert fresh.lacking(whole.units("quick")) == []

    @pytest.mark.parametrize("name", ["spec.json", "result.json", "arrays.npz"])
    def test_a_damaged_run_stays_there_and_is_named(self, tmp_path: Path, name: str) -> None:
        whole, _, here, there = self.halves(tmp_path)
        key = whole.units("quick")[5].key
        path = there.path(key) / name
        path.write_bytes(path.read_bytes()[:-20])
        merged = merge_stores(there, here)
        assert list(merged.damaged) == [key]
        assert name in merged.damaged[key]
        assert len(merged.copied) == 1
        assert not here.has(key)
        assert there.has(key), "it is not ours to move"

    def test_what_stands_here_stays(self, tmp_path: Path) -> None:
        whole, _, here, there = self.halves(tmp_path)
        unit = whole.units("quick")[3]
        shutil.rmtree(there.path(unit.key))
        assert there.write(unit, [{"half": "a", "value": 7.0, "loss": 0.0}], {})
        before = contents(here)
        merged = merge_stores(there, here)
        assert [found.key for found in merged.differing] == [unit.key]
        assert before.items() <= contents(here).items()

    def test_a_merge_that_was_stopped_is_completed_by_the_next(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        _, one, here, there = self.halves(tmp_path)
        copy, copied = shutil.copyfile, []

        def breaks(source: Path, target: Path) -> Path:
            copied.append(source)
            if len(copied) == 5:
                raise OSError("the disk is full")
            return Path(copy(source, target))

        monkeypatch.setattr(shutil, "copyfile", breaks)
        with pytest.raises(OSError, match="disk is full"):
            merge_stores(there, here)
        assert len(list(here.finished())) == 5
        assert all(here.read(key) for key in here.finished())
        monkeypatch.undo()
        assert len(merge_stores(there, here).copied) == 1
        assert list(here.finished()) == list(one.finished())
        assert not list((here.folder / ".partial").iterdir())

    def test_a_unit_at_work_here_is_left_alone(self, tmp_path: Path) -> None:
        whole, _, here, there = self.halves(tmp_path)
        key = whole.units("quick")[5].key
        lease = here.leases.take(key, "somebody")
        assert lease is not None
        assert [found.key for found in merge_stores(there, here).busy] == [key]
        here.leases.release(lease)
        assert [found.key for found in merge_stores(there, here).copied] == [key]

    def test_unfinished_units_go_on_from_the_further_of_two_states(self, tmp_path: Path) -> None:
        whole, _, here, there = self.halves(tmp_path)
        keys = {name: character * 32 for name, character in (("new", "a"), ("less", "b"), ("more", "c"), ("bad", "d"))}
        for name, key in keys.items():
            state(there, key, training=1, step=30)
            if name in ("less", "more"):
                state(here, key, training=1, step=40 if name == "less" else 20)
        state(there, whole.units("quick")[0].key, training=0, step=9)
        (there.folder / "checkpoints" / keys["bad"] / "0000-0000.npz").write_bytes(b"half")
        merged = merge_stores(there, here)
        assert merged.begun == [keys["new"], keys["more"]]
        assert list(merged.damaged) == [keys["bad"]]
        told = {key: (here.folder / "checkpoints" / key / "progress.json") for key in keys.values()}
        assert [json.loads(told[keys[name]].read_text())["step"] for name in ("new", "less", "more")] == [30, 40, 30]
        assert not told[keys["bad"]].exists()
        assert not list((here.folder / ".partial").iterdir())

    def test_a_packed_store_is_a_store(self, tmp_path: Path) -> None:
        _, one, here, there = self.halves(tmp_path)
        path = tmp_path / "home.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            archive.add(there.folder / "runs", "runs")
            archive.add(__file__, "../outside.py")
        with opened_store(path) as store:
            assert len(merge_stores(store, here).copied) == 2
        assert list(here.finished()) == list(one.finished())
        assert not (tmp_path / "outside.py").exists()
        path.write_bytes(path.read_bytes()[:-200])
        with pytest.raises(InputError, match=r"home.tar.gz is not a whole packed store"), opened_store(path):
            pass

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
    def test_a_pipe_is_refused_and_not_waited_for(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe.tar")
        for path in (tmp_path / "pipe.tar", Path(os.devnull)):
            with pytest.raises(InputError, match="is a pipe or device, not a file"), opened_store(path):
                pass

    def test_the_lease_of_what_is_copied_is_kept_alive(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        _, _, here, there = self.halves(tmp_path)
        pauses: list[float] = []
        plain = heartbeat

        def counted(lease: Lease, every: float) -> AbstractContextManager[None]:
            pauses.append(every)
            return plain(lease, every)

        monkeypatch.setattr(sys.modules[merge_stores.__module__], "heartbeat", counted)
        merge_stores(there, here)
        assert pauses
        assert max(pauses) <= here.stale_after / 4, "some beats may be late before others take the unit for abandoned"

    def test_what_is_no_store_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="there is no store at"), opened_store(tmp_path / "nowhere"):
            pass
        with pytest.raises(InputError, match="is no store: it has no folder 'runs'; name the"), opened_store(tmp_path):
            pass
        (tmp_path / "s" / "runs").mkdir(parents=True)
        with pytest.raises(InputError, match=f"did you mean {tmp_path / 's'}"), opened_store(tmp_path):
            pass
        with tarfile.open(tmp_path / "other.tar", "w") as archive:
            archive.add(__file__, "test.py")
        with pytest.raises(InputError, match="holds no runs"), opened_store(tmp_path / "other.tar"):
            pass
        with pytest.raises(InputError, match="not a whole packed store"), opened_store(Path(__file__)):
            pass

    def test_of_several_stores_the_first_by_name_is_proposed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = [tmp_path / name / "runs" for name in "bac"]  # systems list folders in an order of their own
        monkeypatch.setattr(Path, "glob", lambda *_: iter(found))
        with pytest.raises(InputError, match=f"did you mean {tmp_path / 'a'}"), opened_store(tmp_path):
            pass


def contents(store: Store) -> dict[Path, bytes]:
    files = (path for path in (store.folder / "runs").rglob("*") if path.is_file())
    return {path.relative_to(store.folder): path.read_bytes() for path in files}


def state(store: Store, key: str, training: int, step: int) -> None:
    """Write what a training leaves that was stopped."""
    folder = store.folder / "checkpoints" / key
    folder.mkdir(parents=True)
    np.savez(folder / "0000-0000.npz", weights=np.full(3, step))
    (folder / "progress.json").write_text(json.dumps({"training": training, "step": step}))
