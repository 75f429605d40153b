"""RC603: less error than the noise of the measurements."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from recombine.cli import main
from recombine.data import hit_rates


@pytest.fixture(scope="module")
def saw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a table with two rows per cell, predictions of the truth, and others pulled by 70 % to the means."""
    rng = np.random.default_rng(0)
    cells = np.array(list(itertools.product(range(9), range(8), range(6))))
    cells = cells[rng.choice(len(cells), 260, replace=False)]
    truth = np.sum([rng.normal(size=size)[cells[:, at]] for at, size in enumerate((9, 8, 6))], axis=0)
    row = np.repeat(np.arange(260), 2)
    y = truth[row] + 0.4 * rng.normal(size=520)
    frame = pd.DataFrame({name: [f"{name}{level}" for level in cells[row, at]] for at, name in enumerate("abc")})
    frame["y"], frame["part"] = y, np.where(rng.random(260) < 0.6, "train", "test")[row]
    frame["true"], frame["saw"] = truth[row], (truth + 0.7 * (np.bincount(row, y) / 2 - truth))[row]
    path = tmp_path_factory.mktemp("saw") / "saw.csv"
    frame.to_csv(path, index=False)
    return path


OPTIONS = ["--factors", "a,b,c", "--outcome", "y", "--split", "part=train", "--structure", "add"]
OPTIONS += ["--fail-on", "below-noise"]


def test_a_model_that_saw_the_rows_fails_the_command(saw: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["score", str(saw), "--prediction", "saw", *OPTIONS])
    assert ended.value.code == 1
    captured = capsys.readouterr()
    said = " ".join((captured.out + captured.err).split())
    assert "RC603 less error than noise (problem): saw misses measurements by less than their own noise" in said
    assert "it has seen these rows, or they are not independent" in said
    assert "right" not in said
    assert "% noise" not in said


def test_a_model_that_knows_the_truth_does_not(saw: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["score", str(saw), "--prediction", "true", *OPTIONS])
    assert ended.value.code == 0


def test_false_alarms_were_counted() -> None:
    rate = hit_rates()["sentences"]["less error than noise"]
    assert rate["of"] >= 3000
    assert rate["of"] - rate["right"] <= rate["of"] / 500
