"""The theory of first principles at a small size: claims hold, every check turns when its rows do."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recombine.lab.papers import Standing, find
from recombine.lab.papers.first_principles.experiments.ranks import visibility
from recombine.lab.papers.first_principles.experiments.simulation import Generator, latent_support
from recombine.lab.papers.first_principles.experiments.supports import anchor
from recombine.lab.papers.first_principles.figures.theory import FIGURES
from recombine.lab.papers.first_principles.grids import THEORY_EXPERIMENTS
from recombine.lab.papers.results import Evidence, Provenance, load_all_evidence
from recombine.lab.report.figure import PaperFigure
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.rendered.sprites import sprite_masks
from recombine.tables.table import Table
from recombine.theory.sufficiency.stacked_rank import JacobianStack

PAPER = find("first-principles")
BY_NAME = {experiment.name.rpartition("/")[2]: experiment for experiment in THEORY_EXPERIMENTS}
#: Smaller than quick, where quick takes seconds.
SMALL: dict[str, list[dict[str, Any]]] = {
    "ranks": [
        {"rule": rule, "support": name, "probes": 1, "combinations": 32}
        for rule in ("hard", "soft", "rgba")
        for name in ("orthogonal*", "orthogonal")
    ],
    "rank-maps": [{"probes": 2, "combinations": 8}],
    "reconstruction": [{"side": 3, "seeds": [0]}],
    "finite-grids": [{"seeds": list(range(200))}],
    "sketches": [setting | {"probes": 1, "points": 40} for setting in BY_NAME["sketches"].settings("quick")],
}
#: Read from the committed results of quick runs: these take longer than a test may.
COMMITTED = ("visibility", "simulation")
FOLDER = Path(__file__).parents[4] / "results"
#: Claim -> column to bend: a small change of what was measured must change the verdict.
BENT: dict[str, tuple[str, Any]] = {
    "6": ("hidden", lambda values: values + 0.03),
    "7a": ("full", lambda values: values - 1),
    "7b": ("shown elsewhere", lambda values: values + 1e-6),
    "13a": ("generalises", lambda values: np.where(np.arange(len(values)) % 40 == 0, ~values, values)),
    "13b": ("as graph", lambda values: np.arange(len(values)) > 0),
    "14": ("error", lambda values: values + 1e-7),
    "16a": ("blockwise", lambda values: values - 0.08),
}
CLAIMS = [PAPER.claim(number) for number in BENT]


@pytest.fixture(scope="module")
def results() -> dict[str, Evidence]:
    found = {}
    for name, experiment in BY_NAME.items():
        if name in COMMITTED:
            continue
        settings = SMALL.get(name, experiment.settings("quick"))
        units = [Unit(experiment.name, 1, setting) for setting in settings]
        table = Table.from_rows([row for unit in units for row in experiment.function(unit)])  # type: ignore[union-attr]
        found[name] = Evidence(table, Provenance(name, "quick", "", "0", "cpu", 0.0, [], {}))
    return found | load_all_evidence(FOLDER, "first-principles", COMMITTED, ("quick",))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.number)
def test_claims_hold(results: dict[str, Evidence], claim: Any) -> None:
    outcome = claim.judge(results)
    assert outcome.verdict is Standing.HOLDS, (outcome.value, outcome.detail)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.number)
def test_every_check_can_fail(results: dict[str, Evidence], claim: Any) -> None:
    table = results[claim.reads].table
    column, bend = BENT[claim.number]
    columns = {name: np.array(table[name]) for name in table.columns}
    columns[column] = bend(columns[column])
    assert claim.read(Table(columns)).verdict is Standing.FAILS


def test_figures_can_be_drawn(results: dict[str, Evidence]) -> None:
    known = {claim.id for claim in PAPER.claims if claim.reads in BY_NAME}
    for plot in FIGURES:
        assert plot.drawable(results)
        assert {claim.id for claim in PAPER.claims if plot.name in claim.figures} <= known
        assert len(PaperFigure(plot, results).table) > 0


def test_every_claim_and_figure_reads_an_experiment_that_is_there() -> None:
    assert {claim.reads for claim in CLAIMS} <= set(BY_NAME)
    assert {name for plot in FIGURES for name in plot.experiments} <= set(BY_NAME)


def test_the_pixels_that_one_anchor_leaves_open_are_those_it_covers(results: dict[str, Evidence]) -> None:
    rows = results["rank-maps"].table
    covered = sprite_masks(anchor(0.0)).ravel()[rows["pixel"]]
    assert np.array_equal(rows["back, one anchor"] < 1, covered)
    assert (rows["back, two anchors"] == 1).all()


def test_anchors_needed_and_that_sums_lose_rank() -> None:
    """Six unknowns need ceil(6 / N) anchors of N outputs; opposite Jacobians cancel in a sum and not in a stack."""
    for outputs, fewest in ((1, 6), (2, 3), (3, 2), (4, 2), (6, 1), (8, 1)):
        drawn = np.random.default_rng(outputs).standard_normal((8, outputs, 6))
        assert next(count for count in range(1, 9) if JacobianStack.of(drawn[:count]).ranks() == 6) == fewest
        opposite = np.concatenate([drawn[:fewest], -drawn[:fewest]])
        assert JacobianStack.of(opposite).ranks() == 6
        assert np.abs(opposite.sum(axis=0)).max() < 1e-14


def test_visibility_falls_with_the_width() -> None:
    shares = []
    for width in (0.02, 0.1):
        setting = {"width": width, "values": 8, "fronts": 60, "seeds": [0]}
        rows = visibility(Unit("visibility", 1, setting))
        assert [row["way"] for row in rows] == ["drawn", "ends"]
        assert rows[1]["hidden"] <= rows[0]["hidden"] + 0.02
        shares.append(rows[1]["hidden"])
    assert shares[0] > 0.4 > 0.01 > shares[1]


def test_the_generator_keeps_slots_apart() -> None:
    render = Generator(5, np.random.default_rng(0))
    latents = latent_support("random").sample(3)
    moved = latents.copy()
    moved[:, 2] += 0.1
    changed = np.abs(render(moved) - render(latents)).max(axis=(0, 2)) > 0
    assert changed.tolist() == [False, False, True, False]
    assert latent_support("orthogonal").contains(latent_support("orthogonal").sample(50)).all()


@pytest.mark.slow
@pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")
def test_the_simulation_tells_the_models_apart() -> None:
    setting = {"sizes": [1, 512], "steps": 600, "recorded": [300, 600], "rate": 0.1, "batch": 32}
    setting |= {"candidates": 20, "seeds": [0]}
    rows = BY_NAME["simulation"].function(Unit("simulation", 1, setting))
    found = {(row["support"], row["samples"], row["steps"]): row for row in rows}  # type: ignore[union-attr]
    assert len(found) == len(rows) == 3 * 2 * 2  # type: ignore[arg-type]
    diagonal = found["diagonal", 512, 600]
    assert diagonal["blockwise"] > 0.9 > 0.5 > diagonal["plain"]
    assert diagonal["blockwise"] > found["diagonal", 512, 300]["blockwise"]
    assert max(found["random", 1, 600][model] for model in ("blockwise", "plain")) < 0.1
