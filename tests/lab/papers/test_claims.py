"""Claims: every check can fail, says where it stands, and refuses rows it cannot read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from recombine.errors import InputError, RecombineError
from recombine.lab.papers import Claim, Outcome, Paper, Reproduction, Standing, available, find
from recombine.lab.papers.bounds import (
    Above,
    AtLeast,
    AtMost,
    Below,
    Between,
    Bound,
    ClearlyAbove,
    Falls,
    Is,
    Near,
    Rises,
    by_scale,
)
from recombine.lab.papers.claims import SAYS
from recombine.lab.papers.measured import Measured, MissingRowsError, Size
from recombine.lab.papers.paper import PaperPanel, coverage
from recombine.lab.papers.record import load_record, record_of
from recombine.lab.papers.results import Evidence, Provenance
from recombine.lab.papers.seeds import Interval
from recombine.lab.papers.standing import Part
from recombine.lab.papers.values import entries_of
from recombine.lab.report.terminal import Tallied, tally_by_whose
from recombine.tables.table import Table

COMMITTED = Path(__file__).parents[3] / "results"

STORY = Provenance("margins", "quick", "recombine reproduce demo", "none", "cpu", 0.1, [], {"python": "3"})


def margins(rows: Table) -> Measured:
    return Measured({"smallest margin": float(rows["margin"].min())})


CLAIM = Claim(
    "1", "Margins are positive.", "paper", "Thm 1", "margins", margins, {"smallest margin": Above(0)}, paper="demo"
)


def evidence(*values: float) -> dict[str, Evidence]:
    return {"margins": Evidence(Table({"margin": list(values)}), STORY)}


def test_a_claim_holds_fails_or_was_not_run() -> None:
    part = Part("smallest margin", "0.1", "above 0", True)
    assert CLAIM.judge(evidence(0.1, 0.2)) == Outcome(
        Standing.HOLDS, (part,), scale="quick", extent="all of the small grid"
    )
    assert CLAIM.judge(evidence(0.1, -0.2)).verdict is Standing.FAILS
    assert CLAIM.judge(evidence(0.1, float("nan"))).verdict is Standing.FAILS
    absent = CLAIM.judge({})
    assert absent.verdict is Standing.NOT_RUN
    assert absent.scale == ""
    assert "margins" in absent.detail


def test_a_part_of_a_grid_that_lacks_what_is_read_decides_nothing() -> None:
    def last_of_both(rows: Table) -> Measured:
        return Measured({"smallest margin": float(rows.only(task="CD-3")["margin"][0])})

    claim, table = replace(CLAIM, measure=last_of_both), Table({"task": ["CD-1"], "margin": [0.5]})
    part = Evidence(table, msgspec.structs.replace(STORY, settings=[{"task": "CD-1"}], planned=2))
    outcome = claim.judge({"margins": part})
    assert (outcome.verdict, outcome.extent) == (Standing.NOT_RUN, "1 of 2 runs of the small grid")
    with pytest.raises(IndexError):
        claim.judge({"margins": Evidence(table, STORY)})


def test_a_contradiction_is_not_a_failure() -> None:
    claim = replace(CLAIM, contradicted={"smallest margin": Below(-1)}, means="Margins are far below zero")
    outcome = claim.judge(evidence(-2.0))
    assert outcome.verdict is Standing.CONTRADICTS
    assert outcome.detail.endswith("Margins are far below zero")
    assert claim.judge(evidence(-0.5)).verdict is Standing.FAILS
    assert claim.expected == "smallest margin above 0; contradicted if smallest margin below -1"


def test_statements_of_ours_contradict_nobody() -> None:
    with pytest.raises(RecombineError, match=r"claim 1 is a statement of ours, which cannot contradict the paper"):
        replace(CLAIM, says="ours", contradicted={"smallest margin": Below(-1)})
    assert replace(CLAIM, says="ours").judge(evidence(-2.0)).verdict is Standing.FAILS


def test_a_claim_says_whose_it_is() -> None:
    with pytest.raises(RecombineError, match=r"said by 'us', which is none of paper, authors' files, .* ours"):
        replace(CLAIM, says="us")  # type: ignore[arg-type]


def test_what_cannot_be_compared_is_shown_and_not_judged() -> None:
    """However the numbers stand to their bounds, and whatever would contradict the paper."""
    claim = replace(CLAIM, contradicted={"smallest margin": Below(-1)}, incomparable="Our networks are a tenth as wide")
    for margin in (0.5, -0.5, -2.0):
        outcome = claim.judge(evidence(margin))
        assert outcome.verdict is Standing.NOT_COMPARABLE
        assert outcome.value == f"smallest margin: {margin:g}"
        assert outcome.detail.startswith("Our networks are a tenth as wide")
    assert claim.judge({}).verdict is Standing.NOT_RUN
    assert replace(claim, expect={}, contradicted={}).judge(evidence(1.0)).verdict is Standing.NOT_COMPARABLE


def test_tallies_keep_the_papers_statements_apart_from_ours() -> None:
    stand = [
        Tallied(says, verdict) for says in SAYS for verdict in Standing if (says, verdict) != ("ours", "contradicts")
    ]
    assert tally_by_whose(reversed(stand)) == ". ".join(
        [
            "6 statements of the paper: 1 holds, 1 fails, 1 contradicted, 1 not comparable, 1 undecided, 1 not run",
            "6 of its authors' files: 1 holds, 1 fails, 1 contradicted, 1 not comparable, 1 undecided, 1 not run",
            "6 that follow from it: 1 holds, 1 fails, 1 contradicted, 1 not comparable, 1 undecided, 1 not run",
            "5 of ours: 1 holds, 1 fails, 1 not comparable, 1 undecided, 1 not run",
        ]
    )
    assert tally_by_whose([Tallied("ours", Standing.HOLDS)] * 2) == "2 of ours: 2 hold"


def test_tallies_say_what_was_written_or_moved_after_seeing_the_data() -> None:
    told = "written after the data"
    tests, late = [Tallied("paper", Standing.HOLDS)] * 2, [Tallied("paper", Standing.HOLDS, exploratory=True)] * 3
    assert tally_by_whose(tests + late) == f"5 statements of the paper: 5 hold (3 {told})"
    assert tally_by_whose(late) == f"3 statements of the paper: 3 hold ({told})"
    failed = [Tallied("paper", Standing.FAILS, exploratory=True), *tests]
    assert tally_by_whose(failed) == f"3 statements of the paper: 2 hold, 1 fails ({told})"
    moved = Tallied("paper", Standing.HOLDS, moved=True)
    assert tally_by_whose([moved, *tests, *late]) == (
        f"6 statements of the paper: 6 hold (3 {told}, 1 bound moved since)"
    )
    assert Tallied.of(replace(CLAIM, moved="asked for was 3"), Standing.FAILS) == replace(
        Tallied.of(CLAIM, Standing.FAILS), moved=True
    )


def test_a_risk_reads_its_numbers_from_the_rows() -> None:
    claim = replace(CLAIM, risk="of {smallest margin} only")
    assert claim.risk_of(claim.judge(evidence(0.5))) == "of 0.5 only"
    assert claim.risk_of(claim.judge({})) == ""
    assert replace(claim, risk="exact").risk_of(claim.judge({})) == "exact"
    with pytest.raises(RecombineError, match=r"the risk of claim .* names 'seeds', but it measures smallest margin"):
        replace(claim, risk="{seeds} seeds").risk_of(claim.judge(evidence(0.5)))


def test_a_panel_is_judged_where_a_claim_was_put_to_a_test() -> None:
    panels = [
        PaperPanel("Figure 1", "", ("1", "2")),
        PaperPanel("Figure 2", "", ("2",)),
        PaperPanel("Figure 3", "", ("3",)),
    ]
    panels.append(PaperPanel("Figure 4", "", (), "needs more than we have"))
    outcomes = {"1": Outcome(Standing.FAILS), "2": Outcome.not_run(""), "3": Outcome(Standing.NOT_COMPARABLE)}
    assert [panel.judged(outcomes) for panel in panels] == [True, False, False, False]
    assert coverage(panels, outcomes).startswith("1 of 4 statements and panels of the paper is judged;")
    assert coverage(panels[:2], {**outcomes, "2": Outcome(Standing.UNDECIDED)}).startswith("2 of 2 ")


def test_how_much_the_paper_ran_is_said_of_the_large_grid_alone() -> None:
    claim = Claim("1", "", "paper", "", "fits", lambda rows: Measured({"n": len(rows)}), {"n": Above(0)})
    claim = replace(claim, size=Size(60, "networks", len))
    for scale, words in (("quick", "all of the small grid"), ("full", "2 of the paper's 60 networks")):
        story = msgspec.structs.replace(STORY, scale=scale)
        assert claim.judge({"fits": Evidence(Table({"x": [1, 2]}), story)}).extent == words


def test_published_numbers_are_not_asked_of_what_stood_in() -> None:
    claim = replace(CLAIM, published={"smallest margin": Near(0.5, 0.1)})
    found = Measured({"smallest margin": 0.2})
    assert claim.weigh(found).verdict is Standing.FAILS
    outcome = claim.weigh(replace(found, stands_in="digits stand in"))
    assert outcome.verdict is Standing.HOLDS
    assert (outcome.value, outcome.detail) == ("smallest margin: 0.2 (direction only)", "digits stand in")


def test_bounds_are_those_of_the_scale() -> None:
    claim = replace(CLAIM, expect={"smallest margin": by_scale(full=Above(1), quick=Above(0))})
    verdicts = [claim.weigh(Measured({"smallest margin": 0.5}, scale=scale)).verdict for scale in ("full", "quick", "")]
    assert verdicts == [Standing.FAILS, Standing.HOLDS, Standing.UNDECIDED]


def test_nothing_asked_is_nothing_shown() -> None:
    """Neither agreement nor contradiction follows from bounds of another scale, or from published numbers alone."""
    far = {"smallest margin": by_scale(full=Below(-1))}
    claim = replace(CLAIM, contradicted=far, means="Margins are far below zero")
    assert claim.weigh(Measured({"smallest margin": -2.0}, scale="full")).verdict is Standing.CONTRADICTS
    assert claim.weigh(Measured({"smallest margin": -2.0}, scale="quick")).verdict is Standing.FAILS
    bare = replace(CLAIM, expect={}, published={"smallest margin": Near(0.5, 0.1)})
    assert bare.weigh(Measured({"smallest margin": 0.5}, stands_in="digits stand in")).verdict is Standing.UNDECIDED


def test_too_few_seeds_decide_nothing() -> None:
    claim = replace(CLAIM, expect={"gain": ClearlyAbove(1.0)})
    ranges = [Interval(5.0, 3.0, 7.0), Interval(1.5, -1.0, 4.0), Interval(-3.0, -5.0, -1.0)]
    verdicts = [claim.weigh(Measured({"gain": one})).verdict for one in ranges]
    assert verdicts == [Standing.HOLDS, Standing.UNDECIDED, Standing.FAILS]


def test_missing_rows_are_not_run() -> None:
    def lacking(rows: Table) -> Measured:
        raise MissingRowsError("no network of depth 3")

    outcome = replace(CLAIM, measure=lacking).judge(evidence(1.0))
    assert (outcome.verdict, outcome.detail) == (Standing.NOT_RUN, "no network of depth 3")
    empty = CLAIM.read(Table({}))
    assert (empty.verdict, empty.detail) == (Standing.NOT_RUN, "the results of 'margins' have no rows")


def test_a_bound_without_its_number_is_a_defect() -> None:
    claim = replace(CLAIM, expect={"margin": Above(0)})
    with pytest.raises(RecombineError, match=r"claim demo/1 asks for 'margin', but measures smallest margin"):
        claim.judge(evidence(1.0))


BOUNDS = [AtMost(1e-8), AtLeast(5), Below(0.5), Above(0), Between(0.3, 0.7), Near(0.503, 0.08), Near((0.7, 0.9), 0.03)]
BOUNDS += [Is(0), Is(True), Is("context"), Is(("context", "right")), Rises(), Falls(every_step=True), ClearlyAbove(1.0)]
BOUNDS += [Between(0.3, 0.7, or_errors=True), Near(0.43, 0.08, or_errors=True)]


@pytest.mark.parametrize("bound", BOUNDS, ids=str)
def test_bounds_tell_the_two_sides_apart(bound: Bound) -> None:
    assert bound.holds(bound.inside()) is True
    assert bound.outside()
    assert all(bound.holds(value) is not True for value in bound.outside())
    assert bound.shown(bound.inside())


@pytest.mark.parametrize("bound", [bound for bound in BOUNDS if not isinstance(bound, Is | ClearlyAbove)], ids=str)
def test_what_is_not_a_number_passes_no_bound(bound: Bound) -> None:
    entries = len(entries_of(bound.inside()))
    assert bound.holds([float("nan")] * entries) is False


def test_rows_of_another_shape_are_refused_with_the_claim_named() -> None:
    rows = {"margins": Evidence(Table({"slope": [1.0]}), STORY)}
    with pytest.raises(RecombineError, match=r"'margins' do not fit claim demo/1.*'margin' is not a column"):
        CLAIM.judge(rows)


def test_claims_are_found_by_id_and_by_number() -> None:
    paper = Paper("demo", "Demo", "Nobody", "")
    vars(paper)["claims"] = (CLAIM,)
    assert paper.claim("1") is paper.claim("demo/1") is CLAIM
    assert paper.chosen(()) == [CLAIM]
    with pytest.raises(InputError, match="'7' is not a claim of demo"):
        paper.chosen(["7"])


def test_every_standing_has_a_mark_and_a_meaning() -> None:
    assert len({standing.symbol for standing in Standing}) == len(Standing)
    assert all(standing.meaning for standing in Standing)


def test_unknown_papers_are_named() -> None:
    with pytest.raises(InputError, match=r"did you mean 'kernel-theory'\?"):
        find("kernel-theorie")


def moved(claim: Claim, measured: Measured, bounds: dict[str, Bound]) -> list[tuple[str, Measured]]:
    """What was measured, with one number after the other just past its bound."""
    found = []
    for name, bound in bounds.items():
        chosen = bound.at(measured.scale)
        for value in [] if chosen is None else chosen.outside():
            found.append((name, replace(measured, numbers={**measured.numbers, name: value})))
    return found


@pytest.mark.parametrize("paper", available().values(), ids=lambda paper: paper.name)
class TestEveryPaper:
    """What holds for every paper that is added."""

    def test_claims_are_numbered_once_and_by_the_paper(self, paper: Paper) -> None:
        ids = [claim.id for claim in paper.claims]
        assert len(set(ids)) == len(ids)
        assert all(name.startswith(f"{paper.name}/") for name in ids)
        assert all(claim.statement.endswith(".") for claim in paper.claims)
        assert all(claim.expected or claim.incomparable for claim in paper.claims)
        assert all(claim.source or claim.ours for claim in paper.claims)

    def test_figures_belong_to_claims(self, paper: Paper) -> None:
        assert {name for claim in paper.claims for name in claim.figures} == {plot.name for plot in paper.figures}

    @pytest.mark.slow
    def test_verdicts_are_those_on_record(self, paper: Paper) -> None:
        """A change of verdict is a change of results/verdicts.json, which `reproduce --save` writes."""
        record = load_record(COMMITTED)
        assert record_of(paper, COMMITTED) == {
            name: one for name, one in record.items() if name.startswith(f"{paper.name}/")
        }

    @pytest.mark.slow
    def test_every_number_decides(self, paper: Paper, judged: dict[str, Reproduction]) -> None:
        """A measured number just past its bound turns the verdict, for all numbers of all claims."""
        results, outcomes = judged[paper.name].results, judged[paper.name].outcomes
        for claim in paper.claims:
            verdict = outcomes[claim.id].verdict
            if verdict in (Standing.NOT_RUN, Standing.NOT_COMPARABLE):
                continue
            measured = claim.measure(results[claim.reads].table)
            asked: dict[str, Any] = {**claim.expect, **({} if measured.stands_in else claim.published)}
            inside = {name: kept.inside() for name, bound in asked.items() if (kept := bound.at(measured.scale))}
            if not inside:
                assert verdict is Standing.UNDECIDED
                continue
            good = replace(measured, numbers={**measured.numbers, **inside})
            plain = replace(claim, contradicted={})
            assert plain.weigh(good).verdict is Standing.HOLDS, claim.id
            for name, bad in moved(claim, good, asked):
                assert plain.weigh(bad).verdict is not Standing.HOLDS, f"{claim.id}: {name}"
            if verdict is Standing.CONTRADICTS:
                assert claim.means, claim.id
                for name, bad in moved(claim, measured, dict(claim.contradicted)):
                    assert claim.weigh(bad).verdict is not Standing.CONTRADICTS, f"{claim.id}: {name}"

    def test_experiments_belong_to_the_paper_and_have_both_scales(self, paper: Paper) -> None:
        for name, experiment in paper.by_name.items():
            assert experiment.name == f"{paper.name}/{name}"
            assert len(experiment.units("quick")) <= len(experiment.units("full")) > 0
            # What draws the authors' own images again has no small version: there are none like them in the package.
            assert experiment.units("quick") or name.startswith("authors")
            experiment.require_importable()

    def test_every_experiment_is_read_by_a_claim_or_drawn(self, paper: Paper) -> None:
        drawn = {name for plot in paper.figures for name in plot.experiments}
        assert set(paper.by_name) <= {claim.reads for claim in paper.claims} | drawn
