"""Gradient resists: every claim on committed and on bent rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recombine.lab.papers import Standing, find
from recombine.lab.papers.results import Evidence, load_all_evidence
from recombine.tables.table import Table

PAPER = find("gradient-resists")
RESULTS = Path(__file__).parents[4] / "results"
CONTRADICTED, FAILED = ("15",), ("9b", "23a")


@pytest.fixture(scope="module")
def results() -> dict[str, Evidence]:
    return load_all_evidence(RESULTS, PAPER.name, PAPER.by_name, ("full", "quick"))


@pytest.mark.parametrize("number", [claim.number for claim in PAPER.claims])
def test_committed_results_say_what_the_page_says(results: dict[str, Evidence], number: str) -> None:
    outcome = PAPER.claim(number).judge(results)
    amiss = Standing.CONTRADICTS if number in CONTRADICTED else Standing.FAILS if number in FAILED else None
    assert outcome.verdict is (amiss or Standing.HOLDS), outcome
    assert outcome.scale == "full"


def _where(column: str, value: Any) -> Any:
    return lambda table: table[column] == value


#: Claim -> rows to bend, column, and how: what was measured changes, so the verdict must.
BENT: dict[str, tuple[Any, str, Any]] = {
    "1": (_where("setting", "A"), "test accuracy", lambda values: values + 0.1),
    "2": (_where("setting", "B"), "train accuracy", lambda values: values + 0.1),
    "3": (_where("setting", "A"), "test accuracy", lambda values: values + 0.06),
    "4": (_where("steps", 2000), "test accuracy", lambda values: values + 0.1),
    "5a": (_where("setting", "B"), "excess information", lambda values: values + 0.1),
    "5b": (_where("setting", "B"), "marginal information", lambda values: values + 0.02),
    "6a": (_where("step", 200), "slope by right", lambda values: 0 * values),
    "6b": (_where("setting", "A"), "gradient share", lambda values: 0.5 + 0 * values),
    "7": (_where("images", "digits"), "test accuracy", lambda values: values - 0.1),
    "8": (_where("reading", "A"), "test accuracy", lambda values: values + 0.05),
    "9a": (_where("reading", "B1"), "train accuracy", lambda values: values + 0.09),
    "9b": (_where("repeats", False), "train accuracy", lambda values: values + 0.09),
    "11a": (_where("reading", "code"), "held-out accuracy", lambda values: values + 0.1),
    "11b": (_where("setting", "B"), "held-out accuracy", lambda values: values - 0.05),
    "11c": (_where("epoch", 1), "held-out accuracy", lambda values: values - 0.3),
    "11d": (_where("epoch", 1024), "to", lambda values: np.minimum(values, 0.0)),
    "12": (_where("epoch", 1024), "tilt", lambda values: 0.35 + 0 * values),
    "15": (_where("map", "step across a gap"), "slope", lambda values: values + 0.5),
    "16": (_where("setting", "A"), "errors that follow", lambda values: values - 0.3),
    "17": (_where("setting", "A"), "test accuracy", lambda values: values + 0.2),
    "18": (_where("epoch", 1024), "held-out accuracy", lambda values: 1 + 0 * values),
    "19a": (_where("step", 200), "slope by left", lambda values: 0 * values),
    "19b": (_where("setting", "A"), "excess information", lambda values: 0.05 + 0 * values),
    "21": (_where("encoder", 16), "test accuracy", lambda values: 0.5 + 0 * values),
    "22": (_where("step", 2000), "train accuracy", lambda values: 0 * values),
    "23a": (_where("search", "drawn"), "held-out accuracy", lambda values: np.minimum(values + 0.8, 1.0)),
    "23b": (_where("search", "drawn"), "held-out accuracy", lambda values: np.minimum(values + 0.6, 1.0)),
    "24": (_where("search", "drawn"), "held-out accuracy", lambda values: np.minimum(values + 0.5, 1.0)),
    "25": (_where("search", "random steps"), "held-out accuracy", lambda values: np.minimum(values + 0.5, 1.0)),
    "26": (_where("search", "drawn"), "held-out accuracy", lambda values: np.minimum(values + 0.5, 1.0)),
    "20": (_where("model", "two nodes"), "held-out accuracy", lambda values: 1 + 0 * values),
    "27": (_where("setting", "B"), "test accuracy", lambda values: values - 0.1),
    "28": (_where("world", 7), "about Y", lambda values: values + 3),
    "29": (_where("up", True), "held out", lambda values: values + 1),
}


@pytest.mark.parametrize("number", [claim.number for claim in PAPER.claims])
def test_every_check_turns_when_its_rows_do(results: dict[str, Evidence], number: str) -> None:
    claim = PAPER.claim(number)
    table = results[claim.reads].table
    chosen, column, bend = BENT[number]
    values = np.array(table[column])
    values[chosen(table)] = bend(values[chosen(table)])
    bent = Table({name: values if name == column else table[name] for name in table.columns})
    assert claim.read(bent).verdict is not claim.read(table).verdict


#: Claims that our measurements contradict -> rows on which the paper would be right.
RIGHT: dict[str, dict[str, tuple[Any, Any]]] = {
    "9b": {"train accuracy": (_where("repeats", False), lambda values: values + 0.09)},
    "23a": {"held-out accuracy": (_where("search", "drawn"), lambda values: 1 + 0 * values)},
    "15": {"slope": (_where("map", "step across a gap"), lambda values: values + 0.5)},
}


@pytest.mark.parametrize("number", CONTRADICTED + FAILED)
def test_a_contradicted_claim_holds_on_rows_that_agree_with_the_paper(
    results: dict[str, Evidence], number: str
) -> None:
    claim = PAPER.claim(number)
    table = results[claim.reads].table
    columns = {name: np.array(table[name]) for name in table.columns}
    for name, (chosen, bend) in RIGHT[number].items():
        columns[name][chosen(table)] = bend(columns[name][chosen(table)])
    outcome = claim.read(Table(columns))
    assert outcome.verdict is Standing.HOLDS, outcome
    for conclusion in ("in two pieces",):
        assert conclusion not in outcome.detail


def test_nothing_is_said_of_networks_that_were_not_trained(results: dict[str, Evidence]) -> None:
    alone = results["pairs"].table.only(setting="B")
    assert PAPER.claim("1").read(alone).verdict is Standing.NOT_RUN
    assert PAPER.claim("8").read(results["scan"].table.only(reading="A")).verdict is Standing.NOT_RUN


def test_digits_that_stand_in_are_judged_by_direction(results: dict[str, Evidence]) -> None:
    digits = results["pairs"].table.only(images="digits")
    for number in ("1", "2", "3", "5a", "5b", "16"):
        outcome = PAPER.claim(number).read(digits)
        assert "direction only" in outcome.value
        assert outcome.verdict is Standing.HOLDS, outcome


def test_writing_by_itself_a_network_decides_as_when_it_is_told(results: dict[str, Evidence]) -> None:
    """Up to the first wrong symbol both are the same network on the same symbols, so sentences are right in both."""
    assert results["scan"].table["greedy disagreements"].sum() == 0


def test_the_first_lead_in_training_needs_no_more_than_ten_seeds(results: dict[str, Evidence]) -> None:
    rows = results["pairs"].table
    assert PAPER.claim("2").read(rows.where(rows["seed"] < 10)).verdict is Standing.HOLDS
