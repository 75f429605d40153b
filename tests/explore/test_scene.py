"""Scenes: a design as the text behind the # of a link, and back."""

from __future__ import annotations

from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recombine as rc
from recombine.explore import check_scene, painted, scene_of, scene_parts
from recombine.writing import printable


@given(
    sizes=st.lists(st.integers(1, 5), min_size=2, max_size=4),
    share=st.floats(0.05, 1),
    seed=st.integers(0, 10_000),
)
def test_what_was_seen_comes_back(sizes: list[int], share: float, seed: int) -> None:
    draw = np.random.default_rng(seed)
    cells = np.argwhere(draw.random(sizes) < share)
    if not len(cells):
        cells = np.zeros((1, len(sizes)), dtype=int)
    design = rc.Design.from_cells(cells, sizes=sizes)
    assert painted(scene_of(design), design.sizes).tolist() == design.seen.tolist()


HOSTILE = ["<b>", "a,b", "a;b", "50%", "é & ü", "#", "+", "~", " ", '"', "\\", "‮x"]


def test_names_numbers_and_held_out_cells_come_back() -> None:
    table = pd.DataFrame(
        {
            "k;i,nd": HOSTILE * 2,
            "s=&": ["p"] * len(HOSTILE) + ["q"] * len(HOSTILE),
            "y": np.arange(2 * len(HOSTILE)) / 3,
            "part": ["train"] * (2 * len(HOSTILE) - 3) + ["test"] * 3,
        }
    )
    design = rc.Design.from_frame(table, factors=["k;i,nd", "s=&"], outcome="y", split="part=train")
    parts = scene_parts(scene_of(design, 2))
    factors = [[unquote(text) for text in packed.split(",")] for packed in parts["f"].split(";")]
    assert factors == [[printable(text) for text in (factor.name, *factor.labels)] for factor in design.factors]
    assert (parts["o"], parts["u"], parts["t"]) == ("2", "y", "table")
    values = np.array([float(text) for text in parts["v"].split("~")]).reshape(design.sizes)
    codes = {factor.name: dict(zip(factor.labels, range(99), strict=False)) for factor in design.factors}
    for row in table.itertuples(index=False):
        assert values[codes["k;i,nd"][row[0]], codes["s=&"][row[1]]] == pytest.approx(row[2])
    assert len(painted(scene_of(design), design.sizes)) == 2 * len(HOSTILE) - 3


def test_factors_that_the_page_calls_plain_are_written_as_it_does() -> None:
    design = rc.Design.from_frame(pd.DataFrame({"a": [1, 1, 2], "b": [1, 2, 1]}), factors=["a", "b"])
    assert scene_parts(scene_of(design)) == {"s": "2x2", "m": "0.3", "t": "table", "v": "~~~", "k": "ntk3"}


def test_what_the_page_cannot_show_is_refused_with_the_way_out() -> None:
    def refused(design: rc.Design, text: str, order: int = 1) -> None:
        with pytest.raises(rc.InputError, match=text) as caught:
            check_scene(design, order)
        assert "recombine explore" in str(caught.value)

    refused(rc.Design.from_cells([[0], [1]]), "2 to 6 factors, not 1")
    refused(rc.Design.from_cells([[0, 0], [100, 1]]), "has 101 levels")
    refused(rc.Design.from_cells([[0, 0, 0], [99, 99, 9]]), "100,000 cells")
    pairs = pd.DataFrame({"one": ["a", "b"], "two": ["b", "c"]})
    refused(
        rc.Design.from_frame(pairs, factors=["one", "two"], symmetric=["one", "two"]), "one and two are interchangeable"
    )
    doses = pd.DataFrame({"drug": ["a", "b", "a"], "dose": [1.0, 2.0, 3.0]})
    refused(rc.Design.from_frame(doses, factors=["drug", "dose"], numeric=["dose"]), "dose lie on a line")
    refused(rc.Design.from_cells([[0, 0], [1, 1]]), "not 4", order=4)
