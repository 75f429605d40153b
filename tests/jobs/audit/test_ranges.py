"""Ranges: closed forms against refits, coverage on planted truth, and the same numbers wherever they are shown."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import known_audits
import recombine as rc
from recombine.cells.conjunctions import every_cell
from recombine.jobs.audit.additivity import fit_order
from recombine.jobs.audit.ranges import STUDENT_DEGREES, fit_spread, measure_ranges, ranges_under, score_quantiles
from recombine.jobs.limits import STRUCTURE_LIMITS
from recombine.jobs.structure.held_out_ranges import HeldOutRanges, NoRange, RangeOf
from recombine.jobs.values.sources import ValueSource
from recombine.report.audit.record import audit_json
from recombine.theory.identification.additive_fit import fit_additive
from recombine.theory.identification.leverage import Leverage
from recombine.verdicts import Verdict
from recombine.words.values import SUMS_ONLY, ranges_sentence
from recombine.writing import number


def ranges_of_design(design, noise=None, order=1):
    features, precision = design.features(order), design.precision[design.train]
    fit = fit_additive(features, design.seen, design.outcome[design.train], precision)
    return measure_ranges(design, fit, Leverage(features, design.seen, precision), noise)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("most", [1, 4])
def test_misses_are_those_of_refits_without_the_cell(order, most):
    generator = np.random.default_rng(order + most)
    cells = every_cell((4, 5, 3))
    cells = cells[generator.random(60) < 0.8]
    rows = np.repeat(cells, generator.integers(1, most + 1, len(cells)), axis=0)
    design = rc.Design.from_cells(rows, generator.normal(size=len(rows)), sizes=(4, 5, 3))
    found = ranges_of_design(design, order=order)
    matrix, weights = design.features(order).incidence(design.seen).toarray(), design.precision
    expected, without = [], []
    for cell in range(len(matrix)):
        rest = np.delete(matrix, cell, axis=0)
        if np.linalg.matrix_rank(rest) < np.linalg.matrix_rank(matrix):
            continue
        root = np.sqrt(np.delete(weights, cell))
        inverse = np.linalg.pinv(rest * root[:, None], rcond=1e-10)
        expected.append(design.outcome[cell] - matrix[cell] @ inverse @ (root * np.delete(design.outcome, cell)))
        without.append(np.sum((matrix[cell] @ inverse) ** 2))
    assert len(expected) > 5
    assert np.allclose(found.misses, expected)
    assert np.allclose(found.without, without)
    assert found.freedom == len(matrix) - np.linalg.matrix_rank(matrix)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e6])
def test_a_few_misses_among_many_hits_still_make_a_spread(unit):
    misses = unit * np.array([0.0] * 8 + [1.0, -2.0, 1.5])
    own, without, carried = np.ones(11), np.full(11, 0.2), np.full(11, 0.1)
    spread = fit_spread(misses, own, without, carried, None)
    assert 1e-3 < spread.departure / unit**2 < 10
    alone = fit_spread(misses / unit, own, without, carried, None)
    assert spread.departure == pytest.approx(alone.departure * unit**2)


@pytest.mark.parametrize("cells", [0, 5])
@pytest.mark.parametrize("noise", [None, 0.0, 0.3])
def test_where_nothing_is_missed_only_the_noise_of_replicates_spreads(cells, noise):
    spread = fit_spread(np.zeros(cells), np.ones(cells), np.ones(cells), np.ones(cells), noise)
    expected = (noise or 0.0) * 3.0  # the cell's own mean and the values it is predicted from
    assert spread.of(np.array([1.0]), np.array([2.0]), np.array([2.0])) == pytest.approx([np.sqrt(expected)], abs=1e-12)


def test_names_of_levels_do_not_matter_whatever_cells_weigh():
    generator = np.random.default_rng(0)
    everywhere = every_cell((6, 7))
    shown = generator.random(42) < 0.8
    rows = np.repeat(everywhere[shown], generator.integers(1, 9, size=shown.sum()), axis=0)
    outcome = generator.normal(size=len(rows))
    renamed = [generator.permutation(size) for size in (6, 7)]

    def again(cells):
        return np.stack([names[cells[:, factor]] for factor, names in enumerate(renamed)], axis=1)

    expected = ranges_of_design(rc.Design.from_cells(rows, outcome, sizes=(6, 7))).of(everywhere)
    ranges = ranges_of_design(rc.Design.from_cells(again(rows), outcome, sizes=(6, 7))).of(again(everywhere))
    for name in ("predicted", "standard_error", "low", "high"):
        np.testing.assert_allclose(getattr(ranges, name), getattr(expected, name), rtol=1e-6, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("unit", [0.01, 1000.0])
def test_units_of_weights_do_not_matter(unit):
    generator = np.random.default_rng(0)
    cells = every_cell((6, 7))[generator.random(42) < 0.8]
    frame = pd.DataFrame(cells, columns=["a", "b"]).assign(y=generator.normal(size=len(cells)))
    frame["n"] = generator.uniform(1, 20, size=len(cells))
    expected, scaled = (
        ranges_of_design(
            rc.Design.from_frame(
                frame.assign(n=factor * frame.n), factors=["a", "b"], outcome="y", weight="n", counts=False
            )
        ).of(every_cell((6, 7)))
        for factor in (1.0, unit)
    )
    for name in ("standard_error", "low", "high"):
        np.testing.assert_allclose(getattr(scaled, name), getattr(expected, name), rtol=1e-6)


def test_the_standard_error_is_the_textbook_s_where_all_cells_count_alike():
    generator = np.random.default_rng(0)
    cells = every_cell((6, 7))[generator.random(42) < 0.8]
    y = generator.normal(size=len(cells))
    asked = every_cell((6, 7))
    found = ranges_of_design(rc.Design.from_cells(cells, y, sizes=(6, 7))).of(asked)
    dummies = np.concatenate([np.ones((len(cells), 1)), np.eye(6)[cells[:, 0], 1:], np.eye(7)[cells[:, 1], 1:]], axis=1)
    wanted = np.concatenate([np.ones((42, 1)), np.eye(6)[asked[:, 0], 1:], np.eye(7)[asked[:, 1], 1:]], axis=1)
    beta, squares, *_ = np.linalg.lstsq(dummies, y)
    variance = squares[0] / (len(y) - 12) * np.linalg.inv(dummies.T @ dummies)
    assert np.allclose(found.predicted, wanted @ beta)
    assert np.allclose(found.standard_error, np.sqrt(np.einsum("ij,jk,ik->i", wanted, variance, wanted)))


def test_where_cells_count_differently_departures_carry_over_by_the_weights_of_levels():
    """By loops: a level's mean has noise 1 / sum p and departure sum p^2 / (sum p)^2; their ratio scales leverage."""
    generator = np.random.default_rng(4)
    cells = every_cell((6, 7))[generator.random(42) < 0.8]
    counts = generator.integers(1, 9, len(cells))
    rows = np.repeat(cells, counts, axis=0)
    design = rc.Design.from_cells(rows, rows @ [1.0, 2.0] + generator.normal(size=len(rows)), sizes=(6, 7))
    ranges = ranges_of_design(design, noise=1.0)
    asked, precision = every_cell((6, 7)), design.precision

    def share(cell, without):
        noise = departure = 0.0
        for factor, level in enumerate(cell):
            beside = [p for seen, p in zip(design.seen, precision, strict=True) if seen[factor] == level]
            if without:
                beside.remove(without)
            noise += 1 / sum(beside)
            departure += sum(p**2 for p in beside) / sum(beside) ** 2
        return departure / noise

    leverage = ranges.leverages.of(asked)
    carried = leverage * [share(cell, 0.0) for cell in asked]
    spread = ranges.spread
    expected = np.sqrt(spread.departure * carried + spread.noise * leverage)
    np.testing.assert_allclose(ranges.of(asked).standard_error, expected)
    # The same without the cell itself is what its miss is measured by.
    without = ranges.without * [share(cell, p) for cell, p in zip(design.seen, precision, strict=True)]
    sizes = np.sqrt(spread.departure * (1 + without) + spread.noise * (1 / precision + ranges.without))
    np.testing.assert_allclose(ranges.scores, np.abs(ranges.misses) / sizes)


@pytest.mark.parametrize("noise", [None, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_no_spread_makes_misses_likelier(noise, seed):
    """Under Student's t of that variance, by scipy, on a grid that lies elsewhere."""
    generator = np.random.default_rng(seed)
    own, without, carried = 1 / generator.integers(1, 9, 200), *generator.uniform(0.1, 2.0, size=(2, 200))
    truth = 2.0 * (1 + carried) + 0.5 * (own + without)
    misses = np.sqrt(truth) * generator.normal(size=200)

    def likelihood(departure, measured):
        variance = departure * (1 + carried) + measured * (own + without)
        scale = np.sqrt(variance * (STUDENT_DEGREES - 2) / STUDENT_DEGREES)
        return stats.t.logpdf(misses, STUDENT_DEGREES, scale=scale).sum()

    spread = fit_spread(misses, own, without, carried, noise)
    assert spread.noise == noise or noise is None
    reached = likelihood(spread.departure, spread.noise)
    for departure in np.geomspace(0.02, 200, 17):
        for measured in np.geomspace(0.005, 50, 17) if noise is None else [noise]:
            # The search goes in steps of a quarter: it may miss the very best by little.
            assert likelihood(departure, measured) <= reached + 0.5


def test_a_few_of_very_many_misses_say_how_far_all_spread(monkeypatch):
    generator = np.random.default_rng(0)
    own, without, carried = np.full(999, 0.5), *generator.uniform(0.1, 2.0, size=(2, 999))
    misses = generator.normal(size=999) * np.sqrt(1 + carried)
    monkeypatch.setattr("recombine.jobs.audit.ranges.MAX_MISSES_FITTED", 250)
    thinned = fit_spread(misses, own, without, carried, None)
    monkeypatch.undo()
    fourth = fit_spread(*(values[::4] for values in (misses, own, without, carried)), None)
    assert (thinned.departure, thinned.noise) == (fourth.departure, fourth.noise)


@pytest.mark.parametrize(("count", "independent"), [(50, 50), (50, 25), (9, 9), (7, 3)])
def test_the_quantile_of_all_scores_is_that_of_conformal_prediction(count, independent):
    """The 90 % quantile of n + 1, where n scores are independent; the largest where there are too few."""
    scores = np.random.default_rng(count).exponential(size=count)
    _, quantiles = score_quantiles(np.arange(1.0 * count), scores, independent, share=1.0)
    level = 0.9 * (independent + 1) / independent
    position = min(level * count, count) - 1  # of the sorted scores, from 0
    assert quantiles == pytest.approx([np.interp(position, np.arange(count), np.sort(scores))])


def test_scores_count_where_their_leverage_is_among_the_nearest_fifth():
    along = np.arange(1000) / 1000
    places, quantiles = score_quantiles(along, along, 1000)
    for place, quantile in ((0.0, 0.2 * 0.9), (0.5, 0.4 + 0.2 * 0.9), (1.0, 0.8 + 0.2 * 0.9)):
        assert np.interp(place, places, quantiles) == pytest.approx(quantile, abs=0.003)


def test_ranges_move_and_stretch_with_the_outcome_and_do_not_mind_the_order_of_cells():
    generator = np.random.default_rng(1)
    cells = every_cell((9, 8))[generator.random(72) < 0.8]
    y = generator.normal(size=len(cells))
    asked = every_cell((9, 8))[:20]
    plain = ranges_of_design(rc.Design.from_cells(cells, y, sizes=(9, 8))).of(asked)
    moved = ranges_of_design(rc.Design.from_cells(cells, 5 - 3 * y, sizes=(9, 8))).of(asked)
    assert np.allclose(moved.low, 5 - 3 * plain.high)
    assert np.allclose(moved.high, 5 - 3 * plain.low)
    mixed = generator.permutation(len(cells))
    again = ranges_of_design(rc.Design.from_cells(cells[mixed], y[mixed], sizes=(9, 8))).of(asked)
    assert np.allclose(again.low, plain.low)


def exchangeable(cells, generator):
    return generator.standard_t(4, len(cells))


def by_rows(cells, generator):
    return generator.normal(size=len(cells)) * (0.3 + cells[:, 0] / 4)


def interacting(cells, generator):
    left, right = generator.normal(size=(2, 40, 3))
    return np.sum(left[cells[:, 0]] * right[cells[:, 1]], axis=1)


@pytest.mark.parametrize("departure", [exchangeable, by_rows, interacting])
@pytest.mark.parametrize("share", [0.25, pytest.param(0.6, marks=pytest.mark.slow)])
def test_nine_in_ten_unseen_cells_lie_in_their_range(departure, share):
    cells, inside, widths = every_cell((24, 30)), [], []
    for seed in range(30):
        generator = np.random.default_rng(seed)
        y = generator.normal(size=24)[cells[:, 0]] + generator.normal(size=30)[cells[:, 1]]
        y = 10 + y + departure(cells, generator)
        train = generator.random(len(cells)) < share
        asked = cells[~train][rc.identify(cells[train], cells[~train], sizes=(24, 30)).verdicts == Verdict.DETERMINED]
        truth = y.reshape(24, 30)[tuple(asked.T)]
        found = ranges_of_design(rc.Design.from_cells(cells[train], y[train], sizes=(24, 30))).of(asked)
        inside.append(np.mean((found.low <= truth) & (truth <= found.high)))
        widths.append(np.mean(found.high - found.low))
    # Over 30 designs the mean share has a standard error of about 0.005.
    assert np.mean(inside) == pytest.approx(0.9, abs=0.02)
    assert np.isfinite(widths).all()


@pytest.mark.parametrize(
    "departure", [pytest.param(0.0, marks=pytest.mark.slow), 0.4, pytest.param(2.0, marks=pytest.mark.slow)]
)
def test_with_replicates_ranges_of_sums_hold_the_true_mean_and_no_more_than_they_need(departure):
    """Cells of 1 to 6 measurements of noise 1: the range is for the mean, which no measurement shows."""
    sizes, inside, measured = (20, 25), [], []
    for seed in range(8):
        generator = np.random.default_rng([seed, int(10 * departure)])
        cells = every_cell(sizes)
        mean = generator.normal(size=20)[cells[:, 0]] + generator.normal(size=25)[cells[:, 1]]
        mean = mean + departure * generator.normal(size=len(cells))
        train = generator.random(len(cells)) < 0.5
        rows = np.repeat(np.flatnonzero(train), generator.integers(1, 7, train.sum()))
        y = mean[rows] + generator.normal(size=len(rows))
        decided = rc.audit(rc.Design.from_cells(cells[rows], y, sizes=sizes), structure="add").decided
        fit = fit_order(decided.design, 1, decided.leverages)
        ranges = ranges_under(decided.choice, decided.design, fit, decided.leverages)
        assert ranges is not None
        assert ranges.what is RangeOf.CELL_MEAN
        asked = decided.listing.cells[decided.codes == Verdict.DETERMINED]
        places = np.ravel_multi_index(tuple(asked.T), sizes)
        means = ranges.of(asked)
        inside.append(np.mean((means.low <= mean[places]) & (mean[places] <= means.high)))
        # A mean of three measurements scatters more; asked for, its range is wider and holds it as often.
        single = ranges.of(asked, np.full(len(asked), 3.0))
        shown = mean[places] + generator.normal(size=len(places)) / np.sqrt(3)
        measured.append(np.mean((single.low <= shown) & (shown <= single.high)))
        assert np.all(single.high - single.low > means.high - means.low)
    assert np.mean(measured) == pytest.approx(0.9, abs=0.02)
    # Where effects add exactly that cannot be known for sure, so ranges are somewhat wide; never narrow.
    assert 0.87 <= np.mean(inside) <= (0.93 if departure else 0.985)


def test_with_few_cells_sums_make_up_no_range(monkeypatch):
    monkeypatch.setattr("recombine.jobs.values.cell_values.MAX_SECONDS_FITTED", 0.0)  # no components
    cells = every_cell((4, 5))[:-1]
    y = np.random.default_rng(0).normal(size=19)
    audit = rc.audit(rc.Design.from_cells(cells, y, sizes=(4, 5)))
    assert audit.values.source is ValueSource.SUMS
    assert audit.values.ranges is not None
    assert audit.values.ranges.independent == 11 < STRUCTURE_LIMITS.min_misses
    assert np.isnan(audit.verdicts["low"]).all()
    assert np.isfinite(audit.verdicts["standard error"]).all()
    freedom = "the seen cells leave 11 degrees of freedom about the additive fit, and it takes 20"
    assert f"no 90 % range: {freedom}" in audit.explain([3, 4])
    assert "No 90 % range" in audit.summary
    assert SUMS_ONLY in " ".join(audit.summary.split())


@pytest.mark.parametrize("beyond", [-1, 0, 1])
def test_ranges_begin_at_as_many_misses_as_it_takes(beyond):
    freedom = STRUCTURE_LIMITS.min_misses + beyond
    values = np.random.default_rng(0).normal(size=2 * freedom + 2)
    ranges = ranges_of_design(rc.Design.from_cells(every_cell((2, freedom + 1)), values))
    assert ranges.independent == freedom
    assert ranges.obstacle is (NoRange.FEW_DEGREES if beyond < 0 else None)
    assert np.isfinite(ranges.of(np.array([[0, 0]])).low[0]) == (beyond >= 0)
    held_out = HeldOutRanges(values[:freedom], values[:freedom])
    assert held_out.obstacle is (NoRange.FEW_CELLS if beyond < 0 else None)
    assert np.isfinite(held_out.half(np.zeros(1))[0]) == (beyond >= 0)


def test_misses_that_share_cells_count_as_often_as_the_fit_has_freedom():
    # Two rows of 40 cells: every cell is determined by the others, but only 39 residuals are free.
    cells = every_cell((2, 40))
    found = ranges_of_design(rc.Design.from_cells(cells, np.random.default_rng(0).normal(size=80)))
    assert len(found.misses) == 80
    assert found.independent == found.freedom == 39


@pytest.mark.slow
def test_a_two_valued_outcome_has_ranges_of_chances_only_where_rows_repeat():
    generator = np.random.default_rng(3)
    cells = every_cell((8, 9))[generator.random(72) < 0.8]
    once = rc.audit(rc.Design.from_cells(cells, generator.integers(0, 2, len(cells)), sizes=(8, 9)))
    assert "two values" in ranges_sentence(once)
    assert np.isnan(once.verdicts["low"]).all()
    rows = np.repeat(cells, 6, axis=0)
    often = rc.audit(rc.Design.from_cells(rows, (generator.random(len(rows)) < 0.9).astype(float), sizes=(8, 9)))
    assert np.nanmin(often.verdicts["low"]) >= 0
    assert np.nanmax(often.verdicts["high"]) <= 1


@pytest.fixture(scope="module")
def flights():
    return known_audits.flights()


@pytest.mark.slow
def test_table_file_json_explanation_and_report_say_the_same_numbers(flights, tmp_path):
    table = flights.verdicts
    names = ["predicted", "standard error", "low", "high", "certified"]
    assert [name for name in table.columns if name in names] == names
    flights.verdicts.to_csv(tmp_path / "verdicts.csv")
    lines = (tmp_path / "verdicts.csv").read_text().splitlines()
    record = json.loads(audit_json(flights))
    row = int(np.nanargmax(np.where(flights.decided.codes == Verdict.DETERMINED, flights.decided.leverage, np.nan)))
    for place in (0, 17, row):
        values = [float(table[name][place]) for name in names]
        in_file = dict(zip(lines[0].split(","), lines[place + 1].split(","), strict=True))
        assert [float(in_file[name]) for name in names] == values
        assert in_file["rests on"] == "data"
        if place < len(record["verdicts"]):
            assert [record["verdicts"][place][name] for name in names] == values
        text = flights.explain(place)
        found = re.search(
            r"predicted (\S+), standard error (\S+)\n  90 % range (\S+) to (\S+), for one .*\n  certified (\S+), if",
            text,
        )
        # As many digits as the standard error leaves a meaning, so half of its third digit is rounded off at most.
        assert [float(value) for value in found.groups()] == pytest.approx(values, abs=0.0051 * values[1])
        assert np.array(flights.values.ranges_of(flights.decided.listing.cells[[place]]).low) == pytest.approx(
            values[2]
        )
    assert record["ranges"]["statement"] == ranges_sentence(flights)
    assert record["ranges"]["of"] == "one more cell measured like the seen ones"
    assert ranges_sentence(flights) in " ".join(flights.summary.split())
    text = known_audits.flights_page()
    assert "90 % range from" in text
    assert number(table["predicted"][row]) in text


def test_the_certificate_shows_the_values_it_adds_up_and_its_own_variance(flights):
    text = flights.explain(["9E", "EWR", "AUS"])
    found = flights.certificate(["9E", "EWR", "AUS"])
    design = flights.design
    places = [int(np.flatnonzero((design.seen == cell).all(axis=1))[0]) for cell in found.cells]
    weights = np.array([float(weight) for weight in found.weights])
    variance = np.sum(weights**2 / design.precision[design.train][places])
    total = weights @ design.outcome[design.train][places]
    assert f"= {total:.6g}, with variance {variance:.3g}" in text
    leverage = flights.decided.leverage_of(design.space.cell(["9E", "EWR", "AUS"])[None])[0]
    assert leverage < variance
    assert f"leverage {leverage:.3g}" in text
    assert all(f"{value:.6g}" in text for value in design.outcome[design.train][places])


@pytest.mark.parametrize(("seen", "known"), [(1, False), (2, False), (3, True)])
def test_an_exact_fit_of_few_degrees_of_freedom_says_nothing_of_noise(seen, known):
    cells = np.array([[0, 0], [0, 1], [0, 2], [0, 3], [1, 0], [2, 0], [1, 1], [2, 1], [1, 2]])[: 6 + seen]
    audit = rc.audit(rc.Design.from_cells(cells, cells @ [0.37, 0.11] + 0.2), structure="add")
    values = audit.values.ranges_of(np.array([[2, 3]]))
    assert np.isfinite(values.predicted).all()
    assert np.isfinite([values.standard_error[0], values.low[0], values.high[0]]).all() == known
    said = "how large noise is is not known, since effects fit exactly with"
    assert (said in audit.explain(np.array([2, 3]))) != known
    noisy = rc.Design.from_cells(
        np.vstack([cells, cells]), np.tile(cells @ [0.37, 0.11], 2) + np.repeat([0, 0.1], len(cells))
    )
    assert np.isfinite(rc.audit(noisy, structure="add").values.ranges_of(np.array([[2, 3]])).standard_error[0])


@pytest.mark.parametrize(("structure", "most"), [("logit", 1.0), ("log", np.inf)])
def test_no_range_leaves_what_outcomes_can_be(structure, most):
    rng = np.random.default_rng(0)
    cells = np.array(every_cell((6, 6)))
    shares = rng.binomial(10, rng.choice([0.02, 0.9], size=36)) / 10
    frame = pd.DataFrame({"a": cells[:, 0], "b": cells[:, 1], "y": shares, "n": 10}).sample(frac=0.7, random_state=0)
    result = rc.audit(
        frame, factors=["a", "b"], outcome="y", weight="n", structure=structure, counts=False, forecast="theory"
    )
    low, high, predicted = (result.verdicts[name] for name in ("low", "high", "predicted"))
    assert np.nanmin(low) >= 0
    assert np.nanmax(high) <= most
    assert np.nanmin(predicted) >= 0


def test_only_a_cell_that_a_sum_reaches_is_open_for_separated_outcomes():
    rng = np.random.default_rng(1)
    cells = np.array(every_cell((6, 6)))
    apart = (cells[:, 0] < 3) == (cells[:, 1] < 3)
    rows = np.repeat(cells[apart], 40, axis=0)
    frame = pd.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "y": rng.integers(0, 2, len(rows))})
    result = rc.audit(frame, factors=["a", "b"], outcome="y", structure="logit", forecast="theory")
    text = result.explain(a=0, b=5)
    assert "no sum of seen combinations reaches this one" in text
    assert "separated" not in text
