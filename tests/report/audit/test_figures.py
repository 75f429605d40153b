"""Figures: each draws, repeats itself byte for byte, and its table agrees with the audit it shows."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.jobs.audit.pairs import Axis, Panel
from recombine.report.audit.additivity_figure import AdditivityFigure
from recombine.report.audit.forecast_figure import SlopeFigure
from recombine.report.audit.models_figure import ModelsFigure
from recombine.report.audit.verdict_map import VerdictMap
from recombine.report.figure import Figure
from recombine.verdicts import Verdict


def blocks() -> rc.Audit:
    """Two blocks of levels that no seen cell links, and a level held out."""
    cells = [[i, j] for i in range(4) for j in range(3) if (i, j) != (3, 2)]
    cells += [[i, j] for i in range(4, 6) for j in range(3, 5)]
    outcome = [i + 2.0 * j + 0.1 * (i * j % 3) for i, j in cells]
    train = [True] * (len(cells) - 1) + [False]
    return rc.audit(rc.Design.from_cells(cells, outcome, train=train, sizes=(7, 5), names=["drug", "line"]))


def three_factors(order: int = 1) -> rc.Audit:
    generator = np.random.default_rng(0)
    cells = generator.integers([4, 5, 3], size=(26, 3))
    outcome = cells @ [1.0, 2.0, -1.0] + generator.normal(size=26)
    return rc.audit(rc.Design.from_cells(cells, outcome, sizes=(4, 5, 3), names=["a", "b", "c"]), order)


def pair() -> rc.Audit:
    """One factor used twice."""
    cells = [[0, 1], [1, 2], [2, 3], [0, 3], [4, 5], [5, 6]]
    return rc.audit(rc.Design.from_cells(cells, [1.0, 2, 3, 4, 5, 6], names=["left", "right"], symmetric=[(0, 1)]))


def large() -> rc.Audit:
    """A product of a million million cells."""
    generator = np.random.default_rng(1)
    cells = generator.integers(100, size=(900, 6))
    return rc.audit(rc.Design.from_cells(cells, sizes=(100,) * 6))


def models() -> rc.Table:
    columns: dict[str, list[object]] = {"share": [0.2, 0.2], "model": ["additive", "forest"]}
    for verdict in (Verdict.DETERMINED, Verdict.DISCONNECTED, Verdict.UNSEEN_LEVEL):
        columns |= {verdict.word: [1.0, np.nan], f"{verdict.word} cells": [20, 0]}
    return rc.Table(columns)  # type: ignore[arg-type]


FIGURES = {
    "map of two factors": lambda: VerdictMap(blocks()),
    "map of three factors": lambda: VerdictMap(three_factors()),
    "map of a symmetric pair": lambda: VerdictMap(pair()),
    "map of a large product": lambda: VerdictMap(large()),
    "additivity": lambda: AdditivityFigure(three_factors()),
    "slopes": lambda: SlopeFigure(three_factors()),
    "models": lambda: ModelsFigure(models()),
}


@pytest.mark.parametrize("make", FIGURES.values(), ids=FIGURES)
class TestEveryFigure:
    def test_svg_is_well_formed_loads_nothing_and_repeats(self, make: type[Figure]) -> None:
        text = make().svg()
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
        root = ET.fromstring(figure.svg())
        ids = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
        assert len(ids) == len(set(ids))
        assert all(name.startswith(figure.name) for name in ids)
        links = {
            element.attrib["href"][1:] for element in root.iter() if element.attrib.get("href", "").startswith("#")
        }
        assert links <= set(ids)

    def test_has_a_table(self, make: type[Figure]) -> None:
        assert len(make().table) > 0


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
        assert {v: int(rows[v.word].sum()) for v in Verdict} == audit.counts.by_verdict


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
    assert audit.additivity is not None
    check = audit.additivity.orders[0]
    table = AdditivityFigure(audit).table
    assert len(table) == check.tested
    assert np.sqrt(np.mean(table["difference"] ** 2)) == pytest.approx(check.error)
    assert np.allclose(table["observed"] - table["predicted"], table["difference"])


def test_slope_table_holds_every_slope_worth_a_word() -> None:
    audit = three_factors()
    told = [row for row in audit.forecast.slopes.rows() if row["told"]]
    table = SlopeFigure(audit).table
    assert table["factor"].tolist() == [row["factor"] for row in told]
    for name in ("slope", "ntk", "nngp"):
        assert table[name].tolist() == [row[name] for row in told]


def test_figures_without_numbers_say_so() -> None:
    silent = rc.audit(rc.Design.from_cells([[0, 0], [1, 1]]))
    with pytest.raises(rc.InputError, match="no outcome"):
        AdditivityFigure(silent)
    with pytest.raises(rc.InputError, match="no forecast"):
        SlopeFigure(silent)
    with pytest.raises(rc.InputError, match="lacks"):
        ModelsFigure(rc.Table({"share": [0.5]}))


def test_level_names_stay_names_in_figures() -> None:
    names = ["$x_1$", "<script>", "日本語", "a\nb\x00c", 'id="map-1" xlink:href']
    frame = {"one": [*names, names[0]], "two": ["p", "p", "p", "p", "q", "q"]}
    import pandas as pd

    audit = rc.audit(rc.Design.from_frame(pd.DataFrame(frame), factors=["one", "two"]))
    texts = {element.text for element in ET.fromstring(VerdictMap(audit).svg()).iter("text")}
    assert {"$x_1$", "<script>", "日本語", "a b c"} <= texts


def test_sampled_places_are_all_seen_only_where_every_cell_of_the_product_is() -> None:
    cells = np.random.default_rng(0).integers([2_000, 40, 20], size=(300, 3))
    design = rc.Design.from_cells(cells, sizes=(2_000, 40, 20), names=["a", "b", "c"])
    targets = pd.DataFrame({"a": ["0", "1"], "b": ["0", "1"], "c": ["0", "1"]})
    chart = VerdictMap(rc.audit(design, targets=targets))
    assert not chart.mapped.whole
    assert any((found.unsampled & (found.counts[:, :, Verdict.SEEN] > 0)).any() for found in chart.all_panels)
    for found in chart.all_panels:
        assert found.total.sum() == design.product
        assert not (found.leading == Verdict.SEEN).any()
    assert "not sampled" in chart.svg()
    assert "all seen" not in chart.svg()


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
