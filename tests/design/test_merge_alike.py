"""Spellings of one level: merged on request as if the table had been clean, in every table that is asked about."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recombine as rc
from recombine.design.targets import encode_targets
from recombine.errors import InputError

UNITS = pd.DataFrame(
    {
        "strain": ["W303", "W303", "BY4741", "BY4741", "S288C", "Sigma"],
        "inhibitor": ["5 uM", "50 uM", "5 \u00b5M", "50uM", "5uM", "5 \u03bcM"],
        "growth": [0.41, 0.12, 0.44, 0.15, 0.37, 0.39],
    }
)
NAMED = {"factors": ["strain", "inhibitor"], "outcome": "growth"}
SPELLINGS = {"low dose": ["low dose", "Low dose", "low-dose ", " LOW  DOSE"], "5 uM": ["5 uM", "5uM", "5.0 µM"]}


def test_five_spellings_of_two_doses_are_two_levels() -> None:
    apart = rc.audit(UNITS, **NAMED)
    assert apart.design.sizes == (4, 6)
    assert apart.decided.counts[rc.Verdict.DETERMINED] == 0
    merged = rc.audit(UNITS, merge_alike=True, **NAMED)
    assert merged.design.factors[1].labels == ("5 uM", "50 uM")
    assert [row["verdict"] for row in merged.verdicts.rows()] == ["determined", "determined"]
    assert "RC107" not in [finding.code for finding in merged.findings]


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from([*SPELLINGS, "other"]), st.integers(0, 3), st.integers(0, 2)), min_size=8))
def test_merging_is_cleaning_the_table_by_hand(rows: list[tuple[str, int, int]]) -> None:
    clean = pd.DataFrame(rows, columns=["a", "way", "b"]).astype({"b": str})
    clean["y"] = np.arange(len(clean), dtype=float) ** 2
    written = clean.assign(a=[SPELLINGS.get(a, [a] * 4)[way % 3] for a, way in zip(clean.a, clean.way, strict=True)])
    named = {"factors": ["a", "b"], "outcome": "y"}
    if min(clean.a.nunique(), clean.b.nunique()) < 2:
        return
    by_hand, merged = rc.Design.from_frame(clean, **named), rc.Design.from_frame(written, merge_alike=True, **named)
    counts = written.a.value_counts()
    for label in merged.factors[0].labels:  # the spelling that is kept is a most frequent one
        assert counts[label] == max(counts.get(spelling, 0) for spelling in SPELLINGS.get(plain(label), [label]))
    assert cells(by_hand) == pytest.approx(cells(merged))


def plain(label: str) -> str:
    return next((name for name, spellings in SPELLINGS.items() if label in spellings), label)


def cells(design: rc.Design) -> dict[tuple[str, str], float]:
    assert design.outcome is not None
    rows = zip(design.cells.tolist(), design.outcome * 1000 + design.observed.rows, strict=True)
    return {(plain(design.factors[0].labels[a]), design.factors[1].labels[b]): number for (a, b), number in rows}


def test_targets_held_out_rows_and_cells_are_merged_the_same_way() -> None:
    design = rc.Design.from_frame(UNITS, merge_alike=True, **NAMED)
    asked = pd.DataFrame({"strain": ["s288c", "W303 "], "inhibitor": ["50 \u00b5M", "5.0uM"]})
    _, cells = encode_targets(design, asked)
    assert [design.label(cell) for cell in cells] == ["S288C · 50 uM", "W303 · 5 uM"]
    with pytest.raises(InputError, match="is not a level of factor 'strain'"):
        encode_targets(rc.Design.from_frame(UNITS, **NAMED), asked)
    assert "determined" in rc.audit(design).explain(strain="sigma", inhibitor="50uM")
    held = pd.DataFrame({"strain": ["sigma"], "inhibitor": ["50 \u00b5M"], "growth": [0.1]})
    both = rc.Design.from_frame(UNITS, held_out=held, merge_alike=True, **NAMED)
    assert both.sizes == (4, 2)
    assert both.label(both.held_out[0]) == "Sigma · 50 uM"


def test_symmetric_factors_share_their_spellings() -> None:
    frame = pd.DataFrame({"g": ["TP53", "tp53", "Myc"], "h": ["MYC", "RAS", "RAS"]})
    design = rc.Design.from_frame(frame, factors=["g", "h"], symmetric=["g", "h"], merge_alike=True)
    assert design.factors[0].labels == design.factors[1].labels == ("MYC", "RAS", "TP53")


def test_numbers_and_dates_of_a_dataframe_stay_as_they_are() -> None:
    frame = pd.DataFrame({"dose": [1, 2, 1], "day": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-02"])})
    assert rc.Design.from_frame(frame, factors=["dose", "day"], merge_alike=True).sizes == (2, 2)
