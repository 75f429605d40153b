"""Cost and forbidden tables, as files and frames, with what can be wrong in them."""

from __future__ import annotations

import pandas as pd
import pytest

from recombine.design.design import Design
from recombine.errors import InputError
from recombine.jobs.advice.candidates import read_costs, read_forbidden
from recombine.jobs.advice.plan import plan


@pytest.fixture
def design() -> Design:
    frame = pd.DataFrame({"colour": ["red", "red", "blue"], "size": [1.5, 2.0, 1.5]})
    return Design.from_frame(frame, factors=["colour", "size"])


def test_costs_from_a_file_reach_the_plan(design, written):
    path = written("colour,size,cost\nblue,2,7.5\n")
    costs = read_costs(path, design)
    assert costs == {("blue", "2"): 7.5}
    assert plan(design, k=1, cost=costs).picks[0].cost == 7.5


def test_forbidden_rows_with_blanks_match_every_level(design, written):
    rules = read_forbidden(written("colour,size\nblue,\n,2.0\n"), design)
    assert rules == [{"colour": "blue"}, {"size": "2"}]
    found = plan(design, k=1, forbidden=rules)
    assert (found.picks, found.blocked) == ((), 1)


def test_other_columns_of_a_forbidden_table_are_ignored(design, written):
    assert read_forbidden(written("why,colour\nbroken,blue\n"), design) == [{"colour": "blue"}]


def test_the_same_cell_given_in_either_order_of_a_symmetric_pair_has_one_cost():
    genes = Design.from_cells([[0, 1], [2, 3]], names=["a", "b"], symmetric=[(0, 1)])
    for order in ([1, 2], [2, 1]):
        costs = read_costs(pd.DataFrame({"a": [order[0]], "b": [order[1]], "cost": [0.25]}), genes)
        assert min(pick.cost for pick in plan(genes, k=1, cost=costs).picks) == 0.25


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("colour,cost\nred,1\n", "factor 'size' is not a column"),
        ("colour,size,price\nred,2,1\n", "cost column 'cost' is not a column"),
        ("colour,size,cost\nred,2,cheap\n", "costs are positive numbers"),
        ("colour,size,cost\nred,2,\nblue,2,3\n", "blank level or cost"),
        ("colour,size,cost\n,2,3\nblue,2,3\n", "blank level or cost"),
        ("colour,size,cost\nrad,2,3\n", "'rad' is not a level of factor 'colour'; did you mean 'red'"),
    ],
)
def test_bad_cost_tables_say_what_is_wrong(design, written, text, words):
    with pytest.raises(InputError, match=words):
        read_costs(written(text), design)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hue\nred\n", "none of the factor columns colour, size"),
        ("colour,size\nred,2\n,\n", "blank row"),
    ],
)
def test_bad_forbidden_tables_say_what_is_wrong(design, written, text, words):
    with pytest.raises(InputError, match=words):
        read_forbidden(written(text), design)


def test_an_unknown_forbidden_level_is_refused(design, written):
    with pytest.raises(InputError, match="'blu' is not a level of factor 'colour'; did you mean 'blue'"):
        plan(design, forbidden=read_forbidden(written("colour\nblu\n"), design))


def test_a_factor_named_cost_cannot_be_priced():
    priced = Design.from_cells([[0, 0], [1, 1]], names=["cost", "shape"])
    with pytest.raises(InputError, match="factor is itself named 'cost'"):
        read_costs(pd.DataFrame({"cost": [0], "shape": [1]}), priced)


def test_long_numbers_are_the_levels_that_they_are_in_the_design(written):
    design = Design.from_frame(
        pd.DataFrame({"dose": [1234567.5, 2.0, 2.0], "site": list("aab")}), factors=["dose", "site"]
    )
    assert read_costs(written("dose,site,cost\n1234567.5,b,3\n"), design) == {("1234567.5", "b"): 3.0}
