"""The structure an audit assumes: planted ones are found, asked ones are obeyed, and ranges hold what they should."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binomtest, norm

import recombine as rc
from known_designs import on_scales
from recombine.cells.conjunctions import every_cell
from recombine.jobs.audit.noise import cell_noise
from recombine.jobs.limits import STRUCTURE_LIMITS
from recombine.jobs.structure import HeldOutRanges, choose_structure, counts_under, verdicts_under
from recombine.jobs.structure.choice import CELLS_DRAWN, NotCompared
from recombine.report.audit import audit_json, page
from recombine.report.score import score_json, score_page
from recombine.theory.identification import identify
from recombine.theory.structures import STRUCTURES
from recombine.theory.structures.structure import Structure, StructureData
from recombine.theory.structures.work import spend
from recombine.verdicts import Verdict
from recombine.words.structure import choice_statement, search_sentences

CELLS = every_cell((7, 6, 5))


def sums(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.asarray(sum(rng.normal(size=size)[CELLS[:, place]] for place, size in enumerate((7, 6, 5))))


def planted(name: str, seed: int, noise: float = 0.05) -> np.ndarray:
    total, rng = sums(seed), np.random.default_rng(seed + 100)
    truth = {"add": total, "log": np.exp(total / 2), "link": 1 / (1 + np.exp(-2 * total))}[name]
    if name == "log":
        return np.asarray(truth * np.exp(noise * rng.normal(size=len(truth))))
    return np.asarray(truth + noise * truth.std() * rng.normal(size=len(truth)))


def design(name: str, seed: int = 0, share: float = 0.7) -> tuple[rc.Design, np.ndarray]:
    kept = np.random.default_rng(seed).random(len(CELLS)) < share
    return rc.Design.from_cells(CELLS[kept], planted(name, seed)[kept], sizes=(7, 6, 5)), ~kept


@cache
def audited(name: str, seed: int = 0) -> rc.Audit:
    """Audit a planted table once for all tests that only look at it."""
    return rc.audit(design(name, seed)[0])


@pytest.mark.parametrize("name", ["add", "log", "link"])
@pytest.mark.parametrize("seed", [*range(1), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 3))])
def test_what_was_planted_is_found_and_predicts_unseen_cells(name: str, seed: int) -> None:
    _, unseen = design(name, seed)
    audit = audited(name, seed)
    assert audit.choice.name == name
    values = audit.values.ranges_of(CELLS[unseen])
    known = np.isfinite(values.predicted)
    truth = planted(name, seed)[unseen]
    assert known.mean() > 0.9
    assert np.corrcoef(values.predicted[known], truth[known])[0, 1] > 0.98
    inside = (values.low <= truth) & (truth <= values.high)
    assert 0.8 <= inside[known].mean() <= 1.0


@pytest.mark.slow
def test_a_curve_decides_value_certificate_and_words() -> None:
    table, unseen = design("link")
    audit = audited("link")
    plain = rc.audit(table, structure="add")
    truth = planted("link", 0)[unseen]

    def off(found: rc.Audit) -> float:
        return float(np.sqrt(np.nanmean((found.values.ranges_of(CELLS[unseen]).predicted - truth) ** 2)))

    assert off(audit) < 0.6 * off(plain)
    cell = CELLS[unseen][audit.decided.verdicts_of(CELLS[unseen]) == rc.Verdict.DETERMINED][0]
    certificate = audit.certificate(cell.tolist())
    hidden = audit.choice.fit.latent(certificate.cells)
    assert hidden is not None
    assert certificate.value(hidden) == pytest.approx(float(audit.choice.fit.latent(cell[None])[0]), abs=1e-6)
    text = audit.explain(cell.tolist())
    assert "certificate, on the scale on which effects add: s(" in text
    assert "unseen, if effects add on a curved scale" in " ".join(str(audit).split())
    assert 'id="structure"' in page(audit)


def test_the_document_lists_structures() -> None:
    record = json.loads(audit_json(audited("link")))
    assert {"name", "r2", "error", "cells", "chosen"} == set(record["structures"][0])
    assert [rung["name"] for rung in record["structures"] if rung["chosen"]] == ["link"]
    assert record["structure"]["name"] == "link"
    assert np.all(np.diff(record["structure"]["curve"]["outcome"]) >= 0)
    assert json.loads(audit_json(rc.audit(rc.Design.from_cells(CELLS))))["structures"] == []


@pytest.mark.slow
def test_what_is_asked_for_is_assumed() -> None:
    table, _ = design("link")
    assert rc.audit(table, structure="pairs").order == 2
    assert rc.audit(table, 2).choice.name in ("pairs", "link-pairs")
    assert rc.audit(table, structure="multiplicative").choice.asked
    with pytest.raises(rc.InputError, match="did you mean 'link'"):
        rc.audit(table, structure="lnik")
    with pytest.raises(rc.InputError, match="structure link is of order 1, not 2"):
        rc.audit(table, 2, structure="link")
    with pytest.raises(rc.InputError, match="structure log needs an outcome"):
        rc.audit(rc.Design.from_cells(CELLS), structure="log")
    negative = rc.Design.from_cells(CELLS, sums(0))
    with pytest.raises(rc.InputError, match=r"structure log does not fit this table: .*not negative"):
        rc.audit(negative, structure="log")


def test_few_cells_are_not_compared() -> None:
    few = rc.Design.from_cells(every_cell((4, 5)), np.exp(every_cell((4, 5)).sum(axis=1)))
    audit = rc.audit(few)
    assert audit.choice.name == "add"
    assert "it takes 30 seen cells" in choice_statement(audit.choice)


def test_a_structure_that_there_is_not_is_refused() -> None:
    with pytest.raises(rc.InputError, match=r"structure 'ad' is unknown; did you mean 'add'\? Structures: auto, add"):
        choose_structure(rc.Design.from_cells(CELLS, sums(0)), "ad")


def test_structures_are_compared_from_so_many_seen_cells_on() -> None:
    for count in (0, 1):
        cells = every_cell((6, 6))[: STRUCTURE_LIMITS.min_cells_compared - 1 + count]
        choice = choose_structure(rc.Design.from_cells(cells, np.exp(cells.sum(axis=1) / 4.0)))
        assert (choice.obstacle is NotCompared.FEW_CELLS) == (count == 0)


def test_an_audit_remembers_what_was_asked_for_where_nothing_is_compared() -> None:
    cells = every_cell((4, 5))
    few = rc.Design.from_cells(cells, 1.0 * cells.sum(axis=1))
    scaled = on_scales(few, ordered=["factor 1"])
    for table, obstacle in ((few, NotCompared.FEW_CELLS), (scaled, NotCompared.SCALES)):
        for structure, asked in (("auto", False), ("add", True), ("pairs", True)):
            choice = choose_structure(table, structure)
            assert (choice.asked, choice.obstacle) == (asked, obstacle)
    with pytest.raises(rc.InputError, match="structure log takes labels, not ordered or numeric factors"):
        choose_structure(scaled, "log")


@pytest.mark.parametrize(
    ("structure", "order", "message"),
    [
        ("auto", 1.5, r"order 1.5 is not a whole number"),
        ("auto", 0, "order 0 does not fit 2 factors; choose 1 to 2"),
        ("auto", 3, "order 3 does not fit 2 factors; choose 1 to 2"),
        ("pairs", 1, "structure pairs is of order 2, not 1; leave one of the two out"),
        ("triples", None, "structure triples takes 3 factors and there are 2"),
    ],
)
def test_orders_that_do_not_fit_are_refused(structure: str, order: int | None, message: str) -> None:
    table = rc.Design.from_cells(every_cell((4, 5)))
    with pytest.raises(rc.InputError, match=message):
        choose_structure(table, structure, order)
    assert choose_structure(table, "auto", np.int64(2)).structure.order == 2  # as many as there are
    assert choose_structure(table, "pairs", 2).name == "pairs"


def test_no_structure_of_an_order_leaves_nothing_to_compare() -> None:
    cells = every_cell((3, 3, 3, 3))
    choice = choose_structure(rc.Design.from_cells(cells, 1.0 * cells.sum(axis=1)), order=4)
    assert (choice.obstacle, choice.structure.order, choice.asked) == (NotCompared.ORDER, 4, False)


def test_only_structures_of_the_order_that_is_asked_for_are_compared() -> None:
    choice = choose_structure(design("add")[0], order=2)
    assert choice.ladder is not None
    assert {rung.structure.order for rung in choice.ladder.rungs} == {2}


def test_a_structure_that_does_not_fit_is_refused_if_asked_for() -> None:
    table = rc.Design.from_cells(CELLS, -1.0 - CELLS.sum(axis=1))  # no logarithms
    with pytest.raises(rc.InputError, match=r"structure log does not fit this table: .*; name another --structure"):
        choose_structure(table, "log")
    assert choose_structure(table).name == "add"


def test_very_many_cells_are_compared_on_some_drawn_by_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    table, _ = design("log")
    limits = replace(STRUCTURE_LIMITS, max_cells_compared=60)
    monkeypatch.setattr("recombine.jobs.structure.choice.STRUCTURE_LIMITS", limits)
    choices = [choose_structure(table, "log", seed=seed) for seed in (0, 0, 1)]
    for choice in choices:
        assert len(choice.places) == 60
        assert (np.diff(choice.places) > 0).all()
        # The chosen structure is fitted to all cells, and so determines all of them.
        np.testing.assert_allclose(choice.fit.predict(table.seen), table.outcome, rtol=0.3)
    assert choices[0].places.tolist() == choices[1].places.tolist() != choices[2].places.tolist()


def test_without_an_outcome_what_was_asked_for_is_assumed_unseen() -> None:
    bare = rc.Design.from_cells(CELLS)
    assert (choose_structure(bare).asked, choose_structure(bare, "add").asked) == (False, True)
    assert choose_structure(bare, "pairs").name == "pairs"
    assert not choose_structure(bare).order_asked


def test_scales_are_not_compared_and_said_so() -> None:
    scaled = on_scales(rc.Design.from_cells(CELLS, sums(0), names=["a", "b", "c"]), ordered=["a"])
    assert choose_structure(scaled).obstacle is NotCompared.SCALES
    assert choose_structure(scaled, "add").obstacle is NotCompared.SCALES


def test_what_two_values_are_called_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    cells = np.repeat(every_cell((6, 6)), 8, axis=0)
    hits = rng.random(len(cells)) < 1 / (1 + np.exp(2.5 - cells.sum(axis=1) / 2))
    choices = []
    for low, high in ((0.0, 1.0), (3.0, 13.0)):
        design = rc.Design.from_cells(cells, np.where(hits, high, low))
        noise = cell_noise(design)
        assert noise is not None
        choices.append(choose_structure(design, variance=noise.variances))
    assert choices[0].name == choices[1].name
    plain, recoded = (choice.ladder for choice in choices)
    assert plain is not None
    assert recoded is not None
    assert recoded.ceiling == pytest.approx(plain.ceiling)
    for expected, rung in zip(plain.rungs, recoded.rungs, strict=True):
        assert rung.structure is expected.structure
        assert (rung.r2, rung.error) == pytest.approx((expected.r2, expected.error), rel=1e-6)


def test_a_sum_is_assumed_where_there_is_nothing_to_explain() -> None:
    level = rc.Design.from_cells(CELLS, np.ones(len(CELLS)))
    for structure in ("auto", "add"):
        assert choose_structure(level, structure).obstacle.startswith("all outcomes are equal")
    with pytest.raises(rc.InputError, match="structure log does not fit this table: all outcomes are equal"):
        choose_structure(level, "log")


class OpenScale:
    """A fit whose scale leaves a share of the determined cells open."""

    leaves_open = True

    def __init__(self, share: float) -> None:
        self.share = share

    def judge(self, cells: np.ndarray, codes: np.ndarray) -> np.ndarray:
        opened = np.random.default_rng(0).random(len(cells)) < self.share
        return np.where(opened & (codes == Verdict.DETERMINED), Verdict.BEYOND, codes)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 1.0])
def test_estimated_counts_have_the_interval_of_a_binomial_share(share: float) -> None:
    rng = np.random.default_rng(0)
    seen = rng.integers(40, size=(2000, 3))
    large, choice = rc.Design.from_cells(seen, sizes=(40, 40, 40)), SimpleNamespace(fit=OpenScale(share))
    engine = identify(seen, sizes=(40, 40, 40))
    counts = counts_under(choice, engine, large, seen[:0], complete=False, seed=0)  # type: ignore[arg-type]
    determined = engine.count_verdicts(0)[Verdict.DETERMINED]
    opened = counts[Verdict.BEYOND] / determined
    drawn = large.possible.draw(CELLS_DRAWN, np.random.default_rng(0))
    trials = int((engine.verdicts_of(drawn) == Verdict.DETERMINED).sum())
    assert opened == pytest.approx(share, abs=0.02)
    interval = binomtest(round(opened * trials), trials).proportion_ci(method="wilson")
    assert counts.low[Verdict.BEYOND] / determined == pytest.approx(interval.low, abs=2e-3)
    assert counts.high[Verdict.BEYOND] / determined == pytest.approx(interval.high, abs=2e-3)
    assert sum(counts.by_verdict.values()) == counts.total


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_of_few_drawn_cells_the_interval_is_that_of_two_more_of_either_kind(
    share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recombine.jobs.structure.choice.CELLS_DRAWN", 9)
    seen = every_cell((30, 30, 30))[::7]
    design, engine = rc.Design.from_cells(seen, sizes=(30, 30, 30)), identify(seen, sizes=(30, 30, 30))
    scale = OpenScale(share)
    counts = counts_under(SimpleNamespace(fit=scale), engine, design, seen[:0], complete=False, seed=0)  # type: ignore[arg-type]
    drawn = design.possible.draw(9, np.random.default_rng(0))
    drawn = drawn[engine.verdicts_of(drawn) == Verdict.DETERMINED]
    opened = scale.judge(drawn, engine.verdicts_of(drawn)) == Verdict.BEYOND
    more, determined = np.array([*opened, 0, 0, 1, 1], dtype=float), engine.count_verdicts(0)[Verdict.DETERMINED]
    reach = norm.ppf(0.975) * more.std() / np.sqrt(len(more))
    ends = np.clip([more.mean() - reach, more.mean() + reach], 0, 1)
    left = [counts.high[Verdict.DETERMINED] / determined, counts.low[Verdict.DETERMINED] / determined]
    assert left == pytest.approx((1 - ends).tolist(), abs=1e-3)
    if opened.any():
        assert counts.high[Verdict.BEYOND] / determined == pytest.approx(ends[1], abs=1e-3)


def test_counts_stay_where_no_determined_cell_is_drawn() -> None:
    seen = np.array([[0, 0], [0, 1], [1, 0]])
    rare, engine = rc.Design.from_cells(seen, sizes=(10_000, 10_000)), identify(seen, sizes=(10_000, 10_000))
    choice = SimpleNamespace(fit=OpenScale(1.0))
    counts = counts_under(choice, engine, rare, seen[:0], complete=False, seed=0)  # type: ignore[arg-type]
    assert counts[Verdict.DETERMINED] == 1
    assert counts.by_verdict == engine.count_verdicts(0).by_verdict


def test_chances_add_on_log_odds_and_stay_between_the_two_values() -> None:
    rng = np.random.default_rng(1)
    rows = np.repeat(CELLS, 25, axis=0)
    chance = np.repeat(1 / (1 + np.exp(-2 * sums(1))), 25)
    audit = rc.audit(rc.Design.from_cells(rows, 1.0 + (rng.random(len(rows)) < chance)))
    assert audit.choice.name == "logit"
    values = audit.values.certified_of(CELLS)
    assert values.min() >= 1
    assert values.max() <= 2
    assert np.corrcoef(values, 1 / (1 + np.exp(-2 * sums(1))))[0, 1] > 0.98


def test_verdicts_are_those_of_the_order_but_for_the_range() -> None:
    table, unseen = design("link")
    audit = rc.audit(table, structure="link")
    plain = audit.decided.identification.verdicts_of(CELLS[unseen])
    bent = verdicts_under(audit.choice, audit.decided.identification, CELLS[unseen])
    moved = bent != plain
    assert set(bent[moved]) <= {rc.Verdict.BEYOND}
    hidden = audit.choice.fit.latent(CELLS[unseen])
    low, high = audit.choice.fit.seen_range
    assert np.array_equal(moved, ((hidden < low - 1e-6) | (hidden > high + 1e-6)) & (plain == rc.Verdict.DETERMINED))


@pytest.mark.slow
def test_products_too_large_to_list_have_estimated_counts() -> None:
    rng = np.random.default_rng(3)
    cells = rng.integers(0, 12, (3_000, 6))
    effects = rng.normal(size=(6, 12))
    total = effects[np.arange(6), cells].sum(axis=1)
    audit = rc.audit(rc.Design.from_cells(cells, np.tanh(total / 3), sizes=(12,) * 6), structure="link")
    counts, verdict = audit.decided.counts, rc.Verdict.BEYOND
    assert not counts.exact
    assert counts.total == sum(counts.by_verdict.values()) == 12**6
    some = rng.integers(0, 12, (20_000, 6))
    share = float(np.mean(audit.decided.verdicts_of(some) == verdict))
    assert counts.low[verdict] - 2e4 <= share * counts.total <= counts.high[verdict] + 2e4


def test_quantiles_follow_the_value() -> None:
    rng = np.random.default_rng(0)
    values = rng.uniform(size=20_000)
    ranges = HeldOutRanges(values * rng.normal(size=20_000), values)
    at = np.array([0.2, 0.5, 0.8])
    assert ranges.half(at) == pytest.approx(1.645 * at, rel=0.1)
    assert np.isnan(HeldOutRanges(np.ones(5), np.ones(5)).half(at)).all()


@pytest.mark.slow
def test_the_same_seed_gives_the_same_choice() -> None:
    table, _ = design("log", 5)
    one, two = choose_structure(table), choose_structure(table)
    assert [rung.r2 for rung in one.ladder.rungs] == [rung.r2 for rung in two.ladder.rungs]


def test_separated_chances_are_said_to_be_at_their_limit() -> None:
    rng = np.random.default_rng(4)
    rows = np.repeat(every_cell((6, 6)), 20, axis=0)
    rows = rows[~((rows[:, 0] == 0) & (rows[:, 1] == 0))]
    won = rng.random(len(rows)) < 0.2 + 0.1 * rows[:, 1]
    won[rows[:, 0] == 0] = True  # this level only ever won
    audit = rc.audit(rc.Design.from_cells(rows, won.astype(float), sizes=(6, 6)), structure="logit")
    text = audit.explain([0, 0])
    assert "determined at one: the seen outcomes are separated" in text
    assert audit.values.certified_of(np.array([[0, 0]])).tolist() == [1.0]
    assert "separated" not in audit.explain([3, 3])


def test_a_structure_that_explains_nothing_says_so() -> None:
    rng = np.random.default_rng(5)
    audit = rc.audit(rc.Design.from_cells(CELLS, rng.normal(size=len(CELLS))), structure="link")
    assert "explains nothing" in choice_statement(audit.choice) or audit.choice.ladder.chosen.r2 > 0


def test_scales_that_leave_nothing_open_keep_exact_counts() -> None:
    """Logarithms and products of a product too large to list: nothing is beyond, and nothing is estimated."""
    rng = np.random.default_rng(6)
    cells = rng.integers(0, 12, (2_000, 6))
    total = rng.normal(size=(6, 12))[np.arange(6), cells].sum(axis=1)
    design = rc.Design.from_cells(cells, np.exp(total / 3), sizes=(12,) * 6)
    for name in ("log", "multiplicative"):
        audit = rc.audit(design, structure=name)
        assert audit.decided.counts == audit.decided.identification.count_verdicts(audit.seed)
        assert audit.decided.counts.exact


def test_open_chances_are_counted_as_disconnected() -> None:
    rows = np.repeat(every_cell((6, 6)), 20, axis=0)
    rows = rows[~((rows[:, 0] == 0) & (rows[:, 1] == 0))]
    won = np.random.default_rng(7).random(len(rows)) < 0.5
    won[rows[:, 0] == 0], won[rows[:, 1] == 0] = True, False  # one level only ever won, another only ever lost
    audit = rc.audit(rc.Design.from_cells(rows, won.astype(float), sizes=(6, 6)), structure="logit")
    assert audit.decided.identification.verdicts_of(np.array([[0, 0]])).tolist() == [rc.Verdict.DETERMINED]
    assert audit.decided.counts[rc.Verdict.DISCONNECTED] == 1
    assert audit.decided.counts[rc.Verdict.DETERMINED] == 0
    assert np.isnan(audit.verdicts["certified"]).all()
    assert ((audit.verdicts["predicted"] > 0) & (audit.verdicts["predicted"] < 1)).all()
    assert "separated" in audit.explain([0, 0])


def test_finding_out_what_can_be_afforded_counts_as_work(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = type(STRUCTURES["pairs"])
    affordable = kind.affordable

    def slow(structure: Structure, data: StructureData) -> bool:
        spend(1e9 * STRUCTURE_LIMITS.max_seconds_compared)
        return affordable(structure, data)

    monkeypatch.setattr(kind, "affordable", slow)
    choice = choose_structure(design("link")[0])
    assert [rung.name for rung in choice.ladder.rungs] == ["add"]
    assert "link" in choice.ladder.too_long


@pytest.mark.slow
def test_what_takes_too_long_is_left_out_said_everywhere_and_done_when_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table, _ = design("link")
    searched = audited("link")
    assert "pairs" in [rung.name for rung in searched.choice.ladder.rungs]
    assert search_sentences(searched.choice) == []
    limits = replace(STRUCTURE_LIMITS, max_seconds_compared=0.0)
    monkeypatch.setattr("recombine.jobs.structure.choice.STRUCTURE_LIMITS", limits)
    audit = rc.audit(table)
    assert audit.choice.ladder.too_long
    assert [rung.name for rung in audit.choice.ladder.rungs] == ["add"]
    [left_out] = search_sentences(audit.choice)
    assert "pairs" in left_out
    assert "--structure pairs" in left_out
    audit.to_html(tmp_path / "report.html")
    html = " ".join((tmp_path / "report.html").read_text().split())
    train = np.arange(len(table.cells)) % 5 > 0
    held_out = rc.Design.from_cells(table.cells, table.outcome, train=train, sizes=(7, 6, 5))
    score = rc.score(held_out, {"net": held_out.held_out.sum(axis=1)})
    for text in (audit.summary, audit_json(audit), html, score.summary, score_json(score), score_page(score)):
        assert "left out to save time" in " ".join(text.split())
    asked = rc.audit(table, structure="pairs")
    assert asked.choice.name == "pairs"
    assert search_sentences(asked.choice) == []
