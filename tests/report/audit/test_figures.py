"""Figures: each draws, repeats itself byte for byte, and its table agrees with the audit it shows."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Text

import recombine as rc
from recombine.jobs.audit.pairs import Axis, Panel
from recombine.report.audit.figures import AdditivityFigure, ModelsFigure, ShareFigure
from recombine.report.audit.map_legend import SureSteps, mark_on, tint, verdict_tint
from recombine.report.audit.verdict_map import VerdictMap
from recombine.report.figure import Figure
from recombine.report.theme import INK, NARROW_WIDTH, PAPER, inline_svg
from recombine.verdicts import Verdict


@cache
def blocks() -> rc.Audit:
    """Two blocks of levels that no seen cell links, and a level held out."""
    cells = [[i, j] for i in range(4) for j in range(3) if (i, j) != (3, 2)]
    cells += [[i, j] for i in range(4, 6) for j in range(3, 5)]
    outcome = [i + 2.0 * j + 0.1 * (i * j % 3) for i, j in cells]
    train = [True] * (len(cells) - 1) + [False]
    return rc.audit(rc.Design.from_cells(cells, outcome, train=train, sizes=(7, 5), names=["drug", "line"]))


@cache
def three_factors(order: int = 1) -> rc.Audit:
    generator = np.random.default_rng(0)
    cells = generator.integers([4, 5, 3], size=(26, 3))
    outcome = cells @ [1.0, 2.0, -1.0] + generator.normal(size=26)
    return rc.audit(rc.Design.from_cells(cells, outcome, sizes=(4, 5, 3), names=["a", "b", "c"]), order)


@cache
def pair() -> rc.Audit:
    """One factor used twice."""
    cells = [[0, 1], [1, 2], [2, 3], [0, 3], [4, 5], [5, 6]]
    return rc.audit(rc.Design.from_cells(cells, [1.0, 2, 3, 4, 5, 6], names=["left", "right"], symmetric=[(0, 1)]))


@cache
def large() -> rc.Audit:
    """A product of a million million cells."""
    generator = np.random.default_rng(1)
    cells = generator.integers(100, size=(900, 6))
    return rc.audit(rc.Design.from_cells(cells, sizes=(100,) * 6))


def models() -> rc.Table:
    columns: dict[str, list[object]] = {"share": [0.2, 0.2], "model": ["additive", "forest"], "cells": [9] * 2}
    for verdict in (Verdict.DETERMINED, Verdict.DISCONNECTED, Verdict.UNSEEN_LEVEL):
        columns |= {verdict.word: [1.0, np.nan], f"{verdict.word} cells": [20, 0]}
    return rc.Table(columns)  # type: ignore[arg-type]


@cache
def long_names() -> rc.Audit:
    """Names of factors, levels and outcome that are longer than any label."""
    generator = np.random.default_rng(4)
    rows = [
        (
            f"a rather long level name, number {i}",
            f"another one that goes on and on {j}",
            float(i + j + generator.normal()),
        )
        for i in range(9)
        for j in range(13)
        if (i * j) % 3 != 1
    ]
    names = [
        "the first factor with a long name",
        "the second factor with a long name",
        "an outcome with a name to match",
    ]
    return rc.audit(rc.Design.from_frame(pd.DataFrame(rows, columns=names), factors=names[:2], outcome=names[2]))


@cache
def huge() -> rc.Audit:
    """An outcome in millions."""
    cells = [[i, j] for i in range(6) for j in range(6) if i != j]
    outcome = [1e5 * (i + j) + 3e6 * ((i * j) % 5 == 3) for i, j in cells]
    return rc.audit(rc.Design.from_cells(cells, outcome, names=["state", "year"]))


FIGURES = {
    "additivity in millions": lambda: AdditivityFigure(huge()),
    "map of long names": lambda: VerdictMap(long_names()),
    "additivity of long names": lambda: AdditivityFigure(long_names()),
    "models of long names": lambda: ModelsFigure(models(), "an outcome with a name to match it in length"),
    "map of two factors": lambda: VerdictMap(blocks()),
    "map of three factors": lambda: VerdictMap(three_factors()),
    "map of a symmetric pair": lambda: VerdictMap(pair()),
    "map of a large product": lambda: VerdictMap(large()),
    "additivity": lambda: AdditivityFigure(three_factors()),
    "models": lambda: ModelsFigure(models()),
    "shares": lambda: ShareFigure(three_factors()),
    "shares of long names": lambda: ShareFigure(long_names()),
}


@cache
def drawn(make: type[Figure]) -> str:
    return make().svg()


@pytest.mark.parametrize("make", FIGURES.values(), ids=FIGURES)
class TestEveryFigure:
    def test_svg_is_well_formed_loads_nothing_and_repeats(self, make: type[Figure]) -> None:
        text = drawn(make)
        assert text == make().svg()
        root = ET.fromstring(text)
        assert root.tag == "svg"
        assert root.attrib["aria-label"]
        assert "http" not in text
        for element in root.iter():
            assert element.tag not in ("script", "style", "metadata", "foreignObject")
            link = element.attrib.get("href", "#")
            assert link.startswith(("#", "data:image/png;base64,"))

    def test_ids_are_unique_and_each_reference_has_its_target(self, make: type[Figure]) -> None:
        figure = make()
        root = ET.fromstring(drawn(make))
        ids = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
        assert len(ids) == len(set(ids))
        assert all(name.startswith(figure.name) for name in ids)
        links = {
            element.attrib["href"][1:] for element in root.iter() if element.attrib.get("href", "").startswith("#")
        }
        assert links <= set(ids)

    def test_has_a_table(self, make: type[Figure]) -> None:
        assert len(make().table) > 0


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_saved_files_are_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    first = VerdictMap(blocks()).save(tmp_path / f"one.{suffix}").read_bytes()
    assert first == VerdictMap(blocks()).save(tmp_path / f"two.{suffix}").read_bytes()


def test_saving_asks_for_a_known_format(tmp_path: Path) -> None:
    with pytest.raises(rc.InputError, match=r"map\.gif does not end in \.svg, \.pdf or \.png"):
        VerdictMap(blocks()).save(tmp_path / "map.gif")


@pytest.mark.parametrize("make", [blocks, three_factors, lambda: three_factors(2), pair])
def test_map_counts_every_cell_of_the_product_once_per_pair(make: type[rc.Audit]) -> None:
    audit = make()
    chart = VerdictMap(audit)
    table = chart.table
    pairs = set(zip(table["factor"].tolist(), table["other factor"].tolist(), strict=True))
    for first, second in pairs:
        rows = table.where((table["factor"] == first) & (table["other factor"] == second))
        assert {v: int(rows[v.word].sum()) for v in Verdict} == audit.decided.counts.by_verdict


@pytest.mark.parametrize("make", [blocks, three_factors, pair, large])
def test_map_of_listed_cells_agrees_with_the_verdict_table(make: type[rc.Audit]) -> None:
    audit = make()
    words = audit.verdicts["verdict"].tolist()
    table = VerdictMap(audit).table
    pairs = len(VerdictMap(audit).all_panels)
    for verdict in list(Verdict)[1:]:
        assert int(table[verdict.word].sum()) == pairs * words.count(verdict.word)


def test_level_table_counts_each_cell_for_each_level_it_holds() -> None:
    audit = pair()
    levels = VerdictMap(audit).levels
    where = dict(zip(levels["level"].tolist(), levels.rows(), strict=True))
    verdicts = audit.verdicts
    for label in map(str, range(7)):
        holds = (verdicts["left"] == label) | (verdicts["right"] == label)
        assert where[label]["determined"] == int((verdicts["verdict"][holds] == "determined").sum())
        assert where[label]["seen"] == int((audit.design.seen == int(label)).any(axis=1).sum())


def test_large_products_are_binned_until_every_place_has_enough_cells() -> None:
    chart = VerdictMap(large())
    assert not chart.mapped.whole
    assert len(chart.shown) == 6
    assert len(chart.all_panels) == 15
    for panel in chart.all_panels:
        assert panel.row.binned
        assert panel.counts.sum() / panel.leading.size >= 20


def test_many_levels_are_binned_without_losing_cells() -> None:
    cells = [[i, j] for i in range(130) for j in range(70) if (i + j) % 7 == 0]
    audit = rc.audit(rc.Design.from_cells(cells))
    panel = VerdictMap(audit).shown[0]
    assert panel.row.binned
    assert panel.column.binned
    assert panel.counts.sum() == 130 * 70
    assert not panel.single


def test_additivity_table_is_the_check_cell_by_cell() -> None:
    audit = three_factors()
    assert audit.structure.additivity is not None
    check = audit.structure.additivity.orders[0]
    table = AdditivityFigure(audit).table
    assert len(table) == check.tested
    assert np.sqrt(np.mean(table["difference"] ** 2)) == pytest.approx(check.error)
    assert np.allclose(table["observed"] - table["predicted"], table["difference"])


def test_figures_without_numbers_say_so() -> None:
    silent = rc.audit(rc.Design.from_cells([[0, 0], [1, 1]]))
    with pytest.raises(rc.InputError, match="no outcome"):
        AdditivityFigure(silent)
    with pytest.raises(rc.InputError, match="lacks"):
        ModelsFigure(rc.Table({"share": [0.5]}))


def test_level_names_stay_names_in_figures() -> None:
    names = ["$x_1$", "<script>", "日本語", "a\nb\x00c", 'id="map-1" xlink:href']
    frame = {"one": [*names, names[0]], "two": ["p", "p", "p", "p", "q", "q"]}
    import pandas as pd

    audit = rc.audit(rc.Design.from_frame(pd.DataFrame(frame), factors=["one", "two"]))
    texts = {element.text for element in ET.fromstring(VerdictMap(audit).svg()).iter("text")}
    assert {"$x_1$", "<script>", "日本語", "a\\u000ab\\u0000c"} <= texts


def test_sampled_places_are_all_seen_only_where_every_cell_of_the_product_is() -> None:
    cells = np.random.default_rng(0).integers([2_000, 40, 20], size=(300, 3))
    design = rc.Design.from_cells(cells, sizes=(2_000, 40, 20), names=["a", "b", "c"])
    targets = pd.DataFrame({"a": ["0", "1"], "b": ["0", "1"], "c": ["0", "1"]})
    chart = VerdictMap(rc.audit(design, targets=targets))
    assert not chart.mapped.whole
    assert any((found.unsampled & (found.counts[:, :, Verdict.SEEN] > 0)).any() for found in chart.all_panels)
    for found in chart.all_panels:
        assert found.total.sum() == design.possible.count
        assert not (found.leading == Verdict.SEEN).any()
    text = chart.svg()
    assert "not sampled" in text
    assert "all seen" not in text


def panel(seen: int, determined: int, total: float) -> Panel:
    counts = np.zeros((1, 1, len(Verdict)), dtype=np.int64)
    counts[0, 0, [Verdict.SEEN, Verdict.DETERMINED]] = seen, determined
    axis = Axis("factor", 1, np.zeros(1, dtype=np.int64), ("level",))
    return Panel(axis, axis, counts, np.array([[total]]), False, False)


@pytest.mark.parametrize(
    ("place", "leading", "unsampled"),
    [
        (panel(6, 0, 6.0), Verdict.SEEN, False),
        (panel(6, 0, 7.0), -1, True),
        (panel(6, 1, 1e12), Verdict.DETERMINED, False),
        (panel(0, 0, 5.0), -1, True),
        (panel(0, 0, 0.0), -1, False),
    ],
)
def test_a_place_is_named_by_what_was_counted_there(place: Panel, leading: int, unsampled: bool) -> None:
    assert place.leading.tolist() == [[leading]]
    assert place.unsampled.tolist() == [[unsampled]]


def test_sampled_map_of_interchangeable_factors_never_claims_too_much() -> None:
    cells = [[i, j, 0] for i in range(3) for j in range(i, 3)]
    audit = rc.audit(rc.Design.from_cells(cells, sizes=(1_500, 1_500, 2), symmetric=[(0, 1)]))
    for found in VerdictMap(audit).all_panels:
        assert not (found.leading == Verdict.SEEN).any()
        assert not found.triangle or not found.unsampled[np.tril_indices(len(found.unsampled), -1)].any()


def uneven() -> rc.Audit:
    """Every unseen cell is determined; those of rarely measured levels are less sure."""
    generator = np.random.default_rng(2)
    cells = [[i, j] for i in range(8) for j in range(10) if (i < 4 and j < 5) or i == 0 or j == 0]
    rows = np.repeat(cells, [12 if i < 4 and j < 5 else 2 for i, j in cells], axis=0)
    outcome = rows @ [1.0, 2.0] + generator.normal(size=len(rows))
    return rc.audit(rc.Design.from_cells(rows, outcome, names=["drug", "line"]))


def test_where_all_is_determined_the_map_shows_standard_errors() -> None:
    audit = uneven()
    chart = VerdictMap(audit)
    assert chart.tells
    assert chart.sure is not None
    assert chart.sure.what == "standard error"
    panel = chart.shown[0]
    assert panel.typical is not None
    order = {name: list(labels) for name, labels in (("drug", panel.row.labels), ("line", panel.column.labels))}
    for row in audit.verdicts.rows():
        place = order["drug"].index(row["drug"]), order["line"].index(row["line"])
        assert panel.typical[place] == pytest.approx(row["standard error"])
    assert np.isnan(panel.typical[panel.leading == Verdict.SEEN]).all()
    assert f"standard error of {audit.design.outcome_column.name}" in chart.svg()


@pytest.mark.slow
@pytest.mark.parametrize("targets", [False, True])
def test_a_place_of_several_cells_averages_their_variances(targets: bool) -> None:
    cells = np.random.default_rng(0).integers([5, 6, 4], size=(60, 3))
    audit = rc.audit(rc.Design.from_cells(cells, cells @ [1.0, 2, 3], sizes=(5, 6, 4), names=["a", "b", "c"]))
    whole = audit.verdicts
    if targets:
        audit = rc.audit(audit.design, targets=pd.DataFrame({"a": ["0"], "b": ["1"], "c": ["2"]}))
    panel = VerdictMap(audit).all_panels[0]
    assert panel.typical is not None
    for down, first in enumerate(panel.row.labels):
        for across, second in enumerate(panel.column.labels):
            there = (whole[panel.row.factor] == first) & (whole[panel.column.factor] == second)
            errors = whole["standard error"][there]
            expected = np.sqrt(np.mean(errors**2)) if there.any() else np.nan
            assert panel.typical[down, across] == pytest.approx(expected, nan_ok=True, abs=1e-12)


def test_without_an_outcome_leverage_is_shown() -> None:
    audit = rc.audit(rc.Design.from_cells(uneven().design.cells[::2], names=["drug", "line"]))
    chart = VerdictMap(audit)
    assert chart.sure is None or chart.sure.what == "leverage"


def test_verdicts_are_shown_where_they_differ() -> None:
    for make in (blocks, pair, lambda: three_factors(2)):
        chart = VerdictMap(make())
        assert chart.steps is None
        assert chart.tells


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=30))
def test_steps_are_round_few_and_in_order(values: list[float]) -> None:
    steps = SureSteps.of(values)
    assert list(steps.bounds) == sorted(set(steps.bounds))
    assert len(steps.bounds) <= 6
    assert all(min(values) < bound < max(values) for bound in steps.bounds)
    found = [steps.step(value) for value in sorted(values)]
    assert found == sorted(found)
    assert steps.strength(0) == 1
    assert not steps.bounds or steps.strength(len(steps.bounds)) == 0


@pytest.mark.parametrize("paper", ["#ffffff", "#17191c"])
@pytest.mark.parametrize("colour", [*(tint(step / 20) for step in range(21)), *map(verdict_tint, list(Verdict)[:3])])
def test_marks_can_be_told_from_their_place_by_day_and_night(paper: str, colour: tuple[int, int, int, int]) -> None:
    night = paper != "#ffffff"
    ink = {INK: "#e7e8ea" if night else INK, PAPER: paper}.get(mark_on(colour), mark_on(colour))
    under = [int(paper[place : place + 2], 16) for place in (1, 3, 5)]
    place = [low + (part - low) * colour[3] / 255 for part, low in zip(colour, under, strict=False)]
    light, dark = sorted([luminance(place), luminance([int(ink[at : at + 2], 16) for at in (1, 3, 5)])], reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 3


def luminance(colour: list[float]) -> float:
    """As WCAG has it."""
    parts = [part / 255 for part in colour]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


@pytest.mark.parametrize("make", FIGURES.values(), ids=FIGURES)
def test_figures_follow_the_page_and_fit_a_narrow_one(make: type[Figure]) -> None:
    figure = make()
    wide, narrow = drawn(make), figure.svg(NARROW_WIDTH)
    assert figure.svg() == wide
    for text, width in ((wide, figure.width), (narrow, NARROW_WIDTH)):
        root = ET.fromstring(text)
        assert float(root.attrib["viewBox"].split()[2]) == width
        assert "var(--ink, " in text
        assert not re.search(r"(?<!, )#(20242b|ffffff|2b2b2b)", text)
    ids = [set(re.findall(r' id="([^"]*)"', text)) for text in (wide, narrow)]
    assert not ids[0] & ids[1]


def _beyond(axis: Any) -> list[Any]:
    """Ticks beyond the limits of an axis, which are not drawn."""
    low, high = sorted(axis.get_view_interval())
    return [tick for tick in axis.get_major_ticks() if not low <= tick.get_loc() <= high]


@pytest.mark.parametrize("make", FIGURES.values(), ids=FIGURES)
@pytest.mark.parametrize("width", [pytest.param(None, marks=pytest.mark.slow), NARROW_WIDTH])
def test_no_text_of_a_figure_is_cut(make: type[Figure], width: float | None) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = make()
    figure.width = width or figure.width
    canvas = figure.draw()
    renderer = FigureCanvasAgg(canvas).get_renderer()
    canvas.draw(renderer)
    frame = canvas.bbox
    ticks = [tick for axes in canvas.axes for axis in (axes.xaxis, axes.yaxis) for tick in _beyond(axis)]
    hidden = {label for tick in ticks for label in (tick.label1, tick.label2)}
    texts = [item for item in canvas.findobj(Text) if item.get_visible() and item.get_text().strip()]
    assert len(texts) > len(hidden)
    for item in texts:
        if item in hidden:
            continue
        box = item.get_window_extent(renderer)
        assert box.x0 >= frame.x0 - 1, item.get_text()
        assert box.x1 <= frame.x1 + 1, item.get_text()
        assert box.y0 >= frame.y0 - 1, item.get_text()
        assert box.y1 <= frame.y1 + 1, item.get_text()


def test_papers_figures_keep_their_own_colours() -> None:
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas()
    canvas.text(0.5, 0.5, "x", color=INK)
    assert "var(" not in inline_svg(canvas, "f", "x")
