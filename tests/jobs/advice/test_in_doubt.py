"""No plan proposes to measure a spelling in doubt, nor what was measured in another spelling."""

from __future__ import annotations

import pandas as pd

import recombine as rc
from recombine import words

ALIKE = pd.DataFrame(
    {
        "strain": ["W303", "W303", "W303", "BY4741", "BY4741 ", "BY4741", "S288C", "S288C"],
        "drug": ["Rapamycin", "rapamycin", "Nocodazole", "Rapamycin", "Benomyl", "Nocodazole", "Benomyl", "Rapamycin"],
        "growth": [0.41, 0.40, 0.22, 0.44, 0.31, 0.25, 0.28, 0.37],
    }
)


def test_misspelt_levels_are_never_proposed() -> None:
    plan = rc.audit(ALIKE, factors=["strain", "drug"], outcome="growth").plan(20)
    cells = [plan.design.label(pick.cell) for pick in plan.picks]
    assert sorted(cells) == ["S288C · Nocodazole", "W303 · Benomyl"]  # BY4741 · Benomyl was measured as 'BY4741 '


def test_merged_tables_are_planned_as_clean_ones() -> None:
    named = {"factors": ["strain", "drug"], "outcome": "growth"}
    clean = ALIKE.assign(strain=ALIKE.strain.str.strip(), drug=ALIKE.drug.str.capitalize())
    plans = [rc.audit(ALIKE, merge_alike=True, **named).plan(20), rc.audit(clean, **named).plan(20)]
    assert plans[0].picks == plans[1].picks
    assert plans[0].picks


def test_what_stays_open_for_it_is_said_with_the_cure() -> None:
    frame = pd.DataFrame({"a": ["x", "x", "y", "y"], "b": ["5 uM", "50 uM", "5uM", "50uM"]})
    plan = rc.audit(frame, factors=["a", "b"]).plan(20)
    assert plan.beyond
    assert "hold a level that looks like another (--merge-alike)" in words.plan.plan_sentence(plan)


def test_symmetric_cells_are_told_in_either_order() -> None:
    pairs = pd.DataFrame({"g": ["TP53", "tp53", "RAS", "KIT"], "h": ["MYC", "RAS", "MYC", "MYC"]})
    plan = rc.audit(pairs, factors=["g", "h"], symmetric=["g", "h"]).plan(20)
    cells = [plan.design.label(pick.cell) for pick in plan.picks]
    assert cells
    assert not any("tp53" in cell for cell in cells)
    assert not any({"TP53", "RAS"} == set(cell.split(" · ")) for cell in cells)


def test_how_to_rule_cells_out_is_said_unless_it_was_done() -> None:
    frame = pd.DataFrame({"a": ["x", "y", "z"], "b": ["p", "q", "p"]})
    hint = "Name cells that cannot exist with --forbidden"
    audit = rc.audit(frame, factors=["a", "b"])
    assert hint in words.plan.gains_sentence(audit.plan())
    assert hint in audit.plan()._repr_html_()
    ruled = rc.audit(frame, factors=["a", "b"], forbidden=pd.DataFrame({"a": ["z"], "b": ["q"]}))
    assert hint not in words.plan.gains_sentence(ruled.plan())
