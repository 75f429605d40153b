"""The audit as a whole: what is listed, counted, explained and kept, on small, huge and symmetric designs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recombine as rc
from recombine.cells.conjunctions import every_cell
from recombine.jobs.audit.additivity import AdditivityState
from recombine.jobs.values.sources import ValueSource
from recombine.report.audit.record import audit_json
from recombine.theory.identification.identify import identify
from recombine.verdicts import Verdict
from recombine.words.table import listing_sentence
from recombine.writing import written_count


@pytest.fixture
def flights() -> pd.DataFrame:
    rows = [("AA", "JFK", "LAX", 330), ("AA", "JFK", "BOS", 40), ("UA", "EWR", "LAX", 340), ("UA", "EWR", "BOS", 42)]
    return pd.DataFrame([*rows, ("AA", "EWR", "LAX", 338)], columns=["carrier", "origin", "dest", "minutes"])


@pytest.fixture
def audited(flights) -> rc.Audit:
    return rc.audit(rc.Design.from_frame(flights, factors=["carrier", "origin", "dest"], outcome="minutes"))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("order", [1, 2, 3])
def test_listed_verdicts_add_up_to_the_counts(seed, order):
    cells = every_cell((4, 3, 3))
    seen = cells[np.random.default_rng(seed).random(len(cells)) < 0.4]
    audit = rc.audit(rc.Design.from_cells(seen, sizes=(4, 3, 3)), order)
    for verdict in Verdict:
        listed = int((audit.decided.codes == verdict).sum())
        assert listed == (audit.decided.counts[verdict] if verdict is not Verdict.SEEN else 0)
    assert audit.decided.counts.total == 36
    assert len(audit.verdicts) == 36 - len(seen)


def test_every_cell_has_a_value_and_only_determined_ones_are_certified(audited):
    table = audited.verdicts
    assert np.isfinite(table["predicted"]).all()
    assert (np.isnan(table["certified"]) == (table["verdict"] != "determined")).all()
    assert audited.values.source is ValueSource.MEAN  # five flights do not show that any value beats their mean
    assert (table["rests on"] == "mean").all()
    row = table.where((table["carrier"] == "AA") & (table["origin"] == "EWR") & (table["dest"] == "BOS"))
    assert row["certified"][0] == pytest.approx(338 + 40 - 330, abs=15)  # least squares over a redundant table


def test_both_orders_are_shown_when_another_is_asked(flights):
    table = rc.audit(rc.Design.from_frame(flights, factors=["carrier", "origin", "dest"]), order=2).verdicts
    assert {"verdict", "verdict at order 1"} <= set(table.columns)
    assert (table["verdict"] == "disconnected").all()


def test_at_full_order_nothing_follows_from_anything():
    audit = rc.audit(rc.Design.from_cells(every_cell((3, 3))[:7], np.arange(7.0), sizes=(3, 3)), order=2)
    assert audit.decided.counts[Verdict.DETERMINED] == 0
    assert audit.structure.additivity.state_at(2) == AdditivityState.UNCHECKED


def test_an_order_beyond_the_factors_is_refused():
    design = rc.Design.from_cells([[0, 0], [1, 1]])
    for order in (0, 3, -1):
        with pytest.raises(rc.InputError, match="does not fit 2 factors"):
            rc.audit(design, order)


def test_a_table_is_audited_as_its_design_is():
    frame = pd.DataFrame({"a": list("xxyy"), "b": list("pqpq"), "y": [1.0, 2.0, 3.0, 9.0], "part": list("rrrs")})
    design = rc.Design.from_frame(frame, factors=["a", "b"], outcome="y", split="part=r")
    direct = rc.audit(frame, factors=["a", "b"], outcome="y", split="part=r")
    assert direct.design.spec == design.spec
    assert str(direct) == str(rc.audit(design))
    assert direct.verdicts["predicted"] == pytest.approx([4.0])
    with pytest.raises(rc.InputError, match="says already how its table is read; leave out factors, split"):
        rc.audit(design, factors=["a"], split="part=r")
    with pytest.raises(rc.InputError, match="a list is not a table"):
        rc.audit([1])


def test_a_certificate_is_asked_by_level_names_and_written_in_them(audited):
    by_name = audited.certificate(origin="EWR", carrier="AA", dest="BOS")
    assert str(by_name) == str(audited.certificate(["AA", "EWR", "BOS"])) == by_name.text(None)
    assert str(by_name).startswith("y(AA,EWR,BOS) = ")
    assert audited.explain(origin="EWR", carrier="AA", dest="BOS") == audited.explain(["AA", "EWR", "BOS"])
    for wrong in ({}, {"carrier": "AA"}, {"carrier": "AA", "origin": "EWR", "dest": "BOS", "wing": 1}):
        with pytest.raises(rc.InputError, match=r"which cell|lacks a level of origin, dest|'wing' is not a factor"):
            audited.certificate(**wrong)
    with pytest.raises(rc.InputError, match="which cell"):
        audited.certificate(0, carrier="AA")


def test_targets_keep_their_order_and_are_listed_once(audited, flights, written):
    path = written("dest,carrier,origin\nLAX,UA,JFK\nBOS,AA,EWR\nLAX,UA,JFK\nLAX,AA,JFK\n")
    audit = rc.audit(audited.design, targets=path)
    assert [audit.design.label(cell) for cell in audit.decided.listing.cells] == [
        "UA · JFK · LAX",
        "AA · EWR · BOS",
        "AA · JFK · LAX",
    ]
    assert audit.verdicts["verdict"].tolist()[2] == "seen"
    assert listing_sentence(audit.decided.listing) == "3 target cells are listed."
    for frame in (pd.read_csv(path), pl.read_csv(path)):
        again = rc.audit(audited.design, targets=frame)
        assert again.verdicts["verdict"].tolist() == audit.verdicts["verdict"].tolist()


def test_unknown_target_levels_are_refused_or_taken_as_unseen(audited, written):
    path = written("carrier,origin,dest\nAA,JKF,LAX\nAA,JFK,LAX\n")
    with pytest.raises(rc.InputError, match=r"'JKF' is not a level of factor 'origin' .* did you mean 'JFK'\?"):
        rc.audit(audited.design, targets=path)
    audit = rc.audit(audited.design, targets=path, new_levels=True)
    assert audit.verdicts["verdict"].tolist() == ["unseen level", "seen"]
    assert audit.design.sizes == (2, 3, 2)


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "product"), [((10_000, 10_000, 10_000), 10**12), ((1000,) * 10, 10**30)])
def test_huge_products_are_counted_and_sampled(sizes, product):
    generator = np.random.default_rng(0)
    seen = np.stack([generator.integers(size, size=60) for size in sizes], axis=1)
    audit = rc.audit(rc.Design.from_cells(seen, sizes=sizes))
    counts = audit.decided.counts
    assert counts.total == product == sum(counts.by_verdict.values())
    assert counts[Verdict.SEEN] == 60
    assert len(audit.verdicts) == len(audit.decided.listing.cells) <= 10_000
    assert f"{len(audit.verdicts):,} unseen cells, drawn at random" in listing_sentence(audit.decided.listing)
    assert f"the product of {written_count(product)} is" in listing_sentence(audit.decided.listing)
    # The listed verdicts are those of the engine, and no listed cell was seen.
    assert (audit.decided.codes == identify(audit.design.seen, audit.decided.listing.cells, sizes=sizes).verdicts).all()
    assert (audit.decided.codes != Verdict.SEEN).all()


def test_held_out_cells_of_a_huge_product_are_listed_first():
    cells = np.random.default_rng(1).integers(0, 500, size=(200, 3))
    train = np.arange(200) < 150
    audit = rc.audit(rc.Design.from_cells(cells, train=train, sizes=(500,) * 3))
    listed = {tuple(cell) for cell in audit.decided.listing.cells.tolist()}
    assert {tuple(cell) for cell in cells[~train].tolist()} <= listed


def test_symmetric_pairs_are_listed_once():
    audit = rc.audit(rc.Design.from_cells([[0, 1], [2, 1]], symmetric=[(0, 1)], sizes=(3, 3)))
    assert audit.decided.counts.total == 6
    assert (audit.decided.listing.cells[:, 0] <= audit.decided.listing.cells[:, 1]).all()
    assert audit.explain([2, 0]) == audit.explain([0, 2])


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes():
    generator = np.random.default_rng(3)
    cells = generator.integers(0, 1100, size=(300, 2))
    outcome = generator.standard_normal(300)

    def document(seed: int) -> str:
        audit = rc.audit(rc.Design.from_cells(cells, outcome, sizes=(1100,) * 2), seed=seed)
        return audit_json(audit, audit.plan(3))

    first = document(1)
    assert document(1) == first
    assert document(2) != first


def test_explanations_name_levels_and_add_up(audited):
    text = audited.explain(["AA", "EWR", "BOS"])
    assert text.startswith("AA · EWR · BOS: determined. ")
    found = audited.certificate({"carrier": "AA", "origin": "EWR", "dest": "BOS"})
    assert found.verified
    assert "y(AA,EWR,BOS) = " in text
    assert "leverage" in text
    assert audited.explain(0).startswith(audited.design.label(audited.decided.listing.cells[0]))


def test_explanations_of_open_cells_say_what_to_do(flights):
    audit = rc.audit(rc.Design.from_frame(flights.iloc[:4], factors=["carrier", "origin", "dest"]))
    assert "disconnected" in audit.explain(["AA", "EWR", "LAX"])
    assert Verdict.DISCONNECTED.action in audit.explain(["AA", "EWR", "LAX"])
    with pytest.raises(rc.InputError, match="one level of each factor"):
        audit.explain(["AA", "EWR"])
    with pytest.raises(rc.InputError, match="'DL' is not a level of factor 'carrier'"):
        audit.explain(["DL", "EWR", "LAX"])


def test_a_certificate_of_hundreds_of_terms_is_cut_short():
    n = 40
    chain = [[i, i] for i in range(n)] + [[i + 1, i] for i in range(n - 1)]
    text = rc.audit(rc.Design.from_cells(chain)).explain([0, n - 1])
    assert f"a weighted sum of {2 * n - 1} seen cells, led by " in text
    assert len(text) < 600


def test_leverage_of_a_design_too_large_to_invert_is_solved_for_a_few_cells(monkeypatch):
    monkeypatch.setattr("recombine.theory.identification.leverage.MAX_INVERTED_COLUMNS", 0)
    cells = every_cell((8, 8))
    seen = cells[np.random.default_rng(0).random(64) < 0.5]
    audit = rc.audit(rc.Design.from_cells(seen, sizes=(8, 8)))
    solved = ~np.isnan(audit.decided.leverage)
    monkeypatch.undo()
    full = identify(seen, audit.decided.listing.cells, sizes=(8, 8)).leverage
    determined = np.flatnonzero(audit.decided.codes == Verdict.DETERMINED)
    assert solved.sum() == 5
    assert solved[determined[[0, -1]]].all()  # they are spread over the list
    assert np.allclose(audit.decided.leverage[solved], full[solved])


def test_a_factor_named_verdict_stays_visible():
    design = rc.Design.from_cells([[0, 0], [0, 1], [1, 0]], names=["verdict", "shape"])
    table = rc.audit(design).verdicts
    assert table.columns == ["verdict (factor)", "shape", "verdict", "leverage"]
    assert table["verdict"].tolist() == ["determined"]


def test_looking_at_an_audit_computes_nothing():
    cells = [[left, right] for left in range(4) for right in range(4) if (left, right) != (3, 3)]
    audit = rc.audit(rc.Design.from_cells(cells, [float(left + right) for left, right in cells]))
    known = set(vars(audit))
    assert repr(audit) == "Audit(factor 1 × factor 2, order 1; 15 of 16 cells seen)"
    assert set(vars(audit)) == known
    parts = (audit.coverage, audit.forecast, audit.structure.additivity, audit.plan(1))
    kept = [set(vars(part)) for part in parts]
    assert all("\n" not in repr(part) and len(repr(part)) < 80 for part in parts), parts
    assert [set(vars(part)) for part in parts] == kept


@pytest.mark.slow
def test_the_report_is_never_written_over_without_leave(audited, tmp_path):
    path = tmp_path / "report.html"
    assert audited.to_html(path) == path
    with pytest.raises(rc.InputError, match="exists"):
        audited.to_html(path)
    audited.to_html(path, force=True)
    with pytest.raises(rc.InputError, match="is a folder"):
        audited.to_html(tmp_path, force=True)
    with pytest.raises(rc.InputError, match="is not a folder"):
        audited.to_html(path / "below" / "a-file.html")


def test_held_out_errors_are_those_of_a_direct_computation():
    cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 2]])
    design = rc.Design.from_cells(
        cells, [1.0, 2.0, 11.0, 15.0, 7.0], train=[True, True, True, False, False], sizes=[3, 3]
    )
    errors = rc.audit(design).values.held_out_errors
    assert errors["verdict"].tolist() == ["determined", "unseen level"]
    values = rc.audit(design).values.ranges_of(design.held_out).predicted
    assert errors["value error"].tolist() == pytest.approx(np.abs(values - [15.0, 7.0]))
    assert errors["mean error"].tolist() == pytest.approx([15 - 14 / 3, 7 - 14 / 3])
    assert rc.audit(rc.Design.from_cells(cells, np.arange(5.0))).values.held_out_errors is None


@pytest.mark.parametrize(("sizes", "order"), [((5, 4), 1), ((4, 3, 3), 1), ((4, 3, 3), 2)])
def test_certified_values_and_leverage_are_those_of_least_squares_on_all_rows(sizes, order):
    """One row of the design matrix per measurement, no weights: what any statistics package fits."""
    generator = np.random.default_rng(7)
    cells = every_cell(sizes)
    seen = cells[generator.random(len(cells)) < 0.8]
    rows = np.repeat(seen, generator.integers(1, 40, len(seen)), axis=0)
    values = generator.standard_normal(len(rows))
    design = rc.Design.from_cells(rows, values, sizes=sizes)
    audit = rc.audit(design, order)
    known = audit.decided.codes <= Verdict.DETERMINED
    matrix = design.features(order).incidence(rows).toarray()
    asked = design.features(order).incidence(audit.decided.listing.cells[known]).toarray()
    assert known.any()
    assert audit.verdicts["certified"][known] == pytest.approx(asked @ np.linalg.pinv(matrix, 1e-10) @ values)
    inverse = np.linalg.pinv(matrix.T @ matrix, 1e-10)
    assert audit.decided.leverage[known] == pytest.approx(np.einsum("ij,jk,ik->i", asked, inverse, asked))
    assert np.array_equal(design.precision, np.unique(rows, axis=0, return_counts=True)[1])
