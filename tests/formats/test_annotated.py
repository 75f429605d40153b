"""AnnData files, written here as their format is documented: columns of .obs are factors, a gene is the outcome."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from scipy import sparse

from recombine.errors import InputError
from recombine.formats import annotated
from recombine.table_spec import TableSpec
from recombine.tables.frames import open_table

Run = Callable[..., tuple[int, str, str]]
GENES = ["TP53", "MYC", "a:b"]
COLUMNS = ["cell_type", "drug", "age", "dose", "flag", "batch"]
TEXTS = h5py.string_dtype()


def categorical(group: Any, name: str, codes: list[int], categories: list[str]) -> None:
    column = group.create_group(name)
    column.attrs["encoding-type"] = "categorical"
    column.create_dataset("codes", data=np.array(codes, dtype=np.int8))
    column.create_dataset("categories", data=categories, dtype=TEXTS)


def matrix(file: Any, name: str, values: np.ndarray, form: str) -> None:
    if form == "dense":
        file.create_dataset(name, data=values, chunks=(5, 2), compression="gzip")
        return
    packed = (sparse.csr_matrix if form == "csr" else sparse.csc_matrix)(values)
    group = file.create_group(name)
    group.attrs["encoding-type"] = f"{form}_matrix"
    group.attrs["shape"] = values.shape
    for part in ("data", "indices", "indptr"):
        group.create_dataset(part, data=getattr(packed, part))


def expression() -> np.ndarray:
    values = np.random.default_rng(0).poisson(0.7, size=(36, 3)).astype(np.float32)
    values[:, 0] += np.arange(36) / 10
    values[0, 1] = 0
    return values


def h5ad(path: Path, form: str = "csr") -> Path:
    with h5py.File(path, "w") as file:
        file.attrs["encoding-type"] = "anndata"
        obs = file.create_group("obs")
        obs.attrs["_index"], obs.attrs["column-order"] = (
            "barcode",
            ["cell_type", "drug", "age", "dose", "flag", "batch"],
        )
        obs.create_dataset("barcode", data=[f"AAAC-{row}" for row in range(36)], dtype=TEXTS)
        categorical(obs, "cell_type", [row % 3 for row in range(36)], ["B", "T", "NK"])
        categorical(obs, "drug", [row // 9 if row else -1 for row in range(36)], ["none", "x", "y", "z"])
        obs.create_dataset("age", data=np.arange(36, dtype=np.float32) / 10)
        dose = obs.create_group("dose")
        dose.attrs["encoding-type"] = "nullable-integer"
        dose.create_dataset("values", data=np.arange(36) % 4)
        dose.create_dataset("mask", data=np.arange(36) == 5)
        obs.create_dataset("flag", data=np.arange(36) % 2 == 0)
        obs.create_dataset("batch", data=[f"b{row % 2}" for row in range(36)], dtype=TEXTS)
        var = file.create_group("var")
        var.attrs["_index"], var.attrs["column-order"] = "gene", []
        var.create_dataset("gene", data=GENES, dtype=TEXTS)
        matrix(file, "X", expression(), form)
        matrix(file.create_group("layers"), "counts", expression() * 2, form)
    return path


@pytest.mark.parametrize("form", ["dense", "csr", "csc"])
@pytest.mark.parametrize(
    ("outcome", "place", "times"), [("TP53", 0, 1), ("MYC", 1, 1), ("a:b", 2, 1), ("counts:MYC", 1, 2)]
)
def test_a_gene_is_an_outcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, outcome: str, place: int, times: int
) -> None:
    monkeypatch.setattr(annotated, "MAX_ENTRIES_PER_PIECE", 7)  # pieces end within rows
    monkeypatch.setattr(annotated, "MAX_ROWS_PER_PIECE", 5)
    source = open_table(h5ad(tmp_path / "t.h5ad", form), TableSpec(outcome=outcome))
    assert source.columns == (*COLUMNS, outcome)
    values = np.array(source.read([outcome])[outcome], dtype=float)
    assert np.allclose(values, expression()[:, place] * times)


def test_columns_are_what_they_were(tmp_path: Path) -> None:
    source = open_table(h5ad(tmp_path / "t.h5ad"))
    columns = source.read(source.columns)
    assert columns["cell_type"].tolist()[:4] == ["B", "T", "NK", "B"]
    assert columns["drug"].tolist()[:2] == [None, "none"]
    assert columns["age"].tolist()[:3] == ["0", "0.1", "0.2"]
    assert columns["dose"].tolist()[4:7] == ["0", None, "2"]
    assert columns["flag"].tolist()[:2] == ["TRUE", "FALSE"]


def test_a_column_wins_over_a_gene_and_a_wrong_name_is_told(tmp_path: Path, run: Run) -> None:
    path = h5ad(tmp_path / "t.h5ad")
    with h5py.File(path, "r+") as file:
        file["var"]["gene"][1] = "age"
    assert open_table(path, TableSpec(outcome="age")).columns.count("age") == 1
    words = ["--factors", "cell_type,drug"]
    assert run("audit", path, *words, "--outcome", "TP53")[0] == 0
    code, out, err = run("audit", path, *words, "--outcome", "TP54")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "outcome 'TP54' is no" in err


def test_what_no_file_should_hold_is_told(tmp_path: Path) -> None:
    path = h5ad(tmp_path / "t.h5ad")
    with h5py.File(path, "r+") as file:
        file["var"]["gene"][1] = "TP53"
    with pytest.raises(InputError, match="more than one gene named 'TP53'"):
        open_table(path, TableSpec(outcome="TP53"))
    with h5py.File(path, "r+") as file:
        del file["obs"]["batch"]
        file["obs"]["batch"] = h5py.ExternalLink("other.h5", "/batch")
    h5py.File(tmp_path / "other.h5", "w").create_dataset("batch", data=np.arange(36))
    with pytest.raises(InputError, match=r"t\.h5ad takes batch from another file"):
        open_table(path)
    with h5py.File(path, "r+") as file:
        del file["obs"]["batch"]
        file["obs"].create_dataset("batch", shape=(10**12,), dtype="i8", chunks=(1000,))
    with pytest.raises(InputError, match="holds batch in pieces beyond all measure"):
        open_table(path)
    for size in (10, 2000, path.stat().st_size // 2):
        damaged = tmp_path / f"{size}.h5ad"
        damaged.write_bytes(path.read_bytes()[:size])
        with pytest.raises(InputError) as caught:
            open_table(damaged)
        assert "\n" not in str(caught.value)
    h5py.File(tmp_path / "plain.h5ad", "w").create_dataset("x", data=[1])
    with pytest.raises(InputError, match="cannot be read as AnnData"):
        open_table(tmp_path / "plain.h5ad")


@pytest.mark.slow
def test_a_matrix_is_never_in_memory(tmp_path: Path) -> None:
    """A dense X of 4 GB, most of it never written: one column of it fits in a gigabyte."""
    path = h5ad(tmp_path / "t.h5ad")
    with h5py.File(path, "r+") as file:
        del file["X"], file["var"]["gene"]
        file["var"].create_dataset("gene", data=[f"g{place}" for place in range(30_000)], dtype=TEXTS)
        file.create_dataset("X", shape=(36, 30_000_000), dtype="f4", chunks=(1, 10_000), compression="gzip")
    code = f"""
import resource
resource.setrlimit(resource.RLIMIT_DATA, (10**9, 10**9))
from recombine.table_spec import TableSpec
from recombine.tables.frames import open_table
print(open_table({str(path)!r}, TableSpec(outcome="g29")).read(["g29"])["g29"].tolist()[:2])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "['0', '0']\n", done.stderr
