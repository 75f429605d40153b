"""A table of seen points under a known rule, against graphs, refits by another solver and the criterion on grids."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import least_squares

import recombine as rc
from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.errors import InputError
from recombine.theory.compositions import add, bilinear, occlude, product
from recombine.theory.identification.identify import identify
from recombine.theory.sufficiency import finite_identifiability, table_support
from recombine.verdicts import Verdict

SIDE = 4
GRID = np.array(list(itertools.product(range(SIDE), repeat=2)))
SLOTS = {"one": ["a"], "two": ["b"]}


def frame(cells: IntArray) -> pd.DataFrame:
    return pd.DataFrame(cells, columns=["a", "b"])


def supports(count: int) -> list[BoolArray]:
    """Random supports of the grid, thin and thick; never empty."""
    rng = np.random.default_rng(7)
    masks = [rng.random(len(GRID)) < share for share in np.linspace(0.2, 0.7, count)]
    return [mask | (np.arange(len(GRID)) == 5) for mask in masks]


def reachable(seen: BoolArray) -> BoolArray:
    """Cells whose row and column are joined by seen cells: those that addition determines, (16,)."""
    ends = list(range(2 * SIDE))
    for a, b in GRID[seen]:
        ends = [ends[SIDE + b] if end == ends[a] else end for end in ends]
    return np.array([ends[a] == ends[SIDE + b] for a, b in GRID])


def mix(a: FloatArray, b: FloatArray) -> FloatArray:
    """Two dyes of two pigments each, seen through two filters."""
    first = a[..., :1] * b[..., :1] + a[..., 1:]
    return np.concatenate([first, a[..., :1] + b[..., 1:] ** 2], axis=-1)


RULES: dict[str, tuple[Any, int]] = {
    "add": (add(), 1),
    "product": (product(), 1),
    "own": (lambda a, b: np.exp(a) * b + b**2, 1),
    "wide": (lambda a, b: (a * b).sum(axis=-1, keepdims=True), 2),
    "mix": (mix, 2),
    "bilinear": (bilinear(np.eye(2), [[1.0, 0.5], [0.2, 1]], np.arange(8.0).reshape(2, 2, 2) / 8), 2),
}


def refits_differ(rule: Callable[..., FloatArray], parts: list[FloatArray], seen: BoolArray) -> BoolArray:
    """Which cells other components change that fit the seen ones, by a solver of SciPy from moved starts, (16,)."""
    size = parts[0].size

    def observed(flat: FloatArray, cells: IntArray) -> FloatArray:
        a, b = flat[:size].reshape(parts[0].shape), flat[size:].reshape(parts[1].shape)
        return np.asarray(rule(a[cells[:, 0]], b[cells[:, 1]]))

    truth = np.concatenate([part.ravel() for part in parts])
    targets, everything = observed(truth, GRID[seen]), observed(truth, GRID)

    def missed(flat: FloatArray) -> FloatArray:
        return (observed(flat, GRID[seen]) - targets).ravel()

    differs = np.zeros(len(GRID), dtype=bool)
    rng = np.random.default_rng(3)
    for _ in range(4):
        start = truth + 0.05 * rng.standard_normal(truth.shape)
        fit = least_squares(missed, start, xtol=1e-15, ftol=1e-15, gtol=1e-15)
        if np.abs(fit.fun).max() < 1e-9:
            differs |= np.abs(observed(fit.x, GRID) - everything).max(axis=1) > 1e-5
    return differs


class TestVerdicts:
    @pytest.mark.slow
    @pytest.mark.parametrize("rule", ["add", "product"])
    def test_addition_and_products_follow_the_graph_of_seen_cells(self, rule: str) -> None:
        for seen in supports(12):
            found = table_support(frame(GRID), SLOTS, RULES[rule][0], seen=seen)
            follows = found.rows == Verdict.DETERMINED
            assert (follows[~seen] == reachable(seen)[~seen]).all()
            assert (found.rows[seen] == Verdict.SEEN).all()
            assert not (found.rows == Verdict.UNDECIDED).any()

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["own", "wide", "mix", "bilinear"])
    def test_a_cell_follows_only_if_no_refit_changes_it(self, name: str) -> None:
        rule, width = RULES[name]
        rng = np.random.default_rng(1)
        parts = [rng.standard_normal((SIDE, width)) for _ in range(2)]
        functions: dict[str, Any] = {
            "one": lambda z: parts[0][z[:, 0].astype(int)],
            "two": lambda z: parts[1][z[:, 0].astype(int)],
        }
        for seen in supports(4):
            found = table_support(frame(GRID), SLOTS, rule, seen=seen, components=functions)
            generic = table_support(frame(GRID), SLOTS, rule, seen=seen, components=width)
            differs = refits_differ(rule, parts, seen)
            follows = found.rows == Verdict.DETERMINED
            assert not (follows & differs).any()
            assert not (found.rows == Verdict.UNDECIDED).any()
            assert generic.directions == found.directions
            # What no small move changes and yet does not follow is told by a branch far away.
            if (~seen & ~follows & ~differs & (found.rows != Verdict.UNSEEN_LEVEL)).any():
                assert found.second is not None
                assert found.second.agreement < 1e-9

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["add", "product", "bilinear"])
    def test_it_says_what_the_criterion_on_grids_says(self, name: str) -> None:
        rule, width = RULES[name]
        parts = [np.random.default_rng(slot).standard_normal((SIDE, width)) for slot in range(2)]
        functions: dict[str, Any] = {
            "one": lambda z: parts[0][z[:, 0].astype(int)],
            "two": lambda z: parts[1][z[:, 0].astype(int)],
        }
        for seen in supports(6):
            found = table_support(frame(GRID), SLOTS, rule, seen=seen, components=functions)
            grid = finite_identifiability(GRID[seen], rule, parts)
            assert (found.rows == grid.verdicts).all()
            if not (grid.verdicts == Verdict.UNSEEN_LEVEL).any():
                assert found.directions == grid.deficit

    def test_three_slots_add_as_the_audit_says(self) -> None:
        for seed in range(6):
            cells = np.argwhere(np.random.default_rng(seed).random((3, 4, 3)) < 0.25)
            everything = pd.DataFrame(np.argwhere(np.ones((3, 4, 3))), columns=["a", "b", "c"])
            seen = everything.apply(tuple, axis=1).isin([tuple(cell) for cell in cells.tolist()])
            found = table_support(everything, {"one": "a", "two": "b", "three": "c"}, add(), seen=seen)
            assert (found.rows == identify(cells, sizes=(3, 4, 3)).verdicts_on_grid().ravel()).all()

    @pytest.mark.slow
    def test_draws_that_disagree_are_undecided(self) -> None:
        # Whether a front hides what is behind it is up to the components.
        found = table_support(frame(np.array([[0, 0], [0, 1], [1, 0]])), SLOTS, occlude(), components=1)
        verdicts = {table_support(frame(GRID[:7]), SLOTS, occlude(), seed=seed).verdict for seed in range(6)}
        assert Verdict.UNDECIDED in verdicts
        assert found.verdict in (Verdict.UNDECIDED, Verdict.DETERMINED, Verdict.DISCONNECTED)

    def test_signs_that_no_small_move_reaches_are_a_counterexample(self) -> None:
        def squares(a: FloatArray, b: FloatArray) -> FloatArray:
            return np.concatenate([a**2, a * b], axis=-1)

        # Both signs of a[1] and b[1] together fit what was seen, and a[0] b[1] changes its sign.
        found = table_support(frame(np.array([[0, 0], [1, 1]])), SLOTS, squares)
        assert found.verdict is Verdict.DISCONNECTED
        assert found.directions == 0
        # The sign of a product of three is a matter of rows modulo 2, as in the audit of structure "multiplicative".
        cells = pd.DataFrame([[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 1]], columns=["a", "b", "c"])
        three = table_support(cells, {"one": "a", "two": "b", "three": "c"}, product())
        design = rc.Design.from_cells(cells.to_numpy(), [6.0, 10.0, 15.0, 1.0])
        [audited] = {*rc.audit(design, structure="multiplicative").verdicts["verdict"]} - {"seen"}
        assert set(three.asked["verdict"]) == {audited} == {"disconnected"}
        assert table_support(cells, {"one": "a", "two": "b", "three": "c"}, add()).holds


class TestSecondSolution:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", sorted(RULES))
    def test_both_fit_what_was_seen_and_differ_elsewhere(self, name: str) -> None:
        rule, width = RULES[name]
        proven = 0
        for seen in supports(4):
            found = table_support(frame(GRID), SLOTS, rule, seen=seen, components=width)
            if found.second is None:
                assert found.holds or found.verdict is Verdict.UNSEEN_LEVEL
                continue
            truth, other = (
                rule(pair[0][GRID[:, 0]], pair[1][GRID[:, 1]])
                for pair in (found.second.components, found.second.others)
            )
            apart = np.abs(truth - other).max(axis=1) / np.abs(truth[seen]).max()
            assert apart[seen].max() < 1e-9
            assert apart[found.rows == Verdict.DETERMINED].max(initial=0) < 1e-6
            assert apart[~seen].max() == pytest.approx(found.second.differences.max())
            proven += 1
        assert proven > 0


class TestEnough:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", sorted(RULES))
    def test_with_the_named_points_all_others_follow(self, name: str) -> None:
        rule, width = RULES[name]
        for seen in supports(3):
            found = table_support(frame(GRID), SLOTS, rule, seen=seen, components=width)
            more = {(int(row["a"]), int(row["b"])) for row in found.enough.rows()}
            assert more <= {tuple(cell) for cell in GRID[~seen].tolist()}
            with_more = seen | np.array([tuple(cell) in more for cell in GRID.tolist()])
            after = table_support(frame(GRID), SLOTS, rule, seen=with_more, components=width)
            assert after.directions == 0
            if name in ("add", "product"):
                assert after.holds
                # Each cell is one number, which closes one direction, so that no fewer could do.
                assert len(more) == found.directions

    def test_nothing_more_is_needed_where_all_follow(self) -> None:
        cross = GRID[(GRID == 0).any(axis=1)]
        found = table_support(frame(cross), SLOTS, add())
        assert found.holds
        assert not len(found.enough)
        assert found.second is None
        assert len(found.asked) == 9
        assert set(found.asked["verdict"]) == {"determined"}


class TestReach:
    @pytest.mark.slow
    def test_two_blocks_are_apart_until_a_point_joins_them(self) -> None:
        rng = np.random.default_rng(0)
        points = rng.random((4000, 2))
        blocks = points[(points < 0.45).all(axis=1) | (points > 0.55).all(axis=1)]
        apart = table_support(pd.DataFrame(blocks, columns=["a", "b"]), SLOTS, product(), reach=0.05)
        assert apart.verdict is Verdict.DISCONNECTED
        assert apart.sufficient
        assert apart.directions == 1
        assert len(apart.enough) == 1
        joined = np.concatenate([blocks, [[0.2, 0.8]]])
        assert table_support(pd.DataFrame(joined, columns=["a", "b"]), SLOTS, product(), reach=0.05).holds

    def test_without_a_reach_scattered_points_join_nothing(self) -> None:
        points = pd.DataFrame(np.random.default_rng(0).random((40, 2)), columns=["a", "b"])
        found = table_support(points, SLOTS, add())
        assert found.verdict is Verdict.DISCONNECTED
        assert "a reach joins some" in str(found)

    def test_steps_of_a_tenth_stay_apart_at_a_reach_of_a_tenth(self) -> None:
        points = pd.DataFrame({"a": np.arange(11) / 10, "b": 0.0})
        assert len(table_support(points, SLOTS, add(), reach=0.1).values) == 12

    def test_units_differ_by_column(self) -> None:
        points = pd.DataFrame({"a": [0.0, 0.01, 0.9], "angle": [0.0, 170.0, 175.0]})
        slots = {"one": ["a"], "two": ["angle"]}
        found = table_support(points, slots, add(), reach={"a": 0.1, "angle": 10})
        assert found.values["points"].tolist() == [2, 1, 1, 2]


class TestPrinted:
    def test_words_levels_and_repr(self) -> None:
        table = pd.DataFrame({"dye": ["red", "red", "blue"], "cloth": ["wool", "silk", "wool"]})
        slots = {"dye": ["dye"], "cloth": ["cloth"]}
        found = table_support(table, slots, product())
        assert str(found).startswith("determined: 1 of 1 point in question follows from 3 seen\n")
        assert next(iter(found.asked.rows())) == {"dye": "blue", "cloth": "silk", "verdict": "determined"}
        assert repr(found).startswith("TableSupport(rows=uint8[3]")
        lost = table_support(table, slots, product(), seen=[True, True, False])
        assert "no: dye (dye = blue) never seen" in str(lost)
        assert lost.verdict is Verdict.UNSEEN_LEVEL
        assert not lost.compositional

    def test_a_rule_that_ignores_a_slot_has_no_rank_there(self) -> None:
        found = table_support(frame(GRID[:7]), SLOTS, lambda a, b: 3.0 + np.sin(a) + 0 * b)
        assert found.holds
        assert found.values["rank"].tolist() == [1, 1, 0, 0, 0, 0]
        assert "no: two (b = 0), rank 0 of 1; 3 other values short of rank" in str(found)

    def test_dates_and_a_single_slot(self) -> None:
        days = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2020-01-02"]), "dose": [1, 1]})
        assert table_support(days, {"day": "day", "dose": "dose"}, add()).holds
        with pytest.raises(InputError, match="column 'day' has no value in row 1"):
            table_support(days.assign(day=[days["day"][0], pd.NaT]), {"day": "day"}, add())
        assert table_support(days, {"dose": "dose"}, lambda dose: dose).holds

    def test_one_row_asks_nothing(self) -> None:
        found = table_support(frame(GRID[:1]), SLOTS, add())
        assert found.holds
        assert str(found).startswith("determined: no point in question\n")

    def test_a_constant_column_is_a_slot_that_never_moves(self) -> None:
        table = pd.DataFrame({"a": [0.0, 1, 2], "b": 1.0})
        assert table_support(table, SLOTS, add(), reach=0.5).holds

    def test_a_file_and_a_column_that_marks_what_was_seen(self, tmp_path: Path) -> None:
        path = tmp_path / "points.csv"
        frame(GRID).assign(train=(GRID == 0).any(axis=1)).to_csv(path, index=False)
        read = pd.read_csv(path)
        found = table_support(read, SLOTS, add(), seen="train")
        assert found.holds
        assert (found.rows == Verdict.DETERMINED).sum() == 9
        assert (table_support(path, SLOTS, add(), seen=read["train"]).rows == found.rows).all()


def _raises(a: FloatArray, b: FloatArray) -> FloatArray:
    raise KeyError("gamma")


class TestHostileInput:
    @pytest.mark.parametrize(
        ("column", "options", "words"),
        [
            ([0.0, np.nan, 1], {}, r"column 'a' has no value in row 1.*leave them out"),
            ([0.0, np.inf, 1], {}, r"column 'a' has the value inf in row 1"),
            (["x", None, "y"], {}, r"column 'a' has no value in row 1"),
            (["x", "x", "y"], {"reach": 0.1}, r"column 'a' holds 'x', not numbers, so it has no reach"),
            (["x", "x", "y"], {"components": lambda z: z}, r"column 'a' of slot 'one' holds 'x'"),
            ([0.0, 1, 2], {"reach": -1}, r"reach of 'a' is -1; give a finite number above 0"),
            ([0.0, 1, 2], {"reach": {"A": 1}}, r"reach names 'A'.*did you mean 'a'"),
            ([0.0, 1, 2], {"seen": [True, False]}, r"seen has shape \(2,\).*3 rows"),
            ([0.0, 1, 2], {"seen": [1, 2, 0]}, r"seen has shape .*give True or False"),
            ([0.0, 1, 2], {"seen": [False] * 3}, r"marks no row as seen"),
            ([0.0, 1, 2], {"seen": "trained"}, r"seen: 'trained' is not a column"),
            ([0.0, 1, 2], {"seed": -1}, r"seed is -1"),
            ([0.0, 1, 2], {"components": 0}, r"component of slot 'one' is 0"),
            ([0.0, 1, 2], {"components": {"one": 1}}, r"components name \['one'\] and slots \['one', 'two'\]"),
            ([0.0, 1, 2], {"components": lambda z: z[:, 0]}, r"component of slot 'one' gave shape \(3,\) for 3 values"),
            ([0.0, 1, 2], {"components": lambda z: z / 0}, r"component of slot 'one' are not all finite"),
        ],
    )
    @pytest.mark.filterwarnings("ignore:.*encountered in divide:RuntimeWarning")
    def test_the_culprit_is_named(self, column: list[Any], options: dict[str, Any], words: str) -> None:
        with pytest.raises(InputError, match=words):
            table_support(pd.DataFrame({"a": column, "b": [0.0, 1, 1]}), SLOTS, add(), **options)

    @pytest.mark.parametrize(
        ("slots", "words"),
        [
            ({}, "map each slot to its columns"),
            (["a", "b"], "map each slot to its columns"),
            ({"one": [], "two": ["b"]}, "slot 'one' has no columns"),
            ({"one": ["a"], "two": ["a"]}, "column 'a' is named twice"),
            ({"one": ["a"], "two": ["B"]}, "slot 'two': column 'B' is not a column of the table; did you mean 'b'"),
        ],
    )
    def test_slots_that_do_not_fit(self, slots: Any, words: str) -> None:
        with pytest.raises(InputError, match=words):
            table_support(frame(GRID), slots, add())

    @pytest.mark.parametrize(
        ("rule", "words"),
        [
            (_raises, "_raises raised KeyError: 'gamma'"),
            (lambda a, b: a.sum(), r"your composition gave an output of shape \(\)"),
            (lambda a, b: (a * b)[:3], r"your composition gave an output of shape \(3, 1\)"),
            (lambda a: a, "does not take 2"),
            (lambda a, b: a[:, 1:] * b, r"gave no numbers; say how many each slot has, not components=\{'one': 1"),
            (lambda a, b: a[:, :1] * b[:, [1]], r"raised IndexError: .*, or say how many numbers .* 'two': 1\}"),
            (lambda a, b: np.log(a) + b, "gave no finite number for components .*give components as functions"),
            ("a + b", "the composition is 'a \\+ b', which cannot be called"),
        ],
    )
    def test_rules_that_do_not_fit(self, rule: Any, words: str) -> None:
        with pytest.raises(InputError, match=words):
            table_support(frame(GRID[[0, 1, 4, 10]]), SLOTS, rule)

    def test_an_empty_table_and_what_is_no_table(self) -> None:
        with pytest.raises(InputError, match="no rows"):
            table_support(frame(GRID[:0]), SLOTS, add())
        with pytest.raises(InputError, match="is not a table"):
            table_support([[0, 1]], SLOTS, add())


class TestSize:
    @pytest.mark.slow
    def test_a_hundred_thousand_rows_take_seconds_or_are_refused(self) -> None:
        points = pd.DataFrame(np.random.default_rng(0).random((100_000, 2)), columns=["a", "b"])
        points = points[(points < 0.5).all(axis=1) | (points > 0.6).all(axis=1)]
        begin = time.perf_counter()
        found = table_support(points, SLOTS, product(), reach=0.01)
        assert found.directions == 1
        assert time.perf_counter() - begin < 30
        with pytest.raises(InputError, match=r"the slots take too many values .*give a reach"):
            table_support(points, SLOTS, product())

    def test_of_too_many_combinations_some_are_drawn(self) -> None:
        cells = np.random.default_rng(0).integers(60, size=(2000, 3))
        table = pd.DataFrame(cells, columns=["a", "b", "c"])
        found = table_support(table, {"one": "a", "two": "b", "three": "c"}, add())
        assert found.holds
        assert "100,000 combinations were drawn of 216,000" in str(found)
        assert 90_000 > len(found.asked) > 70_000
