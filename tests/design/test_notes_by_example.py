"""Small cases of `recombine.design.notes`, each as a reader would try it."""

from __future__ import annotations

from recombine.design.notes import reading_notes


def test_reading_notes_by_example() -> None:
    assert ([(note.kind.name, note.numbers) for note in reading_notes({"no outcome": 2, "no weight": 0}, (), ())]) == [
        ("ROWS_LEFT_OUT", {"no outcome": 2})
    ]
