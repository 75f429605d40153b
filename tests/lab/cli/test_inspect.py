"""``recombine inspect``: verdict and layers, JSON, seen cells from files, and bad input in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.lab.inspection.words import VERDICT_MEANINGS
from recombine.lab.worlds.rendered.bumps import BumpWorld, Hole
from recombine.measures.activations.stand_ins import pasted_outputs

Run = Callable[..., tuple[int, str, str]]

WORLD = BumpWorld(side=16, hole=Hole.square(4, 11))
SEEN, FACTORS = WORLD.seen(), ["x", "y"]
CODE = WORLD.grid().codes.reshape(16, 16, -1)
RIGHT = WORLD.grid().images.reshape(16, 16, 16, 16)


def pasting() -> Any:
    flat = RIGHT.reshape(16, 16, -1)
    return np.where(SEEN[..., None], flat, pasted_outputs(flat, SEEN))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    np.savez(tmp_path / "model.npz", code=CODE, output=pasting())
    np.save(tmp_path / "seen.npy", SEEN)
    np.save(tmp_path / "right.npy", RIGHT)
    return tmp_path


def test_the_command_prints_the_verdict_and_a_line_per_layer(files: Path, run: Run) -> None:
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
    assert record["meaning"] == VERDICT_MEANINGS["does not compose"]
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
    np.save(files / "none.npy", np.ones((0, 5, 4)))
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
        ([files / "none.npy", "--factors", "x,y"], "an axis of length 0"),
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
