"""Predictions from arrays and tables mean the same, and bad ones get one clear line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.jobs.score import class_designs, read_predictions
from recombine.jobs.score.predictions import first_class, has_classes
from recombine.tables import open_table

FACTORS = ["site", "dose"]


def frame(labels: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    cells = np.repeat(np.indices((6, 5)).reshape(2, -1).T, 2, axis=0)
    part = np.where(np.repeat(rng.random(30) < 0.6, 2), "train", "test")
    value = cells @ [1.0, 2.0] + rng.normal(size=60)
    outcome = np.where(value > 6, "yes", "no") if labels else value
    guess = value + rng.normal(size=60)
    return pd.DataFrame(
        {"site": np.array(list("abcdef"))[cells[:, 0]], "dose": cells[:, 1], "y": outcome, "part": part, "net": guess}
    )


def design_of(rows: pd.DataFrame) -> rc.Design:
    return rc.Design.from_frame(rows, factors=FACTORS, outcome="y", split="part=train")


def test_a_table_is_averaged_by_cell_in_any_order() -> None:
    rows = frame()
    design = design_of(rows)
    shuffled = rows.sample(frac=1, random_state=1)
    found = read_predictions([design], shuffled, ["net"], "part=train")["net"][:, 0]
    means = rows[rows.part == "test"].groupby(FACTORS).net.mean()
    labels = design.space.decode(design.held_out)
    expected = [means[site, int(dose)] for site, dose in zip(labels["site"], labels["dose"], strict=True)]
    assert found == pytest.approx(expected)
    only = rows[rows.part == "test"].drop(columns="part")
    assert read_predictions([design], only, ["net"])["net"][:, 0] == pytest.approx(expected)
    assert read_predictions([design], {"net": found})["net"][:, 0] == pytest.approx(expected)


def test_files_read_as_frames_do(tmp_path: Path) -> None:
    rows = frame()
    rows.to_csv(tmp_path / "rows.csv", index=False)
    design = rc.Design.from_frame(tmp_path / "rows.csv", factors=FACTORS, outcome="y", split="part=train")
    found = read_predictions([design], tmp_path / "rows.csv", ["net"], "part=train")["net"]
    assert found == pytest.approx(read_predictions([design_of(rows)], rows, ["net"], "part=train")["net"])


def test_interchangeable_factors_are_matched_either_way() -> None:
    rows = pd.DataFrame({"a": list("xyzx"), "b": list("yzxx"), "y": [1.0, 2.0, 3.0, 4.0], "part": list("rrsr")})
    design = rc.Design.from_frame(rows, factors=["a", "b"], outcome="y", split="part=r", symmetric=["a", "b"])
    told = pd.DataFrame({"a": ["x"], "b": ["z"], "net": [2.5]})  # the design writes z, x
    assert read_predictions([design], told, ["net"])["net"].tolist() == [[2.5]]


def test_classes_are_those_of_the_outcome() -> None:
    rows = frame(labels=True)
    rows["net"] = np.where(rows.net > 6, "yes", "no")
    found = read_predictions([design_of(rows)], rows, ["net"], "part=train")["net"]
    assert set(found[:, 0].tolist()) <= {0.0, 0.5, 1.0}
    rows["net"] = rows.net.replace("yes", "maybe")
    with pytest.raises(rc.InputError, match=r"holds maybe; give numbers or one of no, yes"):
        read_predictions([design_of(rows)], rows, ["net"], "part=train")


@pytest.mark.parametrize(
    ("change", "columns", "message"),
    [
        (lambda rows: rows.assign(net=np.nan), ["net"], r"'net' of the table is no finite number in \d+ held-out rows"),
        (lambda rows: rows.assign(net=1.5), ["net"], "is 1.5 in every held-out cell; a constant is shown"),
        (lambda rows: rows.assign(net=rows.y), ["net"], "equals the outcome 'y' in every held-out cell"),
        (lambda rows: rows, ["y"], "column 'y' is both a prediction and the outcome"),
        (lambda rows: rows, ["dose"], "column 'dose' is both a prediction and a factor"),
        (lambda rows: rows, ["part"], "column 'part' is both a prediction and the split"),
        (lambda rows: rows, ["nets"], "prediction 'nets' is not a column of the table; did you mean 'net'"),
        (lambda rows: rows, ["net", "net"], "prediction 'net' is named twice"),
        (lambda rows: rows, [], "which columns of the table hold predictions"),
        (
            lambda rows: rows[rows.site != "a"],
            ["net"],
            r"has no prediction for \d+ of \d+ held-out cells, such as a · ",
        ),
        (
            lambda rows: rows.assign(site=rows.site.replace("a", "q")),
            ["net"],
            "'q' is not a level of factor 'site' .*score the cells that were held out",
        ),
        (lambda rows: rows.assign(net="high"), ["net"], "holds high; give numbers, as the outcome has"),
        (lambda rows: rows.drop(columns="dose"), ["net"], "factor 'dose' is not a column"),
    ],
)
def test_bad_tables_get_one_clear_line(change: object, columns: list[str], message: str) -> None:
    rows = frame()
    with pytest.raises(rc.InputError, match=message):
        read_predictions([design_of(rows)], change(rows), columns, "part=train")  # type: ignore[operator]


def test_bad_arrays_get_one_clear_line() -> None:
    design = design_of(frame())
    count = len(design.held_out)
    for values, message in [
        (np.zeros(3), rf"shape \(3,\); give one number for each of the {count} held-out cells"),
        (np.r_[np.nan, np.arange(count - 1.0)], "no finite number for 1 held-out cell, such as"),
        (["x"] * count, "hold something that is no number"),
    ]:
        with pytest.raises(rc.InputError, match=message):
            read_predictions([design], {"net": values})
    with pytest.raises(rc.InputError, match="no model is named"):
        read_predictions([design], {})


@pytest.mark.parametrize("count", [2, 3])
def test_a_constant_is_refused_however_few_cells_are_scored(count: int) -> None:
    cells = np.indices((3, 3)).reshape(2, -1).T
    design = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=np.arange(9) < 9 - count)
    with pytest.raises(rc.InputError, match="in every held-out cell; a constant"):
        read_predictions([design], {"net": np.full(count, 2.5)})
    both = read_predictions([design], {"mean": np.full(count, 2.5), "net": np.arange(count) + 2.5})
    assert [values.shape for values in both.values()] == [(count, 1), (count, 1)]


def test_one_cell_alone_cannot_vary() -> None:
    cells = np.indices((3, 3)).reshape(2, -1).T
    design = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=np.arange(9) < 8)
    assert read_predictions([design], {"net": [2.5]})["net"].tolist() == [[2.5]]


def test_an_outcome_has_classes_where_it_is_text_of_three_values() -> None:
    table = pd.DataFrame({"a": list("xyz"), "kind": ["cat", "dog", "owl"], "sex": ["f", "m", "f"], "n": [1, 2, 3]})
    source = open_table(table)
    assert [has_classes(source, name) for name in ("kind", "sex", "n", "none")] == [True, False, False, False]
    named = {name: first_class(source, rc.TableSpec(outcome=name)) for name in ("kind", "sex", "n", "none")}
    assert named == {"kind": "kind=cat", "sex": None, "n": None, "none": None}
    assert first_class(source, rc.TableSpec(outcome="sex", classes=True)) == "sex=f"


def test_classes_need_a_column_with_two_values() -> None:
    table = pd.DataFrame({"a": list("xy"), "b": list("pq"), "kind": ["cat", "cat"]})
    with pytest.raises(rc.InputError, match="which column holds the classes"):
        class_designs(table, factors=["a", "b"])
    with pytest.raises(rc.InputError, match=r"'kind' of .* has one value only"):
        class_designs(table, factors=["a", "b"], outcome="kind")
    with pytest.raises(rc.InputError, match="columns is the text 'net'; give a list of column names"):
        read_predictions([design_of(frame())], frame(), "net")
