"""Small cases of `recombine.tables.numbers`, each as a reader would try it."""

from __future__ import annotations

from datetime import datetime

import numpy as np

from recombine.tables.numbers import (
    are_versions,
    is_number,
    kind_of_texts,
    level_text,
    look_alikes,
    measured_span,
    missing_values,
)


def test_is_number_by_example() -> None:
    assert ([is_number(text) for text in ("1E5", " -0.5", "0x10", "1e999", "3 kg")]) == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_kind_of_texts_by_example() -> None:
    assert (kind_of_texts(["1", "2.5"]), kind_of_texts(["007", "12"]), kind_of_texts(["2013-01-31"])) == (
        "number",
        "text",
        "date",
    )


def test_level_text_by_example() -> None:
    assert (level_text(2.0), level_text(1234567.5), level_text(datetime(2013, 1, 31))) == (
        "2",
        "1234567.5",
        "2013-01-31",
    )


def test_missing_values_by_example() -> None:
    assert (missing_values(np.array(["a", None], dtype=object)).tolist()) == [False, True]


def test_versions_are_labels() -> None:
    versions = ["3.8", "3.9", "3.1", "3.10", "3.11"]
    assert are_versions([*versions, "pypy3.9"])
    assert not look_alikes(["3.1", *versions[:2], "3.10"])
    assert measured_span(versions) is None
    assert look_alikes(["2.5", "2.50"])
    assert measured_span(["2.10", "2.12", "2.14"]) is not None
