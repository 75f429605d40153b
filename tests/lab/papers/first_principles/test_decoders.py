"""Decoder experiments on a few images, the claims that read them at each scale, and the figures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.lab.papers import Standing, find
from recombine.lab.papers.claims import Outcome
from recombine.lab.papers.first_principles.experiments.pictures import MAP_CELLS, SHOWN_PICTURES, pack
from recombine.lab.papers.first_principles.experiments.supports import GAP_X, NAMES, SPRITE, support
from recombine.lab.papers.first_principles.grids import FULL, TABLE
from recombine.lab.papers.first_principles.readings.scales import DecoderRows
from recombine.lab.papers.measured import MissingRowsError
from recombine.lab.papers.results import Evidence, Provenance
from recombine.lab.report.figure import PaperFigure
from recombine.lab.runs.experiment import Unit
from recombine.tables.table import Table

PAPER = find("first-principles")
Rows = list[dict[str, Any]]


def evidence(name: str, rows: Rows) -> dict[str, Evidence]:
    return {name: Evidence(Table.from_rows(rows), Provenance(name, "full", "", "", "cuda", 1.0, [], {}))}


def judge(number: str, rows: Rows) -> Outcome:
    claim = PAPER.claim(number)
    return claim.judge(evidence(claim.reads, rows))


def trained(scale: str, support: str, model: str, seeds: int = 3, targets: str = "hard", **scores: float) -> Rows:
    """Rows of a well-behaved model, changed where a test says so."""
    usual = {"r2 id": 0.95, "r2 all": 0.95, "mse all": 0.001, "mse in gap": 0.001, "mse out of gap": 0.001}
    usual |= {f"mse in gap, other {place}": 0.001 for place in range(3)}
    usual |= {"share on B": 0.01, "share on O": 0.01, "mse on B": 0.001, "opaque at start": float("nan")}
    about = {"scale": scale, "support": support, "model": model, "targets": targets}
    named = {name.replace("_", " "): value for name, value in scores.items()}
    return [{**about, "seed": seed, **usual, **named} for seed in range(seeds)]


def good(scale: str) -> Rows:
    """What the paper reports, at some scale."""
    targets = "soft" if scale == "tiny" else "hard"
    one = lambda support, model="compositional", **scores: trained(  # noqa: E731
        scale, support, model, targets="rgba" if (scale, model) == ("tiny", "rgba") else targets, **scores
    )
    slab = {"mse in gap": 0.002, **{f"mse in gap, other {place}": 0.002 for place in range(3)}}
    rows = one("orthogonal", r2_all=0.945) + one("orthogonal", "monolithic", r2_all=-0.5)
    rows += one("orthogonal gap", **{"r2 all": 0.8, **slab}) + one("random", r2_all=0.957)
    rows += one("random", "monolithic", r2_all=0.931) + one("diagonal 0.2", r2_all=0.955)
    rows += one("diagonal 0.05", r2_all=0.6) + one("orthogonal normal", r2_all=0.95)
    rows += one("orthogonal*", **{"mse all": 0.002, "share on B": 0.5, "share on O": 0.003})
    rows += one("orthogonal", "rgba", **{"r2 all": 0.98, "mse all": 0.00042, "opaque at start": 1.0})
    rows += one("orthogonal+") + one("diagonal 0.1")
    dead = {"r2 id": -0.1, "r2 all": -0.06, "opaque at start": 0.0}
    return rows if scale == "tiny" else rows + one("orthogonal", "rgba", **dead)


@pytest.mark.parametrize("number", ["1", "2", "3", "4a", "4b", "4d", "5a", "8a", "8b", "9b", "10"])
def test_claims_hold_for_what_the_paper_reports(number):
    outcome = judge(number, good("full"))
    assert outcome.verdict is Standing.HOLDS, outcome
    seeds = "6 seeds" if number == "9b" else "3 to 6 seeds" if number == "10" else "3 seeds"
    assert outcome.value.endswith(f"(full: 392,000 steps, {seeds})")


SPOILT = [
    ("1", ("random", "monolithic"), {"r2 all": 0.9}),
    ("2", ("orthogonal", "monolithic"), {"r2 all": 0.3}),
    ("2", ("orthogonal", "monolithic"), {"r2 id": 0.5}),
    ("2", ("orthogonal", None), {"r2 id": 0.79}),
    ("3", ("orthogonal normal", "compositional"), {"r2 all": 0.94}),
    ("4a", ("orthogonal gap", "compositional"), {"r2 id": 0.9}),
    ("4a", ("orthogonal gap", "compositional"), {"mse in gap": 0.0014}),
    ("4a", ("orthogonal gap", "compositional"), {"r2 all": 0.95}),
    ("4d", ("orthogonal gap", "compositional"), {"r2 all": 0.93}),
    ("4b", ("orthogonal gap", "compositional"), {"mse in gap, other 1": 0.004}),
    ("5a", ("diagonal 0.05", "compositional"), {"r2 all": 0.99}),
    ("8a", ("orthogonal*", "compositional"), {"mse all": 0.0012}),
    ("8b", ("orthogonal*", "compositional"), {"share on B": 0.2}),
    ("8b", ("orthogonal*", "compositional"), {"share on O": 0.05}),
    ("8b", ("orthogonal*", "compositional"), {"mse all": 0.0024}),
    ("8b", ("orthogonal*", "compositional"), {"mse all": 0.0016}),
    ("9b", ("orthogonal", "rgba"), {"opaque at start": 1.0}),
    ("10", ("orthogonal", "rgba"), {"r2 all": 0.9}),
    ("10", ("orthogonal", "rgba"), {"mse all": 0.0009}),
]


@pytest.mark.parametrize(("number", "place", "change"), SPOILT)
def test_claims_fail_when_their_number_is_off(number, place, change):
    name, model = place
    hit = lambda row: row["support"] == name and model in (None, row["model"])  # noqa: E731
    assert judge(number, [row | change if hit(row) else row for row in good("full")]).verdict is Standing.FAILS


def test_the_value_says_how_long_was_trained():
    assert judge("1", good("full") + good("short")).value.endswith("(full: 392,000 steps, 3 seeds)")
    short = judge("1", good("short"))
    assert short.value.endswith("(direction only)")
    assert "short: 3,300 steps, 3 seeds, stand in" in short.detail
    assert judge("2", good("short")).value.endswith("(short: 3,300 steps, 3 seeds)")
    assert judge("2", good("tiny")).value.endswith("(tiny: on blobs, 3 seeds)")


def test_collapsed_seeds_are_counted():
    assert "orthogonal (rgba): 3 of 6 seeds collapsed" in judge("10", good("short")).detail
    assert "collapsed" not in judge("1", good("short")).detail


@pytest.mark.parametrize(("number", "model"), [("10", "rgba"), ("2", "monolithic"), ("4a", "compositional")])
def test_nothing_is_said_when_all_seeds_collapsed(number, model):
    rows = [row | {"r2 id": -0.1} if row["model"] == model else row for row in good("short")]
    outcome = judge(number, good("tiny") + rows)
    assert outcome.verdict is Standing.NOT_RUN
    assert "all collapsed" in outcome.detail


def test_a_seed_without_a_score_is_not_left_out_in_silence():
    rows = [row for model in ("compositional", "monolithic") for row in trained("full", "random", model, r2_all=0.96)]
    assert judge("1", rows).verdict is Standing.HOLDS
    assert judge("1", [{**rows[0], "r2 all": float("nan")}, *rows[1:]]).verdict is Standing.FAILS


def test_the_largest_scale_that_has_everything_is_read():
    rows = good("tiny") + good("short")
    table = Table.from_rows(rows + trained("full", "random", "compositional"))
    assert DecoderRows.largest(table, ("random", "compositional")).scale == "full"
    assert DecoderRows.largest(table, ("random", "compositional"), ("random", "monolithic")).scale == "short"
    with pytest.raises(
        MissingRowsError, match=r"needs random \(unheard of\) at full or annealed or short or tiny scale"
    ):
        DecoderRows.largest(table, ("random", "unheard of"))


def test_sprites_only_claims_are_not_judged_on_blobs():
    for number in ("3", "8b", "9b", "9c", "5b", "20"):
        assert judge(number, good("tiny")).verdict is Standing.NOT_RUN
    for number in ("2", "4a", "5a", "8a", "10"):
        assert judge(number, good("tiny")).verdict is Standing.HOLDS


def test_seeds_at_full_scale():
    wobble = [row | {"r2 all": row["r2 all"] + 1e-3 * row["seed"]} for row in good("full") if row["model"] != "rgba"]
    more = [
        row | {"seed": row["seed"] + 3, "r2 all": 0.3 if "0.05" in row["support"] else row["r2 all"]} for row in wobble
    ]
    two_ways = [row | {"r2 all": 0.3 if row["seed"] > 2 else 0.9} for row in wobble + more]
    assert judge("5b", two_ways).verdict is Standing.HOLDS
    assert judge("20", wobble + more).verdict is Standing.HOLDS
    assert judge("20", wobble).verdict is Standing.NOT_RUN
    narrow = [row for row in wobble + more if "0.05" in row["support"]]
    wide = [row for row in wobble + more if "0.05" not in row["support"]]
    assert judge("20", wide + narrow[:4]).verdict is Standing.NOT_RUN
    assert judge("5b", narrow).verdict is Standing.FAILS
    assert judge("5b", [row | {"r2 all": 0.3} for row in narrow]).verdict is Standing.FAILS
    loud = [row | {"r2 all": row["r2 all"] + 0.01 * row["seed"]} for row in wobble + more]
    assert judge("20", loud).verdict is Standing.FAILS


def test_sigmoid_claim():
    rows = good("short") + trained("short", "orthogonal", "rgba sigmoid", r2_all=0.87)
    assert judge("9c", rows).verdict is Standing.HOLDS
    rows = good("short") + trained("short", "orthogonal", "rgba sigmoid", r2_all=0.99)
    assert judge("9c", rows).verdict is Standing.FAILS
    rows = good("short") + trained("short", "orthogonal", "rgba sigmoid", r2_id=-0.1, r2_all=-0.1)
    assert judge("9c", rows).verdict is Standing.FAILS


def test_first_gradients_and_opacities():
    experiment = PAPER.by_name["collapse"]
    units = [Unit(unit.experiment, 1, unit.setting | {"images": 2}) for unit in experiment.units("quick")]
    rows = [row for unit in units for row in experiment.function(unit)]
    assert judge("9a", rows).verdict is Standing.HOLDS
    assert judge("9a", [row | {"gradient": 0.0} for row in rows]).verdict is Standing.FAILS


def test_the_variance_tells_the_targets_apart():
    experiment = PAPER.by_name["targets"]
    rows = [row for unit in experiment.units("quick")[:2] for row in experiment.function(unit)]
    found = judge("17", rows)
    assert found.verdict is Standing.HOLDS
    assert [part.name for part in found.parts if part.held] == ["variance, hard", "variance, soft"]
    bent = judge("17", [row | {"variance": 1.05 * row["variance"]} for row in rows])
    assert bent.verdict is Standing.FAILS
    assert not any(part.held for part in bent.parts)


def test_a_better_fit_is_no_failure_to_fit():
    rows = [row | {"r2 all": row["r2 all"] + 0.02} for row in good("full")]
    assert judge("1", rows).verdict is Standing.HOLDS


def test_the_conditions_by_support():
    names = ("orthogonal", "orthogonal*", "orthogonal gap", "diagonal 0.05", "random", "diagonal 0.2")
    unseen = ("orthogonal*", "diagonal 0.05")
    rows = [
        {"support": name, "missing": 0.4 * ("gap" in name), "back pixels": 0.99 if name in unseen else 1.0}
        for name in names
    ]
    assert judge("6b", rows).verdict is Standing.HOLDS
    assert judge("6b", rows[:5]).verdict is Standing.NOT_RUN
    assert judge("6b", [row | {"missing": 0.1} for row in rows]).verdict is Standing.FAILS


def few(setting: dict[str, Any], **more: Any) -> Unit:
    return Unit("test", 1, setting | {"samples": 40, "tests": 30, "steps": 3, "batch": 16, "seeds": [0, 1]} | more)


def test_additive_errors_follow_the_law_whatever_was_learned():
    unit = few(PAPER.by_name["additive"].units("quick")[0].setting, tests=300)
    rows = PAPER.by_name["additive"].function(unit)
    assert all(row["law residual"] < 1e-5 < np.sqrt(row["mse all"]) for row in rows)
    ratio = [row | {"support": name, "ratio": 3.1} for row in rows for name in ("orthogonal", "orthogonal*")]
    assert judge("15b", ratio).verdict is Standing.HOLDS
    assert judge("15b", [row | {"ratio": 4.0} for row in ratio]).verdict is Standing.FAILS


@pytest.mark.parametrize("scale", ["quick", "full"])
def test_a_unit_gives_one_row_per_seed_that_claims_can_read(scale):
    setting = PAPER.by_name["decoders"].units(scale)[0].setting
    rows = PAPER.by_name["decoders"].function(few(setting, samples=10, tests=10, steps=2, batch=5))
    assert [row["seed"] for row in rows] == [0, 1]
    row = rows[0]
    parts = [row[f"share {name}"] for name in ("front", "back", "empty")]
    assert sum(parts) == pytest.approx(1)
    assert row["strict r2 all"] == pytest.approx(1 - row["mse all"] / row["variance all"])
    assert row["share ood"] == 1.0
    assert row["mse ood"] == pytest.approx(row["mse all"], rel=1e-5)
    assert set(good("short")[0]) <= set(row)


def test_a_short_run_is_the_beginning_of_the_full_one():
    short, full = (next(one for one in FULL if one["scale"] == scale) for scale in ("short", "full"))
    assert {name for name in short if short[name] != full[name]} == {"scale", "steps", "seeds"}
    assert sorted(TABLE) == sorted(set(TABLE))
    assert len(TABLE) == 12


@pytest.mark.parametrize("name", NAMES)
def test_supports_hold_what_they_sample(name):
    found = support(name)
    points = found.sample(200, 0)
    assert points.shape == (200, 2, len(SPRITE))
    assert found.contains(points).all()
    assert ((points >= 0) & (points <= 1)).all()
    if name == "orthogonal gap":
        x = points[:, 0, 0]
        assert ((x < GAP_X[0]) | (x > GAP_X[1])).all()
    if name.startswith("diagonal"):
        width = float(name.split()[1])
        assert np.abs(points[:, 0] - points[:, 1]).max() <= 2**0.5 * width + 1e-9


def test_an_unknown_support_is_named():
    with pytest.raises(InputError, match="did you mean 'orthogonal'"):
        support("ortogonal")


def drawn(side: int = 12) -> Rows:
    rng = np.random.default_rng(0)
    conditions = [("orthogonal", "compositional"), ("orthogonal", "monolithic"), ("orthogonal gap", "compositional")]
    rows: Rows = []
    for name, model in (*conditions, ("orthogonal*", "compositional")):
        about = {"scale": "tiny", "support": name, "model": model, "targets": "soft", "seed": 0, "side": side}
        pair = rng.integers(0, 255, (2, SHOWN_PICTURES, 3, side, side), dtype=np.uint8)
        rows += [{**about, "what": word, "data": pack(pair)} for word in ("ID", "OOD")]
        middles = (np.arange(MAP_CELLS) + 0.5) / MAP_CELLS
        slab = (middles > GAP_X[0]) & (middles < GAP_X[1]) & (name == "orthogonal gap")
        field = np.tile(np.where(slab, 3.0, 1.0)[:, None], (1, MAP_CELLS)).astype(np.float32)
        rows.append({**about, "what": "x and x", "data": pack(field)})
        rows.append({**about, "what": "pixels", "data": pack(rng.random((side, side)).astype(np.float32))})
    return rows


def test_the_band_of_the_gap():
    assert judge("4c", drawn()).verdict is Standing.HOLDS
    assert judge("4c", drawn()).value == "error inside the gap: 3 x; error outside: 1 x (tiny: on blobs)"
    flat = pack(np.ones((MAP_CELLS, MAP_CELLS), np.float32))
    spoilt = [row | {"data": flat} if row["what"] == "x and x" else row for row in drawn()]
    assert judge("4c", spoilt).verdict is Standing.FAILS


@pytest.mark.parametrize("name", ["reconstructions", "gap-map", "ghost"])
def test_figures_of_unfinished_runs_say_so(name):
    plot = next(plot for plot in PAPER.figures if plot.name == name)
    some = [row for row in drawn() if row["support"] == ("random" if name == "gap-map" else "orthogonal*")]
    some = some or [row | {"support": "random"} for row in drawn()]
    assert "not finished" in PaperFigure(plot, evidence("pictures", some)).svg()
    assert judge("4c", some).verdict is Standing.NOT_RUN


def test_pictures_of_a_model():
    setting = PAPER.by_name["pictures"].units("quick")[0].setting
    rows = PAPER.by_name["pictures"].function(few(setting, seeds=[0]))
    assert [row["what"] for row in rows] == ["ID", "OOD", "pixels", "x and x"]


@pytest.mark.parametrize("name", ["rows", "reconstructions", "gap-map", "ghost"])
def test_figures_draw(name):
    plot = next(plot for plot in PAPER.figures if plot.name == name)
    results = evidence("decoders", good("short")) | evidence("pictures", drawn())
    figure = PaperFigure(plot, results)
    assert figure.svg().startswith("<svg")
    assert len(figure.alternative) > 20
