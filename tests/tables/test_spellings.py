from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.tables.numbers import look_alikes, measured_span


@pytest.mark.parametrize(
    "pair",
    [
        *[("yes", "YES"), ("1E5", "100000"), ("1", "1.0"), ("01", "1"), ("0x10", "16"), ("-0", "0"), (" Lyon", "Lyon")],
        *[("low  dose", "low dose"), ("low-dose", "low dose"), ("MIT Press", "MIT press"), ("T", "t"), ("ﬁt", "fit")],
        *[("5 uM", "5 µM"), ("5 \u00b5M", "5 \u03bcM"), ("50uM", "50 uM"), ("5 uM", "5.0uM"), ("37 °C", "37°C")],
        *[("5%", "5 %"), ("10 mg", "10mg"), ("293T", "293 T"), ("10 UM", "10 uM"), ("0.5x", ".5 x"), ("-5 C", " -5C")],
        *[("100 nM", "0.1 µM"), ("1000ug", "1 mg"), ("1 mM", "1000 \u03bcM")],
    ],
)
def test_spellings_of_one_level_are_named(pair: tuple[str, str]) -> None:
    assert look_alikes([*pair, "other"]) == [pair]


@pytest.mark.parametrize(
    "labels",
    [
        *[("AA", "Aa", "aa"), ("S", "s"), ("A", "A-", "A+"), ("-1", "1"), ("Iran", "Iraq"), ("1-2", "12"), ("", " ")],
        *[("5 uM", "50 uM", "5 mM", "5 nM"), ("5 mW", "5 MW"), ("5 s", "5 S"), ("-5 C", "5 C"), ("5 m", "5 min")],
        ("5", "5 h"),
    ],
)
def test_labels_that_mean_different_things_are_not(labels: tuple[str, ...]) -> None:
    assert look_alikes(labels) == []


@given(st.lists(st.text(max_size=6), unique=True))
def test_groups_are_parts_of_the_labels(labels: list[str]) -> None:
    groups = look_alikes(labels)
    named = [label for group in groups for label in group]
    assert len(named) == len(set(named))
    assert set(named) <= set(labels)


def test_measurements_taken_as_labels_are_told_from_codes() -> None:
    assert measured_span(["0.5", "1", "2"]) == (3, 0.5, 2.0)
    assert measured_span(["95", "175", "1000"]) == (3, 95.0, 1000.0)
    for codes in (["1", "2", "3"], ["2008", "2010", "2009"], ["0", "1"], ["007", "9", "100"], ["a", "1.5", "2"]):
        assert measured_span(codes) is None
