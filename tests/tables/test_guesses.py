from __future__ import annotations

import numpy as np
import pandas as pd

from recombine.tables.frames import open_table
from recombine.tables.guesses import MAX_GUESSED_FACTORS, propose_factors

ROWS = 400


def reasons(frame: pd.DataFrame, **roles: str) -> dict[str, tuple[bool, str]]:
    proposals = propose_factors(open_table(frame), {column: role for role, column in roles.items()})
    return {item.column: (item.taken, item.reason) for item in proposals}


def test_every_column_gets_a_reason(frame: pd.DataFrame) -> None:
    found = reasons(frame, outcome="delay")
    assert set(found) == set(frame.columns)
    assert [column for column, (taken, _) in found.items() if taken] == ["carrier", "origin", "hour"]
    assert found["delay"] == (False, "is the outcome")
    assert "looks like a measurement" in found["row"][1]
    assert "looks like an identifier" in found["name"][1]
    assert "looks like a measurement" in found["distance"][1]
    assert "nothing to recombine" in found["constant"][1]
    assert "not a label" in found["day"][1]
    assert "renames carrier" in found["carrier_name"][1]
    assert found["carrier"][1] == "text with 5 distinct values"


def test_a_column_that_shares_its_count_but_not_its_meaning_is_kept(frame: pd.DataFrame) -> None:
    frame["carrier_name"] = frame["carrier_name"].to_numpy()[np.random.default_rng(1).permutation(ROWS)]
    assert reasons(frame, outcome="delay")["carrier_name"][0]


def test_text_comes_before_numbers_when_there_are_too_many() -> None:
    generator = np.random.default_rng(0)
    numbers = {f"n{i}": generator.integers(0, 3, 300) for i in range(MAX_GUESSED_FACTORS)}
    texts = {f"t{i}": generator.choice(list("xyz"), 300) for i in range(4)}
    found = reasons(pd.DataFrame({**numbers, **texts}))
    taken = [column for column, (flag, _) in found.items() if flag]
    assert len(taken) == MAX_GUESSED_FACTORS
    assert set(texts) <= set(taken)
