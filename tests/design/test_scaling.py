"""Ordered and numeric factors of a table: how they are named, what is refused, and what unseen values become."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from known_designs import on_scales
from recombine.design import Design
from recombine.design.targets import encode_targets, outside_words, place_cell
from recombine.errors import InputError


def frame() -> pd.DataFrame:
    rows = [(plant, dose, year) for plant in "abc" for dose in (0, 5, 40) for year in (2001, 2002, 2004, 2008)]
    table = pd.DataFrame(rows, columns=["plant", "dose", "year"])
    return table.assign(y=table.dose / 10 + table.year - 2000.0)


def test_columns_named_as_ordered_or_numeric_are_factors() -> None:
    design = Design.from_frame(frame(), factors=["plant"], outcome="y", ordered=["dose"], numeric=["year"])
    assert design.names == ("plant", "dose", "year")
    assert [factor.scale for factor in design.factors] == ["labels", "ordered", "numeric"]
    kinds = [None if scale is None else scale.kind for scale in design.scales]
    assert kinds == [None, "ordered", "numeric"]


def test_the_others_are_guessed() -> None:
    design = Design.from_frame(frame(), factors=None, outcome="y", numeric=["year"])
    assert set(design.names) == {"plant", "dose", "year"}
    assert len(design.reading.proposals) >= 2


def test_a_design_without_scales_has_none() -> None:
    design = Design.from_frame(frame(), factors=["plant", "dose"], outcome="y")
    assert design.scales == ()
    assert design.space.labelled is design.space
    assert on_scales(design) is design
    assert not any(factor.on_scale for factor in on_scales(design, ["dose"]).space.labelled.factors)


def test_measurements_with_thousands_of_values_may_be_numeric() -> None:
    table = pd.DataFrame({"plant": list("ab") * 1500, "x": np.arange(3000) / 7, "y": 0.0})
    with pytest.raises(InputError, match=r"say --numeric x for a trend"):
        Design.from_frame(table, factors=["plant", "x"], outcome="y")
    design = Design.from_frame(table, factors=["plant"], outcome="y", numeric=["x"])
    assert len(design.scales[1].knots) == 5  # type: ignore[union-attr]
    assert not design.reading.notes


def test_levels_that_are_no_numbers_are_given_in_order() -> None:
    table = pd.DataFrame({"grade": ["low", "high", "low"], "site": ["x", "x", "y"]})
    design = Design.from_frame(table, factors=["grade", "site"], ordered=["grade=low<mid<high"])
    assert design.factors[0].labels == ("high", "low", "mid")
    assert [design.factors[0].place(level) for level in design.factors[0].levels] == [2, 0, 1]
    scale = design.scales[0]
    assert scale is not None
    assert scale.shares(2) == (Fraction(1, 2), Fraction(1, 2))


@pytest.mark.parametrize(
    ("ordered", "numeric", "words"),
    [
        (["dos"], [], r"ordered factor 'dos' is not a column of the table; did you mean 'dose'"),
        (["dose"], ["dose"], r"'dose' is named twice, as ordered and as numeric"),
        (
            ["plant"],
            [],
            r"'a' \(row 1\) of the ordered factor 'plant' is not a number; .*--ordered 'plant=low<mid",
        ),
        ([], ["plant"], r"'a' \(row 1\) of the numeric factor 'plant' is not a number; correct it"),
        (["plant=a<b"], [], r"'c' \(row 25\) is not in the order plant=a<b; list every level of plant"),
        (["plant=a<a"], [], r"give two or more levels, each once"),
        ("dose", [], r"ordered is the text 'dose'; give a list"),
    ],
)
def test_what_cannot_be_placed_is_refused(ordered, numeric, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Design.from_frame(frame(), factors=["plant", "year"], outcome="y", ordered=ordered, numeric=numeric)


def test_a_bad_number_is_named_with_its_row(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("plant,dose,y\na,1,2\nb,2,3\na,10 mg,4\nb,3,5\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"'10 mg' \(row 3\) of the numeric factor 'dose' is not a number"):
        Design.from_frame(path, factors=["plant"], outcome="y", numeric=["dose"])


def test_one_number_written_in_two_ways_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("plant,dose,y\na,1,2\nb,1.0,3\na,2,4\nb,3,5\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"'1' and '1.0' of the ordered factor 'dose' are one number"):
        Design.from_frame(path, factors=["plant"], outcome="y", ordered=["dose"])


def test_only_labels_can_be_nested() -> None:
    table = pd.DataFrame({"plant": list("abcd") * 2, "dose": [1, 1, 2, 2] * 2, "day": [1] * 4 + [2] * 4})
    with pytest.raises(InputError, match="plant lies inside dose, but dose is ordered"):
        Design.from_frame(table, factors=["plant", "day"], ordered=["dose"], nested=["plant/dose"])
    said = Design.from_frame(table, factors=["plant", "dose", "day"], nested=["plant/dose"])
    with pytest.raises(InputError, match="only labels can be nested"):
        on_scales(said, ["dose"])


def test_no_nesting_is_inferred_of_numbers() -> None:
    """Every value of a measurement goes with one level of anything; that says nothing."""
    generator = np.random.default_rng(0)
    table = pd.DataFrame({"plant": np.repeat(list("abcdefgh"), 30), "x": np.repeat(generator.normal(size=80), 3)})
    table["site"] = np.tile(np.arange(3), 80)
    assert not Design.from_frame(table, factors=["plant", "site"], numeric=["x"]).space.nesting
    design = Design.from_frame(table, factors=["plant", "site", "x"])
    assert design.space.nesting
    assert not on_scales(design, numeric=["x"]).space.nesting


def test_targets_may_hold_new_values_on_a_scale_only() -> None:
    design = Design.from_frame(frame(), factors=["plant"], outcome="y", ordered=["dose"])
    larger, cells = encode_targets(design, pd.DataFrame({"plant": ["a", "b"], "dose": [20, 80]}))
    assert larger.space.decode(cells)["dose"].tolist() == ["20", "80"]
    assert larger.scales[1].beyond[cells[:, 1]].tolist() == [False, True]  # type: ignore[union-attr]
    with pytest.raises(InputError, match="--new-levels"):
        encode_targets(design, pd.DataFrame({"plant": ["d"], "dose": [20]}))
    with pytest.raises(InputError, match=r"row 2: 'much' of the ordered factor 'dose' is not a number"):
        encode_targets(design, pd.DataFrame({"plant": ["a", "b"], "dose": ["20", "much"]}))


def test_numbers_in_targets_are_written_short(tmp_path: Path) -> None:
    path = tmp_path / "targets.csv"
    path.write_text("plant,dose\na,20.0\nb,5.0\n", encoding="utf-8")
    larger, cells = encode_targets(Design.from_frame(frame(), factors=["plant"], outcome="y", ordered=["dose"]), path)
    assert larger.space.decode(cells)["dose"].tolist() == ["20", "5"]
    assert larger.sizes == (3, 4)


def test_a_cell_with_a_new_value_makes_the_design_larger() -> None:
    design = Design.from_frame(frame(), factors=["plant"], outcome="y", ordered=["dose"])
    same, cell = place_cell(design, ["a", 5])
    assert same is design
    assert cell.tolist() == [0, 1]
    larger, cell = place_cell(design, {"plant": "a", "dose": "12.5"})
    assert larger.label(cell) == "a · 12.5"
    with pytest.raises(InputError, match="is not a level of factor 'plant'"):
        place_cell(design, ["z", 12.5])
    with pytest.raises(InputError, match="'x' of the ordered factor 'dose' is not a number"):
        place_cell(design, ["a", "x"])


def test_what_lies_outside_is_said_with_the_range_and_what_to_collect() -> None:
    design = Design.from_frame(frame(), factors=["plant"], outcome="y", ordered=["dose"], numeric=["year"])
    larger, cell = place_cell(design, ["a", 80, 1999])
    assert outside_words(larger, cell) == [
        "dose 80 lies above the seen range 0 to 40: collect a row with dose 80 or above",
        "year 1999 lies below the seen range 2001 to 2008: collect a row with year 1999 or below",
    ]
    assert outside_words(design, design.seen[0]) == []


def test_interchangeable_factors_share_one_scale() -> None:
    table = pd.DataFrame({"first": [0, 0, 4, 8], "second": [0, 4, 8, 8], "y": [0.0, 1, 2, 3]})
    design = Design.from_frame(
        table, factors=["first", "second"], outcome="y", symmetric=["first", "second"], ordered=["first"]
    )
    assert [factor.scale for factor in design.factors] == ["ordered", "ordered"]
    larger, cell = place_cell(design, [6, 0])
    assert larger.sizes == (4, 4)
    assert larger.label(cell) in ("0 · 6", "6 · 0")


def test_the_range_is_that_of_training_rows() -> None:
    table = frame().assign(part=lambda rows: np.where(rows.dose == 5, "test", "train"))
    design = Design.from_frame(table, factors=["plant"], outcome="y", ordered=["dose"], split="part")
    scale = design.scales[1]
    assert scale is not None
    assert scale.knots.tolist() == [0, 2]
    assert scale.weights[1].round(3).tolist() == [0.875, 0.125]
