from __future__ import annotations

import pytest

from recombine.errors import InputError, RecombineError, SolverError, near_file, near_miss


def test_input_errors_are_value_errors_of_the_one_tree() -> None:
    assert issubclass(InputError, ValueError)
    assert issubclass(InputError, RecombineError)
    assert issubclass(SolverError, RecombineError)
    assert not issubclass(SolverError, ValueError)


@pytest.mark.parametrize(
    ("word", "candidates", "expected"),
    [
        ("carier", ["carrier", "origin"], " did you mean 'carrier'?"),
        ("A", ["a", "b"], " did you mean 'a'?"),  # too short for the letters to match, so capitals are folded
        ("DEST", ["origin", "dest"], " did you mean 'dest'?"),
        ("straße", ["STRASSE", "weg"], " did you mean 'STRASSE'?"),
        (12, [1, 123], " did you mean '123'?"),
        ("weight", ["origin", "dest"], ""),
        ("anything", [], ""),
    ],
)
def test_near_miss(word: object, candidates: list[object], expected: str) -> None:
    assert near_miss(word, candidates) == expected


@pytest.mark.parametrize(
    ("name", "others", "expected"),
    [
        ("tabel.csv", ["table.csv", "table.parquet"], "table.csv"),
        ("table.csv", ["notes.csv", "table.parquet"], "table.parquet"),
        ("Table.CSV", ["table.csv", "tablets.csv"], "table.csv"),
        ("tabel.csv.gz", ["plain.csv.gz", "table.csv"], "table.csv"),
        ("three.csv", ["planted.csv", "bin.csv"], ""),
        ("a.csv", ["b.csv"], ""),
        ("a.csv", [], ""),
    ],
)
def test_files_are_near_by_their_names_without_endings(name: str, others: list[str], expected: str) -> None:
    assert near_file(name, others) == (f" did you mean {expected!r}?" if expected else "")
