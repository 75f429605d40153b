"""Audits with ordered and numeric factors: against statsmodels, against labels, and against more data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from known_designs import on_scales
from recombine.jobs.advice.variance import VariancePlan
from recombine.jobs.audit.additivity import AdditivityState
from recombine.report.audit.page import page
from recombine.report.audit.record import audit_json
from recombine.report.audit.sections import audit_sections
from recombine.report.screen import capture
from recombine.verdicts import Verdict
from recombine.words.plan import plan_sentence


def trial(seed: int = 0, share: float = 0.5, doses: Sequence[float] = (0, 5, 10, 40), years: int = 12) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    rows = [(plant, dose, year) for plant in "abcd" for dose in doses for year in range(2000, 2000 + years)]
    table = pd.DataFrame(rows, columns=["plant", "dose", "year"])
    table = table[generator.random(len(table)) < share].reset_index(drop=True)
    effect = table.plant.map({"a": 0.0, "b": 2.0, "c": 5.0, "d": -1.0})
    noise = generator.normal(size=len(table)) / 10
    return table.assign(y=effect + table.dose / 10 + (table.year - 2000) ** 2 / 50 + noise)


ASKED = pd.DataFrame({"plant": ["a", "b", "c", "d"], "dose": [25, 7, 2.5, 40], "year": [2003.5, 2010, 2000.25, 2011]})


def test_numeric_values_are_those_of_patsys_natural_splines() -> None:
    patsy = pytest.importorskip("patsy")
    linear = pytest.importorskip("statsmodels.api")
    table = trial()
    design = rc.Design.from_frame(table, factors=["plant"], outcome="y", ordered=["dose"], numeric=["year"])
    found = rc.audit(design, targets=ASKED)
    assert found.verdicts["verdict"].tolist() == ["determined"] * 4
    scale = found.design.scales[2]
    assert scale is not None
    knots = [float(scale.places[knot]) for knot in scale.knots]
    inner = f"[{', '.join(map(str, knots[1:-1]))}]"
    hats = " + ".join(["dose", *(f"np.maximum(dose - {knot}, 0)" for knot in (5, 10))])
    ends = f"lower_bound={knots[0]}, upper_bound={knots[-1]}"
    formula = f"C(plant) + {hats} + cr(year, knots={inner}, {ends}, constraints='center')"
    rows = patsy.dmatrix(formula, table)
    fitted = linear.OLS(table.y.to_numpy(), np.asarray(rows)).fit()
    asked = np.asarray(patsy.build_design_matrices([rows.design_info], ASKED)[0])
    np.testing.assert_allclose(found.verdicts["predicted"], fitted.predict(asked), atol=1e-8)
    covariance = fitted.cov_params() / fitted.scale
    np.testing.assert_allclose(found.decided.leverage, np.einsum("ij,jk,ik->i", asked, covariance, asked), atol=1e-8)
    errors = np.asarray(fitted.get_prediction(asked).se_mean)
    np.testing.assert_allclose(found.verdicts["standard error"], errors, rtol=1e-6)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("order", [1, 2])
def test_an_ordered_factor_with_all_levels_seen_is_that_of_labels(seed: int, order: int) -> None:
    table = trial(seed, share=0.4, years=4)
    plain = rc.audit(rc.Design.from_frame(table, factors=["plant", "dose", "year"], outcome="y"), order)
    with_order = rc.audit(rc.Design.from_frame(table, factors=["plant", "year"], outcome="y", ordered=["dose"]), order)
    words = {tuple(row[name] for name in ("plant", "dose", "year")): row for row in plain.verdicts.rows()}
    assert len(words) == len(with_order.verdicts)
    for row in with_order.verdicts.rows():
        other = words[tuple(row[name] for name in ("plant", "dose", "year"))]
        assert row["verdict"] == other["verdict"]
        np.testing.assert_allclose(row["certified"], other["certified"], atol=1e-9)
        np.testing.assert_allclose(row["leverage"], other["leverage"], atol=1e-9)
    assert plain.decided.counts.by_verdict == with_order.decided.counts.by_verdict


@pytest.mark.parametrize("order", [1, 2])
def test_a_new_dose_changes_nothing_about_seen_ones(order: int) -> None:
    """Asking about 25 makes the model one with weights; cells of seen doses keep verdicts, values and leverages."""
    table = trial(3, share=0.5, years=3)
    design = rc.Design.from_frame(table, factors=["plant", "year"], outcome="y", ordered=["dose"])
    plain = rc.audit(design, order)
    cells = plain.verdicts
    asked = pd.DataFrame({name: cells[name].astype(str) for name in ("plant", "year", "dose")})
    more = pd.concat([asked, pd.DataFrame({"plant": ["a"], "year": ["2001"], "dose": ["25"]})])
    weighted = rc.audit(design, order, targets=more)
    assert type(weighted.decided.identification.features).__name__ == "ScaledConjunctions"
    assert weighted.decided.codes[:-1].tolist() == plain.decided.codes.tolist()
    np.testing.assert_allclose(weighted.verdicts["predicted"][:-1], plain.verdicts["predicted"], atol=1e-8)
    np.testing.assert_allclose(weighted.decided.leverage[:-1], plain.decided.leverage, atol=1e-8)
    np.testing.assert_allclose(weighted.verdicts["low"][:-1].astype(float), plain.verdicts["low"], atol=1e-6)


def test_between_two_doses_the_value_is_that_of_the_straight_line() -> None:
    design = rc.Design.from_frame(trial(1), factors=["plant", "year"], outcome="y", ordered=["dose"])
    doses = [10, 40, 25, 17.5]
    found = rc.audit(design, targets=pd.DataFrame({"plant": "a", "year": 2001, "dose": doses}))
    assert set(found.decided.codes.tolist()) <= {Verdict.SEEN, Verdict.DETERMINED}
    low, high, middle, quarter = found.verdicts["predicted"]
    np.testing.assert_allclose([middle, quarter], [(low + high) / 2, 0.75 * low + 0.25 * high])


def test_held_out_doses_between_seen_ones_are_predicted() -> None:
    table = trial(2).assign(part=lambda rows: np.where(rows.dose == 5, "test", "train"))
    labels = rc.audit(
        rc.Design.from_frame(table, factors=["plant", "dose"], outcome="y", numeric=["year"], split="part")
    )
    assert set(labels.values.held_out_errors["verdict"]) == {"unseen level"}  # type: ignore[index]
    found = rc.audit(
        rc.Design.from_frame(table, factors=["plant"], outcome="y", ordered=["dose"], numeric=["year"], split="part")
    )
    errors = found.values.held_out_errors
    assert errors is not None
    assert errors["verdict"].tolist() == ["determined"]
    assert errors["value error"][0] < 0.2 < errors["mean error"][0]
    assert "RC102" not in {finding.code for finding in found.findings}


def test_outside_the_seen_range_nothing_is_certified_and_what_to_collect_is_said() -> None:
    asked = pd.DataFrame({"plant": ["a", "b", "c"], "dose": [80, -1, 10], "year": [2001, 2001, 2031]})
    design = rc.Design.from_frame(trial(), factors=["plant"], outcome="y", ordered=["dose"], numeric=["year"])
    found = rc.audit(design, targets=asked)
    assert found.verdicts["verdict"].tolist() == ["beyond the seen range"] * 3
    assert np.isnan(found.verdicts["certified"]).all()
    assert found.verdicts["rests on"].tolist() == ["prior"] * 3
    finding = next(finding for finding in found.findings if finding.code == "RC110")
    for words in (
        "3 listed cells are not settled by the data",
        "dose 80 lies above the seen range 0 to 40: collect a row with dose 80 or above",
        "dose -1 lies below the seen range 0 to 40: collect a row with dose -1 or below",
        "year 2031 lies above the seen range 2000 to 2011",
    ):
        assert words in finding.message
    assert "Beyond the seen range nothing is planned: dose -1 lies below" in plan_sentence(found.plan(3))
    assert "3 lie beyond the seen range" in " ".join(capture(audit_sections(found)).split())


def test_any_value_can_be_explained() -> None:
    found = rc.audit(rc.Design.from_frame(trial(), factors=["plant"], outcome="y", ordered=["dose"], numeric=["year"]))
    text = found.explain(["a", 25, 2003.5])
    assert text.startswith("a · 25 · 2003.5: determined.")
    assert "certificate: y(a,25,2003.5) = " in text
    assert found.certificate({"plant": "a", "dose": 25, "year": 2003.5}).verified
    outside = found.explain(["a", 80, 2001])
    lead, value, *_ = outside.split("\n")
    assert lead.endswith("Here dose 80 lies above the seen range 0 to 40: collect a row with dose 80 or above.")
    assert "rests on how much levels usually differ" in value


def test_scales_can_be_named_after_the_table_was_read() -> None:
    design = rc.Design.from_frame(trial(), factors=["plant", "dose", "year"], outcome="y")
    found = rc.audit(on_scales(design, ["dose"], ["year"]), targets=ASKED)
    assert found.verdicts["verdict"].tolist() == ["determined"] * 4
    assert found.design.scales[1] is not None


@pytest.mark.slow
def test_every_face_has_the_verdict() -> None:
    design = rc.Design.from_frame(trial(), factors=["plant"], outcome="y", ordered=["dose"], numeric=["year"])
    asked = pd.DataFrame({"plant": ["a", "a"], "dose": [80, 25], "year": [2001, 2001]})
    found = rc.audit(design, targets=asked)
    record = json.loads(audit_json(found, found.plan(2)))
    assert record["counts"]["beyond the seen range"] == found.decided.counts[Verdict.BEYOND] > 0
    dose = record["factors"][1]
    assert dose == {
        "name": "dose",
        "levels": 6,
        "scale": "ordered",
        "seen_range": ["0", "40"],
        "knots": ["0", "5", "10", "40"],
    }
    html = page(found)
    assert 'class="chip v5"' in html or "v5" in html
    assert html.count("beyond the seen range") >= 2
    assert "dose is ordered: its effect runs straight from one seen value to the next, 0 to 40." in html
    assert "year is numeric: its effect is a smooth curve (natural cubic spline, 4 knots), 2000 to 2011." in html


def test_the_map_keeps_levels_in_order() -> None:
    from recombine.jobs.audit.pairs import level_order

    design = rc.Design.from_frame(trial(), factors=["plant"], outcome="y", ordered=["dose"])
    found = rc.audit(design, targets=pd.DataFrame({"plant": ["a"], "dose": [7]}))
    labels = [found.design.factors[1].labels[code] for code in level_order(found.decided)[1]]
    assert labels == ["0", "5", "7", "10", "40"]


def sparse_trial(seed: int) -> rc.Design:
    generator = np.random.default_rng(seed)
    cells = [(p, d) for p in range(6) for d in (0, 10, 20, 30, 40)]
    seen = [cells[place] for place in generator.permutation(len(cells))[:7]]
    table = pd.DataFrame(seen, columns=["plant", "dose"]).assign(y=generator.normal(size=7))
    return rc.Design.from_frame(table, factors=["plant"], outcome="y", ordered=["dose"])


@pytest.mark.parametrize("seed", range(8))
def test_what_is_proposed_determines_what_lies_between(seed: int) -> None:
    design = sparse_trial(seed)
    scale = design.scales[1]
    assert scale is not None
    low, high = (float(scale.places[end]) for end in scale.ends)
    if low == high:
        pytest.skip("one dose only")
    middle = [dose for dose in (5, 15, 25, 35) if low < dose < high]
    asked = pd.DataFrame([(p, d) for p in design.factors[0].levels for d in middle], columns=["plant", "dose"])
    found = rc.audit(design, targets=asked)
    plan = found.plan(None)
    assert plan.needed == len(plan.picks) == found.decided.identification.deficit
    assert all(not scale.beyond[pick.cell[1]] and pick.cell[1] < len(scale.places) for pick in plan.picks)
    picked = [[int(found.design.factors[p].labels[code]) for p, code in enumerate(pick.cell)] for pick in plan.picks]
    have = [[int(found.design.factors[p].labels[code]) for p, code in enumerate(cell)] for cell in design.seen]
    table = pd.DataFrame([*have, *picked], columns=["plant", "dose"])
    again = rc.audit(rc.Design.from_frame(table, factors=["plant"], ordered=["dose"]), targets=asked)
    assert set(again.decided.codes.tolist()) <= {Verdict.DETERMINED, Verdict.SEEN}


def test_variance_with_weights_is_that_of_the_normal_matrix() -> None:
    design = rc.audit(
        rc.Design.from_frame(trial(4, share=0.3), factors=["plant"], outcome="y", ordered=["dose"], numeric=["year"]),
        targets=ASKED,
    ).design
    model, generator = design.features(1), np.random.default_rng(0)
    weights = generator.uniform(1, 3, size=len(design.seen))
    asked = np.stack([generator.integers(size, size=20) for size in design.sizes], axis=1)
    plan = VariancePlan(model, design.seen, asked, weights)
    rows, wanted = model.incidence(design.seen).toarray(), model.incidence(asked).toarray()
    inverse = np.linalg.pinv(rows.T @ (rows * weights[:, None]))
    np.testing.assert_allclose(plan.mean_variance, np.mean(np.einsum("ij,jk,ik->i", wanted, inverse, wanted)))
    (best, gain), *_ = plan.choose(asked, np.ones(20), 1, "V")
    more = np.linalg.pinv(rows.T @ (rows * weights[:, None]) + np.outer(wanted[best], wanted[best]))
    after = np.mean(np.einsum("ij,jk,ik->i", wanted, more, wanted))
    np.testing.assert_allclose(1 - gain, after / np.mean(np.einsum("ij,jk,ik->i", wanted, inverse, wanted)))


def test_networks_are_forecast_on_labels() -> None:
    design = rc.Design.from_frame(trial(), factors=["plant", "year"], outcome="y", ordered=["dose"])
    found, plain = rc.audit(design), rc.audit(replace(design, space=design.space.labelled))
    assert found.forecast.error is not None
    assert plain.forecast.error is not None
    assert found.forecast.error.ntk == plain.forecast.error.ntk
    assert "with every level a label" in " ".join(found.summary.split())


def test_no_network_is_forecast_where_a_factor_is_a_number() -> None:
    found = rc.audit(rc.Design.from_frame(trial(), factors=["plant"], outcome="y", ordered=["dose"], numeric=["year"]))
    assert found.forecast.error is None
    assert "Not forecast: networks are known to take labels, and year is a number." in " ".join(found.summary.split())


@pytest.mark.slow
def test_other_models_are_compared_on_the_columns_of_the_curve() -> None:
    design = rc.Design.from_frame(trial(), factors=["plant"], outcome="y", ordered=["dose"], numeric=["year"])
    rows = {row["model"]: row for row in rc.audit(design).compare_models(shares=(0.5,), draws=2).rows()}
    assert rows["additive least squares"]["determined"] < 0.2
    assert rows["random forest"]["determined"] < 2


@pytest.mark.slow
@pytest.mark.parametrize("named", [{"ordered": ["x"]}, {"numeric": ["x"]}])
def test_nine_in_ten_values_between_seen_ones_lie_in_their_range(named: dict[str, list[str]]) -> None:
    """Plants with slopes of their own, so that effects do not quite add and the ends depart most."""
    inside = []
    for seed in range(6):
        generator = np.random.default_rng(seed)
        plants, x = np.meshgrid(np.arange(40), np.arange(21), indexing="ij")
        slope = 1 + 0.3 * generator.normal(size=(40, 1))
        y = slope * (x - 10) + generator.normal(size=(40, 1)) * 5 + generator.normal(size=x.shape)
        table = pd.DataFrame({"plant": plants.ravel(), "x": x.ravel(), "y": y.ravel()})
        held = generator.choice(np.arange(1, 20), 4, replace=False)
        table["part"] = np.where(table.x.isin(held), "test", "train")
        design = rc.Design.from_frame(table, factors=["plant"], outcome="y", split="part", **named)  # type: ignore[arg-type]
        found, truth = rc.audit(design).values.ranges_of(design.held_out), design.outcome[~design.train]  # type: ignore[index]
        inside += ((found.low <= truth) & (truth <= found.high)).tolist()
    assert 0.86 < np.mean(inside) < 0.95


def test_large_numeric_columns_are_fitted_and_ranged() -> None:
    generator = np.random.default_rng(0)
    table = pd.DataFrame({"plant": generator.integers(20, size=3000), "x": generator.uniform(0, 10, 3000).round(6)})
    table["y"] = np.sin(table.x / 3) + table.plant / 5 + generator.normal(size=3000) / 20
    found = rc.audit(rc.Design.from_frame(table, factors=["plant"], outcome="y", numeric=["x"]))
    asked = rc.audit(found.design, targets=pd.DataFrame({"plant": [3, 7], "x": [2.0, 8.0]}))
    np.testing.assert_allclose(
        asked.verdicts["predicted"], np.sin(np.array([2, 8]) / 3) + np.array([3, 7]) / 5, atol=0.05
    )
    assert asked.values.ranges is not None
    assert (asked.verdicts["high"] - asked.verdicts["low"] < 0.3).all()


def test_two_numeric_factors_may_interact() -> None:
    """With labels every cell would have a value of its own; on curves pairs of values still say something."""
    generator = np.random.default_rng(0)
    table = pd.DataFrame({"x": generator.integers(30, size=200), "z": generator.integers(8, size=200)})
    table["y"] = table.x * table.z / 3 + generator.normal(size=200) / 10
    found = rc.audit(rc.Design.from_frame(table, factors=[], outcome="y", numeric=["x", "z"]), order=2)
    assert found.structure.additivity is not None
    assert found.structure.additivity.state_at(2) == AdditivityState.HOLDS
    assert found.structure.additivity.orders[1].error < 0.2 < found.structure.additivity.orders[0].error
    text = found.explain([12.5, 3.5])
    assert "determined" in text
    assert max(map(len, text.split())) < 20  # long fractions are written in decimals
    value = found.values.ranges_of(np.array([[12, 3]]))
    assert value.low[0] < 12 < value.high[0]


@pytest.mark.slow
def test_a_page_of_numbers_only_has_no_levels_to_list() -> None:
    generator = np.random.default_rng(1)
    table = pd.DataFrame({"x": generator.uniform(size=60).round(3), "z": generator.uniform(size=60).round(3)})
    found = rc.audit(
        rc.Design.from_frame(table.assign(y=table.x + table.z), factors=[], outcome="y", numeric=["x", "z"])
    )
    assert "Levels seen in the fewest cells" not in page(found)
