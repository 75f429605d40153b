"""Claims: every check can fail, says where it stands, and refuses rows it cannot read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recombine.errors import InputError, RecombineError
from recombine.papers import Claim, Outcome, Paper, Standing, available, find
from recombine.papers.results import Evidence, Provenance
from recombine.tables.table import Table

STORY = Provenance("margins", "quick", "recombine reproduce demo", "none", "cpu", 0.1, [], {"python": "3"})


def positive(rows: Table) -> Outcome:
    smallest = float(rows["margin"].min())
    return Outcome.of(f"{smallest:.2f}", smallest > 0)


CLAIM = Claim("demo/1", "margins are positive", "ours", "> 0", "none", "margins", positive)


def evidence(*margins: float) -> dict[str, Evidence]:
    return {"margins": Evidence(Table({"margin": list(margins)}), STORY)}


def test_a_claim_holds_fails_or_was_not_run() -> None:
    assert CLAIM.judge(evidence(0.1, 0.2)) == Outcome("0.10", Standing.HOLDS, "", "quick")
    assert CLAIM.judge(evidence(0.1, -0.2)).verdict is Standing.FAILS
    absent = CLAIM.judge({})
    assert absent.verdict is Standing.NOT_RUN
    assert absent.scale == ""
    assert "margins" in absent.detail


def test_a_contradiction_is_not_a_failure() -> None:
    claim = replace(CLAIM, check=lambda rows: Outcome.contradicting("0.3", "published 0.5, measured 0.3 +- 0.01"))
    outcome = claim.judge(evidence(1.0))
    assert outcome.verdict is Standing.CONTRADICTS
    assert outcome.detail


def test_rows_of_another_shape_are_refused_with_the_claim_named() -> None:
    rows = {"margins": Evidence(Table({"slope": [1.0]}), STORY)}
    with pytest.raises(RecombineError, match=r"'margins' do not fit claim demo/1.*'margin' is not a column"):
        CLAIM.judge(rows)


def test_claims_are_found_by_id_and_by_number() -> None:
    paper = Paper.assembled("demo", "Demo", "Nobody", (), (CLAIM,), ())
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


@pytest.mark.parametrize("paper", available().values(), ids=lambda paper: paper.name)
class TestEveryPaper:
    """What holds for every paper that is added."""

    def test_claims_are_numbered_once_and_by_the_paper(self, paper: Paper) -> None:
        ids = [claim.id for claim in paper.claims]
        assert len(set(ids)) == len(ids)
        assert all(name.startswith(f"{paper.name}/") for name in ids)
        assert all(claim.statement.endswith(".") and claim.expected and claim.tolerance for claim in paper.claims)

    def test_figures_belong_to_claims(self, paper: Paper) -> None:
        ids = {claim.id for claim in paper.claims}
        for plot in paper.figures:
            assert plot.claims
            assert set(plot.claims) <= ids

    def test_experiments_belong_to_the_paper_and_have_both_scales(self, paper: Paper) -> None:
        for name, experiment in paper.by_name.items():
            assert experiment.name == f"{paper.name}/{name}"
            assert 0 < len(experiment.units("quick")) <= len(experiment.units("full"))
            experiment.require_importable()

    def test_every_experiment_is_read_by_a_claim(self, paper: Paper) -> None:
        assert set(paper.by_name) <= {claim.experiment for claim in paper.claims}
