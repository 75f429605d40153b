"""Small cases of `recombine.design.nesting`, each as a reader would try it."""

from __future__ import annotations

import numpy as np

from recombine.design.factors import Factor
from recombine.design.nesting import (
    Nested,
    broken_at,
    declare_nesting,
    infer_nesting,
    nested_product,
    nesting_chance,
    nesting_phrase,
)


def test_nesting_phrase_by_example() -> None:
    assert (
        nesting_phrase([Nested("plant", "type"), Nested("plant", "treatment"), Nested("school", "district")])
    ) == "plant lies inside type and treatment; school lies inside district"


def test_infer_nesting_by_example() -> None:
    plants, doses = np.repeat(np.arange(6), 4), np.tile(np.arange(4), 6)
    cells = np.column_stack([plants, plants // 3, doses])
    factors = [Factor(name, tuple(range(size))) for name, size in (("plant", 6), ("treatment", 2), ("dose", 4))]
    assert ([str(nested) for nested in infer_nesting(factors, cells, np.ones(24, dtype=int))]) == [
        "plant lies inside treatment"
    ]


def test_broken_at_by_example() -> None:
    assert (broken_at(np.array([[0, 0], [1, 1], [1, 0]]), 0, 1)) == 1


def test_nesting_chance_by_example() -> None:
    assert nesting_chance(np.arange(6), np.arange(6) // 3, np.ones(6, dtype=int)) is None


def test_declare_nesting_by_example() -> None:
    factors = [Factor("plant", (0, 1)), Factor("treatment", (0, 1))]
    assert (
        [str(nested) for nested in declare_nesting(["plant/treatment"], factors, np.array([[0, 1], [1, 1]]), ())]
    ) == ["plant lies inside treatment"]


def test_nested_product_by_example() -> None:
    cells = np.array([[0, 0, 0], [1, 0, 0], [2, 1, 1]])
    assert (nested_product((3, 2, 2), (), [(0, 1)], cells).cells().tolist()) == [
        [0, 0, 0],
        [0, 0, 1],
        [1, 0, 0],
        [1, 0, 1],
        [2, 1, 0],
        [2, 1, 1],
    ]
