"""Decoder experiments on a few images, the claims that read them at each scale, and the figures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas

from recombine.errors import InputError
from recombine.lab.papers import Standing, find
from recombine.lab.papers.claims import Outcome
from recombine.lab.papers.first_principles.experiments.pictures import MAP_CELLS, SHOWN_PICTURES, pack
from recombine.lab.papers.first_principles.experiments.supports import GAP_X, NAMES, SPRITE, support
from recombine.lab.papers.first_principles.grids import FULL, TABLE
from recombine.lab.papers.first_principles.readings.decoders import GROWN, PUBLISHED, RELEASED
from recombine.lab.papers.first_principles.readings.gates import FAILED_BELOW_R2, UNPAINTED_ERROR
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
    usual |= {"mse id": 0.0006, "mse front": 0.02, "mse back": 0.01}
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
    rows += one("orthogonal*", **{"mse all": 0.002, "mse id": 0.0004, "share on B": 0.5, "share on O": 0.003})
    rows += one("orthogonal", "rgba", **{"r2 all": 0.98, "mse all": 0.00042, "opaque at start": 1.0})
    rows += one("orthogonal+") + one("diagonal 0.1")
    dead = {"r2 id": -0.1, "r2 all": -0.06, "opaque at start": 0.0}
    return rows if scale == "tiny" else rows + one("orthogonal", "rgba", **dead)


def released() -> Rows:
    """The twelve rows as the authors' table has them, seed by seed; who fails lost the front, as networks here do."""
    rows: Rows = []
    for (name, model), (r2, r2_all) in PUBLISHED.items():
        scores = {"r2 id": r2, "mse id": 0.001 / GROWN.get((name, model), 1.79)}
        scores |= {"opaque at start": 1.0 if model == "rgba" else float("nan")}
        scored = RELEASED.get((name, model), (r2_all,) * 3)
        for row, score in zip(trained("full", name, model, len(scored), **scores), scored, strict=True):
            failed = model == "compositional" and score < FAILED_BELOW_R2
            rows.append(row | {"r2 all": score} | ({"mse front": 0.97 * UNPAINTED_ERROR} if failed else {}))
    return rows


@pytest.mark.parametrize("number", ["1", "2", "3", "4a", "4b", "4d", "5a", "8a", "8b", "9b", "10", "22"])
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
    ("5a", ("diagonal 0.2", "compositional"), {"r2 all": 0.59}),
    ("8a", ("orthogonal*", "compositional"), {"mse all": 0.0012}),
    ("8b", ("orthogonal*", "compositional"), {"share on B": 0.2}),
    ("8b", ("orthogonal*", "compositional"), {"share on O": 0.05}),
    ("8b", ("orthogonal*", "compositional"), {"mse all": 0.0024}),
    ("8b", ("orthogonal*", "compositional"), {"mse all": 0.0016}),
    ("9b", ("orthogonal", "rgba"), {"opaque at start": 1.0}),
    ("10", ("orthogonal", "rgba"), {"r2 all": 0.9}),
    ("10", ("orthogonal", "rgba"), {"mse all": 0.0009}),
    ("22", ("orthogonal*", "compositional"), {"mse id": 0.0019}),
    ("22", ("orthogonal gap", "compositional"), {"mse id": 0.0001}),
]


@pytest.mark.parametrize(("number", "place", "change"), SPOILT)
def test_claims_fail_when_their_number_is_off(number, place, change):
    name, model = place
    hit = lambda row: row["support"] == name and model in (None, row["model"])  # noqa: E731
    assert judge(number, [row | change if hit(row) else row for row in good("full")]).verdict is Standing.FAILS


@pytest.mark.parametrize("number", ["1", "2", "3", "4d", "5a", "5b", "20", "21", "22", "23", "24"])
def test_claims_hold_for_the_released_networks(number):
    outcome = judge(number, released())
    assert outcome.verdict is Standing.HOLDS, outcome


def dead(row: dict[str, Any]) -> bool:
    return row["mse front"] > 0.4


def alive(row: dict[str, Any]) -> bool:
    return not dead(row)


SPOILT_RELEASED = [
    # Living networks alone: dead ones keep the mean of the narrow diagonal low.
    ("5a", "diagonal 0.05", alive, {"r2 all": 0.99}),
    ("5b", "diagonal 0.05", alive, {"r2 all": 0.7}),
    ("5b", "diagonal 0.05", dead, {"r2 all": 0.7}),
    ("20", "diagonal 0.05", dead, {"r2 all": 0.8}),
    ("21", "random", alive, {"r2 all": 0.36}),
    ("21", "diagonal 0.05", alive, {"r2 all": 0.99}),
    ("22", "orthogonal*", alive, {"mse all": 0.0005}),
    ("22", "orthogonal+", alive, {"mse all": 0.004}),
    ("23", "random", alive, {"r2 all": 0.9}),
    ("23", "random", alive, {"r2 all": 0.97}),
    ("23", "diagonal 0.05", alive, {"r2 all": -0.1}),
    ("24", "diagonal 0.05", dead, {"mse front": 0.03}),
    ("24", "diagonal 0.05", dead, {"mse back": 0.06}),
    ("24", "diagonal 0.05", dead, {"r2 all": 0.7}),
    ("24", "diagonal 0.1", alive, {"mse front": 0.2}),
    ("24", "diagonal 0.1", alive, {"r2 all": 0.5}),
]


@pytest.mark.parametrize(("number", "support", "which", "change"), SPOILT_RELEASED)
def test_claims_fail_when_released_networks_are_off(number, support, which, change):
    rows = [row | change if row["support"] == support and which(row) else row for row in released()]
    assert judge(number, rows).verdict is Standing.FAILS


def diagonals(seeds: int, scored: dict[str, tuple[float, ...]] | None = None) -> Rows:
    """The first released seeds of the narrow and the wide diagonal; other scores where a test gives them."""
    rows = [row for row in released() if row["support"] in ("diagonal 0.05", "diagonal 0.2") and row["seed"] < seeds]
    return [row | {"r2 all": scored[row["support"]][row["seed"]]} if scored else row for row in rows]


def test_a_difference_between_diagonals_may_be_uncertain():
    both = {part.name: part.held for part in judge("5a", diagonals(5)).parts}
    assert both["wide less narrow, points of R2"] is both["the same, front painted"] is True
    # One of three narrow networks is dead: the mean differs most, and least surely; the living ones do differ.
    few = judge("5a", diagonals(3))
    assert few.verdict is Standing.UNDECIDED
    assert "too few seeds to tell" in few.detail
    held = {part.name: part.held for part in few.parts}
    assert held["wide less narrow, points of R2"] is None
    assert held["the same, front painted"] is True
    wavering = {"diagonal 0.2": (0.95, 0.95, 0.95), "diagonal 0.05": (0.90, 0.97, 0.90)}
    alive_only = [row | {"mse front": 0.02} for row in diagonals(3, wavering)]
    assert judge("5a", alive_only).verdict is Standing.UNDECIDED


def test_one_seed_decides_nothing_between_diagonals():
    rows = [row | {"mse front": 0.02, "scale": "tiny"} for row in diagonals(2)]
    single = judge("5a", [row for row in rows if row["support"] == "diagonal 0.05" or row["seed"] == 0])
    assert single.verdict is Standing.UNDECIDED
    assert "too few seeds to tell" in single.detail
    apart = judge("5a", [row for row in rows if (row["support"] == "diagonal 0.05") == (row["seed"] == 0)])
    assert apart.verdict is Standing.NOT_RUN
    assert "needs a seed that both rows have" in apart.detail
    assert judge("5a", [row | {"mse front": 0.44} for row in rows]).verdict is Standing.NOT_RUN


def test_a_dead_and_a_leaking_front_are_told_apart():
    part_painted = 0.5 * UNPAINTED_ERROR
    rows = [
        row | {"mse front": part_painted, "r2 all": 0.5}
        if (row["support"], row["seed"]) == ("diagonal 0.1", 4)
        else row
        for row in released()
    ]
    outcome = judge("24", rows)
    assert outcome.verdict is Standing.HOLDS, outcome
    values = {part.name: part.value for part in outcome.parts}
    assert (values["dead, full"], values["leaking, full"]) == ("3", "1")
    assert values["R2 on all, diagonal 0.1, dead or leaking"] == "0.5"
    assert values["R2 on all, diagonal 0.2, dead or leaking"] == "none"
    assert outcome.detail.startswith("4 networks dead or leaking")


def test_claims_on_released_rows_wait_for_the_length_of_the_paper():
    shorter = [row | {"scale": "annealed"} for row in released()]
    for number in ("5b", "20", "23", "24"):
        assert judge(number, shorter).verdict is Standing.NOT_RUN
    for number in ("5a", "21", "22"):
        assert judge(number, shorter).verdict is Standing.HOLDS
    two_bands = [row for row in released() if row["support"] != "diagonal 0.1"]
    for number in ("21", "24"):
        assert judge(number, two_bands).verdict is Standing.NOT_RUN


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
    for number in ("3", "8b", "9b", "9c", "5b", "20", "21", "22", "23", "24"):
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
    assert judge("20", [row for row in wobble if row["seed"] < 2]).verdict is Standing.NOT_RUN
    narrow = [row for row in wobble + more if "0.05" in row["support"]]
    wide = [row for row in wobble + more if "0.05" not in row["support"]]
    assert judge("20", wide + narrow[:2]).verdict is Standing.NOT_RUN
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


@pytest.mark.slow
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


def drawn(side: int = 12, scale: str = "tiny") -> Rows:
    rng = np.random.default_rng(0)
    conditions = [("orthogonal", "compositional"), ("orthogonal", "monolithic"), ("orthogonal gap", "compositional")]
    rows: Rows = []
    for name, model in (*conditions, ("orthogonal*", "compositional")):
        about = {"scale": scale, "support": name, "model": model, "targets": "soft", "seed": 0, "side": side}
        pair = rng.integers(0, 255, (2, SHOWN_PICTURES, 3, side, side), dtype=np.uint8)
        rows += [{**about, "what": word, "data": pack(pair)} for word in ("ID", "OOD")]
        middles = (np.arange(MAP_CELLS) + 0.5) / MAP_CELLS
        slab = (middles > GAP_X[0]) & (middles < GAP_X[1]) & (name == "orthogonal gap")
        field = np.tile(np.where(slab, 3.0, 1.0)[:, None], (1, MAP_CELLS)).astype(np.float32)
        rows.append({**about, "what": "x and x", "data": pack(field)})
        rows.append({**about, "what": "pixels", "data": pack(rng.random((side, side)).astype(np.float32))})
    return rows


@pytest.mark.parametrize("name", ["reconstructions", "gap-map", "ghost"])
def test_pictures_are_of_the_longest_training_that_has_them_all(name):
    plot = next(plot for plot in PAPER.figures if plot.name == name)
    short, whole = drawn(scale="short"), drawn(scale="full")
    # The full length lacks what every one of the figures shows: planes and the compositional model.
    begun = [row for row in whole if (row["support"], row["model"]) != ("orthogonal", "compositional")]
    for rows, scale in ((short + whole, "full"), (short + begun, "short"), (whole + short, "full")):
        assert set(plot.table(evidence("pictures", rows))["scale"].tolist()) == {scale}


def test_the_band_of_the_gap():
    """The map shows the front's x across: columns of the gap are dark over their whole height, and no others are."""
    plot = next(plot for plot in PAPER.figures if plot.name == "gap-map")
    canvas = Canvas()
    plot.draw(canvas, plot.table(evidence("pictures", drawn())))
    whole, holed = (panel for panel in canvas.axes if panel.get_xlabel() == "x of the front sprite")
    assert (whole.get_title(), holed.get_title()) == ("Orthogonal", "Orthogonal gap")
    assert np.ptp(whole.images[0].get_array()) == 0
    shown = np.asarray(holed.images[0].get_array())
    assert (shown == shown[0]).all()
    middles = (np.arange(MAP_CELLS) + 0.5) / MAP_CELLS
    inside = (middles > GAP_X[0]) & (middles < GAP_X[1])
    assert inside.any()
    assert shown[0] == pytest.approx(np.where(inside, 3000, 1000))
    assert [line.get_xdata()[0] for line in holed.lines] == list(GAP_X)


@pytest.mark.parametrize("name", ["reconstructions", "gap-map", "ghost"])
def test_figures_of_unfinished_runs_say_so(name):
    plot = next(plot for plot in PAPER.figures if plot.name == name)
    some = [row for row in drawn() if row["support"] == ("random" if name == "gap-map" else "orthogonal*")]
    some = some or [row | {"support": "random"} for row in drawn()]
    assert "the runs shown here are not finished" in PaperFigure(plot, evidence("pictures", some)).svg()


def test_the_growth_of_unfinished_runs_is_not_drawn():
    plot = next(plot for plot in PAPER.figures if plot.name == "growth")
    some = [row for row in good("short") if row["support"] != "orthogonal gap"]
    figure = PaperFigure(plot, evidence("decoders", some))
    assert "the runs shown here are not finished" in figure.svg()
    assert "not finished" in figure.alternative
    assert judge("22", some).verdict is Standing.NOT_RUN


def test_pictures_of_a_model():
    setting = PAPER.by_name["pictures"].units("quick")[0].setting
    rows = PAPER.by_name["pictures"].function(few(setting, seeds=[0]))
    assert [row["what"] for row in rows] == ["ID", "OOD", "pixels", "x and x"]


@pytest.mark.parametrize("name", ["rows", "growth", "reconstructions", "gap-map", "ghost"])
def test_figures_draw(name):
    plot = next(plot for plot in PAPER.figures if plot.name == name)
    results = evidence("decoders", good("short")) | evidence("pictures", drawn())
    figure = PaperFigure(plot, results)
    assert figure.svg().startswith("<svg")
    assert len(figure.alternative) > 20


def test_networks_that_lost_their_front_are_left_out_of_means_and_marked():
    plot = next(plot for plot in PAPER.figures if plot.name == "rows")
    table = PaperFigure(plot, evidence("decoders", released())).table
    (narrow,) = table.only(support="diagonal 0.05").rows()
    assert (narrow["n"], narrow["of"]) == (2, 5)
    assert narrow["r2 all"] == pytest.approx((0.8960 + 0.8986) / 2)
    assert narrow["lost all"] == "0.39330 0.39290 0.36220"
    assert {row["lost all"] for row in table.rows() if row["support"] != "diagonal 0.05"} == {""}
