"""Small decoders of forced-rendering: they paste, stripes make them compose, and the claims read what they leave."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from recombine.errors import InputError
from recombine.papers import Standing, find
from recombine.papers.forced_rendering.experiments.controls import places_read
from recombine.papers.forced_rendering.experiments.networks import decoders, inner_hole, layers, pictures, shown_place
from recombine.papers.forced_rendering.experiments.remedies import exponent, low_rank, margin, needed, training_rows
from recombine.papers.forced_rendering.experiments.training import (
    DEFAULTS,
    decoder_of,
    samples_of,
    sheets_of,
    train,
    world_of,
)
from recombine.papers.forced_rendering.readings.rows import mean
from recombine.papers.results import Evidence, Provenance
from recombine.report.papers.figure import PaperFigure
from recombine.runs.experiment import Unit
from recombine.tables.table import Table
from recombine.worlds.rendered.bumps import BumpWorld, Hole

PAPER = find("forced-rendering")
TINY = {
    "side": 12,
    "hole": [2, 9],
    "draws": 0,
    "hidden": 8,
    "depth": 2,
    "epochs": 40,
    "rate": 6e-3,
    "batch": 16,
    "code": "one-hot",
}


def unit(**setting: Any) -> Unit:
    return Unit("test", 1, {"seeds": [0], **setting})


def judged(number: str, rows: list[dict[str, Any]]) -> Standing:
    return PAPER.claim(number).read(Table.from_rows(rows)).verdict


@pytest.fixture(scope="module")
def plain() -> dict[str, Any]:
    return decoders(unit(**TINY))[0]


@pytest.fixture(scope="module")
def striped() -> dict[str, Any]:
    return decoders(unit(**TINY, stripes=2))[0]


def test_a_decoder_that_solves_the_donut_pastes_in_the_hole(plain: dict[str, Any]) -> None:
    assert plain["seen peaks"] == 1.0
    assert plain["unseen peaks"] < 0.5
    assert plain["pasted"] > 2 * plain["correlation"]
    assert plain["on cross"] > 3 * plain["off cross"]


@pytest.mark.slow
def test_stripes_make_the_same_decoder_compose(plain: dict[str, Any], striped: dict[str, Any]) -> None:
    assert striped["unseen peaks"] > 0.95
    assert striped["correlation"] > plain["correlation"] + 0.3
    # F hardly tells the two apart; the volume ratio does.
    assert abs(striped["factorization"] - plain["factorization"]) < 0.1
    assert striped["volume ratio"] > 1.5 * plain["volume ratio"]


@pytest.mark.slow
def test_the_variance_term_composes_and_one_component_does_not() -> None:
    small = {"side": 8, "width": 1.0, "corner": 4, "epochs": 120, "rate": 5e-3, "batch": 16}
    found = {penalty: low_rank(unit(penalty=penalty, **small))[0] for penalty in ("entropy", "variance")}
    assert found["variance"]["unseen peaks"] > found["entropy"]["unseen peaks"] + 0.3
    assert found["entropy"]["rank"] < 2 < found["variance"]["rank"]
    assert found["variance"]["striped"] > found["entropy"]["striped"]


def test_layers_start_at_the_code_and_end_at_the_image() -> None:
    rows = layers(unit(**{**TINY, "epochs": 2}))
    assert [row["layer"] for row in rows] == [0, 1, 2, 3, 4]
    assert [row["last"] for row in rows] == [False] * 4 + [True]
    assert rows[0]["additive share"] == pytest.approx(1)
    assert rows[0]["factorization"] == pytest.approx(1)


def test_short_coordinates_of_a_layer_keep_its_inner_products() -> None:
    setting = {**DEFAULTS, **TINY, "side": 8, "hole": [2, 5], "epochs": 1}
    world = world_of(setting)
    trained = train(unit(**setting), setting, world)
    import torch

    codes = torch.from_numpy(world.grid().codes).float()[None]
    with torch.no_grad():
        activations = trained.ensemble.architecture.features(trained.parameters, codes)
    for sheet, layer in zip(sheets_of(trained, world, 0), activations, strict=True):
        full = layer[0].flatten(1).double().numpy()
        flat = sheet.reshape(64, -1)
        assert flat.shape[1] <= 64
        np.testing.assert_allclose(flat @ flat.T, full @ full.T, atol=1e-6 * np.abs(full @ full.T).max())


def test_pictures_are_indexed_by_line_and_column() -> None:
    setting = {**TINY, "epochs": 1}
    rows = Table.from_rows(pictures(unit(**setting)))
    x, y = shown_place(world_of({**DEFAULTS, **setting}))
    truth = rows.where(rows["picture"] == "truth")
    brightest = int(np.argmax(truth["value"]))
    assert (truth["column"][brightest], truth["line"][brightest]) == (x, y)
    assert x != y


def test_training_sets() -> None:
    setting = {**DEFAULTS, "draws": 50, "stripes": 2}
    world = world_of(setting)
    one, same, other = (samples_of(world, setting, seed) for seed in (0, 0, 1))
    assert len(one) == 50 + 2 * 56
    assert (one.codes == same.codes).all()
    assert (one.codes != other.codes).any()
    assert not world.hole(one.centres[:50]).any()
    canvas = world_of({**setting, "margin": 6})
    drawn = samples_of(canvas, {**setting, "margin": 6, "stripes": 0}, seed=0)
    # A script that crops a canvas adds blank images, and no stripe.
    assert (drawn.images.reshape(50, -1).max(axis=1) < 0.1).any()
    with pytest.raises(InputError, match="cnn, mlp, pixel, transformer"):
        decoder_of({**DEFAULTS, "model": "vae"}, 56)


def test_rows_to_train_on_are_nested_and_stripes_come_last() -> None:
    world = BumpWorld(6)
    rows = training_rows(world, 10, seed=3, stripes=True)
    assert len(rows) == 22
    assert (rows[10:] >= 36).all()
    assert len(set(rows.tolist())) == 22
    assert (training_rows(world, 4, seed=3, stripes=False) == rows[:4]).all()


def test_bumps_needed_and_their_exponent() -> None:
    bumps = np.array([10.0, 20.0, 40.0])
    assert needed(bumps, np.array([0.1, 0.5, 0.8])) != needed(bumps, np.array([0.1, 0.5, 0.8]))
    assert needed(bumps, np.array([0.95, 0.97, 0.99])) == 10
    # An exact power law with noise: the error of the exponent is what the scatter says.
    generator = np.random.default_rng(0)
    sides = np.array([8.0, 12, 16, 24, 32])
    fits = [exponent(sides, sides**2 * np.exp(0.1 * generator.normal(size=5))) for _ in range(2000)]
    slopes, errors = np.array(fits).T
    assert slopes.mean() == pytest.approx(2, abs=0.01)
    assert np.sqrt((errors**2).mean()) == pytest.approx(slopes.std(), rel=0.05)
    # Two standard errors would cover 0.86 only: with five sides there are three degrees of freedom.
    assert (np.abs(slopes - 2) < margin(5) * errors).mean() == pytest.approx(0.95, abs=0.015)


def test_codes_are_read_back() -> None:
    for code in ("one-hot", "bump", "ramp", "scaled-ramp", "positional"):
        world = BumpWorld(9, encoding=code)
        assert (places_read(world.grid().codes, world) == world.grid().centres).all()


def test_the_inner_hole_keeps_its_distance() -> None:
    inner = inner_hole(BumpWorld(32, hole=Hole.corner(12)))
    assert inner.sum() == 16 * 16
    assert not inner[15].any()
    assert inner[16, 31]
    assert (inner_hole(BumpWorld(16, hole=Hole.square(6, 9))) == ~BumpWorld(16, hole=Hole.square(6, 9)).seen()).all()


def _decoder_rows(**columns: Any) -> list[dict[str, Any]]:
    base = {"model": "cnn", "code": "one-hot", "side": 28, "depth": 4, "draws": 2000, "stripes": 0, "margin": 0}
    base |= {"hole side": 17, "seen error": 1e-5, "unseen error": 4e-3, "relative error": 1.0, "seen peaks": 1.0}
    base |= {
        "unseen peaks": 0.2,
        "inner peaks": 0.0,
        "correlation": 0.1,
        "pasted": 0.8,
        "spanned": 0.95,
        "pasted seen": 0.4,
    }
    base |= {"on cross": 0.5, "off cross": 0.1, "stand-in error": 1e-3}
    return [{**base, **columns, "seed": seed} for seed in range(5)]


def test_claims_notice_when_they_are_wrong() -> None:
    codes = ("one-hot", "bump", "positional", "scaled-ramp")
    failing = [row for code in codes for row in _decoder_rows(code=code, pasted=0.1 if "ramp" in code else 0.8)]
    failing += _decoder_rows(model="mlp")
    assert [judged(number, failing) for number in ("1", "2", "3", "4", "5b")] == [
        Standing.HOLDS,
        Standing.HOLDS,
        Standing.HOLDS,
        Standing.CONTRADICTS,
        Standing.HOLDS,
    ]
    composing = [{**row, "relative error": 0.01, "inner peaks": 1.0, "correlation": 0.99} for row in failing]
    assert judged("1", composing) is Standing.FAILS
    assert judged("3", composing) is Standing.FAILS
    assert judged("4", [{**row, "pasted": 0.8} for row in failing]) is Standing.HOLDS
    composing_pixels = _decoder_rows(model="pixel", code="bump", **{"unseen peaks": 1.0, "correlation": 0.9})
    assert judged("13", composing_pixels) is Standing.CONTRADICTS
    assert judged("13", _decoder_rows(model="pixel", code="bump")) is Standing.HOLDS
    canvas = _decoder_rows() + _decoder_rows(margin=6)
    assert judged("11", canvas) is Standing.CONTRADICTS
    assert judged("11", _decoder_rows() + _decoder_rows(margin=6, **{"unseen peaks": 0.9})) is Standing.HOLDS


def test_the_penalty_claim_needs_both_sides() -> None:
    def rows(entropy: float, variance: float, components: float = 1.0) -> list[dict[str, Any]]:
        peaks = {"none": 0.1, "entropy": entropy, "variance": variance, "both": 0.95}
        about = {"side": 32, "relative error": 1.0, "striped": 0.5}
        return [
            {**about, "penalty": name, "seed": seed, "unseen peaks": value}
            | {"rank": components if name == "entropy" else 9.0}
            for name, value in peaks.items()
            for seed in range(5)
        ]

    assert judged("12a", rows(0.2, 1.0)) is Standing.HOLDS
    assert judged("12b", rows(0.2, 1.0)) is Standing.CONTRADICTS
    assert judged("12b", rows(0.2, 0.3)) is Standing.FAILS
    assert judged("12b", rows(0.2, 1.0, components=3.0)) is Standing.FAILS
    assert judged("12b", rows(0.99, 1.0)) is Standing.HOLDS


@pytest.mark.parametrize(
    ("power", "verdict"), [(2.0, Standing.CONTRADICTS), (3.0, Standing.HOLDS), (1.0, Standing.FAILS)]
)
def test_the_exponent_claim_reads_the_power_law(power: float, verdict: Standing) -> None:
    rows = [
        {"side": side, "stripes": stripes, "bumps": bumps, "seed": 0}
        | {"correlation": min(1.0, 0.9 * bumps / (0.5 * side**power if not stripes else side)), "peaks": 1.0}
        for side in (12, 16, 24, 32)
        for stripes in (0, 1)
        for bumps in np.unique(np.geomspace(1, 40_000, 400).round()).tolist()
    ]
    assert judged("15b", rows) is verdict
    if power > 1:
        assert judged("15a", rows) is Standing.HOLDS


def test_every_experiment_has_a_claim_and_every_setting_trains_something() -> None:
    read = {claim.reads for claim in PAPER.claims}
    assert set(PAPER.by_name) <= read
    numbers = {claim.number.rstrip("abc") for claim in PAPER.claims}
    assert {str(number) for number in range(1, 18)} <= numbers
    for experiment in PAPER.experiments:
        assert experiment.units("full")
        assert experiment.units("quick")


def test_figures_are_drawn_from_rows(plain: dict[str, Any], striped: dict[str, Any]) -> None:
    more = [{**row, "seed": seed} for seed in (0, 1) for row in (plain, striped)]
    drawn = layers(unit(**{**TINY, "epochs": 1}))
    made = pictures(unit(**{**TINY, "epochs": 1}))
    efficiency = [
        {"side": side, "stripes": stripes, "bumps": bumps, "seed": 0, "correlation": 0.4 + 0.005 * bumps, "peaks": 1.0}
        for side in (8, 12, 16)
        for stripes in (0, 1)
        for bumps in (10, 50, 120)
    ]
    penalties = [
        {"penalty": name, "seed": seed, "unseen peaks": 0.5, "rank": 3.0, "striped": 0.4, "side": 10}
        for name in ("none", "entropy", "variance", "both")
        for seed in (0, 1)
    ]
    tables = {"donut": more, "hole": more, "stripes": more, "layers": drawn, "pictures": made}
    tables |= {"efficiency": efficiency, "low-rank": penalties}
    results = {
        name: Evidence(Table.from_rows(rows), Provenance(name, "quick", "", "", "cpu", 1.0, [], {}))
        for name, rows in tables.items()
    }
    shown = [plot for plot in PAPER.figures if plot.drawable(results)]
    assert len(shown) >= 8
    for plot in shown:
        figure = PaperFigure(plot, results)
        assert figure.svg().startswith("<svg")
        assert len(figure.alternative) > 20


def test_a_mean_of_nothing_satisfies_no_bound() -> None:
    assert not mean(Table({"code": ["bump"], "peaks": [0.2]}), "peaks", code="ramp") < 1
