"""Gradient resists: the theory against oracles, SCAN in small, every claim on committed and on bent rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.papers import Standing, find
from recombine.papers.gradient_resists.experiments.theory import (
    binary_entropy,
    counterexample,
    exact_covariances,
    first_step,
    held_out_information,
    processing,
)
from recombine.papers.results import Evidence, as_table, load_all, matching
from recombine.report.papers.figure import PaperFigure
from recombine.runs.experiment import Unit
from recombine.tables.table import Table
from recombine.worlds import plane as world

PAPER = find("gradient-resists")
RESULTS = Path(__file__).parents[3] / "results"
CONTRADICTED = ("6", "9", "12", "15")


@pytest.fixture(scope="module")
def results() -> dict[str, Evidence]:
    return load_all(RESULTS, PAPER.name, PAPER.by_name, ("full",))


# ---------------------------------------------------------------------------- claims


@pytest.mark.parametrize("number", [claim.number for claim in PAPER.claims])
def test_committed_results_say_what_the_page_says(results: dict[str, Evidence], number: str) -> None:
    outcome = PAPER.claim(number).judge(results)
    assert outcome.verdict is (Standing.CONTRADICTS if number in CONTRADICTED else Standing.HOLDS), outcome
    assert outcome.scale == "full"


def _where(column: str, value: Any) -> Any:
    return lambda table: table[column] == value


#: Claim -> rows to bend, column, and how: what was measured changes, so the verdict must.
BENT: dict[str, tuple[Any, str, Any]] = {
    "1": (_where("setting", "A"), "test accuracy", lambda values: values + 0.1),
    "2": (_where("setting", "B"), "train accuracy", lambda values: values + 0.15),
    "3": (_where("setting", "A"), "test accuracy", lambda values: values + 0.06),
    "4": (_where("steps", 2000), "test accuracy", lambda values: values + 0.1),
    "5a": (_where("setting", "B"), "conditional information", lambda values: values + 0.1),
    "5b": (_where("setting", "B"), "marginal information", lambda values: values + 0.02),
    "6": (_where("setting", "A"), "gradient share", lambda values: 0.5 + 0 * values),
    "7": (_where("images", "digits"), "test accuracy", lambda values: values - 0.1),
    "8": (_where("reading", "A"), "test accuracy", lambda values: values + 0.05),
    "9": (_where("repeats", False), "train accuracy", lambda values: values + 0.09),
    "10": (_where("seed", 0), "greedy disagreements", lambda values: values + 1),
    "11a": (_where("reading", "code"), "held-out accuracy", lambda values: values + 0.1),
    "11b": (_where("setting", "B"), "held-out accuracy", lambda values: values - 0.05),
    "11c": (_where("setting", "A"), "held-out accuracy", lambda values: values + 0.2),
    "11d": (_where("epoch", 1024), "to", lambda values: np.minimum(values, 0.0)),
    "12": (_where("epoch", 1024), "tilt", lambda values: 0.35 + 0 * values),
    "13": (_where("route", "one step"), "first", lambda values: values * 1.001),
    "14": (_where("problem", 3), "of label", lambda values: values + 10),
    "15": (_where("steepness", 0), "gradient", lambda values: values + 0.5),
    "16": (_where("setting", "A"), "errors that follow", lambda values: values - 0.3),
    "17": (_where("setting", "A"), "test accuracy", lambda values: values + 0.2),
    "18": (_where("epoch", 1024), "held-out accuracy", lambda values: 1 + 0 * values),
}


@pytest.mark.parametrize("number", [claim.number for claim in PAPER.claims])
def test_every_check_turns_when_its_rows_do(results: dict[str, Evidence], number: str) -> None:
    claim = PAPER.claim(number)
    table = results[claim.experiment].table
    chosen, column, bend = BENT[number]
    values = np.array(table[column])
    values[chosen(table)] = bend(values[chosen(table)])
    bent = Table({name: values if name == column else table[name] for name in table.columns})
    assert claim.read(bent).verdict is not claim.read(table).verdict


#: Claims that our measurements contradict -> rows on which the paper would be right.
RIGHT: dict[str, dict[str, tuple[Any, Any]]] = {
    "6": {"gradient share": (lambda table: table["step"] == 200, lambda values: values + 0.4)},
    "9": {"train accuracy": (_where("repeats", False), lambda values: values + 0.09)},
    "12": {"tilt": (_where("epoch", 1024), lambda values: 0.35 + 0 * values)},
    "15": {"gradient": (_where("steepness", 0), lambda values: values + 0.5)},
}


@pytest.mark.parametrize("number", CONTRADICTED)
def test_a_contradicted_claim_holds_on_rows_that_agree_with_the_paper(
    results: dict[str, Evidence], number: str
) -> None:
    claim = PAPER.claim(number)
    table = results[claim.experiment].table
    columns = {name: np.array(table[name]) for name in table.columns}
    for name, (chosen, bend) in RIGHT[number].items():
        columns[name][chosen(table)] = bend(columns[name][chosen(table)])
    outcome = claim.read(Table(columns))
    assert outcome.verdict is Standing.HOLDS, outcome
    for conclusion in ("turns them away", "repeated word;", "repair itself", "no slope"):
        assert conclusion not in outcome.detail


def test_nothing_is_said_of_networks_that_were_not_trained(results: dict[str, Evidence]) -> None:
    alone = matching(results["pairs"].table, setting="B")
    assert PAPER.claim("1").read(alone).verdict is Standing.NOT_RUN
    assert PAPER.claim("8").read(matching(results["scan"].table, reading="A")).verdict is Standing.NOT_RUN


def test_digits_that_stand_in_are_judged_by_direction(results: dict[str, Evidence]) -> None:
    digits = matching(results["pairs"].table, images="digits")
    for number in ("1", "2", "3", "5a", "5b", "16"):
        outcome = PAPER.claim(number).read(digits)
        assert "direction only" in outcome.value
        assert outcome.verdict is Standing.HOLDS, outcome


def test_every_figure_is_drawn_from_the_committed_results(results: dict[str, Evidence]) -> None:
    for plot in PAPER.figures:
        figure = PaperFigure(plot, results)
        text = figure.svg()
        assert text.startswith("<svg")
        assert "mathdefault" not in text
        assert len(figure.table) > 0
        assert figure.alternative.endswith(".")


# ---------------------------------------------------------------------------- theory


def test_first_step_weighs_inputs_by_their_covariance_with_the_label() -> None:
    exact = np.array([float(value) for value in exact_covariances()])
    samples = world.draw_training("text", 5, 200_000)
    drawn = [np.cov(samples.labels, samples.points[:, place])[0, 1] for place in (0, 1)]
    np.testing.assert_allclose(drawn, exact, atol=0.005)
    rows = as_table(first_step(Unit("first-step", 1, {"samples": 5000, "seeds": [1, 2]})))
    step, sampled = matching(rows, route="one step"), matching(rows, route="samples")
    np.testing.assert_allclose(2 * step["second"], sampled["second"], rtol=0, atol=1e-13)


def test_closed_form_of_the_held_out_quadrant_is_the_information_of_its_table() -> None:
    for share in (0.0, 0.3, 1.0):
        # P(prediction = 1) in the cells (Y_1, Y_2), which are equally likely on the probe.
        chances = np.array([[0.0, 0.0], [1.0, share]])
        within = binary_entropy(chances.mean(axis=1)) - binary_entropy(chances).mean(axis=1)
        assert held_out_information(share) == pytest.approx(within.mean(), abs=1e-12)


def test_information_without_a_gradient() -> None:
    soft, step = counterexample(Unit("c", 1, {"steepness": [1e-9, 0], "points": 1000}))
    assert soft["information"] == pytest.approx(0, abs=1e-9)
    assert soft["gradient"] > 0
    assert (step["information"], step["gradient"], step["share"]) == (1.0, 0.0, 0.0)


def test_processing_loses_information_and_a_copy_of_the_input_loses_none() -> None:
    rows = as_table(processing(Unit("p", 1, {"problems": 200, "seeds": [3]})))
    assert (rows["of input"] >= rows["of label"] - 1e-12).all()
    # Otherwise the check would compare a number with itself.
    assert (rows["of input"] > rows["of label"] + 0.01).mean() > 0.5


# ---------------------------------------------------------------------------- SCAN


def tiny(**changes: Any) -> Unit:
    base = {"reading": "A", "seeds": [0, 1], "steps": 3, "record": [0, 3], "evaluated": 12, "greedy": 4, "batch": 8}
    return Unit("scan", 1, base | changes)


def test_scan_looks_at_repeats_and_at_distinct_commands() -> None:
    torch = pytest.importorskip("torch")
    from recombine.nets.architectures.seq2seq import Seq2Seq
    from recombine.papers.gradient_resists.experiments.scan import Observer, scan
    from recombine.worlds.scan import commands, scan_reading

    rows = scan(tiny())
    assert [(row["seed"], row["step"]) for row in rows] == [(0, 0), (0, 3), (1, 0), (1, 3)]
    assert rows[1]["train loss"] != rows[0]["train loss"]
    assert rows == scan(tiny())
    assert scan(tiny(seeds=[1])) == rows[2:]
    with pytest.raises(InputError, match="names no step"):
        scan(tiny(record=[]))
    known = commands()
    network = Seq2Seq.for_symbols(known.words, known.actions)
    observer = Observer.of(network, [scan_reading("A")], [0], 400, 10, "cpu")
    jump = known.row("jump")
    shares = {part: float((rows[0] == jump).double().mean()) for part, rows in observer.shown.items()}
    assert shares["train"] == pytest.approx(0.1, abs=0.04)
    assert max(shares["distinct"], shares["test"]) < 0.01
    assert torch.equal(
        observer.shown["test"], Observer.of(network, [scan_reading("A")], [0], 400, 10, "cpu").shown["test"]
    )


def test_scan_says_which_readings_there_are() -> None:
    pytest.importorskip("torch")
    from recombine.papers.gradient_resists.experiments.scan import scan

    with pytest.raises(InputError, match="'B4' is unknown; give one of A, B1, B2, B3"):
        scan(tiny(reading="B4"))
