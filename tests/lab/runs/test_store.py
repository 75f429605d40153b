"""The store: complete folders or none, and nothing corrupt is ever read as a result."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.lab.runs.collect import collect
from recombine.lab.runs.experiment import Experiment, Result, Unit, grid
from recombine.lab.runs.provenance import driver_record, worker_record
from recombine.lab.runs.store import CorruptRunError, Store, StoreWarning, open_synced
from recombine.lab.runs.sweep import run

UNIT = Unit("sample", 1, {"x": 1})
ROWS = [{"loss": 0.25, "name": "é", "steps": 3}]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "s")


def written(store: Store) -> Path:
    assert store.write(UNIT, Result(ROWS, {"w": np.arange(6.0).reshape(2, 3)}), {"host": "here"})
    return store.path(UNIT.key)


def test_a_run_reads_back_as_written(store: Store) -> None:
    folder = written(store)
    back = store.read(UNIT.key)
    assert back is not None
    assert (back.rows, back.spec, back.record) == (ROWS, UNIT.spec, {"host": "here"})
    np.testing.assert_array_equal(back.arrays["w"], [[0, 1, 2], [3, 4, 5]])
    assert folder.relative_to(store.folder).parts == ("runs", UNIT.key[:2], UNIT.key)
    assert not list((store.folder / ".partial").iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be synced there")
def test_files_and_the_folders_they_stand_in_are_on_the_disk(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_ino))
    folder = written(store)
    for path in (*folder.iterdir(), folder, folder.parent, folder.parent.parent):
        assert path.stat().st_ino in synced, path.name
    # The name of a folder is in the one around it: what is inside has to be there before.
    order = [synced.index(path.stat().st_ino) for path in (folder / "result.json", folder, folder.parent)]
    assert order == sorted(order)


@given(
    st.lists(
        st.dictionaries(
            st.text(min_size=1, max_size=5), st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats()
        ),
        max_size=3,
    )
)
def test_any_plain_rows_survive(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, object]]) -> None:
    store = Store(tmp_path_factory.mktemp("s"))
    store.write(UNIT, rows, {})
    back = store.read(UNIT.key)
    assert back is not None
    assert repr(back.rows) == repr(rows)  # equal, with NaN equal to itself and -0.0 unlike 0.0


def test_the_first_result_wins(store: Store) -> None:
    written(store)
    assert store.write(UNIT, [{"loss": 9.0}], {}) is False
    back = store.read(UNIT.key)
    assert back is not None
    assert back.rows == ROWS
    assert not list((store.folder / ".partial").iterdir())


def edit(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes()))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (edit("result.json", lambda text: text[: len(text) // 2]), "result.json cannot be read"),
        (edit("result.json", lambda text: b""), "result.json cannot be read"),
        (edit("result.json", lambda text: b"[]"), "not a dictionary"),
        (edit("result.json", lambda text: b"{}"), "lacks"),
        (edit("result.json", lambda text: text.replace(b"0.25", b"0.26")), "do not match their digest"),
        (edit("spec.json", lambda text: text.replace(b'"x": 1', b'"x": 2')), "does not belong to this key"),
        (edit("spec.json", lambda text: b"\xff"), "spec.json cannot be read"),
        (edit("arrays.npz", lambda data: data[:-30]), "arrays.npz is damaged"),
        (edit("arrays.npz", lambda data: data[:60] + b"\0\0" + data[62:]), "arrays.npz is damaged"),
        (lambda folder: (folder / "arrays.npz").unlink(), "arrays.npz is damaged"),
        (lambda folder: (folder / "spec.json").unlink(), "spec.json cannot be read"),
    ],
)
def test_a_corrupt_run_is_set_aside_and_runs_again(store: Store, damage: Callable[[Path], object], words: str) -> None:
    damage(written(store))
    with pytest.warns(StoreWarning, match=words):
        assert store.read(UNIT.key) is None
    (aside,) = (store.folder / "quarantine").iterdir()
    assert words in (aside / "reason.txt").read_text(encoding="utf-8")
    assert not store.has(UNIT.key)
    written(store)
    assert store.read(UNIT.key) is not None


def test_a_sweep_runs_a_corrupt_unit_again(store: Store) -> None:
    experiment = Experiment("sample", lambda unit: ROWS, quick=grid(x=[1, 2]), full=[])
    run(experiment, "quick", store, "inline", progress=False)
    edit("result.json", lambda text: text[:-5])(store.path(experiment.units("quick")[0].key))
    with pytest.warns(StoreWarning, match="will run again"):
        again = run(experiment, "quick", store, "inline", progress=False)
    assert (again.ran, again.found) == (1, 1)


def test_tidying_removes_what_the_dead_left_and_nothing_else(store: Store) -> None:
    written(store)
    code = (
        "import os; from recombine.lab.runs.store import *; store = Store(os.sys.argv[1])\n"
        "lease = store.leases.take('cd' * 16, 'd1'); store.leases.take(os.sys.argv[2], 'd1')\n"
        "(store.folder / '.partial' / f\"{'cd' * 16}.{lease.token}\").mkdir(parents=True)"
    )
    subprocess.run([sys.executable, "-c", code, str(store.folder), UNIT.key], check=True)
    mine = store.leases.take("ef" * 16, "d1")
    assert mine is not None
    living = store.folder / ".partial" / f"{'ef' * 16}.{mine.token}"
    living.mkdir(parents=True)
    store.tidy()
    assert list((store.folder / ".partial").iterdir()) == [living]
    assert store.leases.units() == {"cd" * 16, "ef" * 16}
    assert store.has(UNIT.key)


@pytest.mark.parametrize("rows", [{"loss": 1}, "rows", [1, 2], [{"x": {1, 2}}], [{1: 2}], 3])
def test_what_is_not_rows_is_refused_and_leaves_nothing(store: Store, rows: object) -> None:
    with pytest.raises(InputError):
        store.write(UNIT, rows, {})  # type: ignore[arg-type]
    assert not store.has(UNIT.key)
    assert not list((store.folder / ".partial").iterdir())


def test_an_array_of_objects_is_refused(store: Store) -> None:
    with pytest.raises(InputError, match="'w' holds Python objects"):
        store.write(UNIT, Result(ROWS, {"w": np.array([{}, None])}), {})


def test_stores_merge_by_copying(tmp_path: Path) -> None:
    experiment = Experiment("sample", lambda unit: [{"y": unit.setting["x"]}], quick=grid(x=range(4)), full=[])
    half = Experiment("sample", experiment.function, quick=grid(x=range(2)), full=[])
    rest = Experiment("sample", experiment.function, quick=grid(x=[2, 3]), full=[])
    for part, name in ((half, "a"), (rest, "b")):
        run(part, "quick", tmp_path / name, "inline", progress=False)
    shutil.copytree(tmp_path / "b" / "runs", tmp_path / "a" / "runs", dirs_exist_ok=True)
    assert collect(Store(tmp_path / "a"), experiment)["y"].tolist() == [0, 1, 2, 3]


def test_every_result_says_where_it_comes_from(store: Store) -> None:
    experiment = Experiment("sample", lambda unit: ROWS, quick=grid(x=[1]), full=[])
    run(experiment, "quick", store, "inline", progress=False)
    unit = experiment.units("quick")[0]
    document = json.loads((store.path(unit.key) / "result.json").read_text(encoding="utf-8"))
    expected = {*driver_record(), *worker_record("cpu"), "driver", "setting", "seeds", "finished", "wall_seconds"}
    assert set(document["record"]) == expected
    assert document["record"]["seeds"] == list(unit.seeds)


def test_one_flipped_byte_anywhere_is_set_aside_or_harmless(store: Store) -> None:
    """A byte that no reader looks at (a time in the archive, say) may change; nothing that is read may."""
    written(store)
    folder = store.path(UNIT.key)
    whole = {path.name: path.read_bytes() for path in folder.iterdir()}
    known = store.checked(UNIT.key)
    arrays = {name: values.tolist() for name, values in known.arrays.items()}
    for name, content in whole.items():
        for place in range(0, len(content), 3):
            (folder / name).write_bytes(content[:place] + bytes([content[place] ^ 0x11]) + content[place + 1 :])
            try:
                found = store.checked(UNIT.key)
            except CorruptRunError:
                continue
            assert repr((found.rows, found.record, found.spec)) == repr((known.rows, known.record, known.spec))
            assert {name: values.tolist() for name, values in found.arrays.items()} == arrays
        (folder / name).write_bytes(content)
    assert store.read(UNIT.key) is not None


def test_whole_arrays_of_another_run_are_noticed(store: Store) -> None:
    written(store)
    path = store.path(UNIT.key) / "arrays.npz"
    with np.load(path) as file:
        other = {name: file[name] + 1 for name in file.files}
    np.savez_compressed(path, **other)
    with pytest.raises(CorruptRunError, match="does not match its digest"):
        store.checked(UNIT.key)
    for names in ("w", "v"), ("v",), ():  # one too many, another one, and none
        np.savez_compressed(path, **{name: np.arange(6.0).reshape(2, 3) for name in names})
        with pytest.raises(CorruptRunError, match=re.escape(f"arrays.npz holds {sorted(names)}, not ['w']")):
            store.checked(UNIT.key)


def test_results_of_older_stores_are_read(store: Store) -> None:
    """They have a digest of the rows alone and the names of arrays."""
    written(store)
    path = store.path(UNIT.key) / "result.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    digest = hashlib.blake2b(json.dumps(document["rows"], sort_keys=True).encode(), digest_size=16).hexdigest()
    path.write_text(json.dumps({**document, "arrays": sorted(document["arrays"]), "digest": digest}), encoding="utf-8")
    assert store.checked(UNIT.key).rows == document["rows"]


def test_a_file_in_the_place_of_a_run_is_set_aside(store: Store) -> None:
    path = store.path(UNIT.key)
    path.parent.mkdir(parents=True)
    path.write_text("not a folder")
    with pytest.warns(StoreWarning, match="a file is where its folder should be"):
        written(store)
    assert store.read(UNIT.key) is not None


@pytest.mark.parametrize("text", ["{}", '{"rows": 3}', '{"rows": [], "record": {}, "arrays": [], "digests": 7}'])
def test_whatever_stands_in_a_result_that_is_none_it_is_corrupt(store: Store, text: str) -> None:
    (written(store) / "result.json").write_text(text)
    with pytest.raises(CorruptRunError):
        store.checked(UNIT.key)
    with pytest.warns(StoreWarning, match="is corrupt"):
        assert store.read(UNIT.key) is None
    assert not store.path(UNIT.key).exists()


def test_a_synced_file_is_a_new_one(tmp_path: Path) -> None:
    with open_synced(tmp_path / "part") as file:
        file.write(b"1 2 3")
    assert (tmp_path / "part").read_bytes() == b"1 2 3"
    with pytest.raises(FileExistsError), open_synced(tmp_path / "part"):
        pass
