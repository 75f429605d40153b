"""The gallery: pages are what results give, what they say in words is what the numbers say, and parts add up."""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


def _module(folder: str, name: str) -> ModuleType:
    sys.path.insert(0, str(ROOT / folder))
    try:
        return import_module(name)
    finally:
        sys.path.remove(str(ROOT / folder))


@pytest.fixture(scope="module")
def build() -> ModuleType:
    return _module("tools", "build_gallery")


@pytest.fixture(scope="module")
def gears() -> dict[str, Any]:
    return json.loads((ROOT / "results/gallery/gears.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def libero() -> dict[tuple[str, str], dict[str, Any]]:
    rows = json.loads((ROOT / "results/gallery/libero.json").read_text(encoding="utf-8"))["rows"]
    return {(row["suite"], row["view"]): row for row in rows}


def test_pages_are_what_the_results_give(build: ModuleType) -> None:
    for name, text in build.pages().items():
        assert (ROOT / "docs/gallery" / f"{name}.md").read_text(encoding="utf-8") == text, (
            "python tools/build_gallery.py"
        )


def test_figures_are_shown_and_drawn(build: ModuleType, tmp_path: Path) -> None:
    for figure in build.figures():
        assert f"({figure.name}.svg)" in (ROOT / "docs/gallery" / f"{figure.name}.md").read_text(encoding="utf-8")
        drawn = figure.save(tmp_path / f"{figure.name}.svg").read_text(encoding="utf-8")
        kept = (ROOT / "docs/gallery" / f"{figure.name}.svg").read_text(encoding="utf-8")
        # Digits after the point are the drawing library's; words and colours are ours.
        assert _words(drawn) == _words(kept)


def _words(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def test_the_files_give_the_published_line(gears: dict[str, Any]) -> None:
    for one in gears["published curve"]:
        assert one["from files"] == pytest.approx(one["published"], abs=1e-6)
        own = [np.log(row["error"]) for row in gears["rows"] if row["size"] == one["size"]]
        assert np.mean(own) == pytest.approx(one["from files"], abs=1e-8)


def test_printed_losses_follow_the_files_in_the_order_of_training(gears: dict[str, Any]) -> None:
    # A mean over control cells of squares is at least the square of the mean over them, and little more here.
    over = [row["printed"] - row["error"] for row in gears["rows"]]
    assert min(over) > 0
    assert max(over) < 0.002


def test_causes_add_up_to_the_error(gears: dict[str, Any]) -> None:
    for row in gears["rows"]:
        for way in ("as listed", "never trained on"):
            shares = [share["value"] for share in row[way]["causes"].values()]
            assert sum(shares) == pytest.approx(1, abs=1e-8)


def test_pairs_are_counted_once(gears: dict[str, Any]) -> None:
    genes = gears["genes"]
    for row in gears["rows"]:
        assert row["listed"] + row["trained"] == genes * (genes - 1) // 2
        assert row["as listed"]["seen cells"] == row["trained"] + genes
        assert row["never trained on"]["held out"] == row["listed"] - row["trained before"]
        whole = row["trained before"] * (row["error where trained before"] or 0)
        whole += row["never trained on"]["held out"] * row["never trained on"]["error"]["gears"]
        assert whole / row["listed"] == pytest.approx(row["error"], rel=1e-6)


def test_what_the_page_about_gears_says_in_words(gears: dict[str, Any]) -> None:
    rows = gears["rows"]
    assert [row["trained before"] > 0 for row in rows] == [row["seed"] != rows[0]["seed"] for row in rows]
    clean = [row["never trained on"] for row in rows]
    assert all(one["less error than GEARS"]["add"]["high"] > 0 for one in clean), "it cannot be told which is ahead"
    assert all(one["causes"]["noise"]["value"] > 0 for one in clean)
    correlations = {name: np.median([one["correlation"][name] for one in clean]) for name in ("gears", "link")}
    assert correlations["gears"] < correlations["link"]


def test_what_the_page_about_libero_says_in_words(libero: dict[tuple[str, str], dict[str, Any]]) -> None:
    for suite in ("libero_goal", "libero_object", "libero_spatial"):
        row = libero[suite, "by scene"]
        assert row["never seen"]["scene"] == row["atoms"] == row["verdicts"]["unseen level"]
    spatial = libero["libero_spatial", "any scene"]
    assert (spatial["atoms"], spatial["verdicts"], spatial["tasks"]["whole goal seen"]) == (1, {"seen": 1}, 10)
    assert all(sum(row["verdicts"].values()) == row["atoms"] for row in libero.values())
    for row in libero.values():
        assert len(row["not seen"]) == row["atoms"] - row["verdicts"].get("seen", 0)
        for one in row["not seen"]:
            assert (one["verdict"] == "unseen level") == bool(one["never seen"])


TASK = """
(define (problem TABLE) ; a remark
  (:fixtures table - table  stove_1 - stove)
  (:objects pot_1 pot_2 - pot  pot_1_lid - lid)
  (:goal (And (On pot_1 stove_1_cook_region) (On pot_2 stove_1_cook_region) (Turnon stove_1) (In pot_1_lid table)))
)
"""


def test_a_task_is_read_by_type() -> None:
    task = _module("benchmarks", "libero").task_of("x/libero_10/KITCHEN_SCENE3_cook.bddl", TASK)
    assert task.suite == "libero_10"
    assert task.goal == (
        ("KITCHEN_SCENE3", "in", "lid", "table"),
        ("KITCHEN_SCENE3", "on", "pot", "stove_cook_region"),
        ("KITCHEN_SCENE3", "on", "pot", "stove_cook_region"),
        ("KITCHEN_SCENE3", "turnon", "stove", "nothing"),
    )


def test_a_range_over_genes_holds_the_mean_of_pairs_that_share_them() -> None:
    """Values are sums of two genes' draws: pairs are dependent, and a range over pairs alone would be too narrow."""
    ranged = _module("benchmarks", "published_predictions").ranged
    rng, held = np.random.default_rng(0), 0
    pairs = np.array([(a, b) for a in range(40) for b in range(a)])
    for _ in range(200):
        found = ranged(rng.normal(size=40)[pairs].sum(axis=1), pairs)
        held += found["low"] <= 0 <= found["high"]
    assert held >= 180
