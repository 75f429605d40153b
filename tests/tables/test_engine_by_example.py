"""Small cases of `recombine.tables.engine`, each as a reader would try it."""

from __future__ import annotations

from recombine.tables.engine import quoted


def test_quoted_by_example() -> None:
    assert quoted('a.b "c" d') == '"a.b ""c"" d"'
