"""Inspecting activations: verdicts on models whose behaviour is known, and arrays that cannot be used."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest

import recombine as rc
import recombine.lab.inspection.words as inspection_words
from recombine.errors import InputError
from recombine.lab.inspection import inspection, reading
from recombine.lab.inspection.words import inspection_notes, inspection_sentence
from recombine.lab.worlds.rendered.bumps import BumpWorld, Hole
from recombine.measures.activations import grid as grid_module
from recombine.measures.activations.additive import additive_share
from recombine.measures.activations.stand_ins import pasted_outputs
from recombine.report import result_text

WORLD = BumpWorld(side=16, hole=Hole.square(4, 11))
SEEN, FACTORS = WORLD.seen(), ["x", "y"]
CODE = WORLD.grid().codes.reshape(16, 16, -1)
RIGHT = WORLD.grid().images.reshape(16, 16, 16, 16)


def pasting() -> Any:
    flat = RIGHT.reshape(16, 16, -1)
    return np.where(SEEN[..., None], flat, pasted_outputs(flat, SEEN))


def stopping() -> Any:
    """Outside the hole as it should be; inside, the image of the nearest seen place in x."""
    x, y = np.meshgrid(np.arange(16), np.arange(16), indexing="ij")
    near = np.where(SEEN, x, np.where(x < 8, 3, 12))
    return RIGHT[near, y]


@pytest.mark.parametrize(
    ("outputs", "verdict", "truth"),
    [
        (CODE, "adds", None),
        (RIGHT, "keeps moving", "composes"),
        (pasting(), "pastes", "does not compose"),
        (stopping(), "stops moving", "does not compose"),
        (np.ones((16, 16, 256)), "constant", "does not compose"),
    ],
    ids=["code", "right", "pasting", "stopping", "constant"],
)
def test_models_of_known_behaviour_get_their_verdict(outputs: Any, verdict: str, truth: str | None) -> None:
    found = rc.inspect(outputs, FACTORS, seen=SEEN)
    assert found.verdict == found.layers[-1].verdict == verdict
    if truth is not None:
        assert rc.inspect(outputs, FACTORS, seen=SEEN, truth=RIGHT).verdict == truth


@pytest.mark.parametrize(("miss", "verdict"), [(0.0, "composes"), (1e-6, "composes"), (1.0, "cannot tell")])
def test_one_unseen_cell_is_judged_by_its_error(miss: float, verdict: str) -> None:
    seen = np.ones((16, 16), dtype=bool)
    seen[8, 8] = False
    found = rc.inspect(RIGHT + miss * ~seen[..., None, None], FACTORS, seen=seen, truth=RIGHT)
    assert found.verdict == verdict
    assert "nan" not in str(found)
    assert "do not vary" in inspection_sentence(found)


def test_constant_outputs_have_no_correlation_to_speak_of() -> None:
    found = rc.inspect(np.ones((16, 16, 256)), FACTORS, seen=SEEN, truth=RIGHT)
    assert "nan" not in str(found)


def test_verdicts_do_not_depend_on_paper_colour_scale_or_rotation() -> None:
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((256, 256)))[0]
    for outputs in (RIGHT.reshape(16, 16, -1), pasting(), stopping().reshape(16, 16, -1)):
        plain = rc.inspect(outputs, FACTORS, seen=SEEN).layers[0]
        for changed in (1 - outputs, 5 * outputs):
            again = rc.inspect(changed, FACTORS, seen=SEEN).layers[0]
            assert again.verdict == plain.verdict
            assert again.volume_ratio == pytest.approx(plain.volume_ratio, rel=1e-9)
        turned = rc.inspect(outputs @ rotation, FACTORS, seen=SEEN).layers[0]
        assert turned.volume_ratio == pytest.approx(plain.volume_ratio, rel=1e-9)
        assert turned.additive == pytest.approx(plain.additive, abs=1e-9)


def test_it_says_where_a_model_stops_moving() -> None:
    found = rc.inspect(stopping(), FACTORS, seen=SEEN)
    still = found.layers[0].still
    assert still is not None
    assert still.unseen is not None
    assert still.seen is not None
    # The two columns next to the jump in the middle move; nothing else does.
    assert (still.unseen, still.seen) == (0.75, 0.0)
    assert all(low >= 4 - 1 and high <= 11 + 1 for low, high in still.ranges)
    assert "slows most along x" in inspection_sentence(found)
    assert "within x" in str(found)


def test_layers_come_in_order_with_the_numbers_of_the_measures() -> None:
    found = rc.inspect({"code": CODE, "output": RIGHT}, FACTORS, seen=SEEN)
    assert found.table["layer"].tolist() == ["code", "output"]
    assert found.table["additive"][1] == pytest.approx(additive_share(RIGHT.reshape(16, 16, -1)))
    assert found.table["features"].tolist() == [32, 256]
    assert (found.seen, found.unseen) == (192, 64)
    assert found.layers[0].readout == pytest.approx((1.0, 1.0))
    assert found.layers[0].volume_ratio == pytest.approx(1.0)


def test_without_a_mask_it_says_less_and_says_so() -> None:
    found = rc.inspect(RIGHT, FACTORS)
    assert found.verdict == "mixes"
    assert found.seen is None
    assert np.isnan(found.layers[0].pasted)
    assert any("--seen" in note for note in inspection_notes(found))
    assert "volume:" not in str(found)


def test_three_factors_and_levels_never_seen() -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_normal((3, 4, 5, 8))
    seen = np.ones((3, 4, 5), dtype=bool)
    seen[:, :, 4] = False
    found = rc.inspect(values, ["a", "b", "c"], seen=seen)
    assert "readout of c" in found.table.columns
    assert any("levels of c were never seen" in note for note in inspection_notes(found))


def test_grids_too_large_for_pairs_are_read_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (grid_module, reading, inspection_words):
        monkeypatch.setattr(module, "MAX_GRAM_CELLS", 100)
    found = rc.inspect(RIGHT, FACTORS, seen=SEEN)
    assert np.isnan(found.layers[0].F_K)
    assert found.layers[0].volume_ratio > 0.9
    assert any("too many to compare" in note for note in inspection_notes(found))
    assert "mixture" not in inspection_sentence(found), "what was not measured is not said"


def test_one_feature_has_no_volume() -> None:
    found = rc.inspect(np.arange(12.0).reshape(3, 4, 1), FACTORS, seen=np.arange(12).reshape(3, 4) < 11)
    assert np.isnan(found.layers[0].volume_ratio)
    assert any("fewer features" in note for note in inspection_notes(found))
    product = np.outer(np.arange(-3, 4), np.arange(-3, 4))[..., None].astype(float)
    mixed = rc.inspect(product, FACTORS, seen=product[..., 0] < 9)
    assert mixed.verdict == "cannot tell"
    assert "say which" not in str(mixed)
    assert rc.inspect(product, FACTORS).verdict == "mixes"


def test_a_tie_between_factors_is_not_decided_by_rounding() -> None:
    found = rc.inspect(pasting(), FACTORS, seen=SEEN)
    slow = found.layers[0].speeds
    assert max(slow) < 0.9
    assert slow[0] == pytest.approx(slow[1], rel=0.01)
    assert "slows most" not in inspection_sentence(found)


def test_factors_may_be_one_text_with_commas() -> None:
    assert rc.inspect(CODE, "x, y").factors == ("x", "y")


@pytest.mark.parametrize("width", [60, 110, 200])
def test_legends_use_the_width_there_is(width: int) -> None:
    lines = result_text(rc.inspect(RIGHT, FACTORS, seen=SEEN), width=width).splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("  additive:"))
    legend = lines[start:]
    assert max(len(line) for line in legend) <= width
    for line, following in itertools.pairwise(legend):
        if not re.match(r"  \w+( \(|:)|  Levels", following):
            assert len(line) + 1 + len(following.split()[0]) > width, "a line is broken only where it is full"


def test_a_bad_truth_is_refused_before_anything_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspection, "_readings", lambda *_: pytest.fail("measured first"))
    with pytest.raises(InputError, match="the truth has shape"):
        rc.inspect(RIGHT, FACTORS, seen=SEEN, truth=RIGHT[:4])


def test_bad_arrays_are_refused_in_python_too() -> None:
    with pytest.raises(InputError, match="no layers"):
        rc.inspect({}, FACTORS)
    with pytest.raises(InputError, match="every cell is marked"):
        rc.inspect(RIGHT, FACTORS, seen=np.ones((16, 16)))
    with pytest.raises(InputError, match="not real numbers"):
        rc.inspect(np.full((2, 2, 2), "a"), FACTORS)
