"""What a report carries along to be asked: the audit's own verdicts, values and ranges, compact and safe to embed."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

import recombine as rc
from known_audits import flights, flights_page
from recombine.cells.conjunctions import canonical
from recombine.jobs.audit.certificates import certificates_to_show
from recombine.report.audit.embedded_cells import IMPOSSIBLE, MAX_LEVELS_EMBEDDED, embedded_cells
from recombine.report.audit.page import page
from recombine.report.audit.verdict_map import VerdictMap
from recombine.verdicts import Verdict
from recombine.writing import printable

VECTORS = Path(__file__).parents[3] / "page" / "test" / "vectors" / "reports.json.gz"
HOSTILE = ["</script><script>alert(1)</script>", "<!--", "a\u2028b", '"quoted" \\u003c']


def torn() -> rc.Audit:
    cells = [[i, j] for i in range(7) for j in range(6) if (i // 3 == j // 3 and (i, j) != (1, 1)) or (i, j) == (6, 5)]
    return rc.audit(rc.Design.from_cells(cells, [i - 2.5 * j for i, j in cells], sizes=(8, 6)))


def interchangeable() -> rc.Audit:
    pairs = [[3, 0], [0, 1], [1, 2], [2, 0], [4, 4], [5, 6]]
    return rc.audit(rc.Design.from_cells(pairs, [1.0, 2, 3, 4, 5, 7], sizes=(7, 7), symmetric=[(0, 1)]))


def nested() -> rc.Audit:
    rows = [(f"s{i // 3}", f"c{i}", f"t{j}", i + 2.0 * j) for i in range(9) for j in range(4) if (i + j) % 3]
    frame = pd.DataFrame(rows, columns=["school", "class", "test", "mark"])
    return rc.audit(rc.Design.from_frame(frame, factors=["school", "class", "test"], outcome="mark"))


def no_outcome() -> rc.Audit:
    cells = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [2, 1, 1], [2, 0, 1], [1, 1, 1]]
    return rc.audit(rc.Design.from_cells(cells, names=["colour", "shape", "size"]))


def too_large() -> rc.Audit:
    cells = np.random.default_rng(1).integers(30, size=(240, 6))
    return rc.audit(rc.Design.from_cells(cells, cells.sum(axis=1) * 1.0, sizes=(30,) * 6))


WHOLE: dict[str, Callable[[], rc.Audit]] = {
    "demo": flights,
    "torn": torn,
    "interchangeable": interchangeable,
    "nested": nested,
    "no outcome": no_outcome,
}


@pytest.fixture(scope="module", params=WHOLE.values(), ids=WHOLE)
def found(request: pytest.FixtureRequest) -> tuple[rc.Audit, dict[str, Any]]:
    audit = request.param()
    return audit, embedded_cells(audit, VerdictMap(audit))


def codes_of(data: dict[str, Any]) -> npt.NDArray[np.int64]:
    return np.repeat(data["codes"][::2], data["codes"][1::2])


def column(text: str) -> npt.NDArray[np.float32]:
    return np.frombuffer(b64decode(text), dtype="<f4")


def numbers(audit: rc.Audit, cells: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.ravel_multi_index(tuple(canonical(cells, audit.design.symmetric).T), audit.design.sizes)


class TestWholeTables:
    def test_verdicts_are_the_audits(self, found: tuple[rc.Audit, dict[str, Any]]) -> None:
        audit, data = found
        codes = codes_of(data)
        assert data["whole"]
        assert len(codes) == np.prod([len(levels) for _, levels in data["factors"]]) == np.prod(audit.design.sizes)
        counts = np.bincount(codes, minlength=IMPOSSIBLE)
        assert [int(counts[verdict]) for verdict in Verdict] == [audit.decided.counts[verdict] for verdict in Verdict]
        assert (codes[numbers(audit, audit.decided.listing.cells)] == audit.decided.codes).all()
        assert [words[0] for words in data["verdicts"]] == [verdict.word for verdict in Verdict]

    def test_seen_cells_have_their_outcomes_and_weights(self, found: tuple[rc.Audit, dict[str, Any]]) -> None:
        audit, data = found
        design, seen = audit.design, np.cumsum(data["seen"])
        assert (
            sorted(numbers(audit, design.seen).tolist())
            == seen.tolist()
            == np.flatnonzero(codes_of(data) == 0).tolist()
        )
        places = np.searchsorted(seen, numbers(audit, design.seen))
        assert np.allclose(column(data["precision"])[places], design.precision[design.train])
        assert ("observed" in data) == (design.outcome is not None)
        if design.outcome is not None:
            assert np.allclose(column(data["observed"])[places], design.outcome[design.train])

    def test_values_and_ranges_are_the_audits(self, found: tuple[rc.Audit, dict[str, Any]]) -> None:
        audit, data = found
        values, table = data["values"], audit.verdicts
        rows = np.flatnonzero(audit.decided.codes == Verdict.DETERMINED)
        cells = np.flatnonzero(codes_of(data) == 1) if values["cells"] is None else np.cumsum(values["cells"])
        places = np.searchsorted(cells, numbers(audit, audit.decided.listing.cells[rows]))
        names = {
            "predicted": "predicted",
            "error": "standard error",
            "low": "low",
            "high": "high",
            "leverage": "leverage",
        }
        shown = {name: column(values[name]) for name in names if name in values}
        if "low" in shown and "high" not in shown:
            shown["high"] = 2 * shown["predicted"] - shown["low"]
        assert ("leverage" in shown) == (audit.values.fit is None)
        for name, own in names.items():
            if name == "leverage" and audit.values.fit is not None:
                continue
            expected = table[own][rows] if own in table.columns else np.full(len(rows), np.nan)
            assert name in shown or not np.isfinite(expected).any()
            if name in shown:
                assert np.allclose(shown[name][places], expected, rtol=1e-6, atol=1e-4, equal_nan=True)

    def test_places_of_the_map_hold_its_counts(self, found: tuple[rc.Audit, dict[str, Any]]) -> None:
        audit, data = found
        chart = VerdictMap(audit)
        assert len(data["panels"]) == (len(chart.shown) if chart.tells else 0)
        cells = np.stack(np.unravel_index(np.arange(len(codes_of(data))), audit.design.sizes), axis=1)
        exists = codes_of(data) != IMPOSSIBLE
        for panel, drawn in zip(data["panels"], chart.shown, strict=False):
            down, across = (
                np.array(bins)[cells[exists, at]] for bins, at in zip(panel["bins"], panel["factors"], strict=True)
            )
            if panel["triangle"]:
                down, across = np.minimum(down, across), np.maximum(down, across)
            counts = np.zeros(panel["shape"], dtype=int)
            np.add.at(counts, (down, across), 1)
            assert (counts == drawn.counts.sum(axis=2)).all()
            for box in (panel["wide"], panel["narrow"]):
                left, top, width, height = box
                assert min(box) >= 0
                assert left + width <= 1
                assert top + height <= 1


@pytest.mark.slow
def test_of_a_table_too_large_some_listed_cells_are_carried_along() -> None:
    audit = too_large()
    data = embedded_cells(audit, VerdictMap(audit))
    count = MAX_LEVELS_EMBEDDED // 6
    assert (data["whole"], data["sums"], data["seen"]) == (False, False, [])
    rows = np.unique(np.linspace(0, len(audit.decided.codes) - 1, count).astype(int))
    assert (codes_of(data) == audit.decided.codes[rows]).all()
    assert "5,000 of 10,000 listed unseen combinations" in data["note"]
    assert all(panel["labels"][0] and panel["labels"][1] for panel in data["panels"])
    for place, text in enumerate(data["levels"]):
        named = np.array(data["factors"][place][1])[np.frombuffer(b64decode(text), dtype="<u2")]
        labels = np.array(audit.design.factors[place].labels)
        assert (named == labels[audit.decided.listing.cells[rows, place]]).all()


def test_asking_gives_the_certificates_that_the_report_writes_out() -> None:
    audit = flights()
    written = certificates_to_show(audit.values)
    data = embedded_cells(audit, VerdictMap(audit), [one.certificate for one in written])
    assert len(data["shown"]) == len(written) > 5
    observed = dict(zip(np.cumsum(data["seen"]).tolist(), column(data["observed"]).tolist(), strict=True))
    labels = [np.array(factor.labels) for factor in audit.design.factors]
    for (cell, terms), one in zip(data["shown"], written, strict=True):
        codes = np.unravel_index(cell, audit.design.sizes)
        assert one.label == " · ".join(names[code] for names, code in zip(labels, codes, strict=True))
        assert sum(up / down * observed[at] for at, up, down in terms) == pytest.approx(one.by_sum, rel=1e-5)


@pytest.mark.slow
def test_names_cannot_end_the_script() -> None:
    rows = [(a, b, float(i + j)) for i, a in enumerate(HOSTILE) for j, b in enumerate("xyz") if (i + j) % 4]
    audit = rc.audit(
        rc.Design.from_frame(pd.DataFrame(rows, columns=["<b>", "two", "y"]), factors=["<b>", "two"], outcome="y")
    )
    text = page(audit).partition('<script type="application/json" id="asked">')[2].partition("</script>")[0]
    assert "<" not in text
    data = json.loads(text)
    assert data["factors"][0][0] == "<b>"
    assert set(map(printable, HOSTILE)) == set(data["factors"][0][1])


@pytest.mark.slow
def test_controls_need_the_script_and_little_is_added() -> None:
    text = flights_page()
    bare = re.sub(r"<script.*?</script>", "", text, flags=re.S)
    assert '<div id="ask" class="ask" hidden></div>' in bare
    assert "<button" not in bare
    assert "<input" not in bare
    assert len(text.encode()) - len(bare.encode()) < 140_000


def test_what_the_scripts_tests_replay_is_what_reports_embed() -> None:
    stored = json.loads(gzip.decompress(VECTORS.read_bytes()))["demo"]["embedded"]
    audit = flights()
    now = json.loads(json.dumps(embedded_cells(audit, VerdictMap(audit))))
    assert stored.keys() == now.keys()
    for name in now.keys() - {"values", "panels"}:
        assert stored[name] == now[name], name
    for name in ("predicted", "error", "low"):
        assert np.allclose(column(stored["values"][name]), column(now["values"][name]), rtol=1e-5)
