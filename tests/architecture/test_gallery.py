"""The gallery: pages are what results give, what they say in words is what the numbers say, and parts add up."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
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


@pytest.mark.slow
def test_figures_are_shown_and_drawn(build: ModuleType, tmp_path: Path) -> None:
    for figure in build.figures():
        assert f"({figure.name}.svg)" in (ROOT / "docs/gallery" / f"{figure.name}.md").read_text(encoding="utf-8")
        assert figure.alternative
        assert len(figure.table) > 0
        drawn = figure.save(tmp_path / f"{figure.name}.svg").read_text(encoding="utf-8")
        kept = (ROOT / "docs/gallery" / f"{figure.name}.svg").read_text(encoding="utf-8")
        # Digits after the point are the drawing library's; words and colours are ours.
        assert _words(drawn) == _words(kept)


#: Pages of one table each; the others are whole accounts.
TABLES = ("flights", "pairs", "gb1", "screen", "scenes", "builds", "cars", "times", "gears", "libero")


def test_a_page_has_one_table_one_picture_one_command_and_is_short(build: ModuleType) -> None:
    texts = build.pages()
    for name in TABLES:
        text = texts[name]
        assert len(text.split()) <= 250, name
        assert text.count("![") == 1, name
        assert all(f"**{part}" in text for part in ("Table.", "Surprise.", "Checked", "Next.")), name
        assert f"({name}.md)" in texts["index"]
        assert re.search(r"^recombine (audit|score) ", text, re.MULTILINE), name


def test_pages_show_the_command_that_was_run(build: ModuleType) -> None:
    texts, studies = build.pages(), _module("benchmarks", "gallery")
    for name, command in studies.COMMANDS.items():
        assert build.results(name)["run"] == command
        assert command in texts[name].replace(" \\\n    ", " ")


@pytest.mark.slow
def test_the_classroom_page_comes_out_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of what is compared rests on models, so none is trained."""
    studies = _module("benchmarks", "gallery")
    printed = studies.printed
    monkeypatch.setattr(
        studies, "printed", lambda command, folder, *more: printed(command, folder, *more, "--forecast", "theory")
    )
    _again("times", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["flights", "pairs", "gb1", "screen", "scenes", "builds", "cars", "times"])
def test_pages_of_packages_come_out_again(name: str, tmp_path: Path) -> None:
    """The table is built, the command run and every check made again; what needs a network is left out without one."""
    try:
        _again(name, tmp_path)
    except subprocess.CalledProcessError as error:
        if "download" not in error.cmd:
            raise
        pytest.skip(f"the package of {name} cannot be downloaded")


def _again(name: str, folder: Path) -> None:
    tables, studies = _module("benchmarks", "gallery_tables"), _module("benchmarks", "gallery")
    stored = json.loads((ROOT / "results/gallery" / f"{name}.json").read_text(encoding="utf-8"))
    path = tables.write(name, folder, folder, fetch=True)[name]
    assert hashlib.sha256(path.read_bytes()).hexdigest() == stored["table"]["sha256"]
    again = json.loads(json.dumps(studies.STUDIES[name](folder)))
    for word in ("Seen", "Predictable", "Open"):
        assert again["answer"].get(word) == stored["answer"].get(word)
    for word, value in again.items():
        if isinstance(value, int):
            assert value == stored[word], word
        elif isinstance(value, float):
            assert value == pytest.approx(stored[word], rel=1e-3), word


def test_nothing_is_downloaded_unasked(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"mavenn==1\.1\.4 is not in .*; --fetch downloads it"):
        _module("benchmarks", "gallery_tables").write("gb1", tmp_path, tmp_path)


def test_a_study_stops_where_its_check_disagrees() -> None:
    studies = _module("benchmarks", "gallery")
    with pytest.raises(SystemExit, match="the audit says 3, the check 2"):
        studies.agree("groups", 3, 2)


def test_groups_are_those_of_a_search() -> None:
    """Groups of levels that share no level of the other column, beside a search by hand, on random tables."""
    groups, rng = _module("benchmarks", "gallery").groups, np.random.default_rng(0)
    for _ in range(50):
        table = pd.DataFrame({"a": rng.integers(0, 6, 7).astype(str), "b": rng.integers(0, 6, 7).astype(str)})
        parts: list[set[str]] = []
        for a, b in table.itertuples(index=False):
            joined = {f"a{a}", f"b{b}"}.union(*(part for part in parts if part & {f"a{a}", f"b{b}"}))
            parts = [part for part in parts if not part & joined] + [joined]
        count, group = groups(table["a"], table["b"])
        assert count == len(parts)
        for part in parts:
            assert len({group[word[1:]] for word in part if word[0] == "a"}) == 1


def test_the_starts_of_a_task_are_read() -> None:
    text = """
    (define (problem T) (:regions (spot (:target table) (:ranges ((0.1 0.2 0.14 0.26))) ) (lid (:target pot_1)))
    (:fixtures table - table) (:objects pot_1 - pot cup_1 - cup) (:init (On pot_1 table_spot) (On cup_1 pot_1_lid))
    (:goal (And (On cup_1 table_spot))))
    """
    found = _module("benchmarks", "gallery_tables").starts("KITCHEN_SCENE3_cook", text)
    assert found == [("KITCHEN_SCENE3", "KITCHEN_SCENE3_cook", "pot_1", 0.12, 0.23, 0.04)]


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
