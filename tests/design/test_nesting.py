from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine import Design, InputError
from recombine.design.nesting import nested_product, nesting_chance
from recombine.design.targets import encode_targets, why_impossible

FACTORS = ["plant", "type", "treatment", "dose"]


def plants(replicates: int = 1, children: int = 3) -> pd.DataFrame:
    rows = [
        {"plant": f"{kind[0]}{cold[0]}{number}", "type": kind, "treatment": cold, "dose": str(dose), "y": dose + number}
        for kind, cold in itertools.product(["Quebec", "Mississippi"], ["warm", "chilled"])
        for number, dose in itertools.product(range(children), range(4))
    ]
    return pd.DataFrame(rows * replicates)


def said(design: Design) -> list[str]:
    return list(map(str, design.space.nesting))


def test_plants_lie_inside_types_and_treatments() -> None:
    design = Design.from_frame(plants(), factors=FACTORS, outcome="y")
    assert said(design) == ["plant lies inside type", "plant lies inside treatment"]
    assert all(item.inferred and item.chance < 1e-3 for item in design.space.nesting)
    assert (design.possible.count, len(design.seen), design.possible.following) == (48, 48, (1, 2))


def test_crossed_is_the_last_word() -> None:
    design = Design.from_frame(plants(), factors=FACTORS, outcome="y", crossed=True)
    assert (design.space.nesting, design.possible.count, design.possible.whole) == ((), 12 * 2 * 2 * 4, True)
    some = Design.from_frame(plants(), factors=FACTORS, outcome="y", crossed=True, nested=["plant/type"])
    assert (said(some), some.space.nesting[0].inferred, some.possible.count) == (
        ["plant lies inside type"],
        False,
        12 * 2 * 4,
    )


def test_confounded_factors_are_not_nested() -> None:
    """Colour and shape that always go together are what recombination is about: their other pairs are open."""
    rows = [(str(kind), str(kind), str(size)) for kind in range(3) for size in range(20)]
    assert Design.from_frame(pd.DataFrame(rows, columns=["colour", "shape", "size"])).space.nesting == ()


@pytest.mark.parametrize(("children", "nesting"), [(6, ["batch lies inside site"]), (5, [])])
def test_nesting_is_inferred_from_two_levels_per_level_of_the_parent_on(children: int, nesting: list[str]) -> None:
    rows = [(str(child), str(child % 3), str(dose)) for child in range(children) for dose in range(9)]
    frame = pd.DataFrame(rows, columns=["batch", "site", "dose"])
    assert said(Design.from_frame(frame, factors=["batch", "site", "dose"])) == nesting


def test_one_row_per_level_says_nothing() -> None:
    frame = pd.DataFrame({"patient": map(str, range(400)), "arm": [str(place % 2) for place in range(400)]})
    assert Design.from_frame(frame, factors=["patient", "arm"]).space.nesting == ()


def test_a_single_exception_refutes() -> None:
    frame = pd.concat([plants(), plants().head(1).assign(treatment="chilled")])
    assert said(Design.from_frame(frame, factors=FACTORS, outcome="y")) == ["plant lies inside type"]


def test_held_out_rows_count() -> None:
    frame = plants().assign(part="train")
    held = plants().head(4).assign(treatment="chilled", part="test")
    assert said(Design.from_frame(pd.concat([frame, held]), factors=FACTORS, outcome="y", split="part")) == [
        "plant lies inside type"
    ]


@given(st.integers(0, 2**32 - 1))
def test_crossed_designs_of_some_size_are_hardly_ever_taken_for_nested(seed: int) -> None:
    generator = np.random.default_rng(seed)
    cells = np.unique(generator.integers(0, [12, 3, 5], size=(40, 3)), axis=0)
    frame = pd.DataFrame(cells.astype(str), columns=["a", "b", "c"])
    assert Design.from_frame(frame, factors=["a", "b", "c"]).space.nesting == ()


def test_the_chance_is_that_of_rows_drawn_at_random() -> None:
    """The first of the two chances, simulated: two children of three rows each in two equal parents."""
    child = np.repeat(np.arange(8), 3)
    parent = child // 4
    draws = np.random.default_rng(0).integers(0, 2, size=(200_000, 8, 3))
    pure = (draws == draws[:, :, :1]).all(axis=2).mean() ** 8
    assert nesting_chance(child, parent, np.ones(24, dtype=np.int64)) == pytest.approx(
        max(pure, _scattered(8, 3.0)), rel=0.1
    )


def _scattered(children: int, expected: float) -> float:
    counts = np.random.default_rng(1).poisson(expected / 2, size=(400_000, 2))
    counts = counts[counts.sum(axis=1) > 0]
    return float(((counts == 0).any(axis=1)).mean() ** children)


@pytest.mark.parametrize(
    ("nested", "words"),
    [
        (["plant"], "'plant' must name a factor and the one it lies inside"),
        (["plant/tretment"], "'tretment' is not a factor; did you mean 'treatment'"),
        (["treatment/plant"], "did you mean plant/treatment?"),
        (["dose/type"], "dose does not lie inside type: dose '0' occurs with"),
        (["plant/plant"], "must name a factor and the one it lies inside"),
        ("plant/type", "give a list"),
    ],
)
def test_what_cannot_be_is_refused(nested: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words.replace("?", r"\?")):
        Design.from_frame(plants(), factors=FACTORS, outcome="y", nested=nested)


def test_symmetric_factors_are_not_nested() -> None:
    frame = pd.DataFrame({"a": list("xyz"), "b": list("yzx"), "c": list("uuv")})
    with pytest.raises(InputError, match="symmetric factors are one factor used twice"):
        Design.from_frame(frame, factors=["a", "b", "c"], symmetric=["a", "b"], nested=["a/c"])


def test_a_chain_is_said_at_once() -> None:
    cells = [[0, 0, 0], [1, 0, 0], [2, 1, 0], [3, 2, 1]]
    design = Design.from_cells(cells, names=["pupil", "class", "school"], nested=["pupil/class/school"])
    assert said(design) == ["pupil lies inside class", "class lies inside school"]
    assert (design.possible.count, design.possible.following) == (4, (1, 2))


def test_a_level_that_is_nowhere_has_no_parent() -> None:
    with pytest.raises(InputError, match="plant '2' is in no row, so its type is unknown"):
        Design.from_cells([[0, 0], [1, 0]], names=["plant", "type"], sizes=(3, 2), nested=["plant/type"])


def test_children_of_one_parent_meet_inside_it() -> None:
    """Pupils and teachers have one school each: a pupil meets the teachers of its own school only."""
    cells = np.array([[0, 0, 0], [1, 0, 1], [2, 1, 2], [2, 1, 3], [3, 1, 2]])
    possible = nested_product((4, 2, 4), (), [(0, 1), (2, 1)], cells)
    expected = [[p, s, t] for p, s in enumerate([0, 0, 1, 1]) for t in range(4) if (t < 2) == (s == 0)]
    assert possible.cells().tolist() == expected
    assert (possible.count, possible.following) == (8, (1,))


@given(st.lists(st.permutations(range(3)), min_size=3, max_size=3))
def test_parts_share_no_factor_and_hold_what_nesting_leaves(parents: list[list[int]]) -> None:
    """Three children of one parent, a level of each in every level of it."""
    cells = np.array([[*(of_child.index(parent) for of_child in parents), parent] for parent in range(3)])
    possible = nested_product((3, 3, 3, 4), (), [(0, 3), (1, 3), (2, 3)], cells)
    assert sorted(factor for table in possible.parts for factor in table.places) == [0, 1, 2, 3]
    expected = [
        [*levels, parent]
        for *levels, parent in itertools.product(range(3), repeat=4)
        if all(parents[child][level] == parent for child, level in enumerate(levels))
    ]
    assert possible.cells().tolist() == expected


def test_who_breaks_a_rule_is_named_with_each_parent_once() -> None:
    cells = [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 1, 0]]
    with pytest.raises(InputError) as refused:
        Design.from_cells(cells, names=["plant", "type", "dose"], nested=["plant/type"])
    assert str(refused.value).partition("occurs with ")[2].count("0") == 1
    assert str(refused.value).partition("occurs with ")[2].count("1") == 1


def test_a_list_says_what_can_exist(tmp_path: Path) -> None:
    listed = tmp_path / "possible.csv"
    pd.DataFrame({"plant": ["Qw0", "Mc1"], "dose": ["0", None]}).to_csv(listed, index=False)
    frame = plants()
    left = frame[~((frame["dose"] > "1") & frame["plant"].isin(["Qw0", "Mc1"]))]
    design = Design.from_frame(left, factors=["plant", "dose"], outcome="y", possible=listed)
    # Seen cells exist whether listed or not; the list adds Mc1 at doses 2 and 3, and nothing for Qw0.
    assert (len(design.seen), design.possible.count) == (44, 46)
    missing = ~design.possible.holds(np.array([design.space.cell(["Qw0", "2"]), design.space.cell(["Mc1", "2"])]))
    assert missing.tolist() == [True, False]
    full = Design.from_frame(frame, factors=FACTORS, outcome="y", possible=frame[FACTORS])
    assert (full.space.nesting, full.possible.count) == ((), 48)


def test_a_list_may_have_new_levels() -> None:
    listed = pd.DataFrame({"plant": ["new"], "dose": ["0"]})
    design = Design.from_frame(plants(), factors=["plant", "dose"], outcome="y", possible=listed)
    assert (design.sizes, design.possible.count, len(design.seen)) == ((13, 4), 49, 48)


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        (pd.DataFrame({"colour": ["red"]}), "has none of the factor columns"),
        (pd.DataFrame({"plant": [None, "Qw0"]}), "row 1 is blank, which would allow every cell"),
        (pd.DataFrame({"plant": pd.Series([], dtype=str)}), "lists no cell"),
    ],
)
def test_a_bad_list_is_refused(listed: pd.DataFrame, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Design.from_frame(plants(), factors=["plant", "dose"], outcome="y", possible=listed)


def test_targets_must_be_possible() -> None:
    impossible = pd.DataFrame({"plant": ["Qw0"], "type": ["Quebec"], "treatment": ["chilled"], "dose": ["0"]})
    design, cells = encode_targets(Design.from_frame(plants(), factors=FACTORS, outcome="y"), impossible)
    assert said(design) == ["plant lies inside type"]
    assert design.possible.holds(cells).all()
    declared = Design.from_frame(plants(), factors=FACTORS, outcome="y", nested=["plant/treatment"])
    with pytest.raises(InputError, match="targets put plant 'Qw0' into two levels of treatment, but it was said"):
        encode_targets(declared, impossible)
    listed = Design.from_frame(plants(), factors=FACTORS, outcome="y", possible=plants()[FACTORS])
    with pytest.raises(InputError, match="target Qw0 · Quebec · chilled · 0 is not among the possible cells"):
        encode_targets(listed, impossible)


def test_new_levels_of_targets_bring_their_parents() -> None:
    fresh = pd.DataFrame({"plant": ["Qw9"], "type": ["Quebec"], "treatment": ["warm"], "dose": ["0"]})
    design, cells = encode_targets(Design.from_frame(plants(), factors=FACTORS, outcome="y"), fresh, new_levels=True)
    assert len(design.space.nesting) == 2
    assert (design.possible.count, design.possible.holds(cells).tolist()) == (52, [True])


def test_why_a_cell_cannot_exist() -> None:
    design = Design.from_frame(plants(), factors=FACTORS, outcome="y")
    assert why_impossible(design, design.space.cell(["Qw0", "Quebec", "warm", "3"])) == ""
    reason = why_impossible(design, design.space.cell(["Qw0", "Quebec", "chilled", "3"]))
    assert reason == "plant lies inside treatment, and Qw0 is inside warm"


def test_rules_with_blanks_are_never_taken_for_others():
    """A rule with a blank beside one for the last level before it: each keeps its own cells."""
    cells = [[i, j] for i in range(3) for j in range(3) if i == j]
    frame = pd.DataFrame({"a": [f"a{i}" for i, _ in cells], "b": [f"b{j}" for _, j in cells], "y": [1.0, 2.0, 3.0]})
    rules = pd.DataFrame({"a": ["a0", "a1"], "b": ["b2", None]})
    design = Design.from_frame(frame, factors=["a", "b"], outcome="y", possible=rules)
    # a0 with b2, a1 with everything, and the seen cells a0 b0 and a2 b2.
    assert design.possible.count == 1 + 3 + 2
