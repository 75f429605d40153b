"""The HTML report: complete, self-contained, escaped, well formed, small and the same every time."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from known_audits import flights, flights_page
from known_tasks import context_dependence
from recombine.jobs.audit.certificates import certificates_to_show
from recombine.report.audit.page import page
from recombine.report.notebook import notebook
from recombine.verdicts import Verdict
from recombine.words.table import listing_sentence
from recombine.words.verdicts import Tally, count_sentence, decision_sentence, verdict_meaning
from recombine.writing import number

VOID = {"meta", "br", "hr", "img", "link", "input", "path", "use", "rect", "image"}
SCRIPT = "<script>alert(1)</script>"


class Outline(HTMLParser):
    """Reads a page: checks that tags nest, and keeps ids, headings, links and texts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["script"]:  # what a script says is not read
            self.texts.append(data)

    def values(self, attribute: str) -> list[str]:
        return [str(attributes[attribute]) for _, attributes in self.tags if attribute in attributes]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


@cache
def disconnected() -> rc.Audit:
    rows = [
        (f"plate {i}", f"batch {j}", i - j + 0.1 * k)
        for i in range(9)
        for j in range(9)
        if i // 3 == j // 3
        for k in (0, 1)
    ]
    frame = pd.DataFrame(rows, columns=["plate", "batch", "diameter"])
    return rc.audit(rc.Design.from_frame(frame, factors=["plate", "batch"], outcome="diameter"))


def symmetric(named: tuple[str, ...] = ("gene A", "gene B")) -> rc.Audit:
    generator = np.random.default_rng(0)
    rows = [(f"g{i}", f"g{j}", float(i + j)) for i in range(8) for j in range(i, 8) if generator.random() < 0.4]
    frame = pd.DataFrame(rows, columns=["gene A", "gene B", "fitness"])
    return rc.audit(rc.Design.from_frame(frame, factors=["gene A", "gene B"], outcome="fitness", symmetric=named))


@cache
def no_outcome() -> rc.Audit:
    cells = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [2, 1, 1], [2, 0, 1], [1, 1, 1]]
    return rc.audit(rc.Design.from_cells(cells, names=["colour", "shape", "size"]), order=2)


@cache
def too_large_to_list() -> rc.Audit:
    generator = np.random.default_rng(1)
    cells = generator.integers(30, size=(240, 6))
    return rc.audit(rc.Design.from_cells(cells, cells.sum(axis=1) * 1.0, sizes=(30,) * 6))


@cache
def unseen_levels() -> rc.Audit:
    rows = [
        (f"d{i}", f"l{j}", float(i * j), "test" if i == 5 or (i + j) % 3 == 0 else "train")
        for i in range(6)
        for j in range(6)
    ]
    frame = pd.DataFrame(rows, columns=["drug", "line", "response", "fold"])
    return rc.audit(rc.Design.from_frame(frame, factors=["drug", "line"], outcome="response", split="fold=train"))


@cache
def awkward_names() -> rc.Audit:
    names = [SCRIPT, "$x$ & 'q' \"p\"", "日本語の水準" * 9, "--><b>", "{{ 7 * 7 }}", "\u202eturned", "a\x01\nb"]
    rows = [
        (a, b, float(i + j)) for i, a in enumerate(names) for j, b in enumerate(["</svg>", "x", "y"]) if (i + j) % 4
    ]
    frame = pd.DataFrame(rows, columns=["<i>one</i>", "two & a half", "<u>y</u>"])
    return rc.audit(rc.Design.from_frame(frame, factors=["<i>one</i>", "two & a half"], outcome="<u>y</u>"))


@cache
def guessed() -> rc.Audit:
    frame = pd.DataFrame({"city": list("AABBCCAB"), "day": list("xyxyxyxz"), "y": [1.0, 2, 3, 4, 5, 6, 7, np.nan]})
    return rc.audit(rc.Design.from_frame(frame, outcome="y"))


@cache
def two_valued() -> rc.Audit:
    task = context_dependence(left_out=1)
    return rc.audit(rc.Design.from_cells(task.cells, task.target, train=task.train))


@cache
def all_seen() -> rc.Audit:
    return rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0], [1, 1]], [1.0, 2.0, 3.0, 4.5]))


CASES: dict[str, Callable[[], rc.Audit]] = {
    "flights": flights,
    "disconnected": disconnected,
    "symmetric": symmetric,
    "no outcome": no_outcome,
    "too large to list": too_large_to_list,
    "unseen levels": unseen_levels,
    "awkward names": awkward_names,
    "guessed": guessed,
    "two-valued": two_valued,
    "all seen": all_seen,
}
SECTIONS = [
    "map",
    "advice",
    "findings",
    "coverage",
    "additivity",
    "structure",
    "shares",
    "forecast",
    "certificates",
    "words",
]


@cache
def page_of(make: Callable[[], rc.Audit]) -> str:
    return flights_page() if make is flights else page(make())


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES)
def shown(request: pytest.FixtureRequest) -> tuple[rc.Audit, str, Outline]:
    text = page_of(request.param)
    return request.param(), text, Outline(text)


class TestEveryReport:
    def test_is_small_and_whole(self, shown: tuple[rc.Audit, str, Outline]) -> None:
        _, text, _ = shown
        assert text.startswith("<!doctype html>")
        assert text.rstrip().endswith("</html>")
        assert len(text.encode()) < 500_000

    def test_loads_nothing(self, shown: tuple[rc.Audit, str, Outline]) -> None:
        _, text, outline = shown
        assert "http://" not in text
        assert "https://" not in text
        assert "@import" not in text
        assert all(link.startswith("#") for link in re.findall(r"url\(([^)]*)\)", text))
        assert [attributes for tag, attributes in outline.tags if tag == "script"] == [
            {"type": "application/json", "id": "asked"},
            {},
        ]
        assert not {tag for tag, _ in outline.tags} & {"link", "iframe", "object", "embed", "img", "base"}
        assert outline.values("src") == []
        assert all(link.startswith(("#", "data:image/png;base64,")) for link in outline.values("href"))
        assert not [name for _, attributes in outline.tags for name in attributes if name.startswith("on")]

    def test_ids_are_unique_and_links_lead_somewhere(self, shown: tuple[rc.Audit, str, Outline]) -> None:
        outline = shown[2]
        ids = outline.values("id")
        assert len(ids) == len(set(ids))
        inner = [link[1:] for link in outline.values("href") if link.startswith("#")]
        assert set(inner) | set(outline.values("aria-labelledby")) <= set(ids)

    def test_headings_are_in_order(self, shown: tuple[rc.Audit, str, Outline]) -> None:
        levels = [int(tag[1]) for tag, _ in shown[2].tags if re.fullmatch(r"h[1-6]", tag)]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        sections = [a["id"] for tag, a in shown[2].tags if tag == "section" and a.get("id") != "answer"]
        absent = {"structure"} if shown[0].choice.ladder is None else set()
        absent |= {"shares"} if shown[0].values.shares is None else set()
        assert sections == [name for name in SECTIONS if name not in absent]

    def test_tables_and_figures_can_be_read_without_seeing_them(self, shown: tuple[rc.Audit, str, Outline]) -> None:
        outline = shown[2]
        tags = [tag for tag, _ in outline.tags]
        assert tags.count("caption") == tags.count("table") > 0
        assert all("scope" in attributes for tag, attributes in outline.tags if tag == "th")
        assert all(attributes["aria-label"] for tag, attributes in outline.tags if tag == "svg")
        assert tags.count("figcaption") == tags.count("figure")
        # Each figure is there twice, laid out for wide screens and for narrow ones.
        assert tags.count("svg") == 2 * tags.count("figure")

    def test_says_everything(self, shown: tuple[rc.Audit, str, Outline]) -> None:
        audit, _, outline = shown
        text = outline.text
        for verdict in Verdict:
            assert verdict_meaning(verdict, audit.choice.assumption) in text
            assert verdict.action in text
            assert verdict.symbol in text
        for finding in audit.findings:
            assert finding.code in text
            assert finding.kind.meaning.replace("`", "") in text
        assert "`" not in text
        assert all(line.text in text for line in audit.answer.content)
        assert decision_sentence(audit.decided.identification) in text
        assert count_sentence(audit.decided.counts) in text
        assert listing_sentence(audit.decided.listing) in text
        for verdict in Verdict:
            assert number(audit.decided.counts[verdict]) in text

    def test_says_why_there_are_no_certificates(self, shown: tuple[rc.Audit, str, Outline]) -> None:
        audit, text, outline = shown
        listed, known = 'class="certificates"' in text, bool((audit.decided.codes == Verdict.DETERMINED).any())
        assert ("no listed unseen combination is determined" in outline.text) == (not known)
        assert ("No short sum was found for the combinations tried" in outline.text) == (known and not listed)

    def test_notebook_is_plain(self, shown: tuple[rc.Audit, str, Outline]) -> None:
        audit = shown[0]
        text = notebook(audit)
        outline = Outline(text)
        assert not {tag for tag, _ in outline.tags} - {"div", "p", "strong", "span", "ul", "li", "code"}
        assert not {name for _, attributes in outline.tags for name in attributes} - {
            "style",
            "title",
            "role",
            "aria-label",
        }
        assert all(line.text in outline.text for line in audit.answer.content)
        assert all(finding.code in text for finding in audit.findings)
        assert text == notebook(audit)
        assert len(text) < 10_000


def test_a_map_that_says_nothing_is_left_out() -> None:
    assert "There is nothing to map: every combination was seen." in Outline(page_of(all_seen)).text
    assert '<div class="wide"><svg' in page_of(disconnected).partition('id="map"')[2].partition("</section>")[0]
    alike = rc.Design.from_cells([[i, j] for i in range(5) for j in range(5) if (i, j) not in [(0, 0), (1, 1)]])
    text = Outline(page(rc.audit(alike))).text
    assert "every unseen combination is determined, and known about equally well (leverage" in text


@pytest.mark.slow
def test_the_demo_is_small() -> None:
    audit = flights()
    assert len(page(audit, models=audit.compare_models(draws=1)).encode()) < 700_000


def test_every_column_of_numbers_has_equally_many_decimals() -> None:
    text = page_of(flights)
    for identity in ("t-values", "t-errors", "t-breakers", "t-depths"):
        table = text[text.index(f'id="{identity}"') :].partition("</table>")[0]
        rows = [re.findall(r'class="n">([^<]*)<', row) for row in table.partition("<tbody>")[2].split("</tr>")[:-1]]
        for column in zip(*rows, strict=True):
            assert len({len(entry.partition(".")[2]) for entry in column}) == 1


@pytest.mark.parametrize("make", [unseen_levels, two_valued, pytest.param(flights, marks=pytest.mark.slow)])
def test_same_audit_made_twice_gives_the_same_bytes(make: Callable[[], rc.Audit]) -> None:
    assert page(make.__wrapped__()) == page_of(make)  # type: ignore[attr-defined]


@pytest.mark.slow
def test_symmetric_factors_may_be_named_in_any_order() -> None:
    assert page(symmetric(("gene B", "gene A"))) == page_of(symmetric)


def test_names_stay_text_everywhere() -> None:
    audit = awkward_names()
    for text, scripts in ((page_of(awkward_names), 2), (notebook(audit), 0)):
        assert text.count("<script") == scripts
        assert SCRIPT not in text
        assert "<i>one" not in text
        assert "<u>y" not in text
        assert "--><b>" not in text
    outline = Outline(page_of(awkward_names))
    assert SCRIPT in outline.text
    assert "{{ 7 * 7 }}" in outline.text
    assert "<i>one</i>" in outline.text
    assert "49" not in [text.strip() for text in outline.texts]


@pytest.mark.slow
def test_models_are_shown_by_verdict() -> None:
    columns: dict[str, list[object]] = {"share": [0.2, 0.5], "model": ["additive <b>", "forest"], "cells": [9] * 2}
    for verdict in (Verdict.DETERMINED, Verdict.DISCONNECTED, Verdict.UNSEEN_LEVEL):
        columns |= {verdict.word: [1.25, 20.5], f"{verdict.word} cells": [1020, 3]}
    text = page(disconnected(), models=rc.Table(columns))  # type: ignore[arg-type]
    outline = Outline(text)
    assert "your data do not" in outline.text
    assert "your data settle it" in outline.text
    assert "additive <b>" in outline.text
    assert "n = 1,020" in outline.text
    assert "Other models" not in page_of(disconnected)


@pytest.mark.slow
def test_command_suggestions_and_guess_are_shown() -> None:
    text = Outline(page(guessed(), command="recombine audit <t>.csv")).text
    assert "recombine audit <t>.csv" in text
    assert re.search(r"Guessed\s+the factors", text)
    assert "Columns of the table and why each was taken or left" in text


@pytest.mark.slow
@pytest.mark.parametrize(("asked", "rows"), [(1, 1), (2, 2), (None, 2)])
def test_as_many_cells_are_suggested_as_were_asked_for(asked: int | None, rows: int) -> None:
    text = page(disconnected(), next_cells=asked)
    plan = text[text.index('id="t-plan"') : text.index('id="findings"')]
    assert plan.count('<th scope="row"') == rows
    assert "2 well-chosen cells would determine everything." in Outline(text).text
    assert ("Only the first is below" in Outline(text).text) == (asked == 1)


@pytest.mark.slow
def test_targets_are_counted_in_place_of_the_product() -> None:
    targets = pd.DataFrame({"plate": ["plate 0", "plate 0", "plate 1"], "batch": ["batch 8", "batch 1", "batch 7"]})
    audit = rc.audit(disconnected().design, targets=targets)
    assert Tally.of(audit).total == 3
    lines = {line.name: line.text for line in audit.answer.lines}
    assert lines["Seen"].endswith("; 3 targets asked about, 1 of them seen")
    assert lines["Predictable"].startswith("0 of 2 targets, if effects add")
    assert "3 target cells are listed." in Outline(page(audit)).text


def test_held_out_cells_show_what_was_measured() -> None:
    audit = unseen_levels()
    held = [item for item in certificates_to_show(audit.values) if item.reason == "held out"]
    drug_times_line = [int(item.label.split("d")[1][0]) * int(item.label.split("l")[1][0]) for item in held]
    assert [item.measured for item in held] == drug_times_line
    text = Outline(page_of(unseen_levels)).text
    assert text.count("measured, but held out:") >= len(held) > 0
    assert "Held-out cells by verdict" in text
    assert all(item.measured is None for item in certificates_to_show(disconnected().values))
    assert "Held-out cells by verdict" not in Outline(page_of(disconnected)).text


def test_plain_import_is_light() -> None:
    import subprocess
    import sys

    heavy = "matplotlib", "jinja2", "scipy", "rich"
    code = f"import sys, recombine.report; print([name for name in {heavy} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
