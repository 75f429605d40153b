"""What is owed, brought home and saved: units of another store, beside results that stay as they are."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from recombine.cli.commands import app
from recombine.errors import InputError
from recombine.lab.papers import find
from recombine.lab.papers.reproduce import Order, owed_experiments, reproduce
from recombine.lab.papers.results import load_evidence, paths, save_evidence
from recombine.lab.runs.executors import make_executor
from recombine.lab.runs.experiment import Unit
from recombine.lab.runs.store import Store

PAPER = find("kernel-theory")
GRID = PAPER.by_name["by-depth"]
UNITS = GRID.units("quick")


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["reproduce", "kernel-theory", "--executor", "inline", *map(str, words)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with every unit of one experiment."""
    folder = tmp_path_factory.mktemp("finished")
    reproduce(Order(PAPER, only=["12"]), Store(folder), make_executor("inline"))
    return folder


def some(finished: Path, target: Path, *places: int) -> Path:
    """Copy a store with some of its units."""
    for place in places:
        shutil.copytree(Store(finished).path(UNITS[place].key), Store(target).path(UNITS[place].key))
    return target


@pytest.fixture
def saved(finished: Path, tmp_path: Path) -> Path:
    """A results folder with the second and the fourth unit."""
    store = Store(some(finished, tmp_path / "early", 1, 3))
    state = reproduce(Order(PAPER, only=["12"], minutes=0), store, make_executor("inline"))
    save_evidence(tmp_path / "results", PAPER.name, state.results["by-depth"])
    return tmp_path / "results"


class TestSaving:
    def test_saving_a_part_adds_to_what_is_there(self, finished: Path, saved: Path, tmp_path: Path) -> None:
        store = some(finished, tmp_path / "store", 0)
        code, text = run("--only", 12, "--minutes", 0, "--store", store, "--results", saved, "--save")
        assert code == 0
        assert "by-depth: 3 of 4 units, 2 before" in text
        assert "3 of 4 runs of the" in text
        found = load_evidence(saved, PAPER.name, "by-depth")
        assert found is not None
        assert found.provenance.settings == [UNITS[place].setting for place in (0, 1, 3)]

    def test_saving_what_is_there_leaves_the_files_alone(self, finished: Path, saved: Path, tmp_path: Path) -> None:
        files = paths(saved, PAPER.name, "by-depth", "quick")
        before = [(path.read_bytes(), path.stat().st_mtime_ns) for path in files]
        store = some(finished, tmp_path / "store", 3)
        _, text = run("--only", 12, "--minutes", 0, "--store", store, "--results", saved, "--save")
        assert "0 results written" in text
        assert [(path.read_bytes(), path.stat().st_mtime_ns) for path in files] == before

    def test_all_parts_together_are_what_one_run_gives(self, finished: Path, saved: Path, tmp_path: Path) -> None:
        words = ("--only", 12, "--minutes", 0, "--save")
        run(*words, "--store", some(finished, tmp_path / "store", 0, 2), "--results", saved)
        run(*words, "--store", finished, "--results", tmp_path / "at once")
        joined, whole = (load_evidence(place, PAPER.name, "by-depth") for place in (saved, tmp_path / "at once"))
        assert joined is not None
        assert whole is not None
        assert joined.table.to_pandas().equals(whole.table.to_pandas())
        assert joined.provenance.seconds == pytest.approx(whole.provenance.seconds, abs=0.01)
        assert msgspec.structs.replace(joined.provenance, seconds=0.0) == msgspec.structs.replace(
            whole.provenance, seconds=0.0
        )

    def test_other_rows_of_a_unit_are_refused_and_replaced_by_force(
        self, finished: Path, saved: Path, tmp_path: Path
    ) -> None:
        store, unit = Store(tmp_path / "store"), UNITS[1]
        there = Store(finished).read(unit.key)
        assert there is not None
        assert store.write(unit, [{**row, "margin": 7.0} for row in there.rows], there.record)
        words = ("--only", 12, "--minutes", 0, "--store", store.folder, "--results", saved, "--save")
        with pytest.raises(InputError, match=rf"has other rows of .* \(unit {unit.key}\).*--force"):
            run(*words)
        assert "by-depth: 2 of 4 units, 2 before" in run(*words, "--force")[1]
        found = load_evidence(saved, PAPER.name, "by-depth")
        assert found is not None
        assert set(found.table["margin"][: len(there.rows)]) == {7.0}
        assert 7.0 not in found.table["margin"][len(there.rows) :]


class TestOwed:
    def test_only_units_without_rows_are_run(self, finished: Path, saved: Path, tmp_path: Path) -> None:
        store = Store(some(finished, tmp_path / "store", 0))
        (left,) = owed_experiments(Order(PAPER, only=["12"]), store, results=saved)
        assert [unit.key for unit in left.units("quick")] == [UNITS[2].key]
        code, text = run("--only", 12, "--owed", "--store", store.folder, "--results", saved)
        assert code == 0
        assert sorted(store.finished()) == sorted(UNITS[place].key for place in (0, 2))
        assert "of 4 units" not in text, "rows of the results and of the store are judged together"
        assert owed_experiments(Order(PAPER, only=["12"]), store, results=saved) == []

    def test_without_results_nothing_can_be_owed(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"no folder of results.*leave out --owed"):
            run("--only", 12, "--owed", "--results", tmp_path / "nowhere", "--store", tmp_path / "s")


class TestMerging:
    @pytest.mark.slow
    def test_units_come_home_and_are_judged_with_the_results(self, finished: Path, saved: Path, tmp_path: Path) -> None:
        away, here = some(finished, tmp_path / "away", 0, 2, 3), some(finished, tmp_path / "here", 3)
        code, text = run("--only", 12, "--merge", away, "--store", here, "--results", saved)
        assert code == 0
        assert f"{away}: 2 runs brought home, 1 were here" in text
        assert "of 4 units" not in text
        assert not paths(saved, PAPER.name, "by-depth", "full")[0].exists()
        found = load_evidence(saved, PAPER.name, "by-depth")
        assert found is not None
        assert found.provenance.planned == 4, "without --save results stay as they are"
        assert (
            "by-depth: 4 of 4 units, 2 before"
            in run(*("--only", 12, "--merge", away, "--store", here, "--results", saved, "--save"))[1]
        )

    def test_nothing_is_run_unless_asked_for(self, finished: Path, tmp_path: Path) -> None:
        words = ("--only", 12, "--merge", some(finished, tmp_path / "away", 0), "--store", tmp_path / "here")
        assert "1 of 4 runs of the" in run(*words, "--results", tmp_path / "none")[1]
        assert len(list(Store(tmp_path / "here").finished())) == 1
        assert "of 4 units" not in run(*words, "--results", tmp_path / "none", "--minutes", 5)[1]

    def test_what_is_of_no_use_is_said(self, finished: Path, tmp_path: Path) -> None:
        away = Store(some(finished, tmp_path / "away", 0, 1))
        (away.path(UNITS[0].key) / "spec.json").write_text("{}")
        away.write(Unit(GRID.name, 9, UNITS[2].setting), [{"margin": 0.0}], {})
        away.write(Unit(GRID.name, 1, {"depth": 99}), [{"margin": 0.0}], {})
        away.write(Unit("multitask/flow", 1, {"depth": 99}), [{"margin": 0.0}], {})
        text = run("--only", 12, "--merge", away.folder, "--store", tmp_path / "here", "--results", tmp_path)[1]
        assert f"1 damaged run left there, whose unit must run again: {UNITS[0].key} (spec.json" in text
        assert "is of kernel-theory/by-depth, schema 9, which is 1 here: not read" in text
        assert "is of kernel-theory/by-depth with a setting that no grid has here: not read" in text
        assert "1 run of other experiments than those of kernel-theory" in text

    def test_the_scale_is_that_of_the_units(self, finished: Path, tmp_path: Path) -> None:
        away, known = Store(tmp_path / "away"), Store(finished).read(UNITS[0].key)
        unit = GRID.units("full")[0]
        assert unit.key != UNITS[0].key
        assert known is not None
        away.write(unit, known.rows, {})
        text = run("--only", 12, "--merge", away.folder, "--store", tmp_path / "here", "--results", tmp_path)[1]
        assert "of our full" in " ".join(text.split())

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (("--merge", "nowhere"), "there is no store at nowhere"),
            (("--merge", str(Path(__file__).parent)), "is no store: it has no folder 'runs'"),
            (("--from-results", "--merge", "nowhere"), "nothing that --merge could"),
            (("--from-results", "--owed"), "nothing that --owed could"),
            (("--workers", "0"), "--workers 0 is no number of processes"),
            (("--workers", "many"), "--workers many is no number of processes"),
            (("--workers", "auto"), "not of inline; give a number"),
        ],
    )
    def test_bad_input_is_refused(self, words: tuple[str, ...], message: str, tmp_path: Path) -> None:
        store = () if "--from-results" in words else ("--store", tmp_path / "s")
        with pytest.raises(InputError, match=message):
            run("--only", 12, *words, *store)
