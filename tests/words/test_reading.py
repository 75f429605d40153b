from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.sheets import Note
from recombine.sheets.notes import KINDS
from recombine.words.reading import SENTENCES, reading_sentence, reading_sentences


def test_every_kind_of_note_has_its_sentence() -> None:
    assert list(SENTENCES) == list(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_sentence_says_what_the_note_holds_and_obeys_nothing(kind: str) -> None:
    full = reading_sentence(Note(kind, "row", (3, 12), ("12\x1b%", "b"), 2))
    bare = reading_sentence(Note(kind))
    for text in (full, bare):
        assert text.endswith(".")
        assert "{" not in text
        assert "\x1b" not in text
    held = full != bare
    assert held


@pytest.mark.parametrize(
    ("note", "sentence"),
    [
        (Note("title", "", (1,), ("Table 1",), 1), "Above the header line 1 is not read: Table 1."),
        (
            Note("footer", "", (9, 11, 12, 13, 14, 15), ("Total", "Source"), 6),
            "Below the table lines 9, 11, 12, 13 and 2 more are not read: Total, Source.",
        ),
        (
            Note("wide", "cell line", (), ("viability", "A549", "HeLa"), 2),
            "Columns A549, HeLa are read as levels of cell line, their numbers as viability; to name them say "
            "--wide 'cell line=viability'.",
        ),
        (Note("plate", "", (), (), 1), "1 plate is read as plate, row, column and value."),
        (
            Note("merged", "drug", (3,), (), 1),
            "1 cell of drug is empty or a ditto mark, and read as the label above, as in merged cells.",
        ),
        (Note("empty", "column", (), (), 2), "2 columns without a cell are left out."),
    ],
)
def test_sentences(note: Note, sentence: str) -> None:
    assert reading_sentence(note) == sentence


def test_rows_copied_whole_are_told() -> None:
    rng = np.random.default_rng(0)
    cells = np.indices((4, 4)).reshape(2, -1).T
    once = pd.DataFrame({"a": cells[:, 0].astype(str), "b": cells[:, 1].astype(str), "y": rng.normal(5, 1, 16)})
    told = [
        "\n".join(reading_sentences(rc.audit(table, factors=["a", "b"], outcome="y", forecast="theory").design))
        for table in (
            once,
            pd.concat([once, once[:6]]),
            pd.concat([once, once]).assign(y=lambda rows: rows["y"].round()),
        )
    ]
    assert ["copies" in text for text in told] == [False, True, False]
    assert "6 rows repeat the combination" in told[1]
