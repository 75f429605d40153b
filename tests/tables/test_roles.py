from __future__ import annotations

import pandas as pd
import pytest

from recombine.tables.frames import open_table
from recombine.tables.guesses import propose_factors

TABLES = {
    "counts": (
        {"Sex": ["m", "f"] * 4, "Survived": ["yes", "no", "no", "yes"] * 2, "Freq": range(8)},
        "Survived",
        "Freq",
    ),
    "ratings": ({"s": list("abab"), "d": list("xxyy"), "y": [1, 5, 2, 5]}, "y", None),
    "measured": ({"supp": list("ab") * 30, "dose": [0.5, 1, 2] * 20, "len": [i % 43 for i in range(60)]}, "len", None),
    "a place": ({"x": [0.5, 1.5] * 3, "y": [0.5, 1.5, 2.5] * 2, "mass": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5]}, "mass", None),
}


@pytest.mark.parametrize("name", TABLES)
def test_the_outcome_and_the_counts_are_named_and_never_taken(name: str) -> None:
    columns, outcome, weight = TABLES[name]
    proposals = propose_factors(open_table(pd.DataFrame(columns)), {})
    roles = {item.role: item.column for item in proposals if item.role}
    assert roles.get("outcome") == outcome
    assert roles.get("weight") == weight
    assert not {outcome, weight} & {item.column for item in proposals if item.taken}


def test_a_split_is_known_by_its_name_or_its_values() -> None:
    frame = pd.DataFrame({"a": list("xyxy"), "part": ["train", "test"] * 2, "fold": [1, 2, 1, 2]})
    roles = {item.role for item in propose_factors(open_table(frame), {})}
    assert "split" in roles
    given = propose_factors(open_table(frame), {"fold": "split"})
    assert [item.column for item in given if item.role == "split"] == ["fold"]


def test_many_values_are_no_split_whatever_they_are_called() -> None:
    for count, expected in ((5, ["lot"]), (6, [])):
        names = [f"{word} {number}" for word in ("train", "test") for number in range(count)]
        frame = pd.DataFrame({"a": list("xyz") * len(names), "lot": names * 3})
        proposals = propose_factors(open_table(frame), {})
        assert [item.column for item in proposals if item.role == "split"] == expected
