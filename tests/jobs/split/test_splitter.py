"""`CellSplit` in scikit-learn: splits are reproducible, cells stay whole, and tables come back with their parts."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import recombine as rc
from recombine.errors import InputError
from recombine.jobs.split import check_split, split_table

MIX = "determined:0.2,disconnected:0.1"


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    cells = np.stack([rng.integers(12, size=900), rng.integers(9, size=900)], axis=1)
    frame = pd.DataFrame(cells, columns=["drug", "line"])
    frame["y"] = cells @ [1.0, 0.5] + rng.normal(size=900)
    return frame.astype({"drug": str, "line": str})


@pytest.mark.slow
def test_splits_are_those_of_their_seed_and_whole_cells(frame: pd.DataFrame) -> None:
    splitter = rc.CellSplit(MIX, factors=["drug", "line"], n_splits=3, random_state=4)
    first = [(train.tolist(), test.tolist()) for train, test in splitter.split(frame)]
    assert first == [(train.tolist(), test.tolist()) for train, test in clone(splitter).split(frame)]
    assert len(first) == splitter.get_n_splits() == 3
    assert first[0] != first[1]
    cell = (frame.drug + "/" + frame.line).to_numpy()
    for train, test in first:
        assert not set(cell[train]) & set(cell[test])
        assert abs(len(test) / len(frame) - 0.3) < 0.01
    other = [test.tolist() for _, test in splitter.set_params(random_state=5).split(frame)]
    assert other[0] != first[0][1]


@pytest.mark.parametrize("name", ["drug", "line"])
def test_the_factor_whose_levels_are_hidden_can_be_named(frame: pd.DataFrame, name: str) -> None:
    splitter = rc.CellSplit(f"unseen level of {name}:0.2", factors=["drug", "line"], n_splits=3, random_state=0)
    for train, test in splitter.split(frame):
        assert not set(frame[name].iloc[train]) & set(frame[name].iloc[test])
    numbered = rc.CellSplit("unseen level of 1:0.2", n_splits=1, random_state=0)
    train, test = next(numbered.split(frame[["drug", "line"]].to_numpy()))
    assert not set(frame.line.iloc[train]) & set(frame.line.iloc[test])
    with pytest.raises(InputError, match="'lime' is not a factor; did you mean 'line'"):
        next(rc.CellSplit("unseen level of lime:0.2", factors=["drug", "line"]).split(frame))


@pytest.mark.slow
def test_the_order_of_rows_and_the_kind_of_table_are_no_matter(frame: pd.DataFrame) -> None:
    splitter = rc.CellSplit(MIX, factors=["drug", "line"], n_splits=1, random_state=0)
    (_, test), (_, again), (_, array) = (
        next(splitter.split(frame)),
        next(splitter.split(pl.from_pandas(frame))),
        next(rc.CellSplit(MIX, factors=[0, 1], n_splits=1, random_state=0).split(frame.to_numpy())),
    )
    assert test.tolist() == again.tolist() == array.tolist()
    numbered = frame.rename(columns={"drug": 0, "line": 1})[[0, 1]]
    assert next(rc.CellSplit(MIX, n_splits=1, random_state=0).split(numbered))[1].tolist() == test.tolist()
    turned = frame.iloc[::-1]
    (_, back) = next(splitter.split(turned))
    assert sorted(turned.index[back]) == sorted(frame.index[test])


def test_it_works_in_cross_validation_and_grid_search(frame: pd.DataFrame) -> None:
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), Ridge())
    splitter = rc.CellSplit("determined:0.2", random_state=0, n_splits=3)
    columns = frame[["drug", "line"]]
    scores = cross_val_score(model, columns, frame.y, cv=splitter)
    assert scores.shape == (3,)
    assert scores.min() > 0.8
    search = GridSearchCV(model, {"ridge__alpha": [0.1, 1.0]}, cv=splitter).fit(columns, frame.y)
    assert clone(search).fit(columns, frame.y).best_params_ == search.best_params_


@pytest.mark.slow
def test_stratified_outcomes_are_nearer_than_others(frame: pd.DataFrame) -> None:
    options = {"factors": ["drug", "line"], "n_splits": 6, "random_state": 0}
    plain = rc.CellSplit("determined:0.2", **options)
    alike = rc.CellSplit("determined:0.2", stratify=True, **options)
    tenth = pd.qcut(frame.y, 10, labels=False).to_numpy()

    def distance(splitter: rc.CellSplit) -> float:
        found = []
        for train, test in splitter.split(frame, frame.y):
            shares = [np.bincount(tenth[rows], minlength=10) / len(rows) for rows in (train, test)]
            found.append(np.abs(shares[0] - shares[1]).sum() / 2)
        return float(np.mean(found))

    assert distance(alike) < 0.5 * distance(plain)
    assert distance(alike) == pytest.approx(np.mean([one.unlike for one in alike.row_splits(frame, frame.y)]), abs=0.01)


def test_rows_that_repeat_a_cell_are_seen(frame: pd.DataFrame) -> None:
    (found,) = rc.CellSplit("seen:0.1,determined:0.1", factors=["drug", "line"], n_splits=1).row_splits(frame)
    cell = (frame.drug + "/" + frame.line).to_numpy()
    seen = found.part == rc.Verdict.SEEN
    assert seen.sum() == 90
    assert set(cell[seen]) <= set(cell[found.train])
    with pytest.raises(InputError, match=r"'seen' asks for 810 rows .* each cell keeps a row in training"):
        next(rc.CellSplit("seen:0.9", factors=["drug", "line"]).split(frame))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"factors": ["drg", "line"]}, "factor 'drg' is not a column of the table; did you mean 'drug'"),
        ({"factors": ["drug"]}, "'drug' is too little to recombine"),
        ({"factors": "drug"}, "give a list of column names"),
        ({"factors": ["drug", "line"], "order": 3}, "order 3 does not fit 2 factors"),
        ({"factors": ["drug", "line"], "n_splits": 0}, "n_splits is 0"),
        ({"factors": ["drug", "line"], "symmetric": ["drug"]}, "name two or more, each once"),
        ({"factors": ["drug", "line"], "stratify": True}, "y is None"),
        ({"factors": ["drug", "line"], "test": 0.2}, "test is 0.2; give a text"),
    ],
)
def test_what_cannot_be_is_one_line(frame: pd.DataFrame, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        next(rc.CellSplit(**options).split(frame))  # type: ignore[arg-type]


def test_missing_levels_name_the_row_and_groups_are_no_secret(frame: pd.DataFrame) -> None:
    frame.loc[7, "drug"] = None
    with pytest.raises(InputError, match="'drug' is missing in row 7"):
        next(rc.CellSplit(factors=["drug", "line"]).split(frame))
    with pytest.warns(UserWarning, match="ignores groups"):
        next(rc.CellSplit(factors=["drug", "line"]).split(frame.iloc[8:], groups=frame.y.iloc[8:]))


@pytest.mark.slow
def test_a_table_comes_back_with_its_parts(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame["note"] = 'a "quoted", note\nof two lines'
    frame.loc[3, "drug"] = None
    frame.to_csv(tmp_path / "table.csv", index=False)
    found = split_table(tmp_path / "table.csv", MIX, factors=["drug", "line"], stratify="y", seed=2)
    target = found.to_csv(tmp_path / "parts.csv")
    with target.open(newline="") as file:
        rows = list(csv.reader(file))
    with (tmp_path / "table.csv").open(newline="") as file:
        before = list(csv.reader(file))
    assert [row[:-1] for row in rows] == before
    assert rows[0][-1] == "split"
    assert rows[4][-1] == ""
    parts = {row[-1] for row in rows[1:]} - {""}
    assert parts == {"train", "test determined", "test disconnected"}
    check = check_split(target, factors=["drug", "line"], split="split")
    for side, table in check.by_side.items():
        assert [f"test {word}" for word in table["verdict"]] == [side]
    with pytest.raises(InputError, match="exists; choose another name"):
        found.to_csv(target)
    with pytest.raises(InputError, match="has a column 'y' already"):
        found.to_csv(tmp_path / "other.csv", column="y")
