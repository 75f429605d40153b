"""The summary on a screen: fits its width, leads with what matters, claims no more than was checked."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

import known_audits
import recombine as rc
from recombine.cells.conjunctions import every_cell
from recombine.report.audit.sections import audit_sections
from recombine.report.screen import result_text, show_sections


@pytest.fixture(scope="module")
def flights() -> rc.Audit:
    return known_audits.flights()


def shown(audit: rc.Audit, width: int = 100, **parts) -> str:
    buffer = io.StringIO()
    console = Console(file=buffer, width=width, highlight=False, emoji=False)
    show_sections(console, audit_sections(audit, **parts))
    return buffer.getvalue()


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_line_is_wider_than_the_screen(flights, width):
    lines = shown(flights, width, plan=flights.plan(3)).splitlines()
    assert max(len(line) for line in lines) <= width


def test_headings_come_in_the_order_of_the_questions(flights):
    text = shown(flights, plan=flights.plan(2))
    headings = [
        "Recombine audit of flights.csv",
        "All combinations: 4,896 cells, 388 seen (7.9 %), 4,508 not",
        "Coverage",
        "Does additivity hold here?",
        "What your model will do",
        "What to collect next",
        "The shakiest determined cell",
        "Findings",
    ]
    places = [text.index(heading) for heading in headings]
    assert places == sorted(places)


def test_plain_text_has_neither_colours_nor_trailing_blanks(flights):
    text = flights.summary
    assert text == result_text(flights, flights.plan())
    assert "\x1b" not in text
    assert all(line == line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (lambda cells: cells @ [1.0, 5.0], "if effects add (they do, see below)"),
        (lambda cells: np.random.default_rng(0).standard_normal(len(cells)), "if effects add (that is not shown, see"),
        (lambda cells: None, "if effects add (not checked)"),
        (lambda cells: np.ones(len(cells)), "if effects add (not checked)"),
    ],
)
def test_counts_never_look_stronger_than_the_check(values, words):
    cells = every_cell((5, 5))[:-3]
    assert words in shown(rc.audit(rc.Design.from_cells(cells, values(cells))))


def test_shares_are_never_rounded_to_none_or_all():
    cells = every_cell((60, 60))
    text = shown(rc.audit(rc.Design.from_cells(cells[1:])))
    assert "3,599 seen (> 99.9 %)" in text
    text = shown(rc.audit(rc.Design.from_cells([[0, 0], [1, 1]], sizes=(100, 100))))
    assert "2 seen (< 0.1 %)" in text


def test_level_names_that_look_like_markup_stay_text():
    frame_cells = [["[red]x", "a"], ["[red]x", "b"], ["[/]y", "a"]]
    import pandas as pd

    frame = pd.DataFrame(frame_cells, columns=["tag", "[bold]kind"])
    audit = rc.audit(rc.Design.from_frame(frame, factors=["tag", "[bold]kind"]))
    text = shown(audit, plan=audit.plan(1))
    assert "[bold]kind" in text
    assert "[/]y · b" in text


def test_a_guess_is_marked_at_the_top():
    import pandas as pd

    frame = pd.DataFrame({"a": list("xyxy") * 3, "b": list("uuvv") * 3})
    text = shown(rc.audit(rc.Design.from_frame(frame)))
    assert "Guessed: the factors" in text
    assert "To repeat: rc.audit(table, factors=['a', 'b'])" in text


def test_symmetric_factors_are_said_to_be_one():
    audit = rc.audit(rc.Design.from_cells([[0, 1], [1, 2]], names=["gene_a", "gene_b"], symmetric=[(0, 1)]))
    assert "one factor used twice: gene_a and gene_b" in shown(audit)


@pytest.mark.slow
def test_targets_are_judged_before_the_product(flights):
    import pandas as pd

    targets = pd.DataFrame({"carrier": ["AA", "UA"], "origin": ["JFK", "LGA"], "dest": ["ABQ", "ACK"]})
    text = shown(rc.audit(flights.design, targets=targets))
    assert text.index("2 target cells, if effects add (they do, see below):") < text.index("The full product: 4,896")


def test_cells_are_counted_under_the_structure_that_is_assumed_and_no_other():
    cells = every_cell((3, 3, 3))[:20]
    text = shown(rc.audit(rc.Design.from_cells(cells, sizes=(3, 3, 3)), order=2))
    assert "if effects add (not checked)" not in text
    assert "if effects add up to interactions of 2 factors" in text


def test_a_sample_says_so_and_rounds():
    seen = np.random.default_rng(0).integers(0, 300, size=(500, 3))
    text = shown(rc.audit(rc.Design.from_cells(seen, sizes=(300,) * 3), order=2))
    assert "random cells (determined: " in text
    assert "10,000 unseen cells, drawn at random, are listed; the product of 27,000,000 is too large" in " ".join(
        text.split()
    )


def test_forbidden_cells_and_costs_show_in_the_plan():
    audit = rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0], [2, 2]], names=["a", "b"]))
    text = shown(audit, plan=audit.plan(2, cost={(2, 0): 3.0, (2, 1): 4.0, (0, 2): 4.0, (1, 2): 4.0}))
    assert "1 well-chosen cell would determine everything." in text
    assert "cost 3" in text
    stuck = audit.plan(2, forbidden=[{"a": 2}, {"b": 2}])
    assert "stay open whatever is collected" in " ".join(shown(audit, plan=stuck).split())


def test_nothing_left_to_collect_is_said():
    audit = rc.audit(rc.Design.from_cells(every_cell((2, 2))))
    assert "You have enough combinations: every one was seen." in shown(audit, plan=audit.plan(2))


@pytest.mark.slow
@pytest.mark.trains
def test_the_share_of_right_answers_is_shown():
    cells = every_cell((8, 7))
    train = np.random.default_rng(0).random(len(cells)) < 0.7
    design = rc.Design.from_cells(cells, (cells.sum(axis=1) > 6).astype(float), train=train)
    audit, bent = rc.audit(design, structure="add"), rc.audit(design, structure="logit")
    accuracy = bent.forecast.trained.network.accuracy
    assert not bent.forecast.adding
    assert f"right on {100 * accuracy:.0f} % of them: one trained" in str(bent)  # of its cells no trial was about
    assert "Right answers of the next network: " in shown(audit)
    assert str(audit).count("will be right on ") == 1


def test_models_are_compared_by_verdict():
    models = rc.Table(
        {
            "share": [0.2],
            "model": ["additive"],
            "cells": [2],
            "determined": [0.0123],
            "disconnected": [np.nan],
            "unseen level": [1234.5],
            "determined cells": [40],
            "disconnected cells": [0],
            "unseen level cells": [2],
        }
    )
    text = shown(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]])), models=models)
    assert "trained on parts of 2 of the 3 seen cells" in text
    row = next(line for line in text.splitlines() if "20 % of cells" in line)
    assert " ".join(row.split()) == "additive 20 % of cells 0.0123 (n = 40) – 1,234 (n = 2)"
