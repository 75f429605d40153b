"""Small tables with the roles of their columns: the page's TypeScript can replay the same file."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.tables.frames import open_table
from recombine.tables.guesses import Proposal, propose_factors

CASES = json.loads(Path(__file__).with_name("role_cases.json").read_text(encoding="utf-8"))
ROLES = ("outcome", "weight", "sd", "split")


def proposed(text: str, folder: Path) -> list[Proposal]:
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return propose_factors(open_table(path), {})


def roles_of(proposals: list[Proposal]) -> dict[str, Any]:
    chosen = {item.role: item.column for item in proposals if item.role}
    return {"factors": {item.column for item in proposals if item.taken}} | {role: chosen.get(role) for role in ROLES}


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_roles_are_those_that_a_reader_sees(case: dict[str, Any], tmp_path: Path) -> None:
    proposals = proposed(case["text"], tmp_path)
    expected = {role: case.get(role) for role in ROLES} | {"factors": set(case["factors"])}
    assert roles_of(proposals) == expected
    candidates = {item.column for item in proposals if item.candidate}
    assert candidates >= set(case.get("candidates", []))
    assert case["outcome"] not in candidates
    for item in proposals:
        assert item.reason
        if item.candidate:
            assert ("--outcome" in item.reason) == (case["outcome"] is None)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(case=st.sampled_from(CASES), seed=st.integers(0, 99), column=st.sampled_from(["constant", "notes", "levels"]))
def test_a_column_that_says_nothing_and_other_names_of_levels_change_no_role(
    case: dict[str, Any], seed: int, column: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("roles")
    header, *rows = list(csv.reader(io.StringIO(case["text"])))
    before = roles_of(proposed(case["text"], folder))
    draw = random.Random(seed)
    if column == "levels":
        place = draw.randrange(len(header))
        named = {row[place] for row in rows}
        renamed = not any(text in ("yes", "no", "train", "test", "") or text[:1].isdigit() for text in named)
        rows = [[f"level {text}" if renamed and at == place else text for at, text in enumerate(row)] for row in rows]
    else:
        header = [*header, "remarks" if column == "notes" else "made in"]
        rows = [[*row, draw.choice(["", "", "edge", "late"]) if column == "notes" else "2020"] for row in rows]
    table = io.StringIO()
    csv.writer(table, lineterminator="\n").writerows([header, *rows])
    assert roles_of(proposed(table.getvalue(), folder)) == before


@given(order=st.permutations(["strain", "medium", "sugar", "growth"]))
@settings(max_examples=24, deadline=None)
def test_the_order_of_columns_does_not_matter_where_one_is_measured(order: list[str]) -> None:
    rows = range(24)
    frame = pd.DataFrame(
        {
            "strain": ["abc"[at % 3] for at in rows],
            "medium": ["xy"[at // 3 % 2] for at in rows],
            "sugar": ["st"[at // 6 % 2] for at in rows],
            "growth": [0.5 + at * 7 % 11 for at in rows],
        }
    )
    found = roles_of(propose_factors(open_table(frame[order]), {}))
    assert found["factors"] == {"strain", "medium", "sugar"}
    assert found["outcome"] == "growth"


def test_what_is_said_of_columns_that_are_not_taken(tmp_path: Path) -> None:
    lines = [
        f"{'WBS'[at % 3]},{'YS'[at // 3 % 2]},{'gr'[at % 2]},{at * 7 % 13}.5,{('edge', 'late', '', '')[at % 4]},"
        f"{('b1', 'b2', '')[at % 3]}\n"
        for at in range(24)
    ]
    text = "".join(["strain,medium,sugar,growth,notes,batch\n", *lines])
    reasons = {item.column: item.reason for item in proposed(text, tmp_path)}
    assert reasons["notes"].endswith("looks like notes")
    assert reasons["batch"] == "text with 2 distinct values, empty in 33% of rows: too sparse"
    assert reasons["growth"] == "looks like the outcome: name it with --outcome growth"


def test_an_outcome_of_classes_is_named_with_one_of_them(tmp_path: Path) -> None:
    text = "sex,region,vote\n" + "".join(f"{'fm'[at % 2]},{'nse'[at % 3]},{'CBA'[at // 5 % 3]}\n" for at in range(24))
    [item] = [item for item in proposed(text, tmp_path) if item.role]
    assert item.reason == "looks like the outcome: name it with --outcome vote=A"
