"""Our means beside published ones: one rule for all, and the bounds of the claims that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from recombine.lab.papers import Standing, find
from recombine.lab.papers.bounds import AtMost
from recombine.lab.papers.kernel_theory.readings import published
from recombine.lab.papers.kernel_theory.readings.comparisons import differs, most_by_chance, spread_alike
from recombine.lab.papers.results import Evidence, Provenance
from recombine.lab.papers.seeds import Estimate
from recombine.tables.table import Table

PAPER = find("kernel-theory")
Rows = list[dict[str, Any]]


def judge(number: str, rows: Rows) -> Any:
    claim = PAPER.claim(number)
    return claim.judge(
        {claim.reads: Evidence(Table.from_rows(rows), Provenance(claim.reads, "full", "", "", "cuda", 1.0, [], {}))}
    )


def seeds(about: dict[str, Any], columns: Mapping[str, tuple[float, float]], networks: int = 5) -> Rows:
    """Networks whose columns have these means and two standard errors."""
    spread = np.linspace(-1, 1, networks)
    unit = 2 * spread.std(ddof=1) / networks**0.5
    return [
        {**about, "seed": seed} | {name: mean + error * spread[seed] / unit for name, (mean, error) in columns.items()}
        for seed in range(networks)
    ]


def test_equal_means_differ_as_often_as_chance_allows() -> None:
    # Brute force: ten networks on either side, forty equal means, many times.
    generator = np.random.default_rng(0)
    draws = generator.normal(size=(400, 2, 40, 10))
    means, errors = draws.mean(axis=-1), 2 * draws.std(axis=-1, ddof=1) / 10**0.5
    outside = np.abs(means[:, 0] - means[:, 1]) > np.hypot(errors[:, 0], errors[:, 1])
    assert 0.04 < outside.mean() < 0.08
    assert np.mean(outside.sum(axis=1) <= most_by_chance(40)) > 0.85
    first = [differs(Estimate(m[0], e[0], 10), (m[1], e[1])) for m, e in zip(means[0].T, errors[0].T, strict=True)]
    assert first == outside[0].tolist()


def test_a_published_error_that_is_not_drawn_is_that_of_as_many_networks() -> None:
    assert spread_alike(Estimate(0.5, 0.02, 10), 0.4, networks=10) == pytest.approx((0.4, 0.02))
    assert spread_alike(Estimate(0.5, float("nan"), 1), 0.4) == (0.4, 0.0)


@pytest.mark.parametrize(
    ("number", "what", "means"),
    [
        ("14", "outside both errors", 15),
        ("16a", "outside both errors", 6),
        ("43", "outside both errors", 60),
        ("44", "outside both errors", 25),
        ("45", "outside both errors", 16),
        ("46", "outside both errors", 40),
        ("47", "outside both errors", 10),
        ("48", "less additive than published", 6),
        ("49", "outside both errors", 6),
        ("50", "less additive than published", 6),
    ],
)
def test_bounds_are_what_chance_allows(number: str, what: str, means: int) -> None:
    claim = PAPER.claim(number)
    assert {**claim.expect, **claim.published}[what] == AtMost(most_by_chance(means))


def photographs(shift: float) -> Rows:
    return [
        row
        for network, tasks in published.PHOTO_ACCURACY.items()
        for task, (mean, _) in tasks.items()
        for row in seeds(
            {"images": "cifar10", "architecture": network, "task": task},
            {
                "accuracy": (mean + shift, 0.01),
                "published additivity": (published.PHOTO_CONTEXT_ADDITIVITY[network][task] + shift, 0.01),
                "context": (2 * published.PHOTO_RATIOS[network][task] + 3 * shift, 0.01),
                "right": (2.0, 0.0),
            },
        )
    ]


@pytest.mark.parametrize(("number", "lower", "higher"), [("49", "fails", "fails"), ("50", "fails", "holds")])
def test_photographs_of_context_turn_with_their_means(number: str, lower: str, higher: str) -> None:
    assert judge(number, photographs(0.0)).verdict is Standing.HOLDS
    assert judge(number, photographs(-0.12)).verdict.value == lower
    assert judge(number, photographs(0.12)).verdict.value == higher
    digits = judge(number, [{**row, "images": "digits"} for row in photographs(0.0)])
    assert digits.verdict is Standing.NOT_RUN


def test_leaning_on_photographs_is_judged_by_size_on_cd3_and_by_order_elsewhere() -> None:
    assert judge("51", photographs(0.0)).verdict is Standing.HOLDS
    assert judge("51", photographs(0.12)).verdict is Standing.FAILS
    flat = [{**row, "context": 1.3} for row in photographs(0.0)]
    assert judge("51", flat).verdict is Standing.FAILS


def bars(shrunk: float = 1.0) -> Rows:
    """Networks that lean on twice the bars; in two groups on 11/5 of them."""
    rows = []
    for task, kinds in published.DEEP_BARS.items():
        for depth in (1, 2, 3, 4):
            by = 2.2 if (task, depth) in (("CD-2", 4), ("CD-1", 2)) else 2.0
            sizes = {kind: (by * series[depth - 1] * shrunk, 0.01) for kind, series in kinds.items()}
            rows += seeds({"task": task, "loss": "logistic", "depth": depth}, sizes, networks=6)
    return rows


def test_sixty_bars_go_with_networks_that_lean_on_twice_as_much() -> None:
    outcome = judge("43", bars())
    assert outcome.verdict is Standing.HOLDS
    assert {entry.name: entry.value for entry in outcome.parts}["bars"] == "60"
    assert judge("43", bars(0.5)).verdict is Standing.FAILS
    mixed = [{**row, "right": row["wrong"], "wrong": row["right"]} for row in bars()]
    assert judge("43", mixed).verdict is Standing.FAILS


def test_additivity_of_deep_networks_is_compared_mean_by_mean() -> None:
    def rows(shift: float) -> Rows:
        return [
            row
            for name, series in published.ADDITIVITY_BY_DEPTH.items()
            for depth, mean in enumerate(series, 1)
            for row in seeds({"set": name, "depth": depth}, {"published additivity": (mean + shift, 1e-4)}, networks=6)
        ]

    assert judge("45", rows(0.0)).verdict is Standing.HOLDS
    assert judge("45", rows(-0.01)).verdict is Standing.FAILS


def test_dispersed_sets_have_to_gain_and_to_err_less() -> None:
    def rows(gain: float) -> Rows:
        return [
            {"images": "mnist", "set": f"dispersed {name}", "distance": distance, "seed": seed}
            | {"slope": 0.3 + gain * distance / 20 + seed / 100, "mse": 5 - distance / 10}
            for name in (0, 1)
            for distance in (0, 20)
            for seed in (0, 1)
        ]

    assert judge("52", rows(0.1)).verdict is Standing.HOLDS
    assert judge("52", rows(-0.1)).verdict is Standing.FAILS
    assert judge("52", [{**row, "set": "both"} for row in rows(0.1)]).verdict is Standing.NOT_RUN
