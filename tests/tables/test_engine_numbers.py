"""Texts kept as numbers: the same table in, the same design out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.tables import engine


@pytest.fixture
def path(tmp_path):
    generator = np.random.default_rng(0)
    rows = 3_000
    frame = pd.DataFrame(
        {
            "a": generator.choice(["x", "X", "01", "1", "it's", "ü"], rows),
            "b": generator.choice(["10", "9", "2.5"], rows),
            "n": generator.choice([1, 2, 3], rows),
            "part": generator.choice(["train", "test"], rows, p=[0.9, 0.1]),
            "y": generator.standard_normal(rows).round(6),
        }
    )
    frame.loc[::97, "a"] = None
    frame.loc[::101, "y"] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


@pytest.mark.parametrize("factors", [None, ["a", "b"]])
@pytest.mark.parametrize("roles", [{"outcome": "y"}, {"outcome": "y", "weight": "n", "split": "part"}])
def test_numbers_for_texts_change_nothing(path, factors, roles, monkeypatch):
    plain = rc.Design.from_frame(path, factors=factors, **roles)
    monkeypatch.setattr(engine, "MIN_ROWS_FOR_ENUMS", 0)
    numbered = rc.Design.from_frame(path, factors=factors, **roles)
    assert [(item.name, item.levels) for item in numbered.factors] == [
        (item.name, item.levels) for item in plain.factors
    ]
    assert numbered.reading.notes == plain.reading.notes
    for name in ("cells", "train", "rows"):
        assert np.array_equal(getattr(numbered.observed, name), getattr(plain.observed, name))
    for name in ("precision", "outcome", "spread", "freedom"):
        assert np.allclose(getattr(numbered.observed, name), getattr(plain.observed, name))


def test_columns_that_are_kept_already_are_not_parsed_again(path, monkeypatch):
    monkeypatch.setattr(engine, "MIN_ROWS_FOR_ENUMS", 0)
    reader = engine.open_file(path)
    first = reader.keep({"a": "c0", "b": "c1", "y": "c2"})
    assert reader.keep({"b": "c0", "y": "c1"}) is first
    assert reader.keep({"b": "c0", "n": "c1"}) is not first
    assert first.kinds(["a", "b", "y"]) == reader.kinds(["a", "b", "y"]) == {"a": "text", "b": "number", "y": "number"}
