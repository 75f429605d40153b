"""Results: what is written comes back, with its story; half a result is refused."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from recombine.errors import InputError, RecombineError
from recombine.lab.papers.results import (
    Evidence,
    Provenance,
    default_folder,
    join_evidence,
    load_all_evidence,
    load_evidence,
    paths,
    require_joinable,
    same_rows,
    save_evidence,
    unit_rows,
)
from recombine.lab.runs.experiment import Experiment, grid
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


class TestJoining:
    """Old rows and new units together: nothing of the old is changed."""

    GRID = Experiment("demo/margins", len, quick=[], full=grid(loss=["hinge", "squared"], depth=[1, 2]))

    def part(self, places: list[int], **story: object) -> Evidence:
        """Results of some units of the grid, with one row more for each."""
        settings = [self.GRID.settings("full")[place] for place in places]
        values = [float("nan"), 1 / 3, 1e-300, 0.1]
        rows = [
            {"depth": setting["depth"], "loss": setting["loss"], "seed": seed, "margin": values[place] + seed}
            for place, setting in zip(places, settings, strict=True)
            for seed in range(place + 1)
        ]
        about = {"planned": 4, "rows": [place + 1 for place in places], "schema": 1, **story}
        provenance = Provenance(
            "margins", "full", "recombine --device cpu", "named", "cpu", 1.5, settings, {"numpy": "2.4"}
        )
        return Evidence(Table.from_rows(rows), msgspec.structs.replace(provenance, **about))

    def test_rows_come_in_the_order_of_the_grid_and_old_ones_are_the_same_to_the_last_bit(self, tmp_path: Path) -> None:
        save_evidence(tmp_path, "demo", self.part([1, 3]))
        old = load_evidence(tmp_path, "demo", "margins")
        assert old is not None
        new = self.part([0, 2], device="cuda (NVIDIA H200)", seconds=2.0, versions={"numpy": "2.5", "torch": "2.11"})
        new = Evidence(new.table, msgspec.structs.replace(new.provenance, command="recombine --device cuda"))
        both = join_evidence(old, new, self.GRID)
        save_evidence(tmp_path, "demo", both)
        back = load_evidence(tmp_path, "demo", "margins")
        assert back is not None
        assert same_rows(list(back.table.rows()), list(self.part([0, 1, 2, 3]).table.rows()))
        was, now = unit_rows(old, self.GRID), unit_rows(back, self.GRID)
        for key in was:
            for name in old.table.columns:
                before, after = ([row[name] for row in found[key]] for found in (was, now))
                assert np.array(before).tobytes() == np.array(after).tobytes()
                assert back.table[name].dtype == old.table[name].dtype
        story = back.provenance
        assert story.settings == self.GRID.settings("full")
        assert (story.planned, story.rows, story.schema) == (0, [1, 2, 3, 4], 1)
        assert (story.device, story.seconds) == ("cpu, cuda (NVIDIA H200)", 3.5)
        assert story.versions == {"numpy": "2.4, 2.5", "torch": "2.11"}
        assert story.command == "recombine --device cuda"

    def test_coverage_counts_units(self) -> None:
        assert join_evidence(self.part([1]), self.part([0]), self.GRID).extent == "2 of 4 runs of our full grid"

    def test_a_number_that_is_missing_on_one_side_stays_a_number(self) -> None:
        first, second = self.part([0]), self.part([1])
        bare = Evidence(Table.from_rows([{**row, "margin": None} for row in second.table.rows()]), second.provenance)
        both = join_evidence(Evidence(first.table, first.provenance), bare, self.GRID)
        assert both.table["margin"].dtype == float

    def test_the_same_rows_again_are_fine_and_others_are_refused_by_name(self) -> None:
        old = self.part([1, 3])
        require_joinable(old, self.GRID, unit_rows(self.part([0, 1]), self.GRID))
        other = {key: [{**row, "margin": 9.0} for row in rows] for key, rows in unit_rows(old, self.GRID).items()}
        with pytest.raises(InputError, match=r"result of margins has other rows of \{'loss': 'hinge', 'depth': 2\}"):
            require_joinable(old, self.GRID, other)

    def test_another_schema_and_units_without_a_place_are_refused(self) -> None:
        with pytest.raises(InputError, match="is of schema 2 and the experiment of 1"):
            require_joinable(self.part([1], schema=2), self.GRID, {})
        strange = Evidence(self.part([1]).table, story("full"))
        with pytest.raises(InputError, match="1 unit that the grid does not have"):
            require_joinable(strange, self.GRID, {})

    def test_rows_that_belong_to_nobody_are_not_guessed(self) -> None:
        uncounted = self.part([1, 3], rows=[])
        with pytest.raises(InputError, match="does not say which of its 6 rows belong to which of its 2 units"):
            join_evidence(uncounted, self.part([0]), self.GRID)

    def test_two_files_of_different_runs_are_told(self, tmp_path: Path) -> None:
        save_evidence(tmp_path, "demo", self.part([1, 3]))
        rows, _ = paths(tmp_path, "demo", "margins", "full")
        kept = rows.read_bytes()
        save_evidence(tmp_path, "demo", self.part([1]))
        rows.write_bytes(kept)
        with pytest.raises(RecombineError, match="tells of 2 rows and the table beside it has 6"):
            load_evidence(tmp_path, "demo", "margins")

    def test_units_with_other_columns_are_refused(self) -> None:
        new = self.part([0])
        table = Table({name: new.table[name] for name in new.table.columns[:-1]})
        with pytest.raises(InputError, match="rows of margins have the columns"):
            join_evidence(self.part([1]), Evidence(table, new.provenance), self.GRID)
