"""First principles: the committed results say what the page says, and other results would say something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recombine.lab.papers import Standing, find
from recombine.lab.papers.first_principles.experiments.assumptions import MAP_OF
from recombine.lab.papers.first_principles.readings.decoders import RELEASED
from recombine.lab.papers.first_principles.readings.gates import DEAD_SHARE
from recombine.lab.papers.first_principles.readings.routes import CONTROL
from recombine.lab.papers.results import Evidence, load_all_evidence
from recombine.lab.report.figure import PaperFigure
from recombine.tables.table import Table

PAPER = find("first-principles")
FOLDER = Path(__file__).parents[4] / "results"
FAILS = ("3", "4b", "5b", "16a", "20", "22", "23", "41a", "41b", "46", "48b", "49a", "49c", "50", "51c")
UNDECIDED = ("5a", "42")


@pytest.fixture(scope="module")
def results() -> dict[str, Evidence]:
    return load_all_evidence(FOLDER, PAPER.name, PAPER.by_name, ("full", "quick"))


def _verdict(number: str) -> Standing:
    if number in UNDECIDED:
        return Standing.UNDECIDED
    return Standing.FAILS if number in FAILS else Standing.HOLDS


@pytest.mark.parametrize("number", [claim.number for claim in PAPER.claims])
def test_committed_results_say_what_the_page_says(results: dict[str, Evidence], number: str) -> None:
    outcome = PAPER.claim(number).judge(results)
    assert outcome.verdict is _verdict(number), outcome


def test_networks_were_trained_on_sprites(results: dict[str, Evidence]) -> None:
    assert {results[name].scale for name in ("decoders", "pictures")} == {"full"}
    rows = results["decoders"].table
    assert set(rows["scale"].tolist()) == {"short", "annealed", "full"}
    assert min(len(rows.only(support=name, scale="short")) for name in set(rows["support"].tolist())) >= 3


def _rows(support: str, model: str = "compositional") -> Any:
    return lambda table: (table["support"] == support) & (table["model"] == model)


def _where(column: str, value: Any) -> Any:
    return lambda table: table[column] == value


def _first(table: Table) -> Any:
    return np.arange(len(table)) == 0


def _longest(table: Table) -> Any:
    return table["scale"] == "full"


def _second_seed_of_shapes(table: Table) -> Any:
    shapes = np.isin(table["support"], ["diagonal 0.2", "orthogonal normal"])
    return _longest(table) & shapes & (table["seed"] == 1)


def _longest_narrow(table: Table) -> Any:
    return _longest(table) & _rows("diagonal 0.05")(table)


def _third_seed_of_planes(table: Table) -> Any:
    return _longest(table) & _rows("orthogonal")(table) & (table["seed"] == 2)


def _as_released(table: Table) -> list[float]:
    """R2 of all networks, of those of the paper's length the released one of their seed."""
    scores = []
    for row in table.rows():
        released = RELEASED.get((row["support"], row["model"])) if row["scale"] == "full" else None
        scores.append(released[row["seed"]] if released else row["r2 all"])
    return scores


def _longest_of_wide_supports(table: Table) -> Any:
    return _longest(table) & (table["support"] != "diagonal 0.05")


def _errors_themselves(table: Table) -> Any:
    return table["error"]


def _penalised_planes(table: Table) -> Any:
    return (table["support"] == "orthogonal") & (table["penalty"] == "contrast")


def _short_and_lost(table: Table) -> Any:
    return (table["scale"] == "short") & (table["mse front"] > 0.3)


def _lost_only(**case: Any) -> Any:
    """Fronts that are lost where all of these hold, painted elsewhere."""
    return lambda table: np.logical_and.reduce([np.isin(table[name], value) for name, value in case.items()]) * 1.0


def _every_front(table: Table) -> Any:
    return slice(None)


_lost_on_narrow_bands = _lost_only(support=["diagonal 0.05", "diagonal 0.1"])
_lost_in_float32 = _lost_only(dtype="float32")
_lost_if_soft = _lost_only(gate="soft")
_lost_if_slow = _lost_only(rate=0.01)


def _as_they_end(table: Table) -> list[float]:
    """Fronts that are unpainted all along if they are in the end, and else painted from the start."""
    names = ("support", "gate", "rate", "dtype", "seed")
    last = {tuple(row[name] for name in names): row["front"] for row in table.rows() if row["step"] == row["steps"]}
    return [float(last[tuple(row[name] for name in names)] >= DEAD_SHARE) for row in table.rows()]


#: Claim -> rows to bend, column, and how: what was measured changes, so the verdict must.
BENT: dict[str, tuple[Any, str, Any]] = {
    "1": (_rows("random", "monolithic"), "r2 all", lambda values: values - 0.15),
    "2": (_rows("orthogonal", "monolithic"), "r2 all", lambda values: values + 0.6),
    # The second seed of both rows is lower than the first.
    "3": (_second_seed_of_shapes, "r2 all", lambda values: values + 0.02),
    "4a": (_rows("orthogonal gap"), "r2 all", lambda values: values + 0.1),
    "4d": (_rows("orthogonal gap"), "r2 all", lambda values: values + 0.05),
    "4b": (_rows("orthogonal gap"), "mse in gap, other 1", lambda values: 0.8 * values),
    "5a": (_longest_narrow, "r2 all", lambda values: np.full_like(values, 0.99)),
    "5b": (_longest_narrow, "r2 all", lambda values: np.where(values < 0.897, 0.4, values)),
    "6": (_where("way", "drawn"), "hidden", lambda values: values + 0.03),
    "6b": (_where("support", "random"), "missing", lambda values: values + 0.01),
    "7a": (_where("rule", "hard"), "full", lambda values: values - 1),
    "7b": (_where("rule", "soft"), "shown elsewhere", lambda values: values + 1e-6),
    "8a": (_rows("orthogonal*"), "mse all", lambda values: 0.5 * values),
    # The third seed of planes errs 1.6 times as much as the others; twice as much, and the rest is too little.
    "8b": (_third_seed_of_planes, "mse all", lambda values: 2 * values),
    "9a": (_first, "gradient", lambda values: 0 * values),
    "9b": (_rows("orthogonal", "rgba"), "opaque at start", np.ones_like),
    "9c": (_rows("orthogonal", "rgba sigmoid"), "r2 all", lambda values: values + 0.05),
    "10": (_rows("orthogonal", "rgba"), "r2 all", lambda values: values - 0.1),
    "13a": (lambda table: np.arange(len(table)) % 40 == 0, "generalises", np.logical_not),
    "13b": (_where("rule", "add"), "as graph", np.logical_not),
    "14": (_where("start", "right"), "error", lambda values: values + 1e-7),
    "15b": (_where("support", "orthogonal"), "ratio", lambda values: 1.2 * values),
    "16a": (_where("support", "diagonal"), "plain", lambda values: values + 0.145),
    "16b": (_where("support", "orthogonal"), "plain", lambda values: values + 0.6),
    "16c": (_where("samples", 4), "blockwise", lambda values: values - 0.2),
    "17": (_where("targets", "hard"), "variance", lambda values: 1.05 * values),
    "21": (_rows("random"), "r2 all", lambda values: values - 0.594),
    "22": (_rows("orthogonal gap"), "mse all", lambda values: 0.5 * values),
    "24": (_rows("diagonal 0.1"), "mse front", lambda values: values + 0.2),
    "20": (_longest_of_wide_supports, "r2 all", lambda values: np.full_like(values, 0.95)),
    "23": (lambda table: slice(None), "r2 all", _as_released),
    "40a": (lambda table: table["training"] != CONTROL, "weights apart", lambda values: 100 * values),
    "40b": (lambda table: table["networks"] == 1, "mse front", np.ones_like),
    "48a": (lambda table: table["seed"] < 40, "mse front", np.ones_like),
    "48b": (lambda table: table["seed"] < 40, "mse front", np.ones_like),
    "49a": (_every_front, "front", _lost_on_narrow_bands),
    "49b": (_every_front, "front", _lost_in_float32),
    "49c": (_every_front, "front", _lost_if_soft),
    "49d": (_every_front, "front", _lost_if_soft),
    "49e": (_every_front, "front", _lost_if_slow),
    "50": (_every_front, "front", _as_they_end),
    "51a": (_rows("random"), "mse front", np.ones_like),
    "51b": (_where("support", "diagonal 0.1"), "mse front", np.ones_like),
    "51c": (_short_and_lost, "r2 all", lambda values: np.full_like(values, 0.2)),
    "42": (_rows("orthogonal", "additive"), "r2 all", lambda values: values + 0.3),
    "43": (_where("renderer", "in steps"), "r2 all", lambda values: values - 0.1),
    "44": (_rows("orthogonal gap", "shared"), "mse in gap", lambda values: 2 * values),
    "45": (_rows("orthogonal gap"), f"{MAP_OF}front y, front hue", lambda values: values + 2),
    "46": (_penalised_planes, "r2", lambda values: values + 1),
    "47": (_where("support", "diagonal"), "r2", lambda values: values + 2),
    **dict.fromkeys(("41a", "41b"), (lambda table: slice(None), "theory", _errors_themselves)),
}
#: Bends that look at more than the column.
OF_TABLES = (
    *(_as_released, _errors_themselves, _as_they_end),
    *(_lost_on_narrow_bands, _lost_in_float32, _lost_if_soft, _lost_if_slow),
)


@pytest.mark.parametrize("number", [claim.number for claim in PAPER.claims])
def test_every_check_turns_when_its_rows_do(results: dict[str, Evidence], number: str) -> None:
    claim = PAPER.claim(number)
    table = results[claim.reads].table
    chosen, column, bend = BENT[number]
    values = np.array(table[column])
    values[chosen(table)] = bend(table if bend in OF_TABLES else values[chosen(table)])
    bent = Table({name: values if name == column else table[name] for name in table.columns})
    assert claim.read(bent).verdict is (Standing.HOLDS if number in FAILS else Standing.FAILS)


@pytest.mark.parametrize("name", ["visibility", "ranks", "decoders", "pictures", "targets", "sketches", "additive"])
def test_claims_wait_for_the_units_they_need(results: dict[str, Evidence], name: str) -> None:
    table = results[name].table
    first = results[name].provenance.settings[0]
    begun = table.where(np.logical_and.reduce([table[key] == first[key] for key in table.columns if key in first]))
    assert 0 < len(begun) < len(table)
    for claim in PAPER.claims:
        if claim.reads == name:
            assert claim.read(begun).verdict is Standing.NOT_RUN
    for plot in PAPER.figures:
        if name in plot.experiments:
            assert PaperFigure(plot, {name: Evidence(begun, results[name].provenance)}).svg().startswith("<svg")


@pytest.mark.slow
def test_every_figure_is_drawn_from_the_committed_results(results: dict[str, Evidence]) -> None:
    for plot in PAPER.figures:
        figure = PaperFigure(plot, results)
        text = figure.svg()
        assert text.startswith("<svg")
        assert "mathdefault" not in text
        assert "not finished" not in text
        assert len(figure.table) > 0
        assert figure.alternative.endswith(".")
