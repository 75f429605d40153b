"""Inspecting activations: verdicts on models whose behaviour is known, files and tables, and bad input in one line."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.cli import main
from recombine.errors import InputError
from recombine.jobs.inspection import inspection
from recombine.jobs.inspection.reading import VERDICTS
from recombine.measures.activations import grid as grid_module
from recombine.measures.activations.anova import additive_share
from recombine.measures.activations.superposition import pasted_outputs
from recombine.report.inspection import inspection_text
from recombine.worlds.rendered.bumps import BumpWorld, Hole

Run = Callable[..., tuple[int, str, str]]

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


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return int(stopped.value.code or 0), out, err

    return call


@pytest.fixture
def files(tmp_path: Path) -> Path:
    np.savez(tmp_path / "model.npz", code=CODE, output=pasting())
    np.save(tmp_path / "seen.npy", SEEN)
    np.save(tmp_path / "right.npy", RIGHT)
    return tmp_path


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
    assert "do not vary" in found.sentence


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
    assert "slows most along x" in found.sentence
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
    assert any("--seen" in note for note in found.notes)
    assert "volume:" not in str(found)


def test_three_factors_and_levels_never_seen() -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_normal((3, 4, 5, 8))
    seen = np.ones((3, 4, 5), dtype=bool)
    seen[:, :, 4] = False
    found = rc.inspect(values, ["a", "b", "c"], seen=seen)
    assert "readout of c" in found.table.columns
    assert any("levels of c were never seen" in note for note in found.notes)


def test_grids_too_large_for_pairs_are_read_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (grid_module, inspection):
        monkeypatch.setattr(module, "MOST_CELLS", 100)
    found = rc.inspect(RIGHT, FACTORS, seen=SEEN)
    assert np.isnan(found.layers[0].F_K)
    assert found.layers[0].volume_ratio > 0.9
    assert any("too many to compare" in note for note in found.notes)
    assert "mixture" not in found.sentence, "what was not measured is not said"


def test_one_feature_has_no_volume() -> None:
    found = rc.inspect(np.arange(12.0).reshape(3, 4, 1), FACTORS, seen=np.arange(12).reshape(3, 4) < 11)
    assert np.isnan(found.layers[0].volume_ratio)
    assert any("fewer features" in note for note in found.notes)
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
    assert "slows most" not in found.sentence


def test_factors_may_be_one_text_with_commas() -> None:
    assert rc.inspect(CODE, "x, y").factors == ("x", "y")


@pytest.mark.parametrize("width", [60, 110, 200])
def test_legends_use_the_width_there_is(width: int) -> None:
    lines = inspection_text(rc.inspect(RIGHT, FACTORS, seen=SEEN), width).splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("  additive:"))
    legend = lines[start:]
    assert max(len(line) for line in legend) <= width
    for line, following in itertools.pairwise(legend):
        if not re.match(r"  \w+( \(|:)|  Levels", following):
            assert len(line) + 1 + len(following.split()[0]) > width, "a line is broken only where it is full"


def test_the_command_prints_the_verdict_and_a_line_a_layer(files: Path, run: Run) -> None:
    code, out, _ = run("inspect", files / "model.npz", "--factors", "x,y", "--seen", files / "seen.npy")
    assert code == 0
    assert "✕ pastes" in out
    for name in ("code", "output"):
        assert any(line.split()[:1] == [name] for line in out.splitlines())


def test_json_holds_what_the_table_holds(files: Path, run: Run) -> None:
    options = ["--factors", "x,y", "--seen", files / "seen.npy", "--truth", files / "right.npy", "--json"]
    code, out, _ = run("inspect", files / "model.npz", *options)
    record = json.loads(out)
    assert code == 0
    assert record["verdict"] == "does not compose"
    assert record["meaning"] == VERDICTS["does not compose"]
    found = rc.inspect(files / "model.npz", FACTORS, seen=SEEN)
    assert [layer["additive"] for layer in record["layers"]] == pytest.approx(found.table["additive"].tolist())
    assert record["truth"]["unseen_error"] > 100 * record["truth"]["seen_error"]
    run_without = json.loads(run("inspect", files / "model.npz", "--factors", "x,y", "--json")[1])
    assert run_without["layers"][0]["pasted"] is None


@pytest.mark.parametrize("kind", ["rows", "flagged"])
def test_seen_cells_can_come_from_a_table(files: Path, run: Run, kind: str) -> None:
    cells = np.argwhere(SEEN) if kind == "rows" else np.argwhere(np.ones_like(SEEN))
    frame = pd.DataFrame(cells, columns=["x", "y"])
    if kind == "flagged":
        frame["seen"] = SEEN.reshape(-1).astype(int)
    frame.to_csv(files / "seen.csv", index=False)
    by_mask = run("inspect", files / "model.npz", "--factors", "x,y", "--seen", files / "seen.npy", "--json")[1]
    by_table = run("inspect", files / "model.npz", "--factors", "x,y", "--seen", files / "seen.csv", "--json")[1]
    assert by_table == by_mask
    assert rc.inspect(pasting(), FACTORS, seen=frame).verdict == "pastes"


def test_complaints_are_one_line_and_exit_with_2(files: Path, run: Run) -> None:
    np.save(files / "nan.npy", np.where(np.arange(16) == 3, np.nan, 1.0)[:, None, None] * np.ones((16, 16, 2)))
    np.save(files / "one.npy", np.ones((16, 1, 3)))
    np.save(files / "flat.npy", np.ones((16, 16)))
    np.save(files / "small.npy", np.ones((4, 4), dtype=bool))
    np.save(files / "objects.npy", np.array([{}]), allow_pickle=True)
    (files / "broken.npy").write_bytes(b"nothing")
    (files / "table.csv").write_text("x,z\n0,0\n")
    (files / "far.csv").write_text("x,y\n0,99\n")
    (files / "text.csv").write_text("x,y\n0,1\n0,north\n")
    (files / "gap.csv").write_text("x,y\n0,1\n,2\n")
    (files / "flag.csv").write_text("x,y,seen\n0,1,maybe\n")
    np.savez(files / "uneven.npz", a=np.ones((4, 4, 2)), b=np.ones((4, 5, 2)))
    model, seen = files / "model.npz", files / "seen.npy"
    cases: list[tuple[list[object], str]] = [
        ([files / "modle.npz", "--factors", "x,y"], "did you mean 'model.npz'"),
        ([files, "--factors", "x,y"], "is a folder"),
        ([files / "table.csv", "--factors", "x,y"], "not an .npy or .npz file"),
        ([files / "broken.npy", "--factors", "x,y"], "damaged or not written by NumPy"),
        ([files / "objects.npy", "--factors", "x,y"], "Python objects"),
        ([files / "nan.npy", "--factors", "x,y"], "not finite"),
        ([files / "one.npy", "--factors", "x,y"], "factor 'y' has one level only"),
        ([files / "flat.npy", "--factors", "x,y"], "need as many axes"),
        ([files / "uneven.npz", "--factors", "x,y"], "the same grid"),
        ([model, "--factors", "x"], "name two or more"),
        ([model, "--factors", "x,x"], "named twice"),
        ([model, "--factors", "x,y", "--seen", files / "small.npy"], "but the grid has levels (16, 16)"),
        ([model, "--factors", "x,y", "--seen", files / "mask.npy"], "mask.npy does not exist; check the path"),
        ([model, "--factors", "x,y", "--seen", files / "text.csv"], "column 'y' is north in row 2 below the header"),
        ([model, "--factors", "x,y", "--seen", files / "gap.csv"], "column 'x' is empty in row 2 below the header"),
        ([model, "--factors", "x,y", "--seen", files / "flag.csv"], "column 'seen' is maybe in row 1"),
        ([model, "--factors", "x,y", "--seen", files / "table.csv"], "factor 'y' is not a column"),
        ([model, "--factors", "x,y", "--seen", files / "far.csv"], "column 'y' is 99 in row 1 below the header"),
        ([model, "--factors", "x,y", "--seen", model], "give a file with one"),
        ([model, "--factors", "x,y", "--seen", seen, "--truth", seen], "the truth has shape"),
        ([model, "--factors", "x,y", "--truth", files / "right.npy"], "say which cells were seen"),
        ([model, "--factors", "x,y", "--background", "medain"], "did you mean 'median'"),
        ([model, "--factor", "x,y"], "--factors"),
        ([model], "--factors"),
    ]
    for arguments, words in cases:
        code, out, err = run("inspect", *arguments)
        assert (code, out) == (2, ""), arguments
        assert err.startswith("recombine: "), err
        assert err.count("\n") == 1, err
        assert words in err, err


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
