"""Small cases of `recombine.tables.numbers`, each as a reader would try it."""

from __future__ import annotations

from recombine.tables.numbers import look_alikes, measured_span


def test_look_alikes_by_example() -> None:
    assert (
        look_alikes(["yes", "YES", "no", "1", "1.0", "1E5", "100000", "low dose", "low-dose ", "A", "A-", "a"])
    ) == [("yes", "YES"), ("1", "1.0"), ("1E5", "100000"), ("low dose", "low-dose ")]


def test_measured_span_by_example() -> None:
    assert (measured_span(["0.5", "1", "2"]), measured_span(["1", "2", "3"])) == ((3, 0.5, 2.0), None)
