"""RC604: error concentrated in a slice."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from recombine.cli import main
from recombine.data import hit_rates

OPTIONS = ["--factors", "drug,line,dose", "--outcome", "y", "--split", "part=train", "--structure", "add"]
OPTIONS += ["--fail-on", "slice"]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a table with predictions of the truth, and others that are off for one drug."""
    rng = np.random.default_rng(0)
    cells = np.indices((8, 6, 5)).reshape(3, -1).T
    truth = cells @ [1.0, 0.5, 0.3]
    frame = pd.DataFrame(
        {name: [f"{name}{level}" for level in cells[:, at]] for at, name in enumerate(("drug", "line", "dose"))}
    )
    frame["y"], frame["part"] = truth + 0.5 * rng.normal(size=240), np.where(rng.random(240) < 0.5, "train", "test")
    frame["true"], frame["off"] = truth, truth + 2.0 * (cells[:, 0] == 3)
    path = tmp_path_factory.mktemp("slices") / "table.csv"
    frame.to_csv(path, index=False)
    return path


def test_a_model_that_is_off_for_one_drug_fails_the_command(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["score", str(table), "--prediction", "off", "--full", *OPTIONS])
    assert ended.value.code == 1
    captured = capsys.readouterr()
    said = " ".join((captured.out + captured.err).split())
    assert "RC604 error concentrated in a slice (warning): beyond chance after all looks: off: drug=drug3" in said
    assert "drug=drug3 carries" in said
    assert "predictions are" in said
    assert "too high on average" in said


def test_a_model_that_knows_the_truth_does_not(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["score", str(table), "--prediction", "true", "--json", *OPTIONS])
    assert ended.value.code == 0
    assert "slices" not in json.loads(capsys.readouterr().out)["models"][0]


def test_false_alarms_were_counted_and_are_fewer_than_one_in_twenty() -> None:
    record = json.loads((Path(__file__).parents[3] / "results/score/slices.json").read_text("utf-8"))
    rate = hit_rates()["sentences"]["error concentrated in a slice"]
    assert rate["of"] == record["clean models"] >= 3000
    assert rate["of"] - rate["right"] == record["of these with a slice"] <= rate["of"] / 20
    for kind in ("table", "noise", "rows", "model"):
        for row in record[f"clean by {kind}"]:
            assert row["with a slice"] <= 0.06 * row["models"], row
