"""The benchmark of reading: what is soiled can be undone, lists and their parts stay as they were drawn."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import sys
from dataclasses import replace
from importlib import import_module
from itertools import combinations, pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]


def _benchmark(name: str) -> ModuleType:
    folder = str(ROOT / "benchmarks")
    sys.path.insert(0, folder)
    try:
        return import_module(name)
    finally:
        sys.path.remove(folder)


SOILER = _benchmark("soiler")
ALONE = [(name,) for name in SOILER.SOILS]
MIXED = [
    soils
    for size in (2, 3)
    for soils in combinations(SOILER.SOILS, size)
    if not any(len(group & set(soils)) > 1 for group in SOILER.EXCLUSIVE)
]


@st.composite
def _frames(draw: st.DrawFn) -> pd.DataFrame:
    cells = draw(
        st.lists(
            st.tuples(st.sampled_from("Abc"), st.sampled_from([1, 2.5, 40]), st.sampled_from(["ox", "Cow"])),
            min_size=4,
            max_size=14,
        )
    )
    number = st.floats(-99_999, 99_999).map(lambda value: round(value, 3))
    values = draw(st.lists(number, min_size=len(cells), max_size=len(cells)))
    return pd.DataFrame(cells, columns=["plot", "dose", "animal"]).assign(gain=values)


def _undone(data: bytes, soils: tuple[str, ...], factors: tuple[str, ...]) -> list[tuple[tuple[str, ...], Any]]:
    """Read a soiled file by knowing what was done to it, and nothing else."""
    lines = list(csv.reader(io.StringIO(data.decode()), delimiter=";" if "decimal" in soils else ","))
    lines = lines[4:] if "title" in soils else lines
    lines = lines[:-4] if "footer" in soils else lines
    lines = [line[:-1] for line in lines] if "notes" in soils else lines
    skipped = 2 if "headers" in soils else 1
    if "wide" not in soils:
        rows = [(line[:-1], line[-1]) for line in lines[skipped:]]
    else:
        names = lines[skipped - 1]
        kept = len(factors) - 1
        place = next(at for at, name in enumerate((*names[:kept], "")) if name != factors[at])
        rows = [
            ([*line[:place], head, *line[place:kept]], text)
            for line in lines[skipped:]
            for head, text in zip(names[kept:], line[kept:], strict=True)
            if text
        ]
    if "merged" in soils:
        for (above, _), (labels, _) in pairwise(rows):
            labels[:] = [label or before for label, before in zip(labels, above, strict=True)]
    return [(tuple(_level(label) for label in labels), _number(text, soils)) for labels, text in rows]


def _level(text: str) -> str:
    return re.sub(r"\s*[uµ]M$", "", text).strip().casefold()


def _number(text: str, soils: tuple[str, ...]) -> float | None:
    text = re.sub(r"\s*[uµ]M$", "", text).rstrip("%")
    if "decimal" in soils:
        text = text.replace(".", "").replace(",", ".")
    text = re.sub(r"\$|€|£|EUR ", "", text.replace(",", ""))
    return float(text) if re.fullmatch(r"-?[0-9.]*[0-9]", text) else None


def _expected(truth: Any) -> list[tuple[tuple[str, ...], float | None]]:
    return [
        (tuple(level.casefold() for level in row), value) for row, value in zip(truth.rows, truth.values, strict=True)
    ]


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(frame=_frames(), soils=st.sampled_from([*ALONE, *MIXED]), seed=st.integers(0, 2**32))
def test_what_is_soiled_can_be_undone(frame: pd.DataFrame, soils: tuple[str, ...], seed: int) -> None:
    factors = ("plot", "dose", "animal")
    if len(frame.drop_duplicates(list(factors))) < 2:
        return
    soiled = SOILER.soil(frame, factors, "gain", soils, seed)
    key = (lambda pair: (pair[0], str(pair[1]))) if "wide" in soils else (lambda pair: 0)
    read = _undone(soiled.data, soiled.soils, factors)
    assert sorted(read, key=key) == sorted(_expected(soiled.truth), key=key)
    assert soiled.data == SOILER.soil(frame, factors, "gain", soils, seed).data


@pytest.mark.parametrize("soils", ALONE, ids=lambda soils: soils[0])
def test_each_soil_changes_the_file(soils: tuple[str, ...]) -> None:
    frame = pd.DataFrame(
        [(plot, dose, 1_000.5 + 10 * dose + place) for place, plot in enumerate(("Ab", "cD")) for dose in (1, 2, 3, 4)],
        columns=["plot", "dose", "gain"],
    )
    clean = SOILER.soil(frame, ["plot", "dose"], "gain", [], 3)
    soiled = SOILER.soil(frame, ["plot", "dose"], "gain", soils, 3)
    assert clean.data == frame.to_csv(index=False).encode()
    assert soiled.data != clean.data
    assert sum(value is None for value in soiled.truth.values) == (2 if soils[0] in ("limits", "missing") else 0)


def test_two_soils_of_one_place_are_refused() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": [1, 2], "y": [1.0, 2.0]})
    with pytest.raises(ValueError, match="same place"):
        SOILER.soil(frame, ["a", "b"], "y", ["percent", "currency"])


def test_roles_name_each_column_once_and_parts_are_those_of_the_rule() -> None:
    roles = json.loads((ROOT / "results/reading/roles.json").read_text(encoding="utf-8"))
    assert len(roles["tables"]) == roles["counts"]["with factors"] + roles["counts"]["without"] >= 300
    for name, item in roles["tables"].items():
        columns = [*item["factors"], *item["ignore"], *item.get("also_right", [])]
        assert len(set(columns)) == len(columns), name
        assert not set(item["outcome"]) & set(item["ignore"]), name
        digest = hashlib.sha256(f"{roles['seed']}:part:{name}".encode()).hexdigest()
        assert item["part"] == ("development" if int(digest, 16) % 3 else "final"), name


def test_soiled_tables_are_sixty_each_soil_alone_twice_and_final_ones_of_final_tables() -> None:
    roles = json.loads((ROOT / "results/reading/roles.json").read_text(encoding="utf-8"))["tables"]
    drawn = json.loads((ROOT / "results/reading/soiled.json").read_text(encoding="utf-8"))["tables"]
    assert len(drawn) == 60
    assert {len(item["soils"]) for item in drawn} == {1, 2, 3}
    for name in SOILER.SOILS:
        alone = [item["part"] for item in drawn if item["soils"] == [name]]
        assert len(alone) == 2, name
        assert "development" in alone, name
    assert all(roles[item["table"]]["part"] == item["part"] for item in drawn)
    assert sum(item["part"] == "final" for item in drawn) == 20


def test_a_right_reading_is_right_and_each_slip_is_seen() -> None:
    roles = _benchmark("reading")
    frame = pd.DataFrame({"plot": list("aabb"), "dose": [1, 2, 1, 2], "gain": [10.0, 20, 30, 40]})
    soiled = SOILER.soil(frame, ["plot", "dose"], "gain", ["percent"])
    right = roles.Reading(("plot", "dose"), "gain", None, 4, 4, roles.Numbers(4, 1.0))
    verdict = roles.judged_soiled(right, soiled)
    assert verdict == dict.fromkeys(("factors", "outcome", "numbers", "rows", "cells"), True) | {
        "refused": False,
        "wrong": False,
    }
    slips = {
        "factors": {"factors": ("plot", "dose", "gain")},
        "outcome": {"outcome": "dose"},
        "numbers": {"numbers": roles.Numbers(4, 2.0)},
        "rows": {"rows": 5},
        "cells": {"cells": 5},
    }
    for name, slip in slips.items():
        wrong = roles.judged_soiled(replace(right, **slip), soiled)
        assert wrong["wrong"], name
        assert not wrong[name], name
    assert roles.judged_soiled(None, soiled)["refused"]
    assert not roles.judged_soiled(replace(right, numbers=None), soiled)["wrong"]


def test_a_wide_table_is_right_only_if_its_columns_became_levels() -> None:
    roles = _benchmark("reading")
    frame = pd.DataFrame({"plot": list("aabbcc"), "dose": [1, 2] * 3, "gain": [10.0, 20, 30, 40, 50, 60]})
    soiled = SOILER.soil(frame, ["plot", "dose"], "gain", ["wide"])
    numbers = roles.Numbers(6, 210.0)
    assert not roles.judged_soiled(roles.Reading(("plot", "column"), "value", None, 6, 6, numbers), soiled)["wrong"]
    assert roles.judged_soiled(roles.Reading(("plot", "1"), "2", None, 3, 3, numbers), soiled)["wrong"]


def test_every_reader_reads_a_clean_table_right(tmp_path: Path) -> None:
    roles = _benchmark("reading")
    frame = pd.DataFrame(
        [(plot, dose, 3.25 * place + len(dose)) for place, plot in enumerate("abcdef") for dose in ("low", "full")],
        columns=["plot", "dose", "gain"],
    )
    soiled = SOILER.soil(frame, ["plot", "dose"], "gain", [])
    path = tmp_path / "table.csv"
    path.write_bytes(soiled.data)
    for reader in (roles.read_by_recombine, roles.read_by_pandas):
        verdict = roles.judged_soiled(reader(path), soiled)
        assert all(verdict[name] for name in ("factors", "outcome", "numbers", "rows", "cells")), reader.__name__


@pytest.mark.parametrize(
    ("part", "page", "said"),
    [
        ("after", "reading", "On {published us files} published tables whose help pages tell the roles,"),
        ("after", "reading", "right in {published us all right} and something was wrong in {published us wrong};"),
        ("after", "reading", "{published pandas all right} right, {published pandas wrong} wrong)"),
        ("final", "reading", "On {published us files} tables kept apart until the rules were fixed"),
        ("final", "reading", "{published us all right} were right and {published us wrong} wrong"),
        ("final", "reading", "(the rule: {published pandas all right} and {published pandas wrong};"),
        ("after", "reading", "On {soiled us files} published tables that a program soiled in these ways"),
        ("after", "reading", "{soiled us all right} are read right and none wrong, where pandas reads"),
        ("after", "reading", "pandas reads {soiled pandas all right} and DuckDB {soiled duckdb all right};"),
        (
            "final",
            "reading",
            "of {soiled us files} kept apart until the rules were fixed {soiled us all right} are read",
        ),
        ("final", "reading", "pandas reads {soiled pandas all right} and DuckDB {soiled duckdb all right} ("),
    ],
)
def test_pages_quote_the_stored_scores(part: str, page: str, said: str) -> None:
    scores = json.loads((ROOT / f"results/reading/{part}.json").read_text(encoding="utf-8"))["scores"]
    readers = {"us": "recombine", "pandas": "pandas", "duckdb": "duckdb"}

    def score(match: re.Match[str]) -> str:
        tables, reader, what = match[1].split(" ", 2)
        return str(scores[tables][readers[reader]][what])

    text = " ".join((ROOT / f"docs/{page}.md").read_text(encoding="utf-8").split())
    assert re.sub(r"\{(.*?)\}", score, said) in text
    assert scores["soiled"]["recombine"]["wrong"] == 0
