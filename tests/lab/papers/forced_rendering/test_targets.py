"""Forced rendering on G and on 1 - G: both are judged on G alike, and no reading mixes networks of the two."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from recombine.cells.arrays import FloatArray
from recombine.errors import InputError
from recombine.lab.papers import Standing, find
from recombine.lab.papers.forced_rendering.experiments.networks import (
    bump_decoders,
    decoder_layers,
    decoder_pictures,
    painting_scores,
    shown_place,
)
from recombine.lab.papers.forced_rendering.experiments.remedies import efficiency, low_rank
from recombine.lab.papers.forced_rendering.experiments.training import (
    DEFAULTS,
    IMAGES,
    INVERTED,
    TARGETS,
    outputs_of,
    samples_of,
    sheets_of,
    train_decoders,
    upright,
    world_of,
)
from recombine.lab.papers.forced_rendering.readings.decoders import dense_peaks_by_depth
from recombine.lab.papers.forced_rendering.readings.rows import one_target, trained_on
from recombine.lab.papers.results import load_all_evidence
from recombine.lab.runs.experiment import Unit
from recombine.tables.table import Table

PAPER = find("forced-rendering")
ROOT = Path(__file__).parents[4]
#: The claim that has numbers of both targets, side by side.
BESIDE = "27"
TINY = {"side": 8, "hole": [2, 5], "draws": 0, "hidden": 8, "depth": 2, "epochs": 1, "code": "one-hot"}


def unit(**setting: Any) -> Unit:
    return Unit("test", 1, {"seeds": [0], **TINY, **setting})


def setting(**more: Any) -> dict[str, Any]:
    return {**DEFAULTS, **TINY, **more}


@dataclass(frozen=True)
class Paints:
    """A network that paints given images, (places, pixels), whatever the code."""

    images: FloatArray

    def outputs(self, codes: FloatArray) -> Any:
        import torch

        assert len(codes) == len(self.images)
        return torch.from_numpy(self.images)[None]


@pytest.mark.parametrize("target", TARGETS)
def test_a_decoder_that_paints_its_target_is_right_everywhere(target: str) -> None:
    world = world_of(setting(target=target))
    outputs = outputs_of(Paints(world.grid().images.reshape(64, -1)), world)[0]
    np.testing.assert_allclose(outputs.reshape(64, 8, 8), world_of(setting()).grid().images, atol=1e-15)
    scores = painting_scores(outputs, upright(world))
    assert scores["seen error"] == pytest.approx(0, abs=1e-30)
    assert scores["unseen error"] == pytest.approx(0, abs=1e-30)
    assert scores["unseen peaks"] == scores["seen peaks"] == scores["inner peaks"] == 1
    assert scores["correlation"] == pytest.approx(1)


def test_a_blank_page_is_blank_on_either_target() -> None:
    # Black is blank for G and white for 1 - G; the error of either is that of painting nothing.
    errors = []
    for target, page in zip(TARGETS, (0.0, 1.0), strict=True):
        world = world_of(setting(target=target))
        errors.append(painting_scores(outputs_of(Paints(np.full((64, 64), page)), world)[0], upright(world)))
    assert errors[0] == errors[1]
    assert errors[0]["relative error"] == pytest.approx(1, abs=0.01)


def test_training_sets_differ_in_their_images_alone() -> None:
    plain, white = (
        samples_of(world_of(one), one, seed=3) for one in (setting(target=t, draws=20, stripes=1) for t in TARGETS)
    )
    assert (plain.codes == white.codes).all()
    np.testing.assert_allclose(white.images, 1 - plain.images, atol=1e-15)


def test_an_untrained_network_is_read_by_its_target() -> None:
    # It paints next to nothing: blank on black, and a page that is black where it should be white.
    dark, white = (bump_decoders(unit(steps=0, target=target))[0] for target in TARGETS)
    assert (dark["target"], white["target"]) == TARGETS
    assert dark["relative error"] < 2
    assert white["relative error"] > 5 * dark["relative error"]
    dark, white = (efficiency(unit(side=8, bumps=[4], stripes=0, steps=0, target=target))[0] for target in TARGETS)
    assert (dark["target"], white["target"]) == TARGETS
    assert white["relative error"] > 5 * dark["relative error"]


@pytest.mark.slow
def test_both_targets_can_be_learned() -> None:
    for target in TARGETS:
        dense = {"model": "mlp", "hidden": 64, "depth": 1, "epochs": 150, "rate": 1e-2, "batch": 16}
        learned = bump_decoders(unit(**dense, target=target))[0]
        assert learned["seen peaks"] == 1
        assert learned["seen error"] < 0.1 * world_of(setting()).blank_error


def test_a_target_that_is_left_out_is_g_and_keys_stay() -> None:
    assert bump_decoders(unit()) == bump_decoders(unit(target=IMAGES))
    assert bump_decoders(unit())[0]["target"] == IMAGES
    assert len({unit().key, unit(target=IMAGES).key, unit(target=INVERTED).key}) == 3
    # Networks of either target stand in one grid, those on G as they stood before there were two.
    for name in ("donut", "depth", "hole", "layers", "pictures", "stripes", "canvas"):
        targets = [one.get("target") for one in PAPER.by_name[name].settings("full")]
        assert set(targets) == {None, INVERTED}
        assert targets == sorted(targets, key=lambda target: target is not None)


def test_pictures_and_layers_are_turned_back() -> None:
    rows = Table.from_rows(decoder_pictures(unit(target=INVERTED)))
    truth = rows.only(picture="truth")
    brightest = int(np.argmax(truth["value"]))
    assert (truth["column"][brightest], truth["line"][brightest]) == shown_place(world_of(setting()))
    one = setting(target=INVERTED)
    world = world_of(one)
    trained = train_decoders(unit(target=INVERTED), one, world)
    np.testing.assert_allclose(sheets_of(trained, world, 0)[-1], outputs_of(trained, world)[0], atol=1e-5)
    assert {row["target"] for row in decoder_layers(unit(target=INVERTED))} == {INVERTED}


@pytest.mark.slow
def test_the_low_rank_network_is_judged_on_g_too() -> None:
    small = {"penalty": "none", "width": 1.0, "corner": 4, "epochs": 40, "rate": 5e-3, "batch": 16}
    for target in TARGETS:
        row = low_rank(unit(**small, target=target))[0]
        assert row["target"] == target
        assert row["seen error"] < 0.5 * world_of(setting()).blank_error


def test_an_unknown_target_is_named() -> None:
    with pytest.raises(InputError, match="target 'inverted image' is not one of images, inverted images; did you mean"):
        bump_decoders(unit(target="inverted image"))


def test_a_network_that_paints_one_image_everywhere_gets_a_row() -> None:
    rows = bump_decoders(unit(model="mlp", hidden=1, depth=8, target=INVERTED, seeds=list(range(6))))
    flat = [row for row in rows if math.isnan(row["additive share"])]
    assert flat
    for row in flat:
        assert math.isnan(row["kernel factorization"])
        assert row["relative error"] > 0.5


# ---------------------------------------------------------------------------- readings


def test_one_target_is_chosen_and_a_missing_column_is_g() -> None:
    old = Table({"peaks": [0.4, 0.5]})
    both = Table({"peaks": [0.4, 0.5, 0.1], "target": [IMAGES, IMAGES, INVERTED]})
    assert one_target(old)["peaks"].tolist() == [0.4, 0.5]
    assert one_target(both)["peaks"].tolist() == [0.1]
    assert one_target(both.head(2))["peaks"].tolist() == [0.4, 0.5]
    assert len(trained_on(old, INVERTED)) == 0


def test_the_claim_about_both_targets_has_numbers_of_either_alone() -> None:
    results = load_all_evidence(ROOT / "results", PAPER.name, PAPER.by_name, ("full",))
    table = results["depth"].table
    numbers = dense_peaks_by_depth(table).numbers
    for target, word in ((INVERTED, ""), (IMAGES, ", trained on G")):
        rows = table.where((table["model"] == "mlp") & (table["code"] == "bump") & (table["target"] == target))
        for name, column in (("peaks in the hole", "unseen peaks"), ("peaks on the donut", "seen peaks")):
            for depth in sorted(set(rows["depth"].tolist())):
                mean = np.mean(rows[column][rows["depth"] == depth])
                assert numbers[f"{name}{word}"][f"{depth} layers"] == pytest.approx(mean)
    assert PAPER.claim(BESIDE).read(trained_on(table, INVERTED)).verdict is Standing.NOT_RUN


def test_no_reading_mixes_targets() -> None:
    results = load_all_evidence(ROOT / "results", PAPER.name, PAPER.by_name, ("full",))
    targeted = {name for name, one in results.items() if "target" in one.table.columns}
    both = targeted - {"single-factors", "embeddings", "demos", "shares"}
    assert both == {"donut", "depth", "hole", "layers", "pictures", "stripes", "canvas"}
    for claim in PAPER.claims:
        if claim.reads not in both or claim.number == BESIDE:
            continue
        table = results[claim.reads].table
        found, alone = claim.read(table), claim.read(trained_on(table, INVERTED))
        assert (found.value, found.detail, found.verdict) == (alone.value, alone.detail, alone.verdict)
        assert "trained on 1 - G" in found.detail
        control = trained_on(table, IMAGES)
        if claim.number in ("29", "39"):  # no decoder of ramps was trained on G
            assert claim.read(control).verdict is Standing.NOT_RUN
            continue
        unsaid = Table({name: control[name] for name in control.columns if name != "target"})
        assert claim.read(unsaid).value == claim.read(control).value
        assert "trained on G" in claim.read(unsaid).detail
    for plot in PAPER.figures:
        if both.issuperset(plot.experiments):
            kept = {name: one for name, one in results.items() if name in (*plot.experiments, *plot.optional)}
            for name, one in kept.items():
                kept[name] = type(one)(trained_on(one.table, INVERTED), one.provenance)
            assert list(plot.table(kept).rows()) == list(plot.table(results).rows())
