"""Results: what is written comes back, with its story; half a result is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from recombine.errors import InputError, RecombineError
from recombine.papers.results import (
    Evidence,
    Provenance,
    default_folder,
    load_all_evidence,
    load_evidence,
    paths,
    save_evidence,
)
from recombine.tables.table import Table


def story(scale: str = "quick") -> Provenance:
    settings = [{"seeds": [1, 2], "loss": "hinge"}]
    return Provenance("margins", scale, "recombine reproduce demo", "named", "cpu", 1.5, settings, {"numpy": "2.4"})


ROWS = [
    {"loss": "hinge", "seed": 1, "margin": -0.25, "solved": False},
    {"loss": "squared", "seed": 2, "margin": float("nan"), "solved": True},
]


def test_a_result_comes_back_as_it_was(tmp_path: Path) -> None:
    save_evidence(tmp_path, "demo", Evidence(Table.from_rows(ROWS), story()))
    found = load_evidence(tmp_path, "demo", "margins")
    assert found is not None
    assert found.provenance == story()
    assert found.table.columns == list(ROWS[0])
    for name in ("loss", "seed", "solved"):
        assert found.table[name].tolist() == [row[name] for row in ROWS]
    np.testing.assert_array_equal(found.table["margin"], [-0.25, np.nan])


def test_the_larger_scale_is_preferred(tmp_path: Path) -> None:
    assert load_evidence(tmp_path, "demo", "margins") is None
    for scale in ("quick", "full"):
        save_evidence(tmp_path, "demo", Evidence(Table.from_rows(ROWS), story(scale)))
    best = load_evidence(tmp_path, "demo", "margins")
    quick = load_evidence(tmp_path, "demo", "margins", ("quick",))
    assert best is not None
    assert quick is not None
    assert (best.scale, quick.scale) == ("full", "quick")
    assert list(load_all_evidence(tmp_path, "demo", ["margins", "slopes"], ("quick",))) == ["margins"]


@pytest.mark.parametrize("place", [0, 1])
def test_half_a_result_is_refused(tmp_path: Path, place: int) -> None:
    save_evidence(tmp_path, "demo", Evidence(Table.from_rows(ROWS), story()))
    paths(tmp_path, "demo", "margins", "quick")[place].unlink()
    with pytest.raises(RecombineError, match="is missing"):
        load_evidence(tmp_path, "demo", "margins")


@pytest.mark.parametrize("place", [0, 1])
def test_a_damaged_file_is_named(tmp_path: Path, place: int) -> None:
    save_evidence(tmp_path, "demo", Evidence(Table.from_rows(ROWS), story()))
    damaged = paths(tmp_path, "demo", "margins", "quick")[place]
    damaged.write_bytes(b"nothing of use")
    with pytest.raises(RecombineError, match=damaged.name):
        load_evidence(tmp_path, "demo", "margins")


def test_rows_must_agree_on_their_keys() -> None:
    with pytest.raises(InputError, match="same keys"):
        Table.from_rows([{"a": 1}, {"b": 2}])
    assert len(Table.from_rows([])) == 0


def test_only_reads_spaces_and_names_what_is_missing() -> None:
    table = Table({"train loss": [0.1, 0.1, 0.2], "seed": [0, 1, 0]})
    assert len(table.only(train_loss=0.1, seed=0)) == 1
    with pytest.raises(InputError, match="'sigma' is not a column"):
        table.only(sigma=1)


def test_results_here_come_before_those_of_the_source_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    assert default_folder().resolve() == tmp_path / "results"
