from __future__ import annotations

from datetime import date, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.design.factors import Factor, code_levels, place_of
from recombine.errors import InputError
from recombine.tables.numbers import level_text


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, unique=True))
def test_no_two_numbers_share_a_label(values: list[float]) -> None:
    labels = [level_text(value) for value in values]
    assert [float(label) for label in labels] == values


@pytest.mark.parametrize(
    ("level", "text"),
    [
        (2.0, "2"),
        (0.1, "0.1"),
        (1234567.0, "1234567"),
        (1234568.0, "1234568"),
        (1e22, "1e+22"),
        (True, "True"),
        (date(2020, 2, 29), "2020-02-29"),
        (datetime(2020, 2, 29), "2020-02-29"),
        (datetime(2020, 2, 29, 13, 30), "2020-02-29 13:30:00"),
        ("  padded ", "  padded "),
    ],
)
def test_level_text(level: object, text: str) -> None:
    assert level_text(level) == text


LEVELS: list[Any] = [
    np.array(["b", "a", "b", "ü 角"]),
    np.array([10, 9, 10, -1]),
    np.array([0.5, -2.0, 0.5, 1e6 + 0.5]),
    np.array([True, False, True, True]),
    np.array(["2020-01-02", "2020-01-01", "2020-01-02", "2021-01-01"], dtype="datetime64[us]"),
    np.array([10, "9", 2.5, None], dtype=object),
]


@pytest.mark.parametrize("column", LEVELS, ids=lambda column: str(column.dtype))
def test_codes_point_at_their_levels(column: Any) -> None:
    (factor, _), codes = code_levels(["a", "b"], [column, np.array(list("xyxy"))], (), "t")
    texts = [level_text(value) for value in column.tolist()]
    assert [factor.labels[code] for code in codes[:, 0]] == texts
    assert factor.codes(column).tolist() == codes[:, 0].tolist()
    assert [factor.code(text) for text in texts] == codes[:, 0].tolist()
    assert factor.unknown(column) == []


def test_numbers_sort_as_numbers() -> None:
    (factor, _), _ = code_levels(["a", "b"], [np.array([10, 9, 100]), np.array(list("xyx"))], (), "t")
    assert factor.levels == (9, 10, 100)


def test_symmetric_factors_share_levels_across_number_types() -> None:
    columns = [np.array([1, 2, 9]), np.array([2.0, 10.0, 1.0])]
    factors, codes = code_levels(["a", "b"], columns, (0, 1), "t")
    assert factors[0].labels == factors[1].labels == ("1", "2", "9", "10")
    assert codes.tolist() == [[0, 1], [1, 3], [2, 0]]


def test_symmetric_factors_share_levels_across_text_and_numbers() -> None:
    columns = [np.array(["1", "x", "2"]), np.array([1.0, 2.0, 1.0])]
    factors, codes = code_levels(["a", "b"], columns, (0, 1), "t")
    assert factors[0].labels == factors[1].labels == ("1", "2", "x")
    assert codes.tolist() == [[0, 0], [2, 1], [1, 0]]


def test_one_level_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"factor 'a' of t.csv has one level only \(x\)"):
        code_levels(["a", "b"], [np.array(["x", "x"]), np.array(["p", "q"])], (), "t.csv")


def test_numbers_too_large_to_tell_apart_are_refused() -> None:
    big = np.array([9007199254740992.0, 9007199254740994.0])
    with pytest.raises(InputError, match=r"factor 'id' has the level 9.0072e"):
        code_levels(["id", "b"], [big, np.array(["p", "q"])], (), "t.csv")
    (factor, _), _ = code_levels(["id", "b"], [np.array([2**53, 2**53 + 1]), np.array(["p", "q"])], (), "t.csv")
    assert factor.labels == ("9007199254740992", "9007199254740993")


def test_unknown_levels() -> None:
    factor = Factor("colour", ("blue", "red"))
    assert factor.unknown(np.array(["red", "pink", "grey", "pink"])) == ["pink", "grey"]
    with pytest.raises(
        InputError, match=r"'read' is not a level of factor 'colour'; did you mean 'red'\? Levels: blue"
    ):
        factor.code("read")


def test_place_of_names_the_near_miss() -> None:
    assert place_of(["gene_a", "gene_b"], "gene_b") == 1
    with pytest.raises(InputError, match=r"symmetric factor 'geneb' is not one of the factors; did you mean 'gene_b'"):
        place_of(["gene_a", "gene_b"], "geneb")


def test_whole_and_broken_numbers_of_interchangeable_factors_are_one_kind() -> None:
    columns = [np.array([1, 2, 10]), np.array([1.0, 2.5, 2.0])]
    factors, codes = code_levels(["a", "b"], columns, (0, 1), "t")
    assert factors[0].levels == factors[1].levels
    assert factors[0].levels == (1.0, 2.0, 2.5, 10.0)  # numbers, not their texts
    assert codes.tolist() == [[0, 0], [1, 2], [3, 1]]
