"""Cells near the commonest one: counts by number of departures, against writing out every cell."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.jobs.listing import near_cells
from recombine.theory.identification.identify import identify
from recombine.verdicts import Verdict
from recombine.words.plan import gain_text


def mutants(length: int, departures: int, letters: str = "ABC") -> list[str]:
    """Every sequence with so many departures from AAA..."""
    found = []
    for places in itertools.combinations(range(length), departures):
        for changed in itertools.product(letters[1:], repeat=departures):
            text = ["A"] * length
            for place, letter in zip(places, changed, strict=True):
                text[place] = letter
            found.append("".join(text))
    return found


def audited(texts: list[str]) -> rc.jobs.audit.Audit:
    frame = pd.DataFrame({"x": texts, "y": np.random.default_rng(0).normal(size=len(texts))})
    return rc.audit(rc.Design.from_frame(frame, outcome="y", sequence="x"))


@pytest.mark.parametrize("seed", range(8))
def test_counts_by_departures_are_those_of_every_cell(seed: int) -> None:
    generator = np.random.default_rng(seed)
    cells = np.array([[ord(letter) - 65 for letter in text] for text in mutants(12, 2, "AB") + mutants(12, 1, "AB")])
    cells = cells[generator.random(len(cells)) < 0.35]
    cells = cells[:, cells.any(axis=0)]
    if cells.shape[1] < 12:
        return
    near = near_cells(rc.Design.from_cells(cells))
    known = identify(cells)
    assert near is not None
    everything = np.indices((2,) * 12).reshape(12, -1).T
    number, codes = (everything != near.common).sum(axis=1), known.verdicts_of(everything)
    told = near.told(known)
    assert near.counts == [int((number == k).sum()) for k in range(near.most + 1)]
    assert told == [int((codes[number == k] <= Verdict.DETERMINED).sum()) for k in range(near.most + 1)]


@pytest.mark.slow
def test_double_mutants_alone_determine_no_single_and_no_triple() -> None:
    audit = audited(mutants(14, 2))
    message = next(item for item in audit.findings if item.code == "RC101").message
    assert "double mutants alone determine no single mutant and no triple mutant" in message
    assert f"one row of {'A' * 14} itself mends it" in message
    assert "0: none of 1; 1: none of 28; 2: all of 364; 3: none of 2,912" in message
    listed = audit.verdicts
    letters = np.array([sum(letter != "A" for letter in text) for text in listed["x"].tolist()])
    assert set(listed["verdict"][letters != 2].tolist()) == {"disconnected"}
    plan = audit.plan(1)
    assert plan.table["x"].tolist() == ["A" * 14]
    assert "with at most 3 departures become determined" in gain_text(plan, plan.picks[0])


@pytest.mark.slow
def test_one_row_of_the_wild_type_mends_it() -> None:
    audit = audited([*mutants(14, 2), "A" * 14])
    assert audit.decided.departures is None
    assert audit.decided.counts[Verdict.DISCONNECTED] == 0
    assert set(audit.verdicts["verdict"].tolist()) == {"determined"}


@pytest.mark.slow
def test_cells_are_drawn_evenly() -> None:
    near = near_cells(audited(mutants(12, 2, "AB")).design)
    assert near is not None
    drawn = near.draw(2, 66_000, np.random.default_rng(0))
    assert ((drawn != near.common).sum(axis=1) == 2).all()
    counts = np.unique(drawn, axis=0, return_counts=True)[1]
    assert len(counts) == 66
    assert abs(counts - 1000).max() < 5 * np.sqrt(1000)


def test_ordinary_designs_have_no_commonest_cell() -> None:
    cells = np.random.default_rng(0).integers(0, 3, size=(80, 12))
    assert near_cells(rc.Design.from_cells(cells)) is None
