"""Small decoders of forced-rendering: they paste, stripes make them compose, and figures show what they leave."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from recombine.errors import InputError
from recombine.lab.papers import find
from recombine.lab.papers.forced_rendering.experiments.controls import read_places
from recombine.lab.papers.forced_rendering.experiments.networks import (
    bump_decoders,
    decoder_layers,
    decoder_pictures,
    inner_hole,
    shown_place,
)
from recombine.lab.papers.forced_rendering.experiments.remedies import embedding_pictures, low_rank, nested_rows
from recombine.lab.papers.forced_rendering.experiments.single_factors import single_factor_sums
from recombine.lab.papers.forced_rendering.experiments.training import (
    DEFAULTS,
    decoder_of,
    samples_of,
    sheets_of,
    train_decoders,
    world_of,
)
from recombine.lab.papers.results import Evidence, Provenance
from recombine.lab.report.figure import PaperFigure
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.rendered.bumps import BumpWorld, Hole
from recombine.tables.table import Table

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


@pytest.fixture(scope="module")
def plain() -> dict[str, Any]:
    return bump_decoders(unit(**TINY))[0]


@pytest.fixture(scope="module")
def striped() -> dict[str, Any]:
    return bump_decoders(unit(**TINY, stripes=2))[0]


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


@pytest.mark.slow
def test_what_is_painted_for_one_factor_alone_adds_up_where_a_decoder_pastes(plain: dict[str, Any]) -> None:
    row = single_factor_sums(unit(**TINY))[0]
    assert row["correlation"] == pytest.approx(plain["correlation"])
    assert row["summed"] > row["correlation"] + 0.3


@pytest.mark.slow
def test_embeddings_are_those_of_the_place_that_is_painted() -> None:
    small = {"side": 8, "width": 1.0, "corner": 4, "epochs": 60, "rate": 5e-3, "batch": 16, "penalty": "variance"}
    rows = Table.from_rows(embedding_pictures(unit(**small)))
    truth = rows.only(picture="truth")
    brightest = int(np.argmax(truth["value"]))
    assert (truth["column"][brightest], truth["line"][brightest]) == (rows["column of x"][0], rows["line of y"][0])
    assert rows["unseen peaks"][0] == pytest.approx(low_rank(unit(**small))[0]["unseen peaks"])
    assert np.abs(rows.only(picture="x")["value"]).max() == 1


def test_layers_start_at_the_code_and_end_at_the_image() -> None:
    rows = decoder_layers(unit(**{**TINY, "epochs": 2}))
    assert [row["layer"] for row in rows] == [0, 1, 2, 3, 4]
    assert [row["last"] for row in rows] == [False] * 4 + [True]
    assert rows[0]["additive share"] == pytest.approx(1)
    assert rows[0]["factorization"] == pytest.approx(1)


def test_short_coordinates_of_a_layer_keep_its_inner_products() -> None:
    setting = {**DEFAULTS, **TINY, "side": 8, "hole": [2, 5], "epochs": 1}
    world = world_of(setting)
    trained = train_decoders(unit(**setting), setting, world)
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
    rows = Table.from_rows(decoder_pictures(unit(**setting)))
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
    rows = nested_rows(world, 10, seed=3, stripes=True)
    assert len(rows) == 22
    assert (rows[10:] >= 36).all()
    assert len(set(rows.tolist())) == 22
    assert (nested_rows(world, 4, seed=3, stripes=False) == rows[:4]).all()


def test_codes_are_read_back() -> None:
    for code in ("one-hot", "bump", "ramp", "scaled-ramp", "positional"):
        world = BumpWorld(9, encoding=code)
        assert (read_places(world.grid().codes, world) == world.grid().centres).all()


def test_the_inner_hole_keeps_its_distance() -> None:
    inner = inner_hole(BumpWorld(32, hole=Hole.corner(12)))
    assert inner.sum() == 16 * 16
    assert not inner[15].any()
    assert inner[16, 31]
    assert (inner_hole(BumpWorld(16, hole=Hole.square(6, 9))) == ~BumpWorld(16, hole=Hole.square(6, 9)).seen()).all()


@pytest.mark.slow
def test_figures_are_drawn_from_rows(plain: dict[str, Any], striped: dict[str, Any]) -> None:
    more = [{**row, "seed": seed} for seed in (0, 1) for row in (plain, striped)]
    drawn = decoder_layers(unit(**{**TINY, "epochs": 1}))
    made = decoder_pictures(unit(**{**TINY, "epochs": 1}))
    efficiency = [
        {"side": side, "stripes": stripes, "bumps": bumps, "seed": 0, "correlation": 0.4 + 0.005 * bumps, "peaks": 1.0}
        for side in (8, 12, 16)
        for stripes in (0, 1)
        for bumps in (10, 50, 120)
    ]
    penalties = [
        {"penalty": name, "seed": seed, "unseen peaks": 0.5, "rank": 3.0, "striped": 0.4, "side": 10, "seen error": 0.1}
        for name in ("none", "entropy", "variance", "both")
        for seed in (0, 1)
    ]
    tables = {"donut": more, "hole": more, "stripes": more, "layers": drawn, "pictures": made}
    tables |= {"efficiency": efficiency, "low-rank": penalties, "depth": more}
    tables["tokens"] = [{**row, "model": "pixel"} for row in more]
    tables["single-factors"] = [{**row, "summed": 0.9, "summed seen": 0.8} for row in more]
    tables["embeddings"] = embedding_pictures(unit(penalty="both", side=6, width=1.0, corner=3, epochs=1))
    errors = {"error to truth": 0.03, "error to blend": 0.01, "blend to truth": 0.03}
    tables["rotation"] = [{"gap": "160-200", "seed": seed, **errors} for seed in (0, 1)]
    tables["encoder"] = [{"code": "bump", "seed": seed, "seen right": 1.0, "unseen right": 0.5} for seed in (0, 1)]
    results = {
        name: Evidence(Table.from_rows(rows), Provenance(name, "quick", "", "", "cpu", 1.0, [], {}))
        for name, rows in tables.items()
    }
    shown = [plot for plot in PAPER.figures if plot.drawable(results)]
    assert len(shown) == len(PAPER.figures)
    for plot in shown:
        figure = PaperFigure(plot, results)
        assert figure.svg().startswith("<svg")
        assert len(figure.alternative) > 20
