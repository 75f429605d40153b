"""Every sentence, quoted once: what a small result says. Tests elsewhere look at codes, states and numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from known_designs import on_scales
from recombine.jobs.comparison.audits import AuditComparison
from recombine.jobs.comparison.documents import AmountRecord, FindingRecord
from recombine.jobs.comparison.scores import AmountChange
from recombine.jobs.probe import Probe
from recombine.jobs.score import Score
from recombine.jobs.score.amounts import Amount
from recombine.jobs.score.causes import CAUSES
from recombine.jobs.split import SplitCheck, check_split, split_table
from recombine.jobs.training.expected_range import TableKind, Way, expected_range
from recombine.verdicts import Verdict
from recombine.words import (
    additivity,
    audit_answer,
    captions,
    certificates,
    comparison,
    forecast,
    importance,
    plan,
    probe,
    score,
    split,
    structure,
    table,
    values,
    verdicts,
)


@cache
def corner() -> rc.Audit:
    """Three of four cells, with outcomes."""
    return rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]], outcome=[1.0, 2.0, 11.0]))


@cache
def blocks() -> rc.Audit:
    """Two blocks of cells that share no level, without outcomes."""
    return rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0], [2, 2]], names=["colour", "shape"]))


@cache
def islands() -> rc.Audit:
    """Four cells that share no level."""
    return rc.audit(rc.Design.from_cells([[0, 0], [1, 1], [2, 2], [3, 3]], names=["colour", "shape"]))


@cache
def weighted() -> rc.Audit:
    weights = pd.DataFrame({"colour": [1, 2], "shape": [1, 0], "importance": [3, 1]})
    return rc.audit(blocks().design, importance=weights)


@cache
def sums() -> rc.Audit:
    """Five by five cells but one, whose outcomes are sums."""
    cells = [[i, j] for i in range(5) for j in range(5) if (i, j) != (4, 4)]
    return rc.audit(rc.Design.from_cells(cells, outcome=[i + 2.0 * j for i, j in cells]))


@cache
def everything() -> rc.Audit:
    return rc.audit(rc.Design.from_cells(np.indices((4, 4)).reshape(2, -1).T))


def design(**options: object) -> rc.Design:
    cells = [[0, 0, 0], [1, 1, 0], [1, 1, 1]]
    return rc.Design.from_cells(cells, names=["plant", "soil", "dose"], **options)  # type: ignore[arg-type]


@cache
def scored(slope: float = 1.0, offset: float = 4.0) -> Score:
    cells = np.indices((9, 9)).reshape(2, -1).T
    held_out = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=cells.sum(axis=1) % 3 > 0)
    return rc.score(held_out, {"net": held_out.held_out @ [1.0, slope] + offset})


@cache
def grown() -> AuditComparison:
    """What changed from the corner with a third colour to all of its cells."""
    return rc.compare(
        blocks(), rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0], [2, 2], [2, 0]], names=["colour", "shape"]))
    )


@cache
def frame() -> pd.DataFrame:
    rows = pd.DataFrame(np.indices((6, 5)).reshape(2, -1).T, columns=["drug", "line"]).astype(str)
    return rows.assign(part=np.where(np.arange(30) % 7 == 0, "test", "train"))


@cache
def probed() -> Probe:
    digit, size, guess = np.random.default_rng(0).integers(3, size=(3, 2000))
    return rc.probe(
        pd.DataFrame({"guess": guess, "digit": digit, "size": size}),
        prediction="guess",
        outcome="digit",
        factors=["size"],
    )


@cache
def checked() -> SplitCheck:
    return check_split(frame(), factors=["drug", "line"], split="part")


def lines(audit: rc.Audit) -> dict[str, str]:
    """What the answer without a plan says, but for findings and where the rest is."""
    said = audit_answer.audit_answer(audit).lines
    return {line.name: line.text for line in said if line.name not in ("Look at", "More")}


#: Of a network, by theory on few seen cells.
RANGE = expected_range(1.0, "network", Way.THEORY_SEEN, TableKind.FEW)
assert RANGE is not None
BEFORE, AFTER = AmountRecord(1.0, 0.8, 1.2), AmountRecord(1.1, 0.9, 1.3)

SENTENCES: list[tuple[Callable[[], object], object]] = [
    (
        lambda: lines(corner()),
        {
            "Read": "3 training rows: factor 1 (2) × factor 2 (2), outcome outcome",
            "Seen": "3 of 4 combinations (75.0 %)",
            "Predictable": (
                "1 of 1 unseen, if effects add, not checked: no seen cell is determined by the others, and it takes 8 "
                "such cells"
            ),
            "Values": "how good they are is not known: too few outcomes check them",
        },
    ),
    (
        lambda: lines(blocks()),
        {
            "Read": "4 training rows: colour (3) × shape (3), no outcome",
            "Seen": "4 of 9 combinations (44.4 %)",
            "Predictable": "1 of 5 unseen, if effects add, which nothing checks without an outcome",
            "Open": "4: the seen ones do not settle them",
        },
    ),
    (
        lambda: {name: text for name, text in lines(sums()).items() if name != "A network"},
        {
            "Read": "24 training rows: factor 1 (5) × factor 2 (5), outcome outcome",
            "Seen": "24 of 25 combinations (96.0 %)",
            "Predictable": "1 of 1 unseen, if effects add, which holds here",
            "Values": (
                "miss by 0 in outcome, the plain mean by 3.1: root mean square on 24 seen combinations, each predicted "
                "from the others"
            ),
        },
    ),
    (
        lambda: lines(sums())["A network"].partition(" (")[2],
        f"by theory: 0.637; such ranges held in {RANGE.held} of {RANGE.trials})",
    ),
    (
        lambda: lines(everything())["Predictable"],
        "nothing is left to predict: every combination was seen",
    ),
    (
        lambda: lines(weighted())["What matters"],
        "Of what matters, 75.0 % is determined and 25.0 % is disconnected.",
    ),
    (lambda: additivity.condition(corner(), 1), "if effects add (not checked)"),
    (lambda: additivity.condition(blocks(), 1), "if effects add (not checked)"),
    (lambda: additivity.condition(sums(), 1), "if effects add (they do, see below)"),
    (
        lambda: additivity.caution_sentence(2),
        "Not checked: no outcome was named. Every verdict holds only if effects add up to interactions of 2 factors.",
    ),
    (
        lambda: additivity.additivity_statement(sums().structure.additivity),
        (
            "Additivity holds: predicting each seen cell from the others (all 24 cells allow it), the additive model "
            "is off by 0 (root mean square), the plain mean by 3.1."
        ),
    ),
    (
        lambda: additivity.additivity_statement(sums().structure.additivity, 2),
        (
            "Additivity at order 2 could not be checked: with all 2 factors interacting, no cell says anything about "
            "another."
        ),
    ),
    (
        lambda: additivity.additivity_sentences(blocks()),
        ["Not checked: no outcome was named. Every verdict holds only if effects add."],
    ),
    (lambda: captions.product_title(corner(), False), "All combinations: 4 cells, 3 seen (75.0 %), 1 not"),
    (lambda: captions.product_title(corner(), True), "The full product: 4 cells, 3 seen (75.0 %), 1 not"),
    (lambda: captions.example_title(corner(), np.array([1, 1])), "The shakiest determined cell: 1 · 1"),
    (lambda: captions.counts_caption(blocks()), "All 9 combinations by verdict"),
    (lambda: captions.ways_caption(2), "Combinations of t levels that occur in training; 2 better covered left out"),
    (lambda: captions.sparse_caption(3), "Levels seen in the fewest cells; 3 others with as many or more"),
    (
        lambda: captions.levels_caption(False, 2),
        "The map in numbers: seen and sampled cells with each level, by verdict; 2 levels left out",
    ),
    (
        lambda: captions.values_caption(weighted(), 2, 9),
        "Predicted values, the shakiest first: 2 of 9 determined cells that matter and are listed",
    ),
    (
        lambda: captions.no_map_sentence("leverage", 2.0, False),
        (
            "There is nothing to map: every unseen combination is determined, and known about equally well "
            "(leverage: 2)."
        ),
    ),
    (lambda: captions.no_map_sentence("leverage", None, True), "There is nothing to map: every combination was seen."),
    (
        lambda: captions.map_alternative(["a × b"], corner().decided.codes, "leverage"),
        (
            "Verdict map of a × b. Cells counted: 1 determined. Unseen cells are shaded by leverage. The table below "
            "gives counts for every level."
        ),
    ),
    (
        lambda: certificates.explanation(corner(), np.array([1, 1])).splitlines()[1:],
        [
            "  predicted 12",
            "  no 90 % range: no seen cell is determined by the others, and it takes 20",
            "  certified 12, if effects add (leverage 3: its variance in units of one measurement's)",
            "  certificate: y(1,1) = y(1,0) + y(0,1) - y(0,0)",
            "  the sum: 11 + 2 - 1 = 12, with variance 3; a proof by few cells, while what is certified uses all",
        ],
    ),
    (
        lambda: certificates.explanation(blocks(), np.array([2, 0])),
        (
            "2 · 0: disconnected. Every level is known, but no sum of seen combinations reaches this one: the data "
            "alone do not settle it, and a value rests on how much levels usually differ. Collect a bridging "
            "combination (see the suggestions); no model replaces it."
        ),
    ),
    (
        lambda: comparison.coefficient_meanings(),
        (
            "Slope: share of a factor's effect that arrives in the predictions (1: all). Pull: share of a factor's "
            "prediction that follows the raw mean instead of the effect (0: none)."
        ),
    ),
    (lambda: comparison.comparison_headline(rc.compare(corner(), corner())), "Nothing changed."),
    (
        lambda: comparison.comparison_headline(grown()),
        "0 cells lost (no longer seen or determined), 4 gained. Findings: 0 new, 1 gone, 1 stays.",
    ),
    (lambda: comparison.comparison_title(grown()), "Recombine comparison of two audits"),
    (lambda: comparison.side_text(grown().before, 2), "the table, colour (3) × shape (3); structure add"),
    (lambda: comparison.stay_sentence(1), "1 finding of before stays."),
    (lambda: comparison.count_text(grown(), "determined"), ("1", "4", "+3")),
    (lambda: comparison.amount_text(AmountRecord(0.512, 0.4, 0.6)), "0.51 [0.40, 0.60]"),
    (lambda: comparison.amount_text(None), "–"),
    (lambda: comparison.outside_text(AmountChange("error", BEFORE, AFTER)), "no"),
    (lambda: comparison.outside_text(AmountChange("error", BEFORE, None)), "no range"),
    (
        lambda: comparison.outside_text(AmountChange("error", BEFORE, AFTER, AmountRecord(0.1, 0.05, 0.15))),
        "yes: per cell 0.100 [0.050, 0.150]",
    ),
    (
        lambda: forecast.nothing_sentence(corner().forecast),
        "Not forecast: fewer than 8 cells are determined by the others.",
    ),
    (
        lambda: forecast.error_caption(sums()),
        (
            "Error in outcome of models trained to convergence (root mean square over 24 determined cells: seen cells, "
            "each predicted from the others)"
        ),
    ),
    (
        lambda: forecast.error_sentences(sums().forecast)[0],
        "Nothing was trained, to save time (--forecast trained does): this is what theory says of networks.",
    ),
    (
        lambda: forecast.error_sentences(sums().forecast)[1].partition(";")[0].rstrip("."),
        (
            f"On {RANGE.trials} tables {forecast.KINDS[RANGE.kind]} another network of one layer was trained: its "
            f"error lay in such a range on {RANGE.held}, and within 20 % of the forecast on {RANGE.within}"
        ),
    ),
    (lambda: importance.importance_column(weighted(), Verdict.DETERMINED), "75.0 % of what matters"),
    (
        lambda: importance.importance_statement(weighted().decided.matters),
        (
            "Cells are weighted by the table; one that none of its rows matches has importance 0. 2 unseen cells "
            "matter (importance over 0); shares of what matters are shares of their importance. Findings that concern "
            "only cells of importance 0 are not raised."
        ),
    ),
    (lambda: importance.no_findings(sums()), "None: every unseen combination is determined, and no risk was found."),
    (lambda: plan.plan_sentence(blocks().plan(1)), "1 well-chosen cell would determine everything."),
    (lambda: plan.plan_sentences(everything().plan(1)), ["You have enough combinations: every one was seen.", "", ""]),
    (lambda: plan.gain_text(blocks().plan(1), blocks().plan(1).picks[0]), "3 other unseen cells become determined"),
    (lambda: plan.first_sentence(blocks().plan(1)), ""),
    (lambda: plan.first_sentence(islands().plan(1)), "The first of them (all: --plan 3)."),
    (lambda: plan.first_sentence(islands().plan(2)), "The first 2 of them (all: --plan 3)."),
    (
        lambda: plan.gains_sentence(blocks().plan(2)),
        "Each gain is on top of the cells before it. Name cells that cannot exist with --forbidden, or those "
        "that can with --possible.",
    ),
    (lambda: probe.probe_question(probed()), "Does guess depend on a factor beyond digit?"),
    (
        lambda: probe.probe_opening(probed()),
        [
            "guess (3 values) given digit (3 levels); 2,000 rows, 200 shuffles",
            "Of the 1.585 bits of guess, digit settles 0.001 and leaves 1.583 open.",
        ],
    ),
    (
        lambda: probe.dependence_sentence(probed(), probed().tests[0]).partition(" (")[0],
        "No dependence of guess on size beyond digit was found",
    ),
    (
        lambda: score.score_opening(scored()),
        (
            "outcome in the table: 54 cells seen, 27 held out that were never seen. Verdicts hold if effects add. All "
            "numbers are mean squares over cells; ranges are over cells of these levels."
        ),
    ),
    (lambda: score.cause_meaning(scored(4.0, -8.0).models[0], CAUSES["leak"]), "more than all of an effect arrives"),
    (
        lambda: score.score_answers(scored()),
        ["Of net's squared error on 27 unseen cells, 100 % is the model's own (leak 100 %)."],
    ),
    (
        lambda: score.model_sentences(scored(), scored().models[0]),
        [
            "Adding beats it by 6.67 [4.31, 9.02].",
            "factor 2: 50 % of its effect arrives (95 % range 50 to 50 %).",
            "Undoing the leak alone would remove 100 % of its error (95 % range 64 to 100 %).",
            "100 % of its error over noise has a named cause.",
        ],
    ),
    (
        lambda: score.unclear_sentences(scored()),
        ["Noise cannot be told from structure: no row repeats, so structure holds both."],
    ),
    (
        lambda: score.factors_caption(scored().models[0]),
        (
            "net, factor by factor, and the squared error of each cause. effect that arrives: share of a factor's "
            "effect that arrives in the predictions (1: all); raw mean that is followed: share of a factor's "
            "prediction that follows the raw mean instead of the effect (0: none)."
        ),
    ),
    (
        lambda: score.causes_alternative(scored()).partition(",")[0],
        "Stacked bars of squared error by cause; the largest of net: leak 100 %",
    ),
    (lambda: score.written_range(Amount(0.5, 0.4, 0.6)), "[0.4, 0.6]"),
    (
        lambda: split.proof_of(Verdict.DISCONNECTED, "effects add"),
        "all levels are in training, yet if effects add training alone does not settle the value",
    ),
    (
        lambda: split.split_opening(split_table(frame(), "determined:0.2", factors=["drug", "line"])),
        (
            "drug (6) × line (5): 30 rows in 30 cells. Each test row has the verdict of its part if effects add; "
            "verified cell by cell."
        ),
    ),
    (
        lambda: split.split_remarks(split_table(frame(), "unseen level:0.2", factors=["drug", "line"])),
        ["line: 1 level in no training row: 1."],
    ),
    (lambda: split.check_title(checked()), "Recombine split check of part in the table"),
    (
        lambda: split.check_opening(checked()),
        "drug (6) × line (5): 25 training rows, 5 test rows in 5 cells. Verdicts hold if effects add (assumed without "
        "comparing).",
    ),
    (
        lambda: split.check_leaks(checked()),
        ["None of what was looked for: the same cell and a level spelled another way on both sides."],
    ),
    (
        lambda: structure.choice_statement(sums().choice),
        "Structures were not compared: it takes 30 seen cells to tell structures apart.",
    ),
    (lambda: structure.listed_structures().partition(", ")[0], "add (effects add)"),
    (lambda: structure.listed_orders().partition("; ")[0], "1: effects add"),
    (lambda: table.rows_phrase(corner().coverage), "3 training rows"),
    (lambda: table.weight_sentence(design()), ""),
    (
        lambda: table.twin_phrases(
            rc.Design.from_cells([[0, 1], [1, 2]], names=["gene_a", "gene_b"], symmetric=[(0, 1)])
        ),
        ["one factor used twice: gene_a and gene_b"],
    ),
    (
        lambda: table.scale_sentences(on_scales(design(), ["dose"])),
        ["dose is ordered: its effect runs straight from one seen value to the next, 0 to 1."],
    ),
    (
        lambda: table.impossible_sentence(design(nested=["plant/soil"])),
        "4 of the 8 combinations of levels cannot exist: plant lies inside soil (as was said).",
    ),
    (lambda: table.coverage_sentence(corner().coverage), "1-way 100.0 %, 2-way 75.0 %; rows per seen cell: 1"),
    (
        lambda: table.thin_levels(blocks().coverage),
        "levels seen in one cell at most: colour=1, colour=2, shape=1, shape=2",
    ),
    (lambda: table.listing_sentence(blocks().decided.listing), "All 5 unseen cells are listed."),
    (
        lambda: values.ranges_sentence(corner()),
        "No 90 % range: no seen cell is determined by the others, and it takes 20.",
    ),
    (lambda: values.ranges_sentence(blocks()), ""),
    (lambda: verdicts.state_phrase(Verdict.BEYOND, single=False), "lie beyond the seen range"),
    (
        lambda: verdicts.verdict_meaning(Verdict.DETERMINED, "effects multiply"),
        "Never seen, but if effects multiply, the seen combinations fix its value: the certificate shows the sum.",
    ),
    (lambda: verdicts.decision(blocks().decided.identification), "decided exactly, by connectivity"),
    (
        lambda: verdicts.decision_sentence(blocks().decided.identification),
        "Verdicts were decided exactly, by connectivity of levels, which cannot err.",
    ),
    (
        lambda: verdicts.count_sentence(blocks().decided.counts),
        "Counts are over the full product of 9 cells and exact.",
    ),
    (lambda: verdicts.Tally({Verdict.DETERMINED: 12_345}, exact=False).number(Verdict.DETERMINED), "about 12,000"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("say", "sentence"), SENTENCES)
def test_a_result_says_its_sentence(say: Callable[[], object], sentence: object) -> None:
    assert say() == sentence


def test_findings_of_one_message_stand_together() -> None:
    records = [FindingRecord("RC102", "level never seen", "problem", "a and b", (name,)) for name in "ab"]
    assert [item.subjects for item in comparison.findings_by_code(records)] == [("a", "b")]


def test_a_cure_is_for_the_reason_that_is_given() -> None:
    frame = pd.DataFrame({"a": ["x", "x", "y"], "b": ["1", "2", "1"]})
    listed = rc.Design.from_frame(frame, factors=["a", "b"], possible=frame)
    explained = rc.audit(listed).explain(("y", "2"))
    assert "not among the possible cells" in explained
    assert "--possible" in explained
    assert "nesting" not in explained


def test_a_cell_that_only_interactions_leave_open_is_said_to_be_so() -> None:
    cells = np.array([cell for cell in np.ndindex(3, 3, 3) if cell[:2] != (2, 2)])
    design = rc.Design.from_cells(cells, cells.sum(axis=1).astype(float), sizes=(3, 3, 3))
    by_pairs, by_adding = (rc.audit(design, order=order).explain((2, 2, 0)) for order in (2, 1))
    assert "disconnected" in by_pairs
    assert "so if effects add up to interactions of 2 factors; if effects add, it is determined" in by_pairs
    assert "That is so" not in by_adding


def test_a_single_row_takes_the_singular() -> None:
    frame = pd.DataFrame({"a": ["x", "x", "y", "y"], "b": ["1", "2", "1", "2"]})
    design = rc.Design.from_frame(frame, factors=["a", "b"], possible=frame[:3].assign(a=["x", "x", "z"]))
    assert "cells of the table that it lacks count as" in table.impossible_sentence(design)
    design = rc.Design.from_frame(frame[:3], factors=["a", "b"], possible=frame[:3].assign(a=["x", "x", "z"]))
    assert "1 cell of the table that it lacks counts as" in table.impossible_sentence(design)


def test_a_sum_of_logarithms_closes_on_the_value() -> None:
    rng = np.random.default_rng(0)
    cells = np.indices((4, 4)).reshape(2, -1).T[:-1]
    outcome = np.exp(cells.sum(axis=1) / 2 + rng.normal(0, 0.4, len(cells)))
    explained = rc.audit(rc.Design.from_cells(cells, outcome), structure="log", forecast="theory").explain((3, 3))
    found = re.search(r"= (\S+); exp\(\1\) = (\S+), times (\S+), .* is (\S+)", explained)
    assert found is not None
    total, power, factor, value = map(float, found.groups())
    assert np.exp(total) == pytest.approx(power, rel=1e-4)
    assert power * factor == pytest.approx(value, rel=1e-4)
