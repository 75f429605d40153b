"""Nothing that results show in Python, in a notebook or on the page obeys a name; commands are judged as drawn."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import forging
import msgspec
import pytest
from inputs import Draw

import recombine as rc
from recombine.explore.answers import TableAnswers
from recombine.report.screen import result_text
from recombine.writing import printable

#: Tables drawn; make fuzz draws more.
TABLES = min(int(os.environ.get("RECOMBINE_FUZZ_CASES", "120")) // 40, 400)


def drawn_audit(seed: int, folder: Path) -> tuple[rc.Audit, list[str]]:
    """Audit a table whose names all would forge something."""
    names = forging.Names(Draw(f"names/{seed}"))
    columns, rows = forging.table_of(names, 2 + seed % 2, 3)
    path = names.file(folder, ".csv")
    forging.write_table(path, columns, rows)
    design = rc.Design.from_frame(path, factors=columns[:-4], outcome=columns[-4])
    return rc.audit(design), names.drawn


def shown_texts(audit: rc.Audit) -> Iterator[str]:
    """Yield what Python prints of an audit and what is in it."""
    yield result_text(audit, 80)
    yield str(audit)
    cells = [*audit.decided.listing.cells[:3].tolist(), audit.design.seen[0].tolist()]
    for cell in cells:
        yield audit.explain([factor.labels[code] for factor, code in zip(audit.design.factors, cell, strict=True)])
    for item in (audit, audit.design, *audit.design.factors, audit.coverage, *audit.findings):
        yield repr(item)
        yield str(item)
    for table in (audit.verdicts, audit.coverage.levels, audit.coverage.ways, audit.forecast.slopes):
        yield repr(table)


def page_answers(audit: rc.Audit) -> Iterator[object]:
    """Yield all kinds of answers that the page gets."""
    asked = TableAnswers(audit, audit.plan(2))
    start = asked.record["start"]
    yield asked.record
    yield asked.window(tuple(start["sides"]), start["at"], (0, 0), (3, 3), "name")
    yield asked.bins(tuple(start["sides"]), start["at"], "name")
    yield asked.levels(0, "")
    yield asked.beside(0, 0, "name", back=True)
    for row, cell in enumerate(audit.decided.listing.cells[:4].tolist()):
        yield asked.cell(cell)
        if audit.verdicts["verdict"][row] == "determined":
            yield asked.certificate(cell)
    yield asked.cell(audit.design.seen[0].tolist())


@pytest.mark.parametrize("seed", range(TABLES))
def test_no_name_is_obeyed_in_python_notebooks_and_the_page(tmp_path: Path, seed: int) -> None:
    audit, names = drawn_audit(seed, tmp_path)
    for text in shown_texts(audit):
        assert forging.forgeries(text, names) == []
    for page in (audit._repr_html_(), audit.verdicts._repr_html_()):
        assert forging.forgeries_in_html(page, names, 0) == []
    for answer in page_answers(audit):
        text = msgspec.json.encode(answer).decode()
        assert forging.forgeries(text, names, wrapped=False) == []
        assert not forging.SENTENCE_OBEYED.search("".join(texts_in(json.loads(text))))


def texts_in(value: Any) -> Iterator[str]:
    """Yield all texts inside an answer."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from texts_in(entry)


@pytest.mark.parametrize("seed", range(TABLES))
def test_levels_stay_apart_and_can_be_asked_about_as_they_are_written(tmp_path: Path, seed: int) -> None:
    audit, _ = drawn_audit(seed, tmp_path)
    design = audit.design
    for factor in design.factors:
        assert len({printable(label) for label in factor.labels}) == len(factor.labels)
        assert [factor.code(printable(label)) for label in factor.labels] == list(range(len(factor.labels)))
    shown = html.unescape(audit._repr_html_())
    assert printable(design.names[0]) in shown


def test_the_judge_sees_what_is_forged() -> None:
    names = ["x\nZq0", "::Zq1"]
    for text in ("a\rb", "Findings\n  ::error::x", "seen x\nZq0", "a \u202e b", "a\n  Zq0 none", "x ##[error]"):
        assert forging.forgeries(text, names), text
    assert forging.forgeries("  Cells: x\\u000a\n    Zq0 none", names) == []
    assert forging.forgeries("Cells\n    Zq0 none", names, wrapped=False)
    assert forging.forgeries_in_json('{"answer": "about x\\nZq0 none", "levels": {"a": ["x\\nZq0"]}}', names)
    assert forging.forgeries_in_json('{"source": "x\\nZq0", "levels": {"a": ["x\\nZq0"]}}', names) == []
    assert forging.forgeries_in_html("<p>x</p><script>1</script>", names, 0)
    assert forging.forgeries_in_markdown("| a |\n| - |\n| b | c |", names)
